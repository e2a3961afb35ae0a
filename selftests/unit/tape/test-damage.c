// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: from a tape that was cut anywhere, or has any byte wrong, all that is left is
 * read, missing events are reported, and no event is made up.
 */
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

/* From one tried byte to the next one. */
#define STEP	(SANITIZED ? 5 : 1)

static struct sample sample;
static struct schedtape_tape *tape;
static struct blob b;
static struct schedtape_error err;

/* -- cuts ------------------------------------------------------------------ */

/* Only a record's padding may be missing without a loss. */
static size_t record_end(unsigned char *data, const unsigned char *record)
{
	return record - data + 32 + get32(record + 8) + get32(record + 12);
}

static bool cut_right(const unsigned char *data, size_t cut, bool whole,
		      const struct events *want, struct events *got)
{
	bool right;

	tape = blob_open(&b, data, cut, &err);
	if (!tape)
		return cut < 32 && err.text[0];
	events_read(tape, got);
	right = cut >= 32 && events_same(got, want) && whole == !schedtape_tape_damage(tape);
	schedtape_tape_close(tape);
	return right;
}

static void test_cut(int level)
{
	struct events want[SAMPLE_ALL + 1] = { 0 }, got = { 0 };
	size_t size, cut, k, ends[SAMPLE_ALL], wrong = 0, first = 0;
	unsigned char *data;

	/* The content of a tape that was written up to there. */
	for (k = 0; k <= SAMPLE_ALL; k++) {
		sample_write(&sample, b.path, level, k, &err);
		if (schedtape_tape_open(b.path, &tape, &err))
			exit(1);
		events_read(tape, &want[k]);
		schedtape_tape_close(tape);
	}
	data = blob_get(&b, &size);
	for (k = 0; k < SAMPLE_BATCHES; k++)
		ends[k] = record_end(data, find_record(data, size, 3, k));
	ends[k] = record_end(data, find_record(data, size, 4, 0));

	for (cut = 0; cut <= size; cut += STEP) {
		for (k = 0; k < SAMPLE_ALL && ends[k] <= cut; k++)
			;
		if (!cut_right(data, cut, k == SAMPLE_ALL, &want[k], &got) && !wrong++)
			first = cut;
	}
	ok(!wrong, "level %d: cut at %zu bytes, in steps of %d (%zu wrong, the first at %zu)",
	   level, size, STEP, wrong, first);

	for (k = 0; k <= SAMPLE_ALL; k++)
		free(want[k].ev);
	free(data);
	free(got.ev);
}

/* A file system that has the length, but not the last blocks. */
TEST(zero_tail)
{
	struct events got = { 0 };
	size_t size, keep;
	unsigned char *data;

	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);

	keep = sample.bytes[2];
	memset(data + keep, 0, size - keep);
	tape = blob_open(&b, data, size, &err);
	ok(tape && schedtape_tape_damage(tape) && strstr(schedtape_tape_damage(tape), "zeros"),
	   "a tail of zeros: %s", tape ? schedtape_tape_damage(tape) : err.text);
	events_read(tape, &got);
	ok(got.ret == 0 && got.n == 6 * 14 + 1, "everything before it is there");
	schedtape_tape_close(tape);

	/* Zeros from the middle of a page on: that chunk is corrupt. */
	memset(data + keep - 5000, 0, 5000);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &got);
	ok(got.ret == 0 && got.n == 4 * 14 + 1 + 1 && events_count(&got, SCHEDTAPE_EV_LOST) == 2,
	   "zeros within a chunk cost that chunk: %s", schedtape_tape_damage(tape));
	schedtape_tape_close(tape);
	free(data);
	free(got.ev);
}

/* -- flips ----------------------------------------------------------------- */

/* Tests whether @some are events of @all, in their order. Losses don't count. */
static bool events_within(const struct events *some, const struct events *all, size_t *missing)
{
	size_t i, k = 0, found = 0;

	for (i = 0; i < some->n; i++) {
		if (some->ev[i].type == SCHEDTAPE_EV_LOST)
			continue;
		while (k < all->n && memcmp(&some->ev[i], &all->ev[k], sizeof(all->ev[k])))
			k++;
		if (k++ == all->n)
			return false;
		found++;
	}
	*missing = all->n - events_count(all, SCHEDTAPE_EV_LOST) - found;
	return true;
}

struct whole {
	struct events events;
	char meta[256];
};

static bool same_rest(const struct whole *whole)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	const struct schedtape_task_info *tasks;
	size_t n;

	tasks = schedtape_tape_tasks(tape, &n);
	return !strcmp(json_object_to_json_string(tape_meta(tape)), whole->meta) &&
	       n == 2 && tasks[0].start_time == UINT64_MAX && tasks[0].nice == -20 &&
	       tasks[0].affinity_bytes == sizeof(sample_affinity) &&
	       !memcmp(tasks[0].affinity, sample_affinity, sizeof(sample_affinity)) &&
	       !strcmp(tasks[1].comm, sample.tasks[1].comm) &&
	       end->nr_cpus == 4 && end->cpus[2].lost == UINT64_MAX &&
	       end->start_time == 990 && end->stop_time == UINT64_MAX;
}

/* Each event that the end counts is there or lost, and the stream has the same losses. */
static bool all_counted(const struct events *got)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	size_t i;

	/* The end itself is corrupt. */
	if (end->start_time != 990)
		return true;
	for (i = 0; i < end->nr_cpus; i++)
		if (end->cpus[i].events + end->cpus[i].lost !=
		    sample.cpus[i].events + sample.cpus[i].lost ||
		    events_lost_in(got, end->cpus[i].cpu) != end->cpus[i].lost)
			return false;
	return end->nr_cpus == 4;
}

