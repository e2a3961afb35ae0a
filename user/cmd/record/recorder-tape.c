// SPDX-License-Identifier: GPL-2.0-only
#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/error.h"
#include "common/destination.h"
#include "common/output.h"
#include "common/past.h"
#include "common/select.h"
#include "machine/machine.h"
#include "tape/meta.h"

int recorder_failed(struct recorder *recorder, int ret, const struct schedtape_error *err)
{
	if (ret && !atomic_exchange(&recorder->said, true))
		out_error(NULL, "%s", err->text);
	return ret;
}

void recorder_missed(struct recorder *recorder, int ret)
{
	if (!recorder->failed)
		recorder->failed = ret;
}

/* -- opening --------------------------------------------------------------- */

static int out_of_memory(struct schedtape_error *err)
{
	return schedtape_fail(err, -ENOMEM, "out of memory");
}

/* Returns a random name, the same for all files of a recording. */
static struct json_object *new_name(void)
{
	unsigned char random[16];
	char text[2 * sizeof(random) + 1];
	size_t i;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return NULL;
	for (i = 0; i < sizeof(random); i++)
		sprintf(text + 2 * i, "%02x", random[i]);
	return json_object_new_string(text);
}

static struct json_object *list_mask(const unsigned char *mask, size_t bytes)
{
	char *list = cpu_list_text(mask, bytes);
	struct json_object *text = list ? json_object_new_string(list) : NULL;

	free(list);
	return text;
}

static struct json_object *describe_streams(const struct streams *streams)
{
	struct json_object *list = json_object_new_array(), *entry;
	size_t i;

	for (i = 0; i < streams->n; i++) {
		entry = json_object_new_object();
		json_object_object_add(entry, "cpus",
				       list_mask(streams->streams[i].cpus, streams->bytes));
		json_object_object_add(entry, "affinity",
				       list_mask(streams->streams[i].affinity, streams->bytes));
		json_object_array_add(list, entry);
	}
	return list;
}

/* Keeps only what a reader of this file alone needs, because there may be a thousand files. */
static struct json_object *describe_stream(struct json_object *meta, size_t number)
{
	static const char * const kept[] = { "version", "arch", "clock", "recording" };
	struct json_object *stream = json_object_new_object(), *value;
	size_t i;

	for (i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (json_object_object_get_ex(meta, kept[i], &value))
			json_object_object_add(stream, kept[i], json_object_get(value));
	json_object_object_add(stream, "stream", json_object_new_uint64(number));
	return stream;
}

static int create(const char *path, const char *name, struct json_object *meta, int level,
		  struct schedtape_writer **writer, struct schedtape_error *err)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = level };
	char *file;
	int ret;

	if (asprintf(&file, "%s/%s", path, name) < 0)
		return out_of_memory(err);
	ret = tape_writer_create(file, meta, &options, writer, err);
	free(file);
	return ret;
}

static int open_streams(struct recorder *recorder, const struct recorder_options *options,
			struct schedtape_error *err)
{
	struct json_object *meta;
	char name[32];
	size_t i;
	int ret = 0;

	for (i = 0; i < recorder->nr_streamers && !ret; i++) {
		snprintf(name, sizeof(name), "data.%zu", i);
		meta = describe_stream(options->meta, i);
		ret = create(recorder->path, name, meta, options->level,
			     &recorder->streamers[i].writer, err);
		json_object_put(meta);
	}
	return ret;
}

static int open_directory(struct recorder *recorder, const struct recorder_options *options,
			  struct schedtape_error *err)
{
	struct json_object *name = new_name();
	int ret;

	if (!name)
		return out_of_memory(err);
	json_object_object_add(options->meta, "recording", name);
	json_object_object_add(options->meta, "streams", describe_streams(options->streams));
	/* After backup_old() there can only be an empty directory, which is used as it is. */
	if (mkdir(recorder->path, 0700) && errno != EEXIST)
		return schedtape_fail(err, -errno, "%s: %s; name another directory",
				      recorder->path, strerror(errno));
	ret = create(recorder->path, "data", options->meta, options->level, &recorder->writer,
		     err);
	return ret ? ret : open_streams(recorder, options, err);
}

