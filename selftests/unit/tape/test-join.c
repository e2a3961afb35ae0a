// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: tapes of one recorder are joined: in any order, with what they share once, with a
 * loss where something is missing between them, and with the tasks that there are behind it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>
#include <tape/joining.h>
#include <tape/page.h>

#include "pipes.h"
#include "tap.h"
#include "tapes.h"

#define CPUS	2
#define PAGES	24
#define EVENTS	5	/* in each page */
#define TAPES	8

static struct schedtape_error err;
static struct schedtape_tape *tape;
static struct blob blobs[TAPES], whole, joined;
static struct events all, got;
static char damage[256];

/* -- a recording and its snapshots ------------------------------------------- */

static uint64_t page_time(unsigned int cpu, unsigned int seq)
{
	return 10000 + seq * 1000 + cpu * 100;
}

/* Where PID 200 runs, on CPU 1. */
static unsigned int runs = PAGES;

/* A task runs for a while, and another one is woken. */
static void make_page(unsigned char *page, unsigned int cpu, unsigned int seq)
{
	uint64_t time = page_time(cpu, seq);
	struct maker m;

	maker_begin(&m, page, cpu, seq, time);
	maker_switch(&m, time + 10, cpu && seq == runs ? 200 : 100 + cpu, STAPE_NEXT_TASK,
		     STAPE_STATE_RUNNING);
	maker_wake(&m, time + 20, 200, STAPE_CTX_TASK, time + 150, cpu);
	maker_event(&m, time + 400, STAPE_EV_MIGRATE, 200, cpu);
	maker_switch(&m, time + 600, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
}

/**
 * struct shot - a tape of the recording
 * @part: its number; 0: it has none
 * @first: its first page of each CPU
 * @end: its pages end before this one
 * @overwrite: it is a snapshot
 * @recording: name of the recording, or NULL
 * @merged: it is made of so many tapes
 * @tasks: the @nr_tasks that are on it
 */
struct shot {
	unsigned int part;
	unsigned int first[CPUS];
	unsigned int end;
	bool overwrite;
	const char *recording;
	unsigned int merged;
	const struct schedtape_task_info *tasks;
	size_t nr_tasks;
};

static uint64_t moment_of(const struct shot *shot)
{
	return page_time(0, shot->end);
}

static uint64_t window_of(const struct shot *shot)
{
	uint64_t window = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		if (shot->first[cpu] && shot->first[cpu] < shot->end &&
		    page_time(cpu, shot->first[cpu]) > window)
			window = page_time(cpu, shot->first[cpu]);
	return window;
}

static void fail(void)
{
	printf("Bail out! %s\n", err.text);
	exit(1);
}

static struct json_object *list_merged(unsigned int n)
{
	struct json_object *list = json_object_new_array(), *one;
	unsigned int i;

	for (i = 1; i <= n; i++) {
		one = json_object_new_object();
		json_object_object_add(one, "part", json_object_new_uint64(i));
		json_object_array_add(list, one);
	}
	return list;
}

static struct json_object *meta_of(const struct shot *shot)
{
	struct json_object *meta = json_object_new_object(), *trigger;

	json_object_object_add(meta, "overwrite", json_object_new_boolean(shot->overwrite));
	if (shot->recording)
		json_object_object_add(meta, "recording", json_object_new_string(shot->recording));
	if (shot->part)
		json_object_object_add(meta, "part", json_object_new_uint64(shot->part));
	if (shot->merged)
		json_object_object_add(meta, "merged", list_merged(shot->merged));
	if (shot->overwrite) {
		trigger = json_object_new_object();
		json_object_object_add(trigger, "name", json_object_new_string("signal"));
		json_object_object_add(meta, "trigger", trigger);
	}
	return meta;
}

static int put_clocks(struct schedtape_writer *w, const struct shot *shot)
{
	uint64_t times[] = { shot->overwrite ? window_of(shot) : 0, moment_of(shot),
			     moment_of(shot) + 1 };
	struct stape_clock_sample sample = { .khz = 1000000 };
	size_t i;
	int ret = 0;

	for (i = 0; i < 3 && !ret; i++) {
		sample.counter = times[i] ? times[i] : 9000;
		sample.mono = sample.counter;
		ret = schedtape_writer_clock(w, &sample, &err);
	}
	return ret;
}

static int put_pages(struct schedtape_writer *w, const struct shot *shot, unsigned int cpu)
{
	static unsigned char pages[PAGES][STAPE_PAGE_SIZE];
	unsigned int seq;

	for (seq = shot->first[cpu]; seq < shot->end; seq++)
		make_page(pages[seq], cpu, seq);
	return schedtape_writer_pages(w, pages[shot->first[cpu]], shot->end - shot->first[cpu],
				      &err);
}

static int put_end(struct schedtape_writer *w, const struct shot *shot)
{
	struct schedtape_cpu cpus[CPUS] = { 0 };
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = shot->overwrite || !window_of(shot) ? 9000 : window_of(shot),
		.stop_time = moment_of(shot) + 1,
		.window_start = window_of(shot), .ended_by = "signal",
		.cpus = cpus, .nr_cpus = CPUS,
	};
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		cpus[cpu].cpu = cpu;
		if (shot->first[cpu] < shot->end)
			cpus[cpu].events = (shot->end - shot->first[cpu]) * EVENTS;
		if (shot->overwrite)
			cpus[cpu].overwritten = shot->first[cpu] * EVENTS;
	}
	return schedtape_writer_end(w, &end, &err);
}

