// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each CPU's events come in pages, and each page tells what it needs of the earlier ones.  So a
 * tape can end between any two pages of a CPU: the recorder makes all CPUs begin a new page, and
 * moves those from before that to the tape that ends.  The next one is complete from the latest
 * event there on.  Its first pages may have events from a little before that, which readers leave
 * out.
 *
 * The tasks are described before that and again when the next tape begins, so that also a task that
 * ends in between has a name there.
 */
#include "record/internal.h"
#include "record/recorder.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "common/output.h"

#define CALM_MS		2000	/* without an error: then tapes can be written again */

static const struct recorder_totals none;

/* Prints the first error since tapes could be written, and remembers it. */
static void fail(struct recorder *recorder, int ret, const struct schedtape_error *err)
{
	recorder_failed(recorder, ret, err);
	recorder_missed(recorder, ret);
	recorder->trouble = now_ms();
}

/* -- the end of a tape ----------------------------------------------------- */

static int sample_around_flush(struct recorder *recorder, uint64_t *before,
			       struct schedtape_error *err)
{
	int ret = recorder_tape_clock(recorder, false, err);

	*before = recorder->sample.counter;
	if (!ret)
		ret = schedtape_session_flush(recorder->session, err);
	return ret ? ret : recorder_tape_clock(recorder, false, err);
}

/*
 * Writes all until now, and the tape's end.  @failed: 0; -errno: something could not be written.
 * Returns 0; -errno: the tape is cut short.
 */
static int end_tape(struct recorder *recorder, const char *cause, int failed,
		    struct schedtape_error *err)
{
	struct streamer *streamer = &recorder->streamers[0];
	uint64_t before = 0;
	int ret = failed;

	recorder_tape_renew(recorder);
	/* Without memory for them, those that end soon have no names on the next tape. */
	if (!ret)
		schedtape_session_tasks(recorder->session, &recorder->tasks, &recorder->nr_tasks,
					NULL);
	if (!ret)
		ret = sample_around_flush(recorder, &before, err);
	if (!ret)
		ret = streamer_drain_until(streamer, recorder->sample.counter);
	/* The next tape begins with samples from now. */
	if (ret) {
		recorder_tape_sample(recorder, NULL);
		recorder_tape_sample(recorder, NULL);
	}
	/*
	 * Pages that are still in the rings go to the next tape.  It begins at the latest event
	 * on this tape, but after a flush not before the sample that came before the flush.
	 */
	recorder->next_window = recorder->window_start;
	if (streamer->end > recorder->next_window)
		recorder->next_window = streamer->end;
	if (!ret && before > recorder->next_window)
		recorder->next_window = before;
	if (!ret)
		ret = looks_end(recorder, err);
	return recorder_tape_end_early(recorder, cause, recorder->next_window, ret, err);
}

/* Removes what has been written of a tape that is of no use. */
static void drop_tape(struct recorder *recorder)
{
	recorder_tape_close(recorder);
	recorder->totals = none;
	recorder->unnamed = false;
	recorder->number--;
	unlink(recorder->path);
}

/* Returns true if a file is gone, but not its folder. */
static bool was_removed(const char *path)
{
	char *copy = strdup(path);
	bool is = copy && access(path, F_OK) && !access(dirname(copy), W_OK);

	free(copy);
	return is;
}

/* Gives the tape that has ended its name, and says so.  Returns 0 or -errno. */
static int name_tape(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = parts_name(recorder->parts, recorder->path, recorder->totals.bytes, err);

	recorder->unnamed = ret;
	if (ret == -ENOENT && was_removed(recorder->path)) {
		schedtape_fail(err, ret, "%s: was removed, and what was recorded with it",
			       recorder->path);
		fail(recorder, ret, err);
		recorder->unnamed = false;
		recorder->totals = none;
		return 0;
	}
	if (ret)
		return ret;
	recorder->ended = parts_last(recorder->parts);
	result_say_early(recorder, recorder->ended);
	recorder_tape_add_totals(recorder);
	return 0;
}

/* -- the beginning of the next one ----------------------------------------- */

/* Writes the tasks that there were when the last tape ended, and those that there are. */
static int put_tasks(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = 0;

	if (recorder->tasks)
		ret = schedtape_writer_tasks(recorder->writer, recorder->tasks, recorder->nr_tasks,
					     err);
	free(recorder->tasks);
	recorder->tasks = NULL;
	return ret ? ret : recorder_describe_tasks(recorder);
}

