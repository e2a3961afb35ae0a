// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: output of script as text, as JSON, as of perf and for Perl, its fields and events;
 * what script and report say if their options select nothing of a tape.
 */
#include <argp.h>
#include <fcntl.h>

#include "printed.h"

static unsigned char pages[1][STAPE_PAGE_SIZE];
static struct maker m;

static bool refused;

/* Replaces the C library's function, which would exit. */
void argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	refused = true;
}

TEST(script)
{
	ok(!run(cmd_script, NULL), "script");
	has("           shell-10      [000]      2.000000:       task: server:20 enters [S] on "
	    "[003] tgid=20 ppid=1 ns_pid=2 start_time=1.500000 fifo nice=0 rt_priority=50 prio=49\n",
	    "a task that enters");
	has("    waking: server:20 by softirq_task\n", "a waking in a softirq of one's own");
	has("   setprio: shell:10 other nice=-5 rt_priority=0 prio=49 boosted\n", "a boost");
	has("   setprio: shell:10 deadline nice=0 rt_priority=0 prio=-1\n", "another policy");
	has("setaffinity: shell:10 to [0-3,7,64]\n", "an affinity");
	has("        <paused>-0       [000]      5.000000:     paused: PAUSED from 5.000000 to "
	    "7.000000\n", "a pause");
	has("          <lost>-0       [003]      2.000000:       lost: LOST 1234 events from "
	    "2.000000 to 3.000000\n", "a loss");
	has("      task: server:20 leaves [R] on [000] tgid=20", "a task that leaves");
	has("      task: ?[2J:30 exits [R] on [000] tgid=20", "one that exits, safe to be seen");
	has("   migrate: ?[2J:30 to [001]\n", "a migration, with the name from the exit");

	run(cmd_script, "--pid=20");
	has("PAUSED", "a pause is printed whatever tasks are selected");
	has("LOST", "a loss, too");
	has_not("setprio", "an event of another task is not");
}

