// SPDX-License-Identifier: GPL-2.0-only
/*
 * The identity of each PID at the current position of the tape.  timeline/owners.h says which task
 * has a PID.
 */
#include "common/identities.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "tape/meta.h"
#include "tape/next.h"
#include "timeline/owners.h"

#define LEAF_BITS	10
#define LEAF_SIZE	(1U << LEAF_BITS)

/* Of functions that few events need, so that the others save no registers for them. */
#define SELDOM		__attribute__((noinline))

/**
 * struct identities - identities by PID
 * @owners: the tasks; those that have ended make room for the next ones with their PIDs
 * @leaves: the identities of @owners, by number, in @nr_leaves pieces that stay where they are
 * @tasks: the tape's @nr_tasks descriptions
 * @nr_tasks: number of descriptions
 * @taken: number of descriptions that have been applied
 * @pipe: the tape, if more descriptions may come while it is read
 * @running: by CPU: the number of the task that runs there, in room for @nr_cpus
 * @nr_cpus: entries of @running
 * @dying: number of a task that ends with the next event; SCHEDTAPE_NONE: none
 * @late: number of an exiting leader that still runs, although a thread has taken its PID in an
 *	execve(); SCHEDTAPE_NONE: none
 * @cpu: of the last event
 * @over: see identities_watch()
 */
struct identities {
	struct schedtape_owners owners;
	struct identity **leaves;
	size_t nr_leaves;
	const struct schedtape_task_info *tasks;
	size_t nr_tasks;
	size_t taken;
	struct schedtape_tape *pipe;
	uint32_t *running;
	uint32_t nr_cpus;
	uint32_t dying;
	uint32_t late;
	uint32_t cpu;
	void (*over)(void *arg, uint32_t pid, const struct identity *task);
	void *arg;
};

static const struct identity unknown = {
	.prio = IDENTITY_NO_PRIO, .policy = IDENTITY_NO_POLICY, .cpu = STAPE_CPU_NONE,
};

/* -- tasks ----------------------------------------------------------------- */

static inline struct identity *at(const struct identities *ids, uint32_t task)
{
	return &ids->leaves[task >> LEAF_BITS][task & (LEAF_SIZE - 1)];
}

static inline struct schedtape_owner *owner_of(const struct identities *ids, uint32_t task)
{
	return &ids->owners.owners[task];
}

/* Makes room for the identity of a task.  Returns 0 or -ENOMEM. */
static int make_room(struct identities *ids, uint32_t task)
{
	struct identity **leaves;

	if (task >> LEAF_BITS < ids->nr_leaves)
		return 0;
	leaves = reallocarray(ids->leaves, ids->nr_leaves + 1, sizeof(*leaves));
	if (!leaves)
		return -ENOMEM;
	ids->leaves = leaves;
	leaves[ids->nr_leaves] = malloc(LEAF_SIZE * sizeof(**leaves));
	if (!leaves[ids->nr_leaves])
		return -ENOMEM;
	ids->nr_leaves++;
	return 0;
}

/* Adds a task.  @seen: an event names it.  Returns its number; SCHEDTAPE_NONE: no memory or PID. */
static uint32_t add(struct identities *ids, uint32_t pid, const struct identity *task, bool seen)
{
	uint32_t number;

	if (!pid || pid > STAPE_PID_MASK)
		return SCHEDTAPE_NONE;
	number = schedtape_owners_add(&ids->owners, pid);
	if (number == SCHEDTAPE_NONE || make_room(ids, number))
		return SCHEDTAPE_NONE;
	*at(ids, number) = *task;
	at(ids, number)->current = seen;
	return number;
}

/*
 * Puts a thread whose fork the tape does not have into its process.  Its leader may have ended
 * before.
 */
