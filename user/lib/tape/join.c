// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes one tape of several that follow each other.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "tape/joined.h"
#include "tape/meta.h"

/* -- META and END ------------------------------------------------------------ */

static struct json_object *list_parts(const struct join_part *parts, size_t n)
{
	struct json_object *list = json_object_new_array(), *one;
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < json_object_array_length(parts[i].merged); k++) {
			one = json_object_array_get_idx(parts[i].merged, k);
			json_object_array_add(list, json_object_get(one));
		}
	return list;
}

/* META is that of the first tape. */
static int put_meta(struct join *join, struct json_object *merged, struct schedtape_error *err)
{
	struct json_object *meta = tape_copy_meta(join->tape, err);
	int ret;

	if (!meta)
		return -ENOMEM;
	if (json_object_array_length(merged) > 1) {
		json_object_object_del(meta, "trigger");
		json_object_object_add(meta, "merged", json_object_get(merged));
	}
	ret = tape_writer_json(join->writer, TAPE_META, meta, err);
	json_object_put(meta);
	return ret;
}

static int put_end(struct join *join, struct tape_join_result *result, struct schedtape_error *err)
{
	struct schedtape_cpu *cpus = calloc(join->nr_cpus + 1, sizeof(*cpus));
	struct json_object *object;
	size_t i;
	int ret;

	if (!cpus)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	join->end.nr_cpus = 0;
	for (i = 0; i < join->nr_cpus; i++) {
		if (!join->cpus[i].known)
			continue;
		cpus[join->end.nr_cpus++] = join->cpus[i].counts;
		result->events += join->cpus[i].counts.events;
		result->lost += join->cpus[i].counts.lost;
	}
	join->end.cpus = cpus;
	object = tape_end_json(&join->end);
	ret = tape_writer_json(join->writer, TAPE_END, object, err);
	json_object_put(object);
	free(cpus);
	return ret;
}

/* -- one tape ---------------------------------------------------------------- */

/*
 * Returns until when a tape is complete, by the session's clock.  A recorder that ends a tape takes
 * a sample, makes all CPUs publish their events, and takes another sample.
 */
static uint64_t moment_of(const struct schedtape_tape *tape)
{
	const struct tape_clocks *clocks = &tape->clocks;

	if (!tape->ended || clocks->nr_samples < 2)
		return tape->last;
	return clocks->samples[clocks->nr_samples - 2].counter;
}

static int begin(struct join *join, struct json_object *merged, struct schedtape_error *err)
{
	int ret;

	join->overwrite = tape_is_overwritten(join->tape);
	join->end.size = sizeof(join->end);
	join->end.start_time = join->tape->end.began;
	join->end.window_start = join->tape->window;
	ret = tape_copy_header(join->tape, TAPE_MINOR_MERGED, join->writer, err);
	return ret ? ret : put_meta(join, merged, err);
}

static void end_part(struct join *join)
{
	const struct schedtape_tape *tape = join->tape;
	uint64_t moment = moment_of(tape);

	join_chunks_end(join);
	if (moment > join->moment)
		join->moment = moment;
	if (tape->end.stop_time > join->stop)
		join->stop = tape->end.stop_time;
	join->end.stop_time = join->stop;
	if (tape->damage[0] && join->options->warn)
		join->options->warn(join->options->arg, join->part->path, tape->damage);
	join->later = true;
}

static int put_part(struct join *join, struct json_object *merged,
		    struct tape_join_result *result, struct schedtape_error *err)
{
	int ret = join->later ? 0 : begin(join, merged, err);

	if (!ret && join_chunks_begin(join))
		ret = schedtape_fail(err, -ENOMEM, "out of memory");
	if (ret)
		return ret;
	result->gaps += join->gap;
	ret = join_others(join, err);
	if (!ret)
		ret = join_chunks(join, err);
	if (!ret)
		end_part(join);
	return ret;
}

static int put_parts(struct join *join, const struct join_part *parts, size_t n,
		     struct tape_join_result *result, struct schedtape_error *err)
{
	uint64_t done = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		ret = schedtape_tape_open(parts[i].path, &join->tape, err);
		if (ret)
			break;
		join->part = &parts[i];
		ret = put_part(join, result->merged, result, err);
		snprintf(join->ended_by, sizeof(join->ended_by), "%s", join->tape->ended_by);
		schedtape_tape_close(join->tape);
		join->tape = NULL;
		done += parts[i].bytes;
		join->done = done;
	}
	if (ret)
		return ret;
	join->end.ended_by = *join->ended_by ? join->ended_by : NULL;
	return put_end(join, result, err);
}

/* -- all of them ------------------------------------------------------------- */

static int write_tape(struct join *join, const struct join_part *parts, size_t n,
		      struct tape_join_result *result, struct schedtape_error *err)
{
	int ret, closed;

	ret = put_parts(join, parts, n, result, err);
	result->bytes = schedtape_writer_bytes(join->writer);
	closed = schedtape_writer_close(join->writer, ret ? NULL : err);
	return ret ? ret : closed;
}

static int join_all(const struct join_part *parts, size_t n, const char *output,
		    const struct tape_join_options *options, struct tape_join_result *result,
		    struct schedtape_error *err)
{
	struct join join = { .options = options };
	size_t i;
	int ret;

	for (i = 0; i < n; i++)
		join.all += parts[i].bytes;
	join.pages = malloc(TAPE_MAX_RAW);
	if (!join.pages)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	ret = tape_writer_new(output, options->fd, options->level, &join.writer, err);
	if (!ret)
		ret = write_tape(&join, parts, n, result, err);
	free(join.pages);
	free(join.cpus);
	free(join.alive);
	return ret;
}

int tape_join(const char * const *paths, size_t n, const char *output,
	      const struct tape_join_options *options, struct tape_join_result *result,
	      struct schedtape_error *err)
{
	struct join_part *parts = NULL;
	int ret;

	*result = (struct tape_join_result){ 0 };
	ret = join_plan(&parts, &n, paths, err);
	if (!ret) {
		result->merged = list_parts(parts, n);
		ret = join_all(parts, n, output, options, result, err);
	}
	join_plan_free(parts, n);
	return ret;
}
