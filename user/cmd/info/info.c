// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape info: prints the description of a recording, without its events.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <machine/settings.h>

#include "commands.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/quotas.h"
#include "common/schedulers.h"
#include "common/table.h"
#include "tape/meta.h"
#include "tape/next.h"
#include "tape/samples.h"

#define KEY_WIDTH	16
#define RANGE_LEN	(2 * OUT_TIME_LEN + 16)

static void print_key(const char *key)
{
	char padded[64];

	/* Keys may come from a later version: "kernel_version" is "kernel version". */
	text_safe(padded, sizeof(padded), key);
	for (char *at = padded; *at; at++)
		if (*at == '_')
			*at = ' ';
	printf("%-*s : ", KEY_WIDTH, padded);
}

/* -- META ------------------------------------------------------------------ */

static void print_value(struct json_object *value)
{
	size_t i, n;

	switch (json_object_get_type(value)) {
	case json_type_string:
		text_print(stdout, json_object_get_string(value));
		return;
	case json_type_array:
		n = json_object_array_length(value);
		for (i = 0; i < n; i++) {
			if (i)
				putchar(' ');
			print_value(json_object_array_get_idx(value, i));
		}
		return;
	case json_type_double:
		printf("%.6g", json_object_get_double(value));
		return;
	case json_type_object: {
		const char *between = "";

		json_object_object_foreach(value, key, member) {
			fputs(between, stdout);
			text_print(stdout, key);
			putchar('=');
			print_value(member);
			between = ", ";
		}
		return;
	}
	default:
		fputs(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), stdout);
	}
}

static int64_t number_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : -1;
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Returns the number of different values of a key, or of a pair of keys, in an array of objects. */
static size_t count_different(struct json_object *array, const char *key, const char *second)
{
	size_t n = json_object_array_length(array), different = 0, i;
	uint64_t *values = calloc(n + 1, sizeof(*values));

	if (!values)
		return 0;
	for (i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(array, i);

		values[i] = (uint32_t)number_of(one, key);
		if (second)
			values[i] |= (uint64_t)number_of(one, second) << 32;
	}
	qsort(values, n, sizeof(*values), by_number);
	for (i = 0; i < n; i++)
		different += !i || values[i] != values[i - 1];
	free(values);
	return different;
}

static void print_topology(struct json_object *topology)
{
	printf("%zu CPUs, %zu cores, %zu packages, %zu nodes",
	       json_object_array_length(topology), count_different(topology, "core", "package"),
	       count_different(topology, "package", NULL), count_different(topology, "node", NULL));
}

/* Prints without trailing blanks, because some of these files end with one. */
static void print_trimmed(const char *text)
{
	size_t len = strlen(text);
	char *copy;

	while (len && text[len - 1] == ' ')
		len--;
	copy = strndup(text, len);
	text_print(stdout, copy ? copy : text);
	free(copy);
}

/*
 * Prints the settings that are in no folder, and the missing ones.  Settings in folders are only
 * counted, because they are many, and the same for each CPU.
 */
static void print_settings(struct json_object *meta)
{
	const char *reason, *between = "";
	struct json_object *files = schedtape_settings_files(meta, &reason);
	struct missing_settings missing;
	size_t below = 0;

	if (!files) {
		fputs("not readable: ", stdout);
		text_print(stdout, reason ? reason : "no reason is given");
		return;
	}
	json_object_object_foreach(files, name, value) {
		if (strchr(name, '/')) {
			below++;
			continue;
		}
		fputs(between, stdout);
		text_print(stdout, name);
		putchar('=');
		if (json_object_is_type(value, json_type_string))
			print_trimmed(json_object_get_string(value));
		else
			print_value(value);
		between = ", ";
	}
	if (below) {
		printf("%s%zu %sin folders, see --json", *between ? "; " : "", below,
		       *between ? "more " : "");
		between = "; ";
	}
	missing_settings_init(&missing, meta);
	if (!missing_settings_print(&missing, *between ? "; " : "") && !*between)
		fputs("none", stdout);
	missing_settings_free(&missing);
}

/* "tsc; recorded 2026-11-23 22:04:42 UTC" */
static void print_clock(struct json_object *clock)
{
	struct json_object *name, *real;
	char date[32];
	struct tm tm;
	time_t time;

	if (json_object_object_get_ex(clock, "name", &name))
		print_value(name);
	if (!json_object_object_get_ex(clock, "realtime", &real) ||
	    !json_object_is_type(real, json_type_int))
		return;
	time = json_object_get_int64(real) / 1000000000;
	if (gmtime_r(&time, &tm) && strftime(date, sizeof(date), "%F %T", &tm))
		printf("; recorded %s UTC", date);
}

