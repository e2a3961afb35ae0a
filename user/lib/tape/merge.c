// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merges a tape's events: a cursor for every CPU, and a heap that has the CPU with the
 * earliest event on top.  Descriptions are like one more CPU.
 *
 * All times are of the session's clock.  Only merged events have ns, in which different
 * times may become equal.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tape/clock.h"
#include "tape/content.h"
#include "tape/cursor.h"
#include "tape/cursors.h"
#include "tape/format.h"
#include "tape/merge.h"
#include "tape/stream.h"
#include "tape/tape.h"

/* -- one CPU --------------------------------------------------------------- */

/* Limits a loss or a pause to the window.  Returns false if the event lies before. */
static bool gap_within(struct tape_cursor *c, uint64_t window)
{
	struct schedtape_event *ev = &c->ev;

	if (c->brief || !schedtape_event_is_gap(ev) || ev->lost_last < window)
		return false;
	ev->time = window;
	if (ev->lost_first < window)
		ev->lost_first = window;
	return true;
}

/* Is there an event behind the one that the merge looks at, and is it not detailed? */
static inline bool cursor_has_brief(const struct tape_cursor *c)
{
	return c->next != c->last && !c->next->detailed;
}

/* Returns 1: an event; 0: this CPU has no more; -errno. */
static inline int cursor_next(struct schedtape_tape *tape, struct tape_cursor *c,
			      struct schedtape_error *err)
{
	int ret = 1;

	do {
		if (cursor_has_brief(c))
			c->brief = c->next++;
		else
			ret = tape_cursor_next(tape, c, err);
	} while (ret > 0 && tape_cursor_time(c) < tape->window && !gap_within(c, tape->window));
	return ret;
}

/* -- all CPUs -------------------------------------------------------------- */

/* Orders equal times by CPU. */
static inline bool heap_before(const struct tape_heap *a, const struct tape_heap *b)
{
	return a->time < b->time ||
	       (a->time == b->time && tape_cpu_compare(a->cursor->cpu, b->cursor->cpu) < 0);
}

static void heap_sift_up(struct tape_heap *heap, size_t at)
{
	struct tape_heap moved = heap[at];
	size_t parent;

	for (; at; at = parent) {
		parent = (at - 1) / 2;
		if (!heap_before(&moved, &heap[parent]))
			break;
		heap[at] = heap[parent];
	}
	heap[at] = moved;
}