static void make(const struct blob *b, const struct shot *shot)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = 1 };
	struct json_object *meta = meta_of(shot);
	struct schedtape_writer *w;
	unsigned int cpu;

	if (tape_writer_create(b->path, meta, &options, &w, &err) || put_clocks(w, shot))
		fail();
	if (shot->nr_tasks && schedtape_writer_tasks(w, shot->tasks, shot->nr_tasks, &err))
		fail();
	for (cpu = 0; cpu < CPUS; cpu++)
		if (shot->first[cpu] < shot->end && put_pages(w, shot, cpu))
			fail();
	if (put_end(w, shot) || schedtape_writer_close(w, &err))
		fail();
	json_object_put(meta);
}

/* A snapshot of the recording "r".  @part: its number, 0: it has none */
static void make_snapshot(const struct blob *b, unsigned int part, unsigned int first,
			  unsigned int second, unsigned int end)
{
	struct shot shot = {
		.part = part, .first = { first, second }, .end = end, .overwrite = true,
		.recording = "r",
	};

	make(b, &shot);
}

static struct schedtape_tape *read_all(const struct blob *b, struct events *events)
{
	if (schedtape_tape_open(b->path, &tape, &err))
		fail();
	events_read(tape, events);
	return tape;
}

/* -- joining ----------------------------------------------------------------- */

static void on_damage(void *arg, const char *path, const char *text)
{
	(void)arg;
	(void)path;
	snprintf(damage, sizeof(damage), "%s", text);
}

static int join(const struct blob *list[], size_t n, struct tape_join_result *result)
{
	struct tape_join_options options = { .fd = -1, .level = 1, .warn = on_damage };
	const char *paths[TAPES];
	size_t i;
	int ret;

	damage[0] = '\0';
	err.text[0] = '\0';
	for (i = 0; i < n; i++)
		paths[i] = list[i]->path;
	ret = tape_join(paths, n, joined.path, &options, result, &err);
	json_object_put(result->merged);
	result->merged = NULL;
	return ret;
}

/* Joins the first @n tapes, backwards. */
static struct tape_join_result join_first(size_t n)
{
	const struct blob *list[TAPES];
	struct tape_join_result result;
	size_t i;

	for (i = 0; i < n; i++)
		list[i] = &blobs[n - 1 - i];
	if (join(list, n, &result))
		fail();
	return result;
}

static bool is_gap(const struct schedtape_event *ev)
{
	return schedtape_event_is_gap(ev);
}

