// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stream of a tape's events: a cursor for every CPU, with one chunk in
 * memory, and a heap that has the CPU with the earliest event on top.
 *
 * Damage takes away as little as possible.  A chunk with a wrong checksum is
 * left out, and a loss stands in its place.  A page that passed the checksum
 * and still contradicts itself was written like that: that is an error, and
 * whoever calls again goes on with the next page.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tape-read.h"

#define EVENTS_IN_PAGE	((STAPE_PAGE_SIZE - sizeof(struct stape_page_header)) / sizeof(uint64_t))

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

/* -- losses ---------------------------------------------------------------- */

/* A chunk is gone; what its header says of it is all that there is. */
static void cursor_lose_chunk(struct tape_cursor *c, const struct tape_index *index)
{
	bool known = index->events && index->events <= index->pages * EVENTS_IN_PAGE;

	if (c->loss.type != SCHEDTAPE_EV_LOST) {
		c->loss = (struct schedtape_event) {
			.cpu = c->cpu,
			.type = SCHEDTAPE_EV_LOST,
			.curr_kind = STAPE_NEXT_OTHER,
			.lost = known ? index->events : 0,
			.lost_first = index->time,
			.lost_last = index->end,
		};
		return;
	}
	/* Two in a row are one loss, of as many as are known of both or of none. */
	c->loss.lost = known && c->loss.lost ? c->loss.lost + index->events : 0;
	c->loss.lost_last = index->end;
}

/* Hands the loss out, whose times must fit in between what is sure. */
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

/* All chunks are read: what the end record knows and no page could tell. */
static void cursor_lose_end(const struct schedtape_tape *tape, struct tape_cursor *c)
{
	const struct schedtape_cpu *end = c->end;
	uint64_t told = 0;
	size_t i;

	c->end_told = true;
	if (!end)
		return;
	for (i = c->chunks_first; i < c->chunks_end; i++)
		told += tape->index[i].lost;
	if (end->lost <= told || end->lost_last < c->time)
		return;

	c->loss = (struct schedtape_event) {
		.cpu = c->cpu,
		.type = SCHEDTAPE_EV_LOST,
		.curr_kind = STAPE_NEXT_OTHER,
		.lost = end->lost - told,
		.lost_first = told ? c->time : end->lost_first,
		.lost_last = end->lost_last,
	};
}

/* -- one CPU --------------------------------------------------------------- */

static int cursor_load(struct schedtape_tape *tape, struct tape_cursor *c,
		       const struct tape_index *index, const char **why)
{
	size_t bytes = (size_t)index->pages * STAPE_PAGE_SIZE;
	struct tape_head head;
	unsigned char *memory;
	int ret;

	ret = tape_head_read(&tape->file, index->offset, &head, why);
	if (ret)
		return ret;
	if (head.raw != bytes) {
		*why = "the file has changed";
		return -EBADMSG;
	}
	if (c->capacity < bytes) {
		free(c->memory);
		c->capacity = 0;
		memory = malloc(bytes);
		c->memory = memory;
		if (!memory)
			return -ENOMEM;
		c->capacity = bytes;
	}
	return tape_payload_read(&tape->file, &head, c->memory, why);
}

/* The next sound chunk of this CPU.  1: there is one; 0: there is none; -errno. */
static int cursor_chunk(struct schedtape_tape *tape, struct tape_cursor *c,
			struct schedtape_error *err)
{
	struct tape_index *index;
	const char *why;
	int ret;

	for (; c->chunk < c->chunks_end; c->chunk++) {
		index = &tape->index[c->chunk];
		if (!index->damaged) {
			ret = cursor_load(tape, c, index, &why);
			if (!ret) {
				c->offset = index->offset;
				c->pages = index->pages;
				c->pages_read = 0;
				c->chunk++;
				return 1;
			}
			if (ret != -EBADMSG)
				return schedtape_fail(err, ret, "%s: chunk at byte %" PRIu64 ": %s",
						      tape->file.path, index->offset,
						      strerror(-ret));
			tape_note(tape, "byte %" PRIu64 ": damaged chunk: %s", index->offset, why);
			index->damaged = true;
		}
		cursor_lose_chunk(c, index);
	}
	return 0;
}

/* Adds where the page is to what is wrong with it. */
static int cursor_page_error(const struct schedtape_tape *tape, const struct tape_cursor *c,
			     const char *text, struct schedtape_error *err)
{
	return schedtape_fail(err, -EBADMSG, "%s: chunk at byte %" PRIu64 ", page %u of %u: %s",
			      tape->file.path, c->offset, c->pages_read - 1, c->pages, text);
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
	bool gap;

	data = c->memory + (size_t)c->pages_read++ * STAPE_PAGE_SIZE;
	if (schedtape_page_open(&c->page, data, &why))
		return cursor_page_error(tape, c, why.text, err);
	misfit = cursor_page_fits(c);
	if (misfit)
		return cursor_page_error(tape, c, misfit, err);

	gap = c->started && h->seq != c->seq;
	c->started = true;
	c->seq = h->seq + 1;
	c->page_open = true;

	/* Pages are missing, and nobody else says so. */
	if (gap && !h->lost && c->loss.type != SCHEDTAPE_EV_LOST)
		c->loss = (struct schedtape_event) {
			.cpu = c->cpu,
			.type = SCHEDTAPE_EV_LOST,
			.lost_first = c->time,
			.lost_last = h->time,
		};
	if (c->loss.type != SCHEDTAPE_EV_LOST)
		return 0;
	c->loss.curr = h->curr;
	c->loss.curr_kind = h->curr_kind;
	return cursor_take_loss(c, h->time);
}

