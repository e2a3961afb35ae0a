// SPDX-License-Identifier: GPL-2.0-only
#include "common/phases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "common/clusters.h"
#include "common/input.h"
#include "common/output.h"
#include "common/units.h"

#define OPT_INTERVAL	0x7000
#define OPT_MAX_K	0x7001
#define OPT_TIME	0x7002
#define OPT_COUNTS	0x7003

#define INTERVALS	100	/* of a tape, unless --interval says how long they are */
#define INTERVAL_WEIGHT	1000	/* of a sample's interval if its event is not known */
#define MOST		10	/* phases, unless -k or --max-k says how many */

const char *phases_letter(uint32_t phase)
{
	return &"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[phase];
}

struct json_object *phases_letter_json(uint32_t phase)
{
	return phase == SCHEDTAPE_NONE ? NULL : json_object_new_string_len(phases_letter(phase), 1);
}

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "interval", OPT_INTERVAL, "TIME", 0,
	  "Length of an interval (those of a sample, or a hundredth of the recording)", 0 },
	{ "counts", OPT_COUNTS, NULL, 0, "Also compare what the sample's events have counted", 0 },
	{ NULL, 'k', "K", 0, "Find so many phases", 0 },
	{ "max-k", OPT_MAX_K, "N", 0, "Find as many phases as there are, but at most N (10)", 0 },
	{ "time", OPT_TIME, "START,STOP", 0,
	  "Only this part of the recording, as report has it", 0 },
	{ 0 }
};

