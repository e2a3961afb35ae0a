/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of a whole chunk.
 */
#ifndef SCHEDTAPE_TAPE_UNPACK_H
#define SCHEDTAPE_TAPE_UNPACK_H

#include "tape/brief.h"

struct tape_index;

/**
 * struct tape_unpacked - the events of a chunk that a thread has loaded ahead
 * @briefs: those of all valid pages in a row
 * @whole: see @whole of struct tape_cursor
 * @pages: one for each page of the chunk
 * @nr_whole, @nr_pages: how many there are; no pages: the chunk is not unpacked
 * @briefs_room, @whole_room, @pages_room: how many there is memory for
 */
struct tape_unpacked {
	struct tape_brief *briefs;
	struct schedtape_event *whole;
	struct tape_unpacked_page *pages;
	size_t nr_whole;
	size_t nr_pages;
	size_t briefs_room;
	size_t whole_room;
	size_t pages_room;
};

/**
 * struct tape_unpacked_page - the events of a page
 * @valid: false: the cursor has to unpack the page, and finds out what is wrong with it
 * @first: number of its first event in @briefs
 * @nr: number of its events
 */
struct tape_unpacked_page {
	bool valid;
	uint32_t first;
	uint32_t nr;
};

/*
 * unpack.c: unpacks the events of a chunk, in place of those of another one.  Without memory for
 * them, the chunk is not unpacked.  tape_unpacked_bytes() returns how much memory its events take.
 */
void tape_unpack(struct tape_unpacked *unpacked, const unsigned char *memory, uint32_t nr_pages);
size_t tape_unpacked_bytes(const struct tape_index *index);
void tape_unpacked_free(struct tape_unpacked *unpacked);

#endif /* SCHEDTAPE_TAPE_UNPACK_H */
