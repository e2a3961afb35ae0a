// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: each limit of diff, just met and exceeded, on tapes whose distance is known from
 * how they are made.
 */
#include <errno.h>
#include <math.h>

#include <diff/internal.h>

#include "diff-tapes.h"
#include "printed.h"

/* -- diff -------------------------------------------------------------------------- */

static struct blob a, b;

static int diff(const char *limit, const char *other)
{
	return run_on(a.path, cmd_diff, b.path, limit, other);
}

static void keeps(const char *limit, const char *other)
{
	int status = diff(limit, other);

	if (!ok(!status && !*said, "%s %s: kept", limit, other ? other : ""))
		printf("# status %d: %s\n", status, said);
}

/* Expects one message, which is @expected. */
static void exceeds(const char *limit, const char *other, const char *expected)
{
	int status = diff(limit, other);
	const char *message = strstr(said, expected);

	if (!ok(status == 1 && message && !strcmp(message + strlen(expected), "\n") &&
		strchr(said, '\n') == said + strlen(said) - 1,
		"%s %s: %s", limit, other ? other : "", expected))
		printf("# status %d: %s\n", status, said);
}

/* The plain habit with other bursts. */
static struct habit with_bursts(unsigned int burst)
{
	struct habit habit = plain;
	int i;

	for (i = 0; i < CYCLES; i++)
		habit.cycles[i].burst = burst;
	return habit;
}

TEST(same)
{
	static const char * const limits[] = {
		"--max-cpu-error=0", "--max-total-cpu-error=0", "--max-wakeup-error=0",
		"--max-sleep-error=0", "--max-burst-distance=0", "--max-sleep-distance=0",
		"--max-delay-distance=0", "--max-order-error=0", "--max-wall-error=0",
		"--max-unmatched=0", "--same-graph",
	};
	size_t i;

	make_habit(&a, &plain);
	make_habit(&b, &plain);
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		keeps(limits[i], "--min-runtime=0");
}

/* "one" runs for 100 ms instead of 50, all together for 150 instead of 100. */
TEST(cpu)
{
	const struct habit twice = with_bursts(20000);

	make_habit(&a, &plain);
	make_habit(&b, &twice);
	keeps("--max-cpu-error=100", NULL);
	exceeds("--max-cpu-error=99.9%", NULL,
		"CPU time of one:10: 100.0 % off, the limit is 99.9 %");
	keeps("--max-total-cpu-error=50%", NULL);
	exceeds("--max-total-cpu-error=49.9", NULL,
		"CPU time in total: 50.0 % off, the limit is 49.9 %");

	make_habit(&a, &twice);
	make_habit(&b, &plain);
	keeps("--max-cpu-error=50", NULL);
	exceeds("--max-cpu-error=49.9", NULL,
		"CPU time of one:10: -50.0 % off, the limit is 49.9 %");
	keeps("--max-total-cpu-error=33.4", NULL);
	exceeds("--max-total-cpu-error=33.3", NULL,
		"CPU time in total: -33.3 % off, the limit is 33.3 %");
}

/* Tasks that ran less in both tapes are not compared, but count in the total. */
TEST(min_runtime)
{
	const struct habit twice = with_bursts(20000);

	make_habit(&a, &plain);
	make_habit(&b, &twice);
	keeps("--max-cpu-error=0", "--min-runtime=100.1ms");
	exceeds("--max-cpu-error=0", "--min-runtime=100",
		"CPU time of one:10: 100.0 % off, the limit is 0.0 %");
	exceeds("--max-total-cpu-error=0", "--min-runtime=100.1",
		"CPU time in total: 50.0 % off, the limit is 0.0 %");
	exceeds("--max-burst-distance=0", "--min-runtime=100.1",
		"lengths of bursts of one:10: distance 1.000, the limit is 0.000");
}

/* The task "three" never runs in one tape, and runs only to end in the other. */
TEST(player_ends)
{
	static const char * const limits[] = {
		"--max-cpu-error=0", "--max-wakeup-error=0", "--max-sleep-error=0",
	};
	size_t i;

	make_habit(&a, &alone);
	with_end = 12;
	make_habit(&b, &alone);
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		keeps(limits[i], NULL);
	exceeds("--max-total-cpu-error=0", NULL,
		"CPU time in total: 16.7 % off, the limit is 0.0 %");
	make_habit(&a, &alone);
	with_end = 0;
	make_habit(&b, &alone);
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		keeps(limits[i], NULL);
	with_end = 12;
	make_habit(&b, &plain);
	with_end = 0;
	make_habit(&a, &alone);
	exceeds("--max-wakeup-error=1000", NULL,
		"wake-ups of three:12: inf off, the limit is 1000.0 %");
}

