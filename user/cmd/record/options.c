// SPDX-License-Identifier: GPL-2.0-only
#include "record/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/backup.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select.h"
#include "record/streams.h"

#define OPT_CONTROL	0x4000
#define OPT_OVERWRITE	0x4002
#define OPT_THREADS	0x4003
#define OPT_SYSCALLS	0x4004

static const struct argp_option options[] = {
	{ "cpu", 'C', "CPUS", 0,
	  "Record only these CPUs, as 0-3,5; all tasks, if no option above names some", 2 },
	{ NULL, 0, NULL, 0, "When:", 3 },
	{ "delay", 'D', "MS", 0,
	  "Begin after MS; -1: at enable from --control; 10-20,30-40: only in these periods", 3 },
	{ "duration", RECORD_DURATION, "SEC", 0,
	  "End after SEC of recording; or 500ms, 5s, 2m, 1h", 3 },
	{ "control", OPT_CONTROL, "fd:CTL[,ACK]|fifo:CTL[,ACK]", 0,
	  "Read the commands enable, disable, ping and stop from there, one a line", 3 },
	{ NULL, 0, NULL, 0, "How:", 4 },
	{ "output", 'o', "FILE", 0, "Name of the tape (schedtape.tape); -: standard output", 4 },
	{ "mmap-size", 'm', "SIZE", 0,
	  "Size of each CPU's ring (1M): a number of pages, or of bytes with B, K, M or G", 4 },
	{ "overwrite", OPT_OVERWRITE, NULL, 0,
	  "Let new events overwrite the oldest, and write the tape at the end", 4 },
	{ "syscalls", OPT_SYSCALLS, NULL, 0,
	  "Note which system call a task sleeps in", 4 },
	{ "threads", OPT_THREADS, "cpu|core|package|numa|MASKS", OPTION_ARG_OPTIONAL,
	  "Write a directory, with a thread for each cpu (if there is no SPEC), core, package "
	  "(or socket) or numa node, or for masks CPUS/AFFINITY:...", 4 },
	{ "clockid", 'k', "mono|tsc", 0, "The events' clock; tsc only if it is reliable", 4 },
	{ "compression-level", 'z', "LEVEL", OPTION_ARG_OPTIONAL,
	  "Level of zstd, 1 to 22 (1); 0: do not compress", 4 },
	{ "realtime", 'r', "PRIO", 0,
	  "Write with this SCHED_FIFO priority (lowest nice value, not real-time)", 4 },
	{ "quiet", 'q', NULL, 0, "Print only errors", 4 },
	{ 0 },
};

/* As in perf: "256" is a number of this machine's pages; "1M" has a unit B, K, M or G. */
static bool parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "BKMG";
	uint64_t number, unit = getpagesize();
	const char *letter;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || !number || !isdigit((unsigned char)*text))
		return false;
	if (*end) {
		letter = strchr(units, *end);
		if (!letter || end[1])
			return false;
		unit = 1ULL << 10 * (letter - units);
	}
	return !__builtin_mul_overflow(number, unit, bytes);
}

/* Accepts perf's names and number of CLOCK_MONOTONIC, and "tsc" for the counter. */
static bool parse_clock(const char *text, uint32_t *clock)
{
	static const struct {
		const char *name;
		uint32_t clock;
	} clocks[] = {
		{ "mono", STAPE_CLOCK_MONO },
		{ "monotonic", STAPE_CLOCK_MONO },
		{ "1", STAPE_CLOCK_MONO },
		{ "tsc", STAPE_CLOCK_COUNTER },
	};
	size_t i;

	if (!strncasecmp(text, "CLOCK_", 6))
		text += 6;
	for (i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		if (strcasecmp(text, clocks[i].name))
			continue;
		*clock = clocks[i].clock;
		return true;
	}
	return false;
}

static bool parse_between(const char *text, long first, long last, int *number)
{
	char *end;
	long value = strtol(text, &end, 10);

	*number = value;
	return end != text && !*end && value >= first && value <= last;
}

static bool cpus_valid(const char *text)
{
	struct select_numbers cpus = { 0 };
	bool valid = !select_numbers_parse(&cpus, text);

	select_numbers_free(&cpus);
	return valid;
}

static void check(struct record_options *opts, const struct argp_state *state)
{
	struct schedtape_filter *filter = &opts->targets.filter;

	/* As in perf: -C alone is a target, also with a command, which then sets the duration. */
	if (opts->cpus && !targets_named(&opts->targets))
		filter->all = true;
	if (!opts->command && !filter->all && !targets_named(&opts->targets))
		argp_error(state, "what to record? Give a command, or -p, -t, -G, -a or -C");
	if (opts->json && !strcmp(opts->output, "-"))
		argp_error(state, "--json and -o - would share standard output");
	if (opts->threads && !strcmp(opts->output, "-"))
		argp_error(state, "--threads makes a directory: not with -o -");
}

