// SPDX-License-Identifier: GPL-2.0-only
#include "recover/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tape/format.h"

#define BLOCK		((size_t)64)	/* pages that a sink gets at once, at most */
#define MAX_PAGES	65536		/* in a ring: the module's own limit */
#define HEADER		((uint32_t)sizeof(struct stape_page_header))
#define WORD		((uint32_t)sizeof(uint64_t))

/**
 * struct walk - a ring that is being read
 * @list: the first valid one of the pages that list its pages
 * @addresses: of all @pages of its pages; 0: not known
 * @producer: the module's half of the ring
 * @position: where in the open page the next event goes; STAPE_PAGE_SIZE: the page is full, or the
 *	module has not yet written the page's first event
 * @block: @nr pages for the sink
 */
struct walk {
	const struct memory *memory;
	const struct ring_sink *sink;
	struct ring_counts *counts;
	struct stape_dump_ring list;
	uint64_t *addresses;
	uint32_t pages;
	struct stape_ring_producer producer;
	uint32_t position;
	unsigned char *block;
	size_t nr;
};

/* -- where the pages are --------------------------------------------------- */

static bool read_list(const struct memory *memory, const struct found_page *page,
		      struct stape_dump_ring *list)
{
	if (!memory_read(memory, page->address, list, sizeof(*list)))
		return false;
	return list->pages && list->pages <= MAX_PAGES && !(list->pages & (list->pages - 1)) &&
	       list->listed <= STAPE_DUMP_LISTED && list->first < list->pages &&
	       list->listed <= list->pages - list->first;
}

/* Reads the first valid list and the producer that it names.  Returns 0 or -EBADMSG. */
static int read_producer(struct walk *walk, const struct found_ring *ring)
{
	size_t i = 0;

	while (i < ring->nr_lists && !read_list(walk->memory, &ring->lists[i], &walk->list))
		i++;
	if (i == ring->nr_lists ||
	    !memory_read(walk->memory, walk->list.producer, &walk->producer,
			 sizeof(walk->producer)))
		return -EBADMSG;
	walk->pages = walk->list.pages;
	return 0;
}

/* Reads all lists.  Without one of them its pages are missing. */
static void read_lists(struct walk *walk, const struct found_ring *ring)
{
	struct stape_dump_ring list;
	size_t i;

	for (i = 0; i < ring->nr_lists; i++)
		if (read_list(walk->memory, &ring->lists[i], &list) && list.pages == walk->pages)
			memcpy(walk->addresses + list.first, list.addresses,
			       list.listed * sizeof(*walk->addresses));
}

static void read_position(struct walk *walk)
{
	uint64_t position;

	walk->position = STAPE_PAGE_SIZE;
	if (memory_read(walk->memory, walk->list.position, &position, sizeof(position)) &&
	    position % STAPE_PAGE_SIZE)
		walk->position = position % STAPE_PAGE_SIZE;
}

static int begin(struct walk *walk, const struct found_ring *ring, struct schedtape_error *err)
{
	if (read_producer(walk, ring)) {
		schedtape_fail(err, -EBADMSG, "the pages that describe the ring are corrupt, or "
			       "not in the dump");
		return -EBADMSG;
	}
	walk->block = malloc(BLOCK * STAPE_PAGE_SIZE);
	walk->addresses = calloc(walk->pages, sizeof(*walk->addresses));
	if (!walk->block || !walk->addresses) {
		schedtape_fail(err, -ENOMEM, "out of memory");
		return -ENOMEM;
	}
	read_lists(walk, ring);
	read_position(walk);
	return 0;
}

bool ring_is_readable(const struct memory *memory, const struct found_ring *ring)
{
	struct walk walk = { .memory = memory };

	return !read_producer(&walk, ring);
}

/* -- a page ---------------------------------------------------------------- */

/*
 * Cuts a page before its first invalid word: sets the header's @used, @events and @end, and clears
 * the rest.  @data: a page whose header is valid but for these.  @used: bytes that may be valid.
 * @end: the last event's time at most.  Returns false if no event is left.
 */
static bool cut_page(unsigned char *data, uint32_t used, uint64_t end)
{
	struct stape_page_header h;
	struct schedtape_event ev;
	struct schedtape_page page;
	uint32_t good = HEADER, events = 0;

	memcpy(&h, data, sizeof(h));
	h.used = used / WORD * WORD;
	if (h.used < HEADER || h.used > STAPE_PAGE_SIZE)
		return false;
	/* As many as fit: how many there are is found out here. */
	h.events = (h.used - HEADER) / WORD * 2;
	h.end = end;
	memcpy(data, &h, sizeof(h));
	if (schedtape_page_open(&page, data, NULL))
		return false;
	h.end = h.time;
	while (schedtape_page_next(&page, &ev, NULL) == 1) {
		/* A loss comes before the first word, and both events of a word count, or none. */
		if (page.wakeup_pending || page.events == events)
			continue;
		good = page.at;
		events = page.events;
		h.end = page.time;
	}
	h.used = good;
	h.events = events;
	memcpy(data, &h, sizeof(h));
	memset(data + good, 0, STAPE_PAGE_SIZE - good);
	return events;
}

