// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: --pid, --tid, --comm, --cgroup, --cpu and --time: which arguments are refused, and
 * what the others select of a tape; how times are printed.
 */
#include <time.h>

#include "common/selection.h"
#include "common/time-text.h"
#include "tap.h"
#include "tapes.h"

#define S 1000000000ULL
#define NOON 1795608000		/* 2026-11-25 12:00:00 UTC */

static bool refused;
static struct schedtape_tape *tape;
static struct blob blob;

/* Replaces the C library's function, which would exit. */
void argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	refused = true;
}

/* Returns false if an option is refused.  @option: NULL: none */
static bool takes(struct selection *selection, const struct argp *argp, const char *option)
{
	char *argv[] = { "script", (char *)option, NULL };

	refused = false;
	return !argp_parse(argp, option ? 2 : 1, argv, ARGP_SILENT, NULL, selection) && !refused;
}

TEST(refused)
{
	static const char * const bad[] = {
		"--pid=", "--pid=x", "--pid=1,", "--pid=2-1", "--tid=4294967296", "--tid=-1",
		"--pid=ns:", "--pid=ns:x", "--pid=ns:1,", "--pid=1-ns:2", "--tid=Ns:1",
		"--cpu=0-", "-C,", "--cgroup=",
		"--time=", "--time=x", "--time=1,x", "--time=1,2,3", "--time=2,1", "--time=1;2",
		"--time=+", "--time=+2,+1", "--time=-1,", "--time=1 x",
		"--time=18446744073,",
		"--time=10%x", "--time=20%-10%", "--time=10%-10%", "--time=0%",
		"--time=10%/0", "--time=10%/11", "--time=10%/", "--time=101%", "--time=-10%",
		"--time=10%-", "--time=10%-20", "--time=10%,5", "--time=10%,,20%",
		"--time=2026-13-01,", "--time=2026-00-01,", "--time=2026-01-32,",
		"--time=26-01-01,", "--time=1969-12-31,", "--time=2026-1-1,",
		"--time=2026-11-24T,", "--time=24:00,", "--time=12:60,", "--time=12:0,",
		"--time=12:00:61,", "--time=12:,", "--time=12:00x,", "--time=2026-11-24 12:,",
		"--time=2026-11-25,2026-11-24",
	};
	struct selection selection = { .cgroups.nr_ids = 0 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!takes(&selection, &selection_argp, bad[i]), "not %s", bad[i]);
	ok(!takes(&selection, &selection_tasks_argp, "--cpu=1") &&
	   !takes(&selection, &selection_tasks_argp, "--time=1,2"),
	   "options of tasks are without --cpu and --time");
	selection_free(&selection);
}

/* -- tasks ----------------------------------------------------------------- */

/*
 * Writes a tape from 10 s to 110 s.  At 10 s the wall clock is 2026-11-25 12:00:00 UTC; at 60 s it
 * is set back by 30 s.  @clocked: with the wall clock
 */
