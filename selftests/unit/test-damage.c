// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a tape that was cut anywhere, or has any byte wrong, gives what
 * is left of it, says what is missing and never makes anything up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct schedtape_error err;

static struct schedtape_tape *open_bytes(struct blob *b, const void *data, size_t size)
{
	struct schedtape_tape *tape;

	blob_put(b, data, size);
	return schedtape_tape_open(b->path, &tape, &err) ? NULL : tape;
}

/* -- cuts ------------------------------------------------------------------ */

/* Only a record's padding may be missing without any loss. */
static size_t record_end(unsigned char *data, const unsigned char *record)
{
	return record - data + 32 + get32(record + 8) + get32(record + 12);
}

static bool cut_right(struct blob *b, const unsigned char *data, size_t cut, bool whole,
		      const struct events *want, struct events *got)
{
	struct schedtape_tape *tape;
	bool right;

	tape = open_bytes(b, data, cut);
	if (!tape)
		return cut < 32 && err.text[0];
	events_read(tape, got);
	right = cut >= 32 && events_same(got, want) && whole == !schedtape_tape_torn(tape);
	schedtape_tape_close(tape);
	return right;
}

static void test_cut(int level)
{
	struct events want[SAMPLE_ALL + 1] = { 0 }, got = { 0 };
	size_t size, cut, k, ends[SAMPLE_ALL], wrong = 0, first = 0;
	struct schedtape_tape *tape;
	unsigned char *data;
	struct blob b;

	/* What a tape has that was never longer. */
	blob_init(&b);
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

	for (cut = 0; cut <= size; cut++) {
		for (k = 0; k < SAMPLE_ALL && ends[k] <= cut; k++)
			;
		if (!cut_right(&b, data, cut, k == SAMPLE_ALL, &want[k], &got) && !wrong++)
			first = cut;
	}
	ok(!wrong, "level %d: cut at each of %zu bytes (%zu wrong, the first at %zu)", level,
	   size, wrong, first);

	for (k = 0; k <= SAMPLE_ALL; k++)
		free(want[k].ev);
	free(data);
	free(got.ev);
	close(b.fd);
}

/* A file system that has the length, but not the last blocks. */
static void test_zero_tail(void)
{
	struct events got = { 0 };
	struct schedtape_tape *tape;
	size_t size, keep;
	unsigned char *data;
	struct blob b;

	blob_init(&b);
	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);

	keep = sample.bytes[2];
	memset(data + keep, 0, size - keep);
	tape = open_bytes(&b, data, size);
	ok(tape && schedtape_tape_torn(tape) && strstr(schedtape_tape_torn(tape), "zeros"),
	   "a tail of zeros: %s", tape ? schedtape_tape_torn(tape) : err.text);
	events_read(tape, &got);
	ok(got.ret == 0 && got.n == 6 * 14 + 1, "everything before it is there");
	schedtape_tape_close(tape);

	/* Zeros from the middle of a page on: that chunk is damaged. */
	memset(data + keep - 5000, 0, 5000);
	tape = open_bytes(&b, data, size);
	events_read(tape, &got);
	ok(got.ret == 0 && got.n == 4 * 14 + 1 + 1 && events_count(&got, SCHEDTAPE_EV_LOST) == 2,
	   "zeros within a chunk cost that chunk: %s", schedtape_tape_torn(tape));
	schedtape_tape_close(tape);
	free(data);
	free(got.ev);
	close(b.fd);
}

/* -- flips ----------------------------------------------------------------- */

/* Is every event of @some one of @all, in their order?  Losses don't count. */
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

static bool losses_right(const struct events *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->ev[i].type == SCHEDTAPE_EV_LOST &&
		    (e->ev[i].time > e->ev[i].lost_first ||
		     e->ev[i].lost_first > e->ev[i].lost_last))
			return false;
	return true;
}

struct whole {
	struct events events;
	char meta[256];
};

