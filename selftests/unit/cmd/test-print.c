// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: output of script, report and info about a tape, as text and as JSON; what record
 * and replay print at their end.
 */
#include <iconv.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <commands.h>

#include "record/recorder.h"
#include "replay/print.h"
#include "tap.h"
#include "tapes.h"

#define S 1000000000ULL

static char text[65536], said[65536];

static void capture(int fd, int file, int saved, char *to, size_t size)
{
	ssize_t n = pread(file, to, size - 1, 0);

	to[n < 0 ? 0 : n] = '\0';
	dup2(saved, fd);
	close(saved);
	close(file);
}

static int out_file, out_before, messages_file, messages_before;

/* From here to end_capture() all output goes to @text, and all messages to @said. */
static void begin_capture(void)
{
	out_file = memfd_create("out", MFD_CLOEXEC);
	out_before = dup(STDOUT_FILENO);
	messages_file = memfd_create("messages", MFD_CLOEXEC);
	messages_before = dup(STDERR_FILENO);
	fflush(stdout);
	dup2(out_file, STDOUT_FILENO);
	dup2(messages_file, STDERR_FILENO);
}

static void end_capture(void)
{
	fflush(stdout);
	capture(STDOUT_FILENO, out_file, out_before, text, sizeof(text));
	capture(STDERR_FILENO, messages_file, messages_before, said, sizeof(said));
}

/* Runs a command with its output in @text, its messages in @said. Returns its status. */
static int run(int (*command)(int argc, char **argv), const char *name, const char *option,
	       const struct blob *tape)
{
	char *argv[] = { (char *)name, (char *)tape->path, (char *)option, NULL };
	int status;

	begin_capture();
	status = command(option ? 3 : 2, argv);
	end_capture();
	return status;
}

static void has(const char *expected, const char *what)
{
	if (!ok(strstr(text, expected), "%s", what))
		printf("# no \"%s\" in:\n# %s\n", expected, text);
}

/* Removes the blanks from indented JSON. */
static void squeeze(void)
{
	char *to = text, *from;

	for (from = text; *from; from++)
		if (*from != ' ' && *from != '\n')
			*to++ = *from;
	*to = '\0';
}

static void has_not(const char *unexpected, const char *what)
{
	if (!ok(!strstr(text, unexpected), "%s", what))
		printf("# \"%s\" in:\n# %s\n", unexpected, text);
}

static void write_tape(const struct blob *tape, unsigned char (*pages)[STAPE_PAGE_SIZE],
		       size_t n, const struct schedtape_end *end, bool overwrite)
{
	struct schedtape_writer_options options = { .size = sizeof(options) };
	struct schedtape_task_info task = {
		.time = 1 * S, .start_time = 5, .pid = 10, .tgid = 10, .nice = -5, .comm = "shell",
	};
	struct json_object *meta = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	size_t i;
	int ret;

	json_object_object_add(meta, "arch", json_object_new_string("riscv64"));
	json_object_object_add(meta, "overwrite", json_object_new_boolean(overwrite));
	ret = tape_writer_create(tape->path, meta, &options, &writer, &err);
	if (!ret)
		ret = schedtape_writer_tasks(writer, &task, 1, &err);
	for (i = 0; i < n && !ret; i++)
		ret = schedtape_writer_pages(writer, pages[i], 1, &err);
	if (!ret)
		ret = schedtape_writer_end(writer, end, &err);
	if (ret || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
}

/* 10 is preempted, paused, and boosted; 20 enters, loopback wakes it, and it leaves. */
static void make_tape(const struct blob *tape)
{
	static const struct schedtape_cpu cpus[] = {
		{ .cpu = 0, .events = 8 },
		{ .cpu = 3, .events = 1, .lost = 1234, .lost_first = 2 * S, .lost_last = 3 * S },
	};
	static const struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 1 * S, .stop_time = 9 * S, .cpus = cpus, .nr_cpus = 2,
	};
	static unsigned char pages[3][STAPE_PAGE_SIZE];
	const uint64_t mask[] = { 0x8f, 1 };
	uint64_t words[5] = {
		1ULL << 32 | 20, maker_prio_word(1, 0, 50, 49, false), 1500000000,
		3ULL << 32 | STAPE_STATE_SLEEPING, 2,
	};
	struct maker m;

	maker_begin(&m, pages[0], 0, 0, 1 * S);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_task(&m, 2 * S, 20, STAPE_TASK_ENTERS, "server", words);
	maker_wake(&m, 2 * S + 1000, 20, STAPE_CTX_SOFTIRQ_TASK, 2 * S + 2000, 3);
	maker_prio(&m, 3 * S, 10, maker_prio_word(0, -5, 0, 49, true));
	maker_prio(&m, 4 * S, 10, maker_prio_word(6, 0, 0, -1, false));
	maker_affinity(&m, 4 * S, 10, mask, 2);

	maker_begin(&m, pages[1], 0, 1, 7 * S);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_paused(&m, 5 * S, 7 * S);
	words[3] = STAPE_STATE_RUNNING;
	maker_task(&m, 8 * S, 20, STAPE_TASK_LEAVES, "server", words);
	maker_task(&m, 8 * S, 30, STAPE_TASK_EXITS, "\033[2J", words);
	maker_switch(&m, 8 * S, 0, STAPE_NEXT_OTHER, STAPE_STATE_RUNNING);

	maker_begin(&m, pages[2], 3, 0, 3 * S);
	maker_lost(&m, 1234, 2 * S, 3 * S);
	maker_event(&m, 4 * S, STAPE_EV_MIGRATE, 30, 1);
	write_tape(tape, pages, 3, &end, false);
}

