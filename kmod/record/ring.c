// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page ring.  Its CPU fills its pages, and publishes each complete page with a
 * store-release of the producer's head.  A page is free again when the reader's tail has moved
 * beyond it.  While no page is free, events are counted as lost.  The header of the next page
 * reports how many were lost, and when.
 *
 * In overwrite mode the oldest page is taken instead, also while a reader copies it.  The reader
 * finds that out from the head: device.h has the rule.
 */
#include "record/ring.h"

#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/topology.h>

#include "base/memory.h"

static_assert(sizeof(struct stape_page_header) == 72);
static_assert(sizeof(struct stape_page_header) % sizeof(u64) == 0);
static_assert(STAPE_PAGE_SIZE % sizeof(u64) == 0);
static_assert(IS_ALIGNED(PAGE_SIZE, STAPE_PAGE_SIZE));

static_assert(STAPE_EV_WAKING + 1 == STAPE_EV_WAKE);
static_assert(STAPE_SET_SHIFT == STAPE_TASK_WHY_SHIFT);

/*
 * Returns what @pos is while no page is open: the end of a page, so that the next word needs a
 * new page.  The word before may be read, and is no event.
 */
static u64 *stape_ring_no_page(void)
{
	return page_address(ZERO_PAGE(0)) + PAGE_SIZE;
}

/**
 * stape_ring_size() - get the size of a ring, and the distance of two rings in mmap()
 * @pages: data pages, a power of two of at least STAPE_RING_PAGES_MIN
 *
 * Return: bytes, a multiple of PAGE_SIZE.
 */
size_t stape_ring_size(u32 pages)
{
	return 2 * PAGE_SIZE + (size_t)pages * STAPE_PAGE_SIZE;
}

/* Sets what a ring without memory needs, too. */
static void stape_ring_init_empty(struct stape_ring *ring, const struct stape_ring_setup *setup)
{
	ring->paused = true;
	ring->pos = stape_ring_no_page();
	stape_ring_forget_curr(ring);
	ring->counter = setup->counter;
	ring->wake = setup->notify;
	ring->notify = setup->notify;
	ring->any_lost = setup->any_lost;
}

/* Gives a ring its pages, whose headers get the number @cpu, on a NUMA node. */
static int stape_ring_alloc(struct stape_ring *ring, u32 pages, u32 cpu, int node)
{
	u32 i;

	ring->mem = stape_memory_alloc(stape_ring_size(pages), 1, node);
	if (!ring->mem)
		return -ENOMEM;
	ring->consumer = ring->mem;
	ring->producer = ring->mem + PAGE_SIZE;
	ring->data = ring->mem + 2 * PAGE_SIZE;
	ring->mask = pages - 1;
	ring->cpu = cpu;
	for (i = 0; i < pages; i++) {
		struct stape_page_header *page = ring->data + (size_t)i * STAPE_PAGE_SIZE;

		page->magic = STAPE_PAGE_MAGIC;
		page->cpu = cpu;
	}
	return 0;
}

/**
 * stape_ring_init() - make a ring
 * @ring: zeroed
 * @cpu: the ring's CPU
 * @setup: settings of the session's rings
 *
 * The ring begins paused, and stays paused if its CPU is not recorded.  The memory is on the
 * CPU's NUMA node, unless that has too little, and is charged to the caller's memory cgroup.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_ring_init(struct stape_ring *ring, u32 cpu, const struct stape_ring_setup *setup)
{
	stape_ring_init_empty(ring, setup);
	if (!cpumask_test_cpu(cpu, &setup->cpus))
		return 0;
	ring->watermark = setup->watermark;
	ring->overwrite = setup->overwrite;
	ring->syscalls = setup->syscalls;
	return stape_ring_alloc(ring, setup->pages, cpu, cpu_to_node(cpu));
}

/**
 * stape_ring_init_shared() - make a ring that no CPU owns, and that is never overwritten
 * @ring: zeroed
 * @pages: data pages, a power of two of at least STAPE_RING_PAGES_MIN
 * @setup: settings of the session's rings; only those that have nothing to do with CPUs count
 *
 * The ring begins paused.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_ring_init_shared(struct stape_ring *ring, u32 pages,
			   const struct stape_ring_setup *setup)
{
	stape_ring_init_empty(ring, setup);
	ring->watermark = pages / 4;
	return stape_ring_alloc(ring, pages, STAPE_CPU_NONE, NUMA_NO_NODE);
}

/**
 * stape_ring_destroy() - free a ring's memory
 * @ring: made by stape_ring_init(), or zeroed
 *
 * Context: may sleep.  No writer and no mapping may be left.
 */