/* Are the events those of the whole recording, but none from @from to before @until? */
static bool same_but(uint64_t from, uint64_t until)
{
	size_t i, k = 0;

	for (i = 0; i < all.n; i++) {
		if (all.ev[i].time >= from && all.ev[i].time < until)
			continue;
		while (k < got.n && is_gap(&got.ev[k]))
			k++;
		if (k == got.n || memcmp(&all.ev[i], &got.ev[k++], sizeof(*all.ev)))
			return false;
	}
	return k == got.n;
}

/* -- tests ------------------------------------------------------------------- */

TEST(follow)
{
	static const unsigned int ends[] = { 3, 8, 9, PAGES };
	struct tape_join_result result;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		unsigned int first = i ? ends[i - 1] : 0;

		make(&blobs[i], &(struct shot){
			.part = i + 1, .first = { first, first }, .end = ends[i], .recording = "r",
		});
	}
	result = join_first(4);
	tape = read_all(&joined, &got);
	ok(events_same(&got, &all), "tapes that follow each other have all events");
	ok(!result.gaps && !result.lost && result.events == CPUS * PAGES * EVENTS,
	   "there is no gap, and the result has the number of events");
	ok(!schedtape_tape_damage(tape) && schedtape_tape_end(tape)->start_time == 9000 &&
	   schedtape_tape_end(tape)->stop_time == page_time(0, PAGES) + 1,
	   "the tape is complete, and covers all the time");
	schedtape_tape_close(tape);
}

TEST(overlap)
{
	struct tape_join_result result;

	make_snapshot(&blobs[0], 1, 0, 0, 6);
	make_snapshot(&blobs[1], 2, 2, 4, 10);
	make_snapshot(&blobs[2], 3, 1, 0, PAGES);
	result = join_first(3);
	tape = read_all(&joined, &got);
	ok(events_same(&got, &all), "events that tapes share are there once");
	ok(!result.gaps && !result.lost, "no gap is reported");
	schedtape_tape_close(tape);
}

/* Returns the loss of a CPU. */
static const struct schedtape_event *loss_of(uint32_t cpu)
{
	static const struct schedtape_event none;
	size_t i;

	for (i = 0; i < got.n; i++)
		if (got.ev[i].type == SCHEDTAPE_EV_LOST && got.ev[i].cpu == cpu)
			return &got.ev[i];
	return &none;
}

static bool is_loss(uint32_t cpu, uint64_t lost, uint64_t first, uint64_t last)
{
	const struct schedtape_event *loss = loss_of(cpu);

	return loss->lost == lost && loss->lost_first == first && loss->lost_last == last;
}

static const struct shot before_gap = {
	.part = 2, .first = { 0, 1 }, .end = 6, .overwrite = true, .recording = "r",
};

static const struct shot behind_gap = {
	.part = 5, .first = { 16, 17 }, .end = 20, .overwrite = true, .recording = "r",
};

/* CPU 0's page 17 has a wake of which only the second half is behind the gap. */
TEST(gap)
{
	struct tape_join_result result;
	struct pipe pipe;
	struct events piped = { 0 };
	unsigned char *data;
	size_t size;

	make(&blobs[0], &before_gap);
	make(&blobs[1], &behind_gap);
	make_snapshot(&blobs[2], 6, 18, 18, PAGES);
	result = join_first(3);
	tape = read_all(&joined, &got);
	/* It begins with the window of the first one. */
	memmove(all.ev, all.ev + EVENTS + 2, (all.n - EVENTS - 2) * sizeof(*all.ev));
	all.n -= EVENTS + 2;
	ok(got.n && got.ev[0].time == 11110, "the tape begins where the first one is complete");
	ok(events_count(&got, SCHEDTAPE_EV_LOST) == CPUS && result.gaps == 1,
	   "there is one gap, a loss on each CPU");
	ok(is_loss(0, 11 * EVENTS + 2, 16000, 27100) && is_loss(1, 11 * EVENTS, 16000, 27100),
	   "it has the number of events and the time");
	ok(result.lost == 22 * EVENTS + 2 && result.events + result.lost ==
	   CPUS * PAGES * EVENTS - EVENTS, "these are counted");
	schedtape_tape_close(tape);

	data = blob_get(&joined, &size);
	pipe_begin(&pipe, data, size, 5000);
	if (schedtape_tape_open_once(pipe.path, &tape, &err))
		fail();
	events_read(tape, &piped);
	ok(events_same(&piped, &got), "it reads the same from a pipe");
	schedtape_tape_close(tape);
	pipe_end(&pipe);
	free(data);
	free(piped.ev);
}

