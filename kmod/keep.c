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

#include <linux/hashtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "replay.h"

/**
 * struct stape_kept - memory that outlives its users
 * @node: in its replay's table, by @mm; under the replay's lock
 * @mm: with a reference as a user
 */
struct stape_kept {
	struct hlist_node node;
	struct mm_struct *mm;
};

static bool stape_keep_has(struct stape_replay *replay, const struct mm_struct *mm)
{
	struct stape_kept *kept;

	hash_for_each_possible(replay->kept, kept, node, (unsigned long)mm)
		if (kept->mm == mm)
			return true;
	return false;
}

/**
 * stape_keep() - keep the caller's memory, unless it is a process of one thread
 * @replay: the caller is about to play in it; if it cannot, no harm is done
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int stape_keep(struct stape_replay *replay)
{
	struct stape_kept *kept;

	if (thread_group_empty(current))
		return 0;
	kept = kmalloc(sizeof(*kept), GFP_KERNEL_ACCOUNT);
	if (!kept)
		return -ENOMEM;
	spin_lock(&replay->lock);
	/* After its end nobody might let go of it. */
	if (stape_replay_live(replay) && !stape_keep_has(replay, current->mm)) {
		kept->mm = current->mm;
		mmget(kept->mm);
		hash_add(replay->kept, &kept->node, (unsigned long)kept->mm);
		kept = NULL;
	}
	spin_unlock(&replay->lock);
	kfree(kept);
	return 0;
}

/**
 * stape_keep_release() - let go of memory that nobody uses any more
 * @replay: any replay
 * @all: of what is in use, too: the replay is over
 *
 * What is let go of may have to wait for whatever its process has left, and so does
 * the caller with @all; otherwise it is left to the kernel.
 *
 * Context: may sleep, without the replay's lock.
 * Return: whether there is more.
 */
bool stape_keep_release(struct stape_replay *replay, bool all)
{
	struct stape_kept *kept;
	struct hlist_node *next;
	HLIST_HEAD(unused);
	unsigned int bucket;
	bool more;

	spin_lock(&replay->lock);
	/* The one user is us: without a thread nobody else gets it back into use for long. */
	hash_for_each_safe(replay->kept, bucket, next, kept, node) {
		if (!all && atomic_read(&kept->mm->mm_users) > 1)
			continue;
		hash_del(&kept->node);
		hlist_add_head(&kept->node, &unused);
	}
	more = !hash_empty(replay->kept);
	spin_unlock(&replay->lock);

	hlist_for_each_entry_safe(kept, next, &unused, node) {
		if (all)
			mmput(kept->mm);
		else
			mmput_async(kept->mm);
		kfree(kept);
	}
	return more;
}