/* Makes "from 1.000000 to 2.000000 s". */
static const char *range_text(char buffer[RANGE_LEN], uint64_t first, uint64_t last)
{
	char from[OUT_TIME_LEN], to[OUT_TIME_LEN];

	snprintf(buffer, RANGE_LEN, "from %s to %s s", out_seconds(from, first, 6),
		 out_seconds(to, last, 6));
	return buffer;
}

/* Prints a line for each of the tapes that the tape was made of. */
static void print_merged(struct json_object *merged)
{
	char range[RANGE_LEN];
	size_t i, n = json_object_array_length(merged);

	printf("%zu tapes", n);
	for (i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(merged, i), *why;

		putchar('\n');
		print_key("merged tape");
		fputs(range_text(range, number_of(one, "start_time"), number_of(one, "stop_time")),
		      stdout);
		if (json_object_object_get_ex(one, "trigger", &why) ||
		    json_object_object_get_ex(one, "ended_by", &why)) {
			fputs(", by ", stdout);
			print_value(why);
		}
	}
}

static void print_meta(struct json_object *meta)
{
	if (!json_object_is_type(meta, json_type_object))
		return;
	json_object_object_foreach(meta, key, value) {
		print_key(key);
		if (!strcmp(key, "topology") && json_object_is_type(value, json_type_array))
			print_topology(value);
		else if (!strcmp(key, "sched_settings"))
			print_settings(meta);
		else if (!strcmp(key, "clock") && json_object_is_type(value, json_type_object))
			print_clock(value);
		else if (!strcmp(key, "cgroups") && json_object_is_type(value, json_type_array))
			printf("%zu", json_object_array_length(value));
		else if (!strcmp(key, "merged") && json_object_is_type(value, json_type_array))
			print_merged(value);
		else
			print_value(value);
		putchar('\n');
	}
}

/* -- clocks ---------------------------------------------------------------- */

static uint64_t count_overwritten(const struct schedtape_end *end)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		events += end->cpus[i].overwritten;
	return events;
}

/* Returns the first sample in which the kernel calls the counter unstable, or NULL. */
static const struct stape_clock_sample *find_unstable(struct schedtape_tape *tape)
{
	const struct stape_clock_sample *samples;
	size_t i, n;

	samples = schedtape_tape_clocks(tape, &n);
	for (i = 0; i < n; i++)
		if (samples[i].unstable)
			return &samples[i];
	return NULL;
}

static void print_counter(struct schedtape_tape *tape)
{
	const struct stape_clock_sample *unstable = find_unstable(tape);
	char time[OUT_TIME_LEN];
	size_t n;

	if (!schedtape_tape_uses_counter(tape))
		return;
	print_key("counter");
	printf("%.3f MHz", schedtape_tape_clocks(tape, &n)->khz / 1e3);
	if (unstable)
		printf(", NOT STABLE, as the kernel found before %s",
		       out_seconds(time, unstable->mono, 6));
	putchar('\n');
}

/*
 * Prints when a clock has changed by a number of ns: what @change says of two samples.
 * @format: for the number of seconds
 */
static void print_changes(struct schedtape_tape *tape, const char *key, const char *format,
			  int64_t (*change)(const struct stape_clock_sample *from,
					    const struct stape_clock_sample *to))
{
	char from[OUT_TIME_LEN], to[OUT_TIME_LEN];
	const struct stape_clock_sample *samples;
	int64_t ns;
	size_t i, n;

	samples = schedtape_tape_clocks(tape, &n);
	for (i = 1; i < n; i++) {
		ns = change(&samples[i - 1], &samples[i]);
		if (!ns)
			continue;
		print_key(key);
		printf(format, ns / 1e9);
		printf(", between %s and %s\n", out_seconds(from, samples[i - 1].mono, 6),
		       out_seconds(to, samples[i].mono, 6));
	}
}

static int64_t slept(const struct stape_clock_sample *from, const struct stape_clock_sample *to)
{
	return schedtape_clock_sleep(from, to);
}

/* Prints what happened to the clocks. */
static void print_clock_history(struct schedtape_tape *tape)
{
	print_counter(tape);
	print_changes(tape, "machine slept", "for %.3f s", slept);
	print_changes(tape, "realtime set", "by %+.6f s", schedtape_clock_step);
}

