// SPDX-License-Identifier: GPL-2.0-only
/*
 * A player burns CPU time in user mode until its own CPU clock reaches the CPU
 * time that its task had used before its next operation.  The wake-ups and the wait
 * of a burst are one ioctl.  Targets count from the program's start, so the cost of
 * system calls is part of the burst and nothing drifts.
 */
#include "player/player.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sched-attr.h"
#include "base/text.h"
#include "player/restart.h"
#include "player/threads.h"

/*
 * Wake-ups and the wait of one burst that lie closer together than this in
 * CPU time become one step, because separate steps would cost more than lies between.
 * In guests that count instructions, wake-up and wait lie 5.5 us apart on 7.3.
 * With 7 us, players on 6.12 would also fold bursts that follow each other.
 */
#define FOLD_NS		6000

#define SPARE_OPS	16

/* A waker may use up to this CPU time of its next bursts while it yields to its wakees, ns. */
#define SLACK_NS	5000000
#define SLACK_OPS	256	/* operations to look at for the slack, in one step */
#define NEXT_OPS	64	/* operations to look at for wake-ups after a wait */

#define HEAP_PAD	262144
#define KEPT_OPS	4096	/* operations that a player keeps in memory */

/**
 * struct player - the state of a player's thread
 * @steps: number of steps so far
 * @ahead: the last operation that slack_at() has looked at
 */
struct player {
	const struct player_cast *cast;
	const struct schedtape_program_task *task;
	struct schedtape_burner burner;
	uint32_t number;
	uint64_t steps;
	const struct schedtape_op *ahead;
};

static const char *name_of(const struct player *player, char task[TEXT_TASK_LEN])
{
	return text_task(task, player->task->name, player->task->pid);
}

static void fail(const struct player *player, const char *what, int error)
{
	char task[TEXT_TASK_LEN];

	dprintf(STDERR_FILENO, "%s: player of %s: %s: %s\n", player->cast->command,
		name_of(player, task), what, strerror(error));
	/*
	 * Kill the whole group: the module does not notice the death of a player that has not
	 * joined, but the controller notices that of its process.
	 */
	kill(0, SIGKILL);
	_exit(1);
}

/* Exits if the replay has ended, which would kill this player anyway; else fails. */
static void leave(const struct player *player, const char *what)
{
	if (errno == ECANCELED)
		_exit(0);
	fail(player, what, errno);
}

/* -- the engine ------------------------------------------------------------ */

/* Converts to the convention of ioctl(): 0, or -1 and errno. */
static int result(int ret)
{
	errno = -ret;
	return ret ? -1 : 0;
}

static int join(const struct player_cast *cast, uint32_t number)
{
	if (cast->engine)
		return result(schedtape_engine_join(cast->engine, number));
	return ioctl(cast->fd, STAPE_IOC_JOIN, &number);
}

static int make_step(const struct player_cast *cast, const struct stape_step *step)
{
	if (cast->engine)
		return result(schedtape_engine_step(cast->engine, step));
	return ioctl(cast->fd, STAPE_IOC_STEP, step);
}

/* -- attributes ------------------------------------------------------------ */

static void take_cpus(const struct player_cast *cast, const unsigned char *mask, size_t bytes)
{
	cpu_set_t wanted, here;

	if (sched_getaffinity(0, sizeof(here), &here))
		return;
	cpu_map_apply(cast->cpus, mask, bytes, &wanted);
	if (!CPU_EQUAL(&wanted, &here))
		sched_setaffinity(0, sizeof(wanted), &wanted);
}

static void change_affinity(const struct player_cast *cast, uint32_t index)
{
	if (cast->attributes)
		take_cpus(cast, cast->program->affinities[index], SCHEDTAPE_AFFINITY_BYTES);
}

static void take_affinity(const struct player_cast *cast,
			  const struct schedtape_program_task *task)
{
	if (task->affinity != SCHEDTAPE_NONE)
		change_affinity(cast, task->affinity);
	else if (task->source && task->source->affinity_bytes)
		take_cpus(cast, task->source->affinity, task->source->affinity_bytes);
}

static void warn(const struct player *player, const char *what, int value)
{
	char task[TEXT_TASK_LEN];

	dprintf(STDERR_FILENO, "%s: warning: %s: %s %d: %s\n", player->cast->command,
		name_of(player, task), what, value, strerror(errno));
}

