// SPDX-License-Identifier: GPL-2.0-only
/*
 * A player burns CPU time in user mode until its own CPU clock reaches the CPU
 * time that its task had used before its next operation.  The wake-ups and the wait
 * of a burst are one ioctl.  Targets count from the program's start, so the cost of
 * system calls is part of the burst and nothing drifts.
 */
#include "player/player.h"

#include <errno.h>
#include <stdbool.h>

#include "base/text.h"
#include "player/message.h"
#include "player/step.h"
#include "player/sys.h"
#include "player/threads.h"

/* A waker may use up to this CPU time of its next bursts while it yields to its wakees, ns. */
#define SLACK_NS	5000000
#define SLACK_OPS	256	/* operations to look at for the slack, in one step */
#define NEXT_OPS	64	/* operations to look at for wake-ups after a wait */

#define TOLD_STEPS	16	/* the mean cost of fewer steps says little */

#define KEPT_OPS	4096	/* operations that a player keeps in memory */

/**
 * struct player - the state of a player's thread
 * @number: its number in the engine
 * @steps: number of steps so far
 * @began: the task's CPU time when its present burst began
 * @shares: its process shares the memory of its parent
 * @ahead: the last operation that slack_at() has looked at
 * @costly: the last operation that player_costs_soon() has looked at
 * @spare_most: player_spare_most() without the cost of a step
 */
struct player {
	const struct player_cast *cast;
	const struct schedtape_program_task *task;
	struct schedtape_burner burner;
	uint32_t number;
	uint64_t steps;
	uint64_t began;
	bool shares;
	const struct schedtape_op *ahead;
	const struct schedtape_op *costly;
	double spare_most;
};

static void add_task(struct message *message, const struct player *player)
{
	char name[TEXT_NAME_LEN];

	message_add(message, *player->task->name ? text_name(name, player->task->name) : "?");
	message_add(message, ":");
	message_add_number(message, player->task->pid);
}

/* Adds the text of an error: -errno. */
static void add_error(struct message *message, const struct player *player, long error)
{
	message_add(message, ": ");
	if ((unsigned long)-error < PLAYER_ERRORS)
		message_add(message, player->cast->errors[-error]);
}

static void fail(const struct player *player, const char *what, long error)
{
	struct message message = { 0 };

	message_add(&message, player->cast->command);
	message_add(&message, ": player of ");
	add_task(&message, player);
	message_add(&message, ": ");
	message_add(&message, what);
	add_error(&message, player, error);
	message_print(&message);
	/*
	 * Kill the whole group: the module does not notice the death of a player that has not
	 * joined, but the controller notices that of its process.
	 */
	sys_kill(0, PLAYER_FAILED);
	sys_exit(1);
}

/* Exits if the replay has ended, which would kill this player anyway; else fails. */
static void leave(const struct player *player, const char *what, long error)
{
	if (error == -ECANCELED)
		sys_exit(0);
	fail(player, what, error);
}

/* -- the engine ------------------------------------------------------------ */

static long join(const struct player_cast *cast, const struct schedtape_program_task *task)
{
	const struct stape_join join = { task->player, task->turn };

	if (cast->engine)
		return schedtape_engine_join(cast->engine, task->player, task->turn);
	if (!task->turn)
		return sys_ioctl(cast->fd, STAPE_IOC_JOIN, &task->player);
	return sys_ioctl(cast->fd, STAPE_IOC_JOIN_TURN, &join);
}

static long make_step(const struct player_cast *cast, const struct stape_step *step)
{
	if (cast->engine)
		return schedtape_engine_step(cast->engine, step);
	return sys_ioctl(cast->fd, STAPE_IOC_STEP, step);
}

/* -- attributes ------------------------------------------------------------ */

