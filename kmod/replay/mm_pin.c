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
#include "replay/mm_pin.h"

#include <linux/hashtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/work.h"
#include "replay/replay.h"

/**
 * struct stape_kept - memory that outlives its users
 * @node: in the table, by @mm
 * @mm: with a reference as a user
 * @replay: for which it is kept
 */
struct stape_kept {
	struct hlist_node node;
	struct mm_struct *mm;
	const struct stape_replay *replay;
};

/* What all replays keep: processes may play in several.  Changed under the lock. */
static DEFINE_HASHTABLE(stape_kept, 8);
/* Inside the replays' locks. */
static DEFINE_SPINLOCK(stape_keep_lock);

/* For how many replays it is kept, or whether it is for @replay. */
static int stape_keep_count(const struct mm_struct *mm, const struct stape_replay *replay)
{
	struct stape_kept *kept;
	int n = 0;

	hash_for_each_possible(stape_kept, kept, node, (unsigned long)mm)
		n += kept->mm == mm && (!replay || kept->replay == replay);
	return n;
}

static bool stape_keep_add(struct stape_kept *kept)
{
	bool add;

	spin_lock(&stape_keep_lock);
	add = !stape_keep_count(kept->mm, kept->replay);
	if (add) {
		mmget(kept->mm);
		hash_add(stape_kept, &kept->node, (unsigned long)kept->mm);
	}
	spin_unlock(&stape_keep_lock);
	return add;
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
	kept->mm = current->mm;
	kept->replay = replay;
	spin_lock(&replay->lock);
	/* After its end nobody might let go of it. */
	if (stape_replay_live(replay) && stape_keep_add(kept)) {
		/* The caller may be gone before the replay starts. */
		queue_delayed_work(stape_work, &replay->progress, HZ);
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
	bool more = false;

	spin_lock(&stape_keep_lock);
	hash_for_each_safe(stape_kept, bucket, next, kept, node) {
		if (kept->replay != replay)
			continue;
		/*
		 * The users are us: without a thread nobody else gets it back into use for long.
		 * Since 6.16 the exit probe, which wakes this work, comes before its task has left
		 * the memory: so the work finds one user too many and runs again a second later.
		 */
		if (!all && atomic_read(&kept->mm->mm_users) > stape_keep_count(kept->mm, NULL)) {
			more = true;
			continue;
		}
		hash_del(&kept->node);
		hlist_add_head(&kept->node, &unused);
	}
	spin_unlock(&stape_keep_lock);

	hlist_for_each_entry_safe(kept, next, &unused, node) {
		if (all)
			mmput(kept->mm);
		else
			mmput_async(kept->mm);
		kfree(kept);
	}
	return more;
}
