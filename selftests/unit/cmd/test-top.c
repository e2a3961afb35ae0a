// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: top adds up what tasks do in each interval of a tape that comes through a pipe: a
 * task that runs on has a part in each, also without any event; a delay counts where it ends, and
 * a wake-up where it happens.
 */
#include <fnmatch.h>

#include "top/internal.h"

#include "pipes.h"
#include "printed.h"

#define MS	1000000ULL
#define MOST	8

static struct schedtape_error err;

static void must(int ret)
{
	if (ret)
		printf("Bail out! %s\n", err.text);
	if (ret)
		exit(1);
}

/* -- the tape -------------------------------------------------------------- */

static void mark(struct schedtape_writer *writer, uint64_t time)
{
	struct schedtape_progress progress = {
		.size = sizeof(progress), .time = time, .start_time = 1000 * MS,
	};

	must(schedtape_writer_progress(writer, &progress, &err));
}

static void put(struct schedtape_writer *writer, const struct maker *m)
{
	must(schedtape_writer_pages(writer, m->page, 1, &err));
}

static void put_tasks(struct schedtape_writer *writer)
{
	const struct schedtape_task_info tasks[] = {
		{ .time = 1001 * MS, .start_time = 5, .pid = 10, .tgid = 10, .comm = "busy",
		  .cpu = 3, .state = STAPE_STATE_RUNNING },
		{ .time = 1001 * MS, .start_time = 5, .pid = 20, .tgid = 20, .comm = "runner",
		  .state = STAPE_STATE_SLEEPING, .cgroup = 7 },
		{ .time = 1001 * MS, .start_time = 5, .pid = 30, .tgid = 30, .comm = "waiter",
		  .state = STAPE_STATE_SLEEPING, .policy = 1 },
		{ .time = 1001 * MS, .start_time = 5, .pid = 31, .tgid = 30, .comm = "thread",
		  .state = STAPE_STATE_SLEEPING, .policy = 1 },
	};

	must(schedtape_writer_tasks(writer, tasks, sizeof(tasks) / sizeof(*tasks), &err));
}

/*
 * "busy" runs all the time, alone on CPU 3, so there is no event of it.  "runner" runs on CPU 0
 * from the first interval to the third, then on CPU 1.  "waiter" is woken in the first interval,
 * runs in the second, and is preempted by its thread.
 */
static void put_events(struct schedtape_writer *writer)
{
	static unsigned char page[STAPE_PAGE_SIZE];
	struct maker m;

	maker_begin(&m, page, 0, 0, 1300 * MS);
	maker_story(&m, "1300ms irq wakes 20; 1400ms R -> 20");
	put(writer, &m);
	maker_begin(&m, page, 1, 0, 1950 * MS);
	maker_wake(&m, 1950 * MS, 30, STAPE_CTX_HARDIRQ, 1950 * MS, 1);
	put(writer, &m);
	mark(writer, 2000 * MS);
	mark(writer, 2500 * MS);
	maker_begin(&m, page, 1, 1, 2050 * MS);
	maker_story(&m, "2050ms R -> 30; 2100ms wakes 31; 2150ms R -> 31; 2170ms S -> 30; "
			"2200ms S -> idle");
	put(writer, &m);
	mark(writer, 3000 * MS);
	maker_begin(&m, page, 0, 1, 3250 * MS);
	m.header.curr = 20;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_story(&m, "3250ms S -> idle; 3300ms moves 20 to 1; 3310ms irq wakes 20 on 1");
	put(writer, &m);
	maker_begin(&m, page, 1, 2, 3320 * MS);
	maker_story(&m, "3320ms R -> 20; 3400ms S -> idle; 3440ms irq wakes 20; 3450ms R -> 20; "
			"3460ms S -> idle");
	maker_lost(&m, 6, 3201 * MS, 3202 * MS);
	put(writer, &m);
	mark(writer, 4000 * MS);
}

static struct schedtape_writer *begin_tape(const struct blob *blob)
{
	struct schedtape_writer_options options = { .size = sizeof(options) };
	struct json_object *meta = json_object_new_object();
	struct schedtape_writer *writer;

	must(tape_writer_create(blob->path, meta, &options, &writer, &err));
	json_object_put(meta);
	mark(writer, 0);
	put_tasks(writer);
	return writer;
}

static unsigned char *make_live(const struct blob *blob, size_t *size)
{
	struct schedtape_cpu cpus[] = {
		{ .cpu = 0, .events = 7 }, { .cpu = 1, .events = 14, .lost = 6 },
	};
	struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1000 * MS, .stop_time = 4500 * MS,
		.cpus = cpus, .nr_cpus = 2,
	};
	struct schedtape_writer *writer = begin_tape(blob);

	put_events(writer);
	must(schedtape_writer_end(writer, &end, &err));
	must(schedtape_writer_close(writer, &err));
	return blob_get(blob, size);
}

/* -- reading it ------------------------------------------------------------ */

static struct interval intervals[MOST];
static size_t nr;

