// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compiles a tape.  The timeline reports sleeps, wake-ups, forks and exits.  Each
 * becomes an operation of its task at the CPU time that the task had used.  Two facts
 * are known only later, and filled in then: how a wait ends, and whether a waking
 * really woke its wakee.
 *
 * Every wake-up that a task waits for happened earlier in the recording.  So tasks
 * cannot wait for each other in a circle.
 */
#include "program/program.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "program/compiler.h"
#include "program/entries.h"
#include "tape/groups.h"
#include "timeline/timeline.h"

#define STOP_HERE	1	/* returned to end the run of the timeline */

/*
 * CPU time of a brief task at most, ns.  The scheduler looks at a task's memory at ticks, of which
 * there are 1000 a second at most, so such a task mostly ends before.
 */
#define BRIEF_NS	1000000

/* Limits a time to what an operation can hold: two years.  A longer one is corrupt. */
static uint64_t span(uint64_t from, uint64_t to)
{
	const uint64_t most = (1ULL << 56) - 1;

	if (to <= from)
		return 0;
	return to - from < most ? to - from : most;
}

static uint64_t replay_time(const struct compiler *c, uint64_t time)
{
	return span(c->start, time);
}

static struct part *part_of(struct compiler *c, const struct schedtape_task *task)
{
	return &c->parts[task->index];
}

static bool plays(struct compiler *c, const struct schedtape_task *task)
{
	return task->index < c->part_store.nr && part_of(c, task)->number != SCHEDTAPE_NONE;
}

static bool is_left_out_kthread(const struct compiler *c, const struct schedtape_task *task)
{
	return !c->options->kthreads && schedtape_is_kthread(task);
}

static struct schedtape_program_task *task_of(struct compiler *c, const struct schedtape_task *task)
{
	return &c->program->tasks[part_of(c, task)->number];
}

static uint64_t cpu_of(struct compiler *c, const struct schedtape_task *task)
{
	return task->cpu_time - part_of(c, task)->base;
}

/* Notes when a replayed task last did anything. */
static void note(struct compiler *c, const struct schedtape_task *task, uint64_t time)
{
	if (plays(c, task) && time > c->last)
		c->last = time;
}

static int append(struct compiler *c, const struct schedtape_task *task,
		  enum schedtape_op_kind kind, uint64_t value)
{
	const struct schedtape_op op = { .cpu = cpu_of(c, task), .kind = kind, .value = value };
	struct part *part = part_of(c, task);
	int ret = schedtape_program_add_op(c->program, &part->tail, &op);

	task_of(c, task)->first = part->tail.first;
	if (kind != SCHEDTAPE_OP_NONE && kind != SCHEDTAPE_OP_RENAME && kind != SCHEDTAPE_OP_EXIT)
		part->plain = false;
	return ret;
}

static struct schedtape_op *wait_of(struct compiler *c, const struct part *part)
{
	return &c->program->ops[part->wait];
}

/* -- waits ----------------------------------------------------------------- */

/*
 * Adds a wait that ends, until the timeline reports its end, at the time at which it
 * began: a task that does something next could run all the time.
 */
static int open_wait(struct compiler *c, const struct schedtape_task *task, uint64_t time)
{
	struct part *part = part_of(c, task);
	int ret;

	/* A task that sleeps since before the start already has the wait from on_born(). */
	if (part->waiting && part->wait == part->tail.last && !cpu_of(c, task))
		return 0;
	ret = append(c, task, SCHEDTAPE_OP_WAIT_UNTIL, replay_time(c, time));
	part->wait = part->tail.last;
	part->waiting = !ret;
	part->since = time;
	return ret;
}

/*
 * Returns true if a wait is replayed with its length.  The length of a wait from before the
 * start is not known.  Wake-ups by tasks that are left out come at their recorded time.
 */
static bool is_length(const struct compiler *c, const struct part *part,
		      const struct schedtape_op *wait, bool left_out)
{
	if (!part->since || left_out)
		return false;
	switch (c->options->external) {
	case SCHEDTAPE_EXTERNAL_RELATIVE:
		return true;
	case SCHEDTAPE_EXTERNAL_AUTO:
		return wait->blocked;
	default:
		return false;
	}
}

/* A process begins when it is due if it enters the filter, or if its parent is left out. */
static bool begins_when_due(const struct schedtape_task *task, bool has_parent)
{
	return (task->joined || has_parent) && !task->thread;
}

