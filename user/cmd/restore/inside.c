// SPDX-License-Identifier: GPL-2.0-only
#include "restore/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/copy-file.h"
#include "common/criu.h"
#include "common/output.h"
#include "tape/json.h"

#define FOLDERS_MAX	256
/* criu and the processes that it needs get PIDs behind those of the workload. */
#define PID_MARGIN	64

/**
 * struct overlays - folders over which there is to be an overlay
 */
struct overlays {
	char *folders[FOLDERS_MAX];
	size_t n;
};

/* -- overlays over the folders of kept files ------------------------------- */

/* Returns true if the path is that folder, or below it. */
static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

/* Adds the folder of a file, unless there will be an overlay over a folder above it. */
static int add_folder(const char *path, void *arg)
{
	struct overlays *overlays = arg;
	char folder[PATH_MAX];
	size_t i, n = 0;

	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	if (!*folder || is_below("/run", folder)) {
		out_error(path, "the workload wrote it, and its folder can have no overlay");
		return -EINVAL;
	}
	for (i = 0; i < overlays->n; i++)
		if (is_below(folder, overlays->folders[i]))
			return 0;
	for (i = 0; i < overlays->n; i++) {
		if (is_below(overlays->folders[i], folder))
			free(overlays->folders[i]);
		else
			overlays->folders[n++] = overlays->folders[i];
	}
	overlays->n = n;
	if (n == FOLDERS_MAX) {
		out_error(NULL, "the workload wrote files in more than %d folders", FOLDERS_MAX);
		return -E2BIG;
	}
	overlays->folders[n] = strdup(folder);
	if (!overlays->folders[n])
		return -ENOMEM;
	overlays->n++;
	return 0;
}

struct copying {
	const struct inside *inside;
	const struct overlays *overlays;
};

static void upper_of(char path[PATH_MAX], const struct inside *inside, size_t overlay)
{
	snprintf(path, PATH_MAX, "%s/%zu/upper", inside->scratch, overlay);
}

/*
 * Copies a kept file into the overlay's upper folder.  The kept files cannot be a second lower
 * layer, because DIR may be in the folder that is the first one.
 */
static int copy_kept(const char *path, void *arg)
{
	const struct copying *copying = arg;
	char from[2 * PATH_MAX], to[2 * PATH_MAX], upper[PATH_MAX];
	size_t i;
	int ret;

	for (i = 0; !is_below(path, copying->overlays->folders[i]); i++)
		;
	upper_of(upper, copying->inside, i);
	snprintf(from, sizeof(from), "%s/files%s", copying->inside->described->images, path);
	snprintf(to, sizeof(to), "%s%s", upper, path + strlen(copying->overlays->folders[i]));
	ret = copy_file(from, to);
	if (ret)
		out_error(from, "it cannot be copied to %s: %s", to, strerror(-ret));
	return ret;
}

/* Makes the folders of an overlay.  The upper one's owner and mode are those that are seen. */
static int make_folders(const struct inside *inside, const char *folder, size_t number)
{
	char path[PATH_MAX];
	struct stat st;

	if (stat(folder, &st)) {
		out_error(folder, "the workload wrote files there: %s; make it, it may be empty",
			  strerror(errno));
		return -errno;
	}
	snprintf(path, sizeof(path), "%s/%zu", inside->scratch, number);
	if (mkdir(path, 0700))
		return -errno;
	snprintf(path, sizeof(path), "%s/%zu/work", inside->scratch, number);
	if (mkdir(path, 0700))
		return -errno;
	upper_of(path, inside, number);
	if (mkdir(path, 0700) || chown(path, st.st_uid, st.st_gid) ||
	    chmod(path, st.st_mode & 07777))
		return -errno;
	return 0;
}

/* Descriptors in place of paths, which could have commas and colons in them. */
static int mount_overlay(const struct inside *inside, const char *folder, size_t number)
{
	int lower = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), ret = 0;
	char options[3 * PATH_MAX];

	if (lower < 0)
		return -errno;
	snprintf(options, sizeof(options),
		 "lowerdir=/proc/self/fd/%d,upperdir=%s/%zu/upper,workdir=%s/%zu/work", lower,
		 inside->scratch, number, inside->scratch, number);
	if (mount("overlay", folder, "overlay", 0, options)) {
		ret = -errno;
		out_error(folder, "there can be no overlay over it: %s", strerror(errno));
	}
	close(lower);
	return ret;
}

static int make_overlays(const struct inside *inside, struct overlays *overlays)
{
	struct copying copying = { inside, overlays };
	size_t i;
	int ret = described_each_kept(inside->described, add_folder, overlays);

	for (i = 0; i < overlays->n && !ret; i++)
		ret = make_folders(inside, overlays->folders[i], i);
	if (!ret)
		ret = described_each_kept(inside->described, copy_kept, &copying);
	for (i = 0; i < overlays->n && !ret; i++)
		ret = mount_overlay(inside, overlays->folders[i], i);
	return ret;
}