static inline void heap_sift_down(struct tape_heap *heap, size_t n)
{
	struct tape_heap moved = heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < n) {
		if (child + 1 < n && heap_before(&heap[child + 1], &heap[child]))
			child++;
		if (!heap_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/*
 * Finds every CPU's first event, or, of a pipe, the next one of CPUs that had no more chunks.
 * After an error, the next call continues.
 */
static int tape_fill(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct tape_cursor *c;
	int ret;

	for (; tape->filled < tape->nr_cursors; tape->filled++) {
		c = &tape->cursors[tape->filled];
		if (c->queued)
			continue;
		ret = cursor_next(tape, c, err);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		c->queued = true;
		tape->heap[tape->nr_heap] = (struct tape_heap) { tape_cursor_time(c), c };
		heap_sift_up(tape->heap, tape->nr_heap++);
	}
	return 0;
}

/* Puts the next event of the CPU whose event was taken last into the heap. */
static int merge_advance(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct tape_heap *heap = tape->heap;
	struct tape_cursor *c = heap[0].cursor;
	int ret = cursor_next(tape, c, err);

	if (ret < 0)
		return ret;
	tape->taken = false;
	c->queued = ret;
	if (ret)
		heap[0].time = tape_cursor_time(c);
	else
		heap[0] = heap[--tape->nr_heap];
	heap_sift_down(heap, tape->nr_heap);
	return 0;
}

/*
 * Of a pipe, reads on until the heap's first event may be returned.  Only then is it sure that no
 * other CPU has an earlier one.
 */
static int merge_wait(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret;

	while (!tape_is_over(tape)) {
		if (tape->nr_heap && tape_stream_ready(tape, tape->heap[0].cursor))
			return 0;
		ret = tape_stream_read(tape, err);
		tape->filled = 0;
		if (!ret)
			ret = tape_fill(tape, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* -- the next events ------------------------------------------------------- */

/*
 * Returns ns, not before the start: that was read from another clock, so the first event may
 * seem to be a little earlier.
 */
static inline uint64_t merged_time(struct schedtape_tape *tape, uint64_t time)
{
	uint64_t ns;

	if (!tape->clocks.line)
		return time;
	ns = tape_clocks_ns(&tape->clocks, time);
	return ns < tape->end.start_time ? tape->end.start_time : ns;
}

static inline void add_brief(struct schedtape_tape *tape, struct tape_merged *to,
			     const struct schedtape_brief *brief)
{
	struct schedtape_brief *at = &to->briefs[to->n++];

	*at = *brief;
	at->time = merged_time(tape, brief->time);
}

/* Sets the ns of an event that happened at @time. */
static void merge_idle(struct schedtape_tape *tape, struct schedtape_event *ev, uint64_t time)
{
	struct schedtape_idle *idle = &ev->idle;

	idle->since = merged_time(tape, idle->since);
	if (idle->time != UINT64_MAX)
		idle->time = ev->time -
			     merged_time(tape, idle->time < time ? time - idle->time : 0);
}

/* Adds a detailed event. */
static void add_detailed(struct schedtape_tape *tape, struct tape_merged *to,
			 const struct schedtape_event *details)
{
	struct schedtape_event *ev = &to->details[to->nr_details++];

	*ev = *details;
	ev->time = merged_time(tape, details->time);
	if (schedtape_event_is_gap(ev)) {
		ev->lost_first = merged_time(tape, ev->lost_first);
		ev->lost_last = merged_time(tape, ev->lost_last);
	} else if (ev->type == SCHEDTAPE_EV_IDLE) {
		merge_idle(tape, ev, details->time);
	}
	to->briefs[to->n++] = ev->brief;
}

/* Returns the time up to which all events of the heap's first CPU come before those of others. */
static inline uint64_t first_until(const struct schedtape_tape *tape)
{
	const struct tape_heap *heap = tape->heap, *second = &heap[1];

	if (tape->nr_heap < 2)
		return UINT64_MAX;
	if (tape->nr_heap > 2 && heap_before(&heap[2], second))
		second = &heap[2];
	/* The first CPU is before this one: so if it is not at the same time, that is not 0. */
	return tape_cpu_compare(heap->cursor->cpu, second->cursor->cpu) < 0 ? second->time :
									      second->time - 1;
}

/* Adds events of the heap's first CPU, up to the first one that needs more than that. */
static void add_first(struct schedtape_tape *tape, struct tape_merged *to, unsigned int room)
{
	struct tape_cursor *c = tape->heap[0].cursor;
	uint64_t until;

	if (!c->brief) {
		add_detailed(tape, to, &c->ev);
		return;
	}
	until = first_until(tape);
	add_brief(tape, to, c->brief);
	while (to->n < room && cursor_has_brief(c) && c->next->time <= until) {
		c->brief = c->next++;
		add_brief(tape, to, c->brief);
	}
}

/*
 * Goes from the heap's first CPU, whose event is taken, to the one that is first now.  Returns
 * false if this needs more than the brief of its next event.  That is not before the window,
 * because the event before it is not.  After a gap that is not sure: if the page is corrupt, a gap
 * reaches into the window, and an event after it does not.
 */
static inline bool change_first(struct schedtape_tape *tape)
{
	struct tape_cursor *c = tape->heap[0].cursor;

	if (!c->brief || !cursor_has_brief(c))
		return false;
	c->brief = c->next++;
	tape->heap[0].time = c->brief->time;
	heap_sift_down(tape->heap, tape->nr_heap);
	return true;
}

/* Finds the next event, the heap's first.  Returns 1; 0: there is none; -errno. */
static int merge_next(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret = 0;

	if (tape->taken)
		ret = merge_advance(tape, err);
	else if (tape->filled < tape->nr_cursors)
		ret = tape_fill(tape, err);
	if (!ret && tape->stream)
		ret = merge_wait(tape, err);
	return ret ? ret : tape->nr_heap > 0;
}

struct tape_merged *tape_merged_new(unsigned int room)
{
	struct tape_merged *merged;

	merged = malloc(sizeof(*merged) + room * sizeof(*merged->briefs));
	if (merged)
		merged->room = room;
	return merged;
}

static inline bool has_room(const struct tape_merged *to, unsigned int room)
{
	return to->n < room && to->nr_details < TAPE_MERGED_DETAILS;
}

void tape_merge(struct schedtape_tape *tape, struct tape_merged *to, bool ahead)
{
	/* Of a pipe, more must not be read than what is needed for one event. */
	unsigned int room = tape->stream ? 1 : to->room;

	to->n = 0;
	to->nr_details = 0;
	to->why.text[0] = '\0';
	do {
		tape->ahead_of_caller = ahead || to->n;
		to->ret = merge_next(tape, &to->why);
		if (to->ret <= 0)
			return;
		tape->taken = true;
		do
			add_first(tape, to, room);
		while (has_room(to, room) && change_first(tape));
	} while (has_room(to, room));
}

void tape_merge_rewind(struct schedtape_tape *tape)
{
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++)
		tape_cursor_rewind(tape, &tape->cursors[i]);
	tape->nr_heap = 0;
	tape->filled = 0;
	tape->taken = false;
}

void tape_merge_descriptions(struct schedtape_tape *tape)
{
	struct tape_cursor *c = tape->cursors, *end = c + tape->nr_cursors;

	if (c == end || c->cpu != STAPE_CPU_NONE)
		return;
	while (++c < end) {
		c->chunk = c->chunks_end;
		c->end_returned = true;
	}
}

/* -- setting up ------------------------------------------------------------ */

static int cursor_compare(const void *one, const void *two)
{
	const struct tape_cursor *a = one, *b = two;

	return tape_cpu_compare(a->cpu, b->cpu);
}

static void merge_add_ends(struct schedtape_tape *tape)
{
	size_t i, with_chunks = tape->nr_cursors;
	const struct schedtape_cpu *end;
	struct tape_cursor key, *c;

	for (i = 0; i < tape->nr_cpus; i++) {
		end = &tape->cpus[i];
		key.cpu = end->cpu;
		c = bsearch(&key, tape->cursors, with_chunks, sizeof(key), cursor_compare);
		if (!c && !end->lost && !end->events)
			continue;
		if (!c) {
			/* A CPU that has lost all of its events. */
			c = &tape->cursors[tape->nr_cursors++];
			c->cpu = key.cpu;
			c->any_first = tape_is_later_part(tape);
		}
		c->end = end;
	}
	if (tape->nr_cursors > with_chunks)
		qsort(tape->cursors, tape->nr_cursors, sizeof(key), cursor_compare);
}

/* Checks that the chunks in memory, one for each CPU, are not too large for such a tape. */
static int merge_check_room(const struct schedtape_tape *tape, struct schedtape_error *err)
{
	uint64_t file_bytes = schedtape_tape_bytes(tape), bytes = 0;
	const struct tape_cursor *c;
	uint32_t pages;
	size_t i, k;

	for (i = 0; i < tape->nr_cursors; i++) {
		c = &tape->cursors[i];
		for (pages = 0, k = c->chunks_first; k < c->chunks_end; k++)
			if (!tape->index[k].damaged && tape->index[k].pages > pages)
				pages = tape->index[k].pages;
		bytes += (uint64_t)pages * STAPE_PAGE_SIZE;
	}
	if (bytes <= tape_room(file_bytes))
		return 0;
	return schedtape_fail(err, -E2BIG, "%s: to read its %zu CPUs together would take %" PRIu64
			      " MB of memory, which a tape of %" PRIu64 " bytes cannot need",
			      tape->path, tape->nr_cursors, bytes >> 20, file_bytes);
}

/* Makes the cursors.  The index is sorted by CPU, so each cursor gets a range of it. */
int tape_merge_init(struct schedtape_tape *tape, struct schedtape_error *err)
{
	size_t i, most = tape->nr_cpus;
	struct tape_cursor *c = NULL;

	for (i = 0; i < tape->nr_index; i++)
		if (!i || tape->index[i].cpu != tape->index[i - 1].cpu)
			most++;
	tape->cursors = calloc(most + 1, sizeof(*tape->cursors));
	tape->heap = calloc(most + 1, sizeof(*tape->heap));
	if (!tape->cursors || !tape->heap)
		return -ENOMEM;

	for (i = 0; i < tape->nr_index; i++) {
		if (!c || tape->index[i].cpu != c->cpu) {
			c = &tape->cursors[tape->nr_cursors++];
			c->cpu = tape->index[i].cpu;
			c->any_first = tape_is_later_part(tape);
			c->chunks_first = i;
		}
		c->chunks_end = i + 1;
	}
	merge_add_ends(tape);
	tape_merge_rewind(tape);
	return merge_check_room(tape, err);
}

void tape_merge_exit(struct schedtape_tape *tape)
{
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++)
		tape_cursor_exit(&tape->cursors[i]);
	free(tape->cursors);
	free(tape->heap);
	free(tape->own);
}