static void take_affinity(const struct player_cast *cast, uint32_t index)
{
	cpu_set_t wanted, here;

	CPU_ZERO(&here);
	if (!cast->attributes || sys_get_affinity(&here) < 0)
		return;
	cpu_map_apply(cast->cpus, cast->program->affinities[index], SCHEDTAPE_AFFINITY_BYTES,
		      &wanted);
	if (!CPU_EQUAL(&wanted, &here))
		sys_set_affinity(&wanted);
}

static void begin_warning(struct message *message, const struct player *player)
{
	message_add(message, player->cast->command);
	message_add(message, ": warning: ");
	add_task(message, player);
	message_add(message, ": ");
}

static void warn(const struct player *player, const char *what, int value, long error)
{
	struct message message = { 0 };

	begin_warning(&message, player);
	message_add(&message, what);
	message_add(&message, " ");
	message_add_number(&message, value);
	add_error(&message, player, error);
	message_print(&message);
}

static const char *deadline_hint(long error)
{
	switch (-error) {
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
	struct message message = { 0 };
	long error = sys_set_attributes(&attr);

	if (!error)
		return;
	sys_set_policy(SCHED_OTHER, &param);
	begin_warning(&message, player);
	message_add(&message, "SCHED_DEADLINE with ");
	message_add_ms(&message, attr.runtime);
	message_add(&message, " of ");
	message_add_ms(&message, attr.period);
	message_add(&message, " ms, by ");
	message_add_ms(&message, attr.deadline);
	message_add(&message, " ms, is refused");
	add_error(&message, player, error);
	message_add(&message, deadline_hint(error));
	message_add(&message, "; it plays with SCHED_OTHER");
	message_print(&message);
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
	long error = sys_set_attributes(&attr);

	if (error)
		warn(player, "slice and utilization clamps with policy", policy, error);
}

static void take_prio(const struct player *player, const struct schedtape_prio *prio)
{
	const struct sched_param param = { .sched_priority = prio->rt_priority };
	int policy = prio->policy;
	long error = 0;

	if (prio->policy == SCHED_DEADLINE) {
		take_deadline(player, prio);
		return;
	}
	/* No warning here: the controller has printed one for all players. */
	if (policy == SCHEDTAPE_POLICY_EXT && player->cast->no_ext)
		policy = SCHED_OTHER;
	if (player->cast->slices || player->cast->clamps)
		take_wish(player, prio, policy);
	if (sys_get_policy() != policy || prio->rt_priority)
		error = sys_set_policy(policy, &param);
	if (error)
		warn(player, "policy", policy, error);
	error = sys_get_nice() != prio->nice ? sys_set_nice(prio->nice) : 0;
	if (error)
		warn(player, "nice", prio->nice, error);
}

/* For a player whose fork is not recorded; others inherit from their parent. */
static void take_attributes(const struct player *player)
{
	if (player->cast->attributes) {
		if (player->task->affinity != SCHEDTAPE_NONE)
			take_affinity(player->cast, player->task->affinity);
		if (player->task->prio_known)
			take_prio(player, &player->task->prio);
	}
}

/* Moves the whole process, if its leader calls this. */
static void enter_cgroup(const struct player *player, uint32_t cgroup)
{
	char *const *files = player->cast->cgroups;
	struct message message = { 0 };
	long fd, ret;
	char file[256];

	if (!files || cgroup == SCHEDTAPE_NONE || !files[cgroup] || sys_pid() != sys_tid())
		return;
	fd = sys_open(files[cgroup], O_WRONLY | O_CLOEXEC);
	ret = fd < 0 ? fd : sys_write(fd, "0", 1);
	if (ret < 0) {
		begin_warning(&message, player);
		message_add(&message, "cannot enter ");
		message_add(&message, text_safe(file, sizeof(file), files[cgroup]));
		add_error(&message, player, ret);
		message_print(&message);
	}
	if (fd >= 0)
		sys_close(fd);
}

/* -- running a program ----------------------------------------------------- */

/* This process has, or had, threads besides its leader.  False again in a forked process. */
static bool has_threads;

static void run(const void *arg, uint32_t number);

static int start_thread(const struct player_cast *cast, uint32_t number)
{
	has_threads = true;
	return thread_start(run, cast, number);
}

static bool is_process(const struct player_cast *cast, uint32_t number)
{
	return cast->program->tasks[number].process == number;
}

static void run_brief(const void *arg, uint32_t number);

/* The main function of a process with memory of its own. */
static void run_forked(const void *arg, uint32_t number)
{
	/* A store copies the page. */
	if (has_threads)
		has_threads = false;
	threads_forget();
	player_run(arg, number);
}

static void do_fork(struct player *player, uint32_t child)
{
	const struct player_cast *cast = player->cast;
	const struct schedtape_program_task *tasks = cast->program->tasks;
	long pid;

	if (!is_process(cast, child))
		pid = start_thread(cast, child);
	else if (cast->program->tasks[child].brief)
		pid = threads_spawn(run_brief, cast, child);
	else
		pid = threads_fork(run_forked, cast, child);
	if (pid > 0 && cast->engine)
		schedtape_engine_forked(cast->engine, tasks[child].player, tasks[child].turn, pid);
	if (pid < 0)
		fail(player, "fork", pid);
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
		if (player_wait(op) != STAPE_WAIT_NONE)
			break;
		if (op->kind == SCHEDTAPE_OP_WAKE && op->expected)
			next[n++] = op->value;
	}
	return n;
}

