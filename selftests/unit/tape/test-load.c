// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: threads that merge events and load chunks ahead change nothing: a tape gives the
 * same events and errors on one CPU, where there are no threads, on two, and on more; also after a
 * rewind in the middle, and when it is closed there.  A chunk that turns out to be damaged is noted
 * when the caller comes to it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <schedtape.h>

#include "base/thread.h"
#include "tape/cursors.h"
#include "tape/tape.h"

#include "tap.h"
#include "tapes.h"

#define CPUS	3
#define CHUNKS	40
#define PAGES	3	/* in each chunk */
#define LARGE	5	/* chunks of CPU 2 that are too large to be unpacked ahead */
#define MOST	1000	/* pages of these */
#define WINDOW	26500	/* a time in the pages with this number */
#define FIRST	25

static unsigned char pages[MOST][STAPE_PAGE_SIZE];
static struct schedtape_error err;
static uint64_t seq[CPUS];
static unsigned int cpus_now, threads;

/* These take the place of those in thread.c. */
unsigned int schedtape_thread_cpus(void)
{
	return cpus_now;
}

int schedtape_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg),
			   void *arg)
{
	threads++;
	return -pthread_create(thread, attr, run, arg);
}

/*
 * Every page takes 1000 ns.  Some have details, a loss, a pause or an error.  The pages of WINDOW
 * are corrupt: by their headers, losses before their events end after these.
 */
static uint64_t make_page(unsigned char *memory, unsigned int cpu)
{
	uint64_t number = seq[cpu]++, time = 1000 * (number + 1) + cpu, events;
	struct maker m;
	unsigned int i;

	maker_begin(&m, memory, cpu, number, time);
	if (number % 11 == 3) {
		m.header.lost = 7;
		m.header.lost_first = time - 100;
		m.header.lost_last = number == FIRST ? time + 900 : time - 10;
	}
	if (number % 13 == 5) {
		m.header.flags = STAPE_PAGE_PAUSED;
		m.header.lost_first = time - 100;
		m.header.lost_last = time - 10;
	}
	for (i = 0; i < 90; i++) {
		maker_wake(&m, time + 10 * i, 100 + i, STAPE_CTX_TASK, time + 10 * i + 3, cpu);
		if ((i + number) % 50 == 7)
			maker_rename(&m, time + 10 * i + 4, 100 + i, "renamed");
	}
	events = m.header.events;
	if (number % 170 == 9)
		m.header.events++;
	maker_finish(&m);
	return events;
}

/* @window: where the tape begins */
static void write_tape(const char *path, uint64_t window)
{
	const struct schedtape_writer_options options = { .size = sizeof(options), .level = 1 };
	struct schedtape_cpu cpus[CPUS] = { { .cpu = 0 }, { .cpu = 1 }, { .cpu = 2 } };
	const struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1000, .stop_time = 10000000,
		.window_start = window, .cpus = cpus, .nr_cpus = CPUS,
	};
	struct schedtape_writer *writer;
	unsigned int i, cpu, page, n;

	if (schedtape_writer_create(path, "{}", &options, &writer, &err))
		abort();
	for (i = 0; i < CHUNKS; i++) {
		for (cpu = 0; cpu < CPUS; cpu++) {
			n = cpu == 2 && i < LARGE ? MOST : PAGES;
			for (page = 0; page < n; page++)
				cpus[cpu].events += make_page(pages[page], cpu);
			if (schedtape_writer_pages(writer, pages, n, &err))
				abort();
		}
	}
	if (schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		abort();
}

/* Changes a byte in the last chunk of a CPU, after the tape is open. */
static void damage(const struct schedtape_tape *tape, unsigned int cpu)
{
	uint64_t at = tape->index[tape->cursors[cpu].chunks_end - 1].offset + 400;
	int fd = open(tape->path, O_RDWR);
	unsigned char byte;

	if (fd < 0 || pread(fd, &byte, 1, at) != 1)
		abort();
	byte ^= 1;
	if (pwrite(fd, &byte, 1, at) != 1)
		abort();
	close(fd);
}

/* Reads the tape twice, the first time up to the middle. */
static void read_tape(const char *path, struct events *e)
{
	struct schedtape_tape *tape;
	struct schedtape_event ev;
	unsigned int i;

	if (schedtape_tape_open(path, &tape, &err))
		abort();
	for (i = 0; i < 20000; i++)
		schedtape_tape_next(tape, &ev, &err);
	if (schedtape_tape_rewind(tape, &err))
		abort();
	events_read(tape, e);
	schedtape_tape_close(tape);
}

static void close_in_the_middle(const char *path)
{
	struct schedtape_tape *tape;
	struct schedtape_event ev;
	unsigned int i, n;

	for (n = 0; n < 20; n++) {
		if (schedtape_tape_open(path, &tape, &err))
			abort();
		for (i = 0; i < 500 * n; i++)
			schedtape_tape_next(tape, &ev, &err);
		schedtape_tape_close(tape);
	}
}

/* Returns how many events have come before the damage was noted. */
static size_t read_damaged(const char *path, uint64_t *lost)
{
	struct schedtape_tape *tape;
	struct schedtape_event ev;
	size_t n = 0, noted = 0;
	int ret;

	*lost = 0;
	if (schedtape_tape_open(path, &tape, &err))
		abort();
	damage(tape, 1);
	while ((ret = schedtape_tape_next(tape, &ev, &err))) {
		n += ret > 0;
		if (ret > 0 && ev.type == SCHEDTAPE_EV_LOST && ev.cpu == 1)
			*lost += ev.lost;
		if (!noted && schedtape_tape_damage(tape))
			noted = n;
	}
	damage(tape, 1);
	schedtape_tape_close(tape);
	return noted;
}

