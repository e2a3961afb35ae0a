// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: recover --vmcore finds sessions and rings in a machine's memory, and believes
 * nothing that it finds there.
 */
#include <errno.h>
#include <stdlib.h>

#include <recover/internal.h>
#include <schedtape.h>

#include "image.h"
#include "tap.h"
#include "tapes.h"

static unsigned char data[IMAGE_PAGES * STAPE_PAGE_SIZE];
static struct image image = { .data = data, .bytes = sizeof(data) };
static struct memory memory;
static struct blob blob;
static struct found found;
static struct crash_tape made;
static struct schedtape_error err;

/* Searches the memory again. */
static size_t search(void)
{
	found_free(&found);
	memory = image_memory(&image);
	if (found_search(&found, &memory, &err) || found_choose(&found, &memory, 0, &err))
		return SIZE_MAX;
	return found.nr_sessions;
}

/* Makes the tape of the first session. */
static int recover(void)
{
	err.text[0] = '\0';
	if (search() != 1)
		return -ENOENT;
	return crash_tape_write(&memory, &found.sessions[0], blob.path, &made, &err);
}

/* Returns the events of CPU 0 on the tape, or -1; @last: the time of the last one. */
static int read_back(uint64_t *last)
{
	struct schedtape_event ev;
	struct schedtape_tape *tape;
	int n = 0, ret;

	*last = 0;
	if (schedtape_tape_open(blob.path, &tape, &err))
		return -1;
	while ((ret = schedtape_tape_next(tape, &ev, &err)) == 1) {
		if (schedtape_event_is_gap(&ev))
			continue;
		if (ev.cpu)
			continue;
		n++;
		*last = ev.time;
	}
	if (schedtape_tape_damage(tape))
		ret = -1;
	schedtape_tape_close(tape);
	return ret ? -1 : n;
}

/* Returns true if the tape says what task 41 was when it begins. */
static bool knows_task(void)
{
	const struct schedtape_task_info *tasks;
	struct schedtape_tape *tape;
	bool known;
	size_t n;

	if (schedtape_tape_open(blob.path, &tape, &err))
		return false;
	tasks = schedtape_tape_tasks(tape, &n);
	known = n == 1 && tasks->pid == 41 && !strcmp(tasks->comm, "task");
	schedtape_tape_close(tape);
	return known;
}

/* Returns true if the tape has @events of the ring of CPU 0, and ends at @last. */
static bool has(int events, uint64_t last)
{
	uint64_t time;
	int ret = recover(), n;

	if (ret) {
		printf("# recover: %d, %s\n", ret, err.text);
		return false;
	}
	n = read_back(&time);
	if (n == events && time == last)
		return true;
	printf("# %d events, until %llu\n", n, (unsigned long long)time);
	return false;
}

TEST(pages)
{
	struct stape_dump_header *h;

	image_make(&image);
	ok(search() == 1 && found.sessions[0].nr_rings == 2 &&
	   found.sessions[0].rings[1].cpu == STAPE_CPU_NONE, "a session with its rings");
	memcpy(image_page(&image, 20), image_page(&image, 0), STAPE_PAGE_SIZE);
	ok(search() == 1 && found.loads[0].nr_pages == 3, "a copy of a page is not taken for it");
	h = image_page(&image, 0);
	h->magic[0] = 0;
	ok(search() == 0 && found.incomplete == 1, "a session without its page");
	image_make(&image);
	((struct stape_dump_header *)image_page(&image, 1))->magic[0] = 0;
	((struct stape_dump_header *)image_page(&image, 2))->magic[0] = 0;
	ok(search() == 0 && found.incomplete == 1, "a session without rings");
	h->magic[0] = 0;
	ok(search() == 0 && !found.incomplete, "an ended session");
	image_make(&image);
	h->version++;
	ok(search() == 0 && found.unknown == 1, "a page of another version");
	h->magic[0] = bswap_64(STAPE_DUMP_MAGIC_0);
	h->magic[1] = bswap_64(STAPE_DUMP_MAGIC_1);
	ok(search() == 0 && found.swapped == 1, "a page of the other byte order");
	memcpy(image_page(&image, 20), h, sizeof(*h));
	ok(search() == 0 && found.swapped == 1, "a copy of such a page does not count");
	h->magic[0] = 0;
	h = image_page(&image, 20);
	h->address = bswap_64(20 * STAPE_PAGE_SIZE);
	ok(search() == 0 && found.swapped == 1, "its address has that order, too");
	h->magic[0] = STAPE_DUMP_MAGIC_0;
	h->magic[1] = STAPE_DUMP_MAGIC_1;
	h->address = 0;
	h->version = 9;
	ok(search() == 0 && !found.unknown, "a copy of a page of another version does not count");
}