/* 2.5, 3.75 and 5 ms: the last one is compared, because it is not below 5 ms. */
TEST(default_min_runtime)
{
	const struct habit less = with_bursts(500), more = with_bursts(750);
	const struct habit enough = with_bursts(1000);

	make_habit(&a, &less);
	make_habit(&b, &more);
	keeps("--max-cpu-error=0", NULL);
	exceeds("--max-cpu-error=0", "--min-runtime=0.75",
		"CPU time of one:10: 50.0 % off, the limit is 0.0 %");
	make_habit(&b, &enough);
	exceeds("--max-cpu-error=0", NULL,
		"CPU time of one:10: 100.0 % off, the limit is 0.0 %");
}

/* One of five bursts and delays is longer; or one of four sleeps. */
TEST(distances)
{
	struct habit habit = alone;

	make_habit(&a, &alone);
	habit.cycles[2].burst = 14000;
	make_habit(&b, &habit);
	keeps("--max-burst-distance=0.201", NULL);
	exceeds("--max-burst-distance=0.199", NULL,
		"lengths of bursts of one:10: distance 0.200, the limit is 0.199");
	keeps("--max-sleep-distance=0", "--max-delay-distance=0");

	habit = alone;
	habit.cycles[2].sleep = 40000;
	make_habit(&b, &habit);
	keeps("--max-sleep-distance=0.25", NULL);
	exceeds("--max-sleep-distance=0.249", NULL,
		"lengths of sleeps of one:10: distance 0.250, the limit is 0.249");
	keeps("--max-burst-distance=0", "--max-delay-distance=0");

	habit = alone;
	habit.cycles[2].delay = 3000;
	make_habit(&b, &habit);
	keeps("--max-delay-distance=0.201", NULL);
	exceeds("--max-delay-distance=0.199", NULL,
		"scheduling delays of one:10: distance 0.200, the limit is 0.199");
	keeps("--max-burst-distance=0", "--max-cpu-error=0");
}

/* Delays after a preemption count as well: five are equal, a sixth is longer. */
TEST(preempted)
{
	struct habit habit = alone;

	habit.cycles[1].away = 5000;
	make_habit(&a, &alone);
	make_habit(&b, &habit);
	keeps("--max-delay-distance=0.167", NULL);
	exceeds("--max-delay-distance=0.166", NULL,
		"scheduling delays of one:10: distance 0.167, the limit is 0.166");
	keeps("--max-burst-distance=0", "--max-sleep-distance=0");
}

/* One of ten pairs is in the other order, along the same edges. */
TEST(order)
{
	struct habit habit = plain;

	habit.cycles[1].wakes = 11;
	habit.cycles[2].wakes = 12;
	make_habit(&a, &plain);
	make_habit(&b, &habit);
	keeps("--max-order-error=10", "--same-graph");
	exceeds("--max-order-error=9.9%", "--same-graph",
		"order of wake-ups: 10.0 % off, the limit is 9.9 %");
}

/* CPU time: 100 % more, 67 % less and 100 % more. */
TEST(median)
{
	struct habit habit = with_bursts(20000);

	habit.cycles[0].wakes = 12;
	habit.cycles[2].wakes = 12;
	make_habit(&a, &plain);
	make_habit(&b, &habit);
	diff("--json", NULL);
	ok(strstr(text, "\"cpu_error_median\": 1.0,"), "the median of three is the second");
}

/* "one" wakes "two" four times and "three" once, instead of three times and twice. */
TEST(graph)
{
	struct habit habit = plain;

	habit.cycles[1].wakes = 11;
	make_habit(&a, &plain);
	make_habit(&b, &habit);
	exceeds("--same-graph", NULL, "the graphs of who wakes whom differ");
	keeps("--max-wakeup-error=50", "--max-sleep-error=50");
	exceeds("--max-wakeup-error=49.9", NULL,
		"wake-ups of three:12: -50.0 % off, the limit is 49.9 %");
	exceeds("--max-sleep-error=49.9", NULL,
		"sleeps of three:12: -50.0 % off, the limit is 49.9 %");
}

