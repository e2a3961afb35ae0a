// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake-ups at the exit of a player's process.  A task that exits wakes its parent in exit_notify(),
 * where it is not preempted before its end.  A player that made this wake-up in its last step would
 * be preempted by its wakee, and would end only when the wakee sleeps again.
 *
 * exit_notify() wakes the pollers of the process's pidfd.  The module is one of them.
 */
#include "replay/internal.h"

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/wait_bit.h>

/* More edges are woken along at once, because the exit does so with interrupts off. */
#define STAPE_LEAVE_EDGES	4

/**
 * struct stape_leave - the last wake-ups of a process
 * @wait: in the queue of the process's pidfds
 * @file: the players' file, referenced: it keeps the replay, and the module
 * @nr_edges: entries of @edges
 * @edges: edges along which the process wakes
 */
struct stape_leave {
	struct wait_queue_entry wait;
	struct file *file;
	u32 nr_edges;
	u32 edges[];
};

/*
 * Called under the queue's lock.  With preemption off, or on PREEMPT_RT as the lock's holder, the
 * caller is an RCU reader until this has returned; pairs with stape_replay_exit().
 */
static int stape_leave_wake(struct wait_queue_entry *wait, unsigned int mode, int flags, void *key)
{
	struct stape_leave *leave = container_of(wait, struct stape_leave, wait);
	struct stape_replay *replay = leave->file->private_data;
	u32 i;

	list_del(&wait->entry);
	for (i = 0; i < leave->nr_edges; i++)
		stape_player_wake(replay, leave->edges[i]);
	if (atomic_dec_and_test(&replay->leaving))
		wake_up_var(&replay->leaving);
	/* If it was the last reference, the file is released later: nothing here may sleep. */
	fput(leave->file);
	kfree(leave);
	return 0;
}

/**
 * stape_leave_at_exit() - make wake-ups when the calling process exits
 * @file: the players' file
 * @edges: edges along which it wakes, @nr_edges of them
 * @nr_edges: not 0
 *
 * Only for the single thread of a process, because pidfds may not see the end of other threads.
 *
 * Context: may sleep.
 * Return: true; false: the caller makes the wake-ups at once.
 */
bool stape_leave_at_exit(struct file *file, const u32 *edges, u32 nr_edges)
{
	struct stape_replay *replay = file->private_data;
	struct stape_leave *leave;

	if (nr_edges > STAPE_LEAVE_EDGES || !thread_group_empty(current))
		return false;
	leave = kmalloc(struct_size(leave, edges, nr_edges), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!leave)
		return false;
	leave->file = get_file(file);
	leave->nr_edges = nr_edges;
	memcpy(leave->edges, edges, nr_edges * sizeof(*edges));
	atomic_inc(&replay->leaving);
	init_waitqueue_func_entry(&leave->wait, stape_leave_wake);
	add_wait_queue(&task_tgid(current)->wait_pidfd, &leave->wait);
	return true;
}

/**
 * stape_leave_at_once() - make the wake-ups that the calling process has left for its exit
 *
 * For a process that does not exit, but joins a replay again.
 *
 * Context: may sleep.
 */
void stape_leave_at_once(void)
{
	struct wait_queue_head *queue = &task_tgid(current)->wait_pidfd;
	struct wait_queue_entry *wait, *next;

	spin_lock_irq(&queue->lock);
	list_for_each_entry_safe(wait, next, &queue->head, entry)
		if (wait->func == stape_leave_wake)
			stape_leave_wake(wait, TASK_NORMAL, 0, NULL);
	spin_unlock_irq(&queue->lock);
}
