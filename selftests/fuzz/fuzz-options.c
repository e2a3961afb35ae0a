// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: any arguments of record and replay are refused or have a valid result; the same
 * for each argument alone, as a list, a time, or orders to a recording. The input's lines are
 * the arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <tape/meta.h>

#include "../unit/options.h"
#include "common/select.h"
#include "common/time-ranges.h"
#include "record/options.h"
#include "record/orders.h"
#include "replay/options.h"
#include "record/internal.h"

#define ARGS	32
#define CPUS	512
#define DAY	(24 * 60 * 60 * 1000000000ULL)

static void must(bool true_or_wrong)
{
	if (!true_or_wrong)
		abort();
}

/* A tape's descriptions of cgroups, in both formats. */
struct json_object *tape_meta(struct schedtape_tape *tape)
{
	static const char text[] =
		"{\"cgroups\": [{\"id\": 1, \"path\": \"/\"}, {\"id\": 7, \"path\": \"/a\"}],"
		" \"filter\": {\"cgroups\": [{\"id\": 9, \"path\": \"/b\"}, 3, {}]}}";
	static struct json_object *meta;

	(void)tape;
	if (!meta)
		meta = json_tokener_parse(text);
	return meta;
}

/* Options print nothing.  The real one would bring the real messages. */
void out_write(const void *data, size_t size)
{
	(void)data;
	(void)size;
}

/* The times of that tape: ten days, in which its wall clock is set back by one. */
const struct schedtape_end *schedtape_tape_end(struct schedtape_tape *tape)
{
	static const struct schedtape_end end = {
		.size = sizeof(end), .start_time = DAY, .stop_time = 11 * DAY,
	};

	(void)tape;
	return &end;
}

/* It is a file, so all of it is known. */
bool schedtape_tape_is_pipe(const struct schedtape_tape *tape)
{
	(void)tape;
	return false;
}

bool cmd_tape_is_live(struct schedtape_tape *tape)
{
	return schedtape_tape_is_pipe(tape);
}

const struct stape_clock_sample *schedtape_tape_clocks(struct schedtape_tape *tape, size_t *n)
{
	static const struct stape_clock_sample samples[] = {
		{ .mono = DAY, .real = 20000 * DAY }, { .mono = 6 * DAY, .real = 20004 * DAY },
	};

	(void)tape;
	*n = 2;
	return samples;
}

/* -- one argument ---------------------------------------------------------- */

static void try_numbers(const char *text)
{
	struct select_numbers numbers = { 0 };
	uint32_t number;
	size_t i;

	if (!select_numbers_parse(&numbers, text)) {
		must(numbers.nr);
		for (i = 0; i < numbers.nr; i++)
			must(numbers.ranges[i].first <= numbers.ranges[i].last &&
			     select_numbers_has(&numbers, numbers.ranges[i].last));
	}
	select_numbers_free(&numbers);
	must(select_number_parse(&number, text) || strtoull(text, NULL, 10) == number);
}

/* Parses a mask and prints it again. */
static void try_mask(const char *text)
{
	unsigned char mask[CPUS / 8] = { 0 }, again[CPUS / 8] = { 0 };
	char *list;

	if (cpu_list_mask(mask, sizeof(mask), text))
		return;
	list = cpu_list_text(mask, sizeof(mask));
	must(list);
	must(!*list || !cpu_list_mask(again, sizeof(again), list));
	must(!memcmp(mask, again, sizeof(mask)));
	free(list);
}

static void try_names(const char *text)
{
	struct select_names names = { 0 };

	must(!select_names_parse(&names, text));
	must(select_names_has(&names, text, 0));
	/* Also once it is known to be a name; a name that is empty is printed as "?". */
	select_names_meet(&names, text, 1);
	must(!*text || select_names_has(&names, text, 1));
	select_names_meet(&names, "init", 1);
	select_names_has(&names, "init", 1);
	select_names_free(&names);
}

static void try_time(const char *text)
{
	struct select_time range;

	must(select_time_parse(&range, text) || range.start <= range.stop);
}

static void try_ranges(const char *text)
{
	struct time_ranges times = { .nr = 0 };
	size_t i;

	if (!time_ranges_parse(&times, text)) {
		must(times.nr);
		if (!time_ranges_resolve(&times, NULL))
			for (i = 0; i < times.nr; i++)
				must(times.ranges[i].start <= times.ranges[i].stop &&
				     times.ranges[i].stop <= times.stop);
	}
	time_ranges_free(&times);
}

