// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape phases: which parts of a tape are alike, and which ones stand for all.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "commands.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/new-file.h"
#include "common/options.h"
#include "common/output.h"
#include "common/sheet.h"
#include "common/units.h"
#include "phases/internal.h"

#define OPT_INTERVAL	0x101
#define OPT_MAX_K	0x102
#define OPT_SIMPOINT	0x103
#define OPT_TIME	0x104

#define INTERVALS	100	/* of a tape, unless --interval says how long they are */
#define MOST		10	/* phases, unless -k or --max-k says how many */
#define NAMES		3	/* tasks of a phase that the table names */

/* A letter for each phase, in the order of ASCII, so that a table can be sorted by it. */
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#define PHASES_MOST	(sizeof(letters) - 1)

/**
 * struct phase - intervals that are alike
 * @nr: how many
 * @known: their time without pauses, ns
 * @nearest: the interval that stands for them
 * @distance: the square of its distance from their centre
 */
struct phase {
	uint32_t nr;
	uint64_t known;
	uint32_t nearest;
	double distance;
};

/**
 * struct phases - the command line, and the result
 * @length: --interval, ns; 0: not given
 * @k: -k; 0: not given
 * @max_k: --max-k; 0: not given
 * @simpoint: --simpoint: what the names of the files begin with, or NULL
 * @time: --time: one range, or none
 * @phases: @nr of them, by when they first come
 * @known: time of the tape without pauses, ns
 */
struct phases {
	struct cmd_common common;
	struct selection selection;
	struct sheet_options sheet;
	uint64_t length;
	uint32_t k;
	uint32_t max_k;
	const char *simpoint;
	struct time_ranges time;
	struct vectors vectors;
	struct phase phases[PHASES_MOST];
	uint32_t nr;
	uint64_t known;
};

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "interval", OPT_INTERVAL, "TIME", 0,
	  "Length of an interval (a hundredth of the recording)", 0 },
	{ NULL, 'k', "K", 0, "Find so many phases", 0 },
	{ "max-k", OPT_MAX_K, "N", 0, "Find as many phases as there are, but at most N (10)", 0 },
	{ "simpoint", OPT_SIMPOINT, "NAME", 0,
	  "Also write SimPoint's files NAME.bb, NAME.simpoints, NAME.weights", 0 },
	{ "time", OPT_TIME, "START,STOP", 0,
	  "Only this part of the recording, as report has it", 0 },
	{ 0 }
};

