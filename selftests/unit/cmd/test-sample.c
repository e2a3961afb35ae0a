// SPDX-License-Identifier: GPL-2.0-only
/* Description: sample takes events in perf's syntax, and refuses other arguments. */
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "options.h"
#include "sample/internal.h"
#include "tap.h"

static bool parses(struct sample_events *events, const char *text)
{
	char *wrong;
	int ret;

	events_free(events);
	ret = events_parse(events, text, &wrong);
	free(wrong);
	return !ret;
}

TEST(events)
{
	static const char * const bad[] = {
		"", "nosuch", "task-clock,", ",task-clock", "cycles:x", "cycles:", "r", "rx", "r1g",
		"sched:", ":sched", "sched:a:b", "../x:y", "task-time:u",
	};
	struct sample_events events = { 0 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!parses(&events, bad[i]), "not '%s'", bad[i]);
	ok(parses(&events, "task-clock,cs,r1a8:u") && events.nr == 3, "three of them");
	ok(events.list[0].is_time && !events.list[1].is_time, "one is a time");
	ok(events.list[1].config == PERF_COUNT_SW_CONTEXT_SWITCHES, "cs");
	ok(events.list[2].type == PERF_TYPE_RAW && events.list[2].config == 0x1a8 &&
	   events.list[2].exclude_kernel && !events.list[2].exclude_user, "r1a8:u");
	ok(parses(&events, "cycles:uk") && !events.list[0].exclude_kernel &&
	   !events.list[0].exclude_user, "cycles:uk");
	ok(parses(&events, "task-time") && events.list[0].task_time && events.list[0].is_time,
	   "task-time");
	ok(parses(&events, "sched:sched_switch") && events.list[0].tracepoint, "a tracepoint");
	events_free(&events);
}

static bool takes(struct sample_options *opts, const char *event, const char *interval,
		  const char *option)
{
	char *argv[] = {
		"sample", "--no-checkpoint", "-o", "d", "--event", (char *)event, "--interval",
		(char *)interval, (char *)option, "--", "true", NULL,
	};

	sample_options_free(opts);
	sample_options_parse(opts, 11, argv);
	return !refused;
}

TEST(options)
{
	struct sample_options opts = { .output = NULL };

	ok(takes(&opts, "task-clock", "100ms", "-q") && opts.interval == 100000000, "100ms");
	ok(takes(&opts, "task-clock", "100000", "-q") && opts.interval == 100000, "100000 ns");
	ok(!takes(&opts, "task-clock", "99us", "-q"), "not 99us");
	ok(takes(&opts, "cycles", "1", "-q") && opts.interval == 1, "a cycle");
	ok(!takes(&opts, "cycles", "1ms", "-q"), "no time of cycles");
	ok(!takes(&opts, "cycles", "0", "-q"), "not 0");
	ok(!takes(&opts, "cycles", "-1", "-q"), "not -1");
	ok(!takes(&opts, "cycles", "18446744073709551616", "-q"), "not 2^64");
	ok(takes(&opts, "cycles", "9", "--at=3,7-9") && select_numbers_has(&opts.at, 8), "--at");
	ok(!takes(&opts, "cycles", "9", "--at=0"), "not --at=0");
	ok(!takes(&opts, "cycles", "9", "--at=x"), "not --at=x");
	ok(takes(&opts, "cycles", "9", "--max=4") && opts.max == 4, "--max");
	ok(!takes(&opts, "cycles", "9", "--max=0"), "not --max=0");
	ok(!takes(&opts, "cycles", "9", "-p7"), "not -p with a command");
	ok(!takes(&opts, "cycles", "9", "--recover=d"), "not --recover with a command");
	sample_options_free(&opts);
}

TEST_MAIN