static int join(struct identities *ids, uint32_t number)
{
	uint32_t tgid = at(ids, number)->tgid, leader;

	if (!tgid || tgid == owner_of(ids, number)->pid || tgid > STAPE_PID_MASK ||
	    owner_of(ids, number)->process != number)
		return 0;
	leader = schedtape_owners_get(&ids->owners, tgid);
	if (leader >= OWNERS_FORMER)
		leader = add(ids, tgid, &unknown, false);
	if (leader == SCHEDTAPE_NONE)
		return -ENOMEM;
	schedtape_owners_join(&ids->owners, number, owner_of(ids, leader)->process);
	return 0;
}

/* Ends a task. */
static void end(struct identities *ids, uint32_t number)
{
	if (ids->over)
		ids->over(ids->arg, owner_of(ids, number)->pid, at(ids, number));
	schedtape_owners_end(&ids->owners, number);
	at(ids, number)->current = false;
	if (number == ids->late)
		ids->late = SCHEDTAPE_NONE;
}

static SELDOM void end_dying(struct identities *ids)
{
	if (!owner_of(ids, ids->dying)->ended)
		end(ids, ids->dying);
	ids->dying = SCHEDTAPE_NONE;
}

/* Does the task run, as far as the tape shows? */
static bool runs(const struct identities *ids, uint32_t number)
{
	uint32_t cpu = at(ids, number)->cpu;

	return cpu < ids->nr_cpus && ids->running[cpu] == number;
}

/* A thread may have taken the PID of its leader, which may still run. */
static void note_late(struct identities *ids, uint32_t thread)
{
	uint32_t leader = owner_of(ids, thread)->before;

	if (leader != SCHEDTAPE_NONE && !owner_of(ids, leader)->ended && runs(ids, leader))
		ids->late = leader;
}

/* Returns what the table of PIDs has for an event on the CPU of the last event. */
static inline uint32_t lookup(const struct identities *ids, uint32_t pid)
{
	if (ids->late != SCHEDTAPE_NONE && runs(ids, ids->late) &&
	    at(ids, ids->late)->cpu == ids->cpu && owner_of(ids, ids->late)->pid == pid)
		return ids->late;
	return schedtape_owners_get(&ids->owners, pid);
}

/*
 * Returns the task that had ended when it was described, if this is its first event; else
 * SCHEDTAPE_NONE.
 */
static uint32_t meet_unseen(struct identities *ids, uint32_t pid)
{
	uint32_t number = schedtape_owners_get(&ids->owners, pid);

	if (number >= OWNERS_FORMER || !at(ids, number)->unseen)
		return SCHEDTAPE_NONE;
	at(ids, number)->unseen = false;
	owner_of(ids, number)->ended = false;
	return number;
}

/* The slow part of meet().  @living: see schedtape_owners_find_living() */
static SELDOM uint32_t meet_slow(struct identities *ids, uint32_t pid, bool living)
{
	uint32_t number = living ? schedtape_owners_find_living(&ids->owners, pid) :
				   schedtape_owners_find(&ids->owners, pid);
	bool again;

	if (number == SCHEDTAPE_NONE)
		number = meet_unseen(ids, pid);
	if (number == SCHEDTAPE_NONE) {
		again = schedtape_owners_get(&ids->owners, pid) < OWNERS_FORMER;
		number = add(ids, pid, &unknown, true);
		if (number != SCHEDTAPE_NONE)
			owner_of(ids, number)->found = again;
		return number;
	}
	note_late(ids, number);
	if (at(ids, number)->current)
		return number;
	at(ids, number)->current = true;
	return join(ids, number) ? SCHEDTAPE_NONE : number;
}

/* Returns the number of the task that has a PID; SCHEDTAPE_NONE: no memory. */
static inline uint32_t meet(struct identities *ids, uint32_t pid)
{
	uint32_t number = schedtape_owners_get(&ids->owners, pid);

	if (number < OWNERS_FORMER && at(ids, number)->current)
		return number;
	return meet_slow(ids, pid, false);
}

/* Sets what is known of a task, but not what this file keeps of it. */
static void set(struct identity *to, const struct identity *task)
{
	struct identity before = *to;

	*to = *task;
	to->number = before.number;
	to->current = before.current;
	to->unseen = before.unseen;
	to->joined = before.joined;
	to->left = before.left;
}