static int begin_tape(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = recorder_tape_next(recorder, recorder->next_window, err);

	if (!ret)
		ret = looks_next(recorder, err);
	if (!ret)
		ret = put_tasks(recorder, err);
	if (ret)
		return ret;
	recorder->begun_bytes = schedtape_writer_bytes(recorder->writer);
	parts_begin(recorder->parts);
	return 0;
}

void next_tape_begin(struct recorder *recorder)
{
	struct schedtape_error err = { "" };
	int ret = recorder->unnamed ? name_tape(recorder, &err) : 0;

	if (!ret)
		ret = begin_tape(recorder, &err);
	if (!ret) {
		/* Late, because to remove a large file may take a while. */
		parts_prune(recorder->parts);
		return;
	}
	fail(recorder, ret, &err);
	if (recorder->writer)
		drop_tape(recorder);
}

static void end_and_begin(struct recorder *recorder, const char *cause, int failed)
{
	struct schedtape_error err = { "" };
	int ret, closed;

	ret = end_tape(recorder, cause, failed, &err);
	if (ret)
		fail(recorder, ret, &err);
	closed = recorder_tape_close(recorder);
	if (closed && !ret)
		fail(recorder, closed, &err);
	recorder->unnamed = true;
	/* After an error, next_tape_tick() begins the next one a little later. */
	if (!ret)
		next_tape_begin(recorder);
	else if (!recorder->totals.events)
		drop_tape(recorder);
}

const char *next_tape(struct recorder *recorder, const struct cause *cause)
{
	const char *tape;

	/* What is written to a pipe has no snapshots. */
	if (!recorder->parts)
		return NULL;
	if (recorder->past) {
		tape = snapshot_take(recorder, cause);
	} else {
		recorder->ended = NULL;
		if (recorder->writer)
			end_and_begin(recorder, cause->name, 0);
		tape = recorder->ended;
	}
	if (tape) {
		recorder->cut.count++;
		snprintf(recorder->cut.name, sizeof(recorder->cut.name), "%s", cause->name);
		recorder->cut.time = cause->time;
	}
	return tape;
}

const char *next_tape_now(struct recorder *recorder, const char *name)
{
	struct cause cause = { .name = name, .time = schedtape_now() };

	return next_tape(recorder, &cause);
}

int next_tape_if(struct recorder *recorder, int failed)
{
	if (recorder->past) {
		recorder_missed(recorder, failed);
		return 0;
	}
	if (!failed || !recorder->renames)
		return failed;
	if (recorder->writer)
		end_and_begin(recorder, "error", failed);
	return 0;
}

static bool is_due(const struct recorder *recorder)
{
	uint64_t bytes = 0;

	if (!recorder->past)
		bytes = schedtape_writer_bytes(recorder->writer) - recorder->begun_bytes;
	return parts_due(recorder->parts, bytes);
}

/* The time to the next one counts from the end of the last one, however long that took. */
static void snapshot_if_due(struct recorder *recorder)
{
	if (!recorder->renames || !is_due(recorder))
		return;
	next_tape_now(recorder, "time");
	parts_begin(recorder->parts);
}

int next_tape_tick(struct recorder *recorder)
{
	int ret;

	if (recorder->past) {
		ret = recorder_tick(recorder);
		snapshot_if_due(recorder);
		return ret;
	}
	if (!recorder->writer) {
		if (now_ms() - recorder->trouble >= RECORDER_FLUSH_MS)
			next_tape_begin(recorder);
		return 0;
	}
	ret = next_tape_if(recorder, recorder_tick(recorder));
	if (ret || !recorder->renames || !recorder->writer)
		return ret;
	if (now_ms() - recorder->trouble > CALM_MS)
		recorder->said = false;
	if (is_due(recorder))
		next_tape_now(recorder, recorder->parts->end == PARTS_SIZE ? "size" : "time");
	return 0;
}

int next_tape_wait(const struct recorder *recorder)
{
	/* Another tape is begun as soon as that is possible. */
	if (!recorder->writer && !recorder->past)
		return RECORDER_FLUSH_MS;
	if (!recorder->renames || !recorder->started)
		return recorder_wait(recorder);
	return parts_wait(recorder->parts, recorder_wait(recorder));
}
