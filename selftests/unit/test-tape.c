// SPDX-License-Identifier: GPL-2.0-only
/* Description: what is written to a tape is read from it, in order. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct schedtape_error err;

/* Decodes the sample's pages one by one: the events without any tape. */
static bool events_of_sample(const struct events *e)
{
	struct schedtape_event ev;
	struct schedtape_page p;
	size_t i, k, all = 0;

	for (i = 0; i < SAMPLE_BATCHES * 2; i++) {
		schedtape_page_open(&p, sample.pages[i / 2][i % 2], NULL);
		while (schedtape_page_next(&p, &ev, NULL) == 1) {
			for (k = 0; k < e->n && memcmp(&ev, &e->ev[k], sizeof(ev)); k++)
				;
			/* A loss is dated by what is around it. */
			if (k == e->n && ev.type != SCHEDTAPE_EV_LOST)
				return false;
			all++;
		}
	}
	return all == 10 * 14 + 1;
}

static const struct schedtape_event *find_loss(const struct events *e, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->ev[i].type == SCHEDTAPE_EV_LOST && e->ev[i].cpu == cpu)
			return &e->ev[i];
	return NULL;
}

static void check_tasks(struct schedtape_tape *tape)
{
	const struct schedtape_task_info *t;
	size_t n, i;

	t = schedtape_tape_tasks(tape, &n);
	ok(n == 2, "two tasks");
	for (i = 0; i < n; i++) {
		const struct schedtape_task_info *s = &sample.tasks[i];

		ok(t[i].time == s->time && t[i].start_time == s->start_time &&
		   t[i].cpu_time == s->cpu_time && t[i].pid == s->pid && t[i].tgid == s->tgid &&
		   t[i].ppid == s->ppid && t[i].ns_pid == s->ns_pid && t[i].cpu == s->cpu &&
		   t[i].state == s->state && t[i].policy == s->policy && t[i].nice == s->nice &&
		   t[i].rt_priority == s->rt_priority && !strcmp(t[i].comm, s->comm) &&
		   t[i].cgroup == s->cgroup && !memcmp(&t[i].dl, &s->dl, sizeof(s->dl)) &&
		   t[i].affinity_bytes == s->affinity_bytes && (!s->affinity_bytes ||
		   !memcmp(t[i].affinity, s->affinity, s->affinity_bytes)), "task %zu", i);
	}
}

static void check_losses(const struct events *e)
{
	const struct schedtape_event *ev;

	ok(events_count(e, SCHEDTAPE_EV_LOST) == 4, "four losses");
	ev = find_loss(e, 0);
	ok(ev && ev->lost == 0 && ev->lost_first == 1299 && ev->lost_last == 1500,
	   "a gap in the pages' numbers");
	ev = find_loss(e, 1023);
	ok(ev && ev->lost == 12 && ev->time == 1160, "what a page says was lost before it");
	ev = find_loss(e, 9);
	ok(ev && ev->lost == 77 && ev->time == 1300 && ev->lost_last == 1350,
	   "what only the end says: behind the last page");
	ev = find_loss(e, 700);
	ok(ev && ev->lost == UINT64_MAX && ev->time == 1111 && ev->lost_last == 1222,
	   "and of a CPU without any page");
}

static void test_round(int level)
{
	const struct schedtape_end *end;
	struct events e = { 0 }, again = { 0 };
	struct schedtape_tape *tape;
	struct json_object *mult;
	struct blob b;
	int ret;

	blob_init(&b);
	ret = sample_write(&sample, b.path, level, SAMPLE_ALL, &err);
	ok(!ret, "level %d: a tape is written", level);
	ret = schedtape_tape_open(b.path, &tape, &err);
	if (!ok(!ret && !schedtape_tape_torn(tape), "and opens"))
		exit(tap_done());
	ok(json_object_object_get_ex(schedtape_tape_meta(tape), "mult", &mult) &&
	   json_object_get_uint64(mult) == UINT64_MAX, "its description is there");
	check_tasks(tape);
	ok(schedtape_tape_chunks(tape) == 5 && schedtape_tape_pages(tape) == 10 &&
	   schedtape_tape_bytes(tape) == sample.bytes[SAMPLE_BATCHES], "sizes");

	end = schedtape_tape_end(tape);
	ok(end->start_time == 990 && end->stop_time == UINT64_MAX && end->nr_cpus == 4 &&
	   !memcmp(end->cpus, sample.cpus, sizeof(sample.cpus)), "the end");

	events_read(tape, &e);
	ok(e.ret == 0 && !e.errors && e.n == 10 * 14 + 4, "as many events (%zu)", e.n);
	ok(events_sorted(&e), "by time, then by CPU");
	ok(events_of_sample(&e), "the same events");
	check_losses(&e);
	ok(schedtape_tape_next(tape, &e.ev[0], &err) == 0, "the end stays");
	schedtape_tape_rewind(tape, &err);
	events_read(tape, &again);
	events_read(tape, &e);
	ok(again.n == 10 * 14 + 4 && e.n == 0 && !schedtape_tape_torn(tape), "once more");
	schedtape_tape_close(tape);
	free(e.ev);
	free(again.ev);
	close(b.fd);
}