static const char *deadline_hint(int error)
{
	switch (error) {
	case EBUSY:
		return "; too little CPU time is left for it";
	case EPERM:
		return "; it takes CAP_SYS_NICE, and an affinity to all CPUs";
	}
	return "";
}

/* Sets the task's deadline parameters, scaled by the replay's CPU time and speed. */
static void take_deadline(const struct player *player, const struct schedtape_prio *prio)
{
	const struct player_cast *cast = player->cast;
	const struct schedtape_deadline *dl = &schedtape_program_more(cast->program, prio)->dl;
	const struct sched_param param = { 0 };
	const struct sched_attributes attr = {
		.size = sizeof(attr),
		.policy = SCHED_DEADLINE,
		.flags = SCHED_ATTR_RESET_ON_FORK,	/* else it could not fork */
		.runtime = dl->runtime * cast->scale / cast->speed,
		.deadline = dl->deadline / cast->speed,
		.period = dl->period / cast->speed,
	};
	char task[TEXT_TASK_LEN];
	int error;

	if (!sched_attr_set(&attr))
		return;
	error = errno;
	sched_setscheduler(0, SCHED_OTHER, &param);
	dprintf(STDERR_FILENO, "%s: warning: %s: SCHED_DEADLINE with %.3f of %.3f ms, by "
		"%.3f ms, is refused: %s%s; it plays with SCHED_OTHER\n", player->cast->command,
		name_of(player, task), attr.runtime / 1e6,
		attr.period / 1e6, attr.deadline / 1e6, strerror(error),
		deadline_hint(error));
}

/* More than any slice that the kernel takes, ns. */
#define MOST_SLICE	1e9

static uint64_t slice_of(const struct player_cast *cast, const struct schedtape_wish *wish)
{
	double slice = wish->slice * cast->scale / cast->speed;

	return slice < MOST_SLICE ? slice : MOST_SLICE;
}

/*
 * Sets the slice and clamps of the task, or that it has none, which no older call can.  The slice
 * is scaled like the runtime of a deadline.  It is set with a policy that takes one; the change
 * to SCHED_IDLE keeps it.
 */
static void take_wish(const struct player *player, const struct schedtape_prio *prio, int policy)
{
	const struct player_cast *cast = player->cast;
	const struct schedtape_wish *wish = &schedtape_program_more(cast->program, prio)->wish;
	const struct sched_attributes attr = {
		.size = sizeof(attr),
		.policy = policy == SCHED_IDLE ? SCHED_BATCH : policy,
		.flags = cast->clamps ? SCHED_ATTR_CLAMP_MIN | SCHED_ATTR_CLAMP_MAX : 0,
		.nice = prio->nice,
		.priority = prio->rt_priority,
		.runtime = cast->slices ? slice_of(cast, wish) : 0,
		/* -1: none */
		.clamp_min = schedtape_clamp_min(wish),
		.clamp_max = schedtape_clamp_max(wish),
	};

	if (sched_attr_set(&attr))
		warn(player, "slice and utilization clamps with policy", policy);
}

static void take_prio(const struct player *player, const struct schedtape_prio *prio)
{
	const struct sched_param param = { .sched_priority = prio->rt_priority };
	int policy = prio->policy;

	if (prio->policy == SCHED_DEADLINE) {
		take_deadline(player, prio);
		return;
	}
	/* No warning here: the controller has printed one for all players. */
	if (policy == SCHEDTAPE_POLICY_EXT && player->cast->no_ext)
		policy = SCHED_OTHER;
	if (player->cast->slices || player->cast->clamps)
		take_wish(player, prio, policy);
	if (sched_getscheduler(0) != policy || prio->rt_priority)
		if (sched_setscheduler(0, policy, &param))
			warn(player, "policy", policy);
	if (getpriority(PRIO_PROCESS, 0) != prio->nice && setpriority(PRIO_PROCESS, 0, prio->nice))
		warn(player, "nice", prio->nice);
}

/* For a player whose fork is not recorded; others inherit from their parent. */
static void take_attributes(const struct player *player)
{
	if (player->cast->attributes) {
		take_affinity(player->cast, player->task);
		if (player->task->prio_known)
			take_prio(player, &player->task->prio);
	}
}