static uint32_t parse_count(const char *option, const char *arg, const struct argp_state *state)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || !n || n > PHASES_MOST)
		argp_error(state, "%s: not a number from 1 to %zu: '%s'", option, PHASES_MOST, arg);
	return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct phases *phases = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &phases->common;
		state->child_inputs[1] = &phases->selection;
		state->child_inputs[2] = &phases->sheet;
		return 0;
	case OPT_INTERVAL:
		if (!units_time_ns(arg, &phases->length))
			argp_error(state, "--interval: not a time with its unit: '%s'", arg);
		return 0;
	case 'k':
		phases->k = parse_count("-k", arg, state);
		return 0;
	case OPT_MAX_K:
		phases->max_k = parse_count("--max-k", arg, state);
		return 0;
	case OPT_SIMPOINT:
		phases->simpoint = arg;
		return 0;
	case OPT_TIME:
		time_ranges_free(&phases->time);
		if (time_ranges_parse(&phases->time, arg) || phases->time.nr != 1)
			argp_error(state, "--time: not a START,STOP: '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (phases->k && phases->max_k)
			argp_error(state, "-k and --max-k exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- the phases ------------------------------------------------------------ */

/* Adds an interval to its phase, which is new if none before it is in the same cluster. */
static void add_interval(struct phases *phases, const struct clusters *clusters, uint32_t *phase_of,
			 const struct point *point, uint32_t i, uint32_t interval)
{
	uint32_t cluster = clusters->of[i];
	double distance = clusters_distance(point, &clusters->centres[cluster]);
	struct phase *phase;

	if (phase_of[cluster] == SCHEDTAPE_NONE)
		phase_of[cluster] = phases->nr++;
	phase = &phases->phases[phase_of[cluster]];
	phases->vectors.intervals[interval].phase = phase_of[cluster];
	if (!phase->nr || distance < phase->distance) {
		phase->distance = distance;
		phase->nearest = interval;
	}
	phase->nr++;
	phase->known += phases->vectors.intervals[interval].known;
	phases->known += phases->vectors.intervals[interval].known;
}

/* Finds the phases of intervals that are not all in a pause.  @points: of the @n of these. */
static int find_among(struct phases *phases, const struct point *points, const uint32_t *which,
		      uint32_t n)
{
	uint32_t least = phases->k ? phases->k : 1, most = phases->max_k ? phases->max_k : MOST;
	uint32_t phase_of[PHASES_MOST], i;
	struct clusters clusters;

	if (phases->k)
		most = phases->k;
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

static int find_phases(struct phases *phases, struct schedtape_error *err)
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
	if (!rc && phases->k > n)
		rc = schedtape_fail(err, -EINVAL,
				    "-k %u: there are only %u intervals: shorten them with --interval",
				    phases->k, n);
	if (!rc)
		rc = find_among(phases, points, which, n);
	free(which);
	free(points);
	return rc;
}

/* -- the table ------------------------------------------------------------- */

enum column { PHASE, WEIGHT, INTERVALS_OF, INTERVAL, BEGIN, END, CPU, TASKS };

/*
 * JSON phases[] of phases:
 * @phase: Its letter.
 * @weight: Its share of the recording without pauses, from 0 to 1.
 * @intervals: Number of its intervals.
 * @interval: Number of the interval that stands for it, from 0 on.
 * @begin_ns, @end_ns: When that begins and ends.
 * @cpu_time_ns: CPU time of the selected tasks in it.
 * @tasks: Which tasks have most of the phase's CPU time.
 */
static const struct sheet_column columns[] = {
	[PHASE] = { { "phase", "phase", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		    "phase", SHEET_PROPERTY },
	[WEIGHT] = { { "weight", "weight\n%", TABLE_NEEDED }, SHEET_SHARE,
		     "weight", SHEET_SUM },
	[INTERVALS_OF] = { { "intervals", "intervals", TABLE_NEEDED }, SHEET_COUNT,
			   "intervals", SHEET_SUM },
	[INTERVAL] = { { "interval", "for it:\ninterval", TABLE_NEEDED }, SHEET_CPU,
		       "interval", SHEET_PROPERTY },
	[BEGIN] = { { "begin", "from\ns", TABLE_NEEDED }, SHEET_TIME, "begin_ns", SHEET_PROPERTY },
	[END] = { { "end", "to\ns", TABLE_NEEDED }, SHEET_TIME, "end_ns", SHEET_PROPERTY },
	[CPU] = { { "cpu", "CPU\nms", 0 }, SHEET_MS, "cpu_time_ns", SHEET_PROPERTY },
	[TASKS] = { { "tasks", "most CPU time", TABLE_TEXT }, SHEET_TEXT,
		    "tasks", SHEET_PROPERTY },
	{ .json = NULL }
};

/* Returns "cc1 61 %, as 20 %", allocated; NULL: no memory. */
static char *name_tasks(const struct vectors *vectors, uint32_t phase)
{
	uint32_t nr = vectors->words.nr, i, most, round;
	uint64_t *sums = calloc(nr + 1, sizeof(*sums)), all = 0;
	char *text = NULL, name[TEXT_NAME_LEN];
	size_t size;
	FILE *to = sums ? open_memstream(&text, &size) : NULL;

	if (!to) {
		free(sums);
		return NULL;
	}
	vectors_add_names(vectors, phase, sums);
	for (i = 0; i < nr; i++)
		all += sums[i];
	for (round = 0; round < NAMES; round++) {
		for (i = most = 0; i < nr; i++)
			if (sums[i] > sums[most])
				most = i;
		if (!nr || !sums[most])
			break;
		fprintf(to, "%s%s %.0f %%", round ? ", " : "",
			text_name(name, vectors->names[most]), 100.0 * sums[most] / all);
		sums[most] = 0;
	}
	free(sums);
	return fclose(to) ? NULL : text;
}

/* Returns 0 or -ENOMEM. */
static int fill(struct sheet *sheet, const struct phases *phases)
{
	const struct interval *interval;
	const struct phase *phase;
	union sheet_value *row;
	uint32_t i;

	for (i = 0; i < phases->nr; i++) {
		phase = &phases->phases[i];
		interval = &phases->vectors.intervals[phase->nearest];
		row = sheet_row(sheet);
		if (!row)
			return -ENOMEM;
		row[PHASE].text = strndup(&letters[i], 1);
		row[WEIGHT].n = sheet_share(phase->known, phases->known);
		row[INTERVALS_OF].n = phase->nr;
		row[INTERVAL].n = phase->nearest;
		row[BEGIN].n = interval->begin;
		row[END].n = interval->end;
		row[CPU].n = interval->sums[VECTORS_CPU];
		row[TASKS].text = name_tasks(&phases->vectors, i);
		if (!row[PHASE].text || !row[TASKS].text)
			return -ENOMEM;
	}
	return 0;
}

/* -- output ---------------------------------------------------------------- */

/*
 * JSON of phases:
 * @phases: A list of phases, by when they first come.
 * @intervals: A list of all intervals.
 *
 * JSON intervals[] of phases:
 * @begin_ns, @end_ns: From when to when it is.
 * @phase: The letter of its phase, or null if the session was paused all the time.
 * @cpu_time_ns: CPU time of the selected tasks.
 */
static void print_json(const struct phases *phases, struct schedtape_tape *tape,
		       const struct schedtape_timeline *timeline, const struct sheet *sheet)
{
	const struct interval *interval;
	struct json_object *object;
	uint32_t i;

	out_json_begin("phases");
	heading_json(phases->common.input, tape, timeline);
	sheet_json(sheet, "phases");
	out_json_list("intervals");
	for (i = 0; i < phases->vectors.nr && out_works(); i++) {
		interval = &phases->vectors.intervals[i];
		object = json_object_new_object();
		out_json_add_count(object, "begin_ns", interval->begin);
		out_json_add_count(object, "end_ns", interval->end);
		json_object_object_add(object, "phase", interval->phase == SCHEDTAPE_NONE ? NULL :
				       json_object_new_string_len(&letters[interval->phase], 1));
		out_json_add_count(object, "cpu_time_ns", interval->sums[VECTORS_CPU]);
		out_json_element(object);
	}
	out_json_list_end();
	out_json_end();
}

#define STRIP	100		/* letters in a line */

/* Prints the letter of each interval, by time. */
static void print_strip(const struct vectors *vectors)
{
	uint32_t i, phase;

	printf("\nEach letter is an interval of %.3f ms:\n", out_ms(vectors->length));
	for (i = 0; i < vectors->nr && out_works(); i++) {
		phase = vectors->intervals[i].phase;
		putchar(phase == SCHEDTAPE_NONE ? '.' : letters[phase]);
		if (i % STRIP == STRIP - 1 || i == vectors->nr - 1)
			putchar('\n');
	}
}

#define PLAIN	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_"

/* Prints a path as a word of the shell. */
static void print_word(const char *path)
{
	if (!path[strspn(path, PLAIN)]) {
		printf("%s\n", path);
		return;
	}
	putchar('\'');
	for (; *path; path++)
		printf(*path == '\'' ? "'\\%c'" : "%c", *path);
	printf("'\n");
}

/* Prints how to replay what stands for each phase. */
static void print_replays(const struct phases *phases)
{
	char from[OUT_TIME_LEN], to[OUT_TIME_LEN];
	const struct interval *interval;
	uint32_t i;

	printf("\n");
	for (i = 0; i < phases->nr; i++) {
		interval = &phases->vectors.intervals[phases->phases[i].nearest];
		printf("schedtape replay --time=%s,%s ", out_seconds(from, interval->begin, 9),
		       out_seconds(to, interval->end, 9));
		print_word(phases->common.input);
	}
}

/* Returns 0 or -ENOMEM. */
static int print(struct phases *phases, struct schedtape_tape *tape,
		 const struct schedtape_timeline *timeline)
{
	struct sheet sheet;
	int rc;

	sheet_begin(&sheet, columns, &phases->sheet);
	rc = fill(&sheet, phases);
	if (!rc)
		sheet_sort(&sheet);
	if (!rc && phases->common.json) {
		print_json(phases, tape, timeline, &sheet);
	} else if (!rc) {
		heading_print(phases->common.input, tape, timeline, NULL);
		sheet_print(&sheet);
		print_strip(&phases->vectors);
		print_replays(phases);
	}
	sheet_free(&sheet);
	return rc;
}

/* -- SimPoint's files ------------------------------------------------------ */

/**
 * struct bb - a file of vectors, in which a line such as "T:1:25 :7:3" has dimensions and counts
 * @interval: the one whose line is written; SCHEDTAPE_NONE: none is yet
 */
struct bb {
	FILE *to;
	uint32_t interval;
};

static void put_number(void *arg, uint32_t interval, uint32_t dim, double value)
{
	struct bb *bb = arg;

	if (interval != bb->interval)
		fputs(bb->interval == SCHEDTAPE_NONE ? "T" : "\nT", bb->to);
	bb->interval = interval;
	if (lround(value * 1e6))
		fprintf(bb->to, ":%u:%ld ", dim + 1, lround(value * 1e6));
}

static void write_vectors(FILE *to, const struct phases *phases)
{
	struct bb bb = { .to = to, .interval = SCHEDTAPE_NONE };

	vectors_each(&phases->vectors, put_number, &bb);
	fputc('\n', to);
}

static void write_simpoints(FILE *to, const struct phases *phases)
{
	uint32_t i;

	for (i = 0; i < phases->nr; i++)
		fprintf(to, "%u %u\n", phases->phases[i].nearest, i);
}

static void write_weights(FILE *to, const struct phases *phases)
{
	uint32_t i;

	for (i = 0; i < phases->nr; i++)
		fprintf(to, "%.9f %u\n", (double)phases->phases[i].known / phases->known, i);
}

/* Returns 0 or -errno. */
static int write_file(const struct phases *phases, const char *suffix,
		      void (*write)(FILE *to, const struct phases *phases),
		      struct schedtape_error *err)
{
	static const struct new_file_kind kind = { .what = "phases", .begin = "" };
	struct new_file file;
	char *path;
	int rc;

	if (asprintf(&path, "%s.%s", phases->simpoint, suffix) < 0)
		return -ENOMEM;
	rc = new_file_open(&file, path, &kind, err);
	if (!rc)
		write(file.to, phases);
	rc = new_file_close(&file, rc);
	if (rc && !err->text[0])
		schedtape_fail(err, rc, "%s: %s", path, strerror(-rc));
	free(path);
	return rc;
}

static int write_files(const struct phases *phases, struct schedtape_error *err)
{
	int rc = write_file(phases, "bb", write_vectors, err);

	if (!rc)
		rc = write_file(phases, "simpoints", write_simpoints, err);
	return rc ? rc : write_file(phases, "weights", write_weights, err);
}

/* -- the command ----------------------------------------------------------- */

/* Returns the exit status. */
static int run(struct phases *phases, struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint64_t start = end->start_time;
	uint64_t stop = end->stop_time > start ? end->stop_time : start + 1;
	struct schedtape_timeline *timeline = NULL;
	struct schedtape_error err = { "" };
	int rc;

	if (phases->time.nr) {
		if (start < phases->time.ranges[0].start)
			start = phases->time.ranges[0].start;
		if (stop > phases->time.stop)
			stop = phases->time.stop;
	}
	if (stop <= start) {
		out_error(phases->common.input, "--time: the tape has nothing then");
		return CMD_FAILURE;
	}
	phases->vectors.selection = &phases->selection;
	phases->vectors.length = phases->length ? phases->length :
						  (stop - start - 1) / INTERVALS + 1;
	rc = vectors_read(&phases->vectors, tape, start, stop, &timeline, &err);
	if (!rc) {
		cmd_warn_damage(timeline);
		rc = selection_of_any(&phases->selection) && !phases->vectors.scales[VECTORS_CPU] ?
			     -ENODATA : find_phases(phases, &err);
	}
	if (!rc && phases->simpoint)
		rc = write_files(phases, &err);
	if (!rc)
		rc = print(phases, tape, timeline);
	if (rc == -ENODATA && !err.text[0])
		selection_no_match(&phases->selection, tape, phases->common.input, "task", "");
	else if (rc)
		out_error(phases->common.input, "%s", err.text[0] ? err.text : "not enough memory");
	schedtape_timeline_free(timeline);
	vectors_free(&phases->vectors);
	return rc ? CMD_FAILURE : 0;
}

static int phases_of_tape(struct phases *phases)
{
	const char *path = phases->common.input;
	struct schedtape_tape *tape = cmd_open_tape(path);
	int status = CMD_FAILURE;

	if (!tape)
		return CMD_FAILURE;
	if (!cmd_warn_empty(tape, path) && !selection_resolve(&phases->selection, tape, path) &&
	    !selection_resolve_times(&phases->time, tape, path, "--time"))
		status = run(phases, tape);
	cmd_close_tape(tape, path);
	return status;
}

int cmd_phases(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_tasks_argp, 0, NULL, 0 },
		{ &sheet_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Finds the parts of a recording that are alike, and an interval that stands "
		       "for each. See schedtape-phases(1).",
		.children = children,
	};
	struct phases phases = { .common = CMD_COMMON_INIT };
	int status;

	sheet_options_init(&phases.sheet, columns, "phase");
	cmd_parse(&argp, argc, argv, 0, &phases);
	status = phases_of_tape(&phases);
	selection_free(&phases.selection);
	time_ranges_free(&phases.time);
	return out_finish(status);
}
