// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape estimate: what a whole run would be, from replays of a few of its intervals.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "commands.h"
#include "common/heading.h"
#include "common/options.h"
#include "common/output.h"
#include "common/phases.h"
#include "common/table.h"
#include "estimate/internal.h"
#include "tape/meta.h"

/**
 * struct estimate - the command line, and the result
 * @paths: the @nr_paths tapes, in any order
 * @whole: the tape of a replay of the whole run, or NULL
 * @timeline: of @run
 * @latencies: the estimated number of latencies, by bucket of a histogram
 * @sum: of @latencies
 * @worst: the longest latency of all parts
 * @measure: the other estimates
 */
struct estimate {
	bool json;
	struct phases_options options;
	const char **paths;
	size_t nr_paths;
	size_t room_paths;
	struct selection selection;
	struct phases phases;
	struct run run;
	struct part *whole;
	struct schedtape_timeline *timeline;
	double *latencies;
	double sum;
	uint64_t worst;
	struct measure measure;
};

/* -- options --------------------------------------------------------------- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct estimate *estimate = state->input;
	const char **paths;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &estimate->json;
		state->child_inputs[1] = &estimate->options;
		return 0;
	case ARGP_KEY_ARG:
		paths = schedtape_list_grow(estimate->paths, estimate->nr_paths,
					    &estimate->room_paths, sizeof(*paths));
		if (!paths) {
			argp_failure(state, CMD_FAILURE, 0, "out of memory");
			return 0;
		}
		estimate->paths = paths;
		paths[estimate->nr_paths++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (estimate->nr_paths < 2)
			argp_error(state, "needs the tape of the run, and tapes of replays of its "
				   "intervals");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- which tape is what ---------------------------------------------------- */

static int out_of_memory(void)
{
	out_error(NULL, "not enough memory");
	return -ENOMEM;
}

/* Only a replay that has reached its end has "players" in END. */
static int check_end(const struct part *part)
{
	if (part->played.interval || tape_end_players(part->sample.tape))
		return 0;
	out_error(part->sample.path,
		  "it does not say that the replay reached its end: that was interrupted, or failed, "
		  "or had more than 16384 players");
	return -EINVAL;
}

/* A replay at another speed, or with other CPU times, does not show what the run would be. */
static int check_speed(const struct part *part)
{
	double rate = tape_replay_rate(part->sample.tape);

	if (!part->played.interval && part->played.speed != 1) {
		out_error(part->sample.path, "it was replayed at a speed of %g, not 1",
			  part->played.speed);
		return -EINVAL;
	}
	if (!isnan(rate) && rate != 1) {
		out_error(part->sample.path,
			  "its players had to use %g times the CPU time of their tasks, not 1",
			  rate);
		return -EINVAL;
	}
	return 0;
}

/* Opens a tape of a replay, or that of the run. */
static int open_one(struct estimate *estimate, const char *path)
{
	struct run *run = &estimate->run;
	struct tape_part played;
	struct sampled sample;
	struct part *part = &run->parts[run->nr_parts];
	int rc = sampled_open(&sample, path);

	if (rc)
		return rc;
	if (tape_part_read(sample.tape, &played)) {
		*part = (struct part){ .sample = sample, .played = played };
		run->nr_parts++;
		rc = check_end(part);
		return rc ? rc : check_speed(part);
	}
	/* Later formats say which part of which tape was replayed. */
	if (json_object_object_get_ex(tape_meta(sample.tape), "replay_of", NULL)) {
		out_error(path, "it is of a replay, but does not say which part was replayed, as "
			  "tapes do from format 2.14 on: record the replay again");
		sampled_close(&sample);
		return -EINVAL;
	}
	if (run->sample.tape) {
		out_error(path, "it is of a whole run, as %s is, not of a replay",
			  run->sample.path);
		sampled_close(&sample);
		return -EINVAL;
	}
	run->sample = sample;
	return 0;
}

