// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merges a tape's events: a cursor for every CPU, and a heap that has the CPU with the
 * earliest event on top.  Descriptions are like one more CPU.
 *
 * All times are of the session's clock.  Only the caller gets ns, in which different
 * times may become equal.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tape/events.h"
#include "tape/read.h"
#include "base/error.h"

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

/* Returns 1: an event; 0: this CPU has no more; -errno. */
static inline int cursor_next(struct schedtape_tape *tape, struct tape_cursor *c,
			      struct schedtape_error *err)
{
	int ret = 1;

	do {
		if (c->next != c->last && c->next->type)
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

/*
 * Returns ns, not before the start: that was read from another clock, so the first event may
 * seem to be a little earlier.
 */
static inline uint64_t hand_out_time(struct schedtape_tape *tape, uint64_t time)
{
	uint64_t ns = tape_clocks_ns(&tape->clocks, time);

	return ns < tape->end.start_time ? tape->end.start_time : ns;
}

/* Clears the members of the event that a brief does not have, if any is set. */
static inline void clear_details(struct schedtape_tape *tape)
{
	if (!tape->has_details)
		return;
	memset(tape->ev.comm, 0, sizeof(tape->ev) - offsetof(struct schedtape_event, comm));
	tape->has_details = false;
}

/* Makes the cursor's event the one that is returned. */
static inline void hand_out(struct schedtape_tape *tape, const struct tape_cursor *c)
{
	const struct tape_brief *brief = c->brief;
	struct schedtape_event *ev = &tape->ev;

	if (brief) {
		clear_details(tape);
		ev->time = brief->time;
		ev->cpu = c->cpu;
		ev->type = brief->type;
		ev->pid = brief->pid;
		ev->curr = brief->curr;
		ev->curr_kind = brief->curr_kind;
		ev->old_pid = 0;
		ev->arg = brief->arg;
	} else {
		*ev = c->ev;
		tape->has_details = true;
	}
	if (tape->clocks.line) {
		ev->time = hand_out_time(tape, ev->time);
		if (schedtape_event_is_gap(ev)) {
			ev->lost_first = hand_out_time(tape, ev->lost_first);
			ev->lost_last = hand_out_time(tape, ev->lost_last);
		}
	}
	if (tape->stream)
		tape_stream_returns(tape, tape_cursor_time(c), ev);
}

/* Puts the next event of the CPU whose event was returned last into the heap. */
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

int tape_next_event(struct schedtape_tape *tape, const struct schedtape_event **ev,
		    struct schedtape_error *err)
{
	int ret = 0;

	if (tape->taken)
		ret = merge_advance(tape, err);
	else if (tape->filled < tape->nr_cursors)
		ret = tape_fill(tape, err);
	if (!ret && tape->stream)
		ret = merge_wait(tape, err);
	if (ret < 0)
		return ret;

	if (!tape->nr_heap) {
		tape_load_stop(tape);
		return 0;
	}
	tape->taken = true;
	hand_out(tape, tape->heap[0].cursor);
	*ev = &tape->ev;
	return 1;
}

int schedtape_tape_next(struct schedtape_tape *tape, struct schedtape_event *ev,
			struct schedtape_error *err)
{
	const struct schedtape_event *next;
	int ret = tape_next_event(tape, &next, err);

	if (ret > 0)
		*ev = *next;
	return ret;
}

int schedtape_tape_rewind(struct schedtape_tape *tape, struct schedtape_error *err)
{
	size_t i;

	if (tape->stream)
		return tape_stream_rewind(tape, err);

	tape_load_stop(tape);
	for (i = 0; i < tape->nr_cursors; i++)
		tape_cursor_rewind(tape, &tape->cursors[i]);
	tape->nr_heap = 0;
	tape->filled = 0;
	tape->taken = false;
	return 0;
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
			c->chunks_first = i;
		}
		c->chunks_end = i + 1;
	}
	merge_add_ends(tape);
	schedtape_tape_rewind(tape, NULL);
	return merge_check_room(tape, err);
}

void tape_merge_exit(struct schedtape_tape *tape)
{
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++) {
		tape_load_let_go(&tape->cursors[i]);
		free(tape->cursors[i].memory);
		free(tape->cursors[i].batch);
	}
	free(tape->cursors);
	free(tape->heap);
}