/*
 * Makes and opens the folder of --keep, which may be one that an overlay hides later.  Returns a
 * descriptor that programs inherit; -1: there is no --keep; -errno after a message.
 */
static int open_keep(const char *keep)
{
	int fd;

	if (!keep)
		return -1;
	if (mkdir(keep, 0777) && errno != EEXIST)
		goto failed;
	fd = open(keep, O_RDONLY | O_DIRECTORY);
	if (fd >= 0)
		return fd;
failed:
	fd = -errno;
	out_error(keep, "%s", strerror(errno));
	return fd;
}

/* Copies what is in the overlays below @keep, with cp, which can copy all kinds of files. */
static void keep_written(const struct inside *inside, const struct overlays *overlays, int keep)
{
	char upper[PATH_MAX], from[PATH_MAX + 8], to[PATH_MAX + 64];
	size_t i;

	for (i = 0; i < overlays->n && keep >= 0; i++) {
		int status = 0;
		pid_t pid;

		upper_of(upper, inside, i);
		snprintf(from, sizeof(from), "%s/.", upper);
		snprintf(to, sizeof(to), "/proc/self/fd/%d%s", keep, overlays->folders[i]);
		pid = fork();
		if (!pid) {
			execlp("sh", "sh", "-c", "mkdir -p \"$2\" && cp -a \"$1\" \"$2\"", "sh",
			       from, to, NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			out_warning(inside->keep, "what was written in %s cannot be copied there",
				    overlays->folders[i]);
	}
}

/* -- criu ------------------------------------------------------------------ */

/* Starts a process that writes to @to what it reads from @from.  Returns its PID, or -errno. */
static pid_t start_relay(int from, int to)
{
	char buffer[1 << 16];
	pid_t pid = fork();
	ssize_t n;

	if (pid)
		return pid < 0 ? -errno : pid;
	dup2(to, STDERR_FILENO + 1);
	dup2(from, STDIN_FILENO);
	dup2(STDERR_FILENO + 1, STDOUT_FILENO);
	/* Else it would have the pipes of other relays open. */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
		if (write(STDOUT_FILENO, buffer, n) != n)
			break;
	_exit(0);
}

/* Returns the writing end of a pipe from which a process writes to @to, or -errno. */
static int relay(int to)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = start_relay(ends[0], to);
	close(ends[0]);
	if (pid > 0)
		return ends[1];
	close(ends[1]);
	return pid;
}

/* Returns what criu can open anew in place of a pipe into which the workload writes. */
static int output_for_criu(int ours)
{
	struct stat st;
	int through;

	if (fstat(ours, &st) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		return ours;
	through = relay(ours);
	return through < 0 ? ours : through;
}

/*
 * Makes a terminal that takes the place of the workload's, because criu needs the one of its own
 * session, and ours has our caller's.  Its input is our standard input, and its output our standard
 * output.  Returns it, or -1 after a message.
 */
static int open_terminal(pid_t *input)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -1;

	if (master >= 0 && !grantpt(master) && !unlockpt(master))
		slave = open(ptsname(master), O_RDWR | O_CLOEXEC);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) ||
	    start_relay(master, STDOUT_FILENO) < 0) {
		out_error(NULL, "no terminal for the workload: %s", strerror(errno));
		return -1;
	}
	*input = start_relay(STDIN_FILENO, master);
	close(master);
	return slave;
}