/* Tells the controller, unless that would cost more CPU time than it is worth. */
static void tell(const struct player *player, uint64_t cpu)
{
	struct schedtape_told told = schedtape_burner_told(&player->burner, cpu);

	if (told.steps < TOLD_STEPS)
		told.steps = 0;
	if (player->cast->told &&
	    (told.steps >= TOLD_STEPS || told.stalled > player->burner.usual_cost))
		player->cast->told[player->task - player->cast->program->tasks] = told;
}

/* Makes a step from operation @op on.  Returns the first operation after it, or NULL. */
static const struct schedtape_op *do_step(struct player *player, const struct schedtape_op *op)
{
	const double cost = player->cast->costs.step / player->burner.rate;
	uint32_t wakes[STAPE_STEP_MAX_WAKES + STAPE_STEP_MAX_NEXT];
	const struct player_step found = player_find_step(player->cast->program, op,
							  player->began, cost, wakes);
	struct stape_step step = {
		.player = player->number,
		.index = player->steps++,
		.wakes = (uintptr_t)wakes,
		.nr_wakes = found.nr_wakes,
		.wait = STAPE_WAIT_NONE,
	};
	long error;

	if (found.wait) {
		step.wait = player_wait(found.wait);
		step.flags = found.wait->blocked ? STAPE_STEP_BLOCKED : 0;
		step.value = found.wait->value;
		player->began = found.wait->cpu;
		step.nr_next = find_next(player, found.next, wakes + step.nr_wakes);
	}
	if (found.next && step.nr_wakes)
		step.slack = slack_at(player, found.next);
	if (step.wait == STAPE_WAIT_DONE)
		tell(player, op->cpu);
	error = make_step(player->cast, &step);
	if (error)
		leave(player, "step", error);
	schedtape_burner_stepped(&player->burner);
	return found.next;
}

/* Returns the cost of the player's end, with its last step. */
static double end_cost(const struct player *player)
{
	bool shares = player->shares || (has_threads && !player->cast->engine);
	bool leads = is_process(player->cast, player->task - player->cast->program->tasks);

	return player->burner.step_cost + player_end_cost(&player->cast->costs, shares, leads);
}

/* Returns the CPU time that must not be burnt before an operation. */
static uint64_t spare_for(struct player *player, const struct schedtape_op *first)
{
	const struct schedtape_program *program = player->cast->program;
	double most = player->spare_most + player->burner.step_cost;

	if (!player_costs_soon(program, &player->costly, first, most, player->burner.rate))
		return 0;
	return player_spare(program, &player->cast->costs, first, end_cost(player),
			    player->burner.rate);
}

