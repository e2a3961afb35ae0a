/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page ring.  It has one writer at a time, and one reader, in user space or in read().  The
 * writer of a CPU's ring is the CPU itself with interrupts off.  The writer of a ring that CPUs
 * share has a lock, see descriptions.h: for that, "on the ring's CPU" means under the lock.  Only
 * the functions that make and free a ring sleep or take locks.
 */
#ifndef _STAPE_RING_H
#define _STAPE_RING_H

#include <linux/align.h>
#include <linux/cpumask.h>
#include <schedtape/device.h>
#include <schedtape/event.h>

#include "base/work.h"
#include "record/clock.h"
#include "record/idle.h"

struct stape_triggers;
struct stape_waits;

#define STAPE_RING_PAGES_MIN	max_t(u32, 4, PAGE_SIZE / STAPE_PAGE_SIZE)
#define STAPE_RING_PAGES_MAX	65536

/**
 * struct stape_ring - one CPU's ring
 * @pos: next free word of the open page.  If it is at a page's boundary, no page is open, but
 *	the word before may be read
 * @last: time of the last event written, by the raw clock as it counts now
 * @curr: what runs on this CPU according to the stream: the lower half of the last switch's
 *	word, of which only PID and enum stape_next are used
 * @counter: the session's clock is the CPU's counter
 * @offset: stape_clock_offset() as of the last page; all times below have it added
 * @paused: events are neither written nor counted as lost
 * @overwrite: a full ring loses its oldest page, not new events
 * @syscalls: switches of tasks that sleep name their system call
 * @idle_seen: the CPU's idle time when the reader knew it last, which is at each switch to a
 *	recorded task
 * @page: the open page, NULL: none
 * @non_events: words of the open page that are no events, minus events without an own word
 * @head: pages published
 * @lost: events lost since the last page was opened
 * @lost_first: time of the first of them
 * @lost_last: time of the last of them
 * @paused_since: when the session was paused, or the counter jumped; 0: neither has happened
 *	since the last page was opened
 * @paused_until: when it was resumed
 * @cpu: the CPU that writes into it; STAPE_CPU_NONE: descriptions
 * @mask: number of pages minus one
 * @watermark: pages before the reader is woken
 * @wake: wakes the reader; changes when a waiter is added or removed, even while probes run
 * @notify: the session's, queued when the first event is lost
 * @any_lost: the session's, set then
 * @mem: consumer's page, producer's page, data pages; NULL: this CPU has no ring, and @paused is
 *	always true
 * @consumer: written by user space, so never trusted
 * @producer: read by user space
 * @data: the pages
 * @waits: until when tasks may wait, if the session has triggers
 * @triggers: the session's, or NULL
 * @burst_limit: the longest time without a break with which no trigger fires, by the session's
 *	clock; 0: the probe looks closer at each switch of a task that has run
 * @running_since: when the member of @curr was switched in, by the raw clock
 * @fired_since: @running_since of the one of which @fired is
 * @fired: number of triggers that have fired while it ran
 * @wakeups: wake-ups, for triggers
 *
 * In the common case an event needs only the first cache line.  All from @waits on is for triggers.
 */
struct stape_ring {
	u64 *pos;
	u64 last;
	u32 curr;
	bool counter;
	bool paused;
	bool overwrite;
	bool syscalls;

	u64 idle_seen;
	struct stape_page_header *page;
	int non_events;
	u64 head;
	u64 offset;
	u64 lost;
	u64 lost_first;
	u64 lost_last;
	u64 paused_since;
	u64 paused_until;

	u32 cpu;
	u32 mask;
	u32 watermark;
	struct stape_wake *wake;
	struct stape_wake *notify;
	bool *any_lost;
	void *mem;
	struct stape_ring_consumer *consumer;
	struct stape_ring_producer *producer;
	void *data;

	struct stape_waits *waits;
	struct stape_triggers *triggers;
	u64 burst_limit;
	u64 running_since;
	u64 fired_since;
	u32 fired;
	u64 wakeups;
} ____cacheline_aligned;

/**
 * struct stape_ring_setup - settings that all rings of a session have in common
 * @pages: data pages, a power of two of at least STAPE_RING_PAGES_MIN
 * @watermark: published pages before the reader is woken
 * @counter: the clock is the CPU's counter
 * @overwrite: full rings lose their oldest page
 * @syscalls: see struct stape_ring
 * @cpus: the CPUs that are recorded
 * @notify: queued when the first event is lost
 * @any_lost: set before that
 */