/* Each of two exceeded limits is reported, and a limit that is met is not. */
TEST(several)
{
	struct habit habit = with_bursts(20000);

	habit.cycles[1].wakes = 11;
	make_habit(&a, &plain);
	make_habit(&b, &habit);
	ok(diff("--max-total-cpu-error=10", "--same-graph") == 1 &&
	   strstr(said, "CPU time in total: ") && strstr(said, "the graphs "),
	   "two limits, two messages");
	exceeds("--max-total-cpu-error=90", "--same-graph", "the graphs of who wakes whom differ");
}

/* -- parts of errors --------------------------------------------------------------- */

static void prints(const char *expected, const char *what)
{
	diff("--same-graph", NULL);
	has(expected, what);
}

static void prints_not(const char *unexpected, const char *what)
{
	diff("--same-graph", NULL);
	has_not(unexpected, what);
}

#define REPLAY(costs)	"{ \"replay_of\": \"a.tape\", \"replay_costs\": { " costs " } }"
#define COSTS(step, exit, rate) \
	REPLAY("\"step\": " step ", \"fork\": 1, \"exit\": " exit ", \"spawn\": 1, \"leave\": 1, " \
	       "\"rate\": " rate)

/* "one" has bursts of 14 ms instead of 10 ms in a replay with this META. */
static void make_replay(const char *meta)
{
	struct habit habit = alone;
	int i;

	make_habit(&a, &alone);
	for (i = 0; i < CYCLES; i++)
		habit.cycles[i].burst = 14000;
	with_meta = meta;
	with_players = true;
	make_habit(&b, &habit);
	with_meta = NULL;
	with_players = false;
}

/**
 * struct parts - parts of the error of "one", 20 ms, us
 * @stalls: as text, ns
 */
struct parts {
	int steps, forks;
	const char *stalls;
	int rest;
};

/* @told: "players" of the END of the replay, or NULL */
static void has_parts(const char *meta, const char *told, const struct parts *parts,
		      const char *what)
{
	char expected[256];

	with_told = told;
	make_replay(meta);
	with_told = NULL;
	snprintf(expected, sizeof(expected), "\"error_ns\": 20000000,\n        \"steps_ns\": %d,\n"
		 "        \"forks_ns\": %d,\n        \"stalls_ns\": %s,\n"
		 "        \"rest_ns\": %d\n", 1000 * parts->steps, 1000 * parts->forks,
		 parts->stalls, 1000 * parts->rest);
	diff("--json", NULL);
	has(expected, what);
}

#define HAS_PARTS(meta, told, what, ...) \
	has_parts(meta, told, &(const struct parts) { __VA_ARGS__ }, what)

TEST(parts)
{
	/* Six steps of 12 ms and an exit of 8 ms, less five bursts of 10 ms. */
	HAS_PARTS(COSTS("12e6", "8e6", "1.0"), NULL, "bursts are too short",
		  22000, 8000, "null", -10000);
	prints("\none:10       20.000000  22.000000           8.000000         -  -10.000000\n",
	       "in the table");
	/* The last two steps and the exit cost as much as the last burst takes. */
	HAS_PARTS(COSTS("4e6", "2e6", "1"), NULL, "bursts are long enough", 0, 0, "null", 20000);
	/* They cost 27 ms, the last two bursts take 20 ms, but one of 7 ms makes up for a step. */
	HAS_PARTS(COSTS("7e6", "13e6", "1"), NULL, "the last ones are not",
		  4900, 9100, "null", 6000);
}

#define TOLD(pid, what)	"[ { \"task_pid\": " #pid ", \"task_start\": 0, " what " } ]"

