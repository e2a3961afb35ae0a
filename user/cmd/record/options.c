// SPDX-License-Identifier: GPL-2.0-only
#include "record/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/destination.h"
#include "common/options.h"
#include "common/output.h"
#include "common/recorders.h"
#include "common/select.h"
#include "record/internal.h"
#include "tape/meta.h"

#define OPT_CONTROL	0x4000
#define OPT_OVERWRITE	0x4002
#define OPT_THREADS	0x4003
#define OPT_SYSCALLS	0x4004
#define OPT_SWITCH	0x4005
#define OPT_MAX_FILES	0x4006
#define OPT_MAX_BYTES	0x4007
#define OPT_MAX_SIZE	0x4008
#define OPT_NAME	0x4009
#define OPT_TRIGGER	0x400a
#define OPT_DAEMON	0x4020
#define OPT_PIDFILE	0x4021
#define OPT_LOG		0x4022
#define OPT_FILTER	0x4023
#define OPT_NO_FINAL	0x4024

static const struct argp_option options[] = {
	{ "cpu", 'C', "CPUS", 0,
	  "Record only these CPUs, as 0-3,5; all tasks, if no option above names some", 2 },
	{ NULL, 0, NULL, 0, "When:", 3 },
	{ "delay", 'D', "MS", 0,
	  "Begin after MS; -1: at enable from --control; 10-20,30-40: only in these periods", 3 },
	{ "duration", RECORD_DURATION, "SEC", 0,
	  "End after SEC of recording; or 500ms, 5s, 2m, 1h, 1d", 3 },
	{ "control", OPT_CONTROL, "fd:CTL[,ACK]|fifo:CTL[,ACK]", 0,
	  "Read the commands enable, disable, snapshot, ping and stop from there, one a line", 3 },
	{ "name", OPT_NAME, "NAME", 0,
	  "Name of this recorder for \"schedtape snapshot\", pause, resume and stop", 3 },
	{ NULL, 0, NULL, 0, "How:", 4 },
	{ "output", 'o', "FILE", 0, "Name of the tape (schedtape.tape); -: standard output", 4 },
	{ "mmap-size", 'm', "SIZE", 0,
	  "Size of each CPU's ring (1M): a number of pages, or of bytes with B, K, M or G", 4 },
	{ "overwrite", OPT_OVERWRITE, NULL, 0,
	  "Let new events overwrite the oldest; write the tape at the end, and at SIGUSR1 a "
	  "snapshot, FILE.TIME; merge the snapshots at SIGUSR2", 4 },
	{ "memory", 'M', "SIZE", 0,
	  "The same, with rings of this size for all CPUs together", 4 },
	{ "no-final", OPT_NO_FINAL, NULL, 0, "In overwrite mode, write no tape at the end", 4 },
	{ "switch-output", OPT_SWITCH, "signal|SIZE|TIME", OPTION_ARG_OPTIONAL,
	  "Begin a new tape at SIGUSR2 (the default) or SIGUSR1, and at that size or after that "
	  "time; each is named FILE.TIME when it ends.  In overwrite mode: take a snapshot", 4 },
	{ "trigger", OPT_TRIGGER, "[NAME=]WHAT,...", 0,
	  "Do that also when this happens, such as latency:5ms; help: list all", 4 },
	{ "switch-max-files", OPT_MAX_FILES, "N", 0,
	  "Keep only the last N of these tapes, or snapshots", 4 },
	{ "snapshot-max-bytes", OPT_MAX_BYTES, "SIZE", 0,
	  "Keep only the last ones, which take this much together", 4 },
	{ "max-size", OPT_MAX_SIZE, "SIZE", 0, "End when so much has been written", 4 },
	{ "event", 'e', "SYSTEM:NAME,...", 0,
	  "Record these tracepoints of the kernel, too, as irq:* or syscalls:sys_enter_read; of "
	  "the same tasks, with -a also of idle CPUs", 4 },
	{ "filter", OPT_FILTER, "FILTER", 0,
	  "Only those of the last of them that match, as \"irq == 9\"", 4 },
	{ "syscalls", OPT_SYSCALLS, NULL, 0,
	  "Note which system call a task sleeps in", 4 },
	{ "threads", OPT_THREADS, "cpu|core|package|numa|MASKS", OPTION_ARG_OPTIONAL,
	  "Write a directory, with a thread for each cpu (if there is no SPEC), core, package "
	  "(or socket) or numa node, or for masks CPUS/AFFINITY:...", 4 },
	{ "clockid", 'k', "mono|tsc", 0, "The events' clock; tsc only if it is reliable", 4 },
	{ "compression-level", 'z', "LEVEL", OPTION_ARG_OPTIONAL,
	  "Level of zstd, 1 to 22 (1); 0: do not compress, as usual in overwrite mode", 4 },
	{ "realtime", 'r', "PRIO", 0,
	  "Write with this SCHED_FIFO priority (lowest nice value, not real-time)", 4 },
	{ "daemon", OPT_DAEMON, NULL, 0,
	  "Go into the background when the recording has begun", 4 },
	{ "pidfile", OPT_PIDFILE, "FILE", 0, "Write the recorder's PID there while it runs", 4 },
	{ "log", OPT_LOG, "journal|FILE", 0,
	  "Where messages go after that (the journal, if there is one)", 4 },
	{ "quiet", 'q', NULL, 0, "Print only errors", 4 },
	{ 0 },
};

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

