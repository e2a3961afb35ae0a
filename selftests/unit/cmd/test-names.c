// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a command prints as the name of a task or a cgroup selects that task or cgroup,
 * in each command; other arguments are lists and patterns; a line says so if they could be both.
 */
#include "common/select.h"
#include "pipes.h"
#include "printed.h"
#include "replay/options.h"
#include "tape/next.h"

static void must(bool done)
{
	if (!done)
		printf("Bail out! %s\n", said);
	if (!done)
		exit(1);
}

/* -- names, lists, patterns ------------------------------------------------ */

static const struct {
	const char *name;
	uint32_t pid;
} all[] = {
	{ "pool[0]", 10 }, { "pool0", 11 }, { "a,b", 12 }, { "a", 13 }, { "b", 14 },
	{ "back\\slash", 15 }, { "backslash", 16 }, { "bell\a", 17 }, { "kworker/0:2", 18 },
	{ "kworker/0", 2 }, { "", 19 }, { "12", 9 }, { "caf\xc3", 20 },
};

#define NR_ALL	(sizeof(all) / sizeof(*all))

/* Returns the selected names, one letter each; 'A' is the first.  @known: they are met before */
static const char *chosen(struct select_names *names, bool known)
{
	static char letters[NR_ALL + 1];
	size_t i, n = 0;

	for (i = 0; i < NR_ALL && known; i++)
		select_names_meet(names, all[i].name, all[i].pid);
	for (i = 0; i < NR_ALL; i++)
		if (select_names_has(names, all[i].name, all[i].pid))
			letters[n++] = 'A' + i;
	letters[n] = '\0';
	return letters;
}

static void has_only(const char *argument, bool pids, bool known, const char *letters, bool both)
{
	struct select_names names = { .pids = pids };
	const char *are;

	must(!select_names_parse(&names, argument));
	are = chosen(&names, known);
	begin_capture();
	select_names_say(&names, "t");
	end_capture();
	if (!ok(!strcmp(are, letters), "'%s'%s selects %s", argument, known ? "" : " of a pipe",
		letters))
		printf("# %s\n", are);
	ok(!!*said == both, "and is %s", both ? "a list or a pattern, too" : "nothing else");
	select_names_free(&names);
}

static void test_names(void)
{
	static const struct {
		const char *argument, *letters;
		bool both;
	} tests[] = {
		{ "pool[0]", "A", true },
		{ "pool[0]:10", "A", false },
		{ "pool[0]:11", "", false },
		{ "pool\\[0]", "A", false },
		{ "pool[0-9]", "B", false },
		{ "pool*", "AB", false },
		{ "a,b", "C", true },
		{ "a,b:12", "C", true },
		{ "a\\,b", "C", false },
		{ "b,a", "DE", false },
		{ "a:13,b:13", "D", false },
		{ "pool[0],b", "AE", true },
		{ "a\\,b,pool\\[0]", "AC", false },
		{ "back\\slash", "F", true },
		{ "back\\\\slash", "F", false },
		{ "back\\slash:15", "F", false },
		{ "bell?", "H", false },
		{ "bell?:17", "H", false },
		{ "bell\a", "H", false },
		{ "caf?", "M", false },
		{ "kworker/0:2", "IJ", false },
		{ "kworker/0:3", "", false },
		{ "?", "K", true },
		{ "?:19", "K", false },
		{ "a:", "", false },
		{ "a:x", "", false },
		{ "none", "", false },
		{ "none,", "K", false },
		{ "\\", "", false },
	};
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		has_only(tests[i].argument, false, true, tests[i].letters, tests[i].both);
}

static void test_pids(void)
{
	has_only("13", true, true, "D", false);
	has_only("13,10", true, true, "AD", false);
	has_only("12", true, true, "L", true);
	has_only("12", false, true, "L", false);
	has_only("12:9", true, true, "L", false);
	/* Names are not known beforehand. */
	has_only("12", true, false, "CL", false);
	has_only("pool[0]", false, false, "AB", false);
	has_only("a,b", false, false, "CDE", false);
}

/* -- a tape ---------------------------------------------------------------- */