TEST(told)
{
	static const char costs[] = COSTS("4e6", "2e6", "1");

	HAS_PARTS(costs, "[]", "nobody was stalled", 0, 0, "0", 20000);
	HAS_PARTS(costs, TOLD(12, "\"stalled\": 5000000"), "another one was", 0, 0, "0", 20000);
	/* The program has no task "two", which the replay leaves out. */
	prints("\nthree:12      0.000000  8.000000           2.000000  5.000000  -15.000000\n",
	       "which comes after a task that is left out");
	HAS_PARTS(costs, TOLD(11, "\"stalled\": 5000000"), "nor is it one that is left out",
		  0, 0, "0", 20000);
	prints("\nthree:12      0.000000  8.000000           2.000000  0.000000  -10.000000\n",
	       "nor the one after it");
	HAS_PARTS(costs, TOLD(10, "\"stalled\": 5000000"), "this one was", 0, 0, "5000000", 15000);
	prints("\none:10       20.000000  0.000000           0.000000  5.000000   15.000000\n",
	       "in the table");
	/* It has used 70 ms in all; its last step and its end cost 6 ms, or three times as much. */
	HAS_PARTS(costs, TOLD(10, "\"stalled\": 1000000, \"used\": 50000000"),
		  "this one in its last step, too", 0, 0, "15000000", 5000);
	HAS_PARTS(costs, TOLD(10, "\"used\": 52000000"), "a costly step is no stall",
		  0, 0, "0", 20000);
	HAS_PARTS(COSTS("7e6", "8e6", "1"), TOLD(10, "\"step\": 12000000"),
		  "the player's own steps cost more", 22000, 8000, "0", -10000);
	HAS_PARTS(costs, "[ 7, {}, { \"task_pid\": \"x\" } ]", "nonsense", 0, 0, "0", 20000);
}

/* No parts are known in a replay with this META, for this reason; NULL: B is not a replay. */
static void has_no_parts(const char *meta, const char *why)
{
	char line[256];

	make_replay(meta);
	snprintf(line, sizeof(line), "\nparts of the CPU error: not known: %s\n", why);
	if (why)
		prints(line, why);
	else
		prints_not("parts of the CPU error", "two recordings");
	diff("--json", NULL);
	has("\"cpu_error_parts\": null", "in JSON, too");
}

TEST(no_parts)
{
	static const char no_costs[] = "B has no costs of steps, forks and exits";

	has_no_parts(NULL, NULL);
	has_no_parts("{ \"replay_of\": \"a.tape\" }", no_costs);
	has_no_parts("{ \"replay_of\": \"a.tape\", \"replay_costs\": 7 }", no_costs);
	has_no_parts(COSTS("0", "8e6", "1"), no_costs);
	has_no_parts(COSTS("-1", "8e6", "1"), no_costs);
	has_no_parts(COSTS("12e6", "8e6", "0.5"), "B had to use another CPU time than A");
}

/* -- schedulers and settings ------------------------------------------------------- */

static void make_with(const struct blob *tape, const char *meta,
		      const struct schedtape_scheduler *schedulers, size_t n)
{
	with_meta = meta;
	with_schedulers = schedulers;
	nr_schedulers = n;
	make_habit(tape, &plain);
	with_meta = NULL;
	nr_schedulers = 0;
}

/* "two" is a kernel thread that the replay does not play. */
TEST(kthreads)
{
	static const char * const limits[] = {
		"--max-cpu-error=0", "--max-total-cpu-error=0", "--max-wakeup-error=0",
		"--max-order-error=0", "--same-graph",
	};
	struct habit without = plain;
	size_t i;

	for (i = 0; i < CYCLES; i++)
		if (without.cycles[i].wakes == 11)
			without.cycles[i].wakes = 0;
	with_kthread = true;
	make_habit(&a, &plain);
	with_kthread = false;
	with_players = true;
	make_habit(&b, &without);
	with_players = false;
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		keeps(limits[i], NULL);
	prints("verdict: same graph, 2 of 2 tasks matched\n", "other tasks are matched");
	prints("\nleft out: 1 kernel thread, which the replay does not play\n",
	       "and a line says so");
	ok(!strstr(text, "unmatched"), "it is not among the unmatched tasks");
	diff("--json", NULL);
	ok(strstr(text, "\"kthreads_left_out\": 1"), "in JSON, too");
	make_habit(&a, &plain);
	exceeds("--same-graph", NULL, "the graphs of who wakes whom differ");
	prints_not("left out", "another task is missed");
}

