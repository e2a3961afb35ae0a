// SPDX-License-Identifier: GPL-2.0-only
#include "common/task-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define ITSELF		(SCHEDTAPE_NONE - 1)	/* in place of a process: the task leads it */
#define FORK_MAX	1000000000		/* a fork takes less, ns */

/* -- PIDs ------------------------------------------------------------------ */

/* Returns the slot of a PID; NULL: it is not a PID, or has had no task. */
static uint32_t *find_slot(const struct task_table *table, uint32_t pid)
{
	uint32_t *leaf = pid <= STAPE_PID_MASK ? table->leaves[pid >> TASK_TABLE_BITS] : NULL;

	return leaf ? &leaf[pid & (TASK_TABLE_LEAF - 1)] : NULL;
}

/* Returns the number of the PID's last task, even if it has ended; SCHEDTAPE_NONE: none. */
static uint32_t last_of(const struct task_table *table, uint32_t pid)
{
	const uint32_t *slot = find_slot(table, pid);

	return slot && *slot ? (*slot & ~TASK_TABLE_ENDED) - 1 : SCHEDTAPE_NONE;
}

/* Returns the number of the PID's task that exists; SCHEDTAPE_NONE: none. */
static uint32_t existing(const struct task_table *table, uint32_t pid)
{
	const uint32_t *slot = find_slot(table, pid);

	return slot && *slot && !(*slot & TASK_TABLE_ENDED) ? *slot - 1 : SCHEDTAPE_NONE;
}

static int set_slot(struct task_table *table, uint32_t pid, uint32_t number)
{
	uint32_t **leaf = &table->leaves[pid >> TASK_TABLE_BITS];

	if (!*leaf)
		*leaf = calloc(TASK_TABLE_LEAF, sizeof(**leaf));
	if (!*leaf)
		return -ENOMEM;
	(*leaf)[pid & (TASK_TABLE_LEAF - 1)] = number + 1;
	return 0;
}

/* -- tasks ----------------------------------------------------------------- */

static void join(struct task_table *table, uint32_t number, uint32_t process)
{
	struct task_entry *leader = &table->tasks[process];

	table->tasks[number].process = process;
	if (process == number)
		return;
	leader->threads++;
	leader->thread ^= number;
}

static void leave(struct task_table *table, uint32_t number)
{
	struct task_entry *leader = &table->tasks[table->tasks[number].process];

	if (leader == &table->tasks[number])
		return;
	leader->threads--;
	leader->thread ^= number;
}

/* Adds a task.  Returns its number, or SCHEDTAPE_NONE: no memory. */
static uint32_t add(struct task_table *table, uint32_t pid, uint32_t process)
{
	uint32_t number = table->nr, room = table->room ? 2 * table->room : 64;
	struct task_entry *tasks;

	if (number == table->room) {
		tasks = reallocarray(table->tasks, room, sizeof(*tasks));
		if (!tasks)
			return SCHEDTAPE_NONE;
		table->tasks = tasks;
		table->room = room;
	}
	if (set_slot(table, pid, number))
		return SCHEDTAPE_NONE;
	table->tasks[number] = (struct task_entry){ .pid = pid };
	table->nr++;
	join(table, number, process == ITSELF ? number : process);
	return number;
}

/* Adds a task whose fork the tape does not have.  Its leader comes first. */
static uint32_t add_unknown(struct task_table *table, uint32_t pid)
{
	uint32_t tgid = identities_get(table->identities, pid)->tgid, leader;

	if (!tgid || tgid == pid || tgid > STAPE_PID_MASK)
		return add(table, pid, ITSELF);
	/* It may have ended before its threads. */
	leader = last_of(table, tgid);
	if (leader == SCHEDTAPE_NONE)
		leader = add(table, tgid, ITSELF);
	return leader == SCHEDTAPE_NONE ? leader : add(table, pid, table->tasks[leader].process);
}

/* Takes what is known of a task that has its PID. */
static void describe(struct task_table *table, struct task_entry *task)
{
	const struct identity *identity = identities_get(table->identities, task->pid);

	task->tgid = identity->tgid ? identity->tgid : task->pid;
	task->cgroup = identity->cgroup;
	task->policy = identity->policy;
	memcpy(task->comm, identity->comm, sizeof(task->comm));
}

static void end(struct task_table *table, uint32_t number)
{
	struct task_entry *task = &table->tasks[number];

	describe(table, task);
	leave(table, number);
	*find_slot(table, task->pid) |= TASK_TABLE_ENDED;
}

/* Gives a thread the PID of its process, because it has called execve().  Returns 0 or -ENOMEM. */
static int take_over(struct task_table *table, uint32_t number, uint32_t pid)
{
	struct task_entry *task = &table->tasks[number];

	*find_slot(table, task->pid) = 0;
	leave(table, number);
	task->process = number;
	task->pid = pid;
	return set_slot(table, pid, number);
}

uint32_t task_table_start(struct task_table *table, uint32_t pid)
{
	uint32_t before = last_of(table, pid), thread;

	/* Within execve() a thread has its leader's PID before the event says so. */
	if (before != SCHEDTAPE_NONE && table->tasks[before].threads == 1) {
		thread = table->tasks[before].thread;
		return take_over(table, thread, pid) ? SCHEDTAPE_NONE : thread;
	}
	return add_unknown(table, pid);
}

/* -- events ---------------------------------------------------------------- */