/* Ends a task's wait by an external wake-up. */
static void end_external(struct compiler *c, const struct schedtape_task *task, bool left_out,
			 uint64_t time)
{
	struct part *part = part_of(c, task);
	struct schedtape_op *wait = wait_of(c, part);

	part->set_going = time;
	if (!part->since && begins_when_due(task, false))
		numbers_root_is_timed(c, c->start + task_of(c, task)->due);
	if (!is_length(c, part, wait, left_out)) {
		wait->value = replay_time(c, time);
		c->program->timed++;
		return;
	}
	wait->kind = SCHEDTAPE_OP_WAIT_FOR;
	wait->value = span(part->since, time);
	c->program->lengths++;
}

/*
 * Ends the wait of a task that does something.  After lost events, or if the clocks of CPUs
 * differ, a sleeping task may seem to act.  Its wait then ends at this time, so that the
 * operation, and players that wait for it, do not depend on a later wake-up.
 */
static void awake(struct compiler *c, const struct schedtape_task *task, uint64_t time)
{
	struct part *part = part_of(c, task);

	/* A task from the start may have run all the time. */
	if (part->waiting && part->since)
		end_external(c, task, false, time);
	part->waiting = false;
}

/* -- tasks of the program -------------------------------------------------- */

static int grow_parts(struct compiler *c, uint32_t index)
{
	int ret;

	while (index >= c->part_store.nr) {
		ret = schedtape_store_add(&c->part_store, sizeof(*c->parts), 1);
		if (ret)
			return ret;
		c->parts = c->part_store.memory;
		c->parts[c->part_store.nr - 1] = (struct part){
			.number = SCHEDTAPE_NONE, .leader = SCHEDTAPE_NONE,
			.affinity = SCHEDTAPE_NONE,
		};
	}
	return 0;
}

static int prio_of(struct compiler *c, const struct schedtape_task *task,
		   struct schedtape_prio *prio)
{
	const union schedtape_more more = { .dl = task->dl };
	int ret;

	*prio = (struct schedtape_prio){ task->policy, task->nice, task->rt_priority, 0 };
	if (task->policy != SCHED_DEADLINE && !task->wish.slice && !task->wish.clamps)
		return 0;
	ret = schedtape_program_add_more(c->program, &more, &prio->more);
	prio->more++;
	return ret;
}

static void count_once(bool has, bool *counted, uint32_t *nr)
{
	*nr += has && !*counted;
	*counted |= has;
}

static void uncount(bool *counted, uint32_t *nr)
{
	*nr -= *counted;
	*counted = false;
}

/*
 * Forgets what a child has inherited, if it has not run yet.  If its parent has reset-on-fork, the
 * timeline gives the child the parent's policy, slice and clamps, and the child's own before it
 * runs.
 */
static void forget_policy(struct compiler *c, const struct schedtape_task *task)
{
	struct schedtape_program_task *ptask = task_of(c, task);

	if (ptask->parent == SCHEDTAPE_NONE || cpu_of(c, task))
		return;
	uncount(&ptask->ext, &c->program->nr_ext);
	uncount(&ptask->slice, &c->program->nr_slices);
	uncount(&ptask->clamped, &c->program->nr_clamped);
}

/* Counts once each task that has what a kernel may not have. */
static void note_policy(struct compiler *c, const struct schedtape_task *task)
{
	struct schedtape_program_task *ptask = task_of(c, task);
	bool wishes = task->policy != SCHED_DEADLINE;

	count_once(task->policy == SCHEDTAPE_POLICY_EXT, &ptask->ext, &c->program->nr_ext);
	count_once(wishes && task->wish.slice, &ptask->slice, &c->program->nr_slices);
	count_once(wishes && task->wish.clamps, &ptask->clamped, &c->program->nr_clamped);
}

/* Returns the nice value of a task's autogroup, or the usual one. */
static int autogroup_nice_of(const struct schedtape_task *task)
{
	return task->autogroup_nice == SCHEDTAPE_NICE_UNKNOWN ? 0 : task->autogroup_nice;
}

/*
 * Finds out whether it matters which tasks share an autogroup.  If all share one, they compete as
 * they do without any.
 */
