// SPDX-License-Identifier: GPL-2.0-only
/* Description: a writer reports what it could not write, and what it does not accept. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct blob b;
static struct schedtape_error err;

TEST(full)
{
	struct schedtape_writer *w;
	int ret;

	ret = tape_writer_create("/dev/full", sample.meta, NULL, &w, &err);
	ok(ret == -ENOSPC && !w && strstr(err.text, "/dev/full") && strstr(err.text, "byte 0"),
	   "a full disk: %s", err.text);
	ret = tape_writer_create("/nonexistent/tape", sample.meta, NULL, &w, &err);
	ok(ret == -ENOENT && !w, "nowhere to write to: %s", err.text);
	ret = tape_writer_create("/dev/null", NULL, NULL, &w, &err);
	ok(ret == -EINVAL && !w, "no description: %s", err.text);
}

/* The disk is full in the middle of a chunk; later there is room for the end. */
static void test_short(int level)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = level };
	struct rlimit old, limit;
	struct schedtape_writer *w;
	struct schedtape_tape *tape;
	struct events e = { 0 };
	uint64_t at;
	int ret;

	getrlimit(RLIMIT_FSIZE, &old);
	tape_writer_create(b.path, sample.meta, &options, &w, &err);
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

	ok(!schedtape_tape_open(b.path, &tape, &err) && !schedtape_tape_damage(tape), "whole");
	events_read(tape, &e);
	ok(e.ret == 0 && !e.errors && e.n - events_count(&e, SCHEDTAPE_EV_LOST) == 4 * 14,
	   "with all but that chunk");
	schedtape_tape_close(tape);
	free(e.ev);
}

TEST(pipe)
{
	struct schedtape_tape *tape;
	unsigned char *data;
	char path[64];
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
	tape = blob_open(&b, data, got, &err);
	ok(tape && !schedtape_tape_damage(tape), "it is a tape");
	schedtape_tape_close(tape);
	free(data);
}

TEST(text)
{
	static const char * const wrong[] = { "", "[1]", "{\"a\": }", "7" };
	struct schedtape_writer *w;
	struct schedtape_tape *tape = NULL;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(schedtape_writer_create(b.path, wrong[i], NULL, &w, &err) == -EINVAL && !w,
		   "a description that is no JSON object, \"%s\": %s", wrong[i], err.text);
	ok(schedtape_writer_create(b.path, NULL, NULL, &w, &err) == -EINVAL && !w,
	   "no description: %s", err.text);
	ok(!schedtape_writer_create(b.path, "{\"arch\": \"x\", \"hz\": 250}", NULL, &w, &err) &&
	   !schedtape_writer_close(w, &err) && !schedtape_tape_open(b.path, &tape, &err),
	   "a description as text");
	ok(!strcmp(schedtape_tape_meta(tape), "{\"arch\":\"x\",\"hz\":250}"),
	   "it is read again: %s", schedtape_tape_meta(tape));
	schedtape_tape_close(tape);
}

TEST(refused_pages)
{
	struct schedtape_writer_options wrong = { .size = sizeof(wrong), .level = 1000 };
	struct {
		struct schedtape_writer_options known;
		uint64_t later;
	} later = { { .size = sizeof(later) }, 1 };
	unsigned char pages[2][STAPE_PAGE_SIZE];
	struct stape_page_header *h = (void *)pages[1];
	struct schedtape_writer *w;

	ok(tape_writer_create(b.path, sample.meta, &wrong, &w, &err) == -EINVAL,
	   "an impossible level: %s", err.text);
	ok(tape_writer_create(b.path, sample.meta, &later.known, &w, &err) == -E2BIG,
	   "an option from later: %s", err.text);
	later.later = 0;
	ok(!tape_writer_create(b.path, sample.meta, &later.known, &w, &err),
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
}

int main(void)
{
	blob_init(&b);
	signal(SIGXFSZ, SIG_IGN);
	sample_make(&sample);
	tap_run();
	test_short(0);
	test_short(3);
	json_object_put(sample.meta);
	return tap_done();
}