TEST(sessions)
{
	struct stape_dump_session *s;
	struct stape_dump_ring *ring;

	image_make(&image);
	image_session(&image, 20, 2);
	image_ring(&image, 21, 2, false);
	ok(search() == 2 && found.sessions[0].page.header.session == 2 &&
	   found.sessions[1].page.header.session == 5, "sessions by their numbers");
	s = image_page(&image, 20);
	ring = image_page(&image, 21);
	s->header.load = 78;
	ring->header.load = 78;
	s->header.loaded = IMAGE_LOADED - 1;
	ring->header.loaded = IMAGE_LOADED - 1;
	ok(search() == 1 && found.nr_loads == 2 && !found.load &&
	   found.sessions[0].page.header.session == 5,
	   "pages of an earlier boot are left out");
	s->header.loaded = IMAGE_LOADED + 1;
	ring->header.loaded = IMAGE_LOADED + 1;
	ok(search() == 1 && found.nr_loads == 2 && found.sessions[0].page.header.session == 2,
	   "those of the last boot are not");
	memset(s->release, 'x', sizeof(s->release));
	ok(search() == 1 && strlen(found.sessions[0].page.release) < STAPE_DUMP_TEXT,
	   "a text without an end");
}

TEST(loads)
{
	struct stape_dump_session *s;
	struct stape_dump_ring *ring;

	image_make(&image);
	s = image_session(&image, 20, 2);
	ring = image_ring(&image, 21, 2, false);
	s->header.loaded = IMAGE_LOADED + 1;
	ring->header.loaded = IMAGE_LOADED + 1;
	ok(search() == 1 && found.nr_loads == 2 && found.loads[0].loaded == IMAGE_LOADED + 1 &&
	   found.loads[0].nr_pages == 2 && found.loads[1].nr_pages == 3, "the loads, latest first");
	ok(!found_choose(&found, &memory, 2, &err) && found.nr_sessions == 1 && found.load == 1 &&
	   found.sessions[0].page.header.session == 5, "an earlier one that is chosen");
	ok(found_choose(&found, &memory, 3, &err) == -ENOENT, "one that there was not");
	ring->pages = 3;
	ok(search() == 1 && found.load == 1 && found.sessions[0].page.header.session == 5,
	   "a later load without a ring that can be read is not taken");
	ring->header.magic[0] = 0;
	ok(search() == 1 && found.load == 1 && !found.incomplete, "or without a session");
	((struct stape_dump_ring *)image_page(&image, 1))->pages = 3;
	((struct stape_dump_ring *)image_page(&image, 2))->pages = 3;
	ok(search() == 0 && found.load == 0 && found.incomplete == 1,
	   "if none has one, the latest load is taken");
	memset(data, 0, sizeof(data));
	ok(search() == 0 && !found.nr_loads, "memory without a load");
}

/* The crash comes while the module opens page 4, in the slot of page 0. */
TEST(opening)
{
	struct stape_page_header *page = image_page(&image, 4);

	image_make(&image);
	image_producer(&image, false)->head = 4;
	image_position(&image, false, 0);
	ok(has(24, 4070) && made.pages == 5, "the oldest page is still there");
	page->time = 5000;
	ok(has(18, 4070) && made.first == 2000 && !made.missing,
	   "a page with the next one's time is left out, and those after it are not");
	page->seq = 4;
	ok(has(18, 4070), "a page without its first event does not have the old ones");
	image_make(&image);
	image_events(&image, 4);
	image_producer(&image, false)->head = 4;
	image_position(&image, false, 0);
	page->events = 5;
	ok(has(24, 5070), "a full page has its events");
	image_make(&image);
	page = image_page(&image, 5);
	page->end -= 20;
	ok(has(22, 4070), "a published page ends when its header says");
}