/* Did the task enter the filter while it was being forked, before its fork event? */
static bool is_newborn(const struct task_table *table, uint32_t number,
		       const struct schedtape_event *ev)
{
	uint64_t start = identities_get(table->identities, ev->pid)->start_time;

	return table->tasks[number].joined && start && ev->time < start + FORK_MAX;
}

static int on_fork(struct task_table *table, const struct schedtape_event *ev)
{
	uint32_t before = existing(table, ev->pid), parent = SCHEDTAPE_NONE;
	bool thread = ev->arg & STAPE_FORK_THREAD;

	if (before != SCHEDTAPE_NONE && is_newborn(table, before, ev))
		return 0;
	if (before != SCHEDTAPE_NONE)
		end(table, before);
	if (ev->curr) {
		parent = task_table_find(table, ev->curr);
		if (parent == SCHEDTAPE_NONE)
			return -ENOMEM;
	}
	if (identities_follow(table->identities, ev))
		return -ENOMEM;
	if (!thread || parent == SCHEDTAPE_NONE)
		parent = add(table, ev->pid, ITSELF);
	else
		parent = add(table, ev->pid, table->tasks[parent].process);
	return parent == SCHEDTAPE_NONE ? -ENOMEM : 0;
}

static int on_exec(struct task_table *table, const struct schedtape_event *ev)
{
	uint32_t thread = SCHEDTAPE_NONE, leader = existing(table, ev->pid);
	int ret = 0;

	if (ev->old_pid && ev->old_pid != ev->pid)
		thread = existing(table, ev->old_pid);
	if (thread != SCHEDTAPE_NONE) {
		if (leader != SCHEDTAPE_NONE)
			end(table, leader);
		ret = take_over(table, thread, ev->pid);
	}
	return ret ? ret : identities_follow(table->identities, ev);
}

/* A PID may be used again while its first task is not in the filter. */
static bool is_another(const struct task_table *table, uint32_t number,
		       const struct schedtape_event *ev)
{
	uint64_t start = identities_get(table->identities, ev->pid)->start_time;

	return table->tasks[number].left && start && ev->start_time && start != ev->start_time;
}

static int on_description(struct task_table *table, const struct schedtape_event *ev)
{
	uint32_t number = existing(table, ev->pid);
	bool enters = schedtape_task_why(ev) == STAPE_TASK_ENTERS;

	if (number != SCHEDTAPE_NONE && enters && is_another(table, number, ev)) {
		end(table, number);
		number = SCHEDTAPE_NONE;
	}
	if (identities_follow(table->identities, ev))
		return -ENOMEM;
	if (number == SCHEDTAPE_NONE && enters) {
		number = task_table_start(table, ev->pid);
		if (number == SCHEDTAPE_NONE)
			return -ENOMEM;
		table->tasks[number].joined = true;
	}
	if (number != SCHEDTAPE_NONE)
		table->tasks[number].left = schedtape_task_why(ev) == STAPE_TASK_LEAVES;
	return 0;
}

static int on_exit_of(struct task_table *table, const struct schedtape_event *ev)
{
	uint32_t number = existing(table, ev->pid);

	if (number != SCHEDTAPE_NONE) {
		table->tasks[number].exiting = true;
		if (schedtape_exit_ended(ev))
			table->dying = ev->pid;
	}
	return identities_follow(table->identities, ev);
}

/* The last switch of a task still has its number. */
static void on_switch(struct task_table *table, const struct schedtape_event *ev)
{
	uint32_t number;

	if (!ev->curr || schedtape_switch_state(ev) != STAPE_STATE_DEAD)
		return;
	number = existing(table, ev->curr);
	if (number != SCHEDTAPE_NONE && table->tasks[number].exiting)
		table->dying = ev->curr;
}

int task_table_follow(struct task_table *table, const struct schedtape_event *ev)
{
	uint32_t number;

	if (table->dying) {
		number = existing(table, table->dying);
		if (number != SCHEDTAPE_NONE)
			end(table, number);
		table->dying = 0;
	}
	if (identities_reach(table->identities, ev->time))
		return -ENOMEM;
	switch (ev->type) {
	case STAPE_EV_SWITCH:
		on_switch(table, ev);
		break;
	case STAPE_EV_FORK:
		return on_fork(table, ev);
	case STAPE_EV_EXEC:
		return on_exec(table, ev);
	case STAPE_EV_TASK:
		return on_description(table, ev);
	case STAPE_EV_EXIT:
		return on_exit_of(table, ev);
	}
	return identities_follow(table->identities, ev);
}

/* -- begin and end --------------------------------------------------------- */

int task_table_begin(struct task_table *table, struct schedtape_tape *tape,
		     struct schedtape_error *err)
{
	memset(table, 0, sizeof(*table));
	return identities_new(tape, &table->identities, err);
}

int task_table_end(struct task_table *table, struct schedtape_tape *tape)
{
	const struct schedtape_task_info *infos;
	size_t i, n;

	infos = schedtape_tape_tasks(tape, &n);
	if (identities_reach(table->identities, UINT64_MAX))
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (last_of(table, infos[i].pid) == SCHEDTAPE_NONE &&
		    infos[i].pid <= STAPE_PID_MASK &&
		    add_unknown(table, infos[i].pid) == SCHEDTAPE_NONE)
			return -ENOMEM;
	for (i = 0; i < table->nr; i++)
		if (existing(table, table->tasks[i].pid) == i)
			describe(table, &table->tasks[i]);
	return 0;
}

void task_table_free(struct task_table *table)
{
	size_t i;

	for (i = 0; i < TASK_TABLE_LEAVES; i++)
		free(table->leaves[i]);
	free(table->tasks);
	identities_free(table->identities);
}