/* Opens all tapes, and finds the one that is of no replay. */
static int open_tapes(struct estimate *estimate)
{
	struct run *run = &estimate->run;
	size_t i;
	int rc = 0;

	run->parts = calloc(estimate->nr_paths, sizeof(*run->parts));
	if (!run->parts)
		return out_of_memory();
	for (i = 0; i < estimate->nr_paths && !rc; i++)
		rc = open_one(estimate, estimate->paths[i]);
	if (rc || run->sample.tape)
		return rc;
	out_error(NULL, "the tape of the run is missing: all %zu tapes are of replays",
		  run->nr_parts);
	return -EINVAL;
}

static int check_ids(const struct run *run)
{
	char id[TAPE_ID_LEN];
	size_t i;

	tape_id(run->sample.tape, id);
	for (i = 0; i < run->nr_parts; i++) {
		if (!strcmp(run->parts[i].played.id, id))
			continue;
		out_error(run->parts[i].sample.path,
			  "it replays another tape than %s: that of the id %s, not %s",
			  run->sample.path, run->parts[i].played.id, id);
		return -EINVAL;
	}
	return 0;
}

static const struct interval *find_interval(const struct vectors *vectors,
					    const struct tape_part *played)
{
	uint32_t i;

	for (i = 0; i < vectors->nr; i++)
		if (vectors->intervals[i].begin == played->from &&
		    vectors->intervals[i].end == played->to)
			return &vectors->intervals[i];
	return NULL;
}

/* Finds the interval that was restored: its number is that of the mark where it begins, plus 1. */
static const struct interval *find_restored(const struct phases *phases, uint64_t number)
{
	const struct vectors *vectors = &phases->vectors;
	uint32_t i;

	for (i = 0; i < vectors->nr && !phases->length; i++)
		if (vectors->intervals[i].number + 1 == number)
			return &vectors->intervals[i];
	return NULL;
}

static int say_no_interval(const struct estimate *estimate, const struct part *part)
{
	char from[OUT_TIME_LEN], to[OUT_TIME_LEN];

	if (part->played.interval) {
		out_error(part->sample.path, "it is of the sample's interval %" PRIu64
			  ", which is none of %s", part->played.interval,
			  estimate->run.sample.path);
		return -EINVAL;
	}
	out_error(part->sample.path,
		  "it replays %s to %s s, which is no interval of %s: give phases and estimate the "
		  "same options",
		  out_seconds(from, part->played.from, 9), out_seconds(to, part->played.to, 9),
		  estimate->run.sample.path);
	return -EINVAL;
}

/* Finds which interval each tape is of. */
static int find_intervals(struct estimate *estimate)
{
	const struct vectors *vectors = &estimate->phases.vectors;
	struct run *run = &estimate->run;
	struct part *part, *other;

	for (part = run->parts; part < run->parts + run->nr_parts; part++) {
		part->interval = part->played.interval ?
					 find_restored(&estimate->phases, part->played.interval) :
					 find_interval(vectors, &part->played);
		if (!part->interval &&
		    (part->played.from != run->start || part->played.to != run->stop))
			return say_no_interval(estimate, part);
		for (other = run->parts; other < part; other++) {
			if (other->interval != part->interval)
				continue;
			out_error(part->sample.path, "it replays the same %s as %s",
				  part->interval ? "interval" : "run", other->sample.path);
			return -EEXIST;
		}
		if (!part->interval)
			estimate->whole = part;
	}
	return 0;
}

/* Returns the number of a part's phase; SCHEDTAPE_NONE: the part has none, or is the whole run. */
static uint32_t phase_of(const struct part *part)
{
	return part->interval ? part->interval->phase : SCHEDTAPE_NONE;
}

/* Fails if a phase has no tape. */
static int check_phases(const struct estimate *estimate)
{
	const struct phases *phases = &estimate->phases;
	const struct run *run = &estimate->run;
	bool has[PHASES_MOST] = { false };
	char letters[PHASES_MOST + 1] = "";
	uint32_t i, phase, n = 0;

	for (i = 0; i < run->nr_parts; i++) {
		phase = phase_of(&run->parts[i]);
		if (phase != SCHEDTAPE_NONE)
			has[phase] = true;
	}
	for (i = 0; i < phases->nr; i++)
		if (!has[i])
			letters[n++] = *phases_letter(i);
	if (!n)
		return 0;
	out_error(run->sample.path,
		  "no tape is of phase%s %s: \"schedtape phases\" has the replays that are missing",
		  n > 1 ? "s" : "", letters);
	return -ENOENT;
}

