// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mm pins: references on the mm of players' processes, held until no thread uses it.
 *
 * The thread that leaves a process last frees its mm, which often costs more CPU time than a
 * burst has.  The last thread may be another one than in the recording, because a microsecond
 * may decide it.  So in a replay no player frees an mm.  The CPU time that a task used for that
 * in the recording is part of its bursts.  A process of one thread is not pinned, because its
 * thread always is the last.
 */
#include "replay/mm_pin.h"

#include <linux/hashtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/work.h"
#include "replay/types.h"

/**
 * struct stape_mm_pin - one reference
 * @node: in the table, by @mm
 * @mm: referenced with mmget()
 * @replay: the replay for which it is pinned
 */
struct stape_mm_pin {
	struct hlist_node node;
	struct mm_struct *mm;
	const struct stape_replay *replay;
};

/* The pins of all replays, because a process may play in several.  Under the lock below. */
static DEFINE_HASHTABLE(stape_mm_pins, 8);
/* Taken inside the replays' locks. */
static DEFINE_SPINLOCK(stape_mm_pins_lock);

/* Counts the pins of @mm for @replay, or all pins of @mm if @replay is NULL. */
static int stape_mm_pin_count(const struct mm_struct *mm, const struct stape_replay *replay)
{
	struct stape_mm_pin *pin;
	int n = 0;

	hash_for_each_possible(stape_mm_pins, pin, node, (unsigned long)mm)
		n += pin->mm == mm && (!replay || pin->replay == replay);
	return n;
}

static bool stape_mm_pin_add(struct stape_mm_pin *pin)
{
	bool add;

	spin_lock(&stape_mm_pins_lock);
	add = !stape_mm_pin_count(pin->mm, pin->replay);
	if (add) {
		mmget(pin->mm);
		hash_add(stape_mm_pins, &pin->node, (unsigned long)pin->mm);
	}
	spin_unlock(&stape_mm_pins_lock);
	return add;
}

/**
 * stape_mm_pin() - pin the caller's mm, unless it is a process of one thread
 * @replay: the caller is about to join it; a pin does no harm if it cannot
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int stape_mm_pin(struct stape_replay *replay)
{
	struct stape_mm_pin *pin;

	if (thread_group_empty(current))
		return 0;
	pin = kmalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return -ENOMEM;
	pin->mm = current->mm;
	pin->replay = replay;
	spin_lock(&replay->lock);
	/* Not after the replay's end, because then nothing may release the pin. */
	if (stape_replay_live(replay) && stape_mm_pin_add(pin)) {
		/* @progress releases the pin even if the caller ends before the start. */
		queue_delayed_work(stape_work, &replay->progress, HZ);
		pin = NULL;
	}
	spin_unlock(&replay->lock);
	kfree(pin);
	return 0;
}

/**
 * stape_mm_pin_release() - release the pins of mms that no thread uses any more
 * @replay: any replay
 * @all: release the pins of all mms, because the replay is over
 *
 * Freeing an mm may take long.  With @all the caller does it, otherwise mmput_async()'s work.
 *
 * Context: may sleep, without the replay's lock.
 * Return: whether pins are left.
 */
bool stape_mm_pin_release(struct stape_replay *replay, bool all)
{
	struct stape_mm_pin *pin;
	struct hlist_node *next;
	HLIST_HEAD(unused);
	unsigned int bucket;
	bool left = false;

	spin_lock(&stape_mm_pins_lock);
	hash_for_each_safe(stape_mm_pins, bucket, next, pin, node) {
		if (pin->replay != replay)
			continue;
		/*
		 * Are all remaining mm_users pins?  Then no other task can take a lasting new
		 * reference, because no thread has this mm any more.  Since 6.16 the exit probe,
		 * which queues this work, comes before exit_mm(): so the work finds one user too
		 * many and runs again a second later.
		 */
		if (!all && atomic_read(&pin->mm->mm_users) > stape_mm_pin_count(pin->mm, NULL)) {
			left = true;
			continue;
		}
		hash_del(&pin->node);
		hlist_add_head(&pin->node, &unused);
	}
	spin_unlock(&stape_mm_pins_lock);

	hlist_for_each_entry_safe(pin, next, &unused, node) {
		if (all)
			mmput(pin->mm);
		else
			mmput_async(pin->mm);
		kfree(pin);
	}
	return left;
}
