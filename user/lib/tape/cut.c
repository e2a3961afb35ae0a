// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Leaves out the first events of a page.  Each event's time is counted from the event before it, so
 * the page's base time becomes that of the last event that is left out.
 */
#include <byteswap.h>
#include <errno.h>
#include <string.h>

#include <schedtape-page.h>

#include "tape/page.h"

#define WORD	sizeof(uint64_t)

static void put_word(const struct schedtape_page *page, unsigned char *data, uint32_t at,
		     uint64_t word)
{
	if (page->swap)
		word = bswap_64(word);
	memcpy(data + at, &word, sizeof(word));
}

/* A wake is two events in one word.  Makes that word, the last one, the second of them. */
static void split_wake(struct schedtape_page *page, unsigned char *data)
{
	uint64_t word, step;

	page->at -= WORD;
	word = page_word(page, page->at);
	step = page_wakeup_step(word);
	put_word(page, data, page->at, (uint64_t)STAPE_EV_WAKEUP << STAPE_TYPE_SHIFT |
		 step << STAPE_DELTA_SHIFT |
		 (word & (uint64_t)STAPE_PID_MASK << STAPE_PID_SHIFT) |
		 (word & STAPE_WAKE_CPU_MASK));
}

/* Removes the events that @page has returned. */
static void remove_events(struct schedtape_page *page, unsigned char *data)
{
	struct stape_page_header header = page->header;

	if (page->wakeup_pending)
		split_wake(page, data);
	header.used = sizeof(header) + page->header.used - page->at;
	header.events -= page->events;
	header.time = page->time;
	header.curr = page->curr;
	header.curr_kind = page->curr_kind;
	memmove(data + sizeof(header), data + page->at, page->header.used - page->at);
	tape_page_set_header(data, &header);
}

int tape_page_cut(void *data, uint64_t time)
{
	struct schedtape_page page, before;
	struct schedtape_event ev;
	int ret;

	ret = schedtape_page_open(&page, data, NULL);
	if (ret)
		return ret;
	/* It may have a loss, which stays. */
	page.lost_pending = false;
	page.pause_pending = false;
	do {
		before = page;
		ret = schedtape_page_next(&page, &ev, NULL);
	} while (ret > 0 && ev.time < time);
	if (ret < 0)
		return ret;
	if (before.events)
		remove_events(&before, data);
	return before.events;
}

void tape_page_lose(void *page, uint64_t lost, uint64_t first, uint64_t last)
{
	struct stape_page_header header;

	if (!lost || !tape_page_header(&header, page))
		return;
	if ((header.lost || header.flags & STAPE_PAGE_PAUSED) && header.lost_first < first)
		first = header.lost_first;
	if ((header.lost || header.flags & STAPE_PAGE_PAUSED) && header.lost_last > last)
		last = header.lost_last;
	header.lost += lost;
	header.lost_first = first;
	header.lost_last = last;
	tape_page_set_header(page, &header);
}