/* Some of a CPU's losses are in its pages' headers, the rest only in the end. */
static void test_end_loss(void)
{
	const struct schedtape_cpu saved = sample.cpus[3];
	const struct schedtape_event *ev;
	struct schedtape_tape *tape;
	struct events e = { 0 };
	struct blob b;

	blob_init(&b);
	sample.cpus[3].lost = 20;
	sample.cpus[3].lost_last = 1800;
	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	sample.cpus[3] = saved;
	if (schedtape_tape_open(b.path, &tape, &err))
		exit(1);
	events_read(tape, &e);
	ev = e.n ? &e.ev[e.n - 1] : NULL;
	ok(ev && ev->type == SCHEDTAPE_EV_LOST && ev->cpu == 1023 && ev->lost == 8 &&
	   ev->time == 1749 && ev->lost_first == 1749 && ev->lost_last == 1800,
	   "the end tells what was lost behind the last page, and no more");
	schedtape_tape_close(tape);
	free(e.ev);
	close(b.fd);
}

/* -- torn, foreign, newer -------------------------------------------------- */

static void test_no_end(void)
{
	const struct schedtape_end *end;
	struct schedtape_tape *tape;
	struct blob b;

	blob_init(&b);
	sample_write(&sample, b.path, 3, SAMPLE_BATCHES, &err);
	ok(!schedtape_tape_open(b.path, &tape, &err), "without its end record it opens");
	ok(schedtape_tape_torn(tape), "and says so: %s", schedtape_tape_torn(tape));
	end = schedtape_tape_end(tape);
	ok(end->start_time == 1000 && end->stop_time == 1749 && end->nr_cpus == 3 &&
	   end->cpus[0].cpu == 0 && end->cpus[0].events == 56 && end->cpus[1].cpu == 9 &&
	   end->cpus[2].lost == 12 && end->cpus[2].lost_first <= 1160 &&
	   end->cpus[2].lost_last >= 1240, "its end is what the chunks say");
	schedtape_tape_close(tape);
	close(b.fd);
}

static void test_other_order(void)
{
	struct events here = { 0 }, there = { 0 };
	unsigned char *data, *chunk;
	struct schedtape_tape *tape;
	unsigned int i, page;
	struct blob b;
	size_t size;

	blob_init(&b);
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
	close(b.fd);
}

