// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merges a tape's events: a cursor for every CPU, with one chunk in memory, and a heap
 * that has the CPU with the earliest event on top.  Descriptions are like one more CPU.
 *
 * Damage affects as few events as possible.  A corrupt chunk is replaced by a loss.  If
 * a page contradicts itself although its checksum is right, it was written like that:
 * the call returns an error, and the next call continues with the next page.
 *
 * All times are of the session's clock.  Only the caller gets ns, in which different
 * times may become equal.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tape/read.h"
#include "base/error.h"

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

/* -- losses ---------------------------------------------------------------- */

static void cursor_lose(struct tape_cursor *c, uint64_t lost, uint64_t first, uint64_t last)
{
	c->loss = (struct schedtape_event) {
		.cpu = c->cpu,
		.type = SCHEDTAPE_EV_LOST,
		.curr_kind = STAPE_NEXT_OTHER,
		.lost = lost,
		.lost_first = first,
		.lost_last = last,
	};
}

/* Adds to a loss, so that two in a row are one.  If one number is unknown, so is the sum. */
static void cursor_lose_more(struct tape_cursor *c, uint64_t lost, uint64_t first, uint64_t last)
{
	struct schedtape_event *loss = &c->loss;

	if (loss->type != SCHEDTAPE_EV_LOST) {
		cursor_lose(c, lost, first, last);
		return;
	}
	loss->lost = lost && loss->lost ? loss->lost + lost : 0;
	if (first < loss->lost_first)
		loss->lost_first = first;
	if (last > loss->lost_last)
		loss->lost_last = last;
}

/* Are pages missing before the page or corrupt chunk with the number @seq? */
static bool cursor_hole(const struct tape_cursor *c, uint64_t seq)
{
	return c->hole || (c->started ? seq != c->seq : tape_hole_first(c, seq));
}

/* Replaces a corrupt chunk by a loss of the events that its header counts. */
static void cursor_lose_chunk(struct tape_cursor *c, const struct tape_index *index)
{
	if (!tape_index_counts(index))
		return;
	c->hole = cursor_hole(c, index->seq);
	c->started = true;
	c->seq = index->seq + index->pages;
	cursor_lose_more(c, index->events + index->lost, index->time, index->end);
}

/* Adds a loss for missing pages.  If this is the only hole, all missing events were here. */
static void cursor_lose_hole(const struct schedtape_tape *tape, struct tape_cursor *c,
			     uint64_t until)
{
	c->hole = false;
	if (c->loss.type == SCHEDTAPE_EV_LOST && !c->missing)
		return;
	cursor_lose_more(c, c->holes == 1 ? c->missing : 0,
			 c->time ? c->time : tape->first, until);
}

/* Makes the loss the next event, with times limited to those of its neighbours. */
static int cursor_take_loss(struct tape_cursor *c, uint64_t until)
{
	struct schedtape_event *loss = &c->loss;

	loss->lost_first = clamp(loss->lost_first, c->time, until);
	loss->lost_last = clamp(loss->lost_last, loss->lost_first, until);
	loss->time = loss->lost_first;
	c->ev = *loss;
	c->time = loss->time;
	loss->type = STAPE_EV_NONE;
	return 1;
}

/* After all chunks, adds a loss for events that only the end record counts. */
static void cursor_lose_end(const struct schedtape_tape *tape, struct tape_cursor *c)
{
	const struct schedtape_cpu *end = c->end;

	c->end_returned = true;
	if (c->behind)
		cursor_lose(c, c->behind, end->lost > c->behind ? c->time : end->lost_first,
			    end->lost_last);
	/* Chunks are missing behind the last one, or all chunks are. */
	if (!c->missing || (c->holes && !c->hole))
		return;
	if (c->loss.type != SCHEDTAPE_EV_LOST)
		cursor_lose(c, 0, c->started ? c->time : tape->first, tape->last);
	c->loss.lost += c->holes > 1 ? 0 : c->missing;
}

/* -- one CPU --------------------------------------------------------------- */

/* Returns the next chunk of this CPU, or NULL.  Of a pipe, more may come. */
static struct tape_index *cursor_index(struct schedtape_tape *tape, const struct tape_cursor *c)
{
	if (c->live)
		return c->waiting ? &c->waiting->index : NULL;
	return c->chunk < c->chunks_end ? &tape->index[c->chunk] : NULL;
}