/* Splits the list of CPU 0: the second one says something else of the ring itself. */
TEST(lists)
{
	struct stape_dump_ring *first = image_page(&image, 1), *second;

	image_make(&image);
	first->listed = 2;
	second = image_page(&image, 20);
	*second = *first;
	second->header.address = 20 * STAPE_PAGE_SIZE;
	second->first = 2;
	second->addresses[0] = 6 * STAPE_PAGE_SIZE;
	second->addresses[1] = 7 * STAPE_PAGE_SIZE;
	second->producer = UINT64_MAX;
	second->position = UINT64_MAX;
	image_position(&image, false, sizeof(struct stape_page_header) + 2 * 8);
	ok(has(20, 4020) && !made.missing, "the first list says where the producer is");
	second->pages = 8;
	ok(has(12, 2070) && made.missing == 1, "a list of another ring is not used");
}

TEST(ring)
{
	struct stape_page_header *page;

	image_make(&image);
	ok(has(24, 4070), "all pages, the open one included");
	ok(made.whole && made.first == 500 && made.last == 4070 && made.cpus == 1 &&
	   made.pages == 5 && !made.missing && made.events == 25 && made.real == 7000004070,
	   "what was found");
	image_position(&image, false, sizeof(*page) + 2 * 8);
	ok(has(20, 4020), "an open page is read up to the module's position");
	image_position(&image, false, 0);
	ok(has(24, 4070), "what follows the last word of an open page is no event");
	memset((unsigned char *)image_page(&image, 7) + sizeof(*page) + 3 * 8, 0,
	       STAPE_PAGE_SIZE - sizeof(*page) - 3 * 8);
	ok(has(21, 4030), "a page that is full but not published ends at a word of type 0");
	image_events(&image, 4);
	image_producer(&image, false)->head = 5;
	ok(has(21, 5070) && !made.whole && made.first == 2000,
	   "the oldest page has been overwritten");
	ok(knows_task(), "a task that was described before that");
	image_events(&image, 5);
	image_position(&image, false, sizeof(*page) + 8);
	ok(has(16, 6010) && made.first == 3000, "the oldest page is being overwritten");
	page = image_page(&image, 7);
	page->cpu = 1;
	ok(has(13, 6010) && made.missing == 1, "a page of another CPU");
	image.missing = 4;
	ok(has(7, 6010) && made.missing == 2, "a page that is not in the dump");
	image.missing = 0;
}

TEST(corrupt_page)
{
	struct stape_page_header *page;
	uint64_t word = 0;

	image_make(&image);
	page = image_page(&image, 5);
	memcpy((unsigned char *)page + sizeof(*page) + 8, &word, sizeof(word));
	ok(has(19, 4070), "a page is cut before a word of type 0");
	page->used = UINT32_MAX;
	ok(has(18, 4070) && made.missing == 1, "a page with an impossible length");
	image_make(&image);
	page->time = 10;
	ok(has(18, 4070) && made.missing == 1, "a page from before the one before it");
	image_make(&image);
	page->seq = 5;
	ok(has(18, 4070) && made.missing == 1, "a page with another number");
	image_make(&image);
	page->events = 100;
	ok(has(24, 4070), "a page with a wrong number of events");
	image_make(&image);
	page->end = UINT64_MAX;
	ok(recover() != 0 || read_back(&word) >= 0, "a page that ends at the end of times");
}

TEST(corrupt_ring)
{
	struct stape_dump_ring *ring = image_page(&image, 1);

	image_make(&image);
	ring->pages = 3;
	ok(recover() == 0 && made.bad_rings == 1, "pages that are no power of two");
	ring->pages = 0;
	ok(recover() == 0 && made.bad_rings == 1, "no pages");
	ring->pages = 1U << 31;
	ok(recover() == 0 && made.bad_rings == 1, "too many pages");
	image_make(&image);
	ring->listed = 5;
	ok(recover() == 0 && made.bad_rings == 1, "more pages than the ring has");
	ring->listed = 60000;
	ring->pages = 65536;
	ok(recover() == 0 && made.bad_rings == 1, "more pages than the list has");
	image_make(&image);
	ring->first = UINT32_MAX;
	ok(recover() == 0 && made.bad_rings == 1, "a list that begins behind the ring");
	image_make(&image);
	ring->producer = UINT64_MAX - 8;
	ok(recover() == 0 && made.bad_rings == 1, "an impossible address of the producer");
	image_make(&image);
	ring->addresses[1] = UINT64_MAX - 8;
	ok(has(18, 4070) && made.missing == 1, "an impossible address of a page");
	image_make(&image);
	ring->position = UINT64_MAX;
	ok(has(24, 4070), "an impossible address of the position");
	image_make(&image);
	image_producer(&image, false)->head = UINT64_MAX;
	ok(recover() == 0 && made.pages == 1, "an impossible number of pages");
}

