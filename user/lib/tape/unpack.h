/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages of a chunk, and their events.
 */
#ifndef SCHEDTAPE_TAPE_UNPACK_H
#define SCHEDTAPE_TAPE_UNPACK_H

#include <schedtape-page.h>

struct tape_decoder;
struct tape_file;
struct tape_index;

/**
 * struct tape_unpacked - a chunk
 * @memory: its pages, as they were recorded
 * @room: bytes of @memory
 * @briefs: those of all valid pages in a row
 * @details: those of the events that are detailed
 * @pages: one for each page of the chunk
 * @nr_details, @nr_pages: how many there are; no pages: the events are not unpacked
 * @briefs_room, @details_room, @pages_room: how many there is memory for
 */
struct tape_unpacked {
	unsigned char *memory;
	size_t room;
	struct schedtape_brief *briefs;
	struct schedtape_event *details;
	struct tape_unpacked_page *pages;
	size_t nr_details;
	size_t nr_pages;
	size_t briefs_room;
	size_t details_room;
	size_t pages_room;
};

/**
 * struct tape_unpacked_page - the events of a page
 * @valid: false: the cursor has to unpack the page, and finds out what is wrong with it
 * @first: number of its first event in @briefs
 * @nr: number of its events
 * @details: number of its first detailed event in @details
 */
struct tape_unpacked_page {
	bool valid;
	uint32_t first;
	uint32_t nr;
	uint32_t details;
};

/*
 * Reads a chunk in place of another one.  @events: unpack its events, too, if there is memory for
 * them.  -EBADMSG: corrupt, for the reason @why.
 */
int tape_unpack(struct tape_unpacked *unpacked, const struct tape_file *file,
		struct tape_decoder *decoder, const struct tape_index *index, bool events,
		const char **why);
/* Returns how much memory the chunk's events take. */
size_t tape_unpacked_bytes(const struct tape_index *index);
void tape_unpacked_free(struct tape_unpacked *unpacked);

#endif /* SCHEDTAPE_TAPE_UNPACK_H */