/* Puts @bytes zero bytes into a tape, before @at. */
static unsigned char *insert(unsigned char *data, size_t *size, size_t at, size_t bytes)
{
	data = realloc(data, *size + bytes);
	memmove(data + at + bytes, data + at, *size - at);
	memset(data + at, 0, bytes);
	*size += bytes;
	return data;
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

/* What 2.0 had of a task, before deadlines. */
static void test_older(void)
{
	const struct schedtape_task_info *tasks = NULL;
	struct schedtape_tape *tape;
	unsigned char *data;
	size_t size, n = 0;
	struct blob b;

	blob_init(&b);
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
	close(b.fd);
}

static void same_scheduler(const struct schedtape_scheduler *a,
			   const struct schedtape_scheduler *b, const char *what)
{
	ok(a->time == b->time && a->after == b->after && a->enable_seq == b->enable_seq &&
	   a->nr_rejected == b->nr_rejected && a->switch_all == b->switch_all &&
	   !strcmp(a->state, b->state) && !strcmp(a->ops, b->ops), "%s", what);
}

/* Opens a tape with these.  Returns what it has, whose number must be @expected. */
static const struct schedtape_scheduler *
write_schedulers(struct blob *b, const struct schedtape_scheduler *all, size_t n,
		 size_t expected, struct schedtape_tape **tape)
{
	const struct schedtape_scheduler *got;
	struct schedtape_writer *w;
	size_t i;
	int ret;

	ret = schedtape_writer_create(b->path, sample.meta, NULL, &w, &err);
	for (i = 0; i < n && !ret; i++)
		ret = schedtape_writer_scheduler(w, &all[i], &err);
	if (ret || schedtape_writer_end(w, &sample.end, &err) ||
	    schedtape_writer_close(w, &err) || schedtape_tape_open(b->path, tape, &err))
		printf("Bail out! %s\n", err.text);
	got = schedtape_tape_schedulers(*tape, &n);
	if (!ok(n == expected, "%zu of them", expected))
		printf("# %zu\n", n);
	return got;
}

/* What says more of the same scheduler is no change. */
static void test_same_scheduler(void)
{
	static const struct schedtape_scheduler early[] = {
		{ .time = 1000, .state = "enabled", .ops = "simple", .enable_seq = 7 },
		{ .time = 2000, .state = "enabled", .ops = "simple", .enable_seq = 8,
		  .switch_all = true },
		{ .time = 3000, .after = 2000, .state = "disabled", .enable_seq = 8 },
	};
	static const struct schedtape_scheduler more[] = {
		{ .time = 1000, .state = "enabled", .ops = "simple", .enable_seq = 7 },
		{ .time = 2000, .after = 1000, .state = "enabled", .ops = "simple",
		  .enable_seq = 8, .nr_rejected = 1 },
		{ .time = 3000, .after = 2000, .state = "enabled", .ops = "simple",
		  .enable_seq = 8, .nr_rejected = 9 },
	};
	struct schedtape_scheduler expected;
	struct schedtape_tape *tape;
	struct blob b;

	blob_init(&b);
	expected = early[1];
	expected.time = 1000;
	same_scheduler(write_schedulers(&b, early, 3, 2, &tape), &expected,
		       "the second one takes the place of the first");
	schedtape_tape_close(tape);
	expected = more[1];
	expected.nr_rejected = 9;
	same_scheduler(write_schedulers(&b, more, 3, 2, &tape) + 1, &expected,
		       "the last number of rejected tasks counts");
	schedtape_tape_close(tape);
	close(b.fd);
}

/* They come back by time, whatever their order was. */
static void test_schedulers(void)
{
	static const struct schedtape_scheduler all[] = {
		{ .time = 990, .state = "disabled" },
		{ .time = 2000, .after = 1000, .state = "enabled", .ops = "sim\"ple",
		  .enable_seq = 7, .nr_rejected = 3, .switch_all = true },
		{ .time = 3000, .after = 2000, .state = "later kernels", .enable_seq = 7 },
	};
	const struct schedtape_scheduler *got;
	struct schedtape_writer *w;
	struct schedtape_tape *tape;
	struct blob b;
	size_t n, i;

	blob_init(&b);
	ok(!schedtape_writer_create(b.path, sample.meta, NULL, &w, &err) &&
	   !schedtape_writer_scheduler(w, &all[0], &err) &&
	   !schedtape_writer_scheduler(w, &all[2], &err) &&
	   !schedtape_writer_scheduler(w, &all[1], &err) &&
	   !schedtape_writer_end(w, &sample.end, &err) &&
	   !schedtape_writer_close(w, &err), "schedulers are written");
	if (!ok(!schedtape_tape_open(b.path, &tape, &err) && !schedtape_tape_torn(tape),
		"and read"))
		return;
	got = schedtape_tape_schedulers(tape, &n);
	ok(n == 3, "all of them");
	for (i = 0; i < n && i < 3; i++)
		same_scheduler(&got[i], &all[i], all[i].state);
	schedtape_tape_close(tape);
	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	if (ok(!schedtape_tape_open(b.path, &tape, &err), "a tape without"))
		schedtape_tape_schedulers(tape, &n);
	ok(!n, "has none");
	schedtape_tape_close(tape);
	close(b.fd);
}

static void same_after(struct blob *b, const unsigned char *data, size_t size,
		       const struct events *want, bool torn, const char *what)
{
	struct schedtape_tape *tape = blob_open(b, data, size, &err);
	struct events got = { 0 };

	if (!ok(tape, "%s: opens", what))
		return;
	events_read(tape, &got);
	ok(events_same(want, &got), "%s: the same events", what);
	ok(!schedtape_tape_torn(tape) == !torn, "%s: %s", what,
	   torn ? schedtape_tape_torn(tape) : "whole");
	schedtape_tape_close(tape);
	free(got.ev);
}

static void test_newer(void)
{
	struct events want = { 0 };
	struct schedtape_tape *tape;
	unsigned char *data, *at;
	struct blob b;
	size_t size;

	blob_init(&b);
	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &want);
	schedtape_tape_close(tape);

	/* A record of type 99, in front of the first chunk. */
	at = find_record(data, size, 3, 0);
	data = insert(data, &size, at - data, 32 + 8 + 16);
	at = find_record(data, size, 2, 0);
	at += record_size(at);
	memcpy(at, "STrc", 4);
	put16(at + 4, 99);
	put16(at + 6, 0x8000);
	put32(at + 8, 5);
	put32(at + 12, 18);
	seal_record(at);
	same_after(&b, data, size, &want, false, "a record of an unknown type");
	at[40] ^= 1;
	same_after(&b, data, size, &want, true, "damage in it");
	at[40] ^= 1;

	at = find_record(data, size, 3, 1);
	data = insert(data, &size, at - data + 80, 24);
	at = find_record(data, size, 3, 1);
	put32(at + 8, 48 + 24);
	seal_record(at);
	same_after(&b, data, size, &want, false, "a chunk with a larger header");

	data = insert(data, &size, 32, 16);
	put32(data + 12, 48);
	put16(data + 10, 7);
	put32(data + 16, 0xfffffffe);
	seal_header(data);
	same_after(&b, data, size, &want, false, "a newer minor version, a larger file header");

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
	close(b.fd);
}

