// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a tape gives the same events through a pipe as from a file, also if it is truncated
 * or corrupt; what is known only at its end is right then; and what a pipe cannot do is refused.
 */
#include <errno.h>
#include <sys/socket.h>

#include "pipes.h"
#include "records.h"
#include "tap.h"

static struct records r;

static struct schedtape_error err;

/**
 * struct result - what a tape gave
 * @end, @cpus: its end, after its last event
 * @damage: "" if there was none
 */
struct result {
	struct events events;
	struct schedtape_end end;
	struct schedtape_cpu cpus[64];
	char damage[1024];
	size_t nr_tasks;
	int opened;
};

static void take(struct result *result, struct schedtape_tape *tape)
{
	const struct schedtape_end *end;

	events_read(tape, &result->events);
	end = schedtape_tape_end(tape);
	result->end = *end;
	result->end.cpus = NULL;
	memset(result->cpus, 0, sizeof(result->cpus));
	memcpy(result->cpus, end->cpus, end->nr_cpus * sizeof(*end->cpus));
	snprintf(result->damage, sizeof(result->damage), "%s",
		 schedtape_tape_damage(tape) ? schedtape_tape_damage(tape) : "");
	schedtape_tape_tasks(tape, &result->nr_tasks);
	schedtape_tape_close(tape);
}

static void read_file(struct result *result, const void *data, size_t size)
{
	static struct blob blob = { .fd = -1 };
	struct schedtape_tape *tape;

	if (blob.fd < 0)
		blob_init(&blob);
	blob_put(&blob, data, size);
	result->opened = schedtape_tape_open(blob.path, &tape, &err);
	if (!result->opened)
		take(result, tape);
}

static void read_pipe(struct result *result, const void *data, size_t size, size_t piece)
{
	struct schedtape_tape *tape;
	struct pipe pipe;

	pipe_begin(&pipe, data, size, piece);
	result->opened = schedtape_tape_open_once(pipe.path, &tape, &err);
	if (!result->opened && !schedtape_tape_is_pipe(tape))
		exit(1);
	if (!result->opened)
		take(result, tape);
	pipe_end(&pipe);
}

static bool same_end(const struct result *a, const struct result *b)
{
	return a->end.start_time == b->end.start_time && a->end.stop_time == b->end.stop_time &&
	       a->end.began == b->end.began && a->end.nr_cpus == b->end.nr_cpus &&
	       !memcmp(a->cpus, b->cpus, sizeof(a->cpus));
}

/* The same, whatever the pieces are that the tape comes in. */
static void compare(const char *what)
{
	static const size_t pieces[] = { 1 << 20, 4096, 1000, 7 };
	struct result file = { 0 }, pipe = { 0 };
	size_t i;

	read_file(&file, r.data, r.size);
	/* The smallest pieces take long. */
	for (i = 0; i < sizeof(pieces) / sizeof(*pieces) - (r.size > 100000); i++) {
		read_pipe(&pipe, r.data, r.size, pieces[i]);
		ok(!pipe.opened && pipe.events.ret == 0 && events_same(&file.events, &pipe.events),
		   "%s, %zu bytes at a time: %zu events of %zu", what, pieces[i], pipe.events.n,
		   file.events.n);
		ok(same_end(&file, &pipe) && file.nr_tasks == pipe.nr_tasks,
		   "%s: the same times, CPUs and tasks", what);
		ok(!strcmp(file.damage, pipe.damage), "%s: the same damage: %s", what,
		   pipe.damage);
	}
	free(file.events.ev);
	free(pipe.events.ev);
}

/* -- making tapes ---------------------------------------------------------- */

static void put_progress(uint64_t time, uint64_t window)
{
	unsigned char progress[40] = { 0 };

	put64(progress, r.size);
	put64(progress + 8, time);
	put64(progress + 16, 500);
	put64(progress + 24, window);
	/* Later versions may have more behind the known members. */
	records_put(&r, PROGRESS, NULL, 0, progress, 40, 40);
}