/* -- descriptions ---------------------------------------------------------- */

static void name(struct identity *task, const char *comm)
{
	memcpy(task->comm, comm, STAPE_COMM_LEN);
	task->comm[STAPE_COMM_LEN - 1] = '\0';
	text_name(task->name, task->comm);
	task->name_len = strlen(task->name);
	task->quoted = strpbrk(task->name, "\"\\");
}

static struct identity described_by_info(const struct schedtape_task_info *info)
{
	struct identity task = {
		.tgid = info->tgid, .cgroup = info->cgroup, .cpu = info->cpu,
		.prio = identities_prio(info->policy, info->nice, info->rt_priority),
		.policy = info->policy, .start_time = info->start_time, .ns_pid = info->ns_pid,
	};

	name(&task, info->comm);
	return task;
}

static struct identity described_by_event(const struct schedtape_event *ev)
{
	struct identity task = {
		.tgid = ev->tgid, .cgroup = ev->cgroup, .cpu = ev->task_cpu, .prio = ev->prio,
		.boosted = ev->boosted, .policy = ev->policy, .start_time = ev->start_time,
		.ns_pid = ev->ns_pid,
	};

	name(&task, ev->comm);
	return task;
}

/* Returns true if a description with a start time may be of a task. */
static bool may_be(const struct identity *task, uint64_t start_time)
{
	return !task->start_time || !start_time || task->start_time == start_time;
}

/* Adds the PID's first task, which no event has named yet, unless there is one already. */
static int add_first(struct identities *ids, uint32_t pid, const struct identity *task)
{
	if (!pid || pid > STAPE_PID_MASK ||
	    schedtape_owners_get(&ids->owners, pid) != SCHEDTAPE_NONE)
		return 0;
	return add(ids, pid, task, false) == SCHEDTAPE_NONE ? -ENOMEM : 0;
}

/* Adds the first tasks of those that are described before a time. */
static int add_described(struct identities *ids, uint64_t before)
{
	const struct schedtape_task_info *info;
	struct identity task;
	int ret = 0;

	for (; ids->taken < ids->nr_tasks && !ret; ids->taken++) {
		info = &ids->tasks[ids->taken];
		if (info->time >= before)
			break;
		task = described_by_info(info);
		ret = add_first(ids, info->pid, &task);
	}
	return ret;
}

/* Returns true if a description of the tape may be of the last task of its PID. */
static bool is_of_last(const struct identities *ids, uint32_t number,
		       const struct schedtape_task_info *info)
{
	if (!info->start_time)
		return !owner_of(ids, number)->ended;
	return may_be(at(ids, number), info->start_time);
}

/* Takes a description of the tape. */
static int take_info(struct identities *ids, const struct schedtape_task_info *info)
{
	const struct identity task = described_by_info(info);
	uint32_t number = schedtape_owners_get(&ids->owners, info->pid);

	if (!info->pid || info->pid > STAPE_PID_MASK)
		return 0;
	if (number < OWNERS_FORMER && !is_of_last(ids, number, info)) {
		if (!owner_of(ids, number)->ended) {
			if (info->state == STAPE_STATE_DEAD)
				return 0;
			end(ids, number);
		}
		number = SCHEDTAPE_NONE;
	}
	if (number < OWNERS_FORMER)
		set(at(ids, number), &task);
	else
		number = add(ids, info->pid, &task, false);
	if (number == SCHEDTAPE_NONE || join(ids, number))
		return -ENOMEM;
	/*
	 * Its last events may still come.  Or it is a leader that had ended before its threads:
	 * only they have named it.
	 */
	if (info->state == STAPE_STATE_DEAD && !at(ids, number)->current &&
	    !owner_of(ids, number)->ended) {
		end(ids, number);
		at(ids, number)->unseen = true;
	}
	return 0;
}