/* Moves the whole process, if its leader calls this. */
static void enter_cgroup(const struct player *player, uint32_t cgroup)
{
	char *const *files = player->cast->cgroups;
	char task[TEXT_TASK_LEN], file[256];
	int fd, error = 0;

	if (!files || cgroup == SCHEDTAPE_NONE || !files[cgroup] || getpid() != gettid())
		return;
	fd = open(files[cgroup], O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) < 0)
		error = errno;
	if (error)
		dprintf(STDERR_FILENO, "%s: warning: %s: cannot enter %s: %s\n",
			player->cast->command, name_of(player, task),
			text_safe(file, sizeof(file), files[cgroup]), strerror(error));
	if (fd >= 0)
		close(fd);
}

/* -- running a program ----------------------------------------------------- */

/* This process has, or had, threads besides its leader.  False again in a forked process. */
static bool has_threads;

static void run(const void *arg, uint32_t number);
static void run_process(const struct player_cast *cast, uint32_t number)
	__attribute__((noreturn));

static int start_thread(const struct player_cast *cast, uint32_t number)
{
	has_threads = true;
	return thread_start(run, cast, number);
}

static void do_fork(struct player *player, uint32_t child)
{
	const struct player_cast *cast = player->cast;
	int error = 0;
	pid_t pid;

	if (cast->program->tasks[child].process != child) {
		error = start_thread(cast, child);
	} else {
		pid = fork();
		if (!pid) {
			has_threads = false;
			thread_forget();
			run_process(cast, child);
		}
		if (pid > 0 && cast->engine)
			schedtape_engine_forked(cast->engine, child, pid);
		error = pid < 0 ? -errno : 0;
	}
	if (error)
		fail(player, "fork", -error);
}

static bool folds(const struct player *player, const struct schedtape_op *op, uint64_t cpu)
{
	return (op->cpu - cpu) * player->burner.rate <= FOLD_NS;
}

static enum stape_wait wait_of(const struct schedtape_op *op)
{
	switch (op->kind) {
	case SCHEDTAPE_OP_WAIT_EDGE:
		return STAPE_WAIT_EDGE;
	case SCHEDTAPE_OP_WAIT_UNTIL:
		return STAPE_WAIT_UNTIL;
	case SCHEDTAPE_OP_WAIT_FOR:
		return STAPE_WAIT_FOR;
	case SCHEDTAPE_OP_EXIT:
		return STAPE_WAIT_DONE;
	}
	return STAPE_WAIT_NONE;
}

static const struct schedtape_op *next_op(const struct player *player,
					  const struct schedtape_op *op)
{
	return schedtape_program_next(player->cast->program, op);
}

/*
 * Returns the CPU time that the player has to burn soon, from @op on.  The engine may use it
 * to yield to the wakees of a step: the next bursts become shorter by it.
 */
static uint64_t slack_at(struct player *player, const struct schedtape_op *op)
{
	uint64_t until = op->cpu + SLACK_NS / player->burner.rate, left;
	const struct schedtape_op *next;
	size_t i;

	/* Compare CPU times, because the order of operations in memory may be another one. */
	if (player->ahead->cpu < op->cpu)
		player->ahead = op;
	for (i = 0, next = next_op(player, player->ahead);
	     i < SLACK_OPS && next && next->cpu <= until; i++, next = next_op(player, next))
		player->ahead = next;
	left = schedtape_burner_left(&player->burner, player->ahead->cpu);
	return left < SLACK_NS ? left : SLACK_NS;
}

/* Finds edges of wake-ups right after a wait whose wakees have to be asleep by then. */
static uint32_t find_next(const struct player *player, const struct schedtape_op *op,
			  uint32_t next[STAPE_STEP_MAX_NEXT])
{
	uint32_t i, n = 0;

	for (i = 0; i < NEXT_OPS && op && n < STAPE_STEP_MAX_NEXT; i++, op = next_op(player, op)) {
		if (wait_of(op) != STAPE_WAIT_NONE)
			break;
		if (op->kind == SCHEDTAPE_OP_WAKE && op->expected)
			next[n++] = op->value;
	}
	return n;
}