TEST(schedulers)
{
	static const struct schedtape_scheduler fair = { .time = 1, .state = "disabled" };
	static const struct schedtape_scheduler old = { .time = 1, .state = "none" };
	static const struct schedtape_scheduler ext[] = {
		{ .time = 1, .state = "enabled", .ops = "simple", .switch_all = true },
		{ .time = 2, .after = 1, .state = "disabling", .ops = "simple" },
		{ .time = 3, .after = 2, .state = "disabled", .enable_seq = 1 },
	};

	make_with(&a, NULL, &fair, 1);
	make_with(&b, NULL, ext, 1);
	prints("\n# schedulers differ: A: fair, B: ext (simple)\n", "another scheduler");
	diff("--json", NULL);
	ok(strstr(text, "\"b\": \"ext (simple)\"") && strstr(text, "\"differ\": true"),
	   "in JSON, too");
	make_with(&a, NULL, ext, 3);
	prints("\n# schedulers differ: A: ext (simple), then ext (not seen), then fair, B: "
	       "ext (simple)\n", "one that went");
	make_with(&b, NULL, NULL, 0);
	prints("B: not known\n", "an old tape, if the other one has sched_ext");
	make_with(&a, NULL, &old, 1);
	prints_not("schedulers differ", "but not else");
	make_with(&b, NULL, &fair, 1);
	prints_not("schedulers differ", "nor is it one whether the kernel has sched_ext");
}

/* Schedulers of B; A had the fair one. */
static void shows(const struct schedtape_scheduler *schedulers, size_t n, const char *expected,
		  const char *what)
{
	char line[256];

	make_with(&b, NULL, schedulers, n);
	snprintf(line, sizeof(line), "\n# schedulers differ: A: fair, B: %s\n", expected);
	prints(line, what);
}

/* A scheduler that is on for less than a second is seen in transition, or not at all. */
TEST(brief_schedulers)
{
	static const struct schedtape_scheduler fair = { .time = 1, .state = "disabled" };
	static const struct schedtape_scheduler off[] = {
		{ .time = 1, .state = "disabled", .enable_seq = 5 },
		{ .time = 2, .after = 1, .state = "disabling", .enable_seq = 6, .ops = "simple" },
		{ .time = 3, .after = 2, .state = "disabled", .enable_seq = 6 },
	};
	static const struct schedtape_scheduler on_off[] = {
		{ .time = 1, .state = "enabling", .enable_seq = 5, .ops = "simple" },
		{ .time = 2, .after = 1, .state = "disabling", .enable_seq = 6, .ops = "simple" },
	};
	static const struct schedtape_scheduler failed[] = {
		{ .time = 1, .state = "enabling", .enable_seq = 5, .ops = "simple" },
		{ .time = 2, .after = 1, .state = "disabling", .enable_seq = 5, .ops = "simple" },
		{ .time = 3, .after = 2, .state = "disabled", .enable_seq = 5 },
	};
	static const struct schedtape_scheduler blind[] = {
		{ .time = 1, .state = "unknown" },
		{ .time = 2, .after = 1, .state = "enabled", .enable_seq = 6, .ops = "simple",
		  .switch_all = true },
	};

	make_with(&a, NULL, &fair, 1);
	shows(off, 3, "fair, then ext (simple), then fair", "one that was seen going off");
	shows(off, 2, "fair, then ext (simple)", "to the end");
	shows(on_off, 2, "ext (simple, going on), then ext (simple)", "one on its way only");
	shows(on_off, 1, "ext (simple, going on)", "one that goes on");
	shows(failed, 2, "ext (simple, going on), then ext (simple, going off)",
	      "one that fails to go on");
	make_with(&b, NULL, failed, 3);
	prints_not("schedulers differ", "no task had it when it has gone");
	shows(blind, 2, "not known, then ext (simple)", "a first look that failed");
}

/* Two tapes with many schedulers differ in the last one only. */
TEST(many_schedulers)
{
	struct schedtape_scheduler many[40] = { 0 };
	size_t i;

	for (i = 0; i < 40; i++) {
		many[i] = (struct schedtape_scheduler) {
			.time = i + 1, .after = i, .state = "enabled", .enable_seq = i,
			.switch_all = true,
		};
		memset(many[i].ops, 'a' + i % 26, sizeof(many[i].ops) - 1);
	}
	make_with(&a, NULL, many, 40);
	make_with(&b, NULL, many, 40);
	prints_not("schedulers differ", "many schedulers are the same");
	strcpy(many[39].ops, "last");
	make_with(&b, NULL, many, 40);
	prints("\n# schedulers differ among the others: A and B: ext (aaaa", "the last one is not");
	ok(strstr(text, "h), then others\n"), "which is not shown");
	diff("--json", NULL);
	ok(strstr(text, "\"differ\": true"), "in JSON");
}