static void note_group(struct compiler *c, const struct schedtape_task *task)
{
	count_once(task->autogroup, &task_of(c, task)->grouped, &c->program->nr_grouped);
	if (task->autogroup != c->program->tasks[0].autogroup ||
	    (task->autogroup && autogroup_nice_of(task)))
		c->grouped = true;
}

/* Gets the affinity in the description of a task or of its parent, as many CPUs as an event has. */
static int described_affinity(struct compiler *c, const struct schedtape_task *task,
			      uint32_t *index)
{
	const struct schedtape_task_info *info = task->info ? task->info : part_of(c, task)->source;
	unsigned char affinity[SCHEDTAPE_AFFINITY_BYTES] = { 0 };
	uint32_t bytes = info ? info->affinity_bytes : 0, i;

	if (!bytes)
		return 0;
	memcpy(affinity, info->affinity, bytes < sizeof(affinity) ? bytes : sizeof(affinity));
	for (i = sizeof(affinity); i < bytes && !info->affinity[i]; i++)
		;
	c->program->nr_cut += i < bytes;
	return schedtape_program_add_affinity(c->program, affinity, index);
}

/* Adds a task to the program, unless it is left out.  @joins: when its player joins, or earlier. */
static int cast_task(struct compiler *c, const struct schedtape_task *task, const char *name,
		     uint64_t time, uint64_t joins)
{
	struct schedtape_program_task ptask = {
		.due = replay_time(c, time),
		.parent = SCHEDTAPE_NONE,
		.process = task->process,	/* index in the timeline, until set_process() */
		.threads = SCHEDTAPE_NONE,
		.sibling = SCHEDTAPE_NONE,
		.successor = SCHEDTAPE_NONE,
		.cgroup = SCHEDTAPE_NONE,
		.autogroup = task->autogroup,
		.autogroup_nice = autogroup_nice_of(task),
		.pid = task->pid,
		.born = task->start,
		.prio_known = task->prio_known,
		.affinity = part_of(c, task)->affinity,
	};
	int ret;

	if (c->kept && (task->index >= c->nr_kept || !c->kept[task->index]))
		return 0;
	if (is_left_out_kthread(c, task)) {
		c->program->nr_kthreads++;
		return 0;
	}
	ret = prio_of(c, task, &ptask.prio);
	if (!ret && task->cgroup)
		ret = schedtape_program_add_cgroup(c->program, task->cgroup, &ptask.cgroup);
	if (!ret && ptask.affinity == SCHEDTAPE_NONE)
		ret = described_affinity(c, task, &ptask.affinity);
	if (ret)
		return ret;
	memcpy(ptask.name, name, sizeof(ptask.name));
	part_of(c, task)->number = c->program->nr_tasks;
	part_of(c, task)->base = task->cpu_time;
	part_of(c, task)->leads = task->autogroup == task->pid;
	part_of(c, task)->plain = true;
	ret = schedtape_program_add_task(c->program, &ptask);
	if (!ret)
		ret = numbers_take(c, part_of(c, task)->number, joins);
	if (ret)
		return ret;
	if (ptask.prio_known)
		note_policy(c, task);
	note_group(c, task);
	return 0;
}

/*
 * Returns when the player of a task may join at the earliest, if no replayed task forks that task.
 * 0: at the start, because threads without creator begin with their process.
 */
static uint64_t root_joins(const struct compiler *c, const struct schedtape_task *task,
			   bool has_parent)
{
	return begins_when_due(task, has_parent) ? numbers_root_begins(c) : 0;
}

/* -- callbacks of the timeline --------------------------------------------- */

static int on_born(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *parent, uint64_t time)
{
	struct compiler *c = arg;
	struct part *part;
	bool forked;
	int ret;

	ret = grow_parts(c, task->index);
	if (ret)
		return ret;
	part = part_of(c, task);
	part->source = task->info;
	if (parent) {
		part->source = parent->info ? parent->info : part_of(c, parent)->source;
		part->affinity = part_of(c, parent)->affinity;
	}
	if (!c->begun)
		return 0;
	forked = parent && plays(c, parent);
	ret = cast_task(c, task, task->first_comm, time,
			forked ? time : root_joins(c, task, parent));
	if (ret || !plays(c, task))
		return ret;
	if (forked) {
		awake(c, parent, time);
		task_of(c, task)->parent = part_of(c, parent)->number;
		part_of(c, task)->set_going = part_of(c, parent)->set_going;
		return append(c, parent, SCHEDTAPE_OP_FORK, part_of(c, task)->number);
	}
	ret = open_wait(c, task, time);
	part = part_of(c, task);
	part->since = 0;
	/* If its parent is left out, it begins at the time of its fork. */
	part->waiting = !parent;
	c->program->timed += !part->waiting;
	if (parent && begins_when_due(task, true))
		numbers_root_is_timed(c, time);
	return ret;
}

