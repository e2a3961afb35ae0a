// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the content of a tape in several files: all of its files, in order, and nothing
 * of a file that failed after some of its records were read.
 */
#include <stdio.h>
#include <stdlib.h>

#include <zstd.h>

#include <schedtape.h>

#include "fake-folder.h"
#include "records.h"
#include "tap.h"

static struct schedtape_error err;
static struct schedtape_tape *tape;
static struct records r;
static struct events got;

/* Writes the file as @name of the tape in the folder. */
static void finish(const char *name)
{
	folder_write(name, (const char *)r.data, r.size);
}

static void remove_file(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static const char *torn(void)
{
	return schedtape_tape_damage(tape) ? schedtape_tape_damage(tape) : "";
}

static struct schedtape_tape *read_all(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/tape", folder);
	if (schedtape_tape_open(path, &tape, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	events_read(tape, &got);
	return tape;
}

/* The main file, with two chunks of CPU 0. */
static void make_main(bool ended)
{
	records_begin(&r);
	records_text(&r, META, "{\"recording\":\"this\",\"streams\":[{},{}]}");
	records_clock(&r, 900);
	records_task(&r, 100);
	records_text(&r, SCHEDULER, "{\"time\":900,\"state\":\"disabled\"}");
	records_chunk(&r, 0, 0, 1000);
	records_chunk(&r, 0, 1, 2000);
	if (ended)
		records_end(&r, 0, 2 * PAGE_EVENTS, 0, 0);
	finish("tape/data");
}

/* A file of another recording, as its last record shows. */
static void make_foreign(const char *name)
{
	records_begin(&r);
	records_text(&r, SCHEDULER, "{\"time\":1,\"state\":\"enabled\"}");
	records_clock(&r, 1);
	records_task(&r, 200);
	records_player(&r, 200);
	records_chunk(&r, 1, 0, 1500);
	records_end(&r, 1, PAGE_EVENTS, 0, 1100);
	records_text(&r, META, "{\"recording\":\"another\"}");
	finish(name);
}

/* A stream of this recording.  No record begins where one of the foreign file's does. */
static void make_stream(const char *name, uint32_t cpu, uint64_t seq, uint64_t time)
{
	records_begin(&r);
	records_text(&r, META, "{\"recording\":\"this\",\"stream\":1,\"longer\":true}");
	records_clock(&r, 900);
	records_chunk(&r, cpu, seq, time);
	records_end(&r, cpu, PAGE_EVENTS, 0, 0);
	finish(name);
}

/* -- files that fail ------------------------------------------------------- */

TEST(rollback)
{
	const struct schedtape_end *end;
	size_t n;

	make_main(true);
	make_foreign("tape/data.0");
	make_stream("tape/data.1", 2, 0, 1200);
	tape = read_all();
	end = schedtape_tape_end(tape);
	ok(strstr(torn(), "another recording"), "a stream is left out: %s", torn());
	ok(schedtape_tape_chunks(tape) == 3 && got.n == 3 * PAGE_EVENTS && !got.errors,
	   "it leaves no chunk behind");
	ok(schedtape_tape_tasks(tape, &n)->pid == 100 && n == 1, "nor a task");
	schedtape_tape_players(tape, &n);
	ok(!n, "nor a player");
	ok(schedtape_tape_clocks(tape, &n)->mono == 900 && n == 1,
	   "nor a clock sample, and the files' common one is there once");
	ok(schedtape_tape_schedulers(tape, &n)->time == 900 && n == 1, "nor a scheduler");
	ok(end->nr_cpus == 2 && !end->cpus[0].cpu && end->cpus[1].cpu == 2, "nor a CPU");
	schedtape_tape_close(tape);
	remove_file("tape/data.1");
}

/* Only a copy shows where the other records are. */
TEST(rollback_copy)
{
	const struct schedtape_copy_options options = { .size = sizeof(options), .recover = true };
	struct schedtape_tape *copy;
	char path[64], before[1024];
	uint64_t bytes;
	size_t n;

	make_main(true);
	make_foreign("tape/data.0");
	make_stream("tape/data.1", 2, 0, 1200);
	snprintf(path, sizeof(path), "%s/copy", folder);
	tape = read_all();
	snprintf(before, sizeof(before), "%s", torn());
	ok(!schedtape_tape_copy(tape, path, &options, &bytes, &err) && !strcmp(torn(), before),
	   "a copy finds all records that are left: %s", torn());
	schedtape_tape_close(tape);
	remove_file("tape/data.1");
	if (schedtape_tape_open(path, &copy, &err)) {
		ok(false, "%s", err.text);
		return;
	}
	events_read(copy, &got);
	ok(got.n == 3 * PAGE_EVENTS && !got.errors &&
	   schedtape_tape_tasks(copy, &n)->pid == 100 && n == 1, "and no other ones");
	schedtape_tape_close(copy);
}

TEST(rollback_end)
{
	const struct schedtape_end *end;

	make_main(false);
	make_foreign("tape/data.0");
	tape = read_all();
	end = schedtape_tape_end(tape);
	ok(end->stop_time == 2190, "the end of a file that failed does not end the tape");
	ok(end->start_time == 1000 && got.n == 2 * PAGE_EVENTS,
	   "nor does it set the chosen time");
	schedtape_tape_close(tape);
}

/* The main file is missing.  The first stream contradicts itself. */
TEST(rollback_meta)
{
	struct json_object *value = NULL;

	remove_file("tape/data");
	records_begin(&r);
	records_text(&r, META, "{\"recording\":\"that\",\"stream\":0}");
	records_text(&r, META, "{\"recording\":\"another\"}");
	finish("tape/data.0");
	make_stream("tape/data.1", 1, 0, 1000);
	tape = read_all();
	json_object_object_get_ex(tape_meta(tape), "stream", &value);
	ok(json_object_get_int(value) == 1 && got.n == PAGE_EVENTS,
	   "the next file describes the tape");
	schedtape_tape_close(tape);
	remove_file("tape/data.1");
}

/* Zeros that are small in the file: no valid content, but reading them counts. */
static void put_zeros(unsigned int type, size_t bytes)
{
	unsigned char *zeros = calloc(1, bytes), *small = malloc(ZSTD_compressBound(bytes));
	size_t stored = ZSTD_compress(small, ZSTD_compressBound(bytes), zeros, bytes, 1);

	records_put(&r, type, NULL, 0, small, stored, bytes);
	free(zeros);
	free(small);
}

/* Many tasks, in a record of 4 MB. */
static void put_tasks(void)
{
	static unsigned char tasks[4194304 / 128][128], small[1 << 20];
	size_t i, stored;

	for (i = 0; i < 4194304 / 128; i++) {
		put32(tasks[i], 128);
		put32(tasks[i] + 4, 96);
	}
	stored = ZSTD_compress(small, sizeof(small), tasks, sizeof(tasks), 1);
	records_put(&r, TASKS, NULL, 0, small, stored, sizeof(tasks));
}

TEST(rollback_room)
{
	unsigned int i;
	size_t n;

	make_main(true);
	records_begin(&r);
	for (i = 0; i < 4; i++)
		put_zeros(CLOCK, 4194304);
	records_text(&r, META, "{\"recording\":\"another\"}");
	finish("tape/data.0");
	records_begin(&r);
	records_text(&r, META, "{\"recording\":\"this\",\"stream\":1}");
	put_tasks();
	records_end(&r, 1, 0, 0, 0);
	finish("tape/data.1");
	tape = read_all();
	schedtape_tape_tasks(tape, &n);
	ok(strstr(torn(), "another recording") && n == 1 + 4194304 / 128,
	   "records of a file that failed take no room from the next one");
	schedtape_tape_close(tape);
	remove_file("tape/data.1");
}

/* -- files that belong together -------------------------------------------- */

/* Chunks of one CPU in two streams. */
TEST(order)
{
	make_main(true);
	make_stream("tape/data.0", 1, 0, 1000);
	make_stream("tape/data.1", 1, 1, 2000);
	tape = read_all();
	ok(got.n == 4 * PAGE_EVENTS && !got.errors && events_sorted(&got),
	   "a CPU's chunks come in the order of the files");
	schedtape_tape_close(tape);
	remove_file("tape/data.1");
}

/* The stream's count of its CPU's events differs from the main file's. */
TEST(ends)
{
	make_main(true);
	records_begin(&r);
	records_text(&r, META, "{\"recording\":\"this\",\"stream\":0}");
	records_end(&r, 0, 1000, 0, 0);
	finish("tape/data.0");
	tape = read_all();
	ok(schedtape_tape_end(tape)->nr_cpus == 1 &&
	   schedtape_tape_end(tape)->cpus[0].events == 2 * PAGE_EVENTS &&
	   !schedtape_tape_end(tape)->cpus[0].lost, "of two end records the main file's counts");
	schedtape_tape_close(tape);
	remove_file("tape/data.0");
}

/* -- damage ---------------------------------------------------------------- */

/* Eight extra bytes, the least possible. */
TEST(resync)
{
	struct blob b;

	records_begin(&r);
	records_text(&r, META, "{}");
	records_chunk(&r, 0, 0, 1000);
	memset(records_grow(&r, 8), 'x', 8);
	records_chunk(&r, 0, 1, 2000);
	records_end(&r, 0, 2 * PAGE_EVENTS, 0, 0);
	blob_init(&b);
	tape = blob_open(&b, r.data, r.size, &err);
	events_read(tape, &got);
	ok(got.n == 2 * PAGE_EVENTS && strstr(torn(), "(8 bytes are missed)"),
	   "the next record is found eight bytes further on: %s", torn());
	schedtape_tape_close(tape);
	close(b.fd);
}

int main(void)
{
	folder_make();
	tap_run();
	folder_remove();
	free(r.data);
	free(got.ev);
	return tap_done();
}
