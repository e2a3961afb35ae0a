// SPDX-License-Identifier: GPL-2.0-only
#include "replay/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory-file.h"
#include "common/output.h"

#define ALIGN		65536ULL	/* the largest pages that Linux has */
#define SEALS		(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* The installed file of the players' program, from the folder of this one. */
#define PLAYER_FILE	"../libexec/schedtape/player"

static int write_at(int fd, const void *data, size_t bytes, off_t at)
{
	const char *from = data;
	ssize_t n;

	while (bytes) {
		n = pwrite(fd, from, bytes, at);
		if (n < 0 && errno != EINTR)
			return -errno;
		n = n < 0 ? 0 : n;
		from += n;
		at += n;
		bytes -= n;
	}
	return 0;
}

/* -- the program ----------------------------------------------------------- */

void stage_open(struct stage *stage)
{
	int ret;

	stage->file = -1;
	stage->program = memory_file_make("schedtape-player", true);
	/* Without it players execute the installed file. */
	if (stage->program < 0)
		return;
	ret = write_at(stage->program, player_program, player_program_end - player_program, 0);
	if (ret) {
		close(stage->program);
		stage->program = ret;
		return;
	}
	/* A seal only makes mistakes harmless. */
	fcntl(stage->program, F_ADD_SEALS, SEALS);
	/* The kernel hides a process from its execve() on if it may not read its program. */
	if (prctl(PR_GET_DUMPABLE) != 1)
		fchmod(stage->program, 0111);
}

void stage_close(struct stage *stage)
{
	if (stage->file >= 0)
		close(stage->file);
	if (stage->program >= 0)
		close(stage->program);
}

/* -- what players share ---------------------------------------------------- */

/**
 * struct image - the file that players map at PLAYER_CAST_AT
 * @cast: the copy for players.  Its pointers are addresses in players, as all in the image
 * @program: the same
 * @error: 0, or -errno
 */
struct image {
	struct player_cast cast;
	struct schedtape_program program;
	int fd;
	size_t bytes;
	int error;
};

/* Adds a copy of @data.  Returns its address in players. */
static void *add(struct image *image, const void *data, size_t bytes)
{
	size_t at = (image->bytes + 15) / 16 * 16;

	if (!image->error)
		image->error = write_at(image->fd, data, bytes, at);
	image->bytes = at + bytes;
	return (void *)(PLAYER_CAST_AT + at);
}

/* Adds a mapping behind the image and the mappings so far.  Returns its address in players. */
static void *add_map(struct image *image, int fd, uint64_t bytes, int access)
{
	struct player_cast *cast = &image->cast;
	const struct player_map *last = cast->nr_maps ? &cast->maps[cast->nr_maps - 1] : NULL;
	uint64_t end = last ? last->at + last->bytes : PLAYER_CAST_AT + image->bytes;

	cast->maps[cast->nr_maps++] = (struct player_map){
		(end + ALIGN - 1) / ALIGN * ALIGN, bytes, access, fd,
	};
	return (void *)cast->maps[cast->nr_maps - 1].at;
}

static void add_store(struct image *image, const struct schedtape_store *store, size_t size,
		      void *array)
{
	void *at = store->in_file ? NULL : add(image, store->memory, store->nr * size);

	memcpy(array, &at, sizeof(at));
}

static void map_store(struct image *image, struct schedtape_store *store, void *array)
{
	void *at;

	if (!store->in_file)
		return;
	at = add_map(image, store->fd, store->bytes, PROT_READ);
	store->memory = at;
	memcpy(array, &at, sizeof(at));
}

static void add_program(struct image *image)
{
	struct schedtape_program *p = &image->program;

	add_store(image, &p->task_store, sizeof(*p->tasks), &p->tasks);
	add_store(image, &p->op_store, sizeof(*p->ops), &p->ops);
	add_store(image, &p->name_store, sizeof(*p->names), &p->names);
	add_store(image, &p->more_store, sizeof(*p->more), &p->more);
	add_store(image, &p->affinity_store, sizeof(*p->affinities), &p->affinities);
}

static void map_program(struct image *image)
{
	struct schedtape_program *p = &image->program;

	map_store(image, &p->task_store, &p->tasks);
	map_store(image, &p->op_store, &p->ops);
	map_store(image, &p->name_store, &p->names);
	map_store(image, &p->more_store, &p->more);
	map_store(image, &p->affinity_store, &p->affinities);
}

static char *add_text(struct image *image, const char *text)
{
	return text ? add(image, text, strlen(text) + 1) : NULL;
}