/* -- the estimate ---------------------------------------------------------- */

/* Adds what a part shows, times its factor. */
static void add_part(struct estimate *estimate, const struct part *part)
{
	const double factor = part->factor;
	uint64_t counts[HISTOGRAM_BUCKETS];
	size_t i;

	estimate->measure.time += factor * part->measure.time;
	estimate->measure.cpu_time += factor * part->measure.cpu_time;
	estimate->measure.switches += factor * part->measure.switches;
	if (part->measure.latencies.worst > estimate->worst)
		estimate->worst = part->measure.latencies.worst;
	schedtape_histogram_counts(&part->measure.latencies, counts);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		estimate->latencies[i] += factor * counts[i];
		estimate->sum += factor * counts[i];
	}
}

/*
 * Adds up all parts.  Each counts by the weight of its phase, divided by the sum of the weights of
 * the phase's parts.
 */
static int multiply(struct estimate *estimate)
{
	const struct phases *phases = &estimate->phases;
	const struct run *run = &estimate->run;
	uint64_t weights[PHASES_MOST] = { 0 };
	struct part *part;
	uint32_t phase;

	estimate->latencies = calloc(HISTOGRAM_BUCKETS, sizeof(*estimate->latencies));
	if (!estimate->latencies)
		return out_of_memory();
	for (part = run->parts; part < run->parts + run->nr_parts; part++) {
		phase = phase_of(part);
		if (phase != SCHEDTAPE_NONE)
			weights[phase] += part->interval->weight;
	}
	for (part = run->parts; part < run->parts + run->nr_parts; part++) {
		phase = phase_of(part);
		if (phase == SCHEDTAPE_NONE)
			continue;
		part->factor = (double)phases->phases[phase].weight / weights[phase];
		add_part(estimate, part);
	}
	return 0;
}

static int measure(struct estimate *estimate)
{
	struct schedtape_error err = { "" };
	struct run *run = &estimate->run;
	int rc = measure_run(run, &err);
	size_t i;

	for (i = 0; i < run->nr_parts && !rc; i++) {
		rc = measure_part(&run->parts[i], estimate->timeline, &err);
		if (!rc && run->parts[i].lost)
			out_warning(run->parts[i].sample.path, "events were lost: %s",
				    &run->parts[i] == estimate->whole ?
					    "only the run time is compared with it" :
					    "the estimate is less than it should be");
	}
	if (rc)
		out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
	return rc ? rc : multiply(estimate);
}

/* -- output ---------------------------------------------------------------- */

enum unit { UNIT_S, UNIT_MS, UNIT_US, UNIT_COUNT };

/**
 * struct line - a quantity
 * @estimate, @whole: NAN: not known
 */
struct line {
	const char *title;
	const char *json;
	enum unit unit;
	double estimate;
	double whole;
};

#define LINES	6
/* Sums of many shares are not exact. */
#define ALMOST	0.999999999

/*
 * Returns the latency that a share of all estimated ones does not exceed, as
 * schedtape_histogram_quantile() does.
 */
static double latency(const struct estimate *estimate, double share)
{
	uint64_t limit;
	double sum = 0;
	unsigned int i;

	if (!(estimate->sum > 0))
		return NAN;
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		sum += estimate->latencies[i];
		if (sum >= share * estimate->sum * ALMOST)
			break;
	}
	limit = schedtape_histogram_limit(i);
	return limit < estimate->worst ? limit : estimate->worst;
}

static double latency_of(const struct measure *measure, unsigned int percent)
{
	return measure->latencies.nr ?
		       (double)schedtape_histogram_quantile(&measure->latencies, percent, 100) :
		       NAN;
}