void stape_ring_destroy(struct stape_ring *ring)
{
	stape_memory_free(ring->mem);
	ring->mem = NULL;
}

static void *stape_ring_page(const struct stape_ring *ring, u64 seq)
{
	return ring->data + (seq & ring->mask) * STAPE_PAGE_SIZE;
}

static bool stape_ring_full(const struct stape_ring *ring)
{
	/* Pairs with the reader's release of @tail: its copy is finished. */
	u64 tail = smp_load_acquire(&ring->consumer->tail);

	/* Garbage in @tail looks like a full ring, and can do no more than cause losses. */
	return ring->head - tail > ring->mask;
}

static void stape_ring_open(struct stape_ring *ring, u64 now)
{
	struct stape_page_header *page = stape_ring_page(ring, ring->head);

	if (ring->overwrite && ring->head > ring->mask) {
		/*
		 * A reader may be copying this page.  Pairs with its barrier between the copy and
		 * its next look at @head: if it has copied any of the words below, it finds that
		 * the page before this one was published.
		 */
		smp_wmb();
		WRITE_ONCE(ring->producer->overwritten,
			   ring->producer->overwritten + page->events);
	}
	page->curr = stape_ring_curr_pid(ring);
	page->curr_kind = stape_ring_curr_kind(ring);
	page->flags = ring->syscalls ? STAPE_PAGE_SYSCALLS : 0;
	page->time = now + ring->offset;
	page->seq = ring->head;
	page->lost = ring->lost;
	page->lost_first = ring->lost_first;
	page->lost_last = ring->lost_last;
	if (ring->paused_since) {
		page->flags |= STAPE_PAGE_PAUSED;
		page->lost_first = ring->lost ? min(ring->lost_first, ring->paused_since) :
						ring->paused_since;
		page->lost_last = clamp(max(ring->paused_until, ring->lost_last), page->lost_first,
					page->time);
	}
	ring->lost = 0;
	ring->lost_first = 0;
	ring->lost_last = 0;
	ring->paused_since = 0;
	ring->last = now;
	ring->non_events = 0;
	ring->page = page;
	ring->pos = (u64 *)(page + 1);
}

static void stape_ring_publish(struct stape_ring *ring)
{
	struct stape_page_header *page = ring->page;
	u64 *first = (u64 *)(page + 1);

	page->used = (void *)ring->pos - (void *)page;
	page->events = ring->pos - first - ring->non_events;
	page->end = ring->last + ring->offset;
	WRITE_ONCE(ring->producer->events, ring->producer->events + page->events);
	ring->head++;
	/* Pairs with the reader's acquire of @head: the page is complete. */
	smp_store_release(&ring->producer->head, ring->head);

	ring->page = NULL;
	ring->pos = stape_ring_no_page();
	if (!ring->overwrite &&
	    ring->head - READ_ONCE(ring->consumer->tail) >= ring->watermark)
		stape_wake_queue(READ_ONCE(ring->wake));
}

static void stape_ring_lose(struct stape_ring *ring, u64 now)
{
	struct stape_ring_producer *producer = ring->producer;
	u64 time = now + ring->offset;
	bool first = !producer->lost;

	if (!ring->lost++)
		ring->lost_first = time;
	ring->lost_last = time;
	if (first)
		WRITE_ONCE(producer->lost_first, time);
	WRITE_ONCE(producer->lost_last, time);
	WRITE_ONCE(producer->lost, producer->lost + 1);
	if (!first)
		return;
	/* First, because @notify reads it. */
	WRITE_ONCE(*ring->any_lost, true);
	stape_wake_queue(ring->notify);
	stape_wake_queue(READ_ONCE(ring->wake));
}

/*
 * Returns whether an event may be put into the open page.  After a jump of the counter it has to
 * begin another page.  A jump by less than 2^28 ticks is noticed when the page is full.
 */
