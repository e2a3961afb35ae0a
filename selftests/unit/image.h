/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine's memory with sessions in it, as Documentation/dump-format.rst describes them.
 *
 * Page 0 is a session, page 1 lists the ring of CPU 0, page 2 that of the descriptions.  Page 3 has
 * both producers and positions.  Pages 4 to 7 are the ring of CPU 0, 8 to 11 the descriptions.  So
 * all of it is smaller than a fuzzer's largest input.
 */
#ifndef SELFTESTS_IMAGE_H
#define SELFTESTS_IMAGE_H

#include <string.h>

#include <schedtape/dump.h>
#include <recover/internal.h>

#include "maker.h"

#define IMAGE_PAGES	32
#define IMAGE_MADE	12	/* pages that image_make() makes */
#define IMAGE_RING	4	/* pages in a ring */
/* Bytes in page 3 from one ring's producer to the other's.  Positions are behind the producers. */
#define IMAGE_PRODUCER	128
#define IMAGE_POSITION	64
#define IMAGE_LOAD	77
#define IMAGE_LOADED	1000

/**
 * struct image - memory
 * @missing: page that is not in the dump; 0: none
 */
struct image {
	unsigned char *data;
	size_t bytes;
	size_t missing;
};

static inline bool image_read(void *arg, uint64_t address, void *to, size_t bytes)
{
	const struct image *image = arg;

	if (address > image->bytes || bytes > image->bytes - address ||
	    (image->missing && address / STAPE_PAGE_SIZE == image->missing))
		return false;
	memcpy(to, image->data + address, bytes);
	return true;
}

static inline bool image_next(void *arg, uint64_t *address)
{
	const struct image *image = arg;

	return *address < image->bytes;
}

static inline struct memory image_memory(struct image *image)
{
	return (struct memory){ .read = image_read, .next = image_next, .arg = image };
}

static inline void *image_page(struct image *image, size_t n)
{
	return image->data + n * STAPE_PAGE_SIZE;
}

static inline struct stape_dump_header image_header(size_t page, uint32_t kind, uint32_t session)
{
	return (struct stape_dump_header){
		.magic = { STAPE_DUMP_MAGIC_0, STAPE_DUMP_MAGIC_1 },
		.version = STAPE_DUMP_VERSION,
		.kind = kind,
		.address = page * STAPE_PAGE_SIZE,
		.load = IMAGE_LOAD,
		.loaded = IMAGE_LOADED,
		.session = session,
	};
}

/* With CLOCK_MONOTONIC. */
static inline struct stape_dump_session *image_session(struct image *image, size_t page,
						       uint32_t session)
{
	struct stape_dump_session *s = image_page(image, page);

	*s = (struct stape_dump_session){
		.header = image_header(page, STAPE_DUMP_SESSION, session),
		.wire_version = STAPE_WIRE_VERSION,
		.nr_cpus = 2,
		.clock = STAPE_CLOCK_MONO,
		.flags = STAPE_DUMP_OVERWRITE,
		.hz = 250,
		.nr_samples = 1,
		.start_time = 500,
		.samples = { { .counter = 400, .mono = 400, .boot = 400, .real = 7000000400,
			       .khz = 1000000 } },
		.release = "6.12.0",
		.kernel_version = "#1",
		.machine = "x86_64",
	};
	return s;
}

/* Lists the ring of CPU 0, or of the descriptions. */
static inline struct stape_dump_ring *image_ring(struct image *image, size_t page,
						 uint32_t session, bool descriptions)
{
	uint64_t producer = 3 * STAPE_PAGE_SIZE + descriptions * IMAGE_PRODUCER;
	struct stape_dump_ring *ring = image_page(image, page);
	unsigned int i;

	*ring = (struct stape_dump_ring){
		.header = image_header(page, STAPE_DUMP_RING, session),
		.cpu = descriptions ? STAPE_CPU_NONE : 0,
		.pages = IMAGE_RING,
		.listed = IMAGE_RING,
		.producer = producer,
		.position = producer + IMAGE_POSITION,
	};
	for (i = 0; i < IMAGE_RING; i++)
		ring->addresses[i] = (4 + 4 * descriptions + i) * STAPE_PAGE_SIZE;
	return ring;
}

static inline struct stape_ring_producer *image_producer(struct image *image, bool descriptions)
{
	return (void *)((unsigned char *)image_page(image, 3) + descriptions * IMAGE_PRODUCER);
}

/* Sets where the next event of the open page goes. */
static inline void image_position(struct image *image, bool descriptions, uint64_t used)
{
	uint64_t word = 0xffffc90000000000ULL + used % STAPE_PAGE_SIZE;

	memcpy((unsigned char *)image_producer(image, descriptions) + IMAGE_POSITION, &word,
	       sizeof(word));
}

/*
 * Makes page @seq of CPU 0: six events, the first of them a waking at 1000 * (@seq + 1) + 10, the
 * last a wake.
 */
static inline struct maker image_events(struct image *image, uint64_t seq)
{
	uint64_t time = 1000 * (seq + 1), i;
	struct maker m;

	maker_begin(&m, image_page(image, 4 + seq % IMAGE_RING), 0, seq, time);
	for (i = 1; i <= 3; i++)
		maker_waking(&m, time + 10 * i, 40 + i, STAPE_CTX_HARDIRQ);
	maker_event(&m, time + 50, STAPE_EV_SWITCH, 41, STAPE_NEXT_TASK << STAPE_SWITCH_NEXT_SHIFT);
	maker_wake(&m, time + 60, 42, STAPE_CTX_TASK, time + 70, 0);
	return m;
}

/* The memory above: pages 0 to 2 of CPU 0, page 3 is open; a description of task 41. */
static inline void image_make(struct image *image)
{
	const uint64_t words[5] = { 41, maker_prio_word(0, 0, 0, 120, false), 300, 0, 41 };
	struct maker m;
	uint64_t seq;

	memset(image->data, 0, image->bytes);
	image_session(image, 0, 5);
	image_ring(image, 1, 5, false);
	image_ring(image, 2, 5, true);
	for (seq = 0; seq < 4; seq++)
		m = image_events(image, seq);
	/* Of the slot's page before: the module sets it when it publishes the page. */
	((struct stape_page_header *)image_page(image, 7))->events = 1;
	image_position(image, false, m.header.used);
	image_producer(image, false)->head = 3;
	image_producer(image, false)->events = 18;
	maker_begin(&m, image_page(image, 8), STAPE_CPU_NONE, 0, 900);
	maker_task(&m, 950, 41, STAPE_TASK_ENTERS, "task", words);
	image_position(image, true, 0);
	image_producer(image, true)->head = 1;
	image_producer(image, true)->events = 1;
}

#endif /* SELFTESTS_IMAGE_H */