static int on_waking(void *arg, const struct schedtape_task *waker,
		     const struct schedtape_task *wakee, uint64_t ticket, uint64_t time)
{
	struct compiler *c = arg;
	int ret;

	note(c, waker, time);
	if (!plays(c, waker) || !plays(c, wakee))
		return 0;
	awake(c, waker, time);
	ret = append(c, waker, SCHEDTAPE_OP_NONE, 0);
	part_of(c, wakee)->ticket = ticket;
	part_of(c, wakee)->op = part_of(c, waker)->tail.last;
	return ret;
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct schedtape_op *wait, *wake;
	struct compiler *c = arg;
	struct part *part;
	uint32_t edge;
	int ret;

	note(c, task, time);
	if (!plays(c, task) || !part_of(c, task)->waiting)
		return 0;
	part = part_of(c, task);
	part->waiting = false;
	wait = wait_of(c, part);
	wait->blocked = task->slept_as == STAPE_STATE_BLOCKED ||
			task->slept_as == STAPE_STATE_IDLE;
	if (!waker || !ticket || ticket != part->ticket) {
		end_external(c, task, waker && !is_left_out_kthread(c, waker), time);
		return 0;
	}
	ret = numbers_edge(c, part_of(c, waker)->number, part->number, time, &edge);
	if (ret)
		return ret;
	wake = &c->program->ops[part->op];
	wake->kind = SCHEDTAPE_OP_WAKE;
	wake->value = edge;
	/* With absolute times no timer is delayed for a wakee. */
	wake->expected = c->options->external != SCHEDTAPE_EXTERNAL_ABSOLUTE &&
			 part->since < part_of(c, waker)->set_going;
	part->set_going = part_of(c, waker)->set_going;
	wait->kind = SCHEDTAPE_OP_WAIT_EDGE;
	wait->value = schedtape_wait_pack(edge, task_of(c, waker)->player);
	c->program->wakeups++;
	return 0;
}

static int on_slept(void *arg, const struct schedtape_task *task, uint64_t time)
{
	note(arg, task, time);
	return plays(arg, task) ? open_wait(arg, task, time) : 0;
}

/* A task that leaves the filter waits for an external wake-up. */
static int on_left(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct compiler *c = arg;

	return plays(c, task) && !part_of(c, task)->waiting ? open_wait(c, task, time) : 0;
}

static int on_joined(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct compiler *c = arg;

	if (!plays(c, task))
		return 0;
	if (part_of(c, task)->waiting)
		end_external(c, task, false, time);
	part_of(c, task)->waiting = false;
	return 0;
}

/* Sets name and process.  Threads whose fork is on the tape keep their parent's process. */
static int on_identified(void *arg, const struct schedtape_task *task, uint64_t time)
{
	const struct schedtape_task *leader = schedtape_task_at(task, task->process);
	struct schedtape_program_task *ptask;

	(void)time;
	if (!plays(arg, task))
		return 0;
	ptask = task_of(arg, task);
	memcpy(ptask->name, task->first_comm, sizeof(ptask->name));
	if (ptask->parent == SCHEDTAPE_NONE && leader->process == leader->index)
		ptask->process = task->process;
	return 0;
}

static int on_renamed(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct compiler *c = arg;
	struct schedtape_program *program = c->program;
	int ret;

	(void)time;
	if (!plays(c, task))
		return 0;
	ret = schedtape_program_add_name(program, task->comm);
	return ret ? ret : append(c, task, SCHEDTAPE_OP_RENAME, program->nr_names - 1);
}

static int on_setprio(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct schedtape_prio prio;
	int ret;

	(void)time;
	if (!plays(arg, task))
		return 0;
	forget_policy(arg, task);
	note_policy(arg, task);
	ret = prio_of(arg, task, &prio);
	return ret ? ret : append(arg, task, SCHEDTAPE_OP_SETPRIO, schedtape_prio_pack(&prio));
}