TEST(throttle)
{
	maker_begin(&m, pages[0], 0, 0, 0);
	maker_switch(&m, S, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_throttle(&m, 2 * S, 27, 3, true);
	maker_throttle(&m, 3 * S, 27, 3, false);
	write_second(pages, 1);
	ok(!run(cmd_script, NULL), "script");
	has("-10      [000]      2.000000:   throttle: cgroup=27 on [003]\n", "throttling begins");
	has("-10      [000]      3.000000: unthrottle: cgroup=27 on [003]\n", "and ends");
	run(cmd_script, "--json");
	has("\"event\":\"throttle\",\"curr_kind\":\"task\",\"curr_pid\":10,\"curr_comm\":\"shell\","
	    "\"cgroup\":27,\"target_cpu\":3}\n", "as JSON");
	run(cmd_script, "--event=unthrottle");
	has(" unthrottle: ", "one kind");
	has_not(" throttle: ", "and not the other");
}

TEST(trigger)
{
	maker_begin(&m, pages[0], 0, 0, 0);
	maker_switch(&m, S, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_trigger(&m, 2 * S, 10, S / 4, 3 | 1ULL << STAPE_TRIGGER_NUMBER_SHIFT |
		      (uint64_t)STAPE_TRIGGER_LATENCY << STAPE_TRIGGER_KIND_SHIFT |
		      STAPE_TRIGGER_LASTS);
	maker_trigger(&m, 3 * S, 0, 700, (uint64_t)STAPE_TRIGGER_RATE << STAPE_TRIGGER_KIND_SHIFT);
	write_second(pages, 1);
	ok(!run(cmd_script, NULL), "script");
	has("    trigger: shell:10 latency=0.250000 on [003] of trigger 1, lasts\n",
	    "a trigger has fired for a task");
	has("    trigger: all tasks rate=700 on [000] of trigger 0\n", "another for all tasks");
	run(cmd_script, "--json");
	has("\"event\":\"trigger\",\"curr_kind\":\"task\",\"curr_pid\":10,"
	    "\"curr_comm\":\"shell\",\"pid\":10,\"comm\":\"shell\",\"trigger\":1,\"kind\":\"latency\","
	    "\"value_ns\":250000000,\"target_cpu\":3,\"lasts\":true}\n", "as JSON");
	has("\"trigger\":0,\"kind\":\"rate\",\"wakeups\":700,\"target_cpu\":0,\"lasts\":false}\n",
	    "a rate as JSON");
	run(cmd_script, "--event=trigger");
	has(" latency=", "only triggers");
	has_not(" switch: ", "and no switch");
}

TEST(interval)
{
	char copy[64];

	maker_begin(&m, pages[0], STAPE_CPU_NONE, 0, 0);
	maker_interval(&m, 2 * S, 7);
	write_second(pages, 1);
	ok(!run(cmd_script, NULL), "script");
	has("<task>-0       [---]      2.000000:   interval: 7 ends\n", "an interval ends");
	run(cmd_script, "--json");
	has("\"cpu\":null,\"event\":\"interval\",\"interval\":7}\n", "as JSON");
	run(cmd_script, "--event=interval");
	has(" interval: ", "only these");
	run(cmd_info, NULL);
	has("interval ends    : 1\n", "info counts it");
	snprintf(copy, sizeof(copy), "/tmp/test-script.%d", getpid());
	ok(!run_on("-o", cmd_merge, copy, the_tape.path, NULL), "merge");
	run_on(copy, cmd_script, NULL, NULL, NULL);
	has("2.000000:   interval: 7 ends\n", "keeps it");
	unlink(copy);
}

/* The tape is complete: a task without an early name has no name at first. */
TEST(first_names)
{
	static const struct schedtape_cpu cpu = { .cpu = 0, .events = 8 };
	static const struct schedtape_cpu overwritten = { .cpu = 0, .events = 8, .overwritten = 7 };
	struct schedtape_end end = {
		.size = sizeof(end),
		.stop_time = 9 * S,
		.cpus = &cpu,
		.nr_cpus = 1,
	};
	uint64_t words[5] = { 10, 20 << 8, 2 * S, 0, 0 };

	/* The first owner of PID 10 is not the task that is described. */
	maker_begin(&m, pages[0], 0, 0, 0);
	m.header.curr = 12;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_event(&m, 10, STAPE_EV_MIGRATE, 10, 1);
	maker_task(&m, 20, 10, STAPE_TASK_EXITS, "first", words);
	maker_event(&m, 30, STAPE_EV_FORK, 10, 0);
	maker_event(&m, 40, STAPE_EV_MIGRATE, 11, 3);
	maker_event(&m, 50, STAPE_EV_FORK, 11, 0);
	maker_task(&m, 60, 11, STAPE_TASK_LEAVES, "kid", words);
	maker_event(&m, 70, STAPE_EV_MIGRATE, 11, 4);
	maker_event(&m, 5 * S, STAPE_EV_MIGRATE, 10, 2);
	write_tape(pages, 1, &end, false);
	run(cmd_script, NULL);
	has("migrate: shell:10 to [001]", "a whole tape is not read twice");
	has("migrate: shell:10 to [002]", "a task has its later name after its description");

	write_tape(pages, 1, &end, true);
	run(cmd_script, NULL);
	has("migrate: first:10 to [001]", "a tape with descriptions at its end is read twice");
	end.cpus = &overwritten;
	write_tape(pages, 1, &end, false);
	run(cmd_script, NULL);
	has("migrate: first:10 to [001]", "a tape with overwritten events, too");
	has("\n               ?-12      [000] ", "a task without a name that runs");
	has("fork: ?:10", "a child of a task without a name has no name");
	has("migrate: ?:11 to [003]", "a task has not the name of a later one with its PID");
	has("migrate: kid:11 to [004]", "a task has a name from its description on");
	has("migrate: shell:10 to [002]", "a PID that is used again has the name of the new task");
}

/* Writes a tape of the page with @n tasks. */
static void write_tasks(const struct schedtape_task_info *tasks, size_t n)
{
	static const struct schedtape_cpu cpu = { .cpu = 0, .events = 7, .overwritten = 7 };
	static const struct schedtape_end end = {
		.size = sizeof(end), .stop_time = 9 * S, .cpus = &cpu, .nr_cpus = 1,
	};
	struct schedtape_writer_options options = { .size = sizeof(options) };
	struct json_object *meta = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;

	ok(!tape_writer_create(the_tape.path, meta, &options, &writer, &err) &&
	   !schedtape_writer_tasks(writer, tasks, n, &err) &&
	   !schedtape_writer_pages(writer, pages[0], 1, &err) &&
	   !schedtape_writer_end(writer, &end, &err) && !schedtape_writer_close(writer, &err),
	   "a tape: %s", err.text);
	json_object_put(meta);
}

/*
 * Behind the gap of a merged tape, tasks are described without a start time, and some that had
 * ended have events.
 */
TEST(names_behind_gap)
{
	static const struct schedtape_task_info tasks[] = {
		{ .time = S, .start_time = 3, .pid = 20, .tgid = 20, .comm = "older" },
		{ .time = 3 * S - 1, .pid = 20, .tgid = 20, .comm = "newer" },
		{ .time = 3 * S - 1, .pid = 30, .tgid = 30, .comm = "ended",
		  .state = STAPE_STATE_DEAD },
	};

	maker_begin(&m, pages[0], 0, 0, 2 * S);
	maker_switch(&m, 2 * S, 20, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_event(&m, 2 * S + 10, STAPE_EV_EXIT, 20, 0);
	maker_switch(&m, 2 * S + 20, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
	maker_event(&m, 3 * S, STAPE_EV_MIGRATE, 20, 1);
	maker_event(&m, 3 * S + 10, STAPE_EV_MIGRATE, 20, 2);
	maker_event(&m, 3 * S + 20, STAPE_EV_MIGRATE, 30, 3);
	maker_event(&m, 3 * S + 30, STAPE_EV_MIGRATE, 30, 4);
	write_tasks(tasks, 3);
	ok(!run(cmd_script, NULL), "script");
	has("migrate: newer:20 to [001]", "the next task with a PID has its name");
	has("migrate: newer:20 to [002]", "and keeps it");
	has("migrate: ended:30 to [003]", "a task that had ended has its name, too");
	has("migrate: ended:30 to [004]", "and keeps it");
}

TEST(script_json)
{
	make_tape();
	ok(!run(cmd_script, "--json"), "script --json");
	has("{\"format\":\"schedtape-script\",\"version\":1}\n", "the format");
	has("{\"time_ns\":2000000000,\"cpu\":0,\"event\":\"task\",\"curr_kind\":\"task\","
	    "\"curr_pid\":10,\"curr_comm\":\"shell\",\"pid\":20,\"comm\":\"server\",\"why\":\"enters\","
	    "\"state\":\"S\",\"task_cpu\":3,\"tgid\":20,\"ppid\":1,\"ns_pid\":2,"
	    "\"start_time_ns\":1500000000,\"policy\":\"fifo\",\"nice\":0,\"rt_priority\":50,"
	    "\"prio\":49,\"boosted\":false}\n", "a task");
	has("\"event\":\"setprio\",\"curr_kind\":\"task\",\"curr_pid\":10,"
	    "\"curr_comm\":\"shell\",\"pid\":10,\"comm\":\"shell\",\"policy\":\"deadline\","
	    "\"nice\":0,\"rt_priority\":0,\"prio\":-1,"
	    "\"boosted\":false}\n", "a priority");
	has("\"event\":\"setaffinity\",\"curr_kind\":\"task\",\"curr_pid\":10,"
	    "\"curr_comm\":\"shell\",\"pid\":10,\"comm\":\"shell\","
	    "\"affinity\":[0,1,2,3,7,64]}\n", "an affinity");
	has("\"event\":\"paused\",\"first_ns\":5000000000,\"last_ns\":7000000000}\n", "a pause");
	has("\"event\":\"lost\",\"lost\":1234,\"lost_first_ns\":2000000000,"
	    "\"lost_last_ns\":3000000000}\n", "a loss");
	has("\"context\":\"softirq_task\"", "a context");
}

/* Names with characters that JSON has to escape. */
TEST(quotes)
{
	static const struct schedtape_cpu cpu = { .cpu = 0, .events = 3 };
	static const struct schedtape_end end = {
		.size = sizeof(end), .stop_time = 9 * S, .cpus = &cpu, .nr_cpus = 1,
	};

	maker_begin(&m, pages[0], 0, 0, 0);
	maker_rename(&m, 2 * S, 10, "a\"b\\c/\033");
	maker_event(&m, 3 * S, STAPE_EV_MIGRATE, 10, 1);
	maker_rename(&m, 4 * S, 10, "\303\251\377");
	write_tape(pages, 1, &end, false);
	run(cmd_script, "--json");
	has("\"comm\":\"shell\",\"new_comm\":\"a\\\"b\\\\c/?\"}\n", "a new name with quotes");
	has("\"comm\":\"a\\\"b\\\\c/?\",\"target_cpu\":1}\n", "a name with quotes");
	has("\"new_comm\":\"\303\251?\"}\n", "one in UTF-8");
	run(cmd_script, NULL);
	has(" migrate: a\"b\\c/?:10 to [001]\n", "the same in a text");
}

/* Runs script or report with an option that selects something of the tape. */
static void matches(int (*command)(int argc, char **argv), const char *option)
{
	ok(!run(command, option) && *text && !strstr(said, "matches"), "%s", option);
}

/* The same of one that selects nothing: the message is all that is printed. */
static void matches_not(int (*command)(int argc, char **argv), const char *option,
			const char *expected)
{
	ok(run(command, option) == CMD_FAILURE, "%s fails", option);
	if (!ok(strstr(said, expected), "it says: %s", expected))
		printf("# it says: %s\n", said);
}

TEST(no_match)
{
	static const char tasks[] = "; it has the tasks server:20, ?[2J:30, shell:10\n";
	char expected[256];

	make_tape();
	snprintf(expected, sizeof(expected), "no event of the tape matches --pid%s", tasks);
	matches_not(cmd_script, "--pid=999", expected);
	snprintf(expected, sizeof(expected), "no event of the tape matches --comm%s", tasks);
	matches_not(cmd_script, "--comm=none", expected);
	matches_not(cmd_script, "--cpu=7",
		    "no event of the tape matches --cpu; it has the CPUs 0,3\n");
	ok(!*text, "nothing else");
	matches_not(cmd_script, "--time=100,",
		    "--time: the tape has nothing then; it is from 1.000000 to 9.000000 s\n");
	ok(!*text, "nothing else");
	matches_not(cmd_script, "--time=8.5,8.6", "no event of the tape matches --time; it is from "
		    "1.000000 to 9.000000 s\n");
	ok(!*text, "nothing else");
	matches_not(cmd_script, "--cgroup=/a",
		    "the tape has no cgroup '/a'; it has no paths of cgroups\n");
	matches(cmd_script, "--pid=20");
	matches(cmd_script, "--time=2,3");
	snprintf(expected, sizeof(expected), "no task of the tape matches --pid%s", tasks);
	matches_not(cmd_report, "--pid=999", expected);
	ok(!*text, "nothing else");
	matches_not(cmd_report, "--cgroup=id:999", "no task of the tape matches --cgroup");
	matches(cmd_report, "--pid=20");
	matches(cmd_report, "--comm=serv*");
}

/* Runs script with --json and an option that selects nothing. */
TEST(no_match_json)
{
	char *argv[] = { "script", "--json", "--comm=none", "--cpu=0", "--time=,1.5",
			 the_tape.path, NULL };
	int status;

	make_tape();
	begin_capture();
	status = cmd_script(6, argv);
	end_capture();
	ok(status == CMD_FAILURE && !*text, "no JSON without an event: %s", text);
	ok(strstr(said, "matches --comm --cpu --time; it has the tasks server:20, ?[2J:30, "
		  "shell:10; it has the CPUs 0,3; it is from 1.000000 to 9.000000 s\n"),
	   "%s", said);
}

/* 20 is a thread of 10, and 30 another process; all three begin without a description. */
TEST(processes)
{
	static const struct schedtape_cpu cpu = { .cpu = 0, .events = 8 };
	static const struct schedtape_end end = {
		.size = sizeof(end), .stop_time = 9 * S, .cpus = &cpu, .nr_cpus = 1,
	};
	uint64_t words[6] = { 20, 0, 0, 0, 0, 77 };

	maker_begin(&m, pages[0], 0, 0, 0);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_event(&m, 2 * S, STAPE_EV_FORK, 20, STAPE_FORK_THREAD);
	maker_event(&m, 3 * S, STAPE_EV_FORK, 30, 0);
	maker_switch(&m, 4 * S, 30, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_event(&m, 5 * S, STAPE_EV_MIGRATE, 20, 3);
	maker_task_words(&m, 6 * S, 30, STAPE_TASK_MOVES, "moved", words, 6);
	maker_event(&m, 7 * S, STAPE_EV_MIGRATE, 30, 3);
	write_tape(pages, 1, &end, false);

	run(cmd_script, "--pid=10");
	has(" fork: shell:20 thread\n", "--pid: a thread of the process");
	has(" fork: shell:30\n", "an event of the process about another one");
	has(" migrate: shell:20 to [003]\n", "an event of another one about the thread");
	has_not(" migrate: moved", "no event of another one");
	run(cmd_script, "--tid=10");
	has_not(" migrate: shell:20", "--tid: not the other thread");
	run(cmd_script, "--cgroup=id:77");
	has(" migrate: moved:30 to [003]\n", "--cgroup: events once the task is in the cgroup");
	has_not(" fork: ", "not those before");
	run(cmd_script, "--reltime");
	has("      4.000000:     switch: ", "--reltime");
	run(cmd_script, "--deltatime");
	has("      1.000000:     switch: ", "--deltatime");
}

/*
 * 10 is 1 in its PID namespace; it forks 20, which is 7 there, with a thread 21, which is 8; 30 is
 * in the initial one.
 */
TEST(own_pids)
{
	static const struct schedtape_cpu cpu = { .cpu = 0, .events = 7 };
	static const struct schedtape_end end = {
		.size = sizeof(end), .stop_time = 9 * S, .cpus = &cpu, .nr_cpus = 1,
	};
	uint64_t process[6] = { 20 | 10ULL << 32, 0, 0, 0, 7, 77 };
	uint64_t thread[6] = { 20 | 10ULL << 32, 0, 0, 0, 8, 77 };
	uint64_t other[6] = { 30, 0, 0, 0, 30, 77 };

	maker_begin(&m, pages[0], 0, 0, 0);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_event(&m, 2 * S, STAPE_EV_FORK, 20, 0);
	maker_task_words(&m, 2 * S, 20, STAPE_TASK_FORKED, "box", process, 6);
	maker_task_words(&m, 3 * S, 21, STAPE_TASK_ENTERS, "box", thread, 6);
	maker_task_words(&m, 3 * S, 30, STAPE_TASK_ENTERS, "host", other, 6);
	maker_event(&m, 4 * S, STAPE_EV_MIGRATE, 20, 3);
	maker_event(&m, 5 * S, STAPE_EV_MIGRATE, 21, 3);
	maker_event(&m, 6 * S, STAPE_EV_MIGRATE, 30, 3);
	write_tape(pages, 1, &end, false);

	run(cmd_script, NULL);
	has(" task: box:20 forked [R] on [000] tgid=20 ppid=10 ns_pid=7 ",
	    "a PID is known at once");
	run(cmd_script, "--pid=ns:7");
	has(" migrate: box:20 to [003]\n", "--pid=ns:7: the process");
	has(" migrate: box:21 to [003]\n", "and its thread");
	has_not(" migrate: host:30", "not another one");
	run(cmd_script, "--pid=ns:30");
	has(" migrate: host:30 to [003]\n", "outside, both are the same");
	run(cmd_script, "--tid=ns:8");
	has(" migrate: box:21 to [003]\n", "--tid=ns:8: the thread");
	has_not(" migrate: box:20", "not its process");
	run(cmd_script, "--pid=7");
	ok(strstr(said, "no event of the tape matches --pid; in its own PID namespace, box:20 has "
		  "the PID 7: --pid ns:7; it has the tasks "), "a hint: %s", said);
	run(cmd_script, "--pid=8");
	ok(!strstr(said, "ns:"), "which names no thread as a process: %s", said);
	run(cmd_script, "--tid=8");
	ok(strstr(said, "box:21 has the PID 8: --tid ns:8;"), "but for --tid: %s", said);
}

/* Tests the lines of an option that chooses fields. */
static void prints(const char *option, const char *expected)
{
	refused = false;
	run(cmd_script, option);
	if (!ok(!refused && strstr(text, expected), "%s", option))
		printf("# no \"%s\" in:\n# %s\n", expected, text);
}

static void refuses(const char *option)
{
	refused = false;
	run(cmd_script, option);
	ok(refused, "not %s", option);
}

TEST(fields)
{
	static const char * const bad[] = {
		"-Fnone", "-F,", "-F+none", "-Fcomm,+cpu", "-F-cpu,comm", "-Fcomm,,cpu",
		"-F-comm,-tid,-cpu,-time,-event,-trace", "-enone", "-e,", "-eswitch,",
	};
	size_t i;

	make_tape();
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refuses(bad[i]);
	prints("-Fcomm,tid", "\n           shell-10\n");
	prints("-Fcomm,pid,tid", "\n           shell-10/10\n");
	prints("-Fpid", "\n10\n");
	prints("-Fcpu,event", "\n[000]     waking:\n");
	prints("-Ftime", "\n     2.000001:\n");
	prints("-Ftrace", "\nserver:20 by softirq_task\n");
	prints("-F-cpu,-tid", "\n           shell      2.000001:     waking: server:20 by ");
	prints("-F+pid", "\n           shell-10/10           [000]      2.000001: ");
	prints("-Fcomm,cpu", "\n          <lost> [003]\n");
}

TEST(events)
{
	make_tape();
	prints("-ewaking", ": server:20 by softirq_task\n");
	has_not(" wakeup: ", "no other event");
	has("LOST 1234", "but losses");
	has("PAUSED", "and pauses");
	prints("-esched_waking,migrate", " migrate: ");
	has(" waking: ", "the name of a tracepoint");
	has_not(" wakeup: ", "no event besides the two");
	prints("-esched:sched_wak*", " wakeup: ");
	has(" waking: ", "a pattern");
	prints("--event=set*", " setprio: ");
	has("setaffinity: ", "two events that one pattern has");
	ok(run(cmd_script, "-eexec") == CMD_FAILURE &&
	   strstr(said, "no event of the tape matches -e\n"), "an event that the tape has not: %s",
	   said);
}

/* A tape of 10, which wakes 20, forks 30 and lends it its priority; 20 enters before. */
static void make_perf_tape(void)
{
	static const struct schedtape_cpu cpu = { .cpu = 1, .events = 17, .lost = 7 };
	static const struct schedtape_end end = {
		.size = sizeof(end), .stop_time = 9 * S, .cpus = &cpu, .nr_cpus = 1,
	};
	uint64_t words[5] = {
		1ULL << 32 | 19, maker_prio_word(1, 0, 50, 49, false), 1500000000,
		3ULL << 32 | STAPE_STATE_SLEEPING, 2,
	};

	maker_begin(&m, pages[0], 1, 0, 1 * S);
	maker_task(&m, 2 * S, 20, STAPE_TASK_ENTERS, "a \033b", words);
	maker_switch(&m, 2 * S + 1000, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_wake(&m, 2 * S + 2000, 20, STAPE_CTX_TASK, 2 * S + 3000, 2);
	maker_waking(&m, 2 * S + 4000, 20, STAPE_CTX_HARDIRQ);
	maker_event(&m, 3 * S, STAPE_EV_FORK, 30, 0);
	maker_event(&m, 3 * S + 1000, STAPE_EV_WAKEUP_NEW, 30, 1);
	maker_event(&m, 3 * S + 2000, STAPE_EV_MIGRATE, 30, 0);
	maker_prio(&m, 3 * S + 3000, 30, maker_prio_word(0, -5, 0, 49, true));
	maker_prio(&m, 3 * S + 4000, 30, maker_prio_word(0, -5, 0, 115, false));
	maker_prio(&m, 3 * S + 5000, 30, maker_prio_word(0, 0, 0, 120, false));
	maker_switch(&m, 4 * S, 0, STAPE_NEXT_OTHER, STAPE_STATE_SLEEPING);
	maker_switch(&m, 4 * S + 1000, 40, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_switch(&m, 4 * S + 2000, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
	maker_rename(&m, 5 * S, 30, "ls");
	maker_exec(&m, 5 * S + 1000, 30, 31);
	maker_event(&m, 6 * S, STAPE_EV_EXIT, 30, 0);
	maker_lost(&m, 7, 1 * S, 2 * S);
	write_tape(pages, 1, &end, false);
}

/* The lines are those of perf script 6.1 with Linux 6.12, but for numbers that no task has. */
TEST(perf)
{
	static const char * const lines[] = {
		"# LOST 7 events of CPU 1 from 1.000000 to 2.000000\n",
		"         swapper       0 [001]     2.000001:       sched:sched_switch: "
		"prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=shell "
		"next_pid=10 next_prio=115\n",
		"           shell      10 [001]     2.000002:       sched:sched_waking: "
		"comm=a ?b pid=20 prio=49 target_cpu=003\n",
		"           shell      10 [001]     2.000003:       sched:sched_wakeup: "
		"comm=a ?b pid=20 prio=49 target_cpu=002\n",
		"           shell      10 [001]     2.000004:       sched:sched_waking: "
		"comm=a ?b pid=20 prio=49 target_cpu=002\n",
		"           shell      10 [001]     3.000000: sched:sched_process_fork: "
		"comm=shell pid=10 child_comm=shell child_pid=30\n",
		"           shell      10 [001]     3.000001:   sched:sched_wakeup_new: "
		"comm=shell pid=30 prio=115 target_cpu=001\n",
		"           shell      10 [001]     3.000002: sched:sched_migrate_task: "
		"comm=shell pid=30 prio=115 orig_cpu=1 dest_cpu=0\n",
		"           shell      10 [001]     3.000003:   sched:sched_pi_setprio: "
		"comm=shell pid=30 oldprio=115 newprio=49\n",
		"           shell      10 [001]     3.000004:   sched:sched_pi_setprio: "
		"comm=shell pid=30 oldprio=49 newprio=115\n",
		"           shell      10 [001]     4.000000:       sched:sched_switch: "
		"prev_comm=shell prev_pid=10 prev_prio=115 prev_state=S ==> next_comm=other "
		"next_pid=4194304 next_prio=140\n",
		"           other 4194304 [001]     4.000001:       sched:sched_switch: "
		"prev_comm=other prev_pid=4194304 prev_prio=140 prev_state=R ==> next_comm=:40 "
		"next_pid=40 next_prio=140\n",
		"             :40      40 [001]     4.000002:       sched:sched_switch: "
		"prev_comm=:40 prev_pid=40 prev_prio=140 prev_state=X ==> next_comm=swapper/1 "
		"next_pid=0 next_prio=120\n",
		"         swapper       0 [001]     5.000000:         task:task_rename: "
		"pid=30 oldcomm=shell newcomm=ls oom_score_adj=1001\n",
		"         swapper       0 [001]     5.000001: sched:sched_process_exec: "
		"filename=:30 pid=30 old_pid=31\n",
		"         swapper       0 [001]     6.000000: sched:sched_process_exit: "
		"comm=:30 pid=30 prio=140\n",
	};
	char *at = text;
	size_t i;

	make_perf_tape();
	run(cmd_script, "-Fperf");
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (!ok(!strncmp(at, lines[i], strlen(lines[i])), "perf's line %zu", i))
			printf("# is %.*s\n# not %s", (int)strcspn(at, "\n"), at, lines[i]);
		at += strcspn(at, "\n") + 1;
	}
	ok(!*at, "nothing else: %s", at);
	prints("-Fperf,comm,pid,tid,cpu,trace", "\n           shell      10/10      [001] "
	       "comm=a ?b pid=20 prio=49 target_cpu=003\n");
}

/* Prints all values that a script in Perl gets, but for the context and the callchain. */
static const char perl_text[] =
	"sub put { splice @_, 7, 1; splice @_, 1, 1; print join(' ', @_), \"\\n\" }\n"
	"sub trace_unhandled { put(@_) }\n"
	"sub sched::sched_stat_runtime { put(@_) }\n";

TEST(perl)
{
	static const char expected[] =
		"sched::sched_switch 1 2 1000 0 swapper swapper/1 0 120 0 shell 10 115\n"
		"sched::sched_waking 1 2 2000 10 shell a \033b 20 49 3\n"
		"sched::sched_wakeup 1 2 3000 10 shell a \033b 20 49 2\n"
		"sched::sched_waking 1 2 4000 10 shell a \033b 20 49 2\n"
		"sched::sched_process_fork 1 3 0 10 shell shell 10 shell 30\n"
		"sched::sched_wakeup_new 1 3 1000 10 shell shell 30 115 1\n"
		"sched::sched_migrate_task 1 3 2000 10 shell shell 30 115 1 0\n"
		"sched::sched_pi_setprio 1 3 3000 10 shell shell 30 115 49\n"
		"sched::sched_pi_setprio 1 3 4000 10 shell shell 30 49 115\n"
		"sched::sched_stat_runtime 1 4 0 10 shell shell 10 1999999000\n"
		"sched::sched_switch 1 4 0 10 shell shell 10 115 1 :other -1 140\n"
		"sched::sched_switch 1 4 1000 -1 :other :other -1 140 0 :40 40 140\n"
		"sched::sched_stat_runtime 1 4 2000 40 :40 :40 40 1000\n"
		"sched::sched_switch 1 4 2000 40 :40 :40 40 140 16 swapper/1 0 120\n"
		"task::task_rename 1 5 0 0 swapper 30 shell ls 1001\n"
		"sched::sched_process_exec 1 5 1000 0 swapper :30 30 31\n"
		"sched::sched_process_exit 1 6 0 0 swapper :30 30 140\n";
	int fd = memfd_create("script", 0);
	char script[64];

	make_perf_tape();
	snprintf(script, sizeof(script), "-sperl:/proc/%d/fd/%d", getpid(), fd);
	ok(write(fd, perl_text, strlen(perl_text)) > 0, "a script in Perl");
	ok(!run(cmd_script, script), "script -s");
	if (!ok(!strcmp(text, expected), "a script in Perl gets the fields of all tracepoints"))
		printf("# is %s\n# not %s", text, expected);
	ok(strstr(said, "warning: ") && strstr(said, ": 7 events are lost\n"), "a warning: %s",
	   said);
	close(fd);
}

/* The names are those of perf, as user/bindings/python/schedtape/tracepoints.py has them. */
TEST(perl_new)
{
	static const char * const expected[] = {
		"sub sched::sched_stat_runtime\n", "$comm, $pid, $runtime) = @_;",
		"sub sched::sched_switch\n", ("$prev_comm, $prev_pid, $prev_prio, $prev_state, "
					       "$next_comm, $next_pid, $next_prio) = @_;"),
		"sub sched::sched_waking\n", "$comm, $pid, $prio, $target_cpu) = @_;",
		"sub sched::sched_wakeup\n", "$comm, $pid, $prio, $target_cpu) = @_;",
		"sub sched::sched_wakeup_new\n", "$comm, $pid, $prio, $target_cpu) = @_;",
		"sub sched::sched_process_fork\n",
		"$parent_comm, $parent_pid, $child_comm, $child_pid) = @_;",
		"sub sched::sched_migrate_task\n",
		"$comm, $pid, $prio, $orig_cpu, $dest_cpu) = @_;",
		"sub sched::sched_process_exec\n", "$filename, $pid, $old_pid) = @_;",
		"sub task::task_rename\n", "$pid, $oldcomm, $newcomm, $oom_score_adj) = @_;",
		"sub sched::sched_pi_setprio\n", "$comm, $pid, $oldprio, $newprio) = @_;",
		"sub sched::sched_process_exit\n", "$comm, $pid, $prio) = @_;",
		"sub trace_unhandled\n",
	};
	static const char name[] = "schedtape-script.pl";
	char folder[] = "/tmp/schedtape-script-XXXXXX";
	const char *at = text;
	size_t i;
	int fd;

	if (!ok(mkdtemp(folder) && !chdir(folder), "a folder"))
		return;
	ok(!run(cmd_script, "-gperl"), "script -g perl");
	fd = open(name, O_RDONLY | O_CLOEXEC);
	text[0] = '\0';
	ok(read(fd, text, sizeof(text) - 1) > 0, "the script");
	for (i = 0; at && i < sizeof(expected) / sizeof(*expected); i++) {
		at = strstr(at, expected[i]);
		ok(at, "%s", expected[i]);
	}
	close(fd);
	unlink(name);
	rmdir(folder);
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_tape())