static void check_parts(const struct record_options *opts, const struct argp_state *state)
{
	const struct parts *parts = &opts->parts;

	if (opts->threads && (opts->triggers.nr || parts->max_files || parts->max_bytes))
		argp_error(state, "--threads writes one tape: not with --%s",
			   opts->triggers.nr ? "trigger" : parts->max_files ? "switch-max-files" :
			   "snapshot-max-bytes");
	if (opts->triggers.nr && destination_is_stream(opts->output))
		argp_error(state, "--trigger makes files: not with -o %s", opts->output);
	if (parts->end == PARTS_WHOLE) {
		if (!opts->overwrite && opts->triggers.nr)
			argp_error(state, "--trigger is for --switch-output, --overwrite and -M");
		if (!opts->overwrite && (parts->max_files || parts->max_bytes))
			argp_error(state, "--%s is for --switch-output, --overwrite and -M",
				   parts->max_files ? "switch-max-files" : "snapshot-max-bytes");
		return;
	}
	if (opts->overwrite && parts->end == PARTS_SIZE)
		argp_error(state, "--switch-output=SIZE: not with --overwrite or -M, which write "
			   "nothing until a signal, an order or a time");
	if (opts->threads)
		argp_error(state, "--switch-output makes files: not with --threads, which makes a "
			   "directory");
	if (!strcmp(opts->output, "-"))
		argp_error(state, "--switch-output makes files: not with -o -");
}

/* A snapshot is FILE.TRIGGER.TIME. */
static void check_names(const struct record_options *opts, const struct argp_state *state)
{
	const char *slash = strrchr(opts->output, '/'), *file = slash ? slash + 1 : opts->output;
	const char *name;
	size_t i;

	for (i = 0; i < opts->triggers.nr && opts->overwrite; i++) {
		name = opts->triggers.list[i].name;
		if (strlen(file) + 1 + strlen(name) + PARTS_TIME_LEN > NAME_MAX)
			argp_error(state, "-o %s: with the trigger's name and the time, %s.%s.TIME "
				   "has more than %d bytes", opts->output, file, name, NAME_MAX);
	}
}