static bool same_rest(struct schedtape_tape *tape, const struct whole *whole)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	const struct schedtape_task *tasks;
	size_t n;

	tasks = schedtape_tape_tasks(tape, &n);
	return !strcmp(json_object_to_json_string(schedtape_tape_meta(tape)), whole->meta) &&
	       n == 2 && tasks[0].start_time == UINT64_MAX && tasks[0].nice == -20 &&
	       tasks[0].affinity_bytes == sizeof(sample_affinity) &&
	       !memcmp(tasks[0].affinity, sample_affinity, sizeof(sample_affinity)) &&
	       !strcmp(tasks[1].comm, sample.tasks[1].comm) &&
	       end->nr_cpus == 4 && end->cpus[2].lost == UINT64_MAX &&
	       end->start_time == 990 && end->stop_time == UINT64_MAX;
}

static bool flip_right(struct schedtape_tape *tape, const struct whole *whole,
		       struct events *got)
{
	bool torn, right;
	size_t missing;

	events_read(tape, got);
	torn = schedtape_tape_torn(tape);
	right = got->ret == 0 && !got->errors && events_sorted(got) && losses_right(got) &&
		events_within(got, &whole->events, &missing);
	if (right && missing)
		right = torn;
	if (right && !torn)
		right = events_same(got, &whole->events) && same_rest(tape, whole);

	/* The same once more. */
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
	struct schedtape_tape *tape;
	unsigned char *data;
	struct blob b;
	bool right;

	blob_init(&b);
	sample_write(&sample, b.path, level, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	tape = open_bytes(&b, data, size);
	events_read(tape, &whole.events);
	snprintf(whole.meta, sizeof(whole.meta), "%s",
		 json_object_to_json_string(schedtape_tape_meta(tape)));
	ok(!schedtape_tape_torn(tape) && same_rest(tape, &whole), "level %d: whole", level);
	schedtape_tape_close(tape);

	for (at = 0; at < size; at++) {
		data[at] ^= mask;
		tape = open_bytes(&b, data, size);
		right = at < 32 ? !tape && err.text[0] :
				  tape && flip_right(tape, &whole, &got);
		schedtape_tape_close(tape);
		if (!right && !wrong++)
			first = at;
		data[at] ^= mask;
	}
	ok(!wrong, "level %d: each of %zu bytes ^ %#x (%zu wrong, the first at %zu)", level, size,
	   mask, wrong, first);

	free(data);
	free(whole.events.ev);
	free(got.ev);
	close(b.fd);
}

static uint64_t lost_of(struct schedtape_tape *tape, uint32_t cpu)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		if (end->cpus[i].cpu == cpu)
			return end->cpus[i].lost;
	return 0;
}

/* -- each bit of one header ------------------------------------------------ */

#define NO_BATCH	SAMPLE_BATCHES
#define BATCH_EVENTS	28

static uint64_t lost_in(const struct events *e, uint32_t cpu)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->ev[i].type == SCHEDTAPE_EV_LOST && e->ev[i].cpu == cpu)
			lost += e->ev[i].lost;
	return lost;
}

static const struct stape_page_header *page_of(unsigned int batch, unsigned int page)
{
	return (const void *)sample.pages[batch][page];
}

static bool is_of(const struct schedtape_event *ev, unsigned int batch)
{
	return batch != NO_BATCH && ev->cpu == page_of(batch, 0)->cpu &&
	       ev->time >= page_of(batch, 0)->time && ev->time <= page_of(batch, 1)->end;
}

/* All that @whole has, but what @batch has; losses don't count. */
static bool all_others(const struct events *got, const struct events *whole, unsigned int batch)
{
	size_t i, k = 0;

	for (i = 0; i < whole->n; i++) {
		const struct schedtape_event *ev = &whole->ev[i];

		if (ev->type == SCHEDTAPE_EV_LOST || is_of(ev, batch))
			continue;
		while (k < got->n && got->ev[k].type == SCHEDTAPE_EV_LOST)
			k++;
		if (k == got->n || memcmp(ev, &got->ev[k++], sizeof(*ev)))
			return false;
	}
	while (k < got->n && got->ev[k].type == SCHEDTAPE_EV_LOST)
		k++;
	return k == got->n;
}

