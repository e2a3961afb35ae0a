// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: times of a counter are converted to ns of CLOCK_MONOTONIC, exactly and in order,
 * whatever clock records a tape has.
 */
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

/* The library is built with 128-bit numbers, this copy of the header's function without. */
#undef __SIZEOF_INT128__
#include "tape/clock.h"

#include "random.h"
#include "tap.h"
#include "tapes.h"

static struct schedtape_error err;

/* A number of any size: large ones are not more frequent than small ones. */
static uint64_t random_any(void)
{
	return random64() >> random64() % 64;
}

static uint64_t saturate(unsigned __int128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : value;
}

TEST(multiply)
{
	unsigned int i, shift, wrong = 0;
	uint64_t a, b;

	for (i = 0; i < 1000000; i++) {
		a = random_any();
		b = random_any();
		shift = random64() % 128;
		wrong += tape_multiply(a, b, shift) !=
			 saturate((unsigned __int128)a * b >> shift);
	}
	ok(!wrong, "multiplying without 128 bits (%u wrong)", wrong);
}

/* -- lines ----------------------------------------------------------------- */

static void clocks_make(struct tape_clocks *clocks, const struct stape_clock_sample *samples,
			size_t n)
{
	size_t i;

	memset(clocks, 0, sizeof(*clocks));
	for (i = 0; i < n; i++)
		if (tape_clocks_add(clocks, &samples[i]))
			exit(1);
	if (tape_clocks_init(clocks))
		exit(1);
}

/* 3 GHz with a small error; NTP slews between the second and the third. */
static const struct stape_clock_sample tsc[] = {
	{ .counter = 5000000000000, .mono = 1000000000, .khz = 3000000 },
	{ .counter = 5030000300000, .mono = 11000000000, .khz = 3000000 },
	{ .counter = 5060000900000, .mono = 21000001234, .khz = 3000000 },
};

TEST(lines)
{
	uint64_t counter, ns, want, before = 0;
	struct tape_clocks clocks;
	unsigned int wrong = 0, back = 0;
	size_t i;

	clocks_make(&clocks, tsc, 3);
	for (i = 0; i < 3; i++)
		wrong += tape_clocks_ns(&clocks, tsc[i].counter) - tsc[i].mono > 0;
	ok(!wrong, "a sample's time is the sample's");
	for (counter = 4998000000000; counter < 5070000000000; counter += 1234567) {
		i = counter >= tsc[1].counter;
		want = tsc[i].mono + (int64_t)((__int128)((int64_t)(counter - tsc[i].counter)) *
					       (int64_t)(tsc[i + 1].mono - tsc[i].mono) /
					       (int64_t)(tsc[i + 1].counter - tsc[i].counter));
		ns = tape_clocks_ns(&clocks, counter);
		wrong += ns != want && counter >= tsc[0].counter;
		wrong += ns + 1 < want || ns > want + 1;
		back += ns < before;
		before = ns;
	}
	ok(!wrong, "on a straight line in between, before and behind (%u wrong)", wrong);
	ok(!back, "and never backwards");
	ok(tape_clocks_ns(&clocks, 5000000000000) == 1000000000, "back to the first line");
	ok(tape_clocks_ns(&clocks, 0) == 0, "not below 0");
	ok(tape_clocks_ns(&clocks, UINT64_MAX) > 6000000000000000000, "to the end");
	tape_clocks_exit(&clocks);
}

/* Counters of all machines, which are slower and faster than a GHz. */
TEST(rates)
{
	static const uint64_t rates[] = { 1000, 24000, 999999, 1000000, 1000001, 1500000, 2300000,
					  4096000, 5000001, 400000000 };
	struct stape_clock_sample samples[2] = { { .counter = 12345, .mono = 1000000 } };
	struct tape_clocks clocks;
	unsigned int i, round, wrong = 0;
	uint64_t ticks, want;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		samples[1].counter = samples[0].counter + rates[i] * 10007 + 1;
		samples[1].mono = samples[0].mono + 10007000000;
		clocks_make(&clocks, samples, 2);
		for (round = 0; round < 1000; round++) {
			ticks = random64() % (samples[1].counter - samples[0].counter);
			want = samples[0].mono + (unsigned __int128)ticks * 10007000000 /
						 (rates[i] * 10007 + 1);
			wrong += tape_clocks_ns(&clocks, samples[0].counter + ticks) != want;
		}
		tape_clocks_exit(&clocks);
	}
	ok(!wrong, "counters of any rate (%u wrong)", wrong);
}

