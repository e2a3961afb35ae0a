// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: output of report and info about a tape, as text and as JSON; what record and replay
 * print at their end.
 */
#include <iconv.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "printed.h"
#include "record/recorder.h"
#include "replay/internal.h"

TEST(report)
{
	ok(!run(cmd_report, NULL), "report");
	has("# LOST: 1,234 events of CPU 3, from 2.000000 to 3.000000 s\n", "a CPU's losses");
	has("# LOST: 1,234 events in all", "and their sum");
	has("# PAUSED: from 5.000000 to 7.000000 s\n", "a pause");
	has("\nshell:10   5000.000       0          1                -              -"
	    "              -             -                     -               0"
	    "                 0           0       1  deadline    10      0\n",
	    "time on a CPU, policy");
	has("\nserver:20     0.000 ", "another task");
	has("  fifo:50     20      0\n", "with its priority");

	ok(!run(cmd_report, "--json"), "report --json");
	ok(json_object_put(json_tokener_parse(text)), "it is JSON");
	squeeze();
	has("\"lost\":1234,\"lost_first_ns\":2000000000,\"lost_last_ns\":3000000000",
	    "a CPU's losses");
	has("\"pauses\":[{\"first_ns\":5000000000,\"last_ns\":7000000000}]", "a pause");
	has("\"joined\":true,\"left\":true,", "a task that enters and leaves");
	has("\"prio_changes\":1,\"policy\":\"deadline\",\"nice\":0,", "a policy");
	has("\"ppid\":1,\"ns_pid\":2,\"start_time_ns\":1500000000,", "a task's identity");
	has("\"exit_ppid\":null,", "no end, no parent then");
}

TEST(info)
{
	ok(!run(cmd_info, NULL), "info");
	has("lost             : 1,234\n", "all losses");
	has("LOST             : 1,234 events of CPU 3, from 2.000000 to 3.000000 s\n",
	    "those of each CPU, with their time");
	has("arch             : riscv64\n", "the machine");
	ok(!run(cmd_info, "--json"), "info --json");
	squeeze();
	has("\"lost\":1234,\"lost_first_ns\":2000000000,", "losses");
}