/* Until @reader has an interval or has ended. */
static enum reader_has wait_for(struct reader *reader, struct interval *interval)
{
	enum reader_has has;

	while ((has = reader_take(reader, interval)) == READER_NOTHING)
		usleep(1000);
	return has;
}

/* Returns what the reader does. */
static int read_intervals(const void *data, size_t size)
{
	struct reader reader;
	struct pipe pipe;
	int ret;

	pipe_begin(&pipe, data, size, 100);
	must(reader_start(&reader, pipe.path, 1000 * MS));
	for (nr = 0; nr < MOST && wait_for(&reader, &intervals[nr]) == READER_INTERVAL; nr++)
		;
	ret = reader_join(&reader);
	err = reader.err;
	pipe_end(&pipe);
	return ret;
}

static void free_intervals(void)
{
	while (nr)
		interval_free(&intervals[--nr]);
}

static struct time_text_options times = TIME_TEXT_OPTIONS_INIT;
static const char *fields;

/* Prints an interval to @text. */
static void show(size_t number, enum groups_by by, const char *sort, const char *comm)
{
	struct top_view view = { .by = by, .time.options = times };
	struct sheet sheet;

	sheet_options_init(&view.sheet, top_columns, sort);
	view.sheet.times = &view.time;
	view.sheet.table.fields = fields;
	if (comm)
		must(select_names_parse(&view.selection.comms, comm));
	must(top_fill(&sheet, &intervals[number], &view));
	begin_capture();
	top_print(&intervals[number], &sheet, &view.time);
	end_capture();
	squeeze_blanks();
	sheet_free(&sheet);
	selection_free(&view.selection);
}

/* -- tests ----------------------------------------------------------------- */

static bool is_from(size_t number, uint64_t begin, uint64_t end, uint64_t events, uint64_t lost)
{
	const struct interval *interval = &intervals[number];

	printf("# from %llu to %llu ms: %llu events, %llu lost\n",
	       (unsigned long long)(interval->begin / MS), (unsigned long long)(interval->end / MS),
	       (unsigned long long)interval->events, (unsigned long long)interval->lost);
	return interval->begin == begin * MS && interval->end == end * MS &&
	       interval->events == events && interval->lost == lost;
}

TEST(intervals)
{
	ok(nr == 4, "four intervals: a mark after half of one ends none");
	ok(is_from(0, 1000, 2000, 5, 0), "the first");
	ok(is_from(1, 2000, 3000, 6, 0), "the second");
	ok(is_from(2, 3000, 4000, 10, 6), "the third, with a loss");
	ok(is_from(3, 4000, 4500, 0, 0), "the rest");
}

TEST(tasks)
{
	show(0, GROUPS_TASK, "cpu", NULL);
	has(" 1.000 s: 3 tasks on 1.60 CPUs, 5 events, 0 lost\n", "the head");
	has("\nbusy:10 100.0 1000.000 0 - - - - 0 0 0\n"
	    "runner:20 60.0 600.000 0 100.000 100.000 100.000 0 0 1 0\n"
	    "waiter:30 0.0 0.000 0 - - - - 0 1 0\n", "the first interval");
	has("\nTOTAL 160.0 1600.000 0 100.000 100.000 100.000 0 0 2 0\n", "its total");
	show(1, GROUPS_TASK, "cpu", NULL);
	has("\nbusy:10 100.0 1000.000 0 - - - - 0 0 0\n"
	    "runner:20 100.0 1000.000 0 - - - - 0 0 0\n"
	    "waiter:30 13.0 130.000 2 20.", "a task runs through the second");
	has("100.000 100.000 1 1 0 0\nthread:31 2.0 20.000 1 50.000 50.000 50.000 1 0 1 0\n",
	    "delays that end in it, and a preemption");
	show(2, GROUPS_TASK, "cpu", NULL);
	has("\nbusy:10 100.0 1000.000 0 - - - - 0 0 0\n"
	    "runner:20 34.0 340.000 3 10.000 10.000 10.000 1 0 2 1\n", "the third");
	show(3, GROUPS_TASK, "cpu", NULL);
	has("\nbusy:10 100.0 500.000 0 - - - - 0 0 0\n", "the last, up to the end");
}

TEST(groups)
{
	show(1, GROUPS_PROCESS, "delay-max", NULL);
	has("---\nwaiter:30 15.0 150.000 3 ", "a process, sorted by its worst delay");
	show(1, GROUPS_CPU, "cpu", NULL);
	has("\nCPU 0 100.0 1000.000 0 ", "a CPU");
	has("\nCPU 1 15.0 150.000 3 ", "another one");
	has("\nCPU 3 100.0 1000.000 0 ", "that of the task without events");
	show(2, GROUPS_CPU, "task", "runner");
	has("---\nCPU 0 25.0 250.000 1 - - - - 0 0 0\n"
	    "CPU 1 9.0 90.000 2 10.000 10.000 10.000 1 0 2 1\n--", "two CPUs of one task");
	has(": 1 tasks ", "which is one task");
	show(2, GROUPS_COMM, "cpu", "run*");
	has("---\nrunner:20 34.0 340.000 3 10.000 10.000 10.000 1 0 2 1\n--", "a pattern of names");
	has(": 1 tasks on 0.34 CPUs,", "which the head counts, too");
	show(1, GROUPS_POLICY, "task", NULL);
	has("---\nfifo 15.0 150.000 3 ", "policies");
	show(0, GROUPS_CGROUP, "task", NULL);
	has("---\n? 100.0 ", "an unknown cgroup");
	has("\nid:7 60.0 ", "a cgroup without a name");
	show(0, GROUPS_TASK, "task", "none");
	has(": 0 tasks on 0.00 CPUs,", "no task");
}