TEST(one_sample)
{
	struct stape_clock_sample one = { .counter = 1000, .mono = 5000, .khz = 2500000 };
	struct tape_clocks clocks;

	clocks_make(&clocks, &one, 1);
	ok(tape_clocks_ns(&clocks, 3500) == 6000 && tape_clocks_ns(&clocks, 0) == 4600,
	   "one sample: by its rate");
	tape_clocks_exit(&clocks);

	one.khz = 0;
	clocks_make(&clocks, &one, 1);
	ok(tape_clocks_ns(&clocks, 3500) == 7500 && tape_clocks_ns(&clocks, 0) == 4000,
	   "a rate of 0 is ns");
	tape_clocks_exit(&clocks);

	clocks_make(&clocks, tsc, 0);
	ok(tape_clocks_ns(&clocks, 77) == 77, "no sample: counters are taken as ns");
	tape_clocks_exit(&clocks);
}

/* Samples of almost the same time: the slope between them is random. */
TEST(near)
{
	const struct stape_clock_sample near[] = {
		{ .counter = 3000000, .mono = 1000000, .khz = 3000000 },
		{ .counter = 3000030, .mono = 1000500, .khz = 3000000 },
		{ .counter = 3000060, .mono = 1000500, .khz = 3000000 },
	};
	struct tape_clocks clocks;
	uint64_t ns;

	clocks_make(&clocks, near, 3);
	ns = tape_clocks_ns(&clocks, 6000000);
	ok(ns == 2000000, "samples too near to each other make no slope");
	tape_clocks_exit(&clocks);
}

TEST(hostile)
{
	unsigned int round, wrong = 0, i, n;
	struct stape_clock_sample samples[8];
	uint64_t counter, ns, before;
	struct tape_clocks clocks;

	for (round = 0; round < 100000; round++) {
		n = 1 + random64() % 8;
		for (i = 0; i < n; i++)
			samples[i] = (struct stape_clock_sample) {
				.counter = round % 3 ? random_any() : UINT64_MAX - random_any(),
				.mono = round % 5 ? random_any() : UINT64_MAX - random_any(),
				.khz = random_any(),
			};
		clocks_make(&clocks, samples, n);
		before = 0;
		counter = random_any();
		for (i = 0; i < 30; i++) {
			ns = tape_clocks_ns(&clocks, counter);
			wrong += ns < before;
			before = ns;
			ns = i % 2 ? 1 : random_any();
			if (ns > UINT64_MAX - counter)
				break;
			counter += ns;
		}
		tape_clocks_exit(&clocks);
	}
	ok(!wrong, "any samples at all: time never goes back (%u times)", wrong);
}

/* -- tapes ----------------------------------------------------------------- */

#define KHZ	3000000

static void put_page(struct schedtape_writer *w, uint32_t cpu, uint64_t time)
{
	unsigned char page[STAPE_PAGE_SIZE];
	struct maker m;

	maker_begin(&m, page, cpu, 0, time);
	maker_lost(&m, 3, time - 3000, time - 1500);
	maker_event(&m, time + 1 - cpu, STAPE_EV_EXIT, cpu, 0);
	maker_event(&m, time + 30000000, STAPE_EV_EXIT, cpu, 0);
	schedtape_writer_pages(w, page, 1, &err);
}