/* A sample of a counter with 3 ticks in 1 ns, which goes a little faster from time to time. */
static void put_counter(uint64_t counter)
{
	unsigned char clock[48] = { 0 };

	put32(clock, sizeof(clock));
	put32(clock + 8, 3000000);
	put64(clock + 16, counter);
	put64(clock + 24, 7000000 + counter / 3 + counter / 1000000 % 7);
	records_put(&r, CLOCK, NULL, 0, clock, sizeof(clock), sizeof(clock));
}

static void put_end(unsigned int cpus, uint64_t events)
{
	char text[8192];
	int used;
	unsigned int i;

	used = snprintf(text, sizeof(text),
			"{\"start_time\":500,\"stop_time\":900000000,\"cpus\":[");
	for (i = 0; i < cpus; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s{\"cpu\":%u,\"events\":%llu,"
				 "\"lost\":0,\"lost_first\":0,\"lost_last\":0}", i ? "," : "",
				 i * 3, (unsigned long long)events);
	snprintf(text + used, sizeof(text) - used, "]}");
	records_text(&r, END, text);
}

#define ROUNDS	12
#define CPUS	7

/*
 * Puts pages of several CPUs.  The times of the pages overlap, a page may come one round late, and
 * one CPU seldom has a page.
 * @step: time from round to round
 */
static void put_rounds(uint64_t step, bool counter)
{
	uint64_t seqs[CPUS] = { 0 }, time;
	unsigned int round, cpu;

	for (round = 1; round <= ROUNDS; round++) {
		time = 1000 + round * step;
		/* A mark may come before the sample that its events need. */
		if (counter && round % 3 == 0)
			put_counter(time);
		for (cpu = 0; cpu < CPUS; cpu++) {
			if (cpu == 4 && round % 5)
				continue;
			records_chunk(&r, cpu * 3, seqs[cpu]++, time - step + 300 + cpu * 37);
			records_chunk(&r, cpu * 3, seqs[cpu]++, time - 100 + cpu % 3);
		}
		put_progress(time - 60, 0);
		records_task(&r, 200 + round);
	}
}

static void begin(bool counter)
{
	records_begin(&r);
	records_text(&r, META, "{\"online\":\"0-18\"}");
	if (counter)
		put_counter(900);
	else
		records_clock(&r, 900);
	put_progress(0, 0);
	records_task(&r, 100);
}

TEST(same)
{
	unsigned int counter;

	for (counter = 0; counter <= 1; counter++) {
		begin(counter);
		put_rounds(counter ? 9000000 : 3000, counter);
		compare(counter ? "truncated, by a counter" : "truncated");
		put_end(CPUS, 0);
		compare(counter ? "by a counter" : "by ns");
		records_text(&r, 77, "of a later version");
		compare("a record of a later version at the end");
	}

	begin(false);
	compare("truncated before the first chunk");
	put_end(0, 0);
	compare("empty");
	begin(false);
	put_end(3, 5);
	compare("all events lost");
}

/* CPUs appear one after the other, while others have events that wait. */
TEST(cpus)
{
	uint64_t seqs[60] = { 0 };
	unsigned int round, i, cpu;

	begin(false);
	for (round = 0; round < 60; round++) {
		for (i = 0; i <= round; i += round - i < 5 ? 1 : 5) {
			cpu = i * 7 % 60;
			records_chunk(&r, cpu, seqs[cpu]++, 1000 + round * 1000 + i);
		}
		put_progress(1000 + round * 1000 + 100, 0);
	}
	put_end(0, 0);
	compare("60 CPUs");
}

/* Cut at many places, most of them within a record. */
TEST(cut)
{
	struct result file = { 0 }, pipe = { 0 };
	unsigned int wrong = 0, unsaid = 0;
	size_t cut;

	begin(true);
	put_rounds(9000000, true);
	for (cut = 0; cut < r.size; cut += 1511) {
		read_file(&file, r.data, cut);
		read_pipe(&pipe, r.data, cut, 5000);
		if (file.opened) {
			wrong += pipe.opened != file.opened;
			continue;
		}
		wrong += pipe.opened || !events_same(&file.events, &pipe.events) ||
			 !same_end(&file, &pipe);
		unsaid += strcmp(file.damage, pipe.damage);
	}
	ok(!wrong, "cut anywhere: the same events");
	ok(!unsaid, "and the same damage: %s", pipe.damage);
	free(file.events.ev);
	free(pipe.events.ev);
}

static void count_call(void *arg)
{
	++*(unsigned int *)arg;
}

/* The library calls the caller before each wait for a pipe. */
TEST(wait)
{
	struct schedtape_tape *tape;
	struct events events = { 0 };
	unsigned int calls = 0;
	struct pipe pipe;

	begin(false);
	put_rounds(3000, false);
	put_end(CPUS, 0);
	pipe_begin(&pipe, r.data, r.size, 4096);
	if (schedtape_tape_open_once(pipe.path, &tape, &err))
		exit(1);
	schedtape_tape_before_wait(tape, count_call, &calls);
	events_read(tape, &events);
	/* Once for each mark, and for the end. */
	ok(calls == ROUNDS + 1, "the call before a wait: %u", calls);
	schedtape_tape_close(tape);
	pipe_end(&pipe);
	free(events.ev);
}

/* -- without PROGRESS ------------------------------------------------------ */

/* The mark is at another place than when it was written, so it says nothing. */
TEST(copied)
{
	unsigned char mark[72];

	begin(false);
	put_rounds(3000, false);
	put_progress(999999999, 0);
	memcpy(mark, find_record(r.data, r.size, PROGRESS, ROUNDS + 1), sizeof(mark));
	records_begin(&r);
	records_text(&r, META, "{}");
	records_clock(&r, 900);
	/* All of its marks, then its chunks. */
	memcpy(records_grow(&r, sizeof(mark)), mark, sizeof(mark));
	records_chunk(&r, 1, 0, 5000);
	records_chunk(&r, 0, 0, 1000);
	records_end(&r, 1, PAGE_EVENTS, 0, 0);
	compare("a copied mark");

	/* This tape has a first mark, so the copied one would release the first chunk too early. */
	begin(false);
	records_chunk(&r, 1, 0, 5000);
	memcpy(records_grow(&r, sizeof(mark)), mark, sizeof(mark));
	records_chunk(&r, 0, 0, 1000);
	records_end(&r, 1, PAGE_EVENTS, 0, 0);
	compare("a copied mark between chunks");
}

#define LARGE_PAGES	1024	/* the most that a chunk may have */

static void put_large(uint64_t seq, uint64_t time)
{
	unsigned char *pages = malloc(LARGE_PAGES * STAPE_PAGE_SIZE), extra[48] = { 0 };
	unsigned int i;

	for (i = 0; i < LARGE_PAGES; i++)
		records_page(pages + i * STAPE_PAGE_SIZE, 0, seq + i, time + i * PAGE_NS);
	put32(extra + 4, LARGE_PAGES);
	put64(extra + 8, seq);
	put64(extra + 16, time);
	put64(extra + 24, time + LARGE_PAGES * PAGE_NS - 10);
	put64(extra + 32, LARGE_PAGES * PAGE_EVENTS);
	records_put(&r, CHUNK, extra, sizeof(extra), pages, LARGE_PAGES * STAPE_PAGE_SIZE,
		    LARGE_PAGES * STAPE_PAGE_SIZE);
	free(pages);
}

/* What has to be kept has a limit. */
TEST(limit)
{
	struct result pipe = { 0 };
	uint64_t n;

	records_begin(&r);
	records_text(&r, META, "{}");
	records_clock(&r, 900);
	for (n = 0; n < 17; n++)
		put_large(n * LARGE_PAGES, 1000 + n * LARGE_PAGES * PAGE_NS);
	read_pipe(&pipe, r.data, r.size, 65536);
	ok(pipe.opened == -E2BIG && strstr(err.text, "save the tape in a file first"),
	   "68 MB without a mark: %s", err.text);

	/* With marks it is no problem. */
	begin(false);
	for (n = 0; n < 17; n++) {
		put_large(n * LARGE_PAGES, 1000 + n * LARGE_PAGES * PAGE_NS);
		put_progress(1000 + (n + 1) * LARGE_PAGES * PAGE_NS, 0);
	}
	read_pipe(&pipe, r.data, r.size, 65536);
	ok(!pipe.opened && pipe.events.n == 17 * LARGE_PAGES * PAGE_EVENTS, "68 MB with marks");
	free(pipe.events.ev);
}

/* -- damage ---------------------------------------------------------------- */

/* Events of the pipe, as far as they are not losses. */
static void without_gaps(struct events *e)
{
	size_t i, n = 0;

	for (i = 0; i < e->n; i++)
		if (!schedtape_event_is_gap(&e->ev[i]))
			e->ev[n++] = e->ev[i];
	e->n = n;
}

TEST(damage)
{
	struct result file = { 0 }, pipe = { 0 };
	unsigned int n, wrong = 0, unlike = 0, unsaid = 0;

	for (n = 0; n < 2 * CPUS; n++) {
		begin(false);
		put_rounds(3000, false);
		put_end(CPUS, 0);
		records_damage(find_record(r.data, r.size, CHUNK, 40 + n));
		read_file(&file, r.data, r.size);
		read_pipe(&pipe, r.data, r.size, 777);
		unsaid += strcmp(file.damage, pipe.damage) || !pipe.damage[0];
		unlike += events_count(&pipe.events, SCHEDTAPE_EV_LOST) != 1;
		without_gaps(&file.events);
		without_gaps(&pipe.events);
		wrong += !events_same(&file.events, &pipe.events);
	}
	ok(!wrong, "each corrupt chunk: all other events are there");
	ok(!unlike, "each corrupt chunk: a loss");
	ok(!unsaid, "each corrupt chunk: the same message as of a file: %s", pipe.damage);
	free(file.events.ev);
	free(pipe.events.ev);
}

/* The end record says how many events are missing, also where it was not known before. */
TEST(counts)
{
	struct result file = { 0 }, pipe = { 0 };
	unsigned char *chunk;
	size_t i, known = 0;

	begin(false);
	records_chunk(&r, 0, 0, 1000);
	chunk = records_chunk(&r, 0, 1, 2000);
	records_damage(chunk);
	records_chunk(&r, 0, 2, 3000);
	put_progress(3000, 0);
	records_chunk(&r, 0, 3, 4000);
	records_damage(records_chunk(&r, 0, 4, 5000));
	records_end(&r, 0, 5 * PAGE_EVENTS, 0, 0);
	read_file(&file, r.data, r.size);
	read_pipe(&pipe, r.data, r.size, 100);
	ok(pipe.cpus[0].events == 3 * PAGE_EVENTS && pipe.cpus[0].lost == 2 * PAGE_EVENTS,
	   "two corrupt chunks: %llu events, %llu lost", (unsigned long long)pipe.cpus[0].events,
	   (unsigned long long)pipe.cpus[0].lost);
	ok(pipe.cpus[0].lost == file.cpus[0].lost && pipe.cpus[0].events == file.cpus[0].events,
	   "as in a file");
	for (i = 0; i < pipe.events.n; i++)
		known += pipe.events.ev[i].type == SCHEDTAPE_EV_LOST && pipe.events.ev[i].lost;
	ok(events_count(&pipe.events, SCHEDTAPE_EV_LOST) == 1 && !known,
	   "a loss in between, whose size was not known yet");
	free(file.events.ev);
	free(pipe.events.ev);
}

static bool time_goes_on(const struct events *e)
{
	size_t i;

	for (i = 1; i < e->n; i++)
		if (e->ev[i].time < e->ev[i - 1].time)
			return false;
	return true;
}

/* A loss that a page reports late comes late, and time does not go back. */
TEST(late)
{
	struct result pipe = { 0 };
	unsigned char *chunk;

	begin(false);
	records_chunk(&r, 0, 0, 1000);
	records_chunk(&r, 1, 0, 1000);
	put_progress(4000, 0);
	chunk = records_chunk(&r, 0, 1, 5000);
	put64(chunk + 32 + 40, 3);
	put64(chunk + 80 + 48, 3);
	put64(chunk + 80 + 56, 1190);
	put64(chunk + 80 + 64, 1195);
	seal_record(chunk);
	records_chunk(&r, 1, 1, 5000);
	put_progress(9000, 0);
	read_pipe(&pipe, r.data, r.size, 1000);
	ok(pipe.events.n == 4 * PAGE_EVENTS + 1 && time_goes_on(&pipe.events) &&
	   events_lost_in(&pipe.events, 0) == 3, "a late loss: %zu events", pipe.events.n);
	ok(!strstr(pipe.damage, "later"), "which is no damage: %s", pipe.damage);

	/* A mark that promises too much. */
	begin(false);
	records_chunk(&r, 0, 0, 1000);
	put_progress(8000, 0);
	records_chunk(&r, 1, 0, 900);
	put_progress(9000, 0);
	records_end(&r, 0, PAGE_EVENTS, 0, 0);
	read_pipe(&pipe, r.data, r.size, 1000);
	ok(pipe.events.n == 2 * PAGE_EVENTS && pipe.events.ret == 0 &&
	   pipe.events.ev[2 * PAGE_EVENTS - 1].time == 1190,
	   "events behind a wrong mark: time does not go back");
	ok(strstr(pipe.damage, "events of CPU 1 come later"), "and that is said: %s", pipe.damage);
	free(pipe.events.ev);
}

/* -- overwrite mode -------------------------------------------------------- */

/* The rings were overwritten, or the pages from before these are on an earlier tape. */
static void test_window(const char *what, const char *meta, uint64_t overwritten)
{
	unsigned int ended;
	char name[64];

	for (ended = 0; ended <= 1; ended++) {
		records_begin(&r);
		records_text(&r, META, meta);
		records_clock(&r, 900);
		records_clock(&r, 60000);
		put_progress(1000, 2040);
		records_chunk(&r, 0, 70, 1000);
		records_chunk(&r, 1, 9, 2000);
		put_progress(2100, 2040);
		records_chunk(&r, 0, 71, 3000);
		records_chunk(&r, 2, 5, 3000);
		if (ended)
			records_end(&r, 0, 2 * PAGE_EVENTS, overwritten, 2040);
		snprintf(name, sizeof(name), "%s%s", what, ended ? "" : ", truncated");
		compare(name);
	}
}

/* -- what a pipe cannot do --------------------------------------------------- */

TEST(refused)
{
	struct schedtape_copy_options options = { .size = sizeof(options) };
	struct schedtape_tape *tape = NULL;
	struct schedtape_event ev;
	struct blob blob;
	struct pipe pipe;
	uint64_t bytes;
	int ret;

	begin(false);
	put_rounds(3000, false);
	put_end(CPUS, 0);
	pipe_begin(&pipe, r.data, r.size, 4096);
	ret = schedtape_tape_open(pipe.path, &tape, &err);
	ok(ret == -ESPIPE && strstr(err.text, "save the tape in a file first"),
	   "schedtape_tape_open(): %s", err.text);
	if (schedtape_tape_open_once(pipe.path, &tape, &err))
		exit(1);
	ok(!schedtape_tape_rewind(tape, &err), "rewind before the first event");
	ok(schedtape_tape_end(tape)->start_time == 500 && !schedtape_tape_end(tape)->stop_time,
	   "the start is known, the end is not");
	schedtape_tape_next(tape, &ev, &err);
	ret = schedtape_tape_rewind(tape, &err);
	ok(ret == -ESPIPE && err.text[0], "rewind: %s", err.text);
	ret = schedtape_tape_copy(tape, "/dev/null", &options, &bytes, &err);
	ok(ret == -ESPIPE && err.text[0], "copy: %s", err.text);
	/* The rest stays in the pipe. */
	schedtape_tape_close(tape);
	pipe_end(&pipe);

	blob_init(&blob);
	blob_put(&blob, r.data, r.size);
	ret = schedtape_tape_open_once(blob.path, &tape, &err);
	ok(!ret && !schedtape_tape_is_pipe(tape), "a file is not a pipe");
	ok(!schedtape_tape_rewind(tape, &err) && schedtape_tape_next(tape, &ev, &err) == 1 &&
	   !schedtape_tape_rewind(tape, &err), "and can be rewound");
	schedtape_tape_close(tape);
	close(blob.fd);
}

TEST(others)
{
	struct schedtape_tape *tape;
	struct pipe pipe;
	int ends[2], before, ret;

	pipe_begin(&pipe, "", 0, 1);
	ret = schedtape_tape_open_once(pipe.path, &tape, &err);
	ok(ret == -EINVAL && strstr(err.text, "empty"), "an empty pipe: %s", err.text);
	pipe_end(&pipe);
	pipe_begin(&pipe, "not a tape, but a text", 22, 5);
	ret = schedtape_tape_open_once(pipe.path, &tape, &err);
	ok(ret == -EINVAL && strstr(err.text, "magic"), "no tape: %s", err.text);
	pipe_end(&pipe);
	ret = schedtape_tape_open_once("/dev/null", &tape, &err);
	ok(ret == -ESPIPE, "a device: %s", err.text);

	/* Standard input is a socket, which does not block. */
	begin(false);
	records_chunk(&r, 0, 0, 1000);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) ||
	    write(ends[1], r.data, r.size) != (ssize_t)r.size)
		exit(1);
	close(ends[1]);
	before = dup(STDIN_FILENO);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	ret = schedtape_tape_open_once("-", &tape, &err);
	ok(!ret && schedtape_tape_is_pipe(tape), "standard input, a socket: %s",
	   ret ? err.text : "");
	ok(schedtape_tape_bytes(tape) == r.size && schedtape_tape_chunks(tape) == 1 &&
	   schedtape_tape_pages(tape) == 1, "its size so far");
	schedtape_tape_close(tape);
	dup2(before, STDIN_FILENO);
	close(before);
}

/* Each length that a corrupt record may have: nothing is kept beyond the largest record. */
TEST(lengths)
{
	static const uint32_t lengths[] = { 0, 7, 1 << 20, 5 << 20, INT32_MAX, UINT32_MAX };
	struct result pipe = { 0 };
	unsigned int i, at, wrong = 0;

	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		for (at = 8; at <= 16; at += 4) {
			begin(false);
			put_rounds(3000, false);
			put32(find_record(r.data, r.size, CHUNK, 5) + at, lengths[i]);
			read_pipe(&pipe, r.data, r.size, 4096);
			without_gaps(&pipe.events);
			/* Rounds 5 and 10 have a CPU more. */
			wrong += pipe.opened || pipe.events.n !=
				 (2 * (ROUNDS * (CPUS - 1) + 2) - 1) * PAGE_EVENTS;
		}
	}
	ok(!wrong, "wrong lengths cost only their chunk: %u", wrong);
	free(pipe.events.ev);
}

int main(void)
{
	tap_run();
	test_window("overwrite mode", "{\"overwrite\":true}", 40);
	test_window("a later tape", "{\"part\":2}", 0);
	return tap_done();
}