#define SETTINGS(files)	"{\"sched_settings\": {\"files\": {" files "}}}"
#define FEATURES	"ALPHA BETA GAMMA DELTA EPSILON ZETA ETA THETA IOTA KAPPA LAMBDA MU NU " \
			"XI OMIKRON PI RHO SIGMA TAU UPSILON PHI CHI PSI OMEGA ALEPH BET GIMEL DALET "

TEST(settings)
{
	static const char in_a[] = SETTINGS("\"slice\": \"3\", \"gone\": \"1\", \"same\": \"1\", "
		"\"features\": \"" FEATURES "NO_ONE TWO\", \"x/y\": \"1\", "
		"\"domains/cpu0/domain0/max_newidle_lb_cost\": \"1\", "
		"\"fair_server/cpu0/period\": \"1\", \"fair_server/cpu1/period\": \"1\"");
	static const char in_b[] = SETTINGS("\"slice\": \"4\", \"new\": \"2\", \"same\": \"1\", "
		"\"features\": \"" FEATURES "ONE TWO\", \"x/y\": \"2\", "
		"\"domains/cpu0/domain0/max_newidle_lb_cost\": \"2\", "
		"\"fair_server/cpu0/period\": \"2\", \"fair_server/cpu1/period\": \"2\"");
	char many[4096] = "{\"sched_settings\": {\"files\": {\"same\": \"1\"";
	int i;

	make_with(&a, in_a, NULL, 0);
	make_with(&b, in_b, NULL, 0);
	prints("\n# setting slice differs: A: 3, B: 4\n", "a setting");
	prints("\n# setting gone differs: A: 1, B: none\n", "one that only A has");
	prints("\n# setting new differs: A: none, B: 2\n", "one that only B has");
	prints("\n# setting features differs: A: NO_ONE, B: ONE\n", "one of many words");
	prints("\n# setting x/y differs: A: 1, B: 2\n", "one in a folder");
	prints("\n# settings differ: fair_server/: 2 of single CPUs\n", "those of CPUs");
	prints_not("setting same", "one that does not");
	prints_not("domains", "nor a value that the kernel measures");
	diff("--json", NULL);
	ok(strstr(text, "\"fair_server/cpu1/period\"") && !strstr(text, "\"same\""),
	   "all of them in JSON");

	for (i = 0; i < 30; i++)
		sprintf(many + strlen(many), ", \"s%d\": {\"odd\": 1}", i);
	strcat(many, "}}}");
	make_with(&b, many, NULL, 0);
	prints("\n# settings differ: ", "more than there are lines for");
	make_with(&b, "{\"sched_settings\": {\"reason\": \"Permission denied\"}}", NULL, 0);
	prints("\n# settings not compared: B has none: Permission denied\n", "none, and why");
	make_with(&a, NULL, NULL, 0);
	prints_not("settings", "none at all");
}

/* Returns how often the output contains @part. */
static unsigned int times(const char *part)
{
	const char *at = text;
	unsigned int n = 0;

	while ((at = strstr(at, part))) {
		at += strlen(part);
		n++;
	}
	return n;
}

TEST(gaps)
{
	static const char whole[] = SETTINGS("\"slice\": \"3\", \"scale\": \"1\", "
		"\"x/y\": \"1\", \"long\": \"xxx\", \"other\": \"1\"");
	static const char unreadable[] =
		"{\"sched_settings\": {\"files\": {}, \"not_readable\": {"
		"\"slice\": \"Operation not permitted\", \"scale\": \"Operation not permitted\", "
		"\"x\": \"Operation not permitted\", \"long\": \"Odd \\u001b\", "
		"\"other\": 7}}}";
	static const char partial[] = "{\"sched_settings\": {\"files\": {\"slice\": \"4\", "
		"\"long\": \"xxx\"}, \"cut\": [\"long\", 7], \"left_out\": 12}}";

	make_with(&a, whole, NULL, 0);
	make_with(&b, unreadable, NULL, 0);
	prints(" (first to last event)\n", "the wall time is between two events");
	prints("\n# settings not compared: 3 not readable in B: Operation not permitted\n",
	       "settings that are not readable, and one in such a folder");
	ok(times("# setting") == 3 && !strstr(text, "differ"), "once for each reason");
	prints("\n# settings not compared: 1 not readable in B: Odd ?\n", "another reason");
	prints("\n# settings not compared: 1 not readable in B: no reason is given\n",
	       "and without");
	diff("--json", NULL);
	ok(strstr(text, "\"settings_not_compared\"") && strstr(text, "\"side\": \"b\"") &&
	   strstr(text, "\"why\": \"not readable\"") &&
	   strstr(text, "\"reason\": \"Operation not permitted\"") &&
	   strstr(text, "\"setting_count\": 3") && !strstr(text, "\"name\": \"slice\""),
	   "in JSON, too");
	make_with(&a, unreadable, NULL, 0);
	prints_not("# setting", "none of them in either");
	make_with(&b, whole, NULL, 0);
	prints("\n# settings not compared: 3 not readable in A: Operation not permitted\n",
	       "the other way round");
	make_with(&a, partial, NULL, 0);
	prints("\n# setting slice differs: A: 4, B: 3\n", "a setting that both have is compared");
	prints("\n# settings not compared: 3 perhaps left out of A\n", "some that are left out");
	prints("\n# settings not compared: 1 cut in A\n", "one that is alike as far as that");
	diff("--json", NULL);
	ok(strstr(text, "\"why\": \"left out\"") && strstr(text, "\"why\": \"cut\""),
	   "in JSON, too");
	make_with(&a, "{\"sched_settings\": {\"reason\": \"Permission denied\"}}", NULL, 0);
	diff("--json", NULL);
	ok(strstr(text, "\"why\": \"none\"") &&
	   strstr(text, "\"reason\": \"Permission denied\""), "the reason for none in JSON");
}

