// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: tapes of the other byte order, of older and newer versions, and files that are
 * not tapes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct blob b;
static struct schedtape_error err;

TEST(other_order)
{
	struct events here = { 0 }, there = { 0 };
	unsigned char *data, *chunk;
	struct schedtape_tape *tape;
	unsigned int i, page;
	size_t size;

	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &here);
	schedtape_tape_close(tape);

	put32(data + 16, get32(data + 16) ^ 1);
	seal_header(data);
	for (i = 0; (chunk = find_record(data, size, 3, i)); i++) {
		for (page = 0; page < 2; page++)
			maker_swap_page(chunk + 80 + page * STAPE_PAGE_SIZE);
		seal_record(chunk);
	}
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &there);
	ok(i == 5 && tape && events_same(&here, &there), "pages of the other byte order");
	schedtape_tape_close(tape);
	free(data);
	free(here.ev);
	free(there.ev);
}

#define DEADLINE_AT	96	/* in a task's entry */
#define DEADLINE_BYTES	24

static void make_tasks_older(unsigned char *data, size_t *size)
{
	unsigned char *record = find_record(data, *size, 2, 0), *entry = record + 32;
	uint32_t bytes, cut = 0;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		memcpy(&bytes, entry, sizeof(bytes));
		put32(entry, bytes - DEADLINE_BYTES);
		put32(entry + 4, DEADLINE_AT);
		cut += DEADLINE_BYTES;
		memmove(entry + DEADLINE_AT, entry + DEADLINE_AT + DEADLINE_BYTES,
			data + *size - (entry + DEADLINE_AT + DEADLINE_BYTES));
		*size -= DEADLINE_BYTES;
		entry += bytes - DEADLINE_BYTES;
	}
	memcpy(&bytes, record + 12, sizeof(bytes));
	put32(record + 12, bytes - cut);
	put32(record + 16, bytes - cut);
	seal_record(record);
}

/* Version 2.0's description of a task, without deadlines. */
TEST(older)
{
	const struct schedtape_task_info *tasks = NULL;
	struct schedtape_tape *tape;
	unsigned char *data;
	size_t size, n = 0;

	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	make_tasks_older(data, &size);
	tape = blob_open(&b, data, size, &err);
	if (ok(tape, "a tape of an older minor version opens"))
		tasks = schedtape_tape_tasks(tape, &n);
	ok(n == 2 && tasks[0].cgroup == UINT64_MAX && !tasks[0].dl.runtime &&
	   !tasks[0].dl.period && tasks[0].affinity_bytes == 200 &&
	   tasks[0].affinity[199] == 0x80 && !strcmp(tasks[1].comm, "fifteen letters"),
	   "with its tasks");
	schedtape_tape_close(tape);
	free(data);
}

static void same_after(const unsigned char *data, size_t size,
		       const struct events *want, bool torn, const char *what)
{
	struct schedtape_tape *tape = blob_open(&b, data, size, &err);
	struct events got = { 0 };

	if (!ok(tape, "%s: opens", what))
		return;
	events_read(tape, &got);
	ok(events_same(want, &got), "%s: the same events", what);
	ok(!schedtape_tape_damage(tape) == !torn, "%s: %s", what,
	   torn ? schedtape_tape_damage(tape) : "whole");
	schedtape_tape_close(tape);
	free(got.ev);
}

TEST(newer)
{
	struct events want = { 0 };
	struct schedtape_tape *tape;
	unsigned char *data, *at;
	size_t size;

	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &want);
	schedtape_tape_close(tape);

	/* A record of type 99 before the first chunk. */
	at = find_record(data, size, 3, 0);
	data = insert_zeros(data, &size, at - data, 32 + 8 + 16);
	at = find_record(data, size, 2, 0);
	at += record_size(at);
	memcpy(at, "STrc", 4);
	put16(at + 4, 99);
	put16(at + 6, 0x8000);
	put32(at + 8, 5);
	put32(at + 12, 18);
	seal_record(at);
	same_after(data, size, &want, false, "a record of an unknown type");
	at[40] ^= 1;
	same_after(data, size, &want, true, "damage in it");
	at[40] ^= 1;

	at = find_record(data, size, 3, 1);
	data = insert_zeros(data, &size, at - data + 80, 24);
	at = find_record(data, size, 3, 1);
	put32(at + 8, 48 + 24);
	seal_record(at);
	same_after(data, size, &want, false, "a chunk with a larger header");

	data = insert_zeros(data, &size, 32, 16);
	put32(data + 12, 48);
	put16(data + 10, 7);
	put32(data + 16, 0xfffffffe);
	seal_header(data);
	same_after(data, size, &want, false, "a newer minor version, a larger file header");

	put16(data + 8, 3);
	blob_put(&b, data, size);
	ok(schedtape_tape_open(b.path, &tape, &err) == -ENOTSUP && !tape &&
	   strstr(err.text, "3.7"), "a newer major version: %s", err.text);
	put16(data + 8, 1);
	blob_put(&b, data, size);
	ok(schedtape_tape_open(b.path, &tape, &err) == -ENOTSUP && !tape &&
	   strstr(err.text, "1.7"), "an older major version: %s", err.text);
	free(data);
	free(want.ev);
}

