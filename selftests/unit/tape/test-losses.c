// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: how many events a tape reports as lost, and when, if chunks are corrupt or
 * missing; and what it leaves out before a chosen time.
 */
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

#include "records.h"
#include "tap.h"

static struct schedtape_error err;
static struct schedtape_tape *tape;
static struct records r;
static struct blob b;
static struct events got;

static void begin(void)
{
	records_begin(&r);
	records_text(&r, META, "{}");
}

/* Opens the tape that was made, and reads all of it. */
static struct schedtape_tape *read_all(void)
{
	tape = blob_open(&b, r.data, r.size, &err);
	if (!tape) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	events_read(tape, &got);
	return tape;
}

/* Returns the @n-th loss, counted from 0. */
static const struct schedtape_event *loss(unsigned int n)
{
	static const struct schedtape_event none;
	size_t i;

	for (i = 0; i < got.n; i++)
		if (got.ev[i].type == SCHEDTAPE_EV_LOST && !n--)
			return &got.ev[i];
	return &none;
}

/* -- losses ---------------------------------------------------------------- */

static bool is_loss(unsigned int n, uint64_t lost, uint64_t first, uint64_t last)
{
	return loss(n)->lost == lost && loss(n)->lost_first == first && loss(n)->lost_last == last;
}

/* In the file, a valid chunk is between them. */
TEST(damaged)
{
	begin();
	records_chunk(&r, 0, 0, 1000);
	records_damage(records_chunk(&r, 0, 1, 2000));
	records_chunk(&r, 1, 0, 1000);
	records_damage(records_chunk(&r, 0, 2, 3000));
	records_chunk(&r, 0, 3, 4000);
	records_end(&r, 0, 4 * PAGE_EVENTS, 0, 0);
	tape = read_all();
	ok(is_loss(0, 2 * PAGE_EVENTS, 2000, 3190) && !loss(1)->type,
	   "two damaged chunks are one loss, when they were");
	schedtape_tape_close(tape);
}

/* @ended: with an end record, which has the number of events. */
static void test_missing(bool ended)
{
	begin();
	records_chunk(&r, 0, 0, 1000);
	records_chunk(&r, 0, 2, 3000);
	if (ended)
		records_end(&r, 0, 3 * PAGE_EVENTS, 0, 0);
	tape = read_all();
	ok(is_loss(0, ended ? PAGE_EVENTS : 0, 1190, 3000) && !loss(1)->type,
	   "a chunk is missing, %s an end record", ended ? "with" : "without");
	schedtape_tape_close(tape);
}

/* CPU 7 has no chunk at all. */
TEST(lost_cpu)
{
	begin();
	records_text(&r, END, "{\"start_time\":500,\"stop_time\":60000,\"cpus\":[{\"cpu\":7,"
		     "\"events\":0,\"lost\":9,\"lost_first\":700,\"lost_last\":800}]}");
	tape = read_all();
	ok(got.n == 1 && is_loss(0, 9, 700, 800) && got.ev[0].cpu == 7,
	   "a CPU that lost everything has a loss");
	schedtape_tape_rewind(tape, &err);
	events_read(tape, &got);
	ok(got.n == 1 && is_loss(0, 9, 700, 800), "also when the tape is read again");
	schedtape_tape_close(tape);
}

/* A corrupt chunk gives an impossible number for its page. */
TEST(misfit)
{
	unsigned char *chunk;

	begin();
	records_chunk(&r, 0, 0, 1000);
	chunk = records_chunk(&r, 0, 1, 2000);
	put64(chunk + 32 + 8, 50);
	records_damage(chunk);
	records_chunk(&r, 0, 2, 3000);
	records_end(&r, 0, 3 * PAGE_EVENTS, 0, 0);
	tape = read_all();
	ok(is_loss(0, PAGE_EVENTS, 1190, 3000) && !loss(1)->type,
	   "a damaged chunk's header counts only if it fits between its neighbours");
	schedtape_tape_close(tape);
}