static void refused(const char *path, int code, const char *what)
{
	struct schedtape_tape *tape;
	int ret;

	err.text[0] = '\0';
	alarm(10);	/* a FIFO must not be waited for */
	ret = schedtape_tape_open(path, &tape, &err);
	alarm(0);
	ok(ret == code && !tape && strstr(err.text, path), "%s: %s", what, err.text);
}

static void test_not_tapes(void)
{
	struct schedtape_tape *tape;
	char path[64], fifo[] = "/tmp/schedtape-test-XXXXXX";
	struct blob b;
	int pipes[2];

	blob_init(&b);
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
	close(b.fd);
}

/* -- writing --------------------------------------------------------------- */

static void test_full(void)
{
	struct schedtape_writer *w;
	int ret;

	ret = schedtape_writer_create("/dev/full", sample.meta, NULL, &w, &err);
	ok(ret == -ENOSPC && !w && strstr(err.text, "/dev/full") && strstr(err.text, "byte 0"),
	   "a full disk: %s", err.text);
	ret = schedtape_writer_create("/nonexistent/tape", sample.meta, NULL, &w, &err);
	ok(ret == -ENOENT && !w, "nowhere to write to: %s", err.text);
	ret = schedtape_writer_create("/dev/null", NULL, NULL, &w, &err);
	ok(ret == -EINVAL && !w, "no description: %s", err.text);
}

/* The disk is full in the middle of a chunk; some room is found for the end. */
static void test_short(int level)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = level };
	struct rlimit old, limit;
	struct schedtape_writer *w;
	struct schedtape_tape *tape;
	struct events e = { 0 };
	struct blob b;
	uint64_t at;
	int ret;

	blob_init(&b);
	getrlimit(RLIMIT_FSIZE, &old);
	schedtape_writer_create(b.path, sample.meta, &options, &w, &err);
	schedtape_writer_pages(w, sample.pages[0], 2, &err);
	at = schedtape_writer_bytes(w);

	limit = old;
	limit.rlim_cur = at + 100;
	setrlimit(RLIMIT_FSIZE, &limit);
	ret = schedtape_writer_pages(w, sample.pages[1], 2, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	ok(ret == -EFBIG && strstr(err.text, b.path), "level %d: %s", level, err.text);
	ok(schedtape_writer_bytes(w) == at && (uint64_t)lseek(b.fd, 0, SEEK_END) == at,
	   "the chunk's beginning is cut off");
	ok(!schedtape_writer_pages(w, sample.pages[3], 2, &err) &&
	   !schedtape_writer_end(w, &sample.end, &err), "the writer goes on");
	ok(schedtape_writer_close(w, &err) == -EFBIG, "and remembers: %s", err.text);

	ok(!schedtape_tape_open(b.path, &tape, &err) && !schedtape_tape_torn(tape), "whole");
	events_read(tape, &e);
	ok(e.ret == 0 && !e.errors && e.n - events_count(&e, SCHEDTAPE_EV_LOST) == 4 * 14,
	   "with all but that chunk");
	schedtape_tape_close(tape);
	free(e.ev);
	close(b.fd);
}