static char **add_texts(struct image *image, char *const *texts, uint32_t n)
{
	char **list = calloc(n + 1, sizeof(*list)), **at = NULL;
	uint32_t i;

	for (i = 0; list && i < n; i++)
		list[i] = add_text(image, texts[i]);
	if (list)
		at = add(image, list, (n + 1) * sizeof(*list));
	else
		image->error = -ENOMEM;
	free(list);
	return at;
}

static void *add_cpus(struct image *image, const struct cpu_map *cpus)
{
	struct cpu_map copy = *cpus;

	copy.pairs = add(image, cpus->pairs, cpus->nr * sizeof(*cpus->pairs));
	return add(image, &copy, sizeof(copy));
}

static void *add_errors(struct image *image)
{
	char errors[PLAYER_ERRORS][PLAYER_ERROR_LEN];
	int i;

	for (i = 0; i < PLAYER_ERRORS; i++)
		snprintf(errors[i], sizeof(errors[i]), "%s", strerror(i));
	return add(image, errors, sizeof(errors));
}

/* The first in the image, whose place is known before the rest. */
static void fill(struct image *image, const struct player_cast *from)
{
	const struct schedtape_program *program = from->program;
	struct player_cast *cast = &image->cast;
	uint64_t bytes;
	int fd;

	*cast = *from;
	cast->hidden = prctl(PR_GET_DUMPABLE) != 1;
	image->program = *program;
	add(image, cast, sizeof(*cast));
	cast->program = add(image, program, sizeof(*program));
	add_program(image);
	cast->command = add_text(image, from->command);
	cast->calibration = add(image, from->calibration, sizeof(*from->calibration));
	cast->cpus = add_cpus(image, from->cpus);
	cast->errors = add_errors(image);
	if (from->cgroups)
		cast->cgroups = add_texts(image, from->cgroups, program->nr_cgroups);
	map_program(image);
	if (from->engine) {
		fd = schedtape_engine_fd(from->engine, &bytes);
		cast->engine = add_map(image, fd, bytes, PROT_READ | PROT_WRITE);
	} else {
		/* A word for each player, and the speed. */
		bytes = (program->nr_players + 1ULL) * sizeof(*cast->clocks);
		cast->clocks = add_map(image, from->fd, bytes, PROT_READ);
	}
	if (from->told) {
		bytes = (uint64_t)program->nr_tasks * sizeof(*cast->told);
		cast->told = add_map(image, from->told_fd, bytes, PROT_READ | PROT_WRITE);
	}
	/* Again, because now all addresses are known. */
	image->bytes = 0;
	add(image, cast, sizeof(*cast));
	add(image, &image->program, sizeof(image->program));
}

/* -- processes of players -------------------------------------------------- */

/* A program without capabilities of its own would lose this one, which deadlines need. */
static void keep_nice(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets) || !(sets[0].permitted & 1U << CAP_SYS_NICE))
		return;
	sets[0].inheritable |= 1U << CAP_SYS_NICE;
	if (!syscall(SYS_capset, &header, sets))
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_NICE, 0, 0);
}

/* Stores the path of the installed program, "" if it is not known. */
static void find_installed(char path[PATH_MAX + sizeof(PLAYER_FILE)])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[length < 0 ? 0 : length] = '\0';
	if (length > 0)
		memcpy(strrchr(path, '/') + 1, PLAYER_FILE, sizeof(PLAYER_FILE));
}

static void execute(const struct stage *stage, const char *name, uint32_t number)
{
	char file[16], task[16], *argv[] = { (char *)name, file, task, NULL }, *none[] = { NULL };
	char installed[PATH_MAX + sizeof(PLAYER_FILE)];
	int error = -stage->program;
	uint32_t i;

	/* exec() would close them. */
	fcntl(stage->file, F_SETFD, 0);
	for (i = 0; i < stage->nr_maps; i++)
		fcntl(stage->fds[i], F_SETFD, 0);
	keep_nice();
	snprintf(file, sizeof(file), "%d", stage->file);
	snprintf(task, sizeof(task), "%u", number);
	if (stage->program >= 0) {
		execveat(stage->program, "", argv, none, AT_EMPTY_PATH);
		error = errno;
	}
	find_installed(installed);
	execve(installed, argv, none);
	dprintf(STDERR_FILENO, "%s: players' program cannot be started, neither from memory (%s) "
		"nor as %s (%s)\n", stage->cast->command, strerror(error), installed,
		strerror(errno));
	_exit(1);
}

/*
 * When the controller dies, players are killed by process group.  Outside of it this process
 * would stay, and a player that fails would kill the controller's group.
 */
