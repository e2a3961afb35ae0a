// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: threads that load chunks ahead change nothing: a tape gives the same events and
 * errors on one CPU, where there are no threads, and on all; also after a rewind in the middle, and
 * when it is closed there.
 */
#include <sched.h>
#include <stdlib.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

#define CPUS	3
#define CHUNKS	40
#define PAGES	3	/* in each chunk */
#define LARGE	5	/* chunks of CPU 2 that are too large to be unpacked ahead */
#define MOST	1000	/* pages of these */

static unsigned char pages[MOST][STAPE_PAGE_SIZE];
static struct schedtape_error err;
static uint64_t seq[CPUS];

/* Every page takes 1000 ns.  Some have details, a loss, a pause or an error. */
static uint64_t make_page(unsigned char *memory, unsigned int cpu)
{
	uint64_t number = seq[cpu]++, time = 1000 * (number + 1) + cpu, events;
	struct maker m;
	unsigned int i;

	maker_begin(&m, memory, cpu, number, time);
	if (number % 11 == 3) {
		m.header.lost = 7;
		m.header.lost_first = time - 100;
		m.header.lost_last = time - 10;
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
	if (number % 17 == 9)
		m.header.events++;
	maker_finish(&m);
	return events;
}

static void write_tape(const char *path)
{
	const struct schedtape_writer_options options = { .size = sizeof(options), .level = 1 };
	struct schedtape_cpu cpus[CPUS] = { { .cpu = 0 }, { .cpu = 1 }, { .cpu = 2 } };
	const struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1000, .stop_time = 10000000, .cpus = cpus,
		.nr_cpus = CPUS,
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

int main(void)
{
	struct events one = { 0 }, all = { 0 };
	cpu_set_t before, first;
	struct blob b;
	int cpu = 0;

	blob_init(&b);
	write_tape(b.path);
	if (sched_getaffinity(0, sizeof(before), &before))
		return tap_done();
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	sched_setaffinity(0, sizeof(first), &first);
	read_tape(b.path, &one);
	ok(one.n > 100000 && one.errors > 50 && !one.ret,
	   "on one CPU: %zu events, %u corrupt pages", one.n, one.errors);
	sched_setaffinity(0, sizeof(before), &before);
	read_tape(b.path, &all);
	ok(events_same(&one, &all), "the same on %d CPUs", CPU_COUNT(&before));
	close_in_the_middle(b.path);
	ok(true, "a tape can be closed while threads load");
	free(one.ev);
	free(all.ev);
	close(b.fd);
	return tap_done();
}