static void check_overwrite(const struct record_options *opts, const struct argp_state *state)
{
	if (opts->memory && opts->ring_bytes)
		argp_error(state, "only one of -m, the ring of each CPU, and -M, all of them");
	if (opts->max_size && opts->overwrite)
		argp_error(state, "--max-size: not with --overwrite or -M, which write at the end");
	if (opts->memory && destination_is_stream(opts->output))
		argp_error(state, "-M takes snapshots, which are files: not with -o %s; "
			   "--overwrite writes one tape there", opts->output);
	if (opts->memory && opts->threads)
		argp_error(state, "-M takes snapshots: not with --threads; --overwrite writes a "
			   "directory at the end");
	if (!opts->no_final)
		return;
	if (!opts->overwrite)
		argp_error(state, "--no-final is for --overwrite and -M");
	if (opts->threads)
		argp_error(state, "--no-final leaves snapshots only: not with --threads");
	if (destination_is_stream(opts->output))
		argp_error(state, "--no-final leaves snapshots only: not with -o %s",
			   opts->output);
}

/* Other tracepoints are on one tape, with the clock that the kernel gives to perf events. */
static void check_points(struct record_options *opts, const struct argp_state *state)
{
	if (!opts->points.n)
		return;
	if (opts->overwrite || opts->parts.end != PARTS_WHOLE)
		argp_error(state, "-e: not with --overwrite, -M or --switch-output");
	if (!strcmp(opts->output, "-"))
		argp_error(state, "-e: not with -o -: a pipe's readers would not get them");
	if (opts->clock == STAPE_CLOCK_COUNTER)
		argp_error(state, "-e: not with -k tsc: the kernel gives them mono");
}

static void check_daemon(struct record_options *opts, const struct argp_state *state)
{
	if (!opts->daemon.background) {
		if (opts->daemon.log)
			argp_error(state, "--log is for --daemon");
		return;
	}
	if (opts->command)
		argp_error(state, "--daemon: not with a command: use -p, -t, -G, -a or -C, and "
			   "--duration");
	if (opts->json || !strcmp(opts->output, "-"))
		argp_error(state, "--daemon has no standard output: not with %s",
			   opts->json ? "--json" : "-o -");
	opts->daemon.keep_files = (opts->control && !strncmp(opts->control, "fd:", 3)) ||
				  tape_writer_descriptor(opts->output) >= 0;
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
	if (opts->threads && destination_is_stream(opts->output))
		argp_error(state, "--threads makes a directory: not with -o %s", opts->output);
	check_overwrite(opts, state);
	check_points(opts, state);
	check_parts(opts, state);
	check_names(opts, state);
	check_daemon(opts, state);
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
				   "ns, us, ms, s, m, h or d behind", arg);
		break;
	case OPT_CONTROL:
		if (!control_valid(arg))
			argp_error(state, "--control %s: fd:CTL[,ACK] or fifo:CTL[,ACK]", arg);
		opts->control = arg;
		break;
	case OPT_NAME:
		if (!recorders_valid(arg) || recorders_is_pid(arg))
			argp_error(state, "--name %s: letters, digits, '-', '_' and '.', not "
				   "digits only; or the path of a socket", arg);
		opts->name = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_tapes(int key, char *arg, struct record_options *opts,
			   const struct argp_state *state)
{
	struct schedtape_error err;
	int number;

	switch (key) {
	case OPT_TRIGGER:
		if (!strcmp(arg, "help")) {
			triggers_print_help();
			if (!(state->flags & ARGP_NO_EXIT))
				exit(out_finish(0));
			break;
		}
		if (triggers_add(&opts->triggers, arg, &err))
			argp_error(state, "--trigger %s: %s", arg, err.text);
		break;
	case OPT_SWITCH:
		if (!parts_parse(&opts->parts, arg ? arg : "signal"))
			argp_error(state, "--switch-output=%s: signal, a size with B, K, M or G, "
				   "or a time with ms, s, m, h or d", arg);
		break;
	case OPT_MAX_FILES:
		if (!parse_between(arg, 1, INT_MAX, &number))
			argp_error(state, "--switch-max-files %s: not a number from 1 on", arg);
		opts->parts.max_files = number;
		break;
	case OPT_MAX_BYTES:
	case OPT_MAX_SIZE:
		if (!units_size(arg, 0, key == OPT_MAX_SIZE ? &opts->max_size :
							     &opts->parts.max_bytes))
			argp_error(state, "--%s %s: not a number with B, K, M or G behind",
				   key == OPT_MAX_SIZE ? "max-size" : "snapshot-max-bytes", arg);
		break;
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
		destination_option(&opts->output, arg, state);
		break;
	case 'm':
	case 'M':
		if (!units_size(arg, getpagesize(), key == 'm' ? &opts->ring_bytes : &opts->memory))
			argp_error(state, "-%c %s: not a size: pages, or a number with B, K, M or "
				   "G behind", key, arg);
		opts->overwrite |= key == 'M';
		break;
	case OPT_OVERWRITE:
		opts->overwrite = true;
		break;
	case OPT_NO_FINAL:
		opts->no_final = true;
		break;
	case OPT_SYSCALLS:
		opts->syscalls = true;
		break;
	case 'e':
		if (tracepoints_add(&opts->points, arg))
			argp_error(state, "-e %s: not tracepoints, as irq:* or net:netif_rx,skb:*",
				   arg);
		break;
	case OPT_FILTER:
		if (!tracepoints_filter(&opts->points, arg))
			argp_error(state, "--filter is for the -e before it");
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
	case OPT_TRIGGER:
	case OPT_SWITCH:
	case OPT_MAX_FILES:
	case OPT_MAX_BYTES:
	case OPT_MAX_SIZE:
		return parse_tapes(key, arg, opts, state);
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
	case OPT_DAEMON:
		opts->daemon.background = true;
		break;
	case OPT_PIDFILE:
		opts->daemon.pidfile = arg;
		break;
	case OPT_LOG:
		opts->daemon.log = arg;
		break;
	case ARGP_KEY_END:
		if (!opts->output)
			destination_option(&opts->output, CMD_DEFAULT_TAPE, state);
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
		.clock = RECORD_CLOCK_ANY,
		.level = -1,
	};
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, opts);
	/* A snapshot is wanted soon, and compression takes several times as long as the rest. */
	if (opts->level < 0)
		opts->level = opts->overwrite ? 0 : 1;
}