/* Returns true if all of a page's events are as the header says. */
static bool is_whole(const unsigned char *data)
{
	struct schedtape_event ev;
	struct schedtape_page page;
	int ret;

	if (schedtape_page_open(&page, data, NULL))
		return false;
	while ((ret = schedtape_page_next(&page, &ev, NULL)) == 1)
		;
	return !ret;
}

/*
 * Returns true if an open page that may be full has the events of the page before it in its slot.
 * The module crashed between the page's number and its first event then: the header's counts are
 * still the old ones, and right.  A full page has other events, whose number is only by chance the
 * same.
 */
static bool is_unbegun(const unsigned char *data)
{
	unsigned char copy[STAPE_PAGE_SIZE];
	struct stape_page_header h;

	memcpy(copy, data, sizeof(copy));
	memcpy(&h, copy, sizeof(h));
	h.end = UINT64_MAX;
	memcpy(copy, &h, sizeof(h));
	return is_whole(copy);
}

/* Reads the open page: its header has no counts yet.  Returns false if it has no valid event. */
static bool read_open_page(struct walk *walk, unsigned char *data)
{
	if ((walk->position == STAPE_PAGE_SIZE && is_unbegun(data)) ||
	    !cut_page(data, walk->position, UINT64_MAX))
		return false;
	walk->counts->cut++;
	return true;
}

/*
 * Reads a published page.  Returns false if it has no valid event, or if the module was about to
 * open its slot's next page, and had set that page's time, but not its number.
 */
static bool read_published_page(struct walk *walk, unsigned char *data)
{
	struct stape_page_header h;

	if (is_whole(data))
		return true;
	memcpy(&h, data, sizeof(h));
	if (h.time > h.end || !cut_page(data, h.used, h.end))
		return false;
	walk->counts->cut++;
	return true;
}

/* Reads page @seq.  Returns false if it has no valid event. */
static bool read_page(struct walk *walk, uint64_t seq, unsigned char *data)
{
	uint64_t address = walk->addresses[seq & (walk->pages - 1)];
	struct stape_page_header h;

	if (!address || !memory_read(walk->memory, address, data, STAPE_PAGE_SIZE))
		return false;
	memcpy(&h, data, sizeof(h));
	if (h.magic != STAPE_PAGE_MAGIC || h.cpu != walk->counts->cpu.cpu || h.seq != seq ||
	    (walk->counts->pages && h.time < walk->counts->last))
		return false;
	return seq == walk->producer.head ? read_open_page(walk, data) :
					    read_published_page(walk, data);
}

/* -- the ring -------------------------------------------------------------- */

static int put_block(struct walk *walk, struct schedtape_error *err)
{
	size_t n = walk->nr;

	walk->nr = 0;
	return n ? walk->sink->put(walk->sink->arg, walk->block, n, err) : 0;
}

static void count_page(struct ring_counts *counts, const unsigned char *data)
{
	struct stape_page_header h;

	memcpy(&h, data, sizeof(h));
	if (!counts->pages++) {
		counts->begins = h.seq;
		counts->first = h.time;
	}
	counts->last = h.end;
	counts->cpu.events += h.events;
}

/* The slot of the open page also had the oldest one: one of the two is missing, or both. */
static bool may_be_absent(const struct walk *walk, uint64_t seq)
{
	uint64_t head = walk->producer.head;

	return seq == head || (head >= walk->pages && seq == head - walk->pages);
}

static int put_page(struct walk *walk, uint64_t seq, struct schedtape_error *err)
{
	unsigned char *data = walk->block + walk->nr * STAPE_PAGE_SIZE;

	if (read_page(walk, seq, data)) {
		count_page(walk->counts, data);
		walk->nr++;
		return walk->nr == BLOCK ? put_block(walk, err) : 0;
	}
	if (!may_be_absent(walk, seq))
		walk->counts->missing++;
	/* What a sink gets at once follows each other. */
	return put_block(walk, err);
}

static int put_pages(struct walk *walk, struct schedtape_error *err)
{
	uint64_t head = walk->producer.head;
	uint64_t n = head < walk->pages ? head : walk->pages, i;
	int ret = 0;

	for (i = 0; i <= n && !ret; i++)
		ret = put_page(walk, head - n + i, err);
	return ret ? ret : put_block(walk, err);
}

/* Takes over what the ring itself has counted, as far as it can be true. */
static void count_ring(const struct stape_ring_producer *producer, struct ring_counts *counts)
{
	struct schedtape_cpu *cpu = &counts->cpu;

	if (counts->begins && producer->events > cpu->events)
		cpu->overwritten = producer->events - cpu->events;
	if (producer->lost && producer->lost_first <= producer->lost_last) {
		cpu->lost = producer->lost;
		cpu->lost_first = producer->lost_first;
		cpu->lost_last = producer->lost_last;
	}
}

int ring_read(const struct memory *memory, const struct found_ring *ring,
	      const struct ring_sink *sink, struct ring_counts *counts,
	      struct schedtape_error *err)
{
	struct walk walk = { .memory = memory, .sink = sink, .counts = counts };
	int ret;

	*counts = (struct ring_counts){ .cpu.cpu = ring->cpu };
	ret = begin(&walk, ring, err);
	if (!ret) {
		ret = put_pages(&walk, err);
		count_ring(&walk.producer, counts);
	}
	free(walk.addresses);
	free(walk.block);
	return ret;
}