/* @input: gets the PID of a process that relays input, if there is one */
static void add_streams(const struct inside *inside, struct criu *criu, pid_t *input)
{
	struct json_object *list, *reads;
	uint64_t fd;
	char name[64];
	size_t n, i;

	if (!json_object_object_get_ex(inside->described->about, "streams", &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	n = json_object_array_length(list);
	for (i = 0; i < n; i++) {
		struct json_object *stream = json_object_array_get_idx(list, i);
		int ours = STDOUT_FILENO;

		if (!tape_json_text(stream, "name", name, sizeof(name)) ||
		    !tape_json_number(stream, "fd", &fd))
			continue;
		if (*name == 't') {
			if (criu->terminal < 0)
				criu->terminal = open_terminal(input);
			continue;
		}
		if (fd == STDERR_FILENO)
			ours = STDERR_FILENO;
		else if (json_object_object_get_ex(stream, "input", &reads) &&
			 json_object_get_boolean(reads))
			ours = STDIN_FILENO;
		if (ours != STDIN_FILENO)
			ours = output_for_criu(ours);
		criu_add_stream(criu, ours, name);
	}
}

/* Has the next PIDs be behind those of the workload, which criu needs for its processes. */
static void leave_pids(const struct inside *inside)
{
	uint64_t last = 0;
	FILE *file;

	if (!inside->own_pids || !tape_json_number(inside->described->about, "last_pid", &last))
		return;
	file = fopen("/proc/sys/kernel/ns_last_pid", "we");
	if (!file)
		return;
	fprintf(file, "%" PRIu64, last + PID_MARGIN);
	fclose(file);
}

/*
 * Has criu run a script that freezes the restored processes before they run.  criu is in their
 * cgroup, and the script as well: both leave it first.
 */
static int add_freezing(const struct inside *inside, struct criu *criu)
{
	static const char text[] =
		"#!/bin/sh\n"
		"[ \"$CRTOOLS_SCRIPT_ACTION\" = pre-resume ] || exit 0\n"
		"for pid in $PPID $$; do echo $pid > '%s/../cgroup.procs' || exit; done\n"
		"echo 1 > '%s/cgroup.freeze'\n";
	char path[PATH_MAX];
	FILE *file;

	if (inside->ready < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/freeze", inside->scratch);
	file = fopen(path, "we");
	if (!file || fprintf(file, text, inside->cgroup, inside->cgroup) < 0 ||
	    fchmod(fileno(file), 0700) || fclose(file)) {
		out_error(path, "%s", strerror(errno));
		return -EIO;
	}
	criu_add(criu, "--action-script");
	criu_add(criu, "%s", path);
	return 0;
}

/* Returns the PID of the first restored process, or -errno after a message. */
static pid_t start(const struct inside *inside, pid_t *input)
{
	char path[PATH_MAX];
	struct criu criu;
	int pid = -EIO, ret;
	FILE *file;

	criu_begin(&criu, inside->criu, "restore", inside->described->images, inside->scratch);
	criu.cgroup = inside->cgroup;
	criu.in_session = true;
	criu_add(&criu, "--restore-detached");
	criu_add(&criu, "--pidfile");
	criu_add(&criu, "pid");
	leave_pids(inside);
	add_streams(inside, &criu, input);
	ret = add_freezing(inside, &criu);
	if (ret)
		goto out;
	ret = criu_run(&criu);
	if (criu.terminal >= 0)
		close(criu.terminal);
	if (ret == -ENOENT)
		out_error(NULL, "there is no program \"%s\": install the package criu",
			  inside->criu ? inside->criu : "criu");
	else if (ret)
		out_error(inside->described->images, "criu: %s",
			  ret == -EIO ? criu.reason : strerror(-ret));
out:
	criu_end(&criu);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/pid", inside->scratch);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%d", &pid) != 1)
		out_error(path, "criu has written no PID there");
	if (file)
		fclose(file);
	return pid;
}

/* -- the whole ------------------------------------------------------------- */

/* Returns true if @pid is the only child. */
static bool is_alone(pid_t pid)
{
	FILE *file = fopen("/proc/thread-self/children", "re");
	int child, others = 0;

	while (file && fscanf(file, "%d", &child) == 1)
		others += child != pid;
	if (file)
		fclose(file);
	return file && !others;
}

/*
 * Waits for all restored processes: criu's children are this one's when it has ended.  @input: a
 * process that would wait for input forever, or 0
 */
static int wait_for_all(pid_t first, pid_t input)
{
	int status, code = CMD_FAILURE;
	pid_t pid;

	while ((pid = wait(&status)) > 0 || errno == EINTR) {
		if (pid > 0 && pid == first)
			code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		if (input > 0 && is_alone(input))
			kill(input, SIGKILL);
	}
	return code;
}

static int set_up(const struct inside *inside)
{
	/*
	 * criu gives its own session and group to processes whose session leader or group leader
	 * was outside.  It fails if these were different, and its own are one.
	 */
	setsid();
	/* If the command is killed, the restored processes end. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    (inside->own_pids && mount("proc", "/proc", "proc", 0, NULL)) ||
	    mount("tmpfs", inside->scratch, "tmpfs", 0, "mode=700")) {
		out_error(NULL, "no mount namespace: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

int inside_run(const struct inside *inside)
{
	struct overlays overlays = { .n = 0 };
	int code = CMD_FAILURE, keep;
	pid_t first, input = 0;

	keep = open_keep(inside->keep);
	if ((inside->keep && keep < 0) || set_up(inside))
		return code;
	if (!make_overlays(inside, &overlays)) {
		first = start(inside, &input);
		if (first > 0 && inside->ready >= 0 && write(inside->ready, "", 1) != 1)
			out_warning(NULL, "%s", strerror(errno));
		close(inside->ready);
		if (first > 0)
			code = wait_for_all(first, input);
		if (first > 0)
			keep_written(inside, &overlays, keep);
	}
	while (overlays.n)
		free(overlays.folders[--overlays.n]);
	return code;
}