static bool stape_ring_page_fits(const struct stape_ring *ring, u64 now, u32 words)
{
	if ((void *)(ring->pos + words) > (void *)ring->page + STAPE_PAGE_SIZE)
		return false;
	return now - ring->last <= STAPE_DELTA_MASK ||
	       stape_clock_offset(ring->counter) == ring->offset;
}

/* The time of the last event stays what it is: it counts from another zero of the raw clock. */
static void stape_ring_set_offset(struct stape_ring *ring, u64 offset)
{
	ring->last += ring->offset - offset;
	ring->offset = offset;
}

/* If the counter has jumped, the time from the last event until now counts as a pause. */
static void stape_ring_follow_clock(struct stape_ring *ring, u64 now)
{
	u64 offset = stape_clock_offset(ring->counter);

	if (offset == ring->offset)
		return;
	if (ring->head && !ring->paused_since)
		ring->paused_since = ring->last + ring->offset;
	stape_ring_set_offset(ring, offset);
	ring->paused_until = now + offset;
	ring->lost_first = min(ring->lost_first, ring->paused_until);
	ring->lost_last = min(ring->lost_last, ring->paused_until);
}

/*
 * Returns room for @words in the open page or a new one; NULL: the event is not written.
 * @now: its time; returned: not before the last event's
 */
static u64 *stape_ring_reserve(struct stape_ring *ring, u64 *now, u32 words)
{
	if (ring->page && !stape_ring_page_fits(ring, *now, words))
		stape_ring_publish(ring);
	if (!ring->page) {
		if (stape_ring_is_paused(ring))
			return NULL;
		if (!ring->overwrite && stape_ring_full(ring)) {
			stape_ring_lose(ring, *now);
			return NULL;
		}
		stape_ring_follow_clock(ring, *now);
	}
	/* Either clock may step back a little, CLOCK_MONOTONIC under NTP slew. */
	if ((s64)(*now - ring->last) < 0)
		*now = ring->last;
	if (!ring->page)
		stape_ring_open(ring, *now);
	return ring->pos;
}

/* Puts an event with its prefixes and its payload into the open page, where there is room. */
static void stape_ring_append(struct stape_ring *ring, u64 now, u32 type, u32 pid, u64 arg,
			      const u64 *payload, u32 words)
{
	u64 delta = now - ring->last, *pos = ring->pos, *start = pos;
	u32 i;

	if (delta > STAPE_DELTA_MASK) {
		*pos++ = stape_word(STAPE_EV_TIME, 0, 0, 0) | (delta & STAPE_TIME_MASK);
		delta = 0;
	}
	if (arg > STAPE_ARG_MASK)
		*pos++ = stape_word(STAPE_EV_ARG, 0, 0, 0) | arg >> STAPE_ARG_BITS;
	*pos++ = stape_word(type, delta, pid, arg & STAPE_ARG_MASK);
	for (i = 0; i < words; i++)
		*pos++ = payload[i];
	ring->non_events += pos - start - 1;
	ring->pos = pos;
	ring->last = now;
}

/* -- idle time --------------------------------------------------------------- */

/* Prefixes, word and payload of a STAPE_SET_IDLE. */
#define STAPE_RING_IDLE_ROOM	(2 + STAPE_IDLE_WORDS)

/* Does this CPU write into the ring, and run no recorded task according to the stream? */
static bool stape_ring_may_tell(const struct stape_ring *ring)
{
	return ring->cpu == raw_smp_processor_id() && !stape_ring_curr_pid(ring);
}

/*
 * Does the stream say all about the time since the last switch?  Then the CPU has done what that
 * switch says until now.  Idle time that has not ended may have been told in part.
 */
static bool stape_ring_knows_idle(const struct stape_ring *ring,
				  const struct stape_idle_view *view)
{
	if (view->idle != (stape_ring_curr_kind(ring) == STAPE_NEXT_IDLE))
		return false;
	return view->idle ? (s64)(ring->idle_seen - view->before) >= 0 :
			    ring->idle_seen == view->before;
}

/* Returns true if the page is the stream's first, or follows a loss or a pause, and is empty. */
static bool stape_ring_begins_anew(const struct stape_ring *ring)
{
	const struct stape_page_header *page = ring->page;

	return ring->pos == (u64 *)(page + 1) &&
	       (!page->seq || page->lost || page->flags & STAPE_PAGE_PAUSED);
}