/* Returns true for a pipe, a device, or a terminal. */
static bool is_special(const char *path)
{
	struct stat st;

	return !(strcmp(path, "-") ? stat(path, &st) : fstat(STDOUT_FILENO, &st)) &&
	       !S_ISREG(st.st_mode);
}

/* Keeps what the META of each of several tapes has, and adds which one this is. */
static int begin_parts(struct recorder *recorder, const struct recorder_options *options,
		       struct schedtape_error *err)
{
	struct json_object *name;

	if (destination_is_stream(recorder->path)) {
		recorder->parts = NULL;
		if (!recorder->renames)
			return 0;
		return schedtape_fail(err, -EINVAL, "%s: --switch-output renames its tapes, and "
				      "this is no file", recorder->path);
	}
	name = new_name();
	if (!name)
		return out_of_memory(err);
	json_object_object_add(options->meta, "recording", name);
	recorder->meta = json_object_get(options->meta);
	return 0;
}

void recorder_tape_renew(struct recorder *recorder)
{
	if (recorder->meta)
		schedtape_machine_renew(recorder->meta, &recorder->cgroups);
}

/* Begins one of several tapes in an empty file, which stays open. */
static int begin_part(struct recorder *recorder, int fd, struct schedtape_writer **writer,
		      struct schedtape_error *err)
{
	struct schedtape_writer_options options = {
		.size = sizeof(options),
		.level = recorder->level,
	};
	int ret;

	out_json_add_count(recorder->meta, "part", recorder->number + 1);
	ret = tape_writer_create_at(fd, recorder->path, recorder->meta, &options, writer, err);
	if (!ret)
		recorder->number++;
	return ret;
}