static error_t parse_when(int key, char *arg, struct record_options *opts,
			  const struct argp_state *state)
{
	switch (key) {
	case 'D':
		if (!timing_parse_delay(&opts->timing, arg))
			argp_error(state, "-D %s: ms, or -1, or periods as 10-20,30-40", arg);
		break;
	case RECORD_DURATION:
		if (!timing_parse_duration(&opts->timing, arg))
			argp_error(state, "--duration %s: not a number of seconds, nor one with "
				   "ns, us, ms, s, m or h behind", arg);
		break;
	case OPT_CONTROL:
		if (!control_valid(arg))
			argp_error(state, "--control %s: fd:CTL[,ACK] or fifo:CTL[,ACK]", arg);
		opts->control = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

error_t record_options_parse_one(int key, char *arg, struct record_options *opts,
				 const struct argp_state *state)
{
	switch (key) {
	case 'C':
		if (!cpus_valid(arg))
			argp_error(state, "-C %s: not a list of CPUs", arg);
		opts->cpus = arg;
		break;
	case 'o':
		opts->output = backup_name(arg);
		break;
	case 'm':
		if (!parse_size(arg, &opts->ring_bytes))
			argp_error(state, "-m %s: not a size: pages, or a number with B, K, M or G "
				   "behind", arg);
		break;
	case OPT_OVERWRITE:
		opts->overwrite = true;
		break;
	case OPT_SYSCALLS:
		opts->syscalls = true;
		break;
	case 'k':
		if (!parse_clock(arg, &opts->clock))
			argp_error(state, "-k %s: only mono (CLOCK_MONOTONIC) and tsc", arg);
		break;
	case OPT_THREADS:
		opts->threads = arg ? arg : "";
		if (!streams_valid(opts->threads))
			argp_error(state, "--threads=%s: cpu, core, package, socket, numa, or "
				   "masks as 0-3/0:4-7/4", arg);
		break;
	case 'z':
		if (!parse_between(arg ? arg : "1", 0, 22, &opts->level))
			argp_error(state, "-z %s: a level is from 0 to 22", arg);
		break;
	case 'r':
		if (!parse_between(arg, 1, 99, &opts->realtime))
			argp_error(state, "-r %s: a priority is from 1 to 99", arg);
		break;
	case 'q':
		opts->quiet = true;
		break;
	default:
		return parse_when(key, arg, opts, state);
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->targets;
		state->child_inputs[1] = &opts->json;
		break;
	case ARGP_KEY_ARGS:
		opts->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		check(opts, state);
		break;
	default:
		return record_options_parse_one(key, arg, opts, state);
	}
	return 0;
}

void record_options_parse(struct record_options *opts, int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &targets_argp, 0, NULL, 1 },
		{ &cmd_json_argp, 0, NULL, 5 },
		{ 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "-- COMMAND [ARG...]\n-p PID,... | -t TID,... | -G CGROUP,... | -a | "
			    "-C CPUS [-- COMMAND [ARG...]]",
		.doc = "Records how a workload is scheduled: a command, until it ends, or what "
		       "runs already, for as long as a command runs if there is one. Ctrl-C ends "
		       "the recording and keeps it.",
		.children = children,
	};

	*opts = (struct record_options) {
		.output = CMD_DEFAULT_TAPE,
		.ring_bytes = 1 << 20,
		.clock = RECORD_CLOCK_ANY,
		.level = 1,
	};
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, opts);
}

void record_options_free(struct record_options *opts)
{
	targets_free(&opts->targets);
	timing_free(&opts->timing);
}

/* -- the clock ------------------------------------------------------------- */

static bool counter_is_clocksource(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/"
				   "current_clocksource";
	FILE *file = fopen(path, "re");
	char line[32] = "";
	bool is = file && fgets(line, sizeof(line), file) && !strcmp(line, "tsc\n");

	if (file)
		fclose(file);
	return is;
}

int record_options_clock(const struct record_options *opts,
			 const struct schedtape_module_info *info, uint32_t *clock)
{
	*clock = opts->clock;
	if (*clock == RECORD_CLOCK_ANY)
		*clock = info->counter_khz && counter_is_clocksource() ?
			 STAPE_CLOCK_COUNTER : STAPE_CLOCK_MONO;
	if (*clock != STAPE_CLOCK_COUNTER || info->counter_khz)
		return 0;
	out_error(NULL, "-k tsc: this machine has no counter that is fit as a clock, only mono");
	return -ENODEV;
}

/* -- CPUs ------------------------------------------------------------------ */

/* Reads the list of possible CPUs, "0-3". */
static int read_possible(char *list, size_t size)
{
	static const char path[] = "/sys/devices/system/cpu/possible";
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(list, size, file);

	if (file)
		fclose(file);
	if (!ok) {
		out_error(path, "cannot be read");
		return -EIO;
	}
	list[strcspn(list, "\n")] = '\0';
	return 0;
}

static int fill_mask(const struct select_numbers *cpus, const struct select_numbers *possible,
		     const char *possible_list, unsigned char *mask)
{
	uint32_t cpu;
	size_t i;

	for (i = 0; i < cpus->nr; i++) {
		for (cpu = cpus->ranges[i].first; cpu <= cpus->ranges[i].last; cpu++) {
			if (!select_numbers_has(possible, cpu)) {
				out_error(NULL, "-C: there is no CPU %u here, only %s", cpu,
					  possible_list);
				return -ENODEV;
			}
			mask[cpu / 8] |= 1 << cpu % 8;
		}
	}
	return 0;
}

int record_options_cpus(const struct record_options *opts, unsigned char **mask, size_t *bytes)
{
	struct select_numbers cpus = { 0 }, possible = { 0 };
	char list[1024];
	int ret;

	*mask = NULL;
	*bytes = 0;
	if (!opts->cpus)
		return 0;
	ret = read_possible(list, sizeof(list));
	if (ret)
		return ret;
	ret = select_numbers_parse(&possible, list);
	if (!ret)
		ret = select_numbers_parse(&cpus, opts->cpus);
	if (!ret) {
		/* The kernel sorts the ranges, so the last one has the highest CPU. */
		*bytes = possible.ranges[possible.nr - 1].last / 8 + 1;
		*mask = calloc(1, *bytes);
		ret = *mask ? fill_mask(&cpus, &possible, list, *mask) : -ENOMEM;
	}
	select_numbers_free(&cpus);
	select_numbers_free(&possible);
	return ret;
}