TEST(times)
{
	static const char date[] = "[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9] "
				   "[0-2][0-9]:[0-5][0-9]:[0-6][0-9].";
	char pattern[256];

	fields = "delay-max-at,task";
	show(1, GROUPS_TASK, "delay-max", NULL);
	has(" at 3.000 s, 1.000 s: 4 tasks", "the head has the recording's clock");
	has("\n 2.100000 thread:31\n", "so have the columns");
	times.style = TIME_STYLE_START;
	show(1, GROUPS_TASK, "delay-max", NULL);
	has(" at 1.000000 s, 1.000 s: 4 tasks", "--reltime: from the first interval on");
	has("\n 0.100000 thread:31\n", "in columns, too");
	times.style = TIME_STYLE_DATE;
	show(1, GROUPS_TASK, "delay-max", NULL);
	snprintf(pattern, sizeof(pattern), "%s??????, 1.000 s: 4 tasks*\n%s?????? thread:31\n*",
		 date, date);
	ok(!fnmatch(pattern, text, 0), "--tod: dates");
	times.style = TIME_STYLE_CLOCK;
	fields = NULL;
}

TEST(json)
{
	struct top_view view = { .by = GROUPS_TASK };
	struct sheet sheet;

	sheet_options_init(&view.sheet, top_columns, "cpu");
	must(top_fill(&sheet, &intervals[2], &view));
	begin_capture();
	top_print_json(&intervals[2], &sheet);
	end_capture();
	sheet_free(&sheet);
	has("{\"format\":\"schedtape-top\",\"version\":1,\"begin_ns\":3000000000,"
	    "\"end_ns\":4000000000,\"events\":10,\"lost\":6,\"lines\":[{\"name\":\"busy:10\"",
	    "JSON");
	has(",{\"name\":\"runner:20\",\"cpu_share\":0.34", "the share");
	has(",\"cpu_time_ns\":340000000,\"switches\":3,\"delay_median_ns\":10000000,",
	    "the figures");
	ok(strchr(text, '\n') == text + strlen(text) - 1, "all in one line");
}

/* No task has an event while the tape comes, and the recording goes on. */
static void test_idle(const struct blob *blob)
{
	struct schedtape_writer *writer;
	struct reader reader;
	unsigned char *data;
	size_t size;
	int ends[2];
	char path[64];

	free_intervals();
	writer = begin_tape(blob);
	mark(writer, 2000 * MS);
	mark(writer, 3000 * MS);
	must(schedtape_writer_close(writer, &err));
	data = blob_get(blob, &size);
	must(pipe2(ends, O_CLOEXEC));
	ok(write(ends[1], data, size) == (ssize_t)size, "a pipe that stays open");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	must(reader_start(&reader, path, 1000 * MS));
	while (nr < 2 && wait_for(&reader, &intervals[nr]) == READER_INTERVAL)
		nr++;
	ok(nr == 2, "two intervals");
	ok(is_from(0, 1000, 2000, 0, 0) && is_from(1, 2000, 3000, 0, 0), "without events");
	show(1, GROUPS_TASK, "task", NULL);
	has("---\nbusy:10 100.0 1000.000 0 - - - - 0 0 0\n--", "have the task that runs");
	close(ends[1]);
	ok(wait_for(&reader, &intervals[nr]) == READER_ENDED, "until the pipe ends");
	must(reader_join(&reader));
	close(ends[0]);
	free(data);
}

/* top shows the intervals before the damage, and then the error. */
static void test_torn(const void *data, size_t size)
{
	int ret;

	free_intervals();
	ret = read_intervals(data, size - 100);
	ok(!ret && nr >= 3, "a tape that is cut off: %zu intervals", nr);
	free_intervals();
	ret = read_intervals("no tape", 7);
	ok(ret && !nr && strstr(err.text, "not a schedtape tape"), "no tape: %s", err.text);
	ret = read_intervals("", 0);
	ok(ret && !nr, "an empty pipe: %s", err.text);
}

int main(void)
{
	struct blob blob;
	unsigned char *data;
	size_t size;
	int ret;

	blob_init(&blob);
	data = make_live(&blob, &size);
	ret = read_intervals(data, size);
	ok(!ret, "the tape is read: %s", ret ? err.text : "");
	tap_run();
	test_torn(data, size);
	test_idle(&blob);
	free_intervals();
	free(data);
	return tap_done();
}
