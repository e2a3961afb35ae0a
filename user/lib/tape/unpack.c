// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Unpacks all events of a chunk, in a thread that loads chunks ahead, so that the thread that
 * merges need not do it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "tape/brief.h"
#include "tape/tape.h"
#include "tape/unpack.h"

#define GAPS	2	/* a loss and a pause, which the header of a page does not count */

/* Returns how many events a page has at most: a word with a switch may tell of idle time, too. */
static unsigned int most_events(const struct stape_page_header *header)
{
	unsigned int words = (header->used - sizeof(*header)) / sizeof(uint64_t);

	/* A word has two events at most. */
	return header->events + GAPS + (words - header->events / 2);
}

void tape_unpacked_free(struct tape_unpacked *unpacked)
{
	free(unpacked->briefs);
	free(unpacked->whole);
	free(unpacked->pages);
	*unpacked = (struct tape_unpacked){ 0 };
}

size_t tape_unpacked_bytes(const struct tape_index *index)
{
	return (index->events + (GAPS + 1) * (size_t)index->pages) * sizeof(struct tape_brief);
}

static int add_whole(struct tape_unpacked *unpacked, const struct schedtape_event *ev)
{
	struct schedtape_event *whole;

	whole = schedtape_list_grow(unpacked->whole, unpacked->nr_whole, &unpacked->whole_room,
				    sizeof(*whole));
	if (!whole)
		return -ENOMEM;
	unpacked->whole = whole;
	whole[unpacked->nr_whole++] = *ev;
	return 0;
}

/*
 * Unpacks a page to @at, where there is room for one event more than it should have.  Returns the
 * number of events, or -errno.
 */
static int unpack_page(struct tape_unpacked *unpacked, struct schedtape_page *page,
		       struct tape_brief *at)
{
	unsigned int n, most = most_events(&page->header) + 1, left = most;
	struct schedtape_event ev;
	int ret;

	for (;;) {
		ret = tape_page_briefs(page, at, left, &n, &ev, NULL);
		left -= n;
		at += n;
		if (ret < 0)
			return ret;
		if (!left)
			return -EBADMSG;
		if (!ret)
			return most - left;
		*at++ = (struct tape_brief){ .type = STAPE_EV_NONE, .pid = unpacked->nr_whole };
		left--;
		ret = add_whole(unpacked, &ev);
		if (ret)
			return ret;
	}
}

/* Returns how many events the chunk has at most. */
static size_t count_events(const unsigned char *memory, uint32_t nr_pages)
{
	struct schedtape_page page;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < nr_pages; i++)
		if (!schedtape_page_open(&page, memory + i * (size_t)STAPE_PAGE_SIZE, NULL))
			n += most_events(&page.header) + 1;
	return n;
}

/* Makes room for @n events.  The memory is that of an earlier chunk, if it is large enough. */
static int make_room(struct tape_unpacked *unpacked, size_t n, uint32_t nr_pages)
{
	unpacked->briefs = schedtape_list_renew(unpacked->briefs, n, &unpacked->briefs_room,
						sizeof(*unpacked->briefs));
	unpacked->pages = schedtape_list_renew(unpacked->pages, nr_pages, &unpacked->pages_room,
					       sizeof(*unpacked->pages));
	return unpacked->briefs && unpacked->pages ? 0 : -ENOMEM;
}

void tape_unpack(struct tape_unpacked *unpacked, const unsigned char *memory, uint32_t nr_pages)
{
	struct schedtape_page page;
	size_t n = 0;
	uint32_t i;
	int ret;

	unpacked->nr_pages = 0;
	unpacked->nr_whole = 0;
	if (make_room(unpacked, count_events(memory, nr_pages) + 1, nr_pages))
		return;
	for (i = 0; i < nr_pages; i++) {
		unpacked->pages[i].valid = false;
		if (schedtape_page_open(&page, memory + i * (size_t)STAPE_PAGE_SIZE, NULL))
			continue;
		ret = unpack_page(unpacked, &page, unpacked->briefs + n);
		if (ret == -ENOMEM)
			return;
		if (ret < 0)
			continue;
		unpacked->pages[i] = (struct tape_unpacked_page){
			.first = n, .nr = ret, .valid = true,
		};
		n += ret;
	}
	unpacked->nr_pages = nr_pages;
}