/* Also for tasks that are left out, or have not begun, because their children inherit it. */
static int on_setaffinity(void *arg, const struct schedtape_task *task,
			  const unsigned char *affinity, uint64_t time)
{
	struct compiler *c = arg;
	struct part *part = part_of(c, task);
	uint32_t before = part->affinity;
	int ret;

	(void)time;
	ret = schedtape_program_add_affinity(c->program, affinity, &part->affinity);
	if (ret || !plays(c, task) || part->affinity == before)
		return ret;
	return append(c, task, SCHEDTAPE_OP_SETAFFINITY, part->affinity);
}

static int on_moved(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct compiler *c = arg;
	struct schedtape_program_task *ptask;
	uint32_t cgroup;
	int ret;

	(void)time;
	if (!plays(c, task))
		return 0;
	ret = schedtape_program_add_cgroup(c->program, task->cgroup, &cgroup);
	if (ret)
		return ret;
	ptask = task_of(c, task);
	/* Its first cgroup was not known so far. */
	if (ptask->parent == SCHEDTAPE_NONE && ptask->cgroup == SCHEDTAPE_NONE) {
		ptask->cgroup = cgroup;
		return 0;
	}
	return append(c, task, SCHEDTAPE_OP_MOVE, cgroup);
}

/*
 * A process that is in the autogroup of its own session has called setsid().  Otherwise its cgroup
 * has changed, or autogroups were switched on or off.
 */
static int on_regrouped(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct compiler *c = arg;
	struct schedtape_program_task *ptask;
	bool leads;

	(void)time;
	if (!plays(c, task))
		return 0;
	ptask = task_of(c, task);
	leads = part_of(c, task)->leads;
	part_of(c, task)->leads |= task->autogroup == task->pid;
	/* Its first one was not known so far. */
	if (ptask->parent == SCHEDTAPE_NONE && !ptask->grouped) {
		note_group(c, task);
		ptask->autogroup = task->autogroup;
		ptask->autogroup_nice = autogroup_nice_of(task);
		return 0;
	}
	/* A leader has only come back into the autogroup of its session. */
	if (task->autogroup != task->pid || leads)
		return 0;
	note_group(c, task);
	return append(c, task, SCHEDTAPE_OP_SETSID, 0);
}

/*
 * Ends the last wait of a task, which outlasts the recording.  The task's program ends before
 * that wait.  The program of a task that never ran has nothing else: it waits until no other
 * task does anything any more, so that its player exists during the replay, but does not
 * disturb it.
 */
static void end_last_wait(struct compiler *c, struct part *part)
{
	if (part->wait != part->tail.first || wait_of(c, part)->cpu) {
		schedtape_program_drop_op(&part->tail);
		return;
	}
	wait_of(c, part)->value = replay_time(c, c->last);
	c->program->timed++;
}

static int on_end(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct compiler *c = arg;
	struct part *part;

	(void)time;
	if (!plays(c, task))
		return 0;
	part = part_of(c, task);
	if (part->waiting && part->wait == part->tail.last &&
	    wait_of(c, part)->cpu == cpu_of(c, task))
		end_last_wait(c, part);
	part->waiting = false;
	return append(c, task, SCHEDTAPE_OP_EXIT, 0);
}

/* A child that outlives its parent would use the CPU time for the end of the memory they share. */
static bool has_parent(const struct schedtape_task *task)
{
	return task->parent != SCHEDTAPE_NONE && !schedtape_task_at(task, task->parent)->exited;
}

static int on_exited(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct compiler *c = arg;

	note(c, task, time);
	if (plays(c, task)) {
		task_of(c, task)->brief = part_of(c, task)->plain && has_parent(task) &&
					  cpu_of(c, task) <= BRIEF_NS;
		numbers_give_back(c, part_of(c, task)->number, time);
	}
	return on_end(c, task, time);
}

/* The start or the end of the replayed part. */
static int on_marked(void *arg, const struct schedtape_task *task, bool asleep, uint64_t time)
{
	struct compiler *c = arg;
	int ret;

	if (c->begun)
		return on_end(c, task, time);
	ret = cast_task(c, task, task->comm, time, 0);
	if (ret || !plays(c, task))
		return ret;
	ret = open_wait(c, task, time);
	part_of(c, task)->since = 0;
	part_of(c, task)->waiting = asleep;
	return ret;
}