static void try_orders(const char *text)
{
	struct control control = CONTROL_CLOSED;

	control.used = strnlen(text, sizeof(control.buffer));
	memcpy(control.buffer, text, control.used);
	while (control_next(&control) != ORDER_NONE)
		must(control.used < sizeof(control.buffer));
}

static void try_argument(const char *text)
{
	try_numbers(text);
	try_mask(text);
	try_names(text);
	try_time(text);
	try_ranges(text);
	try_orders(text);
}

/* -- all of them ----------------------------------------------------------- */

static void check_ids(const uint32_t *ids, size_t n)
{
	while (n--)
		must(ids[n] && ids[n] <= INT32_MAX);
}

static void check_targets(const struct schedtape_filter *filter)
{
	size_t i;

	check_ids(filter->pids, filter->nr_pids);
	check_ids(filter->tids, filter->nr_tids);
	for (i = 0; i < filter->nr_exclude_comm; i++)
		must(strlen(filter->exclude_comm[i]) < STAPE_PATTERN_LEN);
}

/* Checks its first orders, and the time until the next one. */
static void check_timing(struct timing *timing)
{
	unsigned int i;

	timing_begin(timing);
	timing_started(timing);
	for (i = 0; i < 4; i++) {
		timing_next(timing);
		must(timing_wait(timing, 1000) <= 1000);
	}
}

static void check_streams(const char *spec, const unsigned char *cpus, size_t bytes)
{
	struct schedtape_error err;
	struct streams streams;
	char *list;
	size_t i;

	if (streams_parse(&streams, spec, STREAMS_SYSFS, cpus, bytes, &err))
		return;
	for (i = 0; i < streams.n; i++) {
		list = cpu_list_text(streams.streams[i].cpus, streams.bytes);
		must(list && *list);
		free(list);
	}
	streams_free(&streams);
}

static void check_record(struct record_options *opts)
{
	unsigned char *cpus;
	size_t bytes;

	must(opts->level >= 0 && opts->level <= 22);
	must(opts->realtime >= 0 && opts->realtime <= 99);
	must(opts->parts.end == PARTS_WHOLE || !opts->threads);
	must(!opts->overwrite || opts->parts.end != PARTS_SIZE);
	must(!opts->no_final || (opts->overwrite && !opts->threads));
	must(!opts->memory || (opts->overwrite && !opts->ring_bytes && !opts->threads));
	check_targets(&opts->targets.filter);
	check_timing(&opts->timing);
	if (!record_options_cpus(opts, &cpus, &bytes) && opts->threads)
		check_streams(opts->threads, cpus, bytes);
	free(cpus);
}

static void try_record(int argc, char **argv)
{
	struct record_options opts;

	record_options_parse(&opts, argc, argv);
	if (!refused)
		check_record(&opts);
	record_options_free(&opts);
}

static void check_choice(struct choice *choice, const char *name)
{
	struct schedtape_task task = { .pid = 100, .tgid = 100, .cgroup = 7 };

	snprintf(task.comm, sizeof(task.comm), "%s", name);
	if (!choice_check(choice, NULL, "t"))
		must(choice_keeps(choice, &task) || choice_made(choice));
}

static void check_replay(struct replay_options *opts)
{
	static const unsigned char mask[CPUS / 8] = { 0x85, [CPUS / 8 - 1] = 0x80 };
	cpu_set_t cpus;

	must(opts->speed >= 1e-3 && opts->speed <= 1e3);
	must(opts->scale_cpu >= 1e-3 && opts->scale_cpu <= 1e3);
	must(!opts->program.to || opts->program.from < opts->program.to);
	cpu_map_apply(&opts->cpus, mask, sizeof(mask), &cpus);
	must(CPU_COUNT(&cpus));
}

static void try_replay(int argc, char **argv)
{
	struct replay_options opts;

	replay_options_parse(&opts, argc, argv);
	if (!refused) {
		check_replay(&opts);
		check_choice(&opts.choice, argv[argc - 1]);
	}
	replay_options_free(&opts);
}

/* Splits @text at line ends into at most ARGS arguments. */
static int split(char *text, char **argv)
{
	int argc = 0;

	while (argc < ARGS && text)
		argv[argc++] = strsep(&text, "\n");
	argv[argc] = NULL;
	return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *argv[ARGS + 1];
	int argc, i;

	if (!text)
		return 0;
	argc = split(text, argv);
	for (i = 0; i < argc; i++)
		try_argument(argv[i]);
	if (!strcmp(argv[0], "replay"))
		try_replay(argc, argv);
	else
		try_record(argc, argv);
	free(text);
	return 0;
}