static void enter_group(const struct stage *stage, uint32_t number)
{
	const struct player_cast *cast = stage->cast;

	/* Its session and its group are there already.  The leader of a group cannot leave them. */
	if (cast->autogroups && cast->program->tasks[number].autogroup)
		return;
	if (!setpgid(0, stage->group))
		return;
	dprintf(STDERR_FILENO, "%s: a player cannot enter its process group: %s\n",
		cast->command, strerror(errno));
	_exit(1);
}

/*
 * Waits until the player's program closes its writing end of a pipe, so that a recording of the
 * player begins after execve().  Returns its PID or -errno.
 */
static pid_t await_program(pid_t pid, const int ends[2])
{
	int error = errno;
	char none;

	close(ends[1]);
	while (pid > 0 && read(ends[0], &none, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return pid < 0 ? -error : pid;
}

pid_t stage_spawn(const struct stage *stage, uint32_t number)
{
	const struct player_cast *cast = stage->cast;
	sigset_t none;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid)
		return await_program(pid, ends);
	fcntl(ends[1], F_SETFD, 0);
	/* In a group of its own Ctrl-C reaches only the controller.  Players wait for no child. */
	enter_group(stage, number);
	signal(SIGCHLD, SIG_IGN);
	signal(PLAYER_FAILED, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (cast->cpus->nr)
		sched_setaffinity(0, sizeof(cast->cpus->here), &cast->cpus->here);
	/*
	 * This closes the inherited descriptors of the session, which ends with the last one, and
	 * those of kill-on-exit.  Not before enter_group(): its process kills its group when the
	 * last one closes.
	 */
	execute(stage, cast->program->tasks[number].name, number);
	return 0;
}

static bool needs(const struct stage *stage, int fd)
{
	uint32_t i;

	for (i = 0; i < stage->nr_maps; i++)
		if (fd == stage->fds[i])
			return true;
	return fd == stage->file || fd == stage->program;
}

void stage_close_others(const struct stage *stage, int kept)
{
	int highest = kept, fd;
	uint32_t i;

	for (i = 0; i < stage->nr_maps; i++)
		highest = stage->fds[i] > highest ? stage->fds[i] : highest;
	highest = stage->program > highest ? stage->program : highest;
	highest = stage->file > highest ? stage->file : highest;
	for (fd = STDERR_FILENO + 1; fd <= highest; fd++)
		if (fd != kept && !needs(stage, fd))
			close(fd);
	close_range(highest + 1, ~0U, 0);
}

/*
 * Executes the program with a number that no task has, so that it measures what players cost.
 * Returns 0, or -errno after a message, which is that process's own if it cannot be executed.
 */
static int measure(const struct stage *stage, struct schedtape_costs *costs)
{
	int ends[2], status = 0;
	pid_t pid;

	*costs = (struct schedtape_costs){ 0 };
	if (pipe2(ends, O_CLOEXEC))
		return 0;
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		execute(stage, "schedtape", stage->cast->program->nr_tasks);
	}
	close(ends[1]);
	if (read(ends[0], costs, sizeof(*costs)) != sizeof(*costs))
		*costs = (struct schedtape_costs){ 0 };
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status) ? -ENOEXEC : 0;
	out_error(NULL, "players' program was killed by signal %d (%s) while it measured its costs",
		  WTERMSIG(status), strsignal(WTERMSIG(status)));
	return -ENOEXEC;
}

static int cannot_publish(int ret)
{
	out_error(NULL, "cannot give players their program: %s", strerror(-ret));
	return ret;
}

/* Makes the file, but for the costs. */
static int make_file(struct stage *stage)
{
	struct image image = { 0 };
	uint32_t i;

	if (stage->file >= 0)
		close(stage->file);
	stage->file = memory_file_make("schedtape-cast", false);
	if (stage->file < 0)
		return stage->file;
	image.fd = stage->file;
	fill(&image, stage->cast);
	stage->nr_maps = image.cast.nr_maps;
	for (i = 0; i < stage->nr_maps; i++)
		stage->fds[i] = image.cast.maps[i].fd;
	return image.error;
}

int stage_publish(struct stage *stage)
{
	const struct player_cast *cast = stage->cast;
	int ret;

	if (stage->file >= 0 && stage->speed == cast->speed && stage->told == cast->told)
		return 0;
	stage->speed = cast->speed;
	stage->told = cast->told;
	ret = make_file(stage);
	if (ret)
		return cannot_publish(ret);
	ret = measure(stage, &stage->costs);
	if (ret)
		return ret;
	ret = write_at(stage->file, &stage->costs, sizeof(stage->costs),
		       offsetof(struct player_cast, costs));
	if (ret)
		return cannot_publish(ret);
	fcntl(stage->file, F_ADD_SEALS, SEALS);
	return 0;
}