static void test_same(const char *path)
{
	struct events one = { 0 }, two = { 0 }, more = { 0 };

	cpus_now = 1;
	threads = 0;
	read_tape(path, &one);
	ok(one.n > 100000 && one.errors > 20 && !one.ret && !threads,
	   "on one CPU: %zu events, %u corrupt pages", one.n, one.errors);
	cpus_now = 2;
	read_tape(path, &two);
	ok(events_same(&one, &two) && threads, "the same on two");
	cpus_now = 4;
	threads = 0;
	read_tape(path, &more);
	ok(events_same(&one, &more) && threads > 3, "the same on four");
	free(one.ev);
	free(two.ev);
	free(more.ev);
}

/* Only what a thread has loaded is unpacked, and which chunks that are differs from run to run. */
static void test_window(const char *path)
{
	struct schedtape_tape *tape;
	unsigned int run, i, n = 0;
	struct schedtape_event ev;

	cpus_now = 4;
	for (run = 0; run < 50; run++) {
		if (schedtape_tape_open(path, &tape, &err))
			abort();
		for (i = 0; i < 200; i++)
			n += schedtape_tape_next(tape, &ev, &err) == 1 && ev.time < WINDOW;
		schedtape_tape_close(tape);
	}
	ok(!n, "the first page is corrupt: no event is from before the chosen time: %u", n);
}

/* The thread that merges must not read while the tape is copied. */
static void test_copied(const char *path)
{
	struct events whole = { 0 }, copied = { 0 };
	struct schedtape_event first, ev;
	struct schedtape_tape *tape;
	struct blob b;
	uint64_t bytes;
	unsigned int i;
	bool rewound;

	blob_init(&b);
	cpus_now = 2;
	threads = 0;
	if (schedtape_tape_open(path, &tape, &err) || schedtape_tape_next(tape, &first, &err) != 1)
		abort();
	for (i = 0; i < 20000; i++)
		schedtape_tape_next(tape, &ev, &err);
	if (schedtape_tape_copy(tape, b.path, NULL, &bytes, &err))
		abort();
	rewound = schedtape_tape_next(tape, &ev, &err) == 1 && !memcmp(&ev, &first, sizeof(ev));
	schedtape_tape_close(tape);
	read_tape(path, &whole);
	read_tape(b.path, &copied);
	ok(threads && rewound && events_same(&whole, &copied),
	   "a tape that is being read is copied");
	free(whole.ev);
	free(copied.ev);
	close(b.fd);
}

static void test_damaged(const char *path)
{
	uint64_t lost, lost_ahead;
	size_t noted, noted_ahead;

	cpus_now = 1;
	noted = read_damaged(path, &lost);
	ok(noted && lost > 100, "a chunk that has become damaged: %zu events before it", noted);
	cpus_now = 2;
	threads = 0;
	noted_ahead = read_damaged(path, &lost_ahead);
	ok(threads && noted_ahead == noted && lost_ahead == lost,
	   "a thread that merges does not note it earlier");
}

/* Each CPU has a page of two wake-ups, each of which is two events. */
static void test_order(void)
{
	static const uint64_t times[CPUS][4] = {
		{ 1000, 1008, 2010, 2050 }, { 1020, 1030, 2000, 2010 }, { 1004, 1040, 2100, 2110 },
	};
	struct schedtape_writer *writer;
	struct schedtape_tape *tape;
	struct events e = { 0 };
	unsigned int cpu;
	struct maker m;
	struct blob b;
	size_t i;

	blob_init(&b);
	if (schedtape_writer_create(b.path, "{}", NULL, &writer, &err))
		abort();
	for (cpu = 0; cpu < CPUS; cpu++) {
		maker_begin(&m, pages[0], cpu, 0, 1000);
		maker_wake(&m, times[cpu][0], 100, STAPE_CTX_TASK, times[cpu][1], cpu);
		maker_wake(&m, times[cpu][2], 100, STAPE_CTX_TASK, times[cpu][3], cpu);
		maker_finish(&m);
		if (schedtape_writer_pages(writer, pages[0], 1, &err))
			abort();
	}
	if (schedtape_writer_close(writer, &err) || schedtape_tape_open(b.path, &tape, &err))
		abort();
	events_read(tape, &e);
	for (i = 1; i < e.n; i++)
		if (e.ev[i - 1].time > e.ev[i].time ||
		    (e.ev[i - 1].time == e.ev[i].time && e.ev[i - 1].cpu > e.ev[i].cpu))
			break;
	ok(e.n == 4 * CPUS && i == e.n, "events come by time, then by CPU");
	schedtape_tape_close(tape);
	free(e.ev);
	close(b.fd);
}

int main(void)
{
	struct blob b;

	test_order();
	blob_init(&b);
	write_tape(b.path, WINDOW);
	test_window(b.path);
	write_tape(b.path, 0);
	test_same(b.path);
	close_in_the_middle(b.path);
	ok(true, "a tape can be closed while threads load");
	test_copied(b.path);
	test_damaged(b.path);
	close(b.fd);
	return tap_done();
}