/*
 * Adds a change between two samples to a list.
 *
 * JSON clock.realtime_steps[] of info:
 * @step_ns: By how much.
 * @after_ns: After this time.
 * @before_ns: Before this time.
 *
 * JSON clock.sleeps[] of info:
 * @slept_ns: How long.
 * @after_ns: After this time.
 * @before_ns: Before this time.
 */
static void add_step(struct json_object *list, const char *key, int64_t ns,
		     const struct stape_clock_sample *from, const struct stape_clock_sample *to)
{
	struct json_object *entry;

	if (!ns)
		return;
	entry = json_object_new_object();
	json_object_object_add(entry, key, json_object_new_int64(ns));
	out_json_add_count(entry, "after_ns", from->mono);
	out_json_add_count(entry, "before_ns", to->mono);
	json_object_array_add(list, entry);
}

static void add_steps(struct json_object *clock, const struct stape_clock_sample *samples,
		      size_t n)
{
	struct json_object *steps = json_object_new_array(), *sleeps = json_object_new_array();
	const struct stape_clock_sample *from, *to;
	size_t i;

	for (i = 1; i < n; i++) {
		from = &samples[i - 1];
		to = &samples[i];
		add_step(steps, "step_ns", schedtape_clock_step(from, to), from, to);
		add_step(sleeps, "slept_ns", slept(from, to), from, to);
	}
	json_object_object_add(clock, "realtime_steps", steps);
	json_object_object_add(clock, "sleeps", sleeps);
}

/*
 * JSON clock of info:
 * @counter: The session's clock was the CPU's counter.
 * @counter_khz: Its rate; only if clocks were sampled.
 * @unstable: The kernel found it unstable.
 * @realtime_steps: A list of times when CLOCK_REALTIME was set.
 * @sleeps: A list of times when the machine slept.
 */
static void json_clock(struct schedtape_tape *tape, struct json_object *to)
{
	struct json_object *clock = json_object_new_object();
	const struct stape_clock_sample *samples;
	size_t n;

	samples = schedtape_tape_clocks(tape, &n);
	out_json_add_count(to, "began_ns", schedtape_tape_end(tape)->began);
	out_json_add_bool(clock, "counter", schedtape_tape_uses_counter(tape));
	if (n)
		out_json_add_count(clock, "counter_khz", samples[0].khz);
	out_json_add_bool(clock, "unstable", find_unstable(tape));
	add_steps(clock, samples, n);
	json_object_object_add(to, "clock", clock);
}

/* -- other tracepoints ----------------------------------------------------- */

/* Counts the events of all tracepoints.  What cannot be read counts as none. */
static struct tape_sample_counts count_all(const struct schedtape_tape *tape)
{
	struct tape_sample_counts counts;
	int ret = tape_count_samples(tape, &counts);

	if (ret)
		out_warning(NULL, "cannot count the events of other tracepoints: %s",
			    strerror(-ret));
	return counts;
}

/* Prints how many events other tracepoints have; nothing if the tape has no such tracepoints. */
static void print_samples(struct schedtape_tape *tape)
{
	const struct schedtape_formats *formats = schedtape_tape_formats(tape);
	char number[OUT_COUNT_LEN], of[OUT_COUNT_LEN], missing[OUT_COUNT_LEN];
	struct tape_sample_counts counts;

	if (!formats->n)
		return;
	counts = count_all(tape);
	print_key("other events");
	printf("%s of %s tracepoint%s, %s lost", out_count(number, counts.samples),
	       out_count(of, formats->n), formats->n == 1 ? "" : "s",
	       out_count(missing, counts.lost));
	if (counts.dropped)
		printf("; %s dropped, of tasks that were not recorded",
		       out_count(number, counts.dropped));
	putchar('\n');
}

/*
 * JSON tracepoints[] of info:
 * @name: As "irq:irq_handler_entry".
 * @filter: The filter that each recorded event of this tracepoint matches. It is null if none was
 *	given.
 */
static struct json_object *json_tracepoint(const struct schedtape_format *format)
{
	struct json_object *object = json_object_new_object(), *filter = NULL;
	char *name;

	if (asprintf(&name, "%s:%s", format->system, format->name) >= 0) {
		json_object_object_add(object, "name", json_object_new_string(name));
		free(name);
	}
	if (format->filter)
		filter = json_object_new_string(format->filter);
	json_object_object_add(object, "filter", filter);
	return object;
}