static void test_script(const struct blob *tape)
{
	ok(!run(cmd_script, "script", NULL, tape), "script");
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

	run(cmd_script, "script", "--pid=20", tape);
	has("PAUSED", "a pause is printed whatever tasks are selected");
	has("LOST", "a loss, too");
	has_not("setprio", "an event of another task is not");
}

/* The tape is complete: a task without an early name has no name at first. */
static void test_first_names(const struct blob *tape)
{
	static const struct schedtape_cpu cpu = { .cpu = 0, .events = 8 };
	static const struct schedtape_cpu overwritten = { .cpu = 0, .events = 8, .overwritten = 7 };
	struct schedtape_end end = {
		.size = sizeof(end),
		.stop_time = 9 * S,
		.cpus = &cpu,
		.nr_cpus = 1,
	};
	static unsigned char page[1][STAPE_PAGE_SIZE];
	uint64_t words[5] = { 10, 20 << 8, 2 * S, 0, 0 };
	struct maker m;

	/* The first owner of PID 10 is not the task that is described. */
	maker_begin(&m, page[0], 0, 0, 0);
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
	write_tape(tape, page, 1, &end, false);
	run(cmd_script, "script", NULL, tape);
	has("migrate: shell:10 to [001]", "a whole tape is not read twice");
	has("migrate: shell:10 to [002]", "a task has its later name after its description");

	write_tape(tape, page, 1, &end, true);
	run(cmd_script, "script", NULL, tape);
	has("migrate: first:10 to [001]", "a tape with descriptions at its end is read twice");
	end.cpus = &overwritten;
	write_tape(tape, page, 1, &end, false);
	run(cmd_script, "script", NULL, tape);
	has("migrate: first:10 to [001]", "a tape with overwritten events, too");
	has("\n               ?-12      [000] ", "a task without a name that runs");
	has("fork: ?:10", "a child of a task without a name has no name");
	has("migrate: ?:11 to [003]", "a task has not the name of a later one with its PID");
	has("migrate: kid:11 to [004]", "a task has a name from its description on");
	has("migrate: shell:10 to [002]", "a PID that is used again has the name of the new task");
}