void record_options_free(struct record_options *opts)
{
	targets_free(&opts->targets);
	timing_free(&opts->timing);
	parts_free(&opts->parts);
	triggers_free(&opts->triggers);
	tracepoints_free(&opts->points);
	free(opts->output);
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

/* -- rings ----------------------------------------------------------------- */

#define RING_USUAL	((uint64_t)1 << 20)
#define RING_LEAST	((uint64_t)4 * STAPE_PAGE_SIZE)

static uint32_t count_cpus(const unsigned char *mask, size_t bytes)
{
	uint32_t n = 0;

	while (bytes--)
		n += __builtin_popcount(mask[bytes]);
	return n;
}

int record_options_rings(const struct record_options *opts, const unsigned char *mask,
			 size_t mask_bytes, const struct schedtape_module_info *info,
			 uint64_t *bytes)
{
	uint32_t cpus = mask ? count_cpus(mask, mask_bytes) : info->cpus;
	uint64_t most = (uint64_t)info->ring_pages_max * STAPE_PAGE_SIZE;

	*bytes = opts->ring_bytes ? opts->ring_bytes : RING_USUAL;
	if (!opts->memory)
		return 0;
	if (!cpus || opts->memory / cpus < RING_LEAST || opts->memory / cpus > most) {
		out_error(NULL, "-M: rings of %u CPUs take from %" PRIu64 "K to %" PRIu64 "M", cpus,
			  RING_LEAST * cpus >> 10, most * cpus >> 20);
		return -EINVAL;
	}
	/* A ring has a power of two of pages; -M is not exceeded. */
	for (*bytes = RING_LEAST; 2 * *bytes <= opts->memory / cpus; *bytes *= 2)
		;
	return 0;
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