static void fill_lines(const struct estimate *estimate, struct line lines[LINES])
{
	const struct measure *found = &estimate->measure;
	const struct measure *whole = estimate->whole ? &estimate->whole->measure :
							&estimate->run.measure;
	const struct line all[LINES] = {
		{ "run time, s", "run_time_ns", UNIT_S, found->time, whole->time },
		{ "CPU time, ms", "cpu_time_ns", UNIT_MS, found->cpu_time, whole->cpu_time },
		{ "switches", "switches", UNIT_COUNT, found->switches, whole->switches },
		{ "wake-up latency, median, us", "latency_median_ns", UNIT_US,
		  latency(estimate, 0.50), latency_of(whole, 50) },
		{ "wake-up latency, 95 %, us", "latency_p95_ns", UNIT_US,
		  latency(estimate, 0.95), latency_of(whole, 95) },
		{ "wake-up latency, 99 %, us", "latency_p99_ns", UNIT_US,
		  latency(estimate, 0.99), latency_of(whole, 99) },
	};
	size_t i;

	memcpy(lines, all, sizeof(all));
	for (i = 1; i < LINES; i++)
		if (estimate->whole ? estimate->whole->lost : estimate->run.lost)
			lines[i].whole = NAN;
}

static double error_of(const struct line *line)
{
	return line->whole > 0 ? line->estimate / line->whole - 1 : NAN;
}

static void put_amount(struct table *table, enum unit unit, double amount)
{
	if (isnan(amount))
		table_cell(table, "(not known)");
	else if (unit == UNIT_S)
		table_cell(table, "%.6f", amount / 1e9);
	else if (unit == UNIT_COUNT)
		table_cell(table, "%.0f", amount);
	else
		table_cell(table, "%.3f", amount / (unit == UNIT_MS ? 1e6 : 1e3));
}

static void print_lines(const struct line *lines, bool replayed)
{
	const struct table_column columns[] = {
		{ "what", "", TABLE_TEXT | TABLE_NEEDED },
		{ "estimate", "estimate", TABLE_NEEDED },
		{ "whole", replayed ? "whole replay" : "recorded", TABLE_NEEDED },
		{ "error", "error", TABLE_NEEDED },
		{ 0 }
	};
	char text[OUT_PERCENT_LEN];
	struct table table;
	size_t i;

	table_begin(&table, columns, NULL);
	while (table_pass(&table)) {
		for (i = 0; i < LINES; i++) {
			table_cell(&table, "%s", lines[i].title);
			put_amount(&table, lines[i].unit, lines[i].estimate);
			put_amount(&table, lines[i].unit, lines[i].whole);
			table_cell(&table, "%s", isnan(error_of(&lines[i])) ? "(not known)" :
				   out_percent(text, error_of(&lines[i])));
		}
	}
}

static void print_parts(const struct estimate *estimate)
{
	static const struct table_column columns[] = {
		{ "phase", "phase", TABLE_TEXT | TABLE_NEEDED },
		{ "weight", "weight %", TABLE_NEEDED },
		{ "interval", "interval", TABLE_NEEDED },
		{ "tape", "tape", TABLE_TEXT | TABLE_NEEDED },
		{ 0 }
	};
	const struct phases *phases = &estimate->phases;
	const struct run *run = &estimate->run;
	const struct part *part;
	struct table table;
	uint32_t phase;

	table_begin(&table, columns, NULL);
	while (table_pass(&table)) {
		for (phase = 0; phase < phases->nr; phase++) {
			for (part = run->parts; part < run->parts + run->nr_parts; part++) {
				if (phase_of(part) != phase)
					continue;
				table_cell(&table, "%c", *phases_letter(phase));
				table_cell(&table, "%.1f", 100 * part->factor *
					   part->interval->weight / phases->weight);
				table_cell(&table, "%" PRIu64, part->interval->number);
				table_cell(&table, "%s", part->sample.path);
			}
		}
	}
	putchar('\n');
}

static struct json_object *json_amount(double amount)
{
	return isnan(amount) ? NULL : json_object_new_int64(llround(amount));
}

/*
 * JSON of estimate:
 * @tapes: A list of the tapes of replays.
 * @estimates: A list of quantities.
 *
 * JSON estimates[] of estimate:
 * @quantity: Its name: "run_time_ns", "cpu_time_ns", "switches", "latency_median_ns",
 *	"latency_p95_ns" or "latency_p99_ns"; see schedtape-estimate(1).
 * @estimate: Its value, or null if the tapes do not show it.
 * @whole: Its value in the whole run, or null if that is not known.
 * @error: By how much the estimate is larger than that, as a share of it, or null.
 */