static void write_machine(void)
{
	static const struct schedtape_scheduler schedulers[] = {
		{ .time = 1 * S, .state = "disabled", .enable_seq = 4 },
		{ .time = 3 * S, .after = 2 * S, .state = "enabled", .enable_seq = 5,
		  .ops = "sim\033ple", .switch_all = true },
		{ .time = 4 * S, .after = 3 * S, .state = "enabled", .enable_seq = 6,
		  .ops = "part", .nr_rejected = 1234 },
		{ .time = 5 * S, .after = 4 * S, .state = "disabling", .enable_seq = 6,
		  .ops = "part" },
		{ .time = 6 * S, .after = 5 * S, .state = "disabled", .enable_seq = 8 },
		{ .time = 7 * S, .after = 6 * S, .state = "of later" },
		{ .time = 8 * S, .after = 7 * S, .state = "none" },
	};
	static const char settings[] =
		"{\"files\": {\"base_slice_ns\": \"28\", \"features\": \"A NO_B \\u001b\","
		" \"fair_server/cpu0/period\": \"1\", \"fair_server/cpu1/period\": \"2\"}}";
	struct json_object *meta = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	size_t i;
	int ret;

	json_object_object_add(meta, "sched_settings", json_tokener_parse(settings));
	ret = tape_writer_create(the_tape.path, meta, NULL, &writer, &err);
	for (i = 0; i < sizeof(schedulers) / sizeof(*schedulers) && !ret; i++)
		ret = schedtape_writer_scheduler(writer, &schedulers[i], &err);
	if (ret || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
}

TEST(machine)
{
	write_machine();
	ok(!run(cmd_info, NULL), "info of a tape with schedulers and settings");
	has("\nscheduler        : fair\n", "the one at first");
	has("\nscheduler        : ext (sim?ple), from between 2.000000 and 3.000000 on\n",
	    "a change");
	has("\nscheduler        : ext (part, partial), which rejected 1,234 tasks, from between "
	    "3.000000 and 4.000000 on\n", "one that not all tasks have");
	has("\nscheduler        : ext (part, going off), from between", "one that goes off");
	has("\nscheduler        : fair, from between 5.000000 and 6.000000 on, with 2 more "
	    "switched on in between\n", "some that came and went unseen");
	has("\nscheduler        : not known, from between 6.", "a state of a later kernel");
	has("\nscheduler        : fair, without sched_ext in the kernel, from", "an older kernel");
	has("\nsched settings   : base_slice_ns=28, features=A NO_B ?; 2 more in folders, see "
	    "--json\n", "settings");
	ok(!run(cmd_info, "--json"), "info --json");
	squeeze();
	has("{\"name\":\"fair\",\"after_ns\":null,\"before_ns\":1000000000,"
	    "\"state\":\"disabled\",\"ops\":null,\"switch_all\":false,\"enable_seq\":4,"
	    "\"nr_rejected\":0}", "the first");
	has("\"after_ns\":3000000000,\"before_ns\":4000000000,\"state\":\"enabled\","
	    "\"ops\":\"part\",\"switch_all\":false,\"enable_seq\":6,\"nr_rejected\":1234}",
	    "a change");
	has("\"fair_server/cpu1/period\":\"2\"", "all settings");
}

/* The tape of write_machine() has no end. */
TEST(unfinished)
{
	write_machine();
	ok(!run(cmd_report, NULL), "report of a tape without an end");
	ok(strstr(said, "the recording was not finished") &&
	   strstr(said, "; see \"schedtape recover\"\n"),
	   "its warning names the command that helps");
}

/* Expects one line of info for a tape with these settings. */
static void shows_settings(const char *settings, const char *expected, const char *what)
{
	struct json_object *meta = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;

	json_object_object_add(meta, "sched_settings", json_tokener_parse(settings));
	if (tape_writer_create(the_tape.path, meta, NULL, &writer, &err) ||
	    schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
	run(cmd_info, NULL);
	has(expected, what);
}

TEST(gaps)
{
	shows_settings("{\"files\": {}, \"not_readable\": {\"a\": \"EPERM \\u001b\", "
		       "\"b/c\": \"EPERM \\u001b\", \"d\": {}}}",
		       "\nsched settings   : not readable: 2 files: EPERM ?, 1 file: no reason is "
		       "given\n", "no setting is readable");
	shows_settings("{\"files\": {\"a\": \"1\"}, \"not_readable\": {\"b\": \"1\", "
		       "\"c\": \"2\", \"d\": \"3\", \"e\": \"4\", \"f\": \"5\", \"g\": \"6\"}}",
		       "\nsched settings   : a=1; not readable: 1 file: 1, 1 file: 2, 1 file: 3, "
		       "1 file: 4, 2 files: other reasons\n", "many reasons");
	shows_settings("{\"files\": {\"a/b\": \"1\"}, \"cut\": [\"v\\u001b\", \"w\", "
		       "\"x\", \"y\", \"z\", 7], \"left_out\": 1234}",
		       "\nsched settings   : 1 in folders, see --json; cut: v?, w, x, y, 1 more; "
		       "left out: 1,234 files\n", "settings that are cut or left out");
	shows_settings("{\"files\": {}}", "\nsched settings   : none\n", "none at all");
	shows_settings("{\"files\": {}, \"not_readable\": 1, \"cut\": {}, "
		       "\"left_out\": \"x\"}",
		       "\nsched settings   : none\n", "members of other types");
}

/* Tests that all output is UTF-8 without control characters. */
static bool is_safe(const char *printed)
{
	static uint32_t wide[65536];
	char *in = (char *)printed, *out = (char *)wide;
	size_t left = strlen(printed), room = sizeof(wide), i;
	iconv_t utf8 = iconv_open("UCS-4LE", "UTF-8");
	bool sound = iconv(utf8, &in, &left, &out, &room) != (size_t)-1;

	iconv_close(utf8);
	for (i = 0; sound && i < (sizeof(wide) - room) / 4; i++)
		sound = wide[i] == '\n' || (wide[i] >= ' ' && (wide[i] < 0x7f || wide[i] > 0x9f));
	return sound;
}

#define NASTY	"\033]0;x\007\177\302\2332J\r\n\377\300\257\355\240\200e\303\251"
#define SHOWN	"?]0;x????2J????????e\303\251"

static void add_nasty(struct json_object *object, const char *key)
{
	json_object_object_add(object, key, json_object_new_string(NASTY));
}

/* A tape made to attack its reader. */
TEST(nasty)
{
	static int (* const commands[])(int argc, char **argv) = {
		cmd_info, cmd_report, cmd_script,
	};
	struct json_object *meta = json_object_new_object(), *command = json_object_new_array();
	struct schedtape_task_info task = { .time = 1, .pid = 10, .comm = "\033[2J\xff" };
	struct json_object *filter = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	size_t i;

	/* The last one is about a single stream. */
	add_nasty(meta, "cpu_model");
	add_nasty(meta, NASTY);
	add_nasty(filter, NASTY);
	json_object_object_add(meta, "filter", filter);
	json_object_array_add(command, json_object_new_string(NASTY));
	json_object_object_add(meta, "command", command);
	add_nasty(meta, "stream");
	if (tape_writer_create(the_tape.path, meta, NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, &task, 1, &err) ||
	    schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		run(commands[i], NULL);
		ok(is_safe(text) && is_safe(said), "command %zu: nothing does anything", i);
		if (commands[i] != cmd_info)
			ok(strstr(said, "only stream " SHOWN), "its message: %s", said);
		run(commands[i], "--json");
		ok(is_safe(text) && is_safe(said), "nor does its JSON");
		ok(!*text || json_object_put(json_tokener_parse(text)), "which is some");
	}
	run(cmd_info, NULL);
	has("\ncpu model        : " SHOWN "\n", "a string");
	has("\ncommand          : " SHOWN "\n", "a command");
	has("\nfilter           : " SHOWN "=" SHOWN "\n", "a key");
	has("\n" SHOWN " : " SHOWN "\n", "one of the description");
	has("only stream " SHOWN " of a recording", "the note on a tape of one stream");
}

#define TASKS	20000

static void write_crowd(void)
{
	struct schedtape_task_info *tasks = calloc(TASKS, sizeof(*tasks));
	struct schedtape_error err = { "" };
	struct json_object *meta = json_object_new_object();
	struct schedtape_writer *writer;
	size_t i;

	if (!tasks)
		abort();
	for (i = 0; i < TASKS; i++)
		tasks[i] = (struct schedtape_task_info){ .time = 1, .pid = 10 + i, .comm = "one" };
	if (tape_writer_create(the_tape.path, meta, NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, tasks, TASKS, &err) ||
	    schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
	free(tasks);
}

/* The peak memory of a report, in KiB. */
static long peak(char *option)
{
	char *argv[] = { "report", (char *)the_tape.path, option, NULL };
	struct rusage usage = { 0 };
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		_exit(cmd_report(3, argv));
	}
	ok(wait4(pid, &status, 0, &usage) == pid && !status, "report %s", option);
	return usage.ru_maxrss;
}

/* There may be more tasks than fit into a string. */
TEST(crowd)
{
	long text_peak, json_peak;

	write_crowd();
	text_peak = peak("--edges");
	json_peak = peak("--json");
	/* Sanitizers keep freed memory. */
	ok(SANITIZED || json_peak < text_peak + TASKS / 5,
	   "%ld KiB with --json, %ld without, for %d tasks", json_peak, text_peak, TASKS);
}

/* Numbers that json-c accepts but JSON does not. */
TEST(numbers)
{
	static const char * const numbers[][2] = {
		{ "1.", "1.0" }, { "-.5", "-0.5" }, { "1.e2", "100.0" }, { "0.25", "0.25" },
		{ "NaN", "null" }, { "Infinity", "null" }, { "-Infinity", "null" },
		{ "1e999", "null" },
	};
	char expected[64];
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct json_object *meta = json_object_new_object();
		struct json_object *list = json_object_new_array();
		struct schedtape_error err = { "" };
		struct schedtape_writer *writer;

		json_object_object_add(meta, "odd", json_object_new_double_s(0, numbers[i][0]));
		json_object_object_add(meta, "list", list);
		json_object_array_add(list, json_object_new_double_s(0, numbers[i][0]));
		json_object_array_add(list, json_object_new_int(7));
		if (tape_writer_create(the_tape.path, meta, NULL, &writer, &err) ||
		    schedtape_writer_close(writer, &err))
			printf("Bail out! %s\n", err.text);
		json_object_put(meta);
		run(cmd_info, "--json");
		squeeze();
		snprintf(expected, sizeof(expected), "\"odd\":%s,\"list\":[%s,7]", numbers[i][1],
			 numbers[i][1]);
		has(expected, numbers[i][0]);
	}
}

/* The first chunk is CPU 0's with five events; one bit at @at is wrong. */
static void damage_chunk(size_t at, const char *what)
{
	unsigned char *data;
	size_t size;

	data = blob_get(&the_tape, &size);
	find_record(data, size, 3, 0)[at] ^= 0x10;
	blob_put(&the_tape, data, size);

	ok(!run(cmd_info, NULL), "info of a tape with %s damaged", what);
	has("lost             : 1,239\n", "it is among all losses");
	has("LOST             : 5 events of CPU 0, from 1.000000 to 7.000000 s\n", "and its CPU's");
	has("\nevents           : 4\n", "and not among the events");
	has(": byte ", "where it is");
	ok(!run(cmd_info, "--json"), "info --json");
	squeeze();
	has("{\"cpu\":0,\"events\":3,\"lost\":5,\"lost_first_ns\":1000000000,"
	    "\"lost_last_ns\":7000000000}", "its loss");
	ok(!run(cmd_report, NULL), "report");
	has("# LOST: 5 events of CPU 0, from 1.000000 to 7.000000 s\n", "its loss");
	has("\nserver:20 ", "and the task behind the loss");
	ok(!run(cmd_report, "--json"), "report --json");
	squeeze();
	has("\"events\":4,\"lost\":1239,\"cpus\":[{\"cpu\":0,\"events\":3,\"lost\":5,",
	    "its loss");
	ok(!run(cmd_script, NULL), "script");
	has("LOST 5 events from 1.000000 to 7.000000\n", "its loss");
	has("task: server:20 leaves", "and the event behind the loss");

	find_record(data, size, 3, 0)[at] ^= 0x10;
	blob_put(&the_tape, data, size);
	free(data);
}

TEST(damage)
{
	make_tape();
	damage_chunk(12, "a chunk's length");
	damage_chunk(34, "a chunk's CPU");
}

/* Prints the result of a replay into @text. */
static void print_replay(uint64_t start, uint64_t stop, uint64_t slept)
{
	const struct schedtape_program program = { .nr_tasks = 1, .duration = 2 * S };
	const struct schedtape_replay_state state = { .start_time = start, .stop_time = stop };
	const struct replay_options opts = { .record = NULL };

	begin_capture();
	replay_print(&opts, &program, &state, slept, NULL);
	end_capture();
}

TEST(replay)
{
	print_replay(1000 * S, 1003 * S, 0);
	has("1 tasks replayed in 3.000 s (recorded: 2.000 s)", "a replay takes 3 s");
	ok(!*said, "nothing interrupts it");
	print_replay(1000 * S, 1003 * S, 2 * S);
	ok(strstr(said, "the machine slept for 2.000 s during the replay"), "but a sleep does");
	print_replay(0, 1003 * S, 0);
	has("replayed in 0.000 s", "a replay that ends before its start takes no time");
}

/* Prints into @said how a replay was interrupted. */
static void interrupt_replay(bool quiet, uint32_t repeat)
{
	const struct schedtape_program program = { .nr_tasks = 3, .duration = 2 * S };
	const struct schedtape_replay_state state = {
		.done = 1, .steps = 1234, .time = S / 2, .timed_waits = 2, .lag_total = S / 100,
		.lag_max = S / 125,
	};
	const struct replay_options opts = { .quiet = quiet, .repeat = repeat };

	begin_capture();
	replay_print_interrupted(&opts, &program, &state);
	end_capture();
}

TEST(interrupted)
{
	interrupt_replay(false, 1);
	ok(!*text &&
	   strstr(said, "interrupted after 0.500 of 2.000 s: 1 of 3 tasks done, 1,234 steps, "
		  "lag 5.000 ms on average, 8.000 ms at worst\n"),
	   "an interrupted replay: how far it came");
	interrupt_replay(true, 1);
	ok(!*said, "with -q: nothing");
	interrupt_replay(false, 0);
	ok(!*said, "with --loop: nothing");
}

/* Prints the end of a recording of @events and @lost events into @said. */
static void print_recording(uint64_t events, uint64_t lost, bool quiet)
{
	struct recorder recorder = {
		.path = "t", .quit = -1, .watch = { .state_fd = -1, .seq_fd = -1 },
		.totals = { .events = events, .lost = lost },
	};

	begin_capture();
	recorder_close(&recorder, true, quiet);
	end_capture();
}

TEST(recording)
{
	print_recording(7, 0, false);
	ok(strstr(said, "7 events, 0 lost") && !strstr(said, "warning"), "a recording: no warning");
	print_recording(0, 0, false);
	ok(strstr(said, "warning: t: the tape has no events"), "an empty recording: a warning");
	print_recording(0, 7, false);
	ok(strstr(said, "warning: t: events were lost") && !strstr(said, "no events"),
	   "a recording that has lost all events: only the warning of losses");
	print_recording(0, 0, true);
	ok(!*said, "an empty recording with -q: no warning");
}

/* Opens a recorder with -r 10 in a child that may not do that. */
TEST(realtime)
{
	const struct recorder_options options = { .path = "t", .realtime = 10 };
	const struct rlimit none = { 0, 0 };
	struct recorder recorder = { .path = NULL };
	int status;
	pid_t pid;

	begin_capture();
	pid = fork();
	if (!pid) {
		/*
		 * setuid() from root drops CAP_SYS_NICE.  If the test does not run as root, it
		 * has no such capability.
		 */
		if (setrlimit(RLIMIT_RTPRIO, &none) || (!geteuid() && setuid(65534)))
			_exit(1);
		_exit(recorder_open(&recorder, NULL, &options) ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	end_capture();
	ok(!status && strstr(said, "-r 10: Operation not permitted: a real-time priority needs "
				   "CAP_SYS_NICE, use sudo\n"), "-r without the right: %s", said);
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_tape())