/* Adds the other tracepoints, each with its filter, and how many events they have. */
static void json_samples(struct schedtape_tape *tape, struct json_object *root)
{
	const struct schedtape_formats *formats = schedtape_tape_formats(tape);
	struct json_object *points = json_object_new_array();
	struct tape_sample_counts counts = count_all(tape);
	size_t i;

	out_json_add_count(root, "samples", counts.samples);
	out_json_add_count(root, "samples_lost", counts.lost);
	out_json_add_count(root, "samples_dropped", counts.dropped);
	for (i = 0; i < formats->n; i++)
		json_object_array_add(points, json_tracepoint(&formats->formats[i]));
	json_object_object_add(root, "tracepoints", points);
}

/* -- the tape -------------------------------------------------------------- */

static void print_count(const char *key, uint64_t count)
{
	char text[OUT_COUNT_LEN];

	print_key(key);
	puts(out_count(text, count));
}

static void print_losses(const struct schedtape_end *end)
{
	char loss[OUT_LOSS_LEN], range[RANGE_LEN], count[OUT_COUNT_LEN], time[OUT_TIME_LEN];
	const struct schedtape_cpu *cpu;
	size_t i;

	print_count("lost", cmd_count_lost(end));
	for (i = 0; i < end->nr_cpus; i++) {
		cpu = &end->cpus[i];
		if (!cpu->lost)
			continue;
		print_key("LOST");
		puts(out_loss(loss, cpu, range_text(range, cpu->lost_first, cpu->lost_last)));
	}
	if (count_overwritten(end)) {
		print_key("overwritten");
		printf("%s events, since %s\n", out_count(count, count_overwritten(end)),
		       out_seconds(time, end->began, 6));
	}
}

/* Counts the ends of intervals.  What cannot be read counts as none. */
static uint64_t count_intervals(struct schedtape_tape *tape)
{
	const struct schedtape_event *ev;
	uint64_t n = 0;

	if (tape_rewind_descriptions(tape, NULL))
		return 0;
	/* An old tape has its descriptions among all events, and has no ends of intervals. */
	while (tape_next_sound(tape, &ev, NULL) > 0 && ev->cpu == STAPE_CPU_NONE)
		n += ev->type == SCHEDTAPE_EV_INTERVAL;
	return n;
}

static void print_tape(struct schedtape_tape *tape, const struct quotas *quotas)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint64_t events = cmd_count_events(end), intervals = count_intervals(tape);
	char start[OUT_TIME_LEN], stop[OUT_TIME_LEN], wall[OUT_TIME_LEN];
	size_t nr_tasks;

	schedtape_tape_tasks(tape, &nr_tasks);
	print_key("time");
	printf("%s s, from %s to %s\n", out_seconds(wall, end->stop_time - end->start_time, 6),
	       out_seconds(start, end->start_time, 6), out_seconds(stop, end->stop_time, 6));
	print_count("bytes", schedtape_tape_bytes(tape));
	print_count("chunks", schedtape_tape_chunks(tape));
	print_count("pages", schedtape_tape_pages(tape));
	print_count("events", events);
	/* Other events take more bytes, and are not counted here. */
	if (events && !schedtape_tape_formats(tape)->n) {
		print_key("bytes an event");
		printf("%.2f\n", (double)schedtape_tape_bytes(tape) / events);
	}
	print_count("tasks described", nr_tasks);
	if (intervals)
		print_count("interval ends", intervals);
	print_losses(end);
	print_samples(tape);
	print_clock_history(tape);
	schedulers_print(tape, print_key);
	quotas_print(quotas, end->stop_time, print_key);
	print_key("end");
	text_print(stdout, schedtape_tape_damage(tape) ? schedtape_tape_damage(tape) : "complete");
	if (end->ended_by) {
		fputs(", by ", stdout);
		text_print(stdout, end->ended_by);
	}
	putchar('\n');
}

static void print_all(struct schedtape_tape *tape, const struct quotas *quotas, const char *path)
{
	print_key("tape");
	puts(path);
	print_tape(tape, quotas);
	putchar('\n');
	print_meta(tape_meta(tape));
}

/* -- text ------------------------------------------------------------------ */

/*
 * Returns how many bytes of @text go into a line of @width cells: those before the last blank
 * that fits, or all that fit if there is no blank.
 */
static size_t line_length(const char *text, size_t len, unsigned int width)
{
	size_t at = table_text_fits(text, len, width), end = at;

	if (at == len)
		return len;
	while (end && text[end] != ' ')
		end--;
	return end ? end : at ? at : 1;
}

/* Prints one line.  If the terminal is too narrow, continues below the value. */
static void print_wrapped(const char *line, size_t len, unsigned int width)
{
	const unsigned int indent = KEY_WIDTH + 3;
	unsigned int room = width;
	size_t now;

	for (;;) {
		now = line_length(line, len, room);
		printf("%.*s\n", (int)now, line);
		line += now;
		len -= now;
		while (len && *line == ' ') {
			line++;
			len--;
		}
		if (!len)
			return;
		printf("%*s", (int)indent, "");
		room = width > indent + 20 ? width - indent : 20;
	}
}