static struct schedtape_tape *open_counter(struct blob *b, bool with_clock)
{
	const struct schedtape_cpu cpus[] = {
		{ .cpu = 0, .events = 2, .lost = 3, .lost_first = 297000, .lost_last = 298500 },
		{ .cpu = 1, .events = 2, .lost = 3, .lost_first = 297000, .lost_last = 298500 },
	};
	const struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 1000000, .stop_time = 20000000, .cpus = cpus, .nr_cpus = 2,
	};
	const struct stape_clock_sample first = {
		.counter = 300000, .mono = 1100000, .boot = 1100000, .real = 5000000000, .khz = KHZ,
	}, last = {
		.counter = 30300000, .mono = 11100000, .boot = 11100000, .real = 7010000000,
		.khz = KHZ, .unstable = 1,
	};
	struct json_object *meta = json_object_new_object();
	struct schedtape_tape *tape;
	struct schedtape_writer *w;

	blob_init(b);
	if (tape_writer_create(b->path, meta, NULL, &w, &err))
		exit(1);
	if (with_clock)
		schedtape_writer_clock(w, &first, &err);
	put_page(w, 1, 300000);
	put_page(w, 0, 300000);
	if (with_clock)
		schedtape_writer_clock(w, &last, &err);
	schedtape_writer_end(w, &end, &err);
	schedtape_writer_close(w, &err);
	json_object_put(meta);
	if (schedtape_tape_open(b->path, &tape, &err))
		exit(1);
	return tape;
}

/* A sleep of 3 s, in which CLOCK_REALTIME goes on, too. */
static void test_sleep(const struct stape_clock_sample *from)
{
	struct stape_clock_sample to = *from;

	to.mono += 1000000;
	to.boot += 3001000000;
	to.real += 3001000000;
	ok(schedtape_clock_sleep(from, &to) == 3000000000, "the machine slept for 3 s");
	ok(!schedtape_clock_step(from, &to), "a sleep sets no clock");
	ok(!schedtape_clock_sleep(&to, from), "no sleep is shorter than nothing");
}

TEST(tape)
{
	const struct stape_clock_sample *samples;
	const struct schedtape_end *end;
	struct events e = { 0 };
	struct schedtape_tape *tape;
	struct blob b;
	size_t n;

	tape = open_counter(&b, true);
	samples = schedtape_tape_clocks(tape, &n);
	ok(n == 2 && samples[0].counter == 300000 && samples[1].unstable && !samples[0].unstable &&
	   samples[1].khz == KHZ, "the samples are there");
	ok(schedtape_tape_uses_counter(tape), "the clock was a counter");
	ok(schedtape_clock_step(&samples[0], &samples[1]) == 2000000000,
	   "somebody set CLOCK_REALTIME by 2 s");
	ok(schedtape_clock_step(&samples[1], &samples[0]) == -2000000000 &&
	   !schedtape_clock_step(&samples[0], &samples[0]), "or back, or not at all");
	ok(!schedtape_clock_sleep(&samples[0], &samples[1]), "the machine did not sleep");
	test_sleep(&samples[0]);

	end = schedtape_tape_end(tape);
	ok(end->start_time == 1000000 && end->stop_time == 20000000 && end->began == 1000000 &&
	   end->cpus[1].lost_first == 1099000 && end->cpus[1].lost_last == 1099500,
	   "the end has ns");
	events_read(tape, &e);
	ok(e.n == 6 && e.ev[0].type == SCHEDTAPE_EV_LOST && e.ev[0].lost_first == 1099000 &&
	   e.ev[0].time == 1099000 && e.ev[1].lost_last == 1099500, "so have losses");
	ok(e.ev[2].time == 1100000 && e.ev[3].time == 1100000 && e.ev[2].cpu == 1 &&
	   e.ev[3].cpu == 0, "events in one ns stay in their order");
	ok(e.ev[4].time == 11100000 && e.ev[5].time == 11100000, "10 ms later");
	schedtape_tape_close(tape);
	free(e.ev);
	close(b.fd);
}

TEST(without)
{
	struct events e = { 0 };
	struct schedtape_tape *tape;
	struct blob b;

	tape = open_counter(&b, false);
	events_read(tape, &e);
	ok(!schedtape_tape_uses_counter(tape) && e.n == 6 && e.ev[3].time == 300001,
	   "a tape of before has ns");
	schedtape_tape_close(tape);
	free(e.ev);
	close(b.fd);
}

TEST_MAIN