/* @batch is gone, and each CPU has lost as much as it did and its events. */
static bool batch_right(struct schedtape_tape *tape, struct schedtape_tape *sound,
			const struct events *whole, unsigned int batch)
{
	const struct schedtape_end *a = schedtape_tape_end(sound);
	const struct schedtape_end *b = schedtape_tape_end(tape);
	struct events got = { 0 };
	bool right;
	size_t i;

	events_read(tape, &got);
	right = got.ret == 0 && !got.errors && events_sorted(&got) && losses_right(&got) &&
		all_others(&got, whole, batch) && a->nr_cpus == b->nr_cpus &&
		schedtape_tape_chunks(tape) == SAMPLE_BATCHES - 1;
	for (i = 0; i < a->nr_cpus && right; i++) {
		const struct schedtape_cpu *cpu = &b->cpus[i];
		uint64_t lost = a->cpus[i].cpu == page_of(batch, 0)->cpu ? BATCH_EVENTS : 0;

		right = cpu->cpu == a->cpus[i].cpu && cpu->lost == a->cpus[i].lost + lost &&
			cpu->events == a->cpus[i].events - lost &&
			lost_in(&got, cpu->cpu) == cpu->lost;
		if (lost)
			right = right && cpu->lost_first < page_of(batch, 1)->end &&
				cpu->lost_last > page_of(batch, 0)->time;
	}
	free(got.ev);
	return right;
}

/* Anything else is gone, and every event is there. */
static bool other_right(struct schedtape_tape *tape, const struct events *whole, unsigned int type)
{
	struct events got = { 0 };
	bool right, described;
	size_t n;

	schedtape_tape_tasks(tape, &n);
	described = json_object_object_get_ex(schedtape_tape_meta(tape), "arch", NULL);
	events_read(tape, &got);
	right = got.ret == 0 && !got.errors && all_others(&got, whole, NO_BATCH) &&
		n == (type == 2 ? 0 : 2) && described == (type != 1) &&
		(schedtape_tape_end(tape)->start_time == 990) == (type != 4);
	free(got.ev);
	return right;
}

/* @bytes: of the header, and of what a chunk has behind it */
static size_t flip_bits(struct blob *b, unsigned char *data, size_t size, unsigned int type,
			unsigned int n, unsigned int bytes)
{
	unsigned char *record = find_record(data, size, type, n);
	struct events whole = { 0 };
	struct schedtape_tape *sound, *tape;
	struct blob other;
	size_t bit, wrong = 0;
	bool right;

	blob_init(&other);
	sound = open_bytes(&other, data, size);
	events_read(sound, &whole);
	for (bit = 0; bit < 8 * bytes; bit++) {
		record[bit / 8] ^= 1 << bit % 8;
		tape = open_bytes(b, data, size);
		right = tape && schedtape_tape_torn(tape) &&
			(type == 3 ? batch_right(tape, sound, &whole, n) :
				     other_right(tape, &whole, type));
		if (!right && !wrong++)
			printf("# type %u, number %u: byte %zu, bit %zu: %s\n", type, n, bit / 8,
			       bit % 8, tape ? schedtape_tape_torn(tape) : err.text);
		schedtape_tape_close(tape);
		record[bit / 8] ^= 1 << bit % 8;
	}
	schedtape_tape_close(sound);
	free(whole.ev);
	close(other.fd);
	return wrong;
}