int identities_reach(struct identities *ids, uint64_t time)
{
	int ret = 0;

	if (ids->pipe)
		ids->tasks = schedtape_tape_tasks(ids->pipe, &ids->nr_tasks);
	while (!ret && ids->taken < ids->nr_tasks && ids->tasks[ids->taken].time < time) {
		if (ids->dying != SCHEDTAPE_NONE)
			end_dying(ids);
		ret = take_info(ids, &ids->tasks[ids->taken++]);
	}
	return ret;
}

/* -- begin and end --------------------------------------------------------- */

/* Adds all first tasks.  Corrupt pages are reported when the tape is read again. */
static int scan(struct identities *ids, struct schedtape_tape *tape, struct schedtape_error *err)
{
	const struct schedtape_event *ev;
	struct identity task;
	int rc, ret = 0;

	while (!ret && (rc = tape_next_event(tape, &ev, err))) {
		if (rc == -EBADMSG)
			continue;
		if (rc < 0)
			return rc;
		ret = add_described(ids, ev->time);
		if (ev->type == STAPE_EV_FORK && !ret) {
			ret = add_first(ids, ev->pid, &unknown);
		} else if (ev->type == STAPE_EV_TASK && !ret) {
			task = described_by_event(ev);
			ret = add_first(ids, ev->pid, &task);
		}
	}
	return ret ? schedtape_fail(err, ret, "not enough memory for the names of the tasks") :
		     schedtape_tape_rewind(tape, err);
}

static bool misses_something(struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	struct json_object *overwrite;
	size_t i;

	/* In overwrite mode, tasks are described at the end, and only those alive then. */
	if (json_object_object_get_ex(tape_meta(tape), "overwrite", &overwrite) &&
	    json_object_get_boolean(overwrite))
		return true;
	for (i = 0; i < end->nr_cpus; i++)
		if (end->cpus[i].lost || end->cpus[i].overwritten)
			return true;
	return schedtape_tape_damage(tape);
}

int identities_new(struct schedtape_tape *tape, struct identities **result,
		   struct schedtape_error *err)
{
	struct identities *ids = calloc(1, sizeof(*ids));
	int rc = 0;

	*result = NULL;
	if (!ids)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	ids->owners.reuse = true;
	ids->dying = SCHEDTAPE_NONE;
	ids->late = SCHEDTAPE_NONE;
	ids->tasks = schedtape_tape_tasks(tape, &ids->nr_tasks);
	if (schedtape_tape_is_pipe(tape))
		ids->pipe = tape;
	else if (misses_something(tape))
		rc = scan(ids, tape, err);
	if (!rc && add_described(ids, UINT64_MAX))
		rc = schedtape_fail(err, -ENOMEM, "not enough memory");
	ids->taken = 0;
	if (rc)
		identities_free(ids);
	else
		*result = ids;
	return rc;
}

void identities_watch(struct identities *ids,
		      void (*over)(void *arg, uint32_t pid, const struct identity *task), void *arg)
{
	ids->over = over;
	ids->arg = arg;
}

int identities_end(struct identities *ids)
{
	uint32_t i;

	if (identities_reach(ids, UINT64_MAX))
		return -ENOMEM;
	for (i = 0; i < ids->owners.nr; i++)
		if (!owner_of(ids, i)->ended)
			end(ids, i);
	return 0;
}

void identities_free(struct identities *ids)
{
	size_t i;

	if (!ids)
		return;
	for (i = 0; i < ids->nr_leaves; i++)
		free(ids->leaves[i]);
	free(ids->leaves);
	free(ids->running);
	schedtape_owners_free(&ids->owners);
	free(ids);
}

const struct identity *identities_get(const struct identities *ids, uint32_t pid)
{
	uint32_t number = lookup(ids, pid);

	return number == SCHEDTAPE_NONE ? &unknown : at(ids, number & ~OWNERS_FORMER);
}