static void stape_ring_append_idle(struct stape_ring *ring, u64 now, u64 time, u64 span, u32 kind)
{
	u64 payload[STAPE_IDLE_WORDS] = {
		[STAPE_IDLE_TIME] = time,
		/* Above 2^60 it would look like a waking to stape_ring_put_wakeup(). */
		[STAPE_IDLE_SPAN] = min(span, 1ULL << 56) << STAPE_IDLE_SPAN_SHIFT |
				    kind << STAPE_IDLE_KIND_SHIFT,
	};

	stape_ring_append(ring, now, STAPE_EV_SET, 0,
			  STAPE_SET_IDLE << STAPE_SET_SHIFT | STAPE_IDLE_WORDS, payload,
			  STAPE_IDLE_WORDS);
}

/* Writes into the open page what the CPU has done since the reader knew it last. */
static void stape_ring_put_idle(struct stape_ring *ring, u64 now,
				const struct stape_idle_view *view)
{
	u32 kind = stape_ring_curr_pid(ring) ? STAPE_NEXT_TASK :
		   view->idle ? STAPE_NEXT_IDLE : STAPE_NEXT_OTHER;

	stape_ring_append_idle(ring, now, stape_ring_begins_anew(ring) ? STAPE_IDLE_UNKNOWN :
			       view->sum - ring->idle_seen, view->span, kind);
	ring->idle_seen = view->sum;
	if (kind != STAPE_NEXT_TASK)
		stape_ring_set_curr_kind(ring, kind);
}

/* Returns the part of a switch's argument that tells of idle time, or 0: it does not fit. */
static u64 stape_ring_idle_arg(const struct stape_ring *ring, const struct stape_idle_view *view)
{
	u64 time = (view->sum - ring->idle_seen) >> STAPE_SWITCH_IDLE_UNIT;
	u64 span = view->span >> STAPE_SWITCH_SPAN_UNIT;

	if (time >> STAPE_SWITCH_IDLE_BITS || span >> STAPE_SWITCH_SPAN_BITS)
		return 0;
	return time << STAPE_SWITCH_IDLE_SHIFT | span << STAPE_SWITCH_SPAN_SHIFT |
	       (view->idle ? STAPE_SWITCH_FROM_IDLE : 0);
}

/*
 * Tells of idle time before the first event of a page, and at a switch to a recorded task, unless
 * the reader knows it.  Returns what the switch's argument has to have.
 */
static u64 stape_ring_tell(struct stape_ring *ring, u64 now, u32 type)
{
	bool first = ring->pos == (u64 *)(ring->page + 1);
	struct stape_idle_view view;
	u64 arg = 0;

	if ((type != STAPE_EV_SWITCH && !first) || !stape_ring_may_tell(ring))
		return 0;
	stape_idle_look(ring->cpu, ring->counter, now, &view);
	if (stape_ring_begins_anew(ring)) {
		stape_ring_put_idle(ring, now, &view);
	} else if (!stape_ring_knows_idle(ring, &view)) {
		if (type == STAPE_EV_SWITCH)
			arg = stape_ring_idle_arg(ring, &view);
		if (!arg)
			stape_ring_put_idle(ring, now, &view);
	}
	if (type == STAPE_EV_SWITCH)
		ring->idle_seen = view.sum;
	return arg;
}

/* Makes room to tell of idle time.  Returns false if the ring is full, and counts no loss then. */
static bool stape_ring_may_tell_now(struct stape_ring *ring, u64 *now)
{
	if (!ring->mem || stape_ring_is_paused(ring))
		return false;
	*now = stape_ring_now(ring);
	if (ring->page && !stape_ring_page_fits(ring, *now, 2 * STAPE_RING_IDLE_ROOM))
		stape_ring_publish(ring);
	if (!ring->page && !ring->overwrite && stape_ring_full(ring))
		return false;
	return stape_ring_reserve(ring, now, 2 * STAPE_RING_IDLE_ROOM);
}

/*
 * Tells what the CPU did until now.  @always: also what a reader would take for granted.  Does
 * nothing if that would be lost.
 */