struct stape_ring_setup {
	u32 pages;
	u32 watermark;
	bool counter;
	bool overwrite;
	bool syscalls;
	cpumask_t cpus;
	struct stape_wake *notify;
	bool *any_lost;
};

int stape_ring_init(struct stape_ring *ring, u32 cpu, const struct stape_ring_setup *setup);
int stape_ring_init_shared(struct stape_ring *ring, u32 pages,
			   const struct stape_ring_setup *setup);
void stape_ring_destroy(struct stape_ring *ring);
size_t stape_ring_size(u32 pages);
void stape_ring_flush(struct stape_ring *ring);
void stape_ring_pause(struct stape_ring *ring);
void stape_ring_resume(struct stape_ring *ring);
void stape_ring_finish(struct stape_ring *ring);
void stape_ring_offline(struct stape_ring *ring);
void stape_ring_online(struct stape_ring *ring);
u64 stape_ring_pending(const struct stape_ring *ring);
const void *stape_ring_peek(const struct stape_ring *ring);
void stape_ring_consume(struct stape_ring *ring);
void stape_ring_put_slow(struct stape_ring *ring, u64 word, u64 arg, u64 now);
bool stape_ring_put_payload(struct stape_ring *ring, u64 now, u32 type, u32 pid, u32 arg,
			    const u64 *payload, u32 words);

/* Returns the PID of @curr. */
static inline u32 stape_ring_curr_pid(const struct stape_ring *ring)
{
	return ring->curr >> STAPE_PID_SHIFT;
}

static inline u32 stape_ring_curr_kind(const struct stape_ring *ring)
{
	return (ring->curr & STAPE_SWITCH_NEXT_MASK) >> STAPE_SWITCH_NEXT_SHIFT;
}

/* Does the stream say that the CPU is idle? */
static inline bool stape_ring_says_idle(const struct stape_ring *ring)
{
	return ring->curr & STAPE_NEXT_IDLE << STAPE_SWITCH_NEXT_SHIFT;
}

static inline void stape_ring_set_curr_kind(struct stape_ring *ring, u32 kind)
{
	ring->curr = kind << STAPE_SWITCH_NEXT_SHIFT;
}

/* Notes that no recorded task runs on the ring's CPU.  Context: as stape_ring_pause(). */
static inline void stape_ring_forget_curr(struct stape_ring *ring)
{
	stape_ring_set_curr_kind(ring, STAPE_NEXT_OTHER);
}

/*
 * Returns true if the session is paused.  While interrupts are off on the ring's CPU, the
 * caller may still update ring->curr: the first page after the pause starts from it.
 */
static inline bool stape_ring_is_paused(const struct stape_ring *ring)
{
	/* Pairs with the release in stape_ring_resume(). */
	return smp_load_acquire(&ring->paused);
}

/* Returns the time by the session's clock, without its offset. */
static inline u64 stape_ring_now(const struct stape_ring *ring)
{
	return stape_clock_now(ring->counter);
}

/* Returns an event's word without its time.  @low: its PID, and an argument below 2^10. */
static __always_inline u64 stape_ring_word(u64 type, u32 low)
{
	return type << STAPE_TYPE_SHIFT | low;
}

/* Where the type is a compile-time constant, this is one. */
static __always_inline bool stape_ring_is_switch(u64 word)
{
	return word >> STAPE_TYPE_SHIFT == STAPE_EV_SWITCH;
}

/**
 * stape_ring_put() - write one event that happened at @now, or count it as lost
 * @ring: this CPU's ring
 * @word: stape_ring_word() of a type without payload
 * @now: by the session's clock
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 */
static __always_inline void stape_ring_put(struct stape_ring *ring, u64 word, u64 now)
{
	u64 delta = now - ring->last;
	u64 *pos = ring->pos;

	/* A clock that stepped back makes a huge delta, which the slow path handles, too. */
	if (unlikely(delta > STAPE_DELTA_MASK || IS_ALIGNED((unsigned long)pos, STAPE_PAGE_SIZE))) {
		stape_ring_put_slow(ring, word, word & STAPE_ARG_MASK, now);
		return;
	}
	*pos = delta << STAPE_DELTA_SHIFT | word;
	ring->pos = pos + 1;
	ring->last = now;
	if (stape_ring_is_switch(word))
		ring->curr = word;
}

/* Writes the word in front of an event, with 32 more bits of its argument. */
static __always_inline void stape_ring_put_argument(u64 *pos, u32 upper)
{
	u32 *halves = (u32 *)pos;
	bool big = IS_ENABLED(CONFIG_CPU_BIG_ENDIAN);

	halves[big] = upper;
	halves[!big] = (u32)STAPE_EV_ARG << (STAPE_TYPE_SHIFT - 32);
}