/*
 * The second page of a chunk has events of a later version: the first one, in its middle, before
 * its end.  Those behind them are read as before.
 */
static void write_later(const char *path)
{
	static unsigned char pages[2 * STAPE_PAGE_SIZE];
	struct schedtape_cpu cpu = { .events = 1 + 8 };
	const struct schedtape_end end = {
		.size = sizeof(end), .start_time = 900, .stop_time = 3000,
		.cpus = &cpu, .nr_cpus = 1,
	};
	struct schedtape_writer *w;
	struct maker m;
	unsigned int i;

	maker_begin(&m, pages, 0, 0, 1000);
	maker_waking(&m, 1100, 7, STAPE_CTX_TASK);
	maker_begin(&m, pages + STAPE_PAGE_SIZE, 0, 1, 2000);
	maker_later(&m, 2000, 7, 62);
	maker_switch(&m, 2010, 7, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	for (i = 0; i < 4; i++)
		maker_later(&m, 2020 + i, 7, 4711 + i / 2 * i);
	maker_waking(&m, 2030, 8, STAPE_CTX_TASK);
	maker_later(&m, 2040, 7, 62);
	if (tape_writer_create(path, sample.meta, NULL, &w, &err) ||
	    schedtape_writer_pages(w, pages, 2, &err) || schedtape_writer_end(w, &end, &err) ||
	    schedtape_writer_close(w, &err))
		printf("Bail out! %s\n", err.text);
}

TEST(later_events)
{
	const char *skipped =
		"6 events were skipped, which only a later version knows: 2 of set 62, "
		"2 of set 4711, 1 of set 4713, 1 of set 4714";
	struct schedtape_tape *tape;
	unsigned int i;

	write_later(b.path);
	if (!ok(!schedtape_tape_open(b.path, &tape, &err), "a tape with events of a later version"))
		return;
	ok(!schedtape_tape_skipped(tape), "which are not read yet");
	for (i = 0; i < 2; i++) {
		struct events got = { 0 };

		events_read(tape, &got);
		ok(got.n == 3 && got.ev[0].time == 1100 && got.ev[1].type == STAPE_EV_SWITCH &&
		   got.ev[1].time == 2010 && got.ev[2].time == 2030 && got.ev[2].curr == 7 &&
		   !schedtape_tape_damage(tape), "the others are read");
		ok(schedtape_tape_skipped(tape) && !strcmp(schedtape_tape_skipped(tape), skipped),
		   "%s", schedtape_tape_skipped(tape));
		schedtape_tape_rewind(tape, &err);
		free(got.ev);
	}
	schedtape_tape_close(tape);
}

static void refused(const char *path, int code, const char *what)
{
	struct schedtape_tape *tape;
	int ret;

	err.text[0] = '\0';
	alarm(10);	/* open() must not wait for a FIFO */
	ret = schedtape_tape_open(path, &tape, &err);
	alarm(0);
	ok(ret == code && !tape && strstr(err.text, path), "%s: %s", what, err.text);
}

TEST(not_tapes)
{
	struct schedtape_tape *tape;
	char path[64], fifo[] = "/tmp/schedtape-test-XXXXXX";
	int pipes[2];

	blob_put(&b, "", 0);
	refused(b.path, -EINVAL, "an empty file");
	blob_put(&b, "#!/bin/sh\n", 10);
	refused(b.path, -EINVAL, "a script");
	blob_put(&b, "SCHEDTAP", 8);
	refused(b.path, -EINVAL, "half a header");
	refused("/", -EINVAL, "a directory");
	refused("/dev/null", -ESPIPE, "a device");
	refused("/nonexistent/tape", -ENOENT, "nothing");
	ok(schedtape_tape_open("/", &tape, NULL) == -EINVAL, "nobody has to want the text");

	if (pipe(pipes))
		exit(1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipes[0]);
	refused(path, -ESPIPE, "a pipe");
	close(pipes[0]);
	close(pipes[1]);

	close(mkstemp(fifo));
	unlink(fifo);
	if (mkfifo(fifo, 0600))
		exit(1);
	refused(fifo, -ESPIPE, "a FIFO that nobody writes to");
	unlink(fifo);
	schedtape_tape_close(NULL);
}

TEST_MAIN_AFTER(blob_init(&b), sample_make(&sample))