static void stape_ring_tell_now(struct stape_ring *ring, bool always)
{
	u64 now = stape_ring_now(ring);
	struct stape_idle_view view;

	/* Another CPU may call this for one that is offline. */
	if (ring->cpu != raw_smp_processor_id() || stape_ring_is_paused(ring))
		return;
	stape_idle_look(ring->cpu, ring->counter, now, &view);
	if (!always && (stape_ring_curr_pid(ring) || stape_ring_knows_idle(ring, &view)))
		return;
	if (stape_ring_may_tell_now(ring, &now))
		stape_ring_put_idle(ring, now, &view);
}

/* -- slow ways to write ------------------------------------------------------ */

/*
 * A switch to a recorded task is lost.  What comes after the gap counts from here: the page that
 * ends the gap says that what was before is not known.
 */
static void stape_ring_lose_idle(struct stape_ring *ring, u64 now)
{
	struct stape_idle_view view;

	if (ring->cpu != raw_smp_processor_id())
		return;
	stape_idle_look(ring->cpu, ring->counter, now, &view);
	ring->idle_seen = view.sum;
}

/* Writes an event with its prefixes and its payload.  Returns false if there is no room for it. */
static bool stape_ring_write(struct stape_ring *ring, u64 now, u32 type, u32 pid, u64 arg,
			     const u64 *payload, u32 words)
{
	/* An event has at most two prefixes.  In a page that opens here it needs no TIME. */
	if (!stape_ring_reserve(ring, &now, words + 3 + STAPE_RING_IDLE_ROOM)) {
		if (type == STAPE_EV_SWITCH)
			stape_ring_lose_idle(ring, now);
		return false;
	}
	arg |= stape_ring_tell(ring, now, type);
	stape_ring_append(ring, now, type, pid, arg, payload, words);
	return true;
}

/**
 * stape_ring_put_slow() - write an event that needs a page or a prefix
 * @ring: this CPU's ring
 * @word: stape_ring_word()
 * @arg: its whole argument, of which the word may have the low 10 bits
 * @now: its time
 *
 * A switch to a recorded task also tells of idle time that a reader could not know.
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 */
noinline void notrace stape_ring_put_slow(struct stape_ring *ring, u64 word, u64 arg, u64 now)
{
	stape_ring_write(ring, now, word >> STAPE_TYPE_SHIFT,
			 word >> STAPE_PID_SHIFT & STAPE_PID_MASK, arg, NULL, 0);
	/* After the write, because a page that opens there begins with the previous task. */
	if (word >> STAPE_TYPE_SHIFT == STAPE_EV_SWITCH)
		ring->curr = word;
}

/**
 * stape_ring_put_payload() - write an event with a payload
 * @ring: this CPU's ring
 * @now: by the session's clock
 * @type: enum stape_event_type, from 8 to 13
 * @pid: its task's PID
 * @arg: its argument, six bits
 * @payload: words that follow the event's word
 * @words: words in @payload, at most 15
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 * Return: false if the event is lost, or the ring is paused.
 */
bool stape_ring_put_payload(struct stape_ring *ring, u64 now, u32 type, u32 pid, u32 arg,
			    const u64 *payload, u32 words)
{
	return stape_ring_write(ring, now, type, pid, arg << STAPE_TASK_WHY_SHIFT | words, payload,
				words);
}

/**
 * stape_ring_flush() - publish the open page as it is
 * @ring: a ring
 *
 * Losses that no page has reported yet are only in the producer's counters.
 *
 * Context: interrupts off, on the ring's CPU; or anywhere, when no writer is left.
 */
void stape_ring_flush(struct stape_ring *ring)
{
	stape_ring_tell_now(ring, false);
	if (ring->page && ring->pos > (u64 *)(ring->page + 1))
		stape_ring_publish(ring);
}

/**
 * stape_ring_pause() - stop writing events
 * @ring: a ring
 *
 * Context: as stape_ring_flush().
 */
void stape_ring_pause(struct stape_ring *ring)
{
	if (!ring->mem || ring->paused)
		return;
	stape_ring_tell_now(ring, true);
	/* Other CPUs may be looking at a ring that they share. */
	WRITE_ONCE(ring->paused, true);
	if (ring->page)
		stape_ring_publish(ring);
	/* If no page was opened since the last pause, both count as one pause. */
	if (!ring->paused_since)
		ring->paused_since = stape_ring_now(ring) + ring->offset;
}