static void print_text(struct schedtape_tape *tape, const struct quotas *quotas, const char *path)
{
	unsigned int width = table_terminal();
	FILE *terminal = stdout, *memory;
	char *text = NULL, *line, *end;
	size_t size;

	memory = width ? open_memstream(&text, &size) : NULL;
	if (memory)
		stdout = memory;
	print_all(tape, quotas, path);
	if (!memory)
		return;
	stdout = terminal;
	fclose(memory);
	for (line = text; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		print_wrapped(line, end - line, width);
	}
	free(text);
}

/* -- JSON ------------------------------------------------------------------ */

/*
 * JSON of info:
 * @tape: As in report, like the next ones.
 * @start_ns, @stop_ns:
 * @bytes: Size of the tape.
 * @chunks: Chunks, without corrupt ones.
 * @pages: Pages in them.
 * @events: Events in them.
 * @lost: Missing events.
 * @task_count: Tasks that are described apart from events.
 * @interval_ends: Ends of intervals of a sample.
 * @cpus: As in report.
 * @samples: Events of other tracepoints.
 * @samples_lost: Such events that are missing.
 * @samples_dropped: Such events that are not on the tape, because their tasks were not recorded at
 *	that moment.
 * @tracepoints: These tracepoints.
 * @ended_by: The reason why this tape ended while the recording went on: "signal", "size", "time",
 *	"order" or "error"; null if it ended with the recording.
 * @began_ns: When the recording began in any case, also in overwrite mode.
 * @clock: An object about clocks.
 * @schedulers: A list of schedulers of ordinary tasks.
 * @quotas: A list of cgroups that had a quota of CPU time during the recording.
 * @damage: Where the tape is truncated or corrupt, or null.
 * @meta: Description of the machine and the recording. It is the META record as it lies on the
 *	tape, see tape-format.rst.
 */
static void print_json(struct schedtape_tape *tape, const struct quotas *quotas, const char *path)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	const char *damage = schedtape_tape_damage(tape);
	struct json_object *root = out_json_new("info");
	size_t nr_tasks;

	schedtape_tape_tasks(tape, &nr_tasks);
	json_object_object_add(root, "tape", json_object_new_string(path));
	out_json_add_count(root, "start_ns", end->start_time);
	out_json_add_count(root, "stop_ns", end->stop_time);
	out_json_add_count(root, "bytes", schedtape_tape_bytes(tape));
	out_json_add_count(root, "chunks", schedtape_tape_chunks(tape));
	out_json_add_count(root, "pages", schedtape_tape_pages(tape));
	out_json_add_count(root, "events", cmd_count_events(end));
	out_json_add_count(root, "lost", cmd_count_lost(end));
	out_json_add_count(root, "task_count", nr_tasks);
	out_json_add_count(root, "interval_ends", count_intervals(tape));
	json_object_object_add(root, "cpus", out_json_cpus(end));
	json_samples(tape, root);
	json_clock(tape, root);
	schedulers_json(tape, root);
	quotas_json(quotas, root);
	json_object_object_add(root, "ended_by",
			       end->ended_by ? json_object_new_string(end->ended_by) : NULL);
	json_object_object_add(root, "damage", damage ? json_object_new_string(damage) : NULL);
	json_object_object_add(root, "meta", json_object_get(tape_meta(tape)));
	out_json(root, true);
}

/* -- the command ----------------------------------------------------------- */

int cmd_info(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_common_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.args_doc = "[FILE]",
		.doc = "Shows where and how a tape was recorded, and what it holds. "
		       "See schedtape-info(1).",
		.children = children,
		.parser = cmd_parse_child,
	};
	struct cmd_common common = CMD_COMMON_INIT;
	struct schedtape_tape *tape;
	struct quotas quotas;
	int status = 0;

	cmd_parse(&argp, argc, argv, 0, &common);
	tape = cmd_open_tape(common.input);
	if (!tape)
		return CMD_FAILURE;
	if (quotas_read(&quotas, tape)) {
		out_error(NULL, "not enough memory");
		status = CMD_FAILURE;
	} else if (common.json) {
		print_json(tape, &quotas, common.input);
	} else {
		print_text(tape, &quotas, common.input);
	}
	status = out_finish(status);
	quotas_free(&quotas);
	schedtape_tape_close(tape);
	return status;
}