static void hold(void *arg)
{
	const struct player *player = arg;
	long error = sys_ioctl(player->cast->fd, STAPE_IOC_HOLD, &player->number);

	if (error && error != -EINTR)
		leave(player, "hold", error);
}

static void change_prio(const struct player *player, uint64_t value)
{
	const struct schedtape_prio prio = schedtape_prio_unpack(value);

	if (player->cast->attributes)
		take_prio(player, &prio);
}

static void make_session(const struct player *player)
{
	int session = player->cast->autogroups ? sys_new_session() : 0;

	if (session < 0)
		warn(player, "setsid in process", sys_pid(), session);
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
		take_affinity(player->cast, op->value);
		break;
	case SCHEDTAPE_OP_SETSID:
		make_session(player);
		break;
	case SCHEDTAPE_OP_MOVE:
		enter_cgroup(player, op->value);
		break;
	case SCHEDTAPE_OP_RENAME:
		sys_set_name(player->cast->program->names[op->value]);
		break;
	default:
		return do_step(player, op);
	}
	schedtape_burner_odd(&player->burner);
	return next_op(player, op);
}

/* Unmaps pages, so that they count no longer as memory of this process. */
static void let_go(const struct schedtape_store *store)
{
	if (store->in_file)
		sys_advise(store->memory, store->bytes, MADV_DONTNEED);
}

static void do_all(struct player *player, uint32_t task)
{
	const struct schedtape_program *program = player->cast->program;
	const struct schedtape_op *op = schedtape_program_begin(program, task);
	unsigned int done;

	player->ahead = op;
	player->costly = op;
	for (done = 1; op; done++) {
		if (op->kind == SCHEDTAPE_OP_NONE) {
			op = next_op(player, op);
			continue;
		}
		schedtape_burn(&player->burner, op->cpu, spare_for(player, op));
		op = do_op(player, op);
		if (done % KEPT_OPS)
			continue;
		let_go(&program->op_store);
		let_go(&program->task_store);
		let_go(&program->name_store);
	}
}

static void play(const struct player_cast *cast, uint32_t number, bool shares)
{
	const struct schedtape_program_task *task = &cast->program->tasks[number];
	struct player player = {
		.cast = cast,
		.task = task,
		.number = task->player,
		.shares = shares,
		.spare_most = player_spare_most(&cast->costs, 0),
		.burner = {
			.calibration = cast->calibration,
			.word = cast->engine ? NULL : &cast->clocks[task->player],
			.speed = cast->engine ? schedtape_engine_speed(cast->engine) :
				 &cast->clocks[cast->program->nr_players],
			.hold = hold,
			.arg = &player,
			.scale = cast->scale,
			.usual_cost = cast->costs.step,
		},
	};
	uint64_t before;
	long error;

	if (task->parent == SCHEDTAPE_NONE) {
		enter_cgroup(&player, task->cgroup);
		sys_set_name(task->name);
		take_attributes(&player);
	}
	before = schedtape_cpu_time();
	error = join(cast, task);
	if (error)
		leave(&player, "join", error);
	/* If the fork is on the tape, so is all CPU time of the task. */
	schedtape_burner_init(&player.burner, task->parent != SCHEDTAPE_NONE);
	/*
	 * Until the player has made steps, a step costs as much as this, unless it may have waited
	 * for its turn.
	 */
	player.burner.step_cost = task->turn ? cast->costs.step : schedtape_cpu_time() - before;
	do_all(&player, number);
}

/* The main function of a player's thread. */
static void run(const void *arg, uint32_t number)
{
	play(arg, number, false);
}

/* That of a process which shares the memory of its parent. */
static void run_brief(const void *arg, uint32_t number)
{
	play(arg, number, true);
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
			fail(&player, "thread", error);
		}
	}
}

void player_run(const struct player_cast *cast, uint32_t number)
{
	start_threads(cast, number);
	run(cast, number);
	/* Ends this thread only: others of the process may go on. */
	sys_exit_thread(0);
}