static void cursor_pass(struct schedtape_tape *tape, struct tape_cursor *c)
{
	if (c->live)
		tape_waiting_drop(tape, c);
	else
		c->chunk++;
}

static void cursor_let_go(struct schedtape_tape *tape, struct tape_cursor *c)
{
	if (c->live) {
		tape_waiting_let_go(tape, c);
		return;
	}
	free(c->memory);
	c->memory = NULL;
}

/* Loads the next valid chunk of this CPU.  Returns 1: loaded; 0: there is none; -errno. */
static int cursor_chunk(struct schedtape_tape *tape, struct tape_cursor *c,
			struct schedtape_error *err)
{
	struct tape_index *index;
	const struct tape_file *file;
	const char *why;
	int ret;

	for (; (index = cursor_index(tape, c)); cursor_pass(tape, c)) {
		file = &tape->files[index->file];
		if (!index->damaged) {
			ret = tape_load(tape, c, &why);
			if (!ret) {
				c->file = index->file;
				c->offset = index->offset;
				c->pages = index->pages;
				c->pages_read = 0;
				cursor_pass(tape, c);
				return 1;
			}
			if (ret != -EBADMSG)
				return schedtape_fail(err, ret, "%s: chunk at byte %" PRIu64 ": %s",
						      file->path, index->offset, strerror(-ret));
			tape_note(tape, "%sbyte %" PRIu64 ": damaged chunk: %s", file->name,
				  index->offset, why);
			index->damaged = true;
			if (!c->live)
				tape_lost_update(tape, c);
		}
		cursor_lose_chunk(c, index);
	}
	cursor_let_go(tape, c);
	return 0;
}

/* Adds the place of the page to an error message. */
static int cursor_page_error(const struct schedtape_tape *tape, const struct tape_cursor *c,
			     const char *text, struct schedtape_error *err)
{
	return schedtape_fail(err, -EBADMSG, "%s: chunk at byte %" PRIu64 ", page %u of %u: %s",
			      tape->files[c->file].path, c->offset, c->pages_read - 1, c->pages,
			      text);
}

static const char *cursor_page_fits(const struct tape_cursor *c)
{
	const struct stape_page_header *h = &c->page.header;

	if (h->cpu != c->cpu)
		return "the page is another CPU's";
	if (c->started && h->seq < c->seq)
		return "the page's number goes backwards";
	if (h->time < c->time)
		return "the page's time goes backwards";
	return NULL;
}

/* Opens the next page, perhaps with a loss before it. */
static int cursor_page(struct schedtape_tape *tape, struct tape_cursor *c,
		       struct schedtape_error *err)
{
	const struct stape_page_header *h = &c->page.header;
	struct schedtape_error why;
	const char *misfit;
	const void *data;
	bool hole;

	data = c->memory + (size_t)c->pages_read++ * STAPE_PAGE_SIZE;
	if (schedtape_page_open(&c->page, data, &why))
		return cursor_page_error(tape, c, why.text, err);
	misfit = cursor_page_fits(c);
	if (misfit)
		return cursor_page_error(tape, c, misfit, err);

	hole = cursor_hole(c, h->seq);
	if (c->live)
		c->holes += hole;
	c->started = true;
	c->seq = h->seq + 1;
	c->page_open = true;

	/* Pages are missing, and this page's own loss does not count them. */
	if (hole && (c->missing || !h->lost))
		cursor_lose_hole(tape, c, h->time);
	if (c->loss.type != SCHEDTAPE_EV_LOST)
		return 0;
	c->loss.curr = h->curr;
	c->loss.curr_kind = h->curr_kind;
	return cursor_take_loss(c, h->time);
}

/* Continues at the end of a page.  Returns 1: an event; 0: no event yet, or the end; -errno. */
static int cursor_next_slow(struct schedtape_tape *tape, struct tape_cursor *c,
			    struct schedtape_error *err)
{
	int ret;

