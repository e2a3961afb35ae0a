// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the tape returns the events of a long page as the page has them, whether they have
 * details or not, and those before an error.
 */
#include <stdlib.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

#define MOST	1000

static unsigned char pages[2][STAPE_PAGE_SIZE];
static struct schedtape_event wanted[MOST];
static struct schedtape_error err;

/*
 * Every event with details is followed by one without any, and the second half of the page has more
 * in a row than the reader unpacks at once.
 */
static void make_page(unsigned int number)
{
	uint64_t time = 1000 + 10000 * number;
	struct maker m;
	unsigned int i;

	maker_begin(&m, pages[number], 0, number, time);
	for (i = 0; i < 120; i++) {
		maker_wake(&m, time + 10 * i, 100 + i, STAPE_CTX_TASK, time + 10 * i + 3, 1);
		if (i >= 60)
			continue;
		if (i % 16 == 5)
			maker_rename(&m, time + 10 * i + 4, 100 + i, "renamed");
		else if (i % 16 == 9)
			maker_exec(&m, time + 10 * i + 4, 100 + i, 50 + i);
		else if (i % 16 == 12)
			maker_event(&m, time + 10 * i + 4, STAPE_EV_MIGRATE, 100 + i, 5ULL << 34);
	}
	/* The second page is corrupt behind all its events. */
	m.header.events += number;
	maker_finish(&m);
}

static size_t read_pages(void)
{
	struct schedtape_page page;
	size_t n = 0;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (schedtape_page_open(&page, pages[i], &err))
			abort();
		/* What the event had before is overwritten. */
		memset(&wanted[n], 0xee, sizeof(wanted[n]));
		while (schedtape_page_next(&page, &wanted[n], &err) == 1)
			memset(&wanted[++n], 0xee, sizeof(wanted[n]));
	}
	return n;
}

static void write_tape(const char *path, int level)
{
	const struct schedtape_writer_options options = { .size = sizeof(options),
							  .level = level };
	struct schedtape_cpu cpu = { .events = 2 * MOST };
	const struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1000, .stop_time = 30000, .cpus = &cpu,
		.nr_cpus = 1,
	};
	struct schedtape_writer *writer;

	cpu.events = ((struct stape_page_header *)pages[0])->events +
		     ((struct stape_page_header *)pages[1])->events;
	if (schedtape_writer_create(path, "{}", &options, &writer, &err) ||
	    schedtape_writer_pages(writer, pages, 2, &err) ||
	    schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		abort();
}

int main(void)
{
	struct schedtape_tape *tape;
	struct events e = { 0 };
	struct blob b;
	size_t n;

	make_page(0);
	make_page(1);
	n = read_pages();
	blob_init(&b);
	write_tape(b.path, 3);
	if (!ok(!schedtape_tape_open(b.path, &tape, &err), "a tape with two long pages"))
		return tap_done();
	events_read(tape, &e);
	ok(e.n == n && n > 500 && !memcmp(e.ev, wanted, n * sizeof(*wanted)),
	   "all %zu events, each with its details and no others", n);
	ok(e.errors == 1 && strstr(e.err.text, "page 1 of 2: page 1 of CPU 0") &&
	   strstr(e.err.text, "not as many events as the header says"),
	   "and the error behind them: %s", e.err.text);
	ok(!schedtape_tape_rewind(tape, &err) && schedtape_tape_next(tape, &e.ev[0], &err) == 1 &&
	   !schedtape_tape_rewind(tape, &err), "back to the beginning");
	events_read(tape, &e);
	ok(e.n == n && !memcmp(e.ev, wanted, n * sizeof(*wanted)) && e.errors == 1,
	   "the same events again");
	schedtape_tape_close(tape);
	free(e.ev);
	close(b.fd);
	return tap_done();
}