/* The slow part of identities_find(). */
static SELDOM struct identity *find_slow(struct identities *ids, uint32_t pid)
{
	uint32_t number = lookup(ids, pid);

	/* A CPU on which a thread has called execve() has its old PID until its next switch. */
	if (number != SCHEDTAPE_NONE && (number == ids->late || number & OWNERS_FORMER))
		return at(ids, number & ~OWNERS_FORMER);
	number = meet(ids, pid);
	return number == SCHEDTAPE_NONE ? NULL : at(ids, number);
}

struct identity *identities_find(struct identities *ids, uint32_t pid)
{
	uint32_t number = schedtape_owners_get(&ids->owners, pid);
	struct identity *task;

	if (number < OWNERS_FORMER && ids->late == SCHEDTAPE_NONE) {
		task = at(ids, number);
		if (task->current)
			return task;
	}
	return find_slow(ids, pid);
}

uint32_t identities_ns_tgid(const struct identities *ids, uint32_t pid)
{
	uint32_t number = lookup(ids, pid), leader;

	if (number == SCHEDTAPE_NONE)
		return 0;
	number &= ~OWNERS_FORMER;
	leader = owner_of(ids, number)->process;
	/* A thread leads its process only until that is known. */
	return leader == number && at(ids, number)->tgid &&
	       at(ids, number)->tgid != owner_of(ids, number)->pid ? 0 : at(ids, leader)->ns_pid;
}

struct identity *identities_leader(const struct identities *ids, uint32_t pid)
{
	uint32_t number = schedtape_owners_get(&ids->owners, pid), leader;

	leader = owner_of(ids, number & ~OWNERS_FORMER)->process;
	return at(ids, leader);
}

bool identities_is_new(const struct identities *ids, uint32_t pid)
{
	uint32_t number = schedtape_owners_get(&ids->owners, pid);

	return number < OWNERS_FORMER && !owner_of(ids, number)->ended && !at(ids, number)->number;
}

/* -- events ---------------------------------------------------------------- */

/* A child begins as its parent is.  The tape may not know the parent. */
static struct identity forked_by(const struct identities *ids, const struct schedtape_event *ev)
{
	struct identity task = unknown;

	set(&task, identities_get(ids, ev->curr));
	if (!(ev->arg & STAPE_FORK_THREAD))
		task.tgid = ev->pid;
	/* SCHED_DEADLINE is not inherited: such tasks can fork only with reset-on-fork. */
	if (task.policy == SCHED_DEADLINE)
		task.policy = SCHED_OTHER;
	task.start_time = 0;
	task.ns_pid = 0;
	return task;
}

/* Did the task enter the filter while it was being forked, before its fork event? */
static bool is_newborn(const struct identity *task, uint64_t time)
{
	return task->joined && task->start_time && time < task->start_time + OWNERS_FORK_MAX;
}

static int on_fork(struct identities *ids, const struct schedtape_event *ev)
{
	uint32_t number = schedtape_owners_get(&ids->owners, ev->pid), parent = SCHEDTAPE_NONE;
	const struct identity child = forked_by(ids, ev);

	if (number < OWNERS_FORMER && !owner_of(ids, number)->ended) {
		if (is_newborn(at(ids, number), ev->time))
			return 0;
		/* A description that no event has used yet was made after this fork. */
		if (at(ids, number)->current || owner_of(ids, number)->threads)
			end(ids, number);
		else
			schedtape_owners_end(&ids->owners, number);
	}
	if (ev->curr) {
		parent = meet(ids, ev->curr);
		if (parent == SCHEDTAPE_NONE)
			return -ENOMEM;
	}
	number = add(ids, ev->pid, &child, true);
	if (number == SCHEDTAPE_NONE)
		return -ENOMEM;
	if ((ev->arg & STAPE_FORK_THREAD) && parent != SCHEDTAPE_NONE)
		schedtape_owners_join(&ids->owners, number, owner_of(ids, parent)->process);
	return 0;
}