TEST(corrupt_session)
{
	struct stape_dump_session *s = image_page(&image, 0);
	uint64_t time;

	image_make(&image);
	s->wire_version++;
	ok(recover() == -ENOTSUP, "another version of events");
	image_make(&image);
	s->clock = 9;
	ok(recover() == -EBADMSG, "an unknown clock");
	image_make(&image);
	s->nr_samples = 0;
	ok(recover() == -EBADMSG, "no sample of the clock");
	s->nr_samples = UINT32_MAX;
	s->samples[0].khz = 0;
	ok(recover() == -EBADMSG, "samples that are none");
	image_make(&image);
	s->samples[0].real = (uint64_t)INT64_MAX + 1;
	ok(recover() == -EBADMSG, "an impossible date");
	s->samples[0].real = 1;
	s->clock = STAPE_CLOCK_COUNTER;
	s->samples[0].mono = (uint64_t)INT64_MAX + 1;
	ok(recover() == -EBADMSG, "an impossible time");
	image_make(&image);
	s->clock = STAPE_CLOCK_COUNTER;
	s->samples[0].khz = 1;
	s->start_time = UINT64_MAX;
	ok(recover() == 0 && read_back(&time) >= 0, "an impossible clock");
	image_make(&image);
	image_producer(&image, false)->head = 0;
	image_producer(&image, true)->head = 0;
	memset(image_page(&image, 4), 0, 8 * STAPE_PAGE_SIZE);
	ok(recover() == -ENODATA, "no events");
}

/* Of four samples the oldest may be half overwritten. */
TEST(samples)
{
	struct stape_dump_session *s = image_page(&image, 0);
	unsigned int i;

	image_make(&image);
	s->nr_samples = STAPE_DUMP_SAMPLES;
	for (i = 0; i < STAPE_DUMP_SAMPLES; i++) {
		s->samples[i] = s->samples[0];
		s->samples[i].counter = 400 + i;
		s->samples[i].mono = 400 + i;
		s->samples[i].real = 7000000400 + i;
	}
	ok(has(24, 4070) && made.real == 7000004070, "all samples are right");
	/* Each one has to be later than the one before it, so this one would exclude the others. */
	s->samples[0].counter = 100000;
	s->samples[0].mono = 100000;
	ok(has(24, 4070) && made.real == 7000004070, "the oldest one is being overwritten");
}

static bool is_named(const char *vmcore, const char *output, bool several, const char *expected)
{
	const struct crash_options options = { .vmcore = vmcore, .output = output };
	char *name = crash_tape_name(&options, several, 3);
	bool right = name && !strcmp(name, expected);

	free(name);
	return right;
}

TEST(files)
{
	struct vmcore *vmcore;

	ok(is_named("/var/crash/dump", NULL, false, "/var/crash/dump.recovered") &&
	   is_named("/var/crash/dump", NULL, true, "/var/crash/dump.recovered.3"),
	   "a tape is beside its dump");
	ok(is_named("/proc/vmcore", NULL, true, "vmcore.recovered.3") &&
	   is_named("/dev/disk/by-id/dump", NULL, false, "dump.recovered"),
	   "but not in /proc or /dev");
	ok(is_named("/proc/vmcore", "a/b", false, "a/b") &&
	   is_named("/proc/vmcore", "a/b", true, "a/b.3"), "a tape with a name");
	ok(vmcore_open("/dev/null", &vmcore, &err) == -EINVAL && strstr(err.text, "no size"),
	   "a file without a size is no dump");
}

TEST_MAIN_AFTER(blob_init(&blob))