/* The whole recording from the window of the first one on. */
TEST(gap_events)
{
	size_t i, n = 0;

	schedtape_tape_close(read_all(&whole, &all));
	for (i = 0; i < all.n; i++)
		if (all.ev[i].time >= window_of(&before_gap))
			all.ev[n++] = all.ev[i];
	all.n = n;
	tape = read_all(&joined, &got);
	ok(same_but(16000, 27100), "outside of the gap, no event is missing or changed");
	schedtape_tape_close(tape);
}

/* PID 100 is another task behind the gap, PID 103 has ended in it. */
TEST(tasks)
{
	static const struct schedtape_task_info old[] = {
		{ .time = 11100, .start_time = 100, .pid = 100, .tgid = 100, .comm = "old" },
		{ .time = 11100, .start_time = 103, .pid = 103, .tgid = 103, .comm = "gone" },
		{ .time = 11100, .start_time = 102, .pid = 102, .tgid = 102, .comm = "named" },
	}, new[] = {
		{ .time = 27103, .start_time = 20000, .pid = 100, .tgid = 100, .comm = "new" },
		{ .time = 27103, .start_time = 102, .pid = 102, .tgid = 102, .comm = "renamed" },
	};
	struct shot first = before_gap, second = behind_gap;
	const struct schedtape_task *tasks;
	struct schedtape_timeline *timeline;
	uint64_t runtime[3] = { 0 };
	char names[3][17] = { "" };
	size_t i, n, ended = 0;

	first.tasks = old;
	first.nr_tasks = 3;
	second.tasks = new;
	second.nr_tasks = 2;
	make(&blobs[0], &first);
	make(&blobs[1], &second);
	join_first(2);
	tape = read_all(&joined, &got);
	if (schedtape_timeline_run(tape, NULL, NULL, &timeline, &err))
		fail();
	tasks = schedtape_timeline_tasks(timeline, &n);
	for (i = 0; i < n; i++) {
		if (tasks[i].pid == 100)
			runtime[!strcmp(tasks[i].comm, "new")] += tasks[i].cpu_time;
		if (tasks[i].pid == 102)
			snprintf(names[2], sizeof(names[2]), "%.16s", tasks[i].comm);
		if (!strcmp(tasks[i].comm, "gone") && tasks[i].end &&
		    tasks[i].end <= 27100)
			ended = tasks[i].end;
	}
	ok(runtime[0] == 5 * 590 - 90 && runtime[1] == 3 * 590 - 90,
	   "events behind a gap are of the task that has the PID then (%llu, %llu)",
	   (unsigned long long)runtime[0], (unsigned long long)runtime[1]);
	ok(ended, "a task that is not there behind the gap has ended");
	ok(!strcmp(names[2], "renamed"), "a task has the name that it has got in the gap");
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
}

TEST(order)
{
	const struct blob *orders[][3] = {
		{ &blobs[0], &blobs[1], &blobs[2] }, { &blobs[1], &blobs[2], &blobs[0] },
	};
	const struct blob *twice[] = { &blobs[1], &blobs[0], &blobs[2], &blobs[1] };
	struct tape_join_result result;
	unsigned char *one, *two, *three;
	size_t sizes[3];

	make_snapshot(&blobs[2], 0, 18, 18, PAGES);
	if (join(orders[0], 3, &result))
		fail();
	one = blob_get(&joined, &sizes[0]);
	if (join(orders[1], 3, &result))
		fail();
	two = blob_get(&joined, &sizes[1]);
	ok(sizes[0] == sizes[1] && !memcmp(one, two, sizes[0]), "any order gives the same tape");
	if (join(twice, 4, &result))
		fail();
	three = blob_get(&joined, &sizes[2]);
	ok(sizes[0] == sizes[2] && !memcmp(one, three, sizes[0]),
	   "a tape that is there twice is used once");
	blob_put(&blobs[3], one, sizes[0]);
	ok(!join((const struct blob *[]){ &blobs[3], &blobs[1] }, 2, &result) &&
	   result.bytes && result.lost == 22 * EVENTS + 2,
	   "a tape that a merged one has is not used again");
	free(one);
	free(two);
	free(three);
}