static void test_pipe(void)
{
	struct schedtape_tape *tape;
	unsigned char *data;
	char path[64];
	struct blob b;
	int pipes[2];
	ssize_t got;

	/* The sample, compressed, fits into a pipe. */
	if (pipe(pipes))
		exit(1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipes[1]);
	ok(!sample_write(&sample, path, 3, SAMPLE_ALL, &err), "to a pipe");
	close(pipes[1]);
	data = malloc(65536);
	got = read(pipes[0], data, 65536);
	close(pipes[0]);
	blob_init(&b);
	tape = blob_open(&b, data, got, &err);
	ok(tape && !schedtape_tape_torn(tape), "it is a tape");
	schedtape_tape_close(tape);
	free(data);
	close(b.fd);
}

static void test_refused_pages(void)
{
	struct schedtape_writer_options wrong = { .size = sizeof(wrong), .level = 1000 };
	struct {
		struct schedtape_writer_options known;
		uint64_t later;
	} later = { { .size = sizeof(later) }, 1 };
	unsigned char pages[2][STAPE_PAGE_SIZE];
	struct stape_page_header *h = (void *)pages[1];
	struct schedtape_writer *w;
	struct blob b;

	blob_init(&b);
	ok(schedtape_writer_create(b.path, sample.meta, &wrong, &w, &err) == -EINVAL,
	   "an impossible level: %s", err.text);
	ok(schedtape_writer_create(b.path, sample.meta, &later.known, &w, &err) == -EINVAL,
	   "an option from later: %s", err.text);
	later.later = 0;
	ok(!schedtape_writer_create(b.path, sample.meta, &later.known, &w, &err),
	   "which is not wanted");

	memcpy(pages, sample.pages[0], sizeof(pages));
	h->magic = 0;
	ok(schedtape_writer_pages(w, pages, 2, &err) == -EINVAL, "no page: %s", err.text);
	memcpy(pages, sample.pages[0], sizeof(pages));
	h->cpu++;
	ok(schedtape_writer_pages(w, pages, 2, &err) == -EINVAL, "another CPU: %s", err.text);
	memcpy(pages, sample.pages[0], sizeof(pages));
	h->seq++;
	ok(schedtape_writer_pages(w, pages, 2, &err) == -EINVAL, "a gap: %s", err.text);
	ok(!schedtape_writer_close(w, &err), "nothing of it is in the tape");
	close(b.fd);
}

/* -- many, and wrong but sealed -------------------------------------------- */