static bool flip_right(const struct whole *whole, struct events *got)
{
	bool torn, right;
	size_t missing;

	events_read(tape, got);
	torn = schedtape_tape_damage(tape);
	right = got->ret == 0 && !got->errors && events_sorted(got) && events_losses_right(got) &&
		events_within(got, &whole->events, &missing) && all_counted(got);
	if (right && missing)
		right = torn;
	if (right && !torn)
		right = events_same(got, &whole->events) && same_rest(whole);

	/* The same after a rewind. */
	if (right && !schedtape_tape_rewind(tape, &err)) {
		struct events again = { 0 };

		events_read(tape, &again);
		right = events_same(got, &again);
		free(again.ev);
	}
	return right;
}

static void test_flip(int level, unsigned char mask)
{
	struct whole whole = { 0 };
	struct events got = { 0 };
	size_t size, at, wrong = 0, first = 0;
	unsigned char *data;
	bool right;

	sample_write(&sample, b.path, level, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &whole.events);
	snprintf(whole.meta, sizeof(whole.meta), "%s",
		 json_object_to_json_string(tape_meta(tape)));
	ok(!schedtape_tape_damage(tape) && same_rest(&whole), "level %d: whole", level);
	schedtape_tape_close(tape);

	for (at = 0; at < size; at += STEP) {
		data[at] ^= mask;
		tape = blob_open(&b, data, size, &err);
		right = at < 32 ? !tape && err.text[0] :
				  tape && flip_right(&whole, &got);
		schedtape_tape_close(tape);
		if (!right && !wrong++)
			first = at;
		data[at] ^= mask;
	}
	ok(!wrong, "level %d: %zu bytes, in steps of %d, ^ %#x (%zu wrong, the first at %zu)",
	   level, size, STEP, mask, wrong, first);

	free(data);
	free(whole.events.ev);
	free(got.ev);
}

static uint64_t lost_of(uint32_t cpu)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		if (end->cpus[i].cpu == cpu)
			return end->cpus[i].lost;
	return 0;
}

/* -- what is left of a corrupt chunk --------------------------------------- */

/* The losses that a corrupt chunk leaves behind. */
TEST(chunk)
{
	struct events got = { 0 };
	struct schedtape_event *ev;
	unsigned char *data, *chunk;
	size_t size, i, lost = 0;

	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	chunk = find_record(data, size, 3, 1);
	chunk[100] ^= 1;
	tape = blob_open(&b, data, size, &err);
	ok(tape && schedtape_tape_damage(tape) && lost_of(1023) == 12 + 28,
	   "a chunk's damage is seen, and counted, before anything is read");
	events_read(tape, &got);
	ok(got.ret == 0 && got.n == 8 * 14 + 4, "the first chunk of a CPU: the rest is there");
	for (ev = NULL, i = 0; i < got.n; i++)
		if (got.ev[i].type == SCHEDTAPE_EV_LOST && got.ev[i].cpu == 1023)
			ev = &got.ev[i], lost++;
	ok(lost == 1 && ev->lost == 28 + 12 && ev->lost_first == 1050 && ev->lost_last == 1349,
	   "and one loss says how many events and when");
	ok(schedtape_tape_damage(tape) && strstr(schedtape_tape_damage(tape), "wrong checksum"),
	   "the tape says so: %s", schedtape_tape_damage(tape));
	schedtape_tape_close(tape);

	/* The CPU's other chunk, too: only the loss is left. */
	find_record(data, size, 3, 4)[100] ^= 1;
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &got);
	for (ev = NULL, lost = 0, i = 0; i < got.n; i++)
		if (got.ev[i].cpu == 1023 && !lost++)
			ev = &got.ev[i];
	ok(lost == 1 && ev->type == SCHEDTAPE_EV_LOST && ev->lost == 56 + 12 &&
	   ev->lost_first == 1050 && ev->lost_last == 1749,
	   "two damaged chunks in a row are one loss, with the events that the ring lost");
	schedtape_tape_close(tape);

	/* An impossible number of events: the end record's is used. */
	put64(chunk + 32 + 32, 1ULL << 60);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &got);
	ok(events_lost_in(&got, 1023) == 56 + 12,
	   "an impossible number is not believed");
	schedtape_tape_close(tape);

	/* Without an end record, the corrupt chunk's number is used. */
	size = find_record(data, size, 4, 0) - data;
	put64(chunk + 32 + 32, 28);
	tape = blob_open(&b, data, size, &err);
	ok(lost_of(1023) == 56, "a possible count is taken if there is no other one");
	schedtape_tape_close(tape);
	put32(chunk + 32, 1 << 20);
	tape = blob_open(&b, data, size, &err);
	ok(lost_of(1023) == 28 && schedtape_tape_end(tape)->nr_cpus == 3,
	   "a CPU that cannot be is none");
	schedtape_tape_close(tape);
	free(data);
	free(got.ev);
}

/* A record with a wrong length hides the start of the next one. */
TEST(resync)
{
	struct events got = { 0 };
	unsigned char *data;
	size_t size;

	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	put32(find_record(data, size, 3, 0) + 12, 0x7fffffff);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &got);
	ok(tape && got.ret == 0 && got.n >= 8 * 14 && schedtape_tape_damage(tape),
	   "the next record is found again: %s", schedtape_tape_damage(tape));
	ok(schedtape_tape_end(tape)->start_time == 990, "so is the end");
	schedtape_tape_close(tape);
	free(data);
	free(got.ev);
}

int main(void)
{
	blob_init(&b);
	sample_make(&sample);
	test_cut(0);
	test_cut(3);
	tap_run();
	test_flip(3, 0x01);
	test_flip(3, 0x80);
	test_flip(3, 0xff);
	test_flip(0, 0x10);
	json_object_put(sample.meta);
	return tap_done();
}