static void copy_joined(struct blob *to)
{
	size_t size;
	unsigned char *data = blob_get(&joined, &size);

	blob_put(to, data, size);
	free(data);
}

static bool refuses(size_t n, const char *why)
{
	const struct blob *list[] = { &blobs[0], &blobs[1], &blobs[2] };
	struct tape_join_result result;

	return join(list, n, &result) == -EXDEV && strstr(err.text, why);
}

TEST(refused)
{
	struct tape_join_result result;
	struct shot other = behind_gap;

	make(&blobs[0], &before_gap);
	other.recording = "q";
	make(&blobs[1], &other);
	ok(refuses(2, "not of one recording"), "tapes of two recordings are refused");
	other.recording = NULL;
	make(&blobs[1], &other);
	ok(refuses(2, "is the only tape"), "a tape that has no others is refused");
	ok(!join((const struct blob *[]){ &blobs[1] }, 1, &result) &&
	   result.events == 7 * EVENTS, "one tape is copied");

	make(&blobs[1], &behind_gap);
	join_first(2);
	copy_joined(&blobs[0]);
	make_snapshot(&blobs[1], 3, 8, 8, 10);
	ok(refuses(2, "lies between"), "a tape that lies in the gap of a merged one is refused");
}

/* Returns how many delays PID 200 had, of those that are known. */
static uint64_t count_delays(void)
{
	const struct schedtape_task *tasks;
	struct schedtape_timeline *timeline;
	uint64_t delays = 0;
	size_t i, n;

	if (schedtape_tape_open(joined.path, &tape, &err))
		fail();
	if (schedtape_timeline_run(tape, NULL, NULL, &timeline, &err))
		fail();
	tasks = schedtape_timeline_tasks(timeline, &n);
	for (i = 0; i < n; i++)
		if (tasks[i].pid == 200)
			delays += tasks[i].delays;
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
	return delays;
}

/* Joins parts 1 and @part.  The second one has pages from @first on, and of CPU 1 only if @both. */
static struct tape_join_result join_parts(unsigned int part, unsigned int first, bool both)
{
	struct tape_join_result result;

	make(&blobs[0], &(struct shot){ .part = 1, .end = 8, .recording = "r" });
	make(&blobs[1], &(struct shot){
		.part = part, .first = { first, both ? first : PAGES }, .end = PAGES,
		.recording = "r",
	});
	result = join_first(2);
	schedtape_tape_close(read_all(&joined, &got));
	return result;
}

/* Tapes of --switch-output do not say how many events are between them. */
TEST(missing)
{
	struct tape_join_result result = join_parts(3, 16, true);

	ok(result.gaps == 1 && is_loss(0, 2, 18000, 26100) && is_loss(1, 1, 18000, 26100) &&
	   events_count(&got, SCHEDTAPE_EV_LOST) == CPUS,
	   "without the tape between them, each CPU has a loss of all its time");
	result = join_parts(3, 16, false);
	ok(result.gaps == 1 && is_loss(0, 1, 18000, 26000) && is_loss(1, 1, 18000, 26000),
	   "also a CPU without events behind it");

	runs = 8;
	result = join_parts(2, 8, true);
	ok(!result.gaps && !result.lost && !events_count(&got, SCHEDTAPE_EV_LOST) &&
	   count_delays() == 1, "if no tape is missing, a task has a delay");
	result = join_parts(3, 8, true);
	ok(result.gaps == 1 && loss_of(0)->lost && loss_of(1)->lost && !count_delays(),
	   "if one is, it is not known, even if the pages follow each other");
	runs = PAGES;

	/* Part 1 has earlier pages. */
	make(&blobs[0], &(struct shot){
		.part = 2, .first = { 3, PAGES }, .end = 8, .recording = "r",
	});
	make(&blobs[1], &(struct shot){
		.part = 3, .first = { 8, 8 }, .end = PAGES, .recording = "r",
	});
	result = join_first(2);
	schedtape_tape_close(read_all(&joined, &got));
	ok(!result.gaps && !result.lost && !events_count(&got, SCHEDTAPE_EV_LOST),
	   "a CPU of which only the later tape has pages has no gap");
}

