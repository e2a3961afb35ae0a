// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The index of a tape: the places of its chunks, and of all other records.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "tape/bytes.h"
#include "tape/format.h"
#include "tape/index.h"
#include "tape/records.h"
#include "tape/tape.h"
#include "tape/waiting.h"

/* The most events of a page: a word may have two. */
#define TAPE_PAGE_EVENTS \
	(2 * (STAPE_PAGE_SIZE - sizeof(struct stape_page_header)) / sizeof(uint64_t))

static struct tape_index *index_new(struct schedtape_tape *tape)
{
	struct tape_index *index;

	index = schedtape_list_grow(tape->index, tape->nr_index, &tape->index_capacity,
				    sizeof(*index));
	if (!index)
		return NULL;
	tape->index = index;
	return &index[tape->nr_index++];
}

int tape_index_other(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head)
{
	struct tape_other *others;

	/* Nobody goes back in a pipe. */
	if (file->pipe)
		return 0;
	others = schedtape_list_grow(tape->others, tape->nr_others, &tape->others_capacity,
				     sizeof(*others));
	if (!others)
		return -ENOMEM;
	tape->others = others;
	others[tape->nr_others++] = (struct tape_other) {
		.offset = head->offset,
		.file = file - tape->files,
		.type = head->type,
	};
	return 0;
}

/* Are the values of a chunk's header possible? */
static bool chunk_plausible(const struct tape_head *head, const struct tape_index *index)
{
	bool cpu = head->type == TAPE_CHUNK ? index->cpu < TAPE_MAX_CPUS :
					      index->cpu == STAPE_CPU_NONE;

	return !tape_head_limits(head) && index->pages && index->pages <= TAPE_MAX_PAGES &&
	       head->raw == index->pages * STAPE_PAGE_SIZE && cpu &&
	       index->events <= index->pages * TAPE_PAGE_EVENTS && index->time <= index->end;
}

int tape_index_chunk(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, bool damaged, const char **why)
{
	struct tape_index index, *to;
	struct tape_chunk chunk;
	ssize_t got;

	*why = "its header is impossible";
	if (head->extra < sizeof(chunk))
		return -EBADMSG;
	got = tape_file_read(file, &chunk, sizeof(chunk),
			     head->offset + sizeof(struct tape_record));
	if (got < (ssize_t)sizeof(chunk))
		return got < 0 ? got : -EBADMSG;

	index = (struct tape_index) {
		.offset = head->offset,
		.cpu = le32toh(chunk.cpu),
		.pages = le32toh(chunk.pages),
		.seq = le64toh(chunk.seq),
		.time = le64toh(chunk.time),
		.end = le64toh(chunk.end),
		.events = le64toh(chunk.events),
		.lost = le64toh(chunk.lost),
		.file = file - tape->files,
		.damaged = damaged,
	};
	if (!chunk_plausible(head, &index))
		return -EBADMSG;
	if (file->pipe)
		return tape_waiting_add(tape, file, head, &index);
	to = index_new(tape);
	if (!to)
		return -ENOMEM;
	*to = index;
	return 0;
}

static int index_compare(const void *one, const void *two)
{
	const struct tape_index *a = one, *b = two;

	if (a->cpu != b->cpu)
		return tape_cpu_compare(a->cpu, b->cpu);
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Sorts chunks by CPU, then by place in the files. */
void tape_index_sort(struct schedtape_tape *tape)
{
	if (tape->nr_index)
		qsort(tape->index, tape->nr_index, sizeof(*tape->index), index_compare);
}

uint64_t schedtape_tape_chunks(const struct schedtape_tape *tape)
{
	uint64_t chunks = tape->stream ? tape->stream->chunks : 0;
	size_t i;

	for (i = 0; i < tape->nr_index; i++)
		chunks += !tape->index[i].damaged;
	return chunks;
}

uint64_t schedtape_tape_pages(const struct schedtape_tape *tape)
{
	uint64_t pages = tape->stream ? tape->stream->pages : 0;
	size_t i;

	for (i = 0; i < tape->nr_index; i++)
		if (!tape->index[i].damaged)
			pages += tape->index[i].pages;
	return pages;
}
