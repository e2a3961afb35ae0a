/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The per-CPU page ring.  One writer, the CPU itself with interrupts off; one
 * reader, in user space or in read().  Nothing here sleeps or takes a lock but
 * for making and freeing.
 */
#ifndef _STAPE_RING_H
#define _STAPE_RING_H

#include <linux/bug.h>
#include <linux/irq_work.h>
#include <linux/timekeeping.h>
#include <schedtape/device.h>
#include <schedtape/event.h>

#define STAPE_RING_PAGES_MIN	max_t(u32, 4, PAGE_SIZE / STAPE_PAGE_SIZE)
#define STAPE_RING_PAGES_MAX	65536

/**
 * struct stape_ring - one CPU's ring
 * @pos: next free word of the open page; equals @end when no page is open
 * @end: end of the open page
 * @last: time of the last event written, ns
 * @curr: PID that runs here if the filter has it, else 0
 * @curr_kind: enum stape_next of what runs here, as far as the stream knows
 * @page: the open page, NULL: none
 * @extra: words of the open page that are prefixes or payload
 * @head: pages published
 * @lost: events lost since the last page was opened
 * @lost_first: time of the first of them
 * @lost_last: time of the last of them
 * @mask: number of pages minus one
 * @paused: the session has not started: events are neither written nor lost
 * @watermark: pages before the reader is woken
 * @wake: wakes the reader; shared by the session's rings
 * @mem: consumer's page, producer's page, data pages
 * @consumer: written by user space: never trusted
 * @producer: read by user space
 * @data: the pages
 *
 * The first four are all that an event needs in the common case.
 */
struct stape_ring {
	u64 *pos;
	u64 *end;
	u64 last;
	u32 curr;
	u32 curr_kind;

	struct stape_page_header *page;
	u32 extra;
	u64 head;
	u64 lost;
	u64 lost_first;
	u64 lost_last;

	u32 mask;
	bool paused;
	u32 watermark;
	struct irq_work *wake;
	void *mem;
	struct stape_ring_consumer *consumer;
	struct stape_ring_producer *producer;
	void *data;
} ____cacheline_aligned;

int stape_ring_init(struct stape_ring *ring, u32 cpu, u32 pages, u32 watermark,
		    struct irq_work *wake);
void stape_ring_destroy(struct stape_ring *ring);
size_t stape_ring_size(u32 pages);
void stape_ring_flush(struct stape_ring *ring);
u64 stape_ring_pending(const struct stape_ring *ring);
const void *stape_ring_peek(const struct stape_ring *ring);
void stape_ring_consume(struct stape_ring *ring);
void stape_ring_emit_slow(struct stape_ring *ring, u64 now, u32 type, u32 pid, u64 arg);
void stape_ring_emit_payload(struct stape_ring *ring, u32 type, u32 pid,
			     const u64 *payload, u32 words);

/**
 * stape_ring_emit() - write one event, or count it as lost
 * @ring: this CPU's ring
 * @type: enum stape_event_type, below 8
 * @pid: whom it is about
 * @arg: as the type says
 *
 * Context: interrupts off, on the ring's CPU.  Any lock may be held.
 */
static __always_inline void stape_ring_emit(struct stape_ring *ring, u32 type, u32 pid, u64 arg)
{
	u64 now = ktime_get_mono_fast_ns();
	u64 delta = now - ring->last;
	u64 *pos = ring->pos;

	/* A clock that stepped back makes a huge delta: the slow path's, too. */
	if (unlikely(delta > STAPE_DELTA_MASK || pos == ring->end || arg > STAPE_ARG_MASK)) {
		stape_ring_emit_slow(ring, now, type, pid, arg);
		return;
	}
	*pos = stape_word(type, delta, pid, arg);
	ring->pos = pos + 1;
	ring->last = now;
}

#endif /* _STAPE_RING_H */
