// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chunks of a pipe that have come before the merge needs them.  They are kept as they are
 * stored, because their pages take several times as much memory.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tape/bytes.h"
#include "tape/content.h"
#include "tape/cursors.h"
#include "tape/format.h"
#include "tape/losses.h"
#include "tape/meta.h"
#include "tape/records.h"
#include "tape/tape.h"
#include "tape/waiting.h"

#define FIRST_CURSORS	16

/* -- cursors --------------------------------------------------------------- */

/* Makes room for one more cursor, also in the heap, which points to cursors. */
static int cursors_grow(struct schedtape_tape *tape)
{
	size_t i, room = tape->cursors_room ? 2 * tape->cursors_room : FIRST_CURSORS;
	struct tape_cursor *cursors;
	struct tape_heap *heap;

	if (tape->nr_cursors < tape->cursors_room)
		return 0;
	heap = reallocarray(tape->heap, room, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	tape->heap = heap;
	cursors = calloc(room, sizeof(*cursors));
	if (!cursors)
		return -ENOMEM;
	for (i = 0; i < tape->nr_cursors; i++)
		cursors[i] = tape->cursors[i];
	for (i = 0; i < tape->nr_heap; i++)
		heap[i].cursor = cursors + (heap[i].cursor - tape->cursors);
	free(tape->cursors);
	tape->cursors = cursors;
	tape->cursors_room = room;
	return 0;
}

struct tape_cursor *tape_waiting_cursor(struct schedtape_tape *tape, uint32_t cpu)
{
	struct tape_stream *stream = tape->stream;
	struct tape_cursor *c;
	size_t i;

	/* Most chunks are of the CPU behind that of the last one. */
	for (i = 0; i < tape->nr_cursors; i++) {
		if (++stream->found >= tape->nr_cursors)
			stream->found = 0;
		if (tape->cursors[stream->found].cpu == cpu)
			return &tape->cursors[stream->found];
	}
	if (cursors_grow(tape))
		return NULL;
	stream->found = tape->nr_cursors++;
	c = &tape->cursors[stream->found];
	c->cpu = cpu;
	c->live = true;
	c->any_first = tape_is_overwritten(tape) || tape_is_later_part(tape);
	return c;
}

/* -- chunks ---------------------------------------------------------------- */

static void count_chunk(struct tape_stream *stream, const struct tape_index *index)
{
	stream->chunks++;
	stream->pages += index->pages;
	if (index->time < stream->first)
		stream->first = index->time;
	if (index->end > stream->last)
		stream->last = index->end;
}

int tape_waiting_add(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, const struct tape_index *index)
{
	size_t bytes = sizeof(struct tape_record) + (size_t)head->extra + head->stored;
	struct tape_cursor *c = tape_waiting_cursor(tape, index->cpu);
	struct tape_waiting *waiting;
	ssize_t got;

	waiting = c ? malloc(sizeof(*waiting) + bytes) : NULL;
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct tape_waiting) { .index = *index, .head = *head };
	got = tape_file_read(file, waiting->record, bytes, head->offset);
	if (got != (ssize_t)bytes) {
		free(waiting);
		return got < 0 ? got : -EIO;
	}
	if (c->waiting)
		c->waiting_last->next = waiting;
	else
		c->waiting = waiting;
	c->waiting_last = waiting;
	tape->stream->waiting += bytes;
	count_chunk(tape->stream, index);
	return 0;
}

/* Gives the cursor memory for pages.  A small tape must not need much for all CPUs together. */
static int cursor_reserve(struct schedtape_tape *tape, struct tape_cursor *c, size_t bytes)
{
	struct tape_stream *stream = tape->stream;

	if (bytes <= c->memory_bytes)
		return 0;
	tape_waiting_let_go(tape, c);
	if (stream->loaded + bytes > tape_room(schedtape_tape_bytes(tape)))
		return -E2BIG;
	c->memory = malloc(bytes);
	if (!c->memory)
		return -ENOMEM;
	c->memory_bytes = bytes;
	stream->loaded += bytes;
	return 0;
}

int tape_waiting_load(struct schedtape_tape *tape, struct tape_cursor *c, const char **why)
{
	const struct tape_waiting *waiting = c->waiting;
	int ret = cursor_reserve(tape, c, waiting->head.raw);

	if (ret)
		return ret;
	return tape_payload_unpack(&tape->decoder, &waiting->head, waiting->record, c->memory,
				   why);
}

void tape_waiting_let_go(struct schedtape_tape *tape, struct tape_cursor *c)
{
	free(c->memory);
	c->memory = NULL;
	tape->stream->loaded -= c->memory_bytes;
	c->memory_bytes = 0;
}

void tape_waiting_drop(struct schedtape_tape *tape, struct tape_cursor *c)
{
	struct tape_waiting *waiting = c->waiting;

	tape_sums_add(&c->sums, &waiting->index);
	tape->stream->waiting -= sizeof(struct tape_record) + (size_t)waiting->head.extra +
				 waiting->head.stored;
	c->waiting = waiting->next;
	free(waiting);
}

void tape_waiting_exit(struct schedtape_tape *tape)
{
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++)
		while (tape->cursors[i].waiting)
			tape_waiting_drop(tape, &tape->cursors[i]);
}
