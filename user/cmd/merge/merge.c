// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape merge: makes one tape of several that one recorder has written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "base/list.h"
#include "commands.h"
#include "common/destination.h"
#include "common/new-tape.h"
#include "common/options.h"
#include "common/output.h"
#include "common/signals.h"
#include "tape/joining.h"

#define LEVEL	1	/* of zstd, as record has it by default */

/**
 * struct merge_options - options of merge
 * @tapes: the @n tapes
 * @output: the new tape, see destination_find(), allocated
 */
struct merge_options {
	const char **tapes;
	size_t n;
	size_t room;
	char *output;
	bool force;
	bool quiet;
	bool json;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Name of the new tape; -: standard output", 0 },
	{ "force", 'f', NULL, 0, "Replace a tape of that name, instead of renaming it", 0 },
	{ "quiet", 'q', NULL, 0, "Print only errors", 0 },
	{ 0 }
};

static void add_tape(struct merge_options *opts, const char *path, struct argp_state *state)
{
	const char **tapes = schedtape_list_grow(opts->tapes, opts->n, &opts->room,
						 sizeof(*tapes));

	if (!tapes) {
		argp_failure(state, CMD_FAILURE, 0, "out of memory");
		return;
	}
	opts->tapes = tapes;
	tapes[opts->n++] = path;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct merge_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->json;
		break;
	case ARGP_KEY_ARG:
		add_tape(opts, arg, state);
		break;
	case 'o':
		destination_option(&opts->output, arg, state);
		break;
	case 'f':
		opts->force = true;
		break;
	case 'q':
		opts->quiet = true;
		break;
	case ARGP_KEY_END:
		if (!opts->n)
			argp_error(state, "no tapes to be merged");
		if (!opts->output)
			argp_error(state, "-o FILE is needed, the name of the new tape");
		if (opts->json && opts->output && !strcmp(opts->output, "-"))
			argp_error(state, "--json and -o - would share standard output");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- output ---------------------------------------------------------------- */

static void warn(void *arg, const char *path, const char *damage)
{
	(void)arg;
	out_warning(path, "%s", damage);
}

/*
 * JSON merged[].trigger of merge:
 * @name: Name of the trigger.
 * @text: The condition that fired the trigger, as info prints it.
 * @note: The text, or the bytes, that the BPF program of the trigger wrote; or the note of
 *	"schedtape snapshot".
 * @uid: Number of the user who asked for it by a signal or by "schedtape snapshot".
 * @pid: The process that did so; 0 if it has no PID where the recorder runs.
 * @time: When it fired.
 */
static void copy_member(struct json_object *from, const char *key, struct json_object *to,
			const char *as)
{
	struct json_object *value;

	json_object_object_add(to, as, json_object_object_get_ex(from, key, &value) ?
			       json_object_get(value) : NULL);
}

/*
 * JSON merged[] of merge:
 * @part: Which one of the recorder's tapes it is, from 1 on; null for the one that was written at
 *	the end of a recording in overwrite mode.
 * @start_ns: When it begins.
 * @stop_ns: When it ends.
 * @trigger: Of a snapshot, what it was taken for, as on the tape; else null.
 * @ended_by: Why it ended, or null.
 */
static struct json_object *list_tapes(struct json_object *merged)
{
	struct json_object *list = json_object_new_array(), *one;
	size_t i, n = json_object_array_length(merged);

	for (i = 0; i < n; i++) {
		struct json_object *from = json_object_array_get_idx(merged, i);

		one = json_object_new_object();
		copy_member(from, "part", one, "part");
		copy_member(from, "start_time", one, "start_ns");
		copy_member(from, "stop_time", one, "stop_ns");
		copy_member(from, "trigger", one, "trigger");
		copy_member(from, "ended_by", one, "ended_by");
		json_object_array_add(list, one);
	}
	return list;
}

/*
 * JSON of merge:
 * @tape: Path of the new tape.
 * @bytes: Its size.
 * @events: Events on it.
 * @lost: Missing events, also those in gaps.
 * @gaps: Number of places between two tapes where events are missing.
 * @merged: The tapes, in order of time:
 */
static void print_json(const struct merge_options *opts, const struct tape_join_result *result)
{
	struct json_object *root = out_json_new("merge");

	json_object_object_add(root, "tape", json_object_new_string(opts->output));
	out_json_add_count(root, "bytes", result->bytes);
	out_json_add_count(root, "events", result->events);
	out_json_add_count(root, "lost", result->lost);
	out_json_add_count(root, "gaps", result->gaps);
	json_object_object_add(root, "merged", list_tapes(result->merged));
	out_json(root, true);
}

static void print_text(const struct merge_options *opts, const struct tape_join_result *result)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN], gaps[OUT_COUNT_LEN];

	if (opts->quiet)
		return;
	fprintf(stderr, "[ %s: wrote %.3f MB to %s: %s events, %s lost in %s gap%s ]\n",
		out_command(), result->bytes / 1e6, opts->output,
		out_count(events, result->events), out_count(lost, result->lost),
		out_count(gaps, result->gaps), result->gaps == 1 ? "" : "s");
}

/* -- merging --------------------------------------------------------------- */

static int refuse(const struct merge_options *opts, struct schedtape_error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < opts->n && !ret; i++) {
		if (!strcmp(opts->tapes[i], "-"))
			return schedtape_fail(err, -EINVAL, "merge reads each tape twice: give "
					      "files, not - for standard input");
		ret = backup_refuse(opts->tapes[i], opts->output, err);
	}
	return ret;
}

static int merge(const struct merge_options *opts, struct tape_join_result *result,
		 struct schedtape_error *err)
{
	struct copying copying;
	struct tape_join_options how = {
		.fd = -1, .level = LEVEL, .progress = copying_show, .warn = warn, .arg = &copying,
	};
	struct backup backup;
	int ret;

	ret = refuse(opts, err);
	if (!ret)
		ret = copying_begin(&copying, opts->output, opts->quiet, err);
	if (!ret)
		ret = backup_old(opts->output, &backup, err);
	if (ret)
		return ret;
	ret = tape_join(opts->tapes, opts->n, opts->output, &how, result, err);
	if (ret)
		backup_undo(&backup);
	else if (opts->force)
		backup_drop(&backup);
	else
		backup_done(&backup);
	copying_end(&copying);
	return ret;
}

int cmd_merge(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_json_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.args_doc = "FILE...",
		.doc = "Makes one tape of several that one recorder has written: of snapshots, or "
		       "of tapes that follow each other. Where events are missing between two of "
		       "them, the new tape has a loss.",
		.children = children,
		.parser = parse,
	};
	struct merge_options opts = { 0 };
	struct tape_join_result result = { 0 };
	struct schedtape_error err;
	int ret, status = 0;

	cmd_parse(&argp, argc, argv, 0, &opts);
	signals_survive_writes();
	ret = merge(&opts, &result, &err);
	if (ret && ret != -EINTR) {
		out_error(NULL, "%s", err.text);
		status = CMD_FAILURE;
	} else if (!ret && opts.json) {
		print_json(&opts, &result);
	} else if (!ret) {
		print_text(&opts, &result);
	}
	json_object_put(result.merged);
	free(opts.tapes);
	free(opts.output);
	return out_finish(status);
}