static void test_many(int level)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = level };
	const size_t n = 2500, tasks = 30000;
	struct schedtape_task_info *task = calloc(tasks, sizeof(*task));
	unsigned char *pages = malloc(n * STAPE_PAGE_SIZE);
	const struct schedtape_task_info *got;
	struct schedtape_writer *w;
	struct schedtape_tape *tape;
	struct events e = { 0 };
	struct maker m;
	struct blob b;
	size_t i, k, right = 0;

	for (i = 0; i < tasks; i++)
		task[i] = (struct schedtape_task_info) {
			.pid = i, .start_time = i * 7, .affinity_bytes = i % 129,
			.affinity = sample_affinity,
		};
	for (i = 0; i < n; i++) {
		maker_begin(&m, pages + i * STAPE_PAGE_SIZE, 1, i, i * 1000);
		for (k = 0; k < 503; k++)
			maker_event(&m, i * 1000 + k, STAPE_EV_WAKEUP, i, k);
	}

	blob_init(&b);
	ok(!schedtape_writer_create(b.path, sample.meta, &options, &w, &err) &&
	   !schedtape_writer_tasks(w, task, tasks, &err) &&
	   !schedtape_writer_tasks(w, NULL, 0, &err) &&
	   !schedtape_writer_pages(w, pages, n, &err) &&
	   !schedtape_writer_end(w, &(struct schedtape_end) { 0 }, &err) &&
	   !schedtape_writer_close(w, &err), "level %d: many tasks, many pages at once", level);
	ok(!schedtape_tape_open(b.path, &tape, &err) && !schedtape_tape_torn(tape), "open");
	got = schedtape_tape_tasks(tape, &k);
	for (i = 0; i < k; i++)
		right += got[i].pid == i && got[i].start_time == i * 7 &&
			 got[i].affinity_bytes == i % 129 &&
			 (!(i % 129) || !memcmp(got[i].affinity, sample_affinity, i % 129));
	ok(right == tasks && k == tasks, "all tasks");
	ok(schedtape_tape_chunks(tape) == 3 && schedtape_tape_pages(tape) == n, "in three chunks");
	events_read(tape, &e);
	for (right = 0, i = 0; i < e.n; i++)
		right += e.ev[i].pid == i / 503 && e.ev[i].arg == i % 503;
	ok(e.ret == 0 && e.n == 503 * n && right == e.n, "all %zu events", e.n);
	schedtape_tape_close(tape);
	free(e.ev);
	free(pages);
	free(task);
	close(b.fd);
}

/* One chunk of three pages, of which @change makes the middle one wrong, or just odd. */
static void check_wrong_page(void (*change)(struct stape_page_header *h), size_t events,
			     unsigned int errors, const char *what)
{
	unsigned char *data, *chunk, pages[3][STAPE_PAGE_SIZE];
	struct stape_page_header h;
	struct schedtape_tape *tape;
	struct schedtape_writer *w;
	struct events e = { 0 };
	struct maker m;
	struct blob b;
	size_t size;

	for (int i = 0; i < 3; i++) {
		maker_begin(&m, pages[i], 4, 10 + i, 1000 * (i + 1));
		maker_event(&m, 1000 * (i + 1) + 1, STAPE_EV_EXIT, i, 0);
	}
	blob_init(&b);
	schedtape_writer_create(b.path, sample.meta, NULL, &w, &err);
	schedtape_writer_pages(w, pages, 3, &err);
	schedtape_writer_close(w, &err);

	data = blob_get(&b, &size);
	chunk = find_record(data, size, 3, 0);
	memcpy(&h, chunk + 80 + STAPE_PAGE_SIZE, sizeof(h));
	change(&h);
	memcpy(chunk + 80 + STAPE_PAGE_SIZE, &h, sizeof(h));
	seal_record(chunk);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &e);
	ok(e.ret == 0 && e.errors == errors && e.n == events && events_sorted(&e) &&
	   (!errors || strstr(e.err.text, "page 1 of 3")), "%s: %s", what,
	   errors ? e.err.text : "no error");
	schedtape_tape_close(tape);
	free(data);
	free(e.ev);
	close(b.fd);
}

static void change_cpu(struct stape_page_header *h) { h->cpu++; }
static void change_seq(struct stape_page_header *h) { h->seq -= 2; }
static void change_time(struct stape_page_header *h) { h->time = 1000; }
static void change_magic(struct stape_page_header *h)
{
	h->magic = 0;
}

static void change_lost(struct stape_page_header *h) { h->lost = h->lost_last = 5; }
static void change_count(struct stape_page_header *h) { h->events = 2; }

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	sample_make(&sample);
	test_round(0);
	test_round(1);
	test_round(19);
	test_end_loss();
	test_no_end();
	test_other_order();
	test_schedulers();
	test_same_scheduler();
	test_newer();
	test_older();
	test_not_tapes();
	test_full();
	test_short(0);
	test_short(3);
	test_pipe();
	test_refused_pages();
	test_many(0);
	test_many(1);
	/* The first and the last event, and a loss where the page's was. */
	check_wrong_page(change_cpu, 3, 1, "a page of another CPU");
	check_wrong_page(change_seq, 3, 1, "a page's number goes backwards");
	check_wrong_page(change_time, 3, 1, "a page's time goes backwards");
	check_wrong_page(change_magic, 3, 1, "not a page");
	check_wrong_page(change_count, 3, 1, "a wrong count");
	check_wrong_page(change_lost, 4, 0, "a loss dated before the page in front of it");
	json_object_put(sample.meta);
	return tap_done();
}
