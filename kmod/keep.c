// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of players' processes, kept until none of them uses it any more.
 *
 * Whoever leaves a process last pays for the end of its memory: more than a burst
 * often has.  Which of its threads that is may go by a microsecond, and be another one
 * than in the recording.  So in a replay it is none of them: what they had to pay in
 * the recording they burn, as all CPU time.  A process of one thread has no choice, and
 * pays itself.
 */
#include "keep.h"

#include <linux/list.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "replay.h"

/**
 * struct stape_kept - memory that outlives its users
 * @list: of its replay; under the replay's lock
 * @mm: with a reference as a user
 */
struct stape_kept {
	struct list_head list;
	struct mm_struct *mm;
};

/**
 * stape_keep_prepare() - get ready to keep the caller's memory
 *
 * Context: may sleep.
 * Return: for stape_keep(), or kfree(); NULL: it is a process of one thread; or an
 * ERR_PTR().
 */
struct stape_kept *stape_keep_prepare(void)
{
	struct stape_kept *kept;

	if (thread_group_empty(current))
		return NULL;
	kept = kmalloc(sizeof(*kept), GFP_KERNEL_ACCOUNT);
	return kept ?: ERR_PTR(-ENOMEM);
}

/**
 * stape_keep() - keep the caller's memory, if it is not kept yet
 * @replay: the caller plays in it
 * @kept: of stape_keep_prepare(); NULL: nothing is done
 *
 * Context: under the replay's lock.
 */
void stape_keep(struct stape_replay *replay, struct stape_kept *kept)
{
	struct stape_kept *other;

	lockdep_assert_held(&replay->lock);
	if (!kept)
		return;
	list_for_each_entry(other, &replay->kept, list) {
		if (other->mm == current->mm) {
			kfree(kept);
			return;
		}
	}
	kept->mm = current->mm;
	mmget(kept->mm);
	list_add(&kept->list, &replay->kept);
}

static void stape_keep_drop(struct list_head *unused)
{
	struct stape_kept *kept, *next;

	list_for_each_entry_safe(kept, next, unused, list) {
		mmput(kept->mm);
		kfree(kept);
	}
}

/**
 * stape_keep_release() - let go of memory that nobody uses any more
 * @replay: any replay
 *
 * Context: may sleep, without the replay's lock.
 * Return: whether there is more, still in use.
 */
bool stape_keep_release(struct stape_replay *replay)
{
	struct stape_kept *kept, *next;
	LIST_HEAD(unused);
	bool more;

	spin_lock(&replay->lock);
	/* Without a thread of its own nobody but us can get it back into use. */
	list_for_each_entry_safe(kept, next, &replay->kept, list)
		if (atomic_read(&kept->mm->mm_users) == 1)
			list_move(&kept->list, &unused);
	more = !list_empty(&replay->kept);
	spin_unlock(&replay->lock);
	stape_keep_drop(&unused);
	return more;
}

/**
 * stape_keep_release_all() - let go of all memory, in use or not
 * @replay: nobody else knows it any more
 *
 * Context: may sleep.
 */
void stape_keep_release_all(struct stape_replay *replay)
{
	stape_keep_drop(&replay->kept);
}
