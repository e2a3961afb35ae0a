/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of a session's descriptions: what says which tasks there are, and what each of them is.
 * Any CPU may write into it, also a CPU that the session does not record.  It is never
 * overwritten.
 */
#ifndef _STAPE_DESCRIPTIONS_H
#define _STAPE_DESCRIPTIONS_H

#include <linux/spinlock.h>

#include "record/ring.h"

/* The ring has as many pages as that of a CPU, and no more than this. */
#define STAPE_DESCRIPTIONS_PAGES_MAX	256

/**
 * struct stape_descriptions - a ring that all CPUs share
 * @lock: held while an event is written, with interrupts off; the innermost of all locks.  It is
 *	held for a constant time, and not taken for switches, wake-ups, migrations and lent
 *	priorities.  Under the runqueue lock it is taken when io_uring starts a worker, for its
 *	fork and what a reader cannot know by that: in a container, its whole description.  It
 *	is taken there, too, when more than STAPE_MEMBERS_DEAD_MAX tasks end on a CPU before an
 *	interrupt removes them
 * @ring: its functions take @lock for the context of "the ring's CPU"
 *
 * The lock is held from reading the clock to the end of the write, so that times never go
 * backwards, and of two descriptions of a task the later one has seen the newer state.
 */
struct stape_descriptions {
	raw_spinlock_t lock;	/* see above */
	struct stape_ring ring;
};

u32 stape_descriptions_pages(const struct stape_ring_setup *setup);
struct stape_descriptions *stape_descriptions_create(const struct stape_ring_setup *setup);
void stape_descriptions_destroy(struct stape_descriptions *descriptions);
void stape_descriptions_call(struct stape_descriptions *descriptions,
			     void (*func)(struct stape_ring *ring));

/* Begins to write: functions that put an event into a ring may follow. */
static inline struct stape_ring *stape_descriptions_lock(struct stape_descriptions *descriptions,
							 unsigned long *flags)
	__acquires(&descriptions->lock)
{
	raw_spin_lock_irqsave(&descriptions->lock, *flags);
	return &descriptions->ring;
}

static inline void stape_descriptions_unlock(struct stape_descriptions *descriptions,
					     unsigned long flags)
	__releases(&descriptions->lock)
{
	raw_spin_unlock_irqrestore(&descriptions->lock, flags);
}

/* stape_descriptions_lock() with interrupts off. */
static inline struct stape_ring *
stape_descriptions_lock_irq_off(struct stape_descriptions *descriptions)
	__acquires(&descriptions->lock)
{
	raw_spin_lock(&descriptions->lock);
	return &descriptions->ring;
}

static inline void stape_descriptions_unlock_irq_off(struct stape_descriptions *descriptions)
	__releases(&descriptions->lock)
{
	raw_spin_unlock(&descriptions->lock);
}

#endif /* _STAPE_DESCRIPTIONS_H */
