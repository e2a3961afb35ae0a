// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Goes over the events of one CPU, or over the descriptions, with one chunk in memory.
 *
 * Damage affects as few events as possible.  A corrupt chunk is replaced by a loss.  If
 * a page contradicts itself although its checksum is right, it was written like that:
 * the call returns an error, and the next call continues with the next page.
 *
 * All times are of the session's clock.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tape/bytes.h"
#include "tape/cursor.h"
#include "tape/cursors.h"
#include "tape/load.h"
#include "tape/losses.h"
#include "tape/page.h"
#include "tape/tape.h"
#include "tape/unpack.h"
#include "tape/waiting.h"

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

/**
 * struct tape_batch - the next events of a page
 * @briefs: the last one may be that of @details
 * @details: an event that is detailed
 * @why: the error behind them
 */
struct tape_batch {
	struct schedtape_brief briefs[TAPE_BATCH + 1];
	struct schedtape_event details;
	struct schedtape_error why;
};

/* -- losses ---------------------------------------------------------------- */

static void cursor_lose(struct tape_cursor *c, uint64_t lost, uint64_t first, uint64_t last)
{
	c->loss = (struct schedtape_event) {
		.cpu = c->cpu,
		.type = SCHEDTAPE_EV_LOST,
		.detailed = true,
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
	c->brief = NULL;
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

static int cursor_load(struct schedtape_tape *tape, struct tape_cursor *c, const char **why)
{
	return c->live ? tape_waiting_load(tape, c, why) : tape_load(tape, c, why);
}

static void cursor_let_go(struct schedtape_tape *tape, struct tape_cursor *c)
{
	if (c->live) {
		tape_waiting_let_go(tape, c);
		return;
	}
	tape_load_let_go(c);
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
			ret = cursor_load(tape, c, &why);
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
			if (tape->ahead_of_caller)
				return TAPE_NOT_AHEAD;
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

/* Takes the page's events if a thread has unpacked them. */
static void cursor_begin_page(struct tape_cursor *c)
{
	const struct tape_unpacked *unpacked = c->unpacked;
	const struct tape_unpacked_page *page;

	c->page_open = true;
	c->page_left = true;
	if (!unpacked)
		return;
	page = &unpacked->pages[c->pages_read - 1];
	if (!page->valid)
		return;
	c->page_left = false;
	c->next = unpacked->briefs + page->first;
	c->last = c->next + page->nr;
	c->details = unpacked->details + page->details;
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
	cursor_begin_page(c);

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

/* -- the events of a page -------------------------------------------------- */

/* Takes the next event that is unpacked. */
static void cursor_take(struct tape_cursor *c)
{
	c->brief = c->next++;
	if (!c->brief->detailed)
		return;
	c->ev = *c->details++;
	c->brief = NULL;
	/* Only a loss can have a time before that of the page. */
	if (c->ev.time < c->time)
		c->ev.time = c->time;
}

/* Unpacks the next events of the page.  Returns 0 or -ENOMEM. */
static int cursor_unpack(struct tape_cursor *c)
{
	struct tape_batch *batch = c->batch ? c->batch : malloc(sizeof(*batch));
	unsigned int n;
	int ret;

	if (!batch)
		return -ENOMEM;
	c->batch = batch;
	ret = tape_page_briefs(&c->page, batch->briefs, TAPE_BATCH, &n, &batch->details,
			       &batch->why);
	c->page_left = ret > 0 || (!ret && n == TAPE_BATCH);
	c->failed = ret < 0;
	if (ret > 0)
		batch->briefs[n++] = batch->details.brief;
	c->next = batch->briefs;
	c->last = batch->briefs + n;
	c->details = &batch->details;
	return 0;
}

/* Returns 0, or -EBADMSG if the rest of the page is corrupt. */
static int cursor_close_page(const struct schedtape_tape *tape, struct tape_cursor *c,
			     struct schedtape_error *err)
{
	bool failed = c->failed;

	c->page_open = false;
	c->failed = false;
	c->time = failed ? c->page.time : c->page.header.end;
	return failed ? cursor_page_error(tape, c, c->batch->why.text, err) : 0;
}

int tape_cursor_next(struct schedtape_tape *tape, struct tape_cursor *c,
		     struct schedtape_error *err)
{
	int ret;

	for (;;) {
		while (c->page_open && c->next == c->last) {
			ret = c->page_left ? cursor_unpack(c) : cursor_close_page(tape, c, err);
			if (ret)
				return ret;
		}
		if (c->page_open) {
			cursor_take(c);
			return 1;
		}
		ret = cursor_next_slow(tape, c, err);
		if (ret || !c->page_open)
			return ret;
	}
}

/* Goes back to the first chunk that reaches into the window. */
void tape_cursor_rewind(const struct schedtape_tape *tape, struct tape_cursor *c)
{
	const struct tape_index *index;

	c->pages = 0;
	c->pages_read = 0;
	c->page_open = false;
	c->failed = false;
	c->next = NULL;
	c->last = NULL;
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

void tape_cursor_exit(struct tape_cursor *c)
{
	tape_load_let_go(c);
	free(c->memory);
	free(c->batch);
}