/* A corrupt chunk claims more events than the end record counts. */
TEST(claims)
{
	unsigned char *chunk;

	begin();
	records_chunk(&r, 0, 0, 1000);
	chunk = records_chunk(&r, 0, 1, 2000);
	put64(chunk + 32 + 32, PAGE_EVENTS + 5);
	records_damage(chunk);
	records_chunk(&r, 0, 2, 3000);
	records_end(&r, 0, 3 * PAGE_EVENTS, 0, 0);
	tape = read_all();
	ok(is_loss(0, PAGE_EVENTS, 1190, 3000) && !loss(1)->type,
	   "the end record's number of events counts, not a damaged chunk's");
	schedtape_tape_close(tape);
}

/* A chunk is missing, the next one is corrupt; and another one is missing after that. */
TEST(unknown_number)
{
	begin();
	records_chunk(&r, 0, 0, 1000);
	records_damage(records_chunk(&r, 0, 2, 3000));
	records_chunk(&r, 0, 3, 4000);
	records_chunk(&r, 0, 5, 6000);
	records_end(&r, 0, 6 * PAGE_EVENTS, 0, 0);
	tape = read_all();
	ok(got.n == 3 * PAGE_EVENTS + 2 && !got.errors, "two losses, and the other events");
	ok(is_loss(0, 0, 1190, 4000),
	   "a loss has no number if a part of it has none");
	ok(is_loss(1, 0, 4190, 6000),
	   "nor has the other one");
	ok(schedtape_tape_end(tape)->cpus[0].lost == 3 * PAGE_EVENTS, "the sum is known");
	schedtape_tape_close(tape);
}

/* The chunk after a corrupt one gives a later start than its page. */
TEST(last)
{
	unsigned char *chunk;

	begin();
	records_chunk(&r, 0, 0, 1000);
	chunk = records_chunk(&r, 0, 1, 2000);
	put64(chunk + 32 + 24, 5000);
	records_damage(chunk);
	chunk = records_chunk(&r, 0, 2, 4000);
	put64(chunk + 32 + 16, 6000);
	put64(chunk + 32 + 24, 7000);
	seal_record(chunk);
	records_end(&r, 0, 3 * PAGE_EVENTS, 0, 0);
	tape = read_all();
	ok(is_loss(0, PAGE_EVENTS, 2000, 4000), "a loss ends where the next page begins");
	schedtape_tape_close(tape);
}

/* The first page may have any number. */
static void test_first(const char *meta, uint64_t overwritten, const char *what)
{
	const struct schedtape_cpu *cpu;

	records_begin(&r);
	records_text(&r, META, meta);
	records_chunk(&r, 0, 100, 1000);
	records_damage(records_chunk(&r, 0, 101, 2000));
	records_chunk(&r, 0, 102, 3000);
	records_end(&r, 0, 3 * PAGE_EVENTS, overwritten, 0);
	tape = read_all();
	cpu = &schedtape_tape_end(tape)->cpus[0];
	ok(cpu->lost == PAGE_EVENTS && cpu->lost_first == 1190 && cpu->lost_last == 3000,
	   "nothing is lost before the first page of %s", what);
	schedtape_tape_close(tape);
}

/* -- the chosen time ------------------------------------------------------- */

TEST(window)
{
	begin();
	records_chunk(&r, 0, 0, 1000);
	records_chunk(&r, 0, 1, 2000);
	records_end(&r, 0, 2 * PAGE_EVENTS, 0, 1190);
	tape = read_all();
	ok(got.n == 1 + PAGE_EVENTS && got.ev[0].time == 1190,
	   "the last event of a chunk is within, if the chosen time begins with it");
	ok(schedtape_tape_end(tape)->start_time == 1190 && schedtape_tape_end(tape)->began == 500,
	   "and the recording starts there");
	schedtape_tape_close(tape);

	begin();
	records_chunk(&r, 0, 0, 1000);
	records_end(&r, 0, PAGE_EVENTS, 0, 70000);
	tape = read_all();
	ok(!got.n && schedtape_tape_end(tape)->start_time == 60000,
	   "a chosen time behind the end begins at the end");
	schedtape_tape_close(tape);
}

int main(void)
{
	blob_init(&b);
	tap_run();
	test_missing(true);
	test_missing(false);
	test_first("{}", 140, "a ring that is overwritten");
	test_first("{\"part\":2}", 0, "a tape that follows another one");
	free(r.data);
	free(got.ev);
	return tap_done();
}