TEST(null)
{
	make_with(&a, SETTINGS("\"odd\": null, \"gone\": null, \"x\": null"), NULL, 0);
	make_with(&b, SETTINGS("\"odd\": null, \"new\": null, \"x\": \"1\""), NULL, 0);
	prints("\n# setting x differs: A: none, B: 1\n", "null and a text");
	ok(times("# setting") == 1, "null is like null, and like nothing");
}

#define WORD_30		"thirty_characters_are_in_here_"

TEST(words)
{
	make_with(&a, SETTINGS("\"features\": \"" FEATURES WORD_30 WORD_30 WORD_30 WORD_30
			     WORD_30 WORD_30 WORD_30 WORD_30 WORD_30 "\""), NULL, 0);
	make_with(&b, SETTINGS("\"features\": \"" FEATURES "x\""), NULL, 0);
	prints("\n# setting features differs: A: " WORD_30 WORD_30 "thir..., B: x\n",
	       "a word that is too long is shortened");
	make_with(&a, SETTINGS("\"features\": \"" FEATURES "ONE TWO\""), NULL, 0);
	make_with(&b, SETTINGS("\"features\": \"TWO " FEATURES "ONE\""), NULL, 0);
	prints("\n# setting features differs: the same words in another order or number, or other "
	       "blanks\n", "another order");
	make_with(&b, SETTINGS("\"features\": \"" FEATURES "ONE  TWO\""), NULL, 0);
	prints("\n# setting features differs: the same words", "other blanks");
	make_with(&b, SETTINGS("\"features\": \"" FEATURES "\\nONE\\nTHREE\\n\""), NULL, 0);
	prints("\n# setting features differs: A: TWO, B: THREE\n", "words on lines");
	make_with(&b, SETTINGS("\"features\": \"" FEATURES "\""), NULL, 0);
	prints("\n# setting features differs: A: ONE TWO, B: -\n", "words that only A has");
}

static void write_empty(const struct blob *tape)
{
	const struct schedtape_end end = { .size = sizeof(end), .stop_time = 1000 };
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;

	if (schedtape_writer_create(tape->path, "{}", NULL, &writer, &err) ||
	    schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
}

/* Each reader says it in one line. */
TEST(empty)
{
	const char *line = "the tape has no events: no chosen task ran while the recording was on";
	const char *at;

	make_habit(&a, &plain);
	write_empty(&b);
	diff("--wide", NULL);
	at = strstr(said, line);
	ok(at && strstr(said, b.path) && !strcmp(at + strlen(line), "\n"),
	   "a tape without events: %s", said);
	make_habit(&b, &plain);
	diff("--wide", NULL);
	ok(!*said, "a tape with events has no such line");
}

int main(void)
{
	blob_init(&a);
	blob_init(&b);
	ok(diff_relative(0, 0) == 0 && isinf(diff_relative(0, 5)) &&
	   fabs(diff_relative(200, 150) + 0.25) < 1e-9, "relative errors");
	tap_run();
	close(a.fd);
	close(b.fd);
	return tap_done();
}
