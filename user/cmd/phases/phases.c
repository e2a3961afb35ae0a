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
#include "common/phases.h"
#include "common/sheet.h"
#include "tape/json.h"

#define OPT_SIMPOINT	0x101

#define NAMES		3	/* tasks of a phase that the table names */

/**
 * struct request - the command line
 * @simpoint: --simpoint: what the names of the files begin with, or NULL
 */
struct request {
	struct cmd_common common;
	struct phases_options phases;
	struct selection selection;
	struct sheet_options sheet;
	const char *simpoint;
};

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "simpoint", OPT_SIMPOINT, "NAME", 0,
	  "Also write SimPoint's files NAME.bb, NAME.simpoints, NAME.weights", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &request->common;
		state->child_inputs[1] = &request->phases;
		state->child_inputs[2] = &request->selection;
		state->child_inputs[3] = &request->sheet;
		return 0;
	case OPT_SIMPOINT:
		request->simpoint = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- the table ------------------------------------------------------------- */

enum column { PHASE, WEIGHT, INTERVALS_OF, INTERVAL, BEGIN, END, CPU, TASKS };

/*
 * JSON phases[] of phases:
 * @phase: Its letter.
 * @weight: Its share of the recording without pauses, or of what the sample's event has counted,
 *	from 0 to 1.
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
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
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
		row[PHASE].text = strndup(phases_letter(i), 1);
		row[WEIGHT].n = sheet_share(phase->weight, phases->weight);
		row[INTERVALS_OF].n = phase->nr;
		row[INTERVAL].n = interval->number;
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
 * @interval: Its number, from 0 on.
 * @begin_ns, @end_ns: From when to when it is.
 * @phase: The letter of its phase, or null if the session was paused all the time.
 * @cpu_time_ns: CPU time of the selected tasks.
 */
static void print_json(const struct phases *phases, const char *path, struct schedtape_tape *tape,
		       const struct schedtape_timeline *timeline, const struct sheet *sheet)
{
	const struct interval *interval;
	struct json_object *object;
	uint32_t i;

	out_json_begin("phases");
	heading_json(path, tape, timeline);
	sheet_json(sheet, "phases");
	out_json_list("intervals");
	for (i = 0; i < phases->vectors.nr && out_works(); i++) {
		interval = &phases->vectors.intervals[i];
		object = json_object_new_object();
		out_json_add_count(object, "interval", interval->number);
		out_json_add_count(object, "begin_ns", interval->begin);
		out_json_add_count(object, "end_ns", interval->end);
		json_object_object_add(object, "phase", phases_letter_json(interval->phase));
		out_json_add_count(object, "cpu_time_ns", interval->sums[VECTORS_CPU]);
		out_json_element(object);
	}
	out_json_list_end();
	out_json_end();
}

#define STRIP	100		/* letters in a line */

/* Prints the letter of each interval, by time. */
static void print_strip(const struct phases *phases, const struct sampled *sample)
{
	const struct vectors *vectors = &phases->vectors;
	uint32_t i, phase;

	if (phases->length)
		printf("\nEach letter is an interval of %.3f ms:\n", out_ms(phases->length));
	else
		printf("\nEach letter is an interval of the sample%s:\n",
		       sample->chosen ? ", up to its last mark" : "");
	for (i = 0; i < vectors->nr && out_works(); i++) {
		phase = vectors->intervals[i].phase;
		putchar(phase == SCHEDTAPE_NONE ? '.' : *phases_letter(phase));
		if (i % STRIP == STRIP - 1 || i == vectors->nr - 1)
			putchar('\n');
	}
}

#define PLAIN	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_"

/* Prints a text as a word of the shell. */
static void print_word(const char *text)
{
	size_t len;

	if (*text && !text[strspn(text, PLAIN)]) {
		printf("%s", text);
		return;
	}
	putchar('\'');
	for (; *text; text += len + !!text[len]) {
		len = strcspn(text, "'");
		text_put(stdout, text, len);
		if (text[len])
			printf("'\\''");
	}
	putchar('\'');
}

/* Prints how to replay what stands for each phase. */
static void print_replays(const struct phases *phases, const char *path)
{
	char from[OUT_TIME_LEN], to[OUT_TIME_LEN];
	const struct interval *interval;
	uint32_t i;

	printf("\n");
	for (i = 0; i < phases->nr; i++) {
		interval = &phases->vectors.intervals[phases->phases[i].nearest];
		printf("schedtape replay --time=%s,%s ", out_seconds(from, interval->begin, 9),
		       out_seconds(to, interval->end, 9));
		print_word(path);
		putchar('\n');
	}
}

/* Prints the numbers of the intervals that stand for phases, but for the first: it is the start. */
static void print_numbers(const struct phases *phases)
{
	uint64_t number;
	uint32_t i, n = 0;

	printf(" --at=");
	for (i = 0; i < phases->nr; i++) {
		number = phases->vectors.intervals[phases->phases[i].nearest].number;
		if (number)
			printf("%s%" PRIu64, n++ ? "," : "", number);
	}
}

