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

#define TASK_TABLE_BITS		10
#define TASK_TABLE_LEAF		(1U << TASK_TABLE_BITS)
#define TASK_TABLE_LEAVES	(1U << (STAPE_PID_BITS - TASK_TABLE_BITS))
#define TASK_TABLE_ENDED	(1U << 31)

/**
 * struct task_entry - a task
 * @pid: its PID, the last one if a thread has called execve()
 * @process: number of the task that leads its process; its own: a leader
 * @threads: of a leader: how many other threads of the process exist
 * @thread: of a leader: their numbers, combined with XOR, so that it is that of the last one
 * @exiting: it has called exit()
 * @joined: its first event was that it entered the filter
 * @left: it has left the filter
 * @tgid: PID of its process; this member and those that follow are set when the task ends, or by
 *	task_table_end()
 * @cgroup: id of its last cgroup; 0: not known
 * @policy: the last one, IDENTITY_NO_POLICY: not known
 * @comm: its last name
 */
struct task_entry {
	uint32_t pid;
	uint32_t process;
	uint32_t threads;
	uint32_t thread;
	bool exiting;
	bool joined;
	bool left;
	uint8_t policy;
	uint32_t tgid;
	uint64_t cgroup;
	char comm[STAPE_COMM_LEN];
};

/**
 * struct task_table - the tasks, in order of appearance
 * @identities: what each PID is
 * @tasks: @nr of them, in room for @room
 * @dying: PID of a task that ends with the next event; 0: none
 * @leaves: by PID: the number of its last task plus 1, and TASK_TABLE_ENDED; 0: none so far
 */
struct task_table {
	struct identities *identities;
	struct task_entry *tasks;
	uint32_t nr;
	uint32_t room;
	uint32_t dying;
	uint32_t *leaves[TASK_TABLE_LEAVES];
};

/* Begins before the first event.  Returns 0 or -errno. */
int task_table_begin(struct task_table *table, struct schedtape_tape *tape,
		     struct schedtape_error *err);
/* Starts and ends tasks, and changes identities, as the event does.  Returns 0 or -ENOMEM. */
int task_table_follow(struct task_table *table, const struct schedtape_event *ev);
/* Adds the tasks that no event names, and takes the last identities of all.  0 or -ENOMEM. */
int task_table_end(struct task_table *table, struct schedtape_tape *tape);
void task_table_free(struct task_table *table);

/* Starts the task of a PID, which has none.  Returns the same as task_table_find(). */
uint32_t task_table_start(struct task_table *table, uint32_t pid);

/*
 * Returns the number of the task that has a PID during the event.  @pid: of an event, not 0.
 * SCHEDTAPE_NONE: no memory.
 */
static inline uint32_t task_table_find(struct task_table *table, uint32_t pid)
{
	const uint32_t *leaf = table->leaves[pid >> TASK_TABLE_BITS];
	uint32_t slot = leaf ? leaf[pid & (TASK_TABLE_LEAF - 1)] : 0;

	return slot && !(slot & TASK_TABLE_ENDED) ? slot - 1 : task_table_start(table, pid);
}

#endif /* SCHEDTAPE_TASK_TABLE_H */