/* Makes a step from operation @op on.  Returns the first operation after it, or NULL. */
static const struct schedtape_op *do_step(struct player *player, const struct schedtape_op *op)
{
	uint64_t cpu = op->cpu;
	uint32_t wakes[STAPE_STEP_MAX_WAKES + STAPE_STEP_MAX_NEXT];
	struct stape_step step = {
		.player = player->number,
		.index = player->steps++,
		.wakes = (uintptr_t)wakes,
		.wait = STAPE_WAIT_NONE,
	};

	for (; op && folds(player, op, cpu); op = next_op(player, op)) {
		if (op->kind == SCHEDTAPE_OP_NONE)
			continue;
		if (op->kind != SCHEDTAPE_OP_WAKE || step.nr_wakes == STAPE_STEP_MAX_WAKES)
			break;
		wakes[step.nr_wakes++] = op->value;
	}
	if (op && folds(player, op, cpu)) {
		step.wait = wait_of(op);
		if (op->blocked)
			step.flags = STAPE_STEP_BLOCKED;
		if (step.wait != STAPE_WAIT_NONE) {
			step.value = op->value;
			op = next_op(player, op);
			step.nr_next = find_next(player, op, wakes + step.nr_wakes);
		}
	}
	if (op && step.nr_wakes)
		step.slack = slack_at(player, op);
	if (make_step(player->cast, &step))
		leave(player, "step");
	schedtape_burner_stepped(&player->burner);
	return op;
}

/* Returns the CPU time that the kernel will use for an operation, and that is in its target. */
static uint64_t cost_of(const struct player *player, const struct schedtape_op *op)
{
	const struct schedtape_program_task *tasks = player->cast->program->tasks;

	if (op->kind == SCHEDTAPE_OP_FORK && tasks[op->value].process == op->value)
		return player->cast->costs.fork;
	if (op->kind != SCHEDTAPE_OP_EXIT)
		return 0;
	/* The module's mm pin keeps the memory of a process with threads beyond its end. */
	if (has_threads && !player->cast->engine)
		return player->cast->costs.leave;
	return getpid() == gettid() ? player->cast->costs.exit : 0;
}

/*
 * Returns the CPU time that must not be burnt before an operation, because the kernel uses
 * it for that operation and those that follow closely.  For example, most CPU time of a
 * process's end is used before its parent is woken, and that wake-up precedes the exit.
 */
static uint64_t spare_for(const struct player *player, const struct schedtape_op *first)
{
	const struct schedtape_op *op = first;
	double sum = 0, most = 0, left;
	size_t i;

	for (i = 0; op && i < SPARE_OPS; i++, op = next_op(player, op)) {
		sum += cost_of(player, op);
		left = sum - (op->cpu - first->cpu) * player->burner.rate;
		if (left > most)
			most = left;
	}
	return most;
}

static void hold(void *arg)
{
	const struct player *player = arg;

	if (ioctl(player->cast->fd, STAPE_IOC_HOLD, &player->number) && errno != EINTR)
		leave(player, "hold");
}

static void change_prio(const struct player *player, uint64_t value)
{
	const struct schedtape_prio prio = schedtape_prio_unpack(value);

	if (player->cast->attributes)
		take_prio(player, &prio);
}

static void make_session(const struct player *player)
{
	if (player->cast->autogroups && setsid() < 0)
		warn(player, "setsid in process", getpid());
}

/* Does one operation, or several at once.  Returns the first one after that, or NULL. */
static const struct schedtape_op *do_op(struct player *player, const struct schedtape_op *op)
{
	switch (op->kind) {
	case SCHEDTAPE_OP_FORK:
		do_fork(player, op->value);
		break;
	case SCHEDTAPE_OP_SETPRIO:
		change_prio(player, op->value);
		break;
	case SCHEDTAPE_OP_SETAFFINITY:
		change_affinity(player->cast, op->value);
		break;
	case SCHEDTAPE_OP_SETSID:
		make_session(player);
		break;
	case SCHEDTAPE_OP_MOVE:
		enter_cgroup(player, op->value);
		break;
	case SCHEDTAPE_OP_RENAME:
		prctl(PR_SET_NAME, player->cast->program->names[op->value]);
		break;
	default:
		return do_step(player, op);
	}
	return next_op(player, op);
}

