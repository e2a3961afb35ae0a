// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a wrong bit costs the record that it is in, wherever in its header it is: all
 * others are read, and the record's events count as lost.
 */
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct schedtape_error err;

/* -- each bit of one header ------------------------------------------------ */

#define NO_BATCH	SAMPLE_BATCHES
#define BATCH_EVENTS	28

static const struct stape_page_header *page_of(unsigned int batch, unsigned int page)
{
	return (const void *)sample.pages[batch][page];
}

static bool is_of(const struct schedtape_event *ev, unsigned int batch)
{
	return batch != NO_BATCH && ev->cpu == page_of(batch, 0)->cpu &&
	       ev->time >= page_of(batch, 0)->time && ev->time <= page_of(batch, 1)->end;
}

/* Tests for all events of @whole but those of @batch; losses don't count. */
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

/* @batch is missing, and each CPU has lost its events in addition to its other losses. */
static bool batch_right(struct schedtape_tape *tape, struct schedtape_tape *sound,
			const struct events *whole, unsigned int batch)
{
	const struct schedtape_end *a = schedtape_tape_end(sound);
	const struct schedtape_end *b = schedtape_tape_end(tape);
	struct events got = { 0 };
	bool right;
	size_t i;

	events_read(tape, &got);
	right = got.ret == 0 && !got.errors && events_sorted(&got) && events_losses_right(&got) &&
		all_others(&got, whole, batch) && a->nr_cpus == b->nr_cpus &&
		schedtape_tape_chunks(tape) == SAMPLE_BATCHES - 1;
	for (i = 0; i < a->nr_cpus && right; i++) {
		const struct schedtape_cpu *cpu = &b->cpus[i];
		uint64_t lost = a->cpus[i].cpu == page_of(batch, 0)->cpu ? BATCH_EVENTS : 0;

		right = cpu->cpu == a->cpus[i].cpu && cpu->lost == a->cpus[i].lost + lost &&
			cpu->events == a->cpus[i].events - lost &&
			events_lost_in(&got, cpu->cpu) == cpu->lost;
		if (lost)
			right = right && cpu->lost_first < page_of(batch, 1)->end &&
				cpu->lost_last > page_of(batch, 0)->time;
	}
	free(got.ev);
	return right;
}

/* Another record is missing, and every event is there. */
static bool other_right(struct schedtape_tape *tape, const struct events *whole, unsigned int type)
{
	struct events got = { 0 };
	bool right, described;
	size_t n;

	schedtape_tape_tasks(tape, &n);
	described = json_object_object_get_ex(tape_meta(tape), "arch", NULL);
	events_read(tape, &got);
	right = got.ret == 0 && !got.errors && all_others(&got, whole, NO_BATCH) &&
		n == (type == 2 ? 0 : 2) && described == (type != 1) &&
		(schedtape_tape_end(tape)->start_time == 990) == (type != 4);
	free(got.ev);
	return right;
}

/* @bytes: of the header, and of a chunk's data after it */
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
	sound = blob_open(&other, data, size, &err);
	events_read(sound, &whole);
	for (bit = 0; bit < 8 * bytes; bit++) {
		record[bit / 8] ^= 1 << bit % 8;
		tape = blob_open(b, data, size, &err);
		right = tape && schedtape_tape_damage(tape) &&
			(type == 3 ? batch_right(tape, sound, &whole, n) :
				     other_right(tape, &whole, type));
		if (!right && !wrong++)
			printf("# type %u, number %u: byte %zu, bit %zu: %s\n", type, n, bit / 8,
			       bit % 8, tape ? schedtape_tape_damage(tape) : err.text);
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

/* -- damage in many places ------------------------------------------------- */

#define MANY_CPUS	3
#define MANY_CHUNKS	12	/* of each */
#define CHUNK_EVENTS	20
#define MANY_ROUNDS	400

static void write_many(struct blob *b)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = 1 };
	struct schedtape_cpu cpus[MANY_CPUS] = { 0 };
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 990, .stop_time = 90000, .cpus = cpus, .nr_cpus = MANY_CPUS,
	};
	unsigned char page[STAPE_PAGE_SIZE];
	struct schedtape_writer *w;
	unsigned int i, k;
	struct maker m;

	if (tape_writer_create(b->path, sample.meta, &options, &w, &err))
		exit(1);
	for (i = 0; i < MANY_CPUS * MANY_CHUNKS; i++) {
		cpus[i % MANY_CPUS].cpu = i % MANY_CPUS;
		cpus[i % MANY_CPUS].events += CHUNK_EVENTS;
		maker_begin(&m, page, i % MANY_CPUS, i / MANY_CPUS, 1000 + 700 * i);
		for (k = 0; k < CHUNK_EVENTS; k++)
			maker_event(&m, 1000 + 700 * i + 90 * k, STAPE_EV_WAKEUP, 1 + k, i);
		schedtape_writer_pages(w, page, 1, &err);
	}
	schedtape_writer_end(w, &end, &err);
	schedtape_writer_close(w, &err);
}