static void json_lines(const struct line *lines)
{
	struct json_object *object;
	size_t i;

	out_json_list("estimates");
	for (i = 0; i < LINES; i++) {
		object = json_object_new_object();
		json_object_object_add(object, "quantity", json_object_new_string(lines[i].json));
		json_object_object_add(object, "estimate", json_amount(lines[i].estimate));
		json_object_object_add(object, "whole", json_amount(lines[i].whole));
		out_json_add_double(object, "error", error_of(&lines[i]));
		out_json_element(object);
	}
	out_json_list_end();
}

/*
 * JSON tapes[] of estimate:
 * @tape: Its path.
 * @interval: Number of the interval, as phases has it; null if it is of a replay of the whole
 *	run, with which the estimate is compared then.
 * @phase: The letter of the interval's phase, or null.
 */
static void json_parts(const struct estimate *estimate)
{
	const struct run *run = &estimate->run;
	struct json_object *object;
	const struct part *part;

	out_json_list("tapes");
	for (part = run->parts; part < run->parts + run->nr_parts; part++) {
		object = json_object_new_object();
		json_object_object_add(object, "tape", json_object_new_string(part->sample.path));
		json_object_object_add(object, "interval", part->interval ?
				       json_object_new_uint64(part->interval->number) : NULL);
		json_object_object_add(object, "phase", phases_letter_json(phase_of(part)));
		out_json_element(object);
	}
	out_json_list_end();
}

static void print(const struct estimate *estimate)
{
	const struct sampled *sample = &estimate->run.sample;
	struct line lines[LINES];

	fill_lines(estimate, lines);
	if (estimate->json) {
		out_json_begin("estimate");
		heading_json(sample->tape_path, sample->tape, estimate->timeline);
		json_parts(estimate);
		json_lines(lines);
		out_json_end();
		return;
	}
	heading_print(sample->tape_path, sample->tape, estimate->timeline, NULL);
	print_parts(estimate);
	print_lines(lines, estimate->whole);
}

/* -- the command ----------------------------------------------------------- */

static int run(struct estimate *estimate)
{
	struct run *run = &estimate->run;
	const struct vectors *vectors = &estimate->phases.vectors;
	int rc = open_tapes(estimate);

	if (!rc)
		rc = check_ids(run);
	if (!rc)
		rc = phases_find(&estimate->phases, &estimate->options, &estimate->selection,
				 &run->sample, &estimate->timeline);
	if (rc)
		return rc;
	run->start = vectors->intervals[0].begin;
	run->stop = vectors->intervals[vectors->nr - 1].end;
	rc = find_intervals(estimate);
	if (!rc)
		rc = check_phases(estimate);
	if (!rc)
		rc = measure(estimate);
	if (!rc)
		print(estimate);
	return rc;
}

static void clean_up(struct estimate *estimate)
{
	struct run *run = &estimate->run;
	size_t i;

	for (i = 0; i < run->nr_parts; i++) {
		sampled_close(&run->parts[i].sample);
		measure_free(&run->parts[i].measure);
		free(run->parts[i].tasks);
	}
	schedtape_timeline_free(estimate->timeline);
	sampled_close(&run->sample);
	measure_free(&run->measure);
	phases_free(&estimate->phases);
	time_ranges_free(&estimate->options.time);
	free(run->parts);
	free(estimate->latencies);
	free(estimate->paths);
}

int cmd_estimate(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_json_argp, 0, NULL, 0 }, { &phases_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "FILE|DIR FILE...",
		.doc = "Estimates CPU time, switches, wake-up latencies and the time of a whole "
		       "run from replays of a few of its intervals. See schedtape-estimate(1).",
		.children = children,
	};
	struct estimate estimate = { .nr_paths = 0 };
	int rc;

	cmd_parse(&argp, argc, argv, 0, &estimate);
	rc = run(&estimate);
	clean_up(&estimate);
	return out_finish(rc ? CMD_FAILURE : 0);
}