/* Whatever comes when the page is at its end.  1: an event; 0: nothing; -errno. */
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
			if (c->loss.type != SCHEDTAPE_EV_LOST && !c->end_told)
				cursor_lose_end(tape, c);
			if (c->loss.type == SCHEDTAPE_EV_LOST)
				return cursor_take_loss(c, UINT64_MAX);
			free(c->memory);
			c->memory = NULL;
			c->capacity = 0;
			return 0;
		}
	}
	return cursor_page(tape, c, err);
}

/* 1: @c->ev is this CPU's next event; 0: it has no more; -errno. */
static int cursor_next(struct schedtape_tape *tape, struct tape_cursor *c,
		       struct schedtape_error *err)
{
	struct schedtape_error why;
	int ret;

	for (;;) {
		if (c->page_open) {
			ret = schedtape_page_next(&c->page, &c->ev, &why);
			if (ret > 0) {
				/* Only a loss can be dated before the page. */
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

/* -- all CPUs -------------------------------------------------------------- */

/* CPUs are in order in memory, which makes equal times a fixed order. */
static inline bool heap_before(const struct tape_heap *a, const struct tape_heap *b)
{
	return a->time < b->time || (a->time == b->time && a->cursor < b->cursor);
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

/* Finds every CPU's first event.  After an error, a next call goes on. */
static int tape_fill(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct tape_cursor *c;
	int ret;

	for (; tape->filled < tape->nr_cursors; tape->filled++) {
		c = &tape->cursors[tape->filled];
		ret = cursor_next(tape, c, err);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		tape->heap[tape->nr_heap] = (struct tape_heap) { c->ev.time, c };
		heap_sift_up(tape->heap, tape->nr_heap++);
	}
	return 0;
}

int schedtape_tape_next(struct schedtape_tape *tape, struct schedtape_event *ev,
			struct schedtape_error *err)
{
	struct tape_heap *heap = tape->heap;
	int ret;

	if (tape->taken) {
		ret = cursor_next(tape, heap[0].cursor, err);
		if (ret < 0)
			return ret;
		tape->taken = false;
		if (ret)
			heap[0].time = heap[0].cursor->ev.time;
		else
			heap[0] = heap[--tape->nr_heap];
		heap_sift_down(heap, tape->nr_heap);
	} else if (tape->filled < tape->nr_cursors) {
		ret = tape_fill(tape, err);
		if (ret < 0)
			return ret;
	}

	if (!tape->nr_heap)
		return 0;
	*ev = heap[0].cursor->ev;
	tape->taken = true;
	return 1;
}

int schedtape_tape_rewind(struct schedtape_tape *tape,
			  struct schedtape_error *err __attribute__((unused)))
{
	struct tape_cursor *c;
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++) {
		c = &tape->cursors[i];
		c->chunk = c->chunks_first;
		c->pages = 0;
		c->pages_read = 0;
		c->page_open = false;
		c->started = false;
		c->end_told = false;
		c->time = 0;
		c->loss.type = STAPE_EV_NONE;
	}
	tape->nr_heap = 0;
	tape->filled = 0;
	tape->taken = false;
	return 0;
}

/* -- setting up ------------------------------------------------------------ */

static int cursor_compare(const void *one, const void *two)
{
	const struct tape_cursor *a = one, *b = two;

	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static void merge_add_ends(struct schedtape_tape *tape)
{
	const struct schedtape_end *end = &tape->end;
	size_t i, with_chunks = tape->nr_cursors;
	struct tape_cursor key, *c;

	for (i = 0; i < end->nr_cpus; i++) {
		if (!end->cpus[i].lost)
			continue;
		key.cpu = end->cpus[i].cpu;
		c = bsearch(&key, tape->cursors, with_chunks, sizeof(key), cursor_compare);
		if (!c) {
			/* A CPU that lost all that it had. */
			c = &tape->cursors[tape->nr_cursors++];
			c->cpu = key.cpu;
		}
		c->end = &end->cpus[i];
	}
	if (tape->nr_cursors > with_chunks)
		qsort(tape->cursors, tape->nr_cursors, sizeof(key), cursor_compare);
}

/* The index is in the order of CPUs: each has a stretch of it. */
int tape_merge_init(struct schedtape_tape *tape)
{
	size_t i, most = tape->ended ? tape->end.nr_cpus : 0;
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
			c->chunk = i;
			c->chunks_first = i;
		}
		c->chunks_end = i + 1;
	}
	if (tape->ended)
		merge_add_ends(tape);
	return 0;
}

void tape_merge_exit(struct schedtape_tape *tape)
{
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++)
		free(tape->cursors[i].memory);
	free(tape->cursors);
	free(tape->heap);
}