/**
 * stape_ring_put_long() - write an event whose argument has more bits than an event's word
 * @ring: a ring
 * @word: stape_ring_word() of a type without payload, with the low 10 bits of the argument
 * @upper: the other 32 bits of the argument, which go into a word in front of the event
 * @now: by the session's clock
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 */
static __always_inline void stape_ring_put_long(struct stape_ring *ring, u64 word, u32 upper,
						u64 now)
{
	u64 delta = now - ring->last;
	u64 *pos = ring->pos;

	/* (pos + 1) % STAPE_PAGE_SIZE is 8 if no page is open, and 0 if one word is left. */
	if (unlikely(delta > STAPE_DELTA_MASK ||
		     !((unsigned long)(pos + 1) & (STAPE_PAGE_SIZE - 2 * sizeof(*pos))))) {
		stape_ring_put_slow(ring, word, (u64)upper << STAPE_ARG_BITS |
						(word & STAPE_ARG_MASK), now);
		return;
	}
	stape_ring_put_argument(pos, upper);
	pos[1] = delta << STAPE_DELTA_SHIFT | word;
	ring->pos = pos + 2;
	ring->last = now;
	ring->non_events++;
	if (stape_ring_is_switch(word))
		ring->curr = word;
}

/* Returns whether the wakeup @wakeup, @delta after @waking, may be put into @waking's word. */
static __always_inline bool stape_ring_joins(u64 waking, u64 wakeup, u64 delta)
{
	u64 differ = waking ^ wakeup;

	/* PIDs are equal; types differ; a short time before the waking, context and CPU may. */
	return differ >> STAPE_WAKE_WAKEUP_SHIFT ==
			(u64)(STAPE_EV_WAKING ^ STAPE_EV_WAKEUP) <<
			(STAPE_TYPE_SHIFT - STAPE_WAKE_WAKEUP_SHIFT) &&
	       !((u32)differ >> STAPE_PID_SHIFT) && delta <= STAPE_WAKE_WAKEUP_MASK;
}

/**
 * stape_ring_put_wakeup() - stape_ring_put() for a wakeup
 * @ring: this CPU's ring
 * @word: stape_ring_word() of it, with a CPU up to STAPE_WAKE_CPU_MASK
 * @now: by the session's clock
 *
 * If the task's waking was the last event, its word becomes the word of both (STAPE_EV_WAKE).
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 */
static __always_inline void stape_ring_put_wakeup(struct stape_ring *ring, u64 word, u64 now)
{
	u64 delta = now - ring->last;
	u64 *waking = ring->pos - 1;

	if (likely(stape_ring_joins(*waking, word, delta))) {
		*waking += stape_ring_word(STAPE_EV_WAKE - STAPE_EV_WAKING,
					   word & STAPE_WAKE_CPU_MASK) |
			   delta << STAPE_WAKE_WAKEUP_SHIFT;
		ring->last = now;
		ring->non_events--;
		return;
	}
	stape_ring_put(ring, word, now);
}

/**
 * stape_ring_put_any() - write any event without payload that is no switch, or count it as lost
 * @ring: this CPU's ring
 * @word: stape_ring_word()
 * @arg: its whole argument, of which the word has the low 10 bits
 * @now: by the session's clock
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 */
static __always_inline void stape_ring_put_any(struct stape_ring *ring, u64 word, u64 arg, u64 now)
{
	if (unlikely(arg > STAPE_ARG_MASK))
		stape_ring_put_long(ring, word, arg >> STAPE_ARG_BITS, now);
	else if (word >> STAPE_TYPE_SHIFT == STAPE_EV_WAKEUP && arg <= STAPE_WAKE_CPU_MASK)
		stape_ring_put_wakeup(ring, word, now);
	else
		stape_ring_put(ring, word, now);
}

/**
 * stape_ring_put_switch() - write any switch that names no system call, or count it as lost
 * @ring: this CPU's ring
 * @word: stape_ring_word()
 * @now: by the session's clock
 *
 * A switch from idle or another task goes the slow way, because the reader may have to be told of
 * idle time.
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 */
static __always_inline void stape_ring_put_switch(struct stape_ring *ring, u64 word, u64 now)
{
	if (stape_ring_curr_pid(ring))
		stape_ring_put(ring, word, now);
	else
		stape_ring_put_slow(ring, word, word & STAPE_ARG_MASK, now);
}

#endif /* _STAPE_RING_H */