/* To compare each number with all others would take minutes. */
TEST(many)
{
	struct shot shot = { .part = 1, .end = 3, .recording = "r", .merged = 60000 };
	struct tape_join_result result;
	int i;

	for (i = 0; i < 3; i++)
		make(&blobs[i], &shot);
	result = join_first(3);
	ok(result.events == CPUS * 3 * EVENTS, "tapes that are made of many are compared");
}

/* The chunk of CPU 1 of the second tape is corrupt. */
TEST(damaged)
{
	unsigned char *data;
	size_t size;

	make(&blobs[0], &before_gap);
	make(&blobs[1], &behind_gap);
	data = blob_get(&blobs[1], &size);
	find_record(data, size, 3, 1)[100] ^= 1;
	blob_put(&blobs[1], data, size);
	free(data);
	join_first(2);
	tape = read_all(&joined, &got);
	ok(strstr(damage, "damaged chunk"), "a damaged tape is reported: %s", damage);
	ok(!schedtape_tape_damage(tape) && loss_of(1)->type && !got.errors,
	   "what is left of it is there, and the rest is lost");
	ok(schedtape_tape_end(tape)->cpus[1].lost > 3 * EVENTS, "and counted");
	schedtape_tape_close(tape);
}

TEST(cut)
{
	unsigned char page[STAPE_PAGE_SIZE], swapped[STAPE_PAGE_SIZE], copy[STAPE_PAGE_SIZE];
	struct stape_page_header header;
	struct schedtape_page at;
	struct schedtape_event ev;

	make_page(page, 0, 3);
	memcpy(copy, page, sizeof(page));
	ok(!tape_page_cut(page, 13010) && !memcmp(copy, page, sizeof(page)),
	   "a page of which nothing is cut does not change");
	ok(tape_page_cut(page, 13500) == 4 && tape_page_header(&header, page) &&
	   header.events == 1 && header.time == 13400 && header.curr == 100,
	   "four events are cut");
	ok(!schedtape_page_open(&at, page, NULL) && schedtape_page_next(&at, &ev, NULL) == 1 &&
	   ev.time == 13600 && ev.type == STAPE_EV_SWITCH && ev.curr == 100 &&
	   !schedtape_page_next(&at, &ev, NULL), "the last one is left");
	memcpy(swapped, copy, sizeof(copy));
	maker_swap_page(swapped);
	ok(tape_page_cut(swapped, 13100) == 2 && tape_page_cut(copy, 13100) == 2,
	   "pages of both byte orders are cut");
	tape_page_lose(swapped, 7, 5, 6);
	tape_page_lose(copy, 7, 5, 6);
	tape_page_header(&header, swapped);
	maker_swap_page(copy);
	ok(header.lost == 7 && !memcmp(swapped, copy, header.used), "to the same page");
	swapped[200] = 0xff;
	memset(copy + 72, 0, 8);
	ok(tape_page_cut(copy, 13500) == -EBADMSG, "a corrupt page is reported");
}

/* A reader of what tapes of older modules do not tell has to know that they are old. */
TEST(older)
{
	unsigned char *data;
	size_t i, size;

	for (i = 0; i < 2; i++) {
		make_snapshot(&blobs[i], i + 1, 10 * i, 10 * i, 10 * i + 10);
		blob_make_older(&blobs[i], 10);
	}
	join_first(2);
	data = blob_get(&joined, &size);
	ok(size > 12 && data[10] == 10, "tapes of an older version make one of that version");
	free(data);
}

int main(void)
{
	size_t i;

	for (i = 0; i < TAPES; i++)
		blob_init(&blobs[i]);
	blob_init(&whole);
	blob_init(&joined);
	make(&whole, &(struct shot){ .end = PAGES });
	schedtape_tape_close(read_all(&whole, &all));
	tap_run();
	return tap_done();
}