/* As long as a path on a tape may be. */
#define X8	"xxxxxxxx"
#define X64	"" X8 X8 X8 X8 X8 X8 X8 X8
#define X512	"" X64 X64 X64 X64 X64 X64 X64 X64
#define LONG	"/" X512 X512 X512 X64 X64 X64 X64 X64 X64 X64 X8 X8 X8 X8 X8 X8 X8 "xxxxxx"

/* "pool?" is renamed to "a,b"; "a" has the cgroup "/x,y". */
static void make_names(const struct blob *blob)
{
	static const struct schedtape_task_info tasks[] = {
		{ .pid = 10, .tgid = 10, .comm = "pool[0]" },
		{ .pid = 11, .tgid = 10, .comm = "pool0", .cgroup = 5 },
		{ .pid = 12, .tgid = 10, .comm = "pool?" },
		{ .pid = 13, .tgid = 10, .comm = "a", .cgroup = 3 },
		{ .pid = 14, .tgid = 10, .comm = "b", .cgroup = 4 },
		{ .pid = 15, .tgid = 10, .comm = "back\\slash", .cgroup = 4 },
	};
	static const struct schedtape_cpu cpus[] = {
		{ .cpu = 0, .events = 18 }, { .cpu = STAPE_CPU_NONE, .events = 1 },
	};
	static const struct schedtape_end end = {
		.size = sizeof(end), .start_time = S, .stop_time = 2 * S, .cpus = cpus,
		.nr_cpus = 2,
	};
	static const char meta[] =
		"{\"cgroups\": [{\"id\": 2, \"path\": \"/x\"}, {\"id\": 3, \"path\": \"/x,y\"},"
		" {\"id\": 4, \"path\": \"/y\"}, {\"id\": 5, \"path\": \"" LONG "\"}]}";
	static unsigned char page[STAPE_PAGE_SIZE], described[STAPE_PAGE_SIZE];
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	struct maker m;
	uint64_t time;
	uint32_t pid;

	maker_begin(&m, described, STAPE_CPU_NONE, 0, S);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_rename(&m, S, 12, "a,b");
	maker_begin(&m, page, 0, 0, S);
	for (pid = 10; pid < 16; pid++) {
		time = S + pid * 1000000ULL;
		maker_wake(&m, time, pid, STAPE_CTX_HARDIRQ, time, 0);
		maker_switch(&m, time + 1000, pid, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	}
	if (schedtape_writer_create(blob->path, meta, NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, tasks, 6, &err) ||
	    schedtape_writer_pages(writer, page, 1, &err) ||
	    schedtape_writer_pages(writer, described, 1, &err) ||
	    schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
}

#define BOTH	"is the name of a task, and selects only that"

static int run_with(int (*command)(int argc, char **argv), const char *option, const char *more,
		    const struct blob *tape)
{
	char name[] = "command", file[] = "-i";
	char *argv[6] = { name, file, (char *)tape->path, (char *)option, (char *)more, NULL };
	int status;

	begin_capture();
	status = command(more ? 5 : 4, argv);
	end_capture();
	return status;
}

static void test_commands(const struct blob *tape)
{
	static const struct {
		const char *name;
		int (*command)(int argc, char **argv);
		const char *more;
	} commands[] = {
		{ "report", cmd_report, NULL }, { "latency", cmd_latency, "-p" },
		{ "timehist", cmd_timehist, NULL }, { "stat", cmd_stat, "--per-thread" },
		{ "map", cmd_map, NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		must(!run_with(commands[i].command, "--comm=pool[0]", commands[i].more, tape));
		ok(strstr(text, "pool[0]") && !strstr(text, "pool0") && strstr(said, BOTH),
		   "%s --comm: a name is no pattern", commands[i].name);
		must(!run_with(commands[i].command, "--comm=a,b", commands[i].more, tape));
		ok(strstr(text, "a,b") && !strstr(text, "a:13") && strstr(said, BOTH),
		   "and no list, also if it comes with a later event");
		must(!run_with(commands[i].command, "--comm=b,pool0", commands[i].more, tape));
		ok(strstr(text, "pool0") && !strstr(text, "a,b") && !*said, "others are lists");
	}
}

/* Returns the number of lines in the text. */
static size_t count_lines(void)
{
	const char *at = text;
	size_t n = 0;

	while ((at = strchr(at, '\n'))) {
		at++;
		n++;
	}
	return n;
}

/* A report selects by the last name of a task, which is what it prints. */
static void test_last(const struct blob *tape)
{
	must(!run_with(cmd_report, "--comm=pool?", NULL, tape));
	ok(strstr(text, "pool0") && !strstr(text, "a,b") && !*said,
	   "report: an earlier name is no name, so it is a pattern");
	must(!run_with(cmd_latency, "--comm=pool?", NULL, tape));
	ok(strstr(text, "pool0") && !strstr(text, "a,b") && !*said, "so do latency");
	must(!run_with(cmd_stat, "--comm=pool?", NULL, tape));
	ok(strstr(text, "pool0") && !strstr(text, "a,b") && !*said, "stat");
	must(!run_with(cmd_timehist, "--comm=pool?", "-s", tape));
	ok(strstr(text, "pool0") && !strstr(text, "a,b") && !*said, "and timehist -s");
}

/* The same of a tape that comes through a pipe. */
static void run_piped(int (*command)(int argc, char **argv), const char *option, const char *more,
		      const struct blob *tape)
{
	struct blob through = { .fd = -1 };
	unsigned char *data;
	struct pipe pipe;
	size_t size;

	data = blob_get(tape, &size);
	pipe_begin(&pipe, data, size, 100);
	snprintf(through.path, sizeof(through.path), "%s", pipe.path);
	must(!run_with(command, option, more, &through));
	pipe_end(&pipe);
	free(data);
}

static void test_pipe(const struct blob *tape)
{
	run_piped(cmd_report, "--comm=a,b", NULL, tape);
	ok(strstr(text, "a,b:12") && !strstr(text, "a:13") && strstr(said, BOTH),
	   "report of a pipe: names are known at its end");
	run_piped(cmd_report, "--comm=pool?", NULL, tape);
	ok(strstr(text, "pool0") && !strstr(text, "a,b") && !*said, "and only last ones");
	run_piped(cmd_stat, "--comm=pool[0]", NULL, tape);
	ok(strstr(text, "pool[0]") && !strstr(text, "pool0") && strstr(said, BOTH), "stat");
	run_piped(cmd_script, "--comm=pool[0]", "-eswitch", tape);
	ok(count_lines() == 2 && strstr(said, BOTH),
	   "script of a pipe: those from the start of the recording");
}

static void test_options(const struct blob *tape)
{
	must(!run_with(cmd_script, "--comm=pool[0]", "-eswitch", tape));
	ok(count_lines() == 2 && strstr(said, BOTH), "script --comm: to the task, and from it");
	must(!run_with(cmd_script, "-ca,b", "-eswitch", tape));
	ok(count_lines() == 2 && strstr(said, BOTH), "script -c");
	must(!run_with(cmd_map, "--task-name=pool[0]", NULL, tape));
	ok(!strstr(text, "pool0") && strstr(said, BOTH), "map --task-name");
	must(!run_with(cmd_map, "--task-name=ool[0],lash", "--fuzzy-name", tape));
	ok(strstr(text, "pool0") && strstr(text, "back\\slash") && !*said, "with --fuzzy-name");
	must(!run_with(cmd_map, "--task-name=a,b", "--fuzzy-name", tape));
	ok(strstr(text, "a,b") && strstr(text, "back\\slash") && !*said,
	   "which also takes parts of a list");
	must(!run_with(cmd_map, "--task-name=pool[0]", "--fuzzy-name", tape));
	ok(strstr(text, "pool[0]") && strstr(text, "pool0") && !*said, "and whole names");
	must(!run_with(cmd_why, "pool[0]", "--sleeps", tape));
	ok(strstr(text, "pool[0]:10 did not run") && !strstr(text, "pool0") && strstr(said, BOTH),
	   "why TASK");
	must(!run_with(cmd_why, "a,b:12", "--sleeps", tape));
	ok(strstr(text, "a,b:12 did not run") && strstr(said, "list, a PID or a pattern"),
	   "with its PID");
	must(!run_with(cmd_why, "b,11", "--sleeps", tape));
	ok(strstr(text, "\nb:14 did") && strstr(text, "\npool0:11 did") && !*said, "a list");
	must(!run_with(cmd_report, "--cgroup=/x,y", NULL, tape));
	ok(strstr(text, "a:13") && !strstr(text, "b:14") &&
	   strstr(said, "'/x,y' is the name of a cgroup"), "--cgroup");
	must(!run_with(cmd_report, "--by=cgroup", NULL, tape));
	ok(strstr(text, "\n" LONG " "), "the longest path of a cgroup is printed whole");
	must(!run_with(cmd_report, "--cgroup=" LONG, NULL, tape));
	ok(strstr(text, "pool0:11"), "and is found");
	must(!run_with(cmd_report, "--cgroup=x\\,y,/y", NULL, tape));
	ok(strstr(text, "a:13") && strstr(text, "b:14") && !*said, "quoted in a list");
	ok(run_with(cmd_report, "--comm=pool[0]:11", NULL, tape) == CMD_FAILURE &&
	   strstr(said, "no task of the tape matches --comm"), "a name with another task's PID");
}

/* -- replay ---------------------------------------------------------------- */

static bool keeps(const struct choice *choice, uint32_t pid, const char *comm, uint64_t cgroup)
{
	struct schedtape_task task = { .pid = pid, .tgid = 10, .cgroup = cgroup };

	snprintf(task.comm, sizeof(task.comm), "%s", comm);
	return choice_keeps((void *)choice, &task);
}

/* Returns which of the tape's tasks are replayed, by the last digit of their PIDs. */
static const char *replays(struct schedtape_tape *tape, const char *only, const char *exclude)
{
	struct choice choice = { .only.comms.nr = 0 };
	static char digits[8];
	char *to = digits;

	must(!only || !choice_parse(&choice.only, only));
	must(!exclude || !choice_parse(&choice.exclude, exclude));
	begin_capture();
	must(!choice_check(&choice, tape, "t"));
	end_capture();
	if (keeps(&choice, 10, "pool[0]", 0))
		*to++ = '0';
	if (keeps(&choice, 11, "pool0", 0))
		*to++ = '1';
	if (keeps(&choice, 12, "a,b", 0))
		*to++ = '2';
	if (keeps(&choice, 13, "a", 3))
		*to++ = '3';
	if (keeps(&choice, 14, "b", 4))
		*to++ = '4';
	if (keeps(&choice, 15, "back\\slash", 4))
		*to++ = '5';
	*to = '\0';
	choice_free(&choice);
	return digits;
}

static void test_replay(const struct blob *blob)
{
	struct schedtape_error err = { "" };
	const struct schedtape_event *ev;
	struct schedtape_tape *tape;

	must(!schedtape_tape_open(blob->path, &tape, &err));
	ok(!strcmp(replays(tape, "comm=back\\slash", NULL), "5") && !*said, "--only comm=");
	ok(!strcmp(replays(tape, "pool[0]", NULL), "0") && strstr(said, BOTH), "--only NAME");
	ok(!strcmp(replays(tape, "pool0:11", NULL), "1"), "--only NAME:PID");
	ok(!strcmp(replays(tape, "a,b", NULL), "2") && strstr(said, BOTH), "no list");
	ok(!strcmp(replays(tape, "a,pool*", NULL), "013") && !*said, "a list");
	ok(!strcmp(replays(tape, NULL, "a,b"), "01345"), "--exclude NAME");
	ok(!strcmp(replays(tape, "cgroup=/x,y", NULL), "3") &&
	   strstr(said, "'/x,y' is the name of a cgroup"), "--only cgroup=");
	ok(!strcmp(replays(tape, "cgroup=/x*", NULL), "3") && !*said, "a pattern of cgroups");
	ok(!strcmp(replays(tape, "cgroup=id:4", "b"), "5"), "the number of a cgroup");
	ok(tape_next_event(tape, &ev, &err) == 1 && ev->type == STAPE_EV_RENAME &&
	   tape_next_event(tape, &ev, &err) == 1 && ev->type == STAPE_EV_WAKING,
	   "the tape is at its first event again, and has all its events");
	schedtape_tape_close(tape);
}

int main(void)
{
	struct blob tape;

	out_set_command("schedtape");
	test_names();
	test_pids();
	blob_init(&tape);
	make_names(&tape);
	test_commands(&tape);
	test_last(&tape);
	test_pipe(&tape);
	test_options(&tape);
	test_replay(&tape);
	close(tape.fd);
	return tap_done();
}