	if (c->pages_read == c->pages) {
		ret = cursor_chunk(tape, c, err);
		if (ret < 0)
			return ret;
		if (!ret) {
			c->pages = 0;
			c->pages_read = 0;
			if (!tape_is_over(tape))
				return 0;
			tape_lost_finish(tape, c);
			if (c->loss.type != SCHEDTAPE_EV_LOST && !c->end_returned)
				cursor_lose_end(tape, c);
			if (c->loss.type == SCHEDTAPE_EV_LOST)
				return cursor_take_loss(c, UINT64_MAX);
			return 0;
		}
	}
	return cursor_page(tape, c, err);
}

/* Returns 1: @c->ev is this CPU's next event; 0: it has no more; -errno. */
static int cursor_next_any(struct schedtape_tape *tape, struct tape_cursor *c,
			   struct schedtape_error *err)
{
	struct schedtape_error why;
	int ret;

	for (;;) {
		if (c->page_open) {
			ret = schedtape_page_next(&c->page, &c->ev, &why);
			if (ret > 0) {
				/* Only a loss can have a time before that of the page. */
				if (c->ev.time < c->time)
					c->ev.time = c->time;
				return 1;
			}
			c->page_open = false;
			c->time = ret ? c->page.time : c->page.header.end;
			if (ret)
				return cursor_page_error(tape, c, why.text, err);
		}
		ret = cursor_next_slow(tape, c, err);
		if (ret || !c->page_open)
			return ret;
	}
}

/* Limits a loss or a pause to the window.  Returns false if it lies before. */
static bool gap_within(struct schedtape_event *ev, uint64_t window)
{
	if (!schedtape_event_is_gap(ev) || ev->lost_last < window)
		return false;
	ev->time = window;
	if (ev->lost_first < window)
		ev->lost_first = window;
	return true;
}

static inline int cursor_next(struct schedtape_tape *tape, struct tape_cursor *c,
			      struct schedtape_error *err)
{
	int ret;

	do {
		ret = cursor_next_any(tape, c, err);
	} while (ret > 0 && c->ev.time < tape->window && !gap_within(&c->ev, tape->window));
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
		tape->heap[tape->nr_heap] = (struct tape_heap) { c->ev.time, c };
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

static inline void hand_out(struct schedtape_tape *tape, const struct schedtape_event *raw,
			    struct schedtape_event *ev)
{
	*ev = *raw;
	if (tape->clocks.line) {
		ev->time = hand_out_time(tape, raw->time);
		if (schedtape_event_is_gap(raw)) {
			ev->lost_first = hand_out_time(tape, raw->lost_first);
			ev->lost_last = hand_out_time(tape, raw->lost_last);
		}
	}
	if (tape->stream)
		tape_stream_returns(tape, raw, ev);
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
		heap[0].time = c->ev.time;
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
		if (tape->nr_heap && tape_stream_ready(tape, &tape->heap[0].cursor->ev))
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

int schedtape_tape_next(struct schedtape_tape *tape, struct schedtape_event *ev,
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
	hand_out(tape, &tape->heap[0].cursor->ev, ev);
	return 1;
}

/* Goes back to the first chunk that reaches into the window. */
static void cursor_rewind(const struct schedtape_tape *tape, struct tape_cursor *c)
{
	const struct tape_index *index;

	c->pages = 0;
	c->pages_read = 0;
	c->page_open = false;
	c->started = false;
	c->end_returned = false;
	c->hole = false;
	c->time = 0;
	for (c->chunk = c->chunks_first; c->chunk < c->chunks_end; c->chunk++) {
		index = &tape->index[c->chunk];
		if (index->damaged || index->end >= tape->window)
			break;
		c->started = true;
		c->seq = index->seq + index->pages;
	}
	c->loss.type = STAPE_EV_NONE;
	c->queued = false;
}

int schedtape_tape_rewind(struct schedtape_tape *tape, struct schedtape_error *err)
{
	size_t i;

	if (tape->stream)
		return tape_stream_rewind(tape, err);

	tape_load_stop(tape);
	for (i = 0; i < tape->nr_cursors; i++)
		cursor_rewind(tape, &tape->cursors[i]);
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

	for (i = 0; i < tape->nr_cursors; i++)
		free(tape->cursors[i].memory);
	free(tape->cursors);
	free(tape->heap);
}