static int create_part(struct recorder *recorder, struct schedtape_error *err)
{
	int ret, fd;

	/* So that nobody has put anything there, or a link to it. */
	fd = open(recorder->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return schedtape_fail(err, -errno, "%s: %s", recorder->path, strerror(errno));
	ret = begin_part(recorder, fd, &recorder->writer, err);
	close(fd);
	recorder->streamers[0].writer = recorder->writer;
	if (ret)
		unlink(recorder->path);
	return ret;
}

/* Makes sure that tapes can be made there. */
static int try_part(const struct recorder *recorder, struct schedtape_error *err)
{
	struct parts_file file = PARTS_NO_FILE;
	int ret = parts_create(&file, recorder->path, err);

	parts_drop(&file);
	return ret;
}

int recorder_tape_create(struct recorder *recorder, struct parts_file *file,
			 struct schedtape_writer **writer, struct schedtape_error *err)
{
	int ret = parts_create(file, recorder->path, err);

	return ret ? ret : begin_part(recorder, file->fd, writer, err);
}

int recorder_tape_begin_last(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = recorder_tape_create(recorder, &recorder->last, &recorder->writer, err);

	recorder->streamers[0].writer = recorder->writer;
	return ret;
}

/* Returns the time of CLOCK_MONOTONIC at a time of the session's clock, soon before a sample. */
static uint64_t mono_at(const struct stape_clock_sample *sample, uint64_t counter)
{
	return past_sample_mono(sample, counter < sample->counter ? counter : sample->counter);
}

int recorder_tape_next(struct recorder *recorder, uint64_t window, struct schedtape_error *err)
{
	int ret = create_part(recorder, err);

	if (ret)
		return ret;
	streamer_begin_file(&recorder->streamers[0]);
	recorder->window_start = window;
	/* Else nothing could be written since the recording began. */
	if (window)
		recorder->start_time = mono_at(&recorder->sample, window);
	recorder->sampled_bytes = 0;
	recorder->slept = 0;
	/* The first one is from before the tape's first events. */
	if (recorder->sample_before.mono)
		ret = schedtape_writer_clock(recorder->writer, &recorder->sample_before, err);
	if (!ret)
		ret = schedtape_writer_clock(recorder->writer, &recorder->sample, err);
	return ret ? ret : recorder_tape_progress(recorder, true, err);
}

int recorder_tape_open(struct recorder *recorder, const struct recorder_options *options,
		       struct schedtape_error *err)
{
	struct schedtape_writer_options writer = {
		.size = sizeof(writer),
		.level = options->level,
	};
	int ret;

	if (options->streams)
		return open_directory(recorder, options, err);
	if (options->parts) {
		ret = begin_parts(recorder, options, err);
		if (ret || recorder->renames)
			return ret ? ret : options->overwrite ? try_part(recorder, err) :
								create_part(recorder, err);
	}
	if (is_special(recorder->path) && !options->overwrite)
		recorder->live_ms = options->live_ms ? options->live_ms : RECORDER_FLUSH_MS;
	ret = destination_create(recorder->path, options->meta, &writer, &recorder->writer, err);
	recorder->streamers[0].writer = recorder->writer;
	return ret;
}

/* -- samples and the end --------------------------------------------------- */

/* Adds up for how long the machine has slept, and warns once of a counter that is no clock. */
static void look_at_clocks(struct recorder *recorder, const struct stape_clock_sample *sample)
{
	if (recorder->sample.mono)
		recorder->slept += schedtape_clock_sleep(&recorder->sample, sample);
	if (sample->unstable && !recorder->sample.unstable)
		out_warning(recorder->path, "the kernel has found the CPU's counter unstable: "
			    "times may be wrong by a millisecond or two: record with -k mono");
	recorder->sample_before = recorder->sample;
	recorder->sample = *sample;
}

int recorder_tape_sample(struct recorder *recorder, struct schedtape_error *err)
{
	struct stape_clock_sample sample;
	int ret = schedtape_session_clock(recorder->session, &sample, err);

	if (ret)
		return ret;
	look_at_clocks(recorder, &sample);
	if (recorder->past)
		past_add_sample(recorder->past, &sample);
	return 0;
}

int recorder_tape_clock(struct recorder *recorder, bool all, struct schedtape_error *err)
{
	int ret = recorder_tape_sample(recorder, err);
	size_t i;

	/* The past has the samples until a tape is written. */
	if (ret || recorder->past)
		return ret;
	ret = schedtape_writer_clock(recorder->writer, &recorder->sample, err);
	for (i = 0; i < recorder->nr_streamers && all && recorder->streams && !ret; i++)
		ret = schedtape_writer_clock(recorder->streamers[i].writer, &recorder->sample, err);
	return ret;
}

int recorder_tape_progress(struct recorder *recorder, bool begin, struct schedtape_error *err)
{
	struct schedtape_progress progress = {
		.size = sizeof(progress),
		.start_time = recorder->start_time,
		.window_start = recorder->window_start,
	};
	/* The clocks of two CPUs may differ a little: 1 ms is more than enough. */
	uint64_t margin = recorder->sample.khz;

	if (!begin && recorder->sample.counter > margin)
		progress.time = recorder->sample.counter - margin;
	return schedtape_writer_progress(recorder->writer, &progress, err);
}

/* Returns counts of all CPUs and of the descriptions, which the caller frees; or NULL. */
static struct schedtape_cpu *new_counts(const struct recorder *recorder)
{
	return calloc(schedtape_session_cpus(recorder->session) + 1, sizeof(struct schedtape_cpu));
}

void recorder_tape_count(struct recorder *recorder, const struct schedtape_end *end)
{
	size_t i;

	for (i = 0; i < end->nr_cpus; i++) {
		recorder->totals.events += end->cpus[i].events;
		recorder->totals.lost += end->cpus[i].lost;
		recorder->totals.overwritten += end->cpus[i].overwritten;
	}
}

void recorder_tape_add_totals(struct recorder *recorder)
{
	recorder->earlier.bytes += recorder->totals.bytes;
	recorder->earlier.events += recorder->totals.events;
	recorder->earlier.lost += recorder->totals.lost;
	recorder->totals = (struct recorder_totals){ 0 };
}

uint64_t recorder_tape_bytes(const struct recorder *recorder)
{
	uint64_t bytes = recorder->earlier.bytes + (recorder->unnamed ? recorder->totals.bytes : 0);
	size_t i;

	if (recorder->writer)
		bytes += schedtape_writer_bytes(recorder->writer);
	for (i = 0; i < recorder->nr_streamers && recorder->streams; i++)
		bytes += recorder->streamers[i].bytes;
	return bytes;
}

/* Writes the main file's end last, so that it proves that all other ends are there. */
static int put_ends(struct recorder *recorder, struct schedtape_end *end,
		    struct schedtape_cpu *cpus, struct schedtape_error *err)
{
	struct schedtape_end of_stream = *end;
	struct streamer *streamer;
	int ret = 0, failed = 0;
	size_t i;

	for (i = 0; i < recorder->nr_streamers; i++) {
		streamer = &recorder->streamers[i];
		of_stream.cpus = cpus + end->nr_cpus;
		of_stream.nr_cpus = streamer_count(streamer, cpus + end->nr_cpus);
		end->nr_cpus += of_stream.nr_cpus;
		if (recorder->streams && streamer->writer)
			ret = schedtape_writer_end(streamer->writer, &of_stream,
						   failed ? NULL : err);
		failed = failed ? failed : ret;
	}
	end->cpus = cpus;
	recorder_tape_count(recorder, end);
	ret = tape_writer_end(recorder->writer, end, recorder->players, failed ? NULL : err);
	return failed ? failed : ret;
}

int recorder_tape_end(struct recorder *recorder, uint64_t window_start,
		      struct schedtape_error *err)
{
	struct schedtape_session_state state = { .size = sizeof(state) };
	struct schedtape_end end = { .size = sizeof(end), .window_start = window_start };
	struct schedtape_cpu *cpus;
	int ret;

	ret = schedtape_session_get(recorder->session, &state, err);
	if (ret)
		return ret;
	cpus = new_counts(recorder);
	if (!cpus)
		return out_of_memory(err);
	end.start_time = recorder->number > 1 && !recorder->past ? recorder->start_time :
								   state.start_time;
	end.stop_time = state.stop_time;
	/* The session may have been paused before the tape began. */
	if (end.stop_time < end.start_time)
		end.stop_time = end.start_time;
	ret = put_ends(recorder, &end, cpus, err);
	free(cpus);
	return ret;
}

int recorder_tape_end_early(struct recorder *recorder, const char *ended_by, uint64_t window,
			    int failed, struct schedtape_error *err)
{
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = recorder->start_time,
		.stop_time = mono_at(&recorder->sample, window),
		.window_start = recorder->number > 1 ? recorder->window_start : 0,
		.ended_by = ended_by,
	};
	struct schedtape_cpu *cpus;
	int ret;

	cpus = new_counts(recorder);
	if (!cpus)
		return failed ? failed : out_of_memory(err);
	end.nr_cpus = streamer_count_moved(&recorder->streamers[0], cpus);
	end.cpus = cpus;
	if (end.stop_time < end.start_time)
		end.stop_time = end.start_time;
	recorder_tape_count(recorder, &end);
	ret = failed ? failed : schedtape_writer_end(recorder->writer, &end, err);
	free(cpus);
	return ret;
}

