/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers the tasks of a tape, for commands that look at its events one after the other.  A PID
 * that is used again is another task.
 *
 *	task_table_begin()
 *	for each event: task_table_follow(), then task_table_find() for its PIDs
 *	task_table_end(), and then the names, cgroups and policies are there
 *	task_table_free()
 */
#ifndef SCHEDTAPE_TASK_TABLE_H
#define SCHEDTAPE_TASK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/identities.h"

/**
 * struct task_entry - a task
 * @cgroup: id of its last cgroup; 0: not known; this member and those up to @policy are set when
 *	the task ends, or by task_table_end(), and so is @comm
 * @pid: its PID, the last one if a thread has called execve()
 * @tgid: PID of its process
 * @ns_pid: its PID in its own PID namespace; 0: the same, or not known
 * @policy: the last one, SCHED_*; IDENTITY_NO_POLICY: not known
 * @process: number of the task that leads its process; its own: a leader
 * @order: when it appeared, among the tasks of its @tgid
 * @took_pid: it was a thread, and has taken its leader's PID by an execve()
 * @comm: its last name
 */
struct task_entry {
	uint64_t cgroup;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ns_pid;
	uint32_t policy;
	uint32_t process;
	uint32_t order;
	bool took_pid;
	char comm[STAPE_COMM_LEN];
};

/**
 * struct task_table - the tasks, in order of appearance
 * @identities: what each PID is
 * @tasks: @nr of them, in room for @room
 */
struct task_table {
	struct identities *identities;
	struct task_entry *tasks;
	uint32_t nr;
	uint32_t room;
};

/* Begins before the first event.  Returns 0 or -errno. */
int task_table_begin(struct task_table *table, struct schedtape_tape *tape,
		     struct schedtape_error *err);
/* Starts and ends tasks, and changes identities, as the event does.  Returns 0 or -ENOMEM. */
int task_table_follow_description(struct task_table *table, const struct schedtape_event *ev);

static inline int task_table_follow(struct task_table *table, const struct schedtape_event *ev)
{
	if (ev->type == STAPE_EV_SWITCH || ev->type == STAPE_EV_WAKING ||
	    ev->type == STAPE_EV_WAKEUP)
		return identities_follow(table->identities, ev);
	return task_table_follow_description(table, ev);
}

/* Adds the tasks that no event names, and takes the last identities of all.  0 or -ENOMEM. */
int task_table_end(struct task_table *table, struct schedtape_tape *tape);
void task_table_free(struct task_table *table);

/* Numbers a task that has no number yet.  Returns the same as task_table_find(). */
uint32_t task_table_start(struct task_table *table, uint32_t pid, struct identity *task);

/*
 * Returns the number of the task that has a PID during the event.  @pid: of an event, not 0.
 * SCHEDTAPE_NONE: no memory.
 */
static inline uint32_t task_table_find(struct task_table *table, uint32_t pid)
{
	struct identity *task = identities_find(table->identities, pid);

	if (!task)
		return SCHEDTAPE_NONE;
	return task->number ? task->number - 1 : task_table_start(table, pid, task);
}

#endif /* SCHEDTAPE_TASK_TABLE_H */
