// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the tape returns the events of a long page as the page has them, whether they have
 * details or not, and those before an error.  Many events that are read at once are the same as one
 * after the other, also of pages of random words.
 */
#include <stdlib.h>

#include <schedtape.h>

#include "tape/page.h"

#include "random.h"
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
		/* The reader has to overwrite all members, whatever they were before. */
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

/* Rewinds the tape from several places: each time it begins with the same events. */
static bool goes_back(struct schedtape_tape *tape)
{
	struct schedtape_event ev;
	size_t i, n;

	for (n = 1; n < 300; n += 37) {
		if (schedtape_tape_rewind(tape, &err))
			return false;
		for (i = 0; i < n; i++)
			if (schedtape_tape_next(tape, &ev, &err) != 1 ||
			    memcmp(&ev, &wanted[i], sizeof(ev)))
				return false;
	}
	return !schedtape_tape_rewind(tape, &err);
}

/*
 * Reads as many events at once as possible.  Returns true if they are those that are wanted, the
 * detailed ones as a whole.
 */
static bool many_at_once(struct schedtape_tape *tape, size_t wanted_events)
{
	struct schedtape_briefs briefs = { .size = sizeof(briefs) };
	size_t i, n = 0, details, errors = 0, calls = 0;
	const struct schedtape_brief *brief;
	bool same = true;
	int ret;

	while ((ret = schedtape_tape_next_briefs(tape, &briefs, &err))) {
		calls++;
		errors += ret == -EBADMSG;
		for (i = 0, details = 0; ret > 0 && i < briefs.n; i++, n++) {
			brief = schedtape_brief_at(&briefs, i);
			same &= !memcmp(brief, &wanted[n].brief, sizeof(*brief)) &&
				(!brief->detailed ||
				 !memcmp(&briefs.details[details++], &wanted[n], sizeof(*wanted)));
		}
	}
	return same && n == wanted_events && errors == 1 && calls < n / 4;
}

/* A program that was built for an earlier or a later version, and one that sets no size. */
static bool other_sizes(struct schedtape_tape *tape)
{
	struct {
		struct schedtape_briefs briefs;
		uint64_t more;
	} later = { .briefs.size = sizeof(later), .more = 1 };
	struct schedtape_briefs earlier = { .size = offsetof(struct schedtape_briefs, details) },
				none = { 0 };

	/* No event is taken without a size. */
	return schedtape_tape_next_briefs(tape, &none, &err) == -EINVAL &&
	       schedtape_tape_next_briefs(tape, &earlier, &err) == 1 && earlier.n &&
	       !memcmp(earlier.first, &wanted[0].brief, sizeof(*earlier.first)) &&
	       !earlier.details && earlier.stride == sizeof(struct schedtape_brief) &&
	       schedtape_tape_next_briefs(tape, &later.briefs, &err) == 1 && later.briefs.n &&
	       !later.more;
}

/* Returns a word that most often is right, and of a type that most words are of. */
static uint64_t random_word(void)
{
	static const unsigned char types[] = {
		STAPE_EV_SWITCH, STAPE_EV_SWITCH, STAPE_EV_SWITCH, STAPE_EV_WAKE, STAPE_EV_WAKE,
		STAPE_EV_WAKING, STAPE_EV_WAKEUP, STAPE_EV_WAKEUP_NEW, STAPE_EV_MIGRATE,
	};
	uint64_t type = types[random64() % sizeof(types)], pid = random64() % 4, arg, delta;

	if (random64() % 10 == 0)
		type = random64() % 16;
	arg = random64() & (type < STAPE_EV_EXEC ? STAPE_ARG_MASK : 7);
	delta = type == STAPE_EV_WAKE ? random64() % 9 << 16 | random64() % 9 : random64() % 9;
	if (type == STAPE_EV_SWITCH && random64() % 100) {
		arg &= ~STAPE_SWITCH_NEXT_MASK;
		arg |= (pid ? STAPE_NEXT_TASK : STAPE_NEXT_IDLE) << STAPE_SWITCH_NEXT_SHIFT;
	}
	return stape_word(type, delta, pid, arg);
}

/* Makes a page of such words.  The header's number of events, and the page's end, may be wrong. */
static void make_random(unsigned char *page)
{
	unsigned int words = random64() % 60;
	struct maker m;

	maker_begin(&m, page, 1, 5, 1000);
	while (words--)
		maker_word(&m, random_word());
	m.header.end = 1000 + random64() % 400;
	m.header.events = random64() % 4 ? 0 : m.header.used / 8 - 9;
	if (random64() % 8 == 0) {
		m.header.lost = 1;
		m.header.flags = random64() % 2 ? STAPE_PAGE_PAUSED : 0;
		m.header.lost_last = 1000;
	}
	maker_finish(&m);
}

static bool is_brief(const struct schedtape_brief *brief, const struct schedtape_event *ev)
{
	return !memcmp(brief, &ev->brief, sizeof(*brief)) && !ev->detailed && ev->cpu == 1;
}

/*
 * Reads a page in both ways, @most events at once in one of them.  Returns the number of events, or
 * -1 if they or the errors differ.
 */
static int read_both(const unsigned char *data, unsigned int most)
{
	struct schedtape_page one, many;
	struct schedtape_error why = { "" }, whys = { "" };
	struct schedtape_event ev, whole;
	struct schedtape_brief briefs[200];
	unsigned int i, n, events = 0;
	int ret, rets;

	if (schedtape_page_open(&one, data, &why) || schedtape_page_open(&many, data, &why))
		return -1;
	do {
		rets = tape_page_briefs(&many, briefs, most, &n, &whole, &whys);
		for (i = 0; i < n; i++, events++)
			if (schedtape_page_next(&one, &ev, &why) != 1 || !is_brief(&briefs[i], &ev))
				return -1;
		if (!rets && n == most)
			continue;
		/* An attribute of a later version, which schedtape_page_next() skips. */
		if (rets > 0 && whole.type == STAPE_EV_SET)
			continue;
		ret = schedtape_page_next(&one, &ev, &why);
		if (ret != rets || (ret > 0 && memcmp(&ev, &whole, sizeof(ev))))
			return -1;
		events += ret > 0;
	} while (rets > 0 || n == most);
	return strcmp(why.text, whys.text) || one.time != many.time || one.curr != many.curr ?
	       -1 : (int)events;
}

TEST(random)
{
	unsigned int round, differ = 0, long_ones = 0, most = 0;
	unsigned char page[STAPE_PAGE_SIZE];
	int n;

	for (round = 0; round < 50000; round++) {
		make_random(page);
		n = read_both(page, 1 + random64() % 200);
		differ += n < 0;
		long_ones += n >= 20;
		most = n > (int)most ? (unsigned int)n : most;
	}
	ok(!differ && long_ones > 5000 && most > 60,
	   "%u pages of random words: many at once as one by one (%u differ, up to %u events)",
	   round, differ, most);
}

int main(void)
{
	struct schedtape_tape *tape;
	struct events e = { 0 };
	struct blob b;
	size_t n;

	tap_run();
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
	ok(goes_back(tape), "back to the beginning, from several places");
	events_read(tape, &e);
	ok(e.n == n && !memcmp(e.ev, wanted, n * sizeof(*wanted)) && e.errors == 1,
	   "the same events again");
	ok(!schedtape_tape_rewind(tape, &err) && many_at_once(tape, n),
	   "and many at once, without a copy");
	ok(!schedtape_tape_rewind(tape, &err) && other_sizes(tape),
	   "for programs of other versions, too");
	schedtape_tape_close(tape);
	free(e.ev);
	close(b.fd);
	return tap_done();
}
