// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes pages of a chunk's record, and briefs of their events.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "tape/page.h"
#include "tape/records.h"
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
	free(unpacked->memory);
	free(unpacked->briefs);
	free(unpacked->details);
	free(unpacked->pages);
	*unpacked = (struct tape_unpacked){ 0 };
}

size_t tape_unpacked_bytes(const struct tape_index *index)
{
	return (index->events + (GAPS + 1) * (size_t)index->pages) * sizeof(struct schedtape_brief);
}

static int add_detailed(struct tape_unpacked *unpacked, const struct schedtape_event *ev)
{
	struct schedtape_event *details;

	details = schedtape_list_grow(unpacked->details, unpacked->nr_details,
				      &unpacked->details_room, sizeof(*details));
	if (!details)
		return -ENOMEM;
	unpacked->details = details;
	details[unpacked->nr_details++] = *ev;
	return 0;
}

/*
 * Unpacks a page to @at, where there is room for one event more than it should have.  Returns the
 * number of events, or -errno.
 */
static int unpack_page(struct tape_unpacked *unpacked, struct schedtape_page *page,
		       struct schedtape_brief *at)
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
		*at++ = ev.brief;
		left--;
		ret = add_detailed(unpacked, &ev);
		if (ret)
			return ret;
	}
}

static const unsigned char *page_at(const struct tape_unpacked *unpacked, uint32_t i)
{
	return unpacked->memory + i * (size_t)STAPE_PAGE_SIZE;
}

/* Returns how many events the pages have at most. */
static size_t count_events(const struct tape_unpacked *unpacked, uint32_t nr_pages)
{
	struct schedtape_page page;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < nr_pages; i++)
		if (!schedtape_page_open(&page, page_at(unpacked, i), NULL))
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

/*
 * Unpacks the events, in place of those of another chunk.  Without memory for them, the cursor does
 * so, some at a time.
 */
static void unpack_events(struct tape_unpacked *unpacked, uint32_t nr_pages)
{
	struct schedtape_page page;
	size_t n = 0, details;
	uint32_t i;
	int ret;

	unpacked->nr_details = 0;
	if (make_room(unpacked, count_events(unpacked, nr_pages) + 1, nr_pages))
		return;
	for (i = 0; i < nr_pages; i++) {
		unpacked->pages[i].valid = false;
		if (schedtape_page_open(&page, page_at(unpacked, i), NULL))
			continue;
		details = unpacked->nr_details;
		ret = unpack_page(unpacked, &page, unpacked->briefs + n);
		if (ret == -ENOMEM)
			return;
		if (ret < 0)
			continue;
		unpacked->pages[i] = (struct tape_unpacked_page){
			.first = n, .nr = ret, .details = details, .valid = true,
		};
		n += ret;
	}
	unpacked->nr_pages = nr_pages;
}

static int read_pages(struct tape_unpacked *unpacked, const struct tape_file *file,
		      struct tape_decoder *decoder, const struct tape_index *index,
		      const char **why)
{
	struct tape_head head;
	int ret;

	ret = tape_head_read(file, index->offset, &head, why);
	if (ret)
		return ret;
	if (head.raw != tape_index_bytes(index)) {
		*why = "the file has changed";
		return -EBADMSG;
	}
	unpacked->memory = schedtape_list_renew(unpacked->memory, head.raw, &unpacked->room, 1);
	if (!unpacked->memory)
		return -ENOMEM;
	return tape_payload_read(file, decoder, &head, unpacked->memory, why);
}

int tape_unpack(struct tape_unpacked *unpacked, const struct tape_file *file,
		struct tape_decoder *decoder, const struct tape_index *index, bool events,
		const char **why)
{
	int ret;

	unpacked->nr_pages = 0;
	ret = read_pages(unpacked, file, decoder, index, why);
	if (!ret && events)
		unpack_events(unpacked, index->pages);
	return ret;
}