static void do_all(struct player *player)
{
	const struct schedtape_program *program = player->cast->program;
	const struct schedtape_op *op = schedtape_program_begin(program, player->number);
	unsigned int done;

	player->ahead = op;
	for (done = 1; op; done++) {
		if (op->kind == SCHEDTAPE_OP_NONE) {
			op = next_op(player, op);
			continue;
		}
		schedtape_burn(&player->burner, op->cpu, spare_for(player, op));
		op = do_op(player, op);
		if (!(done % KEPT_OPS))
			schedtape_store_let_go(&program->op_store);
	}
}

/* The main function of a player's thread. */
static void run(const void *arg, uint32_t number)
{
	const struct player_cast *cast = arg;
	struct player player = {
		.cast = cast,
		.task = &cast->program->tasks[number],
		.number = number,
		.burner = {
			.calibration = cast->calibration,
			.word = cast->engine ? NULL : &cast->clocks[number],
			.speed = cast->engine ? schedtape_engine_speed(cast->engine) :
				 &cast->clocks[cast->program->nr_tasks],
			.hold = hold,
			.arg = &player,
			.scale = cast->scale,
		},
	};

	if (player.task->parent == SCHEDTAPE_NONE) {
		enter_cgroup(&player, player.task->cgroup);
		prctl(PR_SET_NAME, player.task->name);
		take_attributes(&player);
	}
	if (join(cast, number))
		leave(&player, "join");
	/* If the fork is on the tape, so is all CPU time of the task. */
	schedtape_burner_init(&player.burner, player.task->parent != SCHEDTAPE_NONE);
	do_all(&player);
}

/* Starts the threads whose fork is not recorded. */
static void start_threads(const struct player_cast *cast, uint32_t leader)
{
	const struct schedtape_program *program = cast->program;
	struct player player;
	uint32_t i;
	int error;

	for (i = program->tasks[leader].threads; i != SCHEDTAPE_NONE;
	     i = program->tasks[i].sibling) {
		error = start_thread(cast, i);
		if (error) {
			player = (struct player){ .cast = cast, .task = &program->tasks[i] };
			fail(&player, "thread", -error);
		}
	}
}

static void run_process(const struct player_cast *cast, uint32_t number)
{
	start_threads(cast, number);
	run(cast, number);
	/* Ends this thread only: others of the process may go on. */
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

/* -- the first processes --------------------------------------------------- */

/*
 * When the controller dies, players are killed by process group.  Outside of it this process
 * would stay, and fail() would kill the controller's group.
 */
static void enter_group(const struct player_cast *cast, uint32_t number)
{
	/* Its session and its group are there already.  The leader of a group cannot leave them. */
	if (cast->autogroups && cast->program->tasks[number].autogroup)
		return;
	if (!setpgid(0, cast->group))
		return;
	dprintf(STDERR_FILENO, "%s: a player cannot enter its process group: %s\n",
		cast->command, strerror(errno));
	_exit(1);
}

/* Closes all descriptors between two others. */
static void close_between(int low, int high)
{
	if (low + 1 < high)
		close_range(low + 1, high - 1, 0);
}

void player_close_others(const struct player_cast *cast, int kept)
{
	int low = cast->fd < kept ? cast->fd : kept, high = cast->fd < kept ? kept : cast->fd;

	low = low < STDERR_FILENO ? STDERR_FILENO : low;
	high = high < STDERR_FILENO ? STDERR_FILENO : high;
	close_between(STDERR_FILENO, low);
	close_between(low, high);
	close_range(high + 1, ~0U, 0);
}

pid_t player_spawn(const struct player_cast *cast, uint32_t number)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid)
		return pid < 0 ? -errno : pid;
	/* In a group of its own Ctrl-C reaches only the controller.  Players wait for no child. */
	enter_group(cast, number);
	signal(SIGCHLD, SIG_IGN);
	/*
	 * Close the inherited descriptors of the session, which ends with the last one, and those
	 * of kill-on-exit.  Not before enter_group(): its process kills its group when the last
	 * one closes.
	 */
	player_close_others(cast, -1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Let libc map memory for threads only once in some hundred of them: see threads.h. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, HEAP_PAD);
	restart_as_player();
	if (cast->cpus->nr)
		sched_setaffinity(0, sizeof(cast->cpus->here), &cast->cpus->here);
	run_process(cast, number);
}