void recorder_tape_missing(struct recorder *recorder)
{
	struct schedtape_end end = { .size = sizeof(end) };
	uint64_t events = recorder->totals.events;
	struct schedtape_cpu *cpus;

	cpus = new_counts(recorder);
	if (!cpus)
		return;
	streamer_begin_file(&recorder->streamers[0]);
	end.nr_cpus = streamer_count(&recorder->streamers[0], cpus);
	end.cpus = cpus;
	recorder_tape_count(recorder, &end);
	recorder->totals.events = events;
	free(cpus);
}

/* -- closing --------------------------------------------------------------- */

static int close_writer(struct recorder *recorder, struct schedtape_writer **writer)
{
	struct schedtape_error err;
	int ret;

	if (!*writer)
		return 0;
	recorder->totals.bytes += schedtape_writer_bytes(*writer);
	ret = schedtape_writer_close(*writer, &err);
	*writer = NULL;
	/* The writer returns its first error again: print it only once. */
	if (ret && !atomic_exchange(&recorder->said, true))
		out_error(NULL, "%s", err.text);
	return ret;
}

int recorder_tape_close(struct recorder *recorder)
{
	int ret = 0, closed;
	size_t i;

	for (i = 0; i < recorder->nr_streamers && recorder->streams; i++) {
		closed = close_writer(recorder, &recorder->streamers[i].writer);
		ret = ret ? ret : closed;
	}
	closed = close_writer(recorder, &recorder->writer);
	return ret ? ret : closed;
}