/* A thread that calls execve() gets the PIDs and the start time of its process. */
static int on_exec(struct identities *ids, const struct schedtape_event *ev)
{
	const struct identity *process = identities_get(ids, ev->pid);
	uint64_t start_time = process->start_time;
	uint32_t ns_pid = process->ns_pid;
	uint32_t number, leader;

	if (!ev->old_pid || ev->old_pid == ev->pid)
		return 0;
	number = schedtape_owners_exec(&ids->owners, ev->pid, ev->old_pid, &leader);
	if (number == SCHEDTAPE_NONE && !errno) {
		if (meet(ids, ev->old_pid) == SCHEDTAPE_NONE)
			return -ENOMEM;
		number = schedtape_owners_exec(&ids->owners, ev->pid, ev->old_pid, &leader);
	}
	if (number == SCHEDTAPE_NONE)
		return -errno;
	at(ids, number)->start_time = start_time;
	at(ids, number)->ns_pid = ns_pid;
	at(ids, number)->tgid = ev->pid;
	if (leader == SCHEDTAPE_NONE || owner_of(ids, leader)->ended)
		return 0;
	if (runs(ids, leader))
		ids->late = leader;
	else
		end(ids, leader);
	return 0;
}

static int on_rename(struct identities *ids, const struct schedtape_event *ev)
{
	uint32_t number = meet_slow(ids, ev->pid, true);

	if (number == SCHEDTAPE_NONE)
		return -ENOMEM;
	name(at(ids, number), ev->comm);
	return 0;
}

static int on_prio(struct identities *ids, const struct schedtape_event *ev)
{
	uint32_t number;

	/* Of a leader that has ended: its threads have priorities of their own. */
	if (schedtape_owners_is_zombie(&ids->owners, ev->pid))
		return 0;
	number = meet(ids, ev->pid);
	if (number == SCHEDTAPE_NONE)
		return -ENOMEM;
	at(ids, number)->prio = ev->prio;
	at(ids, number)->policy = ev->policy;
	at(ids, number)->boosted = ev->boosted;
	return 0;
}

static int on_description(struct identities *ids, const struct schedtape_event *ev)
{
	const struct identity task = described_by_event(ev);
	unsigned int why = schedtape_task_why(ev);
	uint32_t number = schedtape_owners_get(&ids->owners, ev->pid);
	bool exists = number < OWNERS_FORMER && !owner_of(ids, number)->ended;

	/* A leader that has ended is moved together with its threads. */
	if ((why == STAPE_TASK_MOVES || why == STAPE_TASK_REGROUPED) &&
	    schedtape_owners_is_zombie(&ids->owners, ev->pid))
		return 0;
	/* A PID may be used again while its first task is not in the filter. */
	if (exists && why == STAPE_TASK_ENTERS && at(ids, number)->left &&
	    !may_be(at(ids, number), ev->start_time)) {
		end(ids, number);
		exists = false;
	}
	exists = exists && at(ids, number)->current;
	number = meet_slow(ids, ev->pid, why == STAPE_TASK_EXITS);
	if (number == SCHEDTAPE_NONE)
		return -ENOMEM;
	set(at(ids, number), &task);
	if (why == STAPE_TASK_ENTERS && !exists) {
		owner_of(ids, number)->found = true;
		at(ids, number)->joined = true;
	}
	at(ids, number)->left = why == STAPE_TASK_LEAVES;
	return join(ids, number);
}

static int on_exit_of(struct identities *ids, const struct schedtape_event *ev)
{
	uint32_t number;

	if (!schedtape_exit_ended(ev)) {
		number = meet_slow(ids, ev->pid, true);
		if (number == SCHEDTAPE_NONE)
			return -ENOMEM;
		schedtape_owners_exiting(&ids->owners, number);
		return 0;
	}
	number = schedtape_owners_get(&ids->owners, ev->pid);
	if (number < OWNERS_FORMER && owner_of(ids, number)->exiting)
		ids->dying = number;
	return 0;
}

/*
 * A task is switched in that runs elsewhere.  In an execve() two tasks swap their PIDs: returns the
 * one that is meant.
 */
