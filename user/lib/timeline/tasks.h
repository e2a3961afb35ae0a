/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tasks of a timeline and the state of each one.  owners.h says which task has a PID.
 */
#ifndef SCHEDTAPE_TASKS_H
#define SCHEDTAPE_TASKS_H

#include <string.h>

#include <schedtape.h>

#include "base/store.h"
#include "timeline/owners.h"

#define KTHREADD	2	/* PID of the kernel thread that creates all others */

/*
 * Returns true if the task's description or fork shows that it is a kernel thread.  PIDs on tapes
 * are those of the initial PID namespace.  A parent that was not recorded is not known.
 */
static inline bool schedtape_is_kthread(const struct schedtape_task *task)
{
	return task->ppid == KTHREADD || task->exit_ppid == KTHREADD ||
	       (task->pid == KTHREADD && !strcmp(task->comm, "kthreadd"));
}

/**
 * enum task_state - what a task does at the moment
 * @TASK_FOUND: exists, but no event has shown its state: taken to be asleep
 * @TASK_NEW: forked, not yet woken for the first time
 * @TASK_READY: runnable according to its description, since an unknown time
 * @TASK_RUNNING: on its CPU
 * @TASK_RUNNABLE: waits for a CPU
 * @TASK_ASLEEP: blocked
 * @TASK_STOPPED: stopped by a signal, traced or parked
 * @TASK_LOST: ran on a CPU whose events were then lost, or went to a CPU that is not recorded
 * @TASK_AWAY: left the filter
 * @TASK_DEAD: ended
 */
enum task_state {
	TASK_FOUND,
	TASK_NEW,
	TASK_READY,
	TASK_RUNNING,
	TASK_RUNNABLE,
	TASK_ASLEEP,
	TASK_STOPPED,
	TASK_LOST,
	TASK_AWAY,
	TASK_DEAD,
};

/**
 * struct schedtape_track - the current state of a task
 * @seen: when it first appeared, which is after its start
 * @since: when @state began; with TASK_RUNNING the time up to which its CPU time is counted
 * @begun: when it got the CPU on which it runs, with TASK_RUNNING
 * @left: when it last came off a CPU, 0: not known
 * @woke: when it was woken since then, 0: never, or not known
 * @ticket: ticket of the waking whose wakeup is still to come, 0: the waker is no task
 * @waker: its waker, with @ticket
 * @woke_by: the task that woke it at @woke, or SCHEDTAPE_NONE
 * @cpu: where it runs, with TASK_RUNNING
 * @left_as: enum stape_state at @left
 * @left_in: the system call at @left, as schedtape_switch_syscall() returns it
 * @waking_in: enum stape_context of the waking whose wakeup is still to come, TRACK_UNKNOWN: none
 * @woke_in: the same of the wake-up at @woke
 * @state: enum task_state
 * @burst: it has run since it was last woken
 * @described: its thread group is known
 */
struct schedtape_track {
	uint64_t seen;
	uint64_t since;
	uint64_t begun;
	uint64_t left;
	uint64_t woke;
	uint64_t ticket;
	uint64_t left_in;
	uint32_t waker;
	uint32_t woke_by;
	uint32_t cpu;
	uint8_t left_as;
	uint8_t waking_in;
	uint8_t woke_in;
	uint8_t state;
	bool burst;
	bool described;
};

#define TRACK_UNKNOWN	0xff

/**
 * struct schedtape_tasks - all tasks of a tape
 * @tasks: one array, see schedtape_task_at()
 * @tracks: one for each task
 * @task_store, @track_store: the memory of @tasks and @tracks
 * @owners: the same tasks, with the same numbers
 * @infos: the tape's descriptions of tasks
 * @order: indices of @infos, by their time
 */
struct schedtape_tasks {
	struct schedtape_task *tasks;
	struct schedtape_track *tracks;
	struct schedtape_store task_store;
	struct schedtape_store track_store;
	uint32_t nr;
	struct schedtape_owners owners;
	const struct schedtape_task_info *infos;
	uint32_t *order;
	size_t nr_infos;
};

int schedtape_tasks_init(struct schedtape_tasks *set, const struct schedtape_task_info *infos,
			 size_t n, struct schedtape_error *err);
/*
 * Adds descriptions that a tape has got while it is read: @infos has all of them, and may be at
 * another place than before.
 */
int schedtape_tasks_describe(struct schedtape_tasks *set, const struct schedtape_task_info *infos,
			     size_t n, struct schedtape_error *err);
void schedtape_tasks_free(struct schedtape_tasks *set);

/* Looks up @pid, see schedtape_owners_get(). */
static inline uint32_t schedtape_tasks_get(const struct schedtape_tasks *set, uint32_t pid)
{
	return schedtape_owners_get(&set->owners, pid);
}

/*
 * Hint for sequential walks: entries before @index will not be used again and may be dropped
 * from memory.
 */
void schedtape_tasks_passed(const struct schedtape_tasks *set, uint32_t index);
/* Adds a task, which has @pid from now on.  Returns its index; SCHEDTAPE_NONE: no memory. */
uint32_t schedtape_tasks_add(struct schedtape_tasks *set, uint32_t pid, uint64_t time);
/* Puts the task into the group of @leader, which may be the task itself. */
void schedtape_tasks_join(struct schedtape_tasks *set, uint32_t index, uint32_t leader);
/* Takes over what @set->owners has for the task: its PID and its group. */
void schedtape_tasks_reidentify(struct schedtape_tasks *set, uint32_t index);

#endif /* SCHEDTAPE_TASKS_H */
