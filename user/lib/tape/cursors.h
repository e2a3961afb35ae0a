/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cursors of a tape, one for each CPU: the merge has them, and what it calls.
 */
#ifndef SCHEDTAPE_TAPE_CURSORS_H
#define SCHEDTAPE_TAPE_CURSORS_H

#include <schedtape-page.h>

struct schedtape_cpu;
struct tape_load;
struct tape_unpacked;
struct tape_waiting;

/**
 * struct tape_sums - sums over the chunks of a CPU, in their order
 * @events, @lost: of valid chunks
 * @claimed: events and losses of corrupt chunks
 * @end: end of the last chunk
 * @started: there is a valid chunk
 * @first_seq, @first_time: of the first valid chunk
 * @seq, @time: the end of the last valid chunk
 * @gap_first, @gap_last: from the first place behind the first chunk where chunks are missing or
 *	corrupt to the last one; @gap_last 0: there is none
 * @lost_first, @lost_last: the same of losses that valid chunks count, with @lost
 */
struct tape_sums {
	uint64_t events;
	uint64_t lost;
	uint64_t claimed;
	uint64_t end;
	bool started;
	uint64_t first_seq;
	uint64_t first_time;
	uint64_t seq;
	uint64_t time;
	uint64_t gap_first;
	uint64_t gap_last;
	uint64_t lost_first;
	uint64_t lost_last;
};

/**
 * struct tape_cursor - position in the stream of one CPU, or in the descriptions
 * @chunk: index of the next chunk to load
 * @chunks_first: index of this CPU's first chunk
 * @chunks_end: index behind this CPU's last chunk
 * @load: the chunk that tape_load() has loaded, with its memory; NULL: there is none
 * @memory: the pages of one chunk: those of @load, or of a pipe memory of its own
 * @memory_bytes: of a pipe: its size
 * @unpacked: the events of these pages; NULL: the cursor has to unpack them
 * @page_open: @page is not at its end
 * @page_left: it has more events than those up to @last
 * @failed: the rest of it is corrupt, for the reason in @batch
 * @next, @last: the next events, from @next to before @last
 * @details: the next of them that is detailed
 * @batch: memory for a few events
 * @started: @seq is valid
 * @seq: number of the page that should come next
 * @time: no later event may be earlier than this
 * @loss: events of a corrupt chunk, to be returned as a loss before the next page;
 *	type 0: none
 * @hole: pages are missing before the next one, or before @loss
 * @end: this CPU's counts in the end record, or computed from the chunks
 * @end_returned: no loss behind the last chunk is left to return
 * @missing: events that @end counts, as recorded or lost, but no chunk does
 * @behind: such events in losses behind the last chunk; not part of @missing
 * @holes: number of places in its stream where pages are missing
 * @queued: it is in the heap
 * @waiting, @waiting_last: of a pipe: its chunks that have come and are not loaded yet
 * @sums: of a pipe: the chunks before these
 * @live: it is of a pipe: how much is missing is known only at the end
 * @any_first: its stream may begin with any page, because an earlier tape has those before that;
 *	of a pipe also because its ring was overwritten
 * @counted: of a pipe: what is missing has been counted
 * @guessed: of a pipe: no end record has this CPU, so that @end is made from @sums
 * @brief: the event that the merge looks at, NULL: it is @ev, which is detailed
 *
 * All times are of the session's clock.
 */
struct tape_cursor {
	uint32_t cpu;
	size_t chunk;
	size_t chunks_first;
	size_t chunks_end;
	struct tape_load *load;
	unsigned char *memory;
	size_t memory_bytes;
	const struct tape_unpacked *unpacked;
	uint32_t pages;
	uint32_t pages_read;
	uint32_t file;
	uint64_t offset;
	bool page_open;
	bool page_left;
	bool failed;
	const struct schedtape_brief *next;
	const struct schedtape_brief *last;
	const struct schedtape_event *details;
	struct tape_batch *batch;
	bool started;
	bool end_returned;
	bool hole;
	uint64_t missing;
	uint64_t behind;
	uint64_t holes;
	uint64_t seq;
	uint64_t time;
	struct schedtape_page page;
	struct schedtape_event loss;
	const struct schedtape_cpu *end;
	bool queued;
	bool live;
	bool any_first;
	bool counted;
	bool guessed;
	struct tape_waiting *waiting;
	struct tape_waiting *waiting_last;
	struct tape_sums sums;
	const struct schedtape_brief *brief;
	struct schedtape_event ev;
};

/* Returns the time of the event that the merge looks at. */
static inline uint64_t tape_cursor_time(const struct tape_cursor *c)
{
	return c->brief ? c->brief->time : c->ev.time;
}

struct tape_heap {
	uint64_t time;
	struct tape_cursor *cursor;
};

#endif /* SCHEDTAPE_TAPE_CURSORS_H */