static SELDOM uint32_t find_other(struct identities *ids, const struct schedtape_event *ev,
				  uint32_t number)
{
	uint32_t other = schedtape_owners_other(&ids->owners, number);

	if (other == SCHEDTAPE_NONE || runs(ids, other))
		return number;
	if (owner_of(ids, number)->exiting) {
		schedtape_owners_take(&ids->owners, other, ev->pid);
		note_late(ids, other);
	}
	return other;
}

/* Makes room for a CPU.  Returns 0 or -ENOMEM. */
static SELDOM int add_cpu(struct identities *ids, uint32_t cpu)
{
	uint32_t *running = NULL;

	if (cpu != STAPE_CPU_NONE)
		running = reallocarray(ids->running, cpu + 1, sizeof(*running));
	if (!running)
		return -ENOMEM;
	ids->running = running;
	while (ids->nr_cpus <= cpu)
		running[ids->nr_cpus++] = SCHEDTAPE_NONE;
	return 0;
}

/* The last switch of a task, which still has its number.  Returns true if it is @late. */
static SELDOM bool on_last_switch(struct identities *ids, uint32_t pid)
{
	uint32_t number = lookup(ids, pid);

	if (number == SCHEDTAPE_NONE || !owner_of(ids, number & ~OWNERS_FORMER)->exiting)
		return false;
	ids->dying = number & ~OWNERS_FORMER;
	return ids->dying == ids->late;
}

static int on_switch(struct identities *ids, const struct schedtape_event *ev)
{
	uint32_t number = SCHEDTAPE_NONE;
	bool late = false;

	if (schedtape_switch_state(ev) == STAPE_STATE_DEAD)
		late = on_last_switch(ids, ev->curr);
	if (ev->cpu >= ids->nr_cpus && add_cpu(ids, ev->cpu))
		return -ENOMEM;
	if (ev->pid) {
		number = meet(ids, ev->pid);
		if (number == SCHEDTAPE_NONE)
			return -ENOMEM;
		if (at(ids, number)->cpu != ev->cpu && runs(ids, number))
			number = find_other(ids, ev, number);
		at(ids, number)->cpu = ev->cpu;
	}
	/* A leader that ends with this event still counts as running. */
	if (!late)
		ids->running[ev->cpu] = number;
	return 0;
}

/* Notes where a task is. */
static int move(struct identities *ids, uint32_t pid, uint32_t cpu)
{
	uint32_t number;

	if (!pid)
		return 0;
	number = meet(ids, pid);
	if (number == SCHEDTAPE_NONE)
		return -ENOMEM;
	at(ids, number)->cpu = cpu;
	return 0;
}

/* Follows an event that may change more than the place of a task. */
static SELDOM int follow_description(struct identities *ids, const struct schedtape_event *ev)
{
	if (!ev->pid)
		return 0;
	switch (ev->type) {
	case STAPE_EV_FORK:
		return on_fork(ids, ev);
	case STAPE_EV_EXEC:
		return on_exec(ids, ev);
	case STAPE_EV_RENAME:
		return on_rename(ids, ev);
	case STAPE_EV_PRIO:
		return on_prio(ids, ev);
	case STAPE_EV_TASK:
		return on_description(ids, ev);
	case STAPE_EV_EXIT:
		return on_exit_of(ids, ev);
	}
	return 0;
}

int identities_follow(struct identities *ids, const struct schedtape_event *ev)
{
	if (ids->dying != SCHEDTAPE_NONE)
		end_dying(ids);
	if ((ids->taken < ids->nr_tasks || ids->pipe) && identities_reach(ids, ev->time))
		return -ENOMEM;
	ids->cpu = ev->cpu;
	switch (ev->type) {
	case STAPE_EV_SWITCH:
		return on_switch(ids, ev);
	case STAPE_EV_WAKING:
		return 0;
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
	case STAPE_EV_MIGRATE:
		return move(ids, ev->pid, ev->arg);
	}
	return follow_description(ids, ev);
}