/* No event is both there and lost, or neither; and no loss is reported where nothing is lost. */
static bool many_right(struct schedtape_tape *tape, struct events *e)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint64_t there[MANY_CPUS] = { 0 };
	size_t i;

	events_read(tape, e);
	if (e->ret || e->errors || !events_sorted(e) || !events_losses_right(e) ||
	    end->nr_cpus != MANY_CPUS || end->start_time != 990)
		return false;
	for (i = 0; i < e->n; i++)
		if (e->ev[i].type != SCHEDTAPE_EV_LOST)
			there[e->ev[i].cpu]++;
		else if (!end->cpus[e->ev[i].cpu].lost ||
			 e->ev[i].lost > end->cpus[e->ev[i].cpu].lost)
			return false;
	for (i = 0; i < MANY_CPUS; i++) {
		const struct schedtape_cpu *cpu = &end->cpus[i];

		if (cpu->events != there[i] || events_lost_in(e, i) > cpu->lost ||
		    cpu->events + cpu->lost != MANY_CHUNKS * CHUNK_EVENTS ||
		    cpu->lost_first > cpu->lost_last || cpu->lost_last > 90000)
			return false;
	}
	return true;
}

/* The same after the tape was recovered. */
static bool recovered_right(struct schedtape_tape *tape, const struct events *before)
{
	const struct schedtape_copy_options options = { .size = sizeof(options), .recover = true };
	struct schedtape_tape *copy;
	struct events after = { 0 };
	uint64_t bytes;
	struct blob b;
	bool right;

	blob_init(&b);
	if (schedtape_tape_copy(tape, b.path, &options, &bytes, &err) ||
	    schedtape_tape_open(b.path, &copy, &err))
		return false;
	right = !schedtape_tape_damage(copy) && many_right(copy, &after) &&
		after.n - events_count(&after, SCHEDTAPE_EV_LOST) ==
		before->n - events_count(before, SCHEDTAPE_EV_LOST);
	schedtape_tape_close(copy);
	free(after.ev);
	close(b.fd);
	return right;
}

/* Up to five wrong bytes in any chunks, headers included. */
static void test_many(void)
{
	size_t size, at[5], first, last, wrong = 0;
	unsigned char *data, flip[5];
	struct schedtape_tape *tape;
	struct events e = { 0 };
	unsigned int round, i, n;
	struct blob b;

	blob_init(&b);
	write_many(&b);
	data = blob_get(&b, &size);
	first = find_record(data, size, 3, 0) - data;
	last = find_record(data, size, 4, 0) - data;
	srandom(1);
	for (round = 0; round < MANY_ROUNDS; round++) {
		n = 1 + round % 5;
		for (i = 0; i < n; i++) {
			at[i] = first + random() % (last - first);
			flip[i] = 1 << random() % 8;
			data[at[i]] ^= flip[i];
		}
		tape = blob_open(&b, data, size, &err);
		if (!many_right(tape, &e) || !recovered_right(tape, &e)) {
			wrong++;
			printf("# round %u: %s\n", round, schedtape_tape_damage(tape));
		}
		schedtape_tape_close(tape);
		while (i--)
			data[at[i]] ^= flip[i];
	}
	ok(!wrong, "%u times up to five wrong bytes (%zu wrong)", MANY_ROUNDS, wrong);
	free(data);
	free(e.ev);
	close(b.fd);
}

int main(void)
{
	sample_make(&sample);
	test_bits(0);
	test_bits(3);
	test_many();
	json_object_put(sample.meta);
	return tap_done();
}
