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
#include "replay/internal.h"

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/work.h"

/**
 * struct stape_mm_pin - one reference
 * @node: in the table, by @mm
 * @list: entry in the @pins of a replay
 * @mm: referenced with mmget()
 *
 * An mm has one pin at most.  If its process plays in several replays, the pin is that of the
 * replay which one of its threads joined first.
 */
struct stape_mm_pin {
	struct hlist_node node;
	struct list_head list;
	struct mm_struct *mm;
};

/* All pins.  Under the lock below, as the replays' lists. */
static DEFINE_HASHTABLE(stape_mm_pins, 8);
/* Taken inside the replays' locks. */
static DEFINE_SPINLOCK(stape_mm_pins_lock);

/* Pins that are looked at while preemption is off. */
#define STAPE_MM_PIN_BATCH	64U

static bool stape_mm_is_pinned(const struct mm_struct *mm)
{
	struct stape_mm_pin *pin;

	hash_for_each_possible(stape_mm_pins, pin, node, (unsigned long)mm)
		if (pin->mm == mm)
			return true;
	return false;
}

static bool stape_mm_pin_add(struct stape_replay *replay, struct stape_mm_pin *pin)
{
	bool add;

	spin_lock(&stape_mm_pins_lock);
	add = !stape_mm_is_pinned(pin->mm);
	if (add) {
		mmget(pin->mm);
		hash_add(stape_mm_pins, &pin->node, (unsigned long)pin->mm);
		list_add_tail(&pin->list, &replay->pins);
		replay->nr_pins++;
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
	spin_lock(&replay->lock);
	/* Not after the replay's end, because then nothing may release the pin. */
	if (stape_replay_live(replay) && stape_mm_pin_add(replay, pin)) {
		/* @progress releases the pin even if the caller ends before the start. */
		queue_delayed_work(stape_work, &replay->progress, HZ);
		pin = NULL;
	}
	spin_unlock(&replay->lock);
	kfree(pin);
	return 0;
}

/*
 * Moves the first pin of a replay to @unused if no thread uses its mm any more, or else to the end
 * of the replay's list.
 */
static void stape_mm_pin_check(struct stape_replay *replay, struct stape_mm_pin *pin, bool all,
			       struct list_head *unused)
{
	lockdep_assert_held(&stape_mm_pins_lock);
	/*
	 * Is the pin the last user?  Then no other task can take a lasting new reference, because
	 * no thread has this mm any more.  Since 6.16 the exit probe, which queues this work, comes
	 * before exit_mm(): so the work finds one user too many and runs again a second later.
	 */
	if (!all && atomic_read(&pin->mm->mm_users) > 1) {
		list_move_tail(&pin->list, &replay->pins);
		return;
	}
	hash_del(&pin->node);
	list_move(&pin->list, unused);
	replay->nr_pins--;
}

static void stape_mm_pin_put(struct list_head *unused, bool all)
{
	struct stape_mm_pin *pin, *next;

	list_for_each_entry_safe(pin, next, unused, list) {
		if (all)
			mmput(pin->mm);
		else
			mmput_async(pin->mm);
		kfree(pin);
	}
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
	u32 n = READ_ONCE(replay->nr_pins), end;
	struct stape_mm_pin *pin;

	/* Pins that stay go to the end, so each is looked at once, here or by another call. */
	while (n) {
		LIST_HEAD(unused);

		end = n - min(n, STAPE_MM_PIN_BATCH);
		spin_lock(&stape_mm_pins_lock);
		for (; n > end; n--) {
			pin = list_first_entry_or_null(&replay->pins, struct stape_mm_pin, list);
			if (pin)
				stape_mm_pin_check(replay, pin, all, &unused);
		}
		spin_unlock(&stape_mm_pins_lock);
		stape_mm_pin_put(&unused, all);
		cond_resched();
	}
	return READ_ONCE(replay->nr_pins);
}