static uint32_t parse_count(const char *option, const char *arg, const struct argp_state *state)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || !n || n > PHASES_MOST)
		argp_error(state, "%s: not a number from 1 to %d: '%s'", option, PHASES_MOST, arg);
	return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct phases_options *opts = state->input;

	switch (key) {
	case OPT_INTERVAL:
		if (!units_time_ns(arg, &opts->length))
			argp_error(state, "--interval: not a time with its unit: '%s'", arg);
		return 0;
	case OPT_COUNTS:
		opts->counts = true;
		return 0;
	case 'k':
		opts->k = parse_count("-k", arg, state);
		return 0;
	case OPT_MAX_K:
		opts->max_k = parse_count("--max-k", arg, state);
		return 0;
	case OPT_TIME:
		time_ranges_free(&opts->time);
		if (time_ranges_parse(&opts->time, arg) || opts->time.nr != 1)
			argp_error(state, "--time: not a START,STOP: '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (opts->k && opts->max_k)
			argp_error(state, "-k and --max-k exclude each other");
		if (opts->counts && opts->length)
			argp_error(state, "--counts is of a sample, not with --interval");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp phases_argp = { .options = options, .parser = parse };

/* -- the phases ------------------------------------------------------------ */

/* Adds an interval to its phase, which is new if none before it is in the same cluster. */
static void add_interval(struct phases *phases, const struct clusters *clusters, uint32_t *phase_of,
			 const struct point *point, uint32_t i, uint32_t number)
{
	struct interval *interval = &phases->vectors.intervals[number];
	uint32_t cluster = clusters->of[i];
	double distance = clusters_distance(point, &clusters->centres[cluster]);
	struct phase *phase;

	if (phase_of[cluster] == SCHEDTAPE_NONE)
		phase_of[cluster] = phases->nr++;
	phase = &phases->phases[phase_of[cluster]];
	interval->phase = phase_of[cluster];
	if (!phase->nr || distance < phase->distance) {
		phase->distance = distance;
		phase->nearest = number;
	}
	phase->nr++;
	phase->weight += interval->weight;
	phases->weight += interval->weight;
}

/* Finds the phases of intervals that are not all in a pause.  @points: of the @n of these. */
static int find_among(struct phases *phases, const struct phases_options *opts,
		      const struct point *points, const uint32_t *which, uint32_t n)
{
	uint32_t least = opts->k ? opts->k : 1, most = opts->max_k ? opts->max_k : MOST;
	uint32_t phase_of[PHASES_MOST], i;
	struct clusters clusters;

	if (opts->k)
		most = opts->k;
	else if (most > n)
		most = n;
	if (clusters_find(&clusters, points, n, least, most))
		return -ENOMEM;
	memset(phase_of, 0xff, sizeof(phase_of));
	for (i = 0; i < n; i++)
		add_interval(phases, &clusters, phase_of, &points[i], i, which[i]);
	clusters_free(&clusters);
	return 0;
}

static int find(struct phases *phases, const struct phases_options *opts,
		struct schedtape_error *err)
{
	struct vectors *vectors = &phases->vectors;
	struct point *points = vectors_project(vectors);
	uint32_t *which = calloc(vectors->nr, sizeof(*which)), i, n = 0;
	int rc = points && which ? 0 : -ENOMEM;

	for (i = 0; i < vectors->nr && !rc; i++) {
		vectors->intervals[i].phase = SCHEDTAPE_NONE;
		if (!vectors->intervals[i].known)
			continue;
		points[n] = points[i];
		which[n++] = i;
	}
	if (!rc && !n)
		rc = schedtape_fail(err, -ENODATA, "the session was paused all the time");
	if (!rc && opts->k > n)
		rc = schedtape_fail(err, -EINVAL,
				    "-k %u: there %s only %u interval%s: shorten them with --interval",
				    opts->k, n > 1 ? "are" : "is", n, n > 1 ? "s" : "");
	if (!rc)
		rc = find_among(phases, opts, points, which, n);
	free(which);
	free(points);
	return rc;
}

/* -- the intervals of a sample --------------------------------------------- */

/* Returns what the event has counted until an end, as far as that is known. */
static uint64_t count_at(const struct sampled *sample, size_t number)
{
	const struct sampled_end *end = &sample->ends[number];
	uint64_t interval = sample->interval ? sample->interval : INTERVAL_WEIGHT;

	return end->count == SAMPLED_NONE ? end->number * interval : end->count;
}

/* Returns how much an interval that ends there counts for, which is not nothing. */
static uint64_t weight_before(const struct sampled *sample, size_t number)
{
	uint64_t count = count_at(sample, number);
	uint64_t before = number ? count_at(sample, number - 1) : 0;

	return count > before ? count - before : 1;
}

/* Returns the end of an interval; @nr of the sample: it is cut, by --time or the tape's end. */
static size_t end_of(const struct phases *phases, const struct sampled *sample, uint32_t i)
{
	const struct interval *interval = &phases->vectors.intervals[i];
	size_t end = phases->first + i;

	if (end >= sample->nr || sample->ends[end].time != interval->end)
		return sample->nr;
	return !end || sample->ends[end - 1].time == interval->begin ? end : sample->nr;
}

/* A part of an interval counts by its time, but for no more than an interval. */
static void weigh_parts(struct phases *phases, const struct sampled *sample)
{
	struct interval *intervals = phases->vectors.intervals;
	double known = 0, weight = 0;
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < phases->vectors.nr; i++) {
		if (end_of(phases, sample, i) == sample->nr)
			continue;
		known += intervals[i].known;
		weight += intervals[i].weight;
		if (intervals[i].weight > most)
			most = intervals[i].weight;
	}
	for (i = 0; i < phases->vectors.nr && known > 0; i++) {
		if (end_of(phases, sample, i) != sample->nr)
			continue;
		intervals[i].weight = intervals[i].known / known * weight + 1;
		if (intervals[i].weight > most)
			intervals[i].weight = most;
	}
}

static void weigh_sample(struct phases *phases, const struct sampled *sample)
{
	size_t end;
	uint32_t i;

	for (i = 0; i < phases->vectors.nr; i++) {
		end = end_of(phases, sample, i);
		if (end < sample->nr)
			phases->vectors.intervals[i].weight = weight_before(sample, end);
	}
	weigh_parts(phases, sample);
}

/* Returns how often an event was counted for each of the sample's own; negative: not known. */
static double rate_of(const struct phases *phases, const struct sampled *sample, uint32_t i,
		      size_t event)
{
	size_t end = end_of(phases, sample, i);
	uint64_t count, weight;

	if (end == sample->nr)
		return -1;
	count = sample->counts[end * sample->nr_events + event];
	weight = weight_before(sample, end);
	return count == SAMPLED_NONE ? -1 : (double)count / weight;
}

/* Adds an event to all vectors.  An interval of which the count is not known is as most are. */
static int add_counts(struct phases *phases, const struct sampled *sample, size_t event)
{
	struct vectors *vectors = &phases->vectors;
	double rate, most = 0, sum = 0;
	uint32_t i, n = 0;
	int rc = 0;

	for (i = 0; i < vectors->nr; i++) {
		rate = rate_of(phases, sample, i, event);
		if (rate < 0)
			continue;
		most = rate > most ? rate : most;
		sum += rate;
		n++;
	}
	for (i = 0; i < vectors->nr && most > 0 && !rc; i++) {
		rate = rate_of(phases, sample, i, event);
		rc = vectors_add_count(vectors, i, event, (rate < 0 ? sum / n : rate) / most);
	}
	return rc;
}

static int add_all_counts(struct phases *phases, const struct sampled *sample,
			  struct schedtape_error *err)
{
	size_t event;
	int rc = 0;

	if (!sample->counts)
		return schedtape_fail(err, -EINVAL,
				      "--counts: it is no directory of sample, which has counts");
	for (event = 0; event < sample->nr_events && !rc; event++)
		rc = add_counts(phases, sample, event);
	return rc;
}

/* Cuts at the ends of the sample's intervals. */
static int cut_sample(struct phases *phases, const struct sampled *sample, uint64_t start,
		      uint64_t stop, struct schedtape_error *err)
{
	uint64_t *ends = calloc(sample->nr, sizeof(*ends));
	size_t i, n = 0, first;
	int rc;

	if (!ends)
		return -ENOMEM;
	for (i = 0; i < sample->nr; i++) {
		if (sample->ends[i].time <= start)
			phases->first = i + 1;
		else if (sample->ends[i].time < stop)
			ends[n++] = sample->ends[i].time;
	}
	first = phases->first;
	rc = vectors_cut_at(&phases->vectors, start, stop, ends, n, err);
	for (i = 0; i < phases->vectors.nr && !rc; i++)
		phases->vectors.intervals[i].number =
			first + i ? sample->ends[first + i - 1].number : 0;
	free(ends);
	return rc;
}

/* -- the tape -------------------------------------------------------------- */

/* Cuts the part of the tape that --time chooses. */
static int cut(struct phases *phases, const struct phases_options *opts,
	       const struct sampled *sample, struct schedtape_error *err)
{
	const struct schedtape_end *end = schedtape_tape_end(sample->tape);
	uint64_t start = end->start_time;
	uint64_t stop = end->stop_time > start ? end->stop_time : start + 1;

	if (opts->time.nr) {
		if (start < opts->time.ranges[0].start)
			start = opts->time.ranges[0].start;
		if (stop > opts->time.stop)
			stop = opts->time.stop;
	}
	/* Nobody knows what was counted after it. */
	if (sample->chosen && sample->nr && stop > sample->ends[sample->nr - 1].time)
		stop = sample->ends[sample->nr - 1].time;
	if (stop <= start)
		return schedtape_fail(err, -ENODATA, "--time: the %s has nothing then",
				      sample->chosen ? "sample" : "tape");
	if (sample->nr)
		return cut_sample(phases, sample, start, stop, err);
	phases->length = opts->length ? opts->length : (stop - start - 1) / INTERVALS + 1;
	return vectors_cut(&phases->vectors, start, stop, phases->length, err);
}

static int find_all(struct phases *phases, const struct phases_options *opts,
		    const struct sampled *sample, struct schedtape_timeline **timeline,
		    struct schedtape_error *err)
{
	int rc = cut(phases, opts, sample, err);

	if (!rc && opts->counts)
		rc = add_all_counts(phases, sample, err);
	if (!rc)
		rc = vectors_read(&phases->vectors, sample->tape, timeline, err);
	if (rc)
		return rc;
	if (sample->nr)
		weigh_sample(phases, sample);
	cmd_warn_damage(*timeline);
	if (selection_of_any(phases->vectors.selection) && !phases->vectors.scales[VECTORS_CPU])
		return -ENODATA;
	return find(phases, opts, err);
}

int phases_find(struct phases *phases, struct phases_options *opts,
		struct selection *selection, struct sampled *sample,
		struct schedtape_timeline **timeline)
{
	struct schedtape_error err = { "" };
	int rc;

	rc = selection_resolve(selection, sample->tape, sample->path);
	if (!rc)
		rc = selection_resolve_times(&opts->time, sample->tape, sample->path, "--time");
	if (!rc && !opts->length)
		rc = sampled_read(sample);
	if (rc)
		return rc;
	phases->vectors.selection = selection;
	rc = find_all(phases, opts, sample, timeline, &err);
	if (rc == -ENODATA && !err.text[0])
		selection_no_match(selection, sample->tape, sample->path, "task", "");
	else if (rc)
		out_error(sample->path, "%s", err.text[0] ? err.text : "not enough memory");
	return rc;
}

void phases_free(struct phases *phases)
{
	vectors_free(&phases->vectors);
}