/**
 * stape_ring_resume() - write events from now on
 * @ring: a ring; its session starts or goes on
 *
 * The first event says what the CPU does.  If the counter has jumped in the pause, times go on with
 * another offset.
 *
 * Context: on the ring's CPU; or anywhere, if that is offline, or the ring is not a CPU's.
 */
void stape_ring_resume(struct stape_ring *ring)
{
	unsigned long flags;

	if (!ring->mem || !READ_ONCE(ring->paused))
		return;
	local_irq_save(flags);
	stape_ring_set_offset(ring, stape_clock_offset(ring->counter));
	ring->paused_until = stape_ring_now(ring) + ring->offset;
	/* Pairs with the acquire in stape_ring_is_paused(). */
	smp_store_release(&ring->paused, false);
	stape_ring_tell_now(ring, true);
	local_irq_restore(flags);
}

/* Writes that the ring's CPU is offline, or @ends: that it has been so until now. */
static void stape_ring_put_offline(struct stape_ring *ring, bool ends)
{
	struct stape_idle_view view;
	u64 now;

	if (stape_ring_may_tell_now(ring, &now)) {
		stape_idle_look(ring->cpu, ring->counter, now, &view);
		/* It may be unknown what came before this event. */
		if (!ends && stape_ring_begins_anew(ring))
			stape_ring_put_idle(ring, now, &view);
		stape_ring_append_idle(ring, now, ends ? STAPE_IDLE_UNKNOWN :
				       view.sum - ring->idle_seen, 0, STAPE_IDLE_OFFLINE);
		ring->idle_seen = view.sum;
	}
	stape_ring_forget_curr(ring);
}

/**
 * stape_ring_offline() - write that the ring's CPU is offline
 * @ring: a ring
 *
 * Context: the CPU is dead.  Interrupts off.
 */
void stape_ring_offline(struct stape_ring *ring)
{
	stape_ring_put_offline(ring, false);
}

/**
 * stape_ring_online() - write that the ring's CPU has been offline
 * @ring: a ring
 *
 * Context: the CPU is about to start.  Interrupts off.
 */
void stape_ring_online(struct stape_ring *ring)
{
	stape_ring_put_offline(ring, true);
}

/**
 * stape_ring_finish() - publish the open page, and write no event any more
 * @ring: a ring
 *
 * In overwrite mode this moves the tail, so that the reader begins with the oldest page.
 *
 * Context: no writer is left.
 */
void stape_ring_finish(struct stape_ring *ring)
{
	ring->paused = true;
	stape_ring_flush(ring);
	/* The reader begins after the session's state has changed, which publishes this. */
	if (ring->overwrite && ring->head > ring->mask)
		WRITE_ONCE(ring->consumer->tail, ring->head - ring->mask - 1);
}

/**
 * stape_ring_pending() - count the pages that wait for the reader
 * @ring: a ring
 *
 * Context: any.
 * Return: the number; never more than the ring's pages, even if the tail is garbage.
 */
u64 stape_ring_pending(const struct stape_ring *ring)
{
	u64 head, pending;

	if (!ring->mem)
		return 0;
	head = smp_load_acquire(&ring->producer->head);	/* pairs with stape_ring_publish() */
	pending = head - READ_ONCE(ring->consumer->tail);
	return pending > ring->mask + 1 ? 0 : pending;
}

/**
 * stape_ring_peek() - get the oldest page that waits for the reader
 * @ring: a ring
 *
 * Context: one reader at a time.
 * Return: the page, or NULL.
 */
const void *stape_ring_peek(const struct stape_ring *ring)
{
	if (!stape_ring_pending(ring))
		return NULL;
	return stape_ring_page(ring, READ_ONCE(ring->consumer->tail));
}

/**
 * stape_ring_consume() - free the page of stape_ring_peek() for new events
 * @ring: a ring
 *
 * Context: one reader at a time.
 */
void stape_ring_consume(struct stape_ring *ring)
{
	/* Pairs with the acquire in stape_ring_full(). */
	smp_store_release(&ring->consumer->tail, READ_ONCE(ring->consumer->tail) + 1);
}