static void test_bits(int level)
{
	static const char * const names[] = { "", "META", "TASKS", "chunk", "END", "CLOCK" };
	unsigned int type, n;
	unsigned char *data;
	struct blob b;
	size_t size;

	blob_init(&b);
	sample_write(&sample, b.path, level, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	for (n = 0; n < SAMPLE_BATCHES; n++)
		ok(!flip_bits(&b, data, size, 3, n, 32 + 48),
		   "level %d: chunk %u: any bit of its header costs it, and is counted", level, n);
	for (type = 1; type <= 5; type++)
		if (type != 3)
			ok(!flip_bits(&b, data, size, type, 0, 32),
			   "level %d: %s: any bit costs it, and no event", level, names[type]);
	free(data);
	close(b.fd);
}

/* -- what is known of a damaged chunk -------------------------------------- */

/* Which losses a damaged chunk leaves behind. */
static void test_chunk(void)
{
	struct events got = { 0 };
	struct schedtape_tape *tape;
	struct schedtape_event *ev;
	unsigned char *data, *chunk;
	size_t size, i, lost = 0;
	struct blob b;

	blob_init(&b);
	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	chunk = find_record(data, size, 3, 1);
	chunk[100] ^= 1;
	tape = open_bytes(&b, data, size);
	ok(tape && schedtape_tape_torn(tape) && lost_of(tape, 1023) == 12 + 28,
	   "a chunk's damage is seen, and counted, before anything is read");
	events_read(tape, &got);
	ok(got.ret == 0 && got.n == 8 * 14 + 4, "the first chunk of a CPU: the rest is there");
	for (ev = NULL, i = 0; i < got.n; i++)
		if (got.ev[i].type == SCHEDTAPE_EV_LOST && got.ev[i].cpu == 1023)
			ev = &got.ev[i], lost++;
	ok(lost == 1 && ev->lost == 28 + 12 && ev->lost_first == 1050 && ev->lost_last == 1349,
	   "and one loss says how many events and when");
	ok(schedtape_tape_torn(tape) && strstr(schedtape_tape_torn(tape), "wrong checksum"),
	   "the tape says so: %s", schedtape_tape_torn(tape));
	schedtape_tape_close(tape);

	/* The other chunk of that CPU, too: nothing is left of it but the loss. */
	find_record(data, size, 3, 4)[100] ^= 1;
	tape = open_bytes(&b, data, size);
	events_read(tape, &got);
	for (ev = NULL, lost = 0, i = 0; i < got.n; i++)
		if (got.ev[i].cpu == 1023 && !lost++)
			ev = &got.ev[i];
	ok(lost == 1 && ev->type == SCHEDTAPE_EV_LOST && ev->lost == 56 + 12 &&
	   ev->lost_first == 1050 && ev->lost_last == 1749,
	   "two in a row are one loss, with what the ring had no room for");
	schedtape_tape_close(tape);

	/* A number of events that cannot be: the end knows better. */
	put64(chunk + 32 + 32, 1ULL << 60);
	tape = open_bytes(&b, data, size);
	events_read(tape, &got);
	ok(lost_in(&got, 1023) == 56 + 12,
	   "an impossible number is not believed");
	schedtape_tape_close(tape);

	/* Without an end, what the damaged chunk says is all that is known. */
	size = find_record(data, size, 4, 0) - data;
	put64(chunk + 32 + 32, 28);
	tape = open_bytes(&b, data, size);
	ok(lost_of(tape, 1023) == 56, "one that can be is, if nobody knows better");
	schedtape_tape_close(tape);
	put32(chunk + 32, 1 << 20);
	tape = open_bytes(&b, data, size);
	ok(lost_of(tape, 1023) == 28 && schedtape_tape_end(tape)->nr_cpus == 3,
	   "a CPU that cannot be is none");
	schedtape_tape_close(tape);
	free(data);
	free(got.ev);
	close(b.fd);
}

/* A record whose length is wrong hides where the next one begins. */
static void test_resync(void)
{
	struct events got = { 0 };
	struct schedtape_tape *tape;
	unsigned char *data;
	struct blob b;
	size_t size;

	blob_init(&b);
	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	put32(find_record(data, size, 3, 0) + 12, 0x7fffffff);
	tape = open_bytes(&b, data, size);
	events_read(tape, &got);
	ok(tape && got.ret == 0 && got.n >= 8 * 14 && schedtape_tape_torn(tape),
	   "the next record is found again: %s", schedtape_tape_torn(tape));
	ok(schedtape_tape_end(tape)->start_time == 990, "so is the end");
	schedtape_tape_close(tape);
	free(data);
	free(got.ev);
	close(b.fd);
}

int main(void)
{
	sample_make(&sample);
	test_cut(0);
	test_cut(3);
	test_zero_tail();
	test_flip(3, 0x01);
	test_flip(3, 0x80);
	test_flip(3, 0xff);
	test_flip(0, 0x10);
	test_bits(0);
	test_bits(3);
	test_chunk();
	test_resync();
	json_object_put(sample.meta);
	return tap_done();
}