static int on_reached(void *arg, uint64_t time)
{
	struct compiler *c = arg;

	(void)time;
	if (c->begun)
		return STOP_HERE;
	c->begun = true;
	return 0;
}

/* -- compiling ------------------------------------------------------------- */

static const struct schedtape_timeline_ops compiler_ops = {
	.size = sizeof(compiler_ops),
	.born = on_born,
	.waking = on_waking,
	.woke = on_woke,
	.slept = on_slept,
	.left = on_left,
	.joined = on_joined,
	.identified = on_identified,
	.renamed = on_renamed,
	.setprio = on_setprio,
	.setaffinity = on_setaffinity,
	.moved = on_moved,
	.regrouped = on_regrouped,
	.exited = on_exited,
	.ended = on_end,
	.marked = on_marked,
	.reached = on_reached,
	.no_edges = true,
};

/* Calls options->keep for each task, with its state at the end of the tape. */
static int choose(struct compiler *c, struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct schedtape_timeline *timeline;
	const struct schedtape_task *tasks;
	size_t n, i;
	int ret;

	if (!c->options->keep)
		return 0;
	ret = schedtape_timeline_run(tape, NULL, NULL, &timeline, err);
	if (ret)
		return ret;
	tasks = schedtape_timeline_tasks(timeline, &n);
	c->kept = calloc(n + 1, sizeof(*c->kept));
	c->nr_kept = n;
	for (i = 0; i < n && c->kept; i++) {
		schedtape_tasks_passed(&timeline->set, i);
		c->kept[i] = c->options->keep(c->options->arg, &tasks[i]);
	}
	schedtape_timeline_free(timeline);
	return c->kept ? 0 : schedtape_fail(err, -ENOMEM, "not enough memory");
}

static int say_nothing(const struct compiler *c, struct schedtape_error *err)
{
	bool chosen = c->kept || c->options->from || c->options->to;

	if (c->program->nr_kthreads)
		return schedtape_fail(err, -ENODATA, "only kernel threads %s: --kthreads replays "
				      "them", chosen ? "were chosen" : "are on the tape");
	return schedtape_fail(err, -ENODATA, "no task%s on the tape: nothing to replay",
			      chosen ? " that was chosen is" : "");
}

static int compile(struct compiler *c, struct schedtape_tape *tape, struct schedtape_error *err)
{
	const uint64_t marks[] = { c->options->from, c->options->to };
	struct schedtape_timeline_ops ops = compiler_ops;
	struct schedtape_timeline *timeline = NULL;
	int ret;

	ops.marks = marks + c->begun;
	ops.nr_marks = !c->begun + !!c->options->to;
	ret = schedtape_timeline_run(tape, &ops, c, &timeline, err);
	schedtape_timeline_free(timeline);
	if (ret < 0)
		return ret;
	if (!c->program->nr_tasks)
		return say_nothing(c, err);
	/* Without GROUPS the tape has the autogroups only of tasks that it describes elsewhere. */
	if (!c->grouped || !tape_has_groups(tape))
		c->program->nr_grouped = 0;
	ret = program_set_processes(c);
	if (ret)
		return schedtape_fail(err, ret, "not enough memory");
	return 0;
}

int schedtape_program_compile(struct schedtape_tape *tape,
			      const struct schedtape_program_options *options,
			      struct schedtape_program **program, struct schedtape_error *err)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint64_t stop = end->stop_time;
	struct compiler c = {
		.start = end->start_time,
		.begun = options->from <= end->start_time,
		.options = options,
	};
	int ret;

	if (!c.begun)
		c.start = options->from;
	if (options->to && options->to < stop)
		stop = options->to;
	c.program = calloc(1, sizeof(*c.program));
	if (!c.program)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	c.program->duration = replay_time(&c, stop);
	ret = choose(&c, tape, err);
	if (!ret)
		ret = compile(&c, tape, err);
	schedtape_store_free(&c.part_store);
	schedtape_edges_free(&c.edges);
	free(c.numbers.list);
	free(c.numbers.uses);
	free(c.kept);
	if (ret) {
		schedtape_program_free(c.program);
		return ret;
	}
	schedtape_program_close(c.program);
	*program = c.program;
	return 0;
}