static void test_script_json(const struct blob *tape)
{
	ok(!run(cmd_script, "script", "--json", tape), "script --json");
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

static void test_report(const struct blob *tape)
{
	ok(!run(cmd_report, "report", NULL, tape), "report");
	has("# LOST: 1,234 events of CPU 3, from 2.000000 to 3.000000 s\n", "a CPU's losses");
	has("# LOST: 1,234 events in all", "and their sum");
	has("# PAUSED: from 5.000000 to 7.000000 s\n", "a pause");
	has("\nshell:10   5000.000       0          1             -             -               -"
	    "               0                 0           0       1  deadline    10      0\n",
	    "time on a CPU, policy");
	has("\nserver:20     0.000 ", "another task");
	has("  fifo:50     20      0\n", "with its priority");

	ok(!run(cmd_report, "report", "--json", tape), "report --json");
	ok(json_object_put(json_tokener_parse(text)), "it is JSON");
	squeeze();
	has("\"lost\":1234,\"lost_first_ns\":2000000000,\"lost_last_ns\":3000000000",
	    "a CPU's losses");
	has("\"pauses\":[{\"first_ns\":5000000000,\"last_ns\":7000000000}]", "a pause");
	has("\"joined\":true,\"left\":true,", "a task that enters and leaves");
	has("\"prio_changes\":1,\"policy\":\"deadline\",\"nice\":0,", "a policy");
	has("\"ppid\":1,\"ns_pid\":2,\"start_time_ns\":1500000000,", "a task's identity");
}

static void test_info(const struct blob *tape)
{
	ok(!run(cmd_info, "info", NULL, tape), "info");
	has("lost             : 1,234\n", "all losses");
	has("LOST             : 1,234 events of CPU 3, from 2.000000 to 3.000000 s\n",
	    "those of each CPU, with their time");
	has("arch             : riscv64\n", "the machine");
	ok(!run(cmd_info, "info", "--json", tape), "info --json");
	squeeze();
	has("\"lost\":1234,\"lost_first_ns\":2000000000,", "losses");
}

static void write_machine(const struct blob *tape)
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
	ret = tape_writer_create(tape->path, meta, NULL, &writer, &err);
	for (i = 0; i < sizeof(schedulers) / sizeof(*schedulers) && !ret; i++)
		ret = schedtape_writer_scheduler(writer, &schedulers[i], &err);
	if (ret || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
}

static void test_machine(const struct blob *tape)
{
	write_machine(tape);
	ok(!run(cmd_info, "info", NULL, tape), "info of a tape with schedulers and settings");
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
	ok(!run(cmd_info, "info", "--json", tape), "info --json");
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
static void test_unfinished(const struct blob *tape)
{
	write_machine(tape);
	ok(!run(cmd_report, "report", NULL, tape), "report of a tape without an end");
	ok(strstr(said, "the recording was not finished") &&
	   strstr(said, "; see \"schedtape recover\"\n"),
	   "its warning names the command that helps");
}

/* Expects one line of info for a tape with these settings. */
static void shows_settings(const struct blob *tape, const char *settings, const char *expected,
			   const char *what)
{
	struct json_object *meta = json_object_new_object();
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;

	json_object_object_add(meta, "sched_settings", json_tokener_parse(settings));
	if (tape_writer_create(tape->path, meta, NULL, &writer, &err) ||
	    schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
	run(cmd_info, "info", NULL, tape);
	has(expected, what);
}

static void test_gaps(const struct blob *tape)
{
	shows_settings(tape, "{\"files\": {}, \"not_readable\": {\"a\": \"EPERM \\u001b\", "
		       "\"b/c\": \"EPERM \\u001b\", \"d\": {}}}",
		       "\nsched settings   : not readable: 2 files: EPERM ?, 1 file: no reason is "
		       "given\n", "no setting is readable");
	shows_settings(tape, "{\"files\": {\"a\": \"1\"}, \"not_readable\": {\"b\": \"1\", "
		       "\"c\": \"2\", \"d\": \"3\", \"e\": \"4\", \"f\": \"5\", \"g\": \"6\"}}",
		       "\nsched settings   : a=1; not readable: 1 file: 1, 1 file: 2, 1 file: 3, "
		       "1 file: 4, 2 files: other reasons\n", "many reasons");
	shows_settings(tape, "{\"files\": {\"a/b\": \"1\"}, \"cut\": [\"v\\u001b\", \"w\", "
		       "\"x\", \"y\", \"z\", 7], \"left_out\": 1234}",
		       "\nsched settings   : 1 in folders, see --json; cut: v?, w, x, y, 1 more; "
		       "left out: 1,234 files\n", "settings that are cut or left out");
	shows_settings(tape, "{\"files\": {}}", "\nsched settings   : none\n", "none at all");
	shows_settings(tape, "{\"files\": {}, \"not_readable\": 1, \"cut\": {}, "
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
static void test_nasty(struct blob *tape)
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
	if (tape_writer_create(tape->path, meta, NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, &task, 1, &err) ||
	    schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		run(commands[i], "show", NULL, tape);
		ok(is_safe(text) && is_safe(said), "command %zu: nothing does anything", i);
		if (commands[i] != cmd_info)
			ok(strstr(said, "only stream " SHOWN), "its message: %s", said);
		run(commands[i], "show", "--json", tape);
		ok(is_safe(text) && is_safe(said), "nor does its JSON");
		ok(!*text || json_object_put(json_tokener_parse(text)), "which is some");
	}
	run(cmd_info, "info", NULL, tape);
	has("\ncpu model        : " SHOWN "\n", "a string");
	has("\ncommand          : " SHOWN "\n", "a command");
	has("\nfilter           : " SHOWN "=" SHOWN "\n", "a key");
	has("\n" SHOWN " : " SHOWN "\n", "one of the description");
	has("only stream " SHOWN " of a recording", "the note on a tape of one stream");
}

#define TASKS	20000

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED	1
#else
#define SANITIZED	0
#endif

static void write_crowd(const struct blob *tape)
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
	if (tape_writer_create(tape->path, meta, NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, tasks, TASKS, &err) ||
	    schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
	free(tasks);
}

/* The peak memory of a report, in KiB. */
static long peak(const struct blob *tape, char *option)
{
	char *argv[] = { "report", (char *)tape->path, option, NULL };
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
static void test_crowd(const struct blob *tape)
{
	long text_peak, json_peak;

	write_crowd(tape);
	text_peak = peak(tape, "--edges");
	json_peak = peak(tape, "--json");
	/* Sanitizers keep freed memory. */
	ok(SANITIZED || json_peak < text_peak + TASKS / 5,
	   "%ld KiB with --json, %ld without, for %d tasks", json_peak, text_peak, TASKS);
}

/* Numbers that json-c accepts but JSON does not. */
static void test_numbers(const struct blob *tape)
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
		if (tape_writer_create(tape->path, meta, NULL, &writer, &err) ||
		    schedtape_writer_close(writer, &err))
			printf("Bail out! %s\n", err.text);
		json_object_put(meta);
		run(cmd_info, "info", "--json", tape);
		squeeze();
		snprintf(expected, sizeof(expected), "\"odd\":%s,\"list\":[%s,7]", numbers[i][1],
			 numbers[i][1]);
		has(expected, numbers[i][0]);
	}
}

/* The first chunk is CPU 0's with five events; one bit at @at is wrong. */
static void test_damage(struct blob *tape, size_t at, const char *what)
{
	unsigned char *data;
	size_t size;

	data = blob_get(tape, &size);
	find_record(data, size, 3, 0)[at] ^= 0x10;
	blob_put(tape, data, size);

	ok(!run(cmd_info, "info", NULL, tape), "info of a tape with %s damaged", what);
	has("lost             : 1,239\n", "it is among all losses");
	has("LOST             : 5 events of CPU 0, from 1.000000 to 7.000000 s\n", "and its CPU's");
	has("\nevents           : 4\n", "and not among the events");
	has(": byte ", "where it is");
	ok(!run(cmd_info, "info", "--json", tape), "info --json");
	squeeze();
	has("{\"cpu\":0,\"events\":3,\"lost\":5,\"lost_first_ns\":1000000000,"
	    "\"lost_last_ns\":7000000000}", "its loss");
	ok(!run(cmd_report, "report", NULL, tape), "report");
	has("# LOST: 5 events of CPU 0, from 1.000000 to 7.000000 s\n", "its loss");
	has("\nserver:20 ", "and the task behind the loss");
	ok(!run(cmd_report, "report", "--json", tape), "report --json");
	squeeze();
	has("\"events\":4,\"lost\":1239,\"cpus\":[{\"cpu\":0,\"events\":3,\"lost\":5,",
	    "its loss");
	ok(!run(cmd_script, "script", NULL, tape), "script");
	has("LOST 5 events from 1.000000 to 7.000000\n", "its loss");
	has("task: server:20 leaves", "and the event behind the loss");

	find_record(data, size, 3, 0)[at] ^= 0x10;
	blob_put(tape, data, size);
	free(data);
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

static void test_replay(void)
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

static void test_interrupted(void)
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
		.events = events, .lost = lost,
	};

	begin_capture();
	recorder_close(&recorder, true, quiet);
	end_capture();
}

static void test_recording(void)
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
static void test_realtime(void)
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

/* Runs script or report, and tests whether it warns that @option matches nothing. */
static void matches(int (*command)(int argc, char **argv), const char *option, const char *expected,
		    const struct blob *tape)
{
	ok(!run(command, "show", option, tape), "%s succeeds", option ? option : "without options");
	ok(expected ? !!strstr(said, expected) : !strstr(said, "matches"), "it warns: %s",
	   expected ? expected : "nothing");
}

static void test_no_match(const struct blob *tape)
{
	make_tape(tape);
	matches(cmd_script, "--pid=999", "no event of the tape matches --pid", tape);
	matches(cmd_script, "--comm=none", "no event of the tape matches --comm", tape);
	matches(cmd_script, "--cpu=7", "no event of the tape matches --cpu", tape);
	matches(cmd_script, "--time=100,", "no event of the tape matches --time", tape);
	matches(cmd_script, "--pid=20", NULL, tape);
	matches(cmd_script, "--time=2,3", NULL, tape);
	matches(cmd_report, "--pid=999", "no task of the tape matches --pid", tape);
	matches(cmd_report, "--pid=20", NULL, tape);
}

int main(void)
{
	struct blob tape;

	blob_init(&tape);
	make_tape(&tape);
	test_script(&tape);
	test_script_json(&tape);
	test_report(&tape);
	test_info(&tape);
	test_damage(&tape, 12, "a chunk's length");
	test_damage(&tape, 34, "a chunk's CPU");
	test_first_names(&tape);
	test_machine(&tape);
	test_unfinished(&tape);
	test_gaps(&tape);
	test_nasty(&tape);
	test_numbers(&tape);
	test_crowd(&tape);
	test_replay();
	test_interrupted();
	test_recording();
	test_realtime();
	test_no_match(&tape);
	close(tape.fd);
	return tap_done();
}