/* Returns true if a phase has an interval that does not begin with the recording. */
static bool has_numbers(const struct phases *phases)
{
	uint32_t i;

	for (i = 0; i < phases->nr; i++)
		if (phases->vectors.intervals[phases->phases[i].nearest].number)
			return true;
	return false;
}

/* Prints texts as words of the shell.  @before: what stands before the first one */
static void print_list(struct json_object *first, const char *key, const char *before,
		       const char *between)
{
	struct json_object *list;
	const char *text;
	size_t i;

	if (!json_object_object_get_ex(first, key, &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	for (i = 0; i < json_object_array_length(list); i++) {
		text = json_object_get_string(json_object_array_get_idx(list, i));
		printf("%s", i ? between : before);
		print_word(text ? text : "");
	}
}

/* Prints the name of a directory beside another one, if that has a name. */
static void print_beside(const char *path)
{
	size_t len = strlen(path);
	char *name;

	while (len && path[len - 1] == '/')
		len--;
	name = strndup(path, len);
	path = name ? strrchr(name, '/') : NULL;
	path = path ? path + 1 : name;
	if (path && *path && strcmp(path, ".") && strcmp(path, ".."))
		print_word(name);
	else
		printf("sample");
	printf("-at");
	free(name);
}

/* Prints how to sample the workload again, only where these intervals begin. */
static void print_sample(const struct phases *phases, const struct sampled *sample)
{
	uint64_t pid;

	if (phases->length || !has_numbers(phases))
		return;
	printf("\nschedtape sample");
	print_list(sample->first, "events", " --event=", ",");
	if (sample->interval)
		printf(" --interval=%" PRIu64, sample->interval);
	print_numbers(phases);
	if (sample->first) {
		printf(" -o ");
		print_beside(sample->path);
		print_list(sample->first, "command", " -- ", " ");
		if (tape_json_number(sample->first, "pid", &pid))
			printf(" -p %" PRIu64, pid);
	}
	putchar('\n');
}

/* Returns 0 or -ENOMEM. */
static int print(const struct request *request, const struct phases *phases,
		 const struct sampled *sample, const struct schedtape_timeline *timeline)
{
	struct schedtape_tape *tape = sample->tape;
	const char *path = sample->tape_path;
	struct sheet sheet;
	int rc;

	sheet_begin(&sheet, columns, &request->sheet);
	rc = fill(&sheet, phases);
	if (!rc)
		sheet_sort(&sheet);
	if (!rc && request->common.json) {
		print_json(phases, path, tape, timeline, &sheet);
	} else if (!rc) {
		heading_print(path, tape, timeline, NULL);
		sheet_print(&sheet);
		print_strip(phases, sample);
		print_replays(phases, path);
		print_sample(phases, sample);
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
		fprintf(to, "%.9f %u\n", (double)phases->phases[i].weight / phases->weight, i);
}

/* Returns 0 or -errno. */
static int write_file(const struct phases *phases, const char *name, const char *suffix,
		      void (*write)(FILE *to, const struct phases *phases),
		      struct schedtape_error *err)
{
	static const struct new_file_kind kind = { .what = "phases", .begin = "" };
	struct new_file file;
	char *path;
	int rc;

	if (asprintf(&path, "%s.%s", name, suffix) < 0)
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

static int write_files(const struct phases *phases, const char *name, struct schedtape_error *err)
{
	int rc = write_file(phases, name, "bb", write_vectors, err);

	if (!rc)
		rc = write_file(phases, name, "simpoints", write_simpoints, err);
	return rc ? rc : write_file(phases, name, "weights", write_weights, err);
}

/* -- the command ----------------------------------------------------------- */

static int run(struct request *request, struct sampled *sample)
{
	struct schedtape_timeline *timeline = NULL;
	struct schedtape_error err = { "" };
	struct phases phases = { .nr = 0 };
	int rc;

	rc = phases_find(&phases, &request->phases, &request->selection, sample, &timeline);
	if (!rc) {
		if (request->simpoint)
			rc = write_files(&phases, request->simpoint, &err);
		if (!rc)
			rc = print(request, &phases, sample, timeline);
		if (rc)
			out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
	}
	schedtape_timeline_free(timeline);
	phases_free(&phases);
	return rc;
}

/* Returns the exit status. */
static int phases_of_tape(struct request *request)
{
	struct sampled sample;
	int rc = sampled_open(&sample, request->common.input);

	if (rc)
		return CMD_FAILURE;
	rc = cmd_warn_empty(sample.tape, sample.tape_path) ? -ENODATA : run(request, &sample);
	sampled_close(&sample);
	return rc ? CMD_FAILURE : 0;
}

int cmd_phases(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &phases_argp, 0, NULL, 0 },
		{ &selection_tasks_argp, 0, NULL, 0 }, { &sheet_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE|DIR]",
		.doc = "Finds the parts of a recording that are alike, and an interval that stands "
		       "for each. See schedtape-phases(1).",
		.children = children,
	};
	struct request request = { .common = CMD_COMMON_INIT };
	int status;

	sheet_options_init(&request.sheet, columns, "phase");
	cmd_parse(&argp, argc, argv, 0, &request);
	status = phases_of_tape(&request);
	selection_free(&request.selection);
	time_ranges_free(&request.phases.time);
	return out_finish(status);
}