static void write_tape(bool clocked)
{
	static const char cgroups[] =
		"[{\"id\": 1, \"path\": \"/\"}, {\"id\": 2, \"path\": \"/web.slice\"},"
		" {\"id\": 3, \"path\": \"/web.slice/a.service\"},"
		" {\"id\": 4, \"path\": \"/db.slice\"}, {\"id\": 5, \"path\": \"/db.slice/[x]\"}]";
	static const struct schedtape_cpu cpus[] = {
		{ .cpu = 0, .events = 1 }, { .cpu = 1, .events = 1 }, { .cpu = 3, .events = 1 },
	};
	static const struct schedtape_end end = {
		.size = sizeof(end), .start_time = 10 * S, .stop_time = 110 * S,
		.cpus = cpus, .nr_cpus = 3,
	};
	static const struct stape_clock_sample samples[] = {
		{ .counter = 5 * S, .mono = 5 * S, .real = (NOON - 5) * S, .khz = 1000000 },
		{ .counter = 60 * S, .mono = 60 * S, .real = (NOON + 20) * S, .khz = 1000000 },
	};
	static const struct schedtape_task_info tasks[] = {
		{ .time = 10 * S, .pid = 7, .tgid = 7, .comm = "nginx" },
		{ .time = 10 * S, .pid = 8, .tgid = 7, .comm = "nginx" },
		{ .time = 10 * S, .pid = 9, .tgid = 9, .comm = "redis" },
	};
	struct json_object *meta = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	size_t i;
	int ret;

	json_object_object_add(meta, "cgroups", json_tokener_parse(cgroups));
	ret = tape_writer_create(blob.path, meta, NULL, &writer, &err) ||
	      schedtape_writer_tasks(writer, tasks, 3, &err);
	for (i = 0; i < 2 && clocked && !ret; i++)
		ret = schedtape_writer_clock(writer, &samples[i], &err);
	if (ret || schedtape_writer_end(writer, &end, &err) ||
	    schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
}

/* Opens another tape in place of the one before. */
static void open_tape(bool clocked)
{
	struct schedtape_error err = { "" };

	schedtape_tape_close(tape);
	write_tape(clocked);
	if (schedtape_tape_open(blob.path, &tape, &err))
		printf("Bail out! %s\n", err.text);
}

/* Options, and the tasks that they select: one digit each, "0" is the first. */
struct choice {
	const char *option;
	const char *other;
	const char *numbers;
};

/* Returns the selected tasks as struct choice has them, or why there are none. */
static const char *chosen(const struct selection_task *tasks,
			  size_t nr, const struct choice *choice)
{
	struct selection selection = { .cgroups.nr_ids = 0 };
	static char numbers[8];
	size_t i, n = 0;

	if (!takes(&selection, &selection_argp, choice->option) ||
	    !takes(&selection, &selection_argp, choice->other))
		return "refused";
	if (selection_resolve(&selection, tape, "tape")) {
		selection_free(&selection);
		return "not found";
	}
	for (i = 0; i < nr; i++)
		if (selection_has_task(&selection, &tasks[i]))
			numbers[n++] = '0' + i;
	numbers[n] = '\0';
	selection_free(&selection);
	return numbers;
}

static void test_choices(const struct selection_task *tasks, size_t nr,
			 const struct choice *choices, size_t nr_choices)
{
	const struct choice *choice;
	const char *numbers;

	for (choice = choices; choice < choices + nr_choices; choice++) {
		numbers = chosen(tasks, nr, choice);
		if (!ok(!strcmp(numbers, choice->numbers), "%s %s",
			choice->option ? choice->option : "no option",
			choice->other ? choice->other : ""))
			printf("# are %s, not %s\n", numbers, choice->numbers);
	}
}

TEST(tasks)
{
	static const struct selection_task tasks[] = {
		{ .pid = 20, .tgid = 20, .comm = "nginx", .cgroup = 2 },
		{ .pid = 21, .tgid = 20, .comm = "worker", .cgroup = 3 },
		{ .pid = 22, .tgid = 22, .comm = "[x]", .cgroup = 5 },
		{ .pid = 30, .comm = "", .cgroup = 77 },
	};
	static const struct choice choices[] = {
		{ NULL, NULL, "0123" },
		{ "--pid=20", NULL, "01" },
		{ "--pid=21", NULL, "" },
		{ "--pid=30", NULL, "3" },
		{ "--pid=20,22", NULL, "012" },
		{ "--pid=21-40", NULL, "23" },
		{ "--pid=20", "--pid=22", "012" },
		{ "--tid=20", NULL, "0" },
		{ "--tid=21-22,30", NULL, "123" },
		{ "--pid=20", "--tid=21", "1" },
		{ "--comm=nginx", NULL, "0" },
		{ "--comm=nginx,worker", NULL, "01" },
		{ "--comm=nginx", "--comm=w*", "01" },
		{ "--comm=*n*", NULL, "0" },
		{ "--comm=[nw]*", NULL, "01" },
		{ "--comm=[x]", NULL, "2" },
		{ "--comm=ngin", NULL, "" },
		{ "--comm=w*", "--pid=22", "" },
		{ "--cgroup=/web.slice", NULL, "01" },
		{ "--cgroup=web.slice", NULL, "01" },
		{ "--cgroup=/web.slice/a.service", NULL, "1" },
		{ "--cgroup=*.service", NULL, "1" },
		{ "--cgroup=*.slice", NULL, "012" },
		{ "--cgroup=/db.slice/[x]", NULL, "2" },
		{ "--cgroup=/", NULL, "012" },
		{ "--cgroup=id:77", NULL, "3" },
		{ "--cgroup=id:2", NULL, "0" },
		{ "--cgroup=id:2,id:5", "--comm=n*", "0" },
		{ "--cgroup=id:x", NULL, "not found" },
		{ "--cgroup=id:1x", NULL, "not found" },
		{ "--cgroup=/web", NULL, "not found" },
		{ "--cgroup=/web.slice,/none", NULL, "not found" },
		{ "--cgroup=/web.slice,", NULL, "not found" },
	};

	test_choices(tasks, sizeof(tasks) / sizeof(*tasks), choices,
		     sizeof(choices) / sizeof(*choices));
}

/*
 * Tests PIDs in a task's own namespace.  12 and its thread 13 are 1 and 2 there; of 14 and 15, the
 * leader of 15 is not on the tape; 1 and 2 of the initial namespace, the latter not described.
 */
TEST(own_pids)
{
	static const struct selection_task tasks[] = {
		{ .pid = 12, .tgid = 12, .ns_pid = 1, .ns_tgid = 1, .comm = "" },
		{ .pid = 13, .tgid = 12, .ns_pid = 2, .ns_tgid = 1, .comm = "" },
		{ .pid = 15, .tgid = 14, .ns_pid = 9, .comm = "" },
		{ .pid = 1, .tgid = 1, .ns_pid = 1, .ns_tgid = 1, .comm = "" },
		{ .pid = 2, .comm = "" },
	};
	static const struct choice choices[] = {
		{ "--pid=ns:1", NULL, "013" },
		{ "--pid=ns:2", NULL, "4" },
		{ "--pid=ns:9", NULL, "" },
		{ "--pid=ns:14", NULL, "" },
		{ "--pid=14,ns:1-2", NULL, "01234" },
		{ "--pid=12", "--pid=ns:2", "014" },
		{ "--tid=ns:2", NULL, "14" },
		{ "--tid=ns:9,1", NULL, "23" },
		{ "--pid=ns:1", "--tid=13", "1" },
		{ "--pid=9", NULL, "" },
	};

	test_choices(tasks, sizeof(tasks) / sizeof(*tasks), choices,
		     sizeof(choices) / sizeof(*choices));
}

/* -- times ----------------------------------------------------------------- */

/* Returns "START-STOP" of all ranges, in ms; nothing for open ends; or the error. */
static const char *ranges_of(const char *text)
{
	struct time_ranges times = { .nr = 0 };
	static char result[256];
	size_t i, len = 0;
	int ret;

	if (time_ranges_parse(&times, text))
		return "refused";
	ret = time_ranges_resolve(&times, tape);
	*result = '\0';
	for (i = 0; i < times.nr && !ret; i++) {
		len += sprintf(result + len, "%s", i ? " " : "");
		if (times.ranges[i].start)
			len += sprintf(result + len, "%llu", times.ranges[i].start / 1000000ULL);
		len += sprintf(result + len, "-");
		if (times.ranges[i].stop != UINT64_MAX)
			len += sprintf(result + len, "%llu", times.ranges[i].stop / 1000000ULL);
	}
	time_ranges_free(&times);
	return ret == -ERANGE ? "not there" : ret == -EINVAL ? "backwards" :
	       ret == -ENODATA ? "no clock" : result;
}

static void has_ranges(const char *text, const char *expected)
{
	const char *ranges = ranges_of(text);

	if (!ok(!strcmp(ranges, expected), "--time='%s' is %s", text, expected))
		printf("# it is %s\n", ranges);
}

TEST(times)
{
	has_ranges("12.5,13", "12500-13000");
	has_ranges("12.5,", "12500-");
	has_ranges("12.5", "12500-");
	has_ranges(",13", "-13000");
	has_ranges(",", "-");
	has_ranges("20,21 30,31 40,", "20000-21000 30000-31000 40000-");
	has_ranges("+0.5,+0.8", "10500-10800");
	has_ranges("+1,20", "11000-20000");
	has_ranges("+1,10", "backwards");
	has_ranges("110,", "110000-");
	has_ranges("110.1,", "not there");
	has_ranges(",10", "not there");
	has_ranges("1,2 50,51", "1000-2000 50000-51000");
	has_ranges("+100.1,", "not there");
	has_ranges("10%", "10000-20000");
	has_ranges("10%/2", "20000-30000");
	has_ranges("10%/10", "100000-");
	has_ranges("30%/4", "100000-");
	has_ranges("33.4%/3", "76800-");
	has_ranges("0%-12.5%", "10000-22500");
	has_ranges("10%/1,50%-100%", "10000-20000 60000-");
}

TEST(dates)
{
	/* The local time is 2 hours and a half later than UTC. */
	setenv("TZ", "XXX-2:30", 1);
	tzset();
	has_ranges("2026-11-25 14:30:05.5,2026-11-25T14:30:06", "15500-16000");
	has_ranges("2026-11-25 12:00:05Z,2026-11-25 12:00:06 UTC", "15000-16000");
	has_ranges("2026-11-25 14:30:01,2026-11-25 14:30:02 20,", "11000-12000 20000-");
	has_ranges("2026-11-25,2026-11-26", "-34240000");
	has_ranges("2026-11-24,2026-11-25", "not there");
	has_ranges("2026-11-26,2026-11-27 20,21", "20000-21000 34240000-120640000");
	has_ranges("14:30:05,14:30:06.25", "15000-16250");
	has_ranges("14:30,+10", "10000-20000");
	has_ranges("12:00:05Z,14:30:06", "15000-16000");
	has_ranges("14:31,", "100000-");
	/* The wall clock was 12:00:30 twice. */
	has_ranges("14:30:30,", "70000-");
	/* Behind 23:59 it is the next day. */
	has_ranges("14:30:05,14:00", "15000-84640000");
	has_ranges("2026-11-25 14:30:05,14:30:06", "15000-16000");
	has_ranges("14:00,14:10", "not there");
	has_ranges("14:29,", "-");

	/* The recording begins at 23:59:30. */
	setenv("TZ", "XXX-11:59:30", 1);
	tzset();
	has_ranges("23:59:40,0:00:10", "20000-80000");
	has_ranges("0:00:10,", "80000-");
	has_ranges("23:59:40,0:10:00", "20000-670000");
	has_ranges("0:10:00,", "not there");
	setenv("TZ", "UTC", 1);
	tzset();
}

TEST(unclocked)
{
	struct time_text_options options = { .style = TIME_STYLE_DATE, .digits = 6 };
	struct time_text text;

	open_tape(false);
	has_ranges("12:00,", "no clock");
	has_ranges("20,2026-11-25", "no clock");
	has_ranges("20,", "20000-");
	ok(time_text_begin(&text, &options, tape, "tape"), "no --tod, either");
}

/* -- printed times --------------------------------------------------------- */

/* Returns the texts of three times, as of three lines, and of the last one within a line. */
static const char *printed(const char *option, const char *other)
{
	struct time_text_options options = TIME_TEXT_OPTIONS_INIT;
	char *argv[] = { "script", (char *)option, (char *)other, NULL };
	char a[TIME_TEXT_LEN], b[TIME_TEXT_LEN], c[TIME_TEXT_LEN], d[TIME_TEXT_LEN];
	static char result[4 * TIME_TEXT_LEN];
	struct time_text text;

	refused = false;
	if (argp_parse(&time_text_argp, other ? 3 : 2, argv, ARGP_SILENT, NULL, &options) ||
	    refused || time_text_begin(&text, &options, tape, "tape"))
		return "refused";
	time_text_line(&text, a, 11 * S);
	time_text_line(&text, b, 11 * S + 1234);
	time_text_line(&text, c, 61 * S);
	snprintf(result, sizeof(result), "%s %s %s; %s", a, b, c, time_text(&text, d, 61 * S));
	return result;
}

TEST(printed)
{
	static const struct {
		const char *option, *other, *text;
	} tests[] = {
		{ "--ns", NULL, "11.000000000 11.000001234 61.000000000; 61.000000000" },
		{ "--reltime", NULL, "1.000000 1.000001 51.000000; 51.000000" },
		{ "--reltime", "--ns", "1.000000000 1.000001234 51.000000000; 51.000000000" },
		{ "--deltatime", NULL, "0.000000 0.000001 49.999998; 51.000000" },
		{ "--tod", NULL, "2026-11-25 12:00:01.000000 2026-11-25 12:00:01.000001 "
				 "2026-11-25 12:00:21.000000; 2026-11-25 12:00:21.000000" },
		{ "--reltime", "--deltatime", "refused" },
		{ "--tod", "--reltime", "refused" },
		{ "--tod", "--tod", "2026-11-25 12:00:01.000000 2026-11-25 12:00:01.000001 "
				    "2026-11-25 12:00:21.000000; 2026-11-25 12:00:21.000000" },
	};
	const char *text;
	size_t i;

	open_tape(true);
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		text = printed(tests[i].option, tests[i].other);
		if (!ok(!strcmp(text, tests[i].text), "%s %s", tests[i].option,
			tests[i].other ? tests[i].other : ""))
			printf("# prints %s\n", text);
	}
}

TEST_MAIN_AFTER(setenv("TZ", "UTC", 1), blob_init(&blob), open_tape(true))
