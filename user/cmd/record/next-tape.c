// SPDX-License-Identifier: GPL-2.0-only
/*
 * --switch-output and snapshots: while a recording goes on, ends its tape and begins the next one;
 * in overwrite mode writes a snapshot instead, a tape of what the rings have.
 *
 * If a tape cannot be written, an error says so, and the recording goes on with the next tape.
 */
#include "record/internal.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/error.h"
#include "common/output.h"
#include "common/past.h"
#include "common/signals.h"
#include "record/recorder.h"

#define BLOCK		((size_t)64)	/* pages that are copied at once, at most */
#define CALM_MS		2000		/* without an error: then tapes can be written again */

static const struct recorder_totals none;

/*
 * Nothing is stopped for a snapshot.  The pages are copied while the session may overwrite them,
 * from the oldest on; the module's head shows which copies are whole (schedtape_session_copy()).
 * What comes after the snapshot stays in the rings, and so does what the snapshot has: the next one
 * reaches as far back as the rings do then.
 */

/**
 * struct snapshot_ring - the pages of a CPU
 * @next: number of the next page to be copied
 * @end: number of the first page that is not in the snapshot
 * @events: how many events the pages before that had, as far as they were ever recorded
 * @from: when the pages begin that follow each other without a gap, by the session's clock
 * @counts: of the pages that have been copied
 */
struct snapshot_ring {
	uint64_t next;
	uint64_t end;
	uint64_t events;
	uint64_t from;
	struct schedtape_cpu counts;
};

/**
 * struct snapshot - a snapshot that is being written
 * @file: its file
 * @tasks: the @nr_tasks of the session now, which tell in which state those are that do nothing
 * @rings: the @nr_rings of the session's CPUs, and room for the descriptions behind them
 * @block: pages that have been copied
 * @window: from when on it is complete, by the session's clock; 0: from the recording's start on
 */
struct snapshot {
	struct recorder *recorder;
	const struct cause *cause;
	struct parts_file file;
	struct schedtape_writer *writer;
	struct schedtape_task_info *tasks;
	size_t nr_tasks;
	struct snapshot_ring *rings;
	size_t nr_rings;
	unsigned char *block;
	uint64_t window;
};

/* -- the moment of a snapshot ---------------------------------------------- */

static int new_rings(struct snapshot *snapshot, struct schedtape_error *err)
{
	const struct streamer *streamer = &snapshot->recorder->streamers[0];
	size_t i;

	/* The streamer's first one is the ring of descriptions. */
	snapshot->nr_rings = streamer->nr_cpus - 1;
	snapshot->rings = calloc(streamer->nr_cpus, sizeof(*snapshot->rings));
	snapshot->block = malloc(BLOCK * STAPE_PAGE_SIZE);
	if (!snapshot->rings || !snapshot->block)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (i = 0; i < snapshot->nr_rings; i++)
		snapshot->rings[i].counts.cpu = streamer->cpus[i + 1];
	return 0;
}

/* Makes the CPUs publish all events so far, between two samples of the clocks. */
static int choose_moment(struct snapshot *snapshot, struct schedtape_error *err)
{
	struct recorder *recorder = snapshot->recorder;
	struct snapshot_ring *ring;
	struct schedtape_cpu stats;
	size_t i;
	int ret;

	ret = schedtape_session_tasks(recorder->session, &snapshot->tasks, &snapshot->nr_tasks,
				      err);
	if (!ret)
		ret = recorder_tape_sample(recorder, err);
	if (!ret)
		ret = schedtape_session_flush(recorder->session, err);
	if (ret)
		return ret;
	/* At once, so that no page has events from after the second sample. */
	for (i = 0; i < snapshot->nr_rings; i++) {
		ring = &snapshot->rings[i];
		ring->end = schedtape_session_published(recorder->session, ring->counts.cpu);
		if (schedtape_session_cpu(recorder->session, ring->counts.cpu, &stats))
			ring->events = stats.events;
	}
	ret = recorder_tape_sample(recorder, err);
	if (!ret && flight_drain(recorder))
		ret = schedtape_fail(err, -EIO, "no descriptions of tasks");
	flight_meet(recorder, snapshot->tasks, snapshot->nr_tasks);
	return ret;
}

/* -- the rings of a snapshot ----------------------------------------------- */

static void count_pages(struct snapshot_ring *ring, uint64_t first, const unsigned char *pages,
			size_t n)
{
	const struct stape_page_header *page = (const struct stape_page_header *)pages;
	size_t i;

	/* Pages before these have been overwritten. */
	if (first != ring->next)
		ring->from = page->time;
	for (i = 0; i < n; i++) {
		page = (const struct stape_page_header *)(pages + i * STAPE_PAGE_SIZE);
		ring->counts.events += page->events;
	}
	ring->next = first + n;
}

/* Copies at most @most pages.  Returns 1: there may be more; 0: there are none; -errno. */
static int copy_some(struct snapshot *snapshot, struct snapshot_ring *ring, size_t most,
		     struct schedtape_error *err)
{
	uint64_t seq = ring->next;
	size_t n;

	if (seq >= ring->end)
		return 0;
	if (most > ring->end - seq)
		most = ring->end - seq;
	n = schedtape_session_copy(snapshot->recorder->session, ring->counts.cpu, &seq, most,
				   snapshot->block);
	if (seq >= ring->end || !n) {
		/* All that is left is from after the snapshot. */
		ring->next = ring->end;
		ring->from = snapshot->recorder->sample.counter;
		return 0;
	}
	if (n > ring->end - seq)
		n = ring->end - seq;
	count_pages(ring, seq, snapshot->block, n);
	return schedtape_writer_pages(snapshot->writer, snapshot->block, n, err) ?: 1;
}

/*
 * Copies all rings, each a little further in turn, because the oldest pages of each are the next to
 * be overwritten.
 */
static int copy_rings(struct snapshot *snapshot, struct schedtape_error *err)
{
	size_t most = schedtape_session_ring_pages(snapshot->recorder->session) / 16, i;
	bool more = true;
	int ret = 0;

	most = most < 4 ? 4 : most > BLOCK ? BLOCK : most;
	while (more && ret >= 0) {
		more = false;
		/* Cgroups may come and go before all rings are copied. */
		looks_at_cgroups(snapshot->recorder, err);
		for (i = 0; i < snapshot->nr_rings && ret >= 0; i++) {
			ret = copy_some(snapshot, &snapshot->rings[i], most, err);
			more = more || ret > 0;
		}
	}
	return ret < 0 ? ret : 0;
}

/* Finds the time from which no CPU's events are missing. */
static void find_window(struct snapshot *snapshot)
{
	struct snapshot_ring *ring;
	size_t i;

	for (i = 0; i < snapshot->nr_rings; i++) {
		ring = &snapshot->rings[i];
		if (ring->from > snapshot->window)
			snapshot->window = ring->from;
		/* Then a reader does not miss the pages before the first one. */
		if (ring->from && ring->events > ring->counts.events)
			ring->counts.overwritten = ring->events - ring->counts.events;
	}
	/* Descriptions may have been too many to be kept as long as the events. */
	if (snapshot->recorder->past->from > snapshot->window)
		snapshot->window = snapshot->recorder->past->from;
}

/* -- the tape of a snapshot ------------------------------------------------ */

/* Returns what META says of a snapshot's reason. */
static struct json_object *describe_cause(const struct snapshot *snapshot)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "name", json_object_new_string(snapshot->cause->name));
	if (snapshot->cause->text)
		json_object_object_add(object, "text",
				       json_object_new_string(snapshot->cause->text));
	if (snapshot->cause->note)
		json_object_object_add(object, "note",
				       json_object_new_string(snapshot->cause->note));
	out_json_add_count(object, "time", snapshot->cause->time);
	if (snapshot->cause->asker) {
		out_json_add_count(object, "uid", snapshot->cause->asker->uid);
		out_json_add_count(object, "pid", snapshot->cause->asker->pid);
	}
	return object;
}

static int open_snapshot(struct snapshot *snapshot, struct schedtape_error *err)
{
	struct recorder *recorder = snapshot->recorder;
	int ret;

	json_object_object_add(recorder->meta, "trigger", describe_cause(snapshot));
	ret = recorder_tape_create(recorder, &snapshot->file, &snapshot->writer, err);
	/* The tape at the end has no trigger. */
	json_object_object_del(recorder->meta, "trigger");
	return ret;
}

static int put_snapshot_end(struct snapshot *snapshot, struct schedtape_error *err)
{
	struct recorder *recorder = snapshot->recorder;
	const struct past *past = recorder->past;
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = recorder->start_time,
		.stop_time = recorder->sample.mono,
		.window_start = snapshot->window,
		.ended_by = snapshot->cause->name,
	};
	struct schedtape_cpu *cpus;
	size_t i;
	int ret;

	cpus = calloc(snapshot->nr_rings + 1, sizeof(*cpus));
	if (!cpus)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (i = 0; i < snapshot->nr_rings; i++)
		cpus[i] = snapshot->rings[i].counts;
	cpus[i] = (struct schedtape_cpu){
		.cpu = STAPE_CPU_NONE,
		.events = past->events,
		.lost = past->lost,
		.overwritten = past->forgotten,
	};
	end.cpus = cpus;
	end.nr_cpus = snapshot->nr_rings + 1;
	recorder_tape_count(recorder, &end);
	ret = schedtape_writer_end(snapshot->writer, &end, err);
	free(cpus);
	return ret;
}

/* The tasks come last, because it is known only then from which time on they have to be known. */
static int write_snapshot(struct snapshot *snapshot, struct schedtape_error *err)
{
	int ret;

	ret = looks_alone(snapshot->recorder, snapshot->writer, err);
	if (!ret)
		ret = copy_rings(snapshot, err);
	if (ret)
		return ret;
	find_window(snapshot);
	ret = flight_write_past(snapshot->recorder, snapshot->writer, snapshot->window,
				snapshot->tasks, snapshot->nr_tasks, err);
	return ret ? ret : put_snapshot_end(snapshot, err);
}

/* Closes the tape.  @ret: 0, or -errno: it is not complete. */
static int close_snapshot(struct snapshot *snapshot, int ret, struct schedtape_error *err)
{
	struct recorder *recorder = snapshot->recorder;
	int closed = 0;

	if (snapshot->writer) {
		recorder->totals.bytes = schedtape_writer_bytes(snapshot->writer);
		closed = schedtape_writer_close(snapshot->writer, ret ? NULL : err);
	}
	ret = ret ? ret : closed;
	if (!ret)
		ret = parts_keep(recorder->parts, recorder->path,
				 snapshot->cause->text ? snapshot->cause->name : NULL,
				 &snapshot->file, recorder->totals.bytes, err);
	parts_drop(&snapshot->file);
	return ret;
}

/*
 * Writes a snapshot, and names it after the tape and the time.  Returns its name; NULL, after a
 * message: it could not be written.
 */
static const char *take_snapshot(struct recorder *recorder, const struct cause *cause)
{
	struct snapshot snapshot = {
		.recorder = recorder,
		.cause = cause,
		.file = PARTS_NO_FILE,
	};
	struct recorder_totals before = recorder->totals;
	struct schedtape_error err = { "" };
	const char *name = NULL;
	int ret;

	recorder->totals = none;
	recorder_tape_renew(recorder);
	ret = new_rings(&snapshot, &err);
	if (!ret)
		ret = choose_moment(&snapshot, &err);
	if (!ret)
		ret = open_snapshot(&snapshot, &err);
	if (!ret)
		ret = write_snapshot(&snapshot, &err);
	ret = close_snapshot(&snapshot, ret, &err);
	free(snapshot.tasks);
	free(snapshot.rings);
	free(snapshot.block);
	if (ret) {
		out_error(NULL, "no snapshot: %s", err.text);
		recorder_missed(recorder, ret);
		recorder->number -= !!snapshot.writer;
	} else {
		name = parts_last(recorder->parts);
		result_say_early(recorder, name);
		recorder_tape_add_totals(recorder);
		parts_prune(recorder->parts);
	}
	recorder->totals = before;
	return name;
}

/* -- the end of a tape ----------------------------------------------------- */

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

/* Prints the first error since tapes could be written, and remembers it. */
static void fail(struct recorder *recorder, int ret, const struct schedtape_error *err)
{
	recorder_failed(recorder, ret, err);
	recorder_missed(recorder, ret);
	recorder->trouble = now_ms();
}

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

/* -- the next tape, or a snapshot ------------------------------------------ */

const char *next_tape(struct recorder *recorder, const struct cause *cause)
{
	const char *tape;

	/* What is written to a pipe has no snapshots. */
	if (!recorder->parts)
		return NULL;
	if (recorder->past) {
		tape = take_snapshot(recorder, cause);
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

const char *next_tape_now(struct recorder *recorder, const char *name,
			  const struct asker *asker)
{
	struct cause cause = { .name = name, .asker = asker, .time = schedtape_now() };

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
	next_tape_now(recorder, "time", NULL);
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
		next_tape_now(recorder, recorder->parts->end == PARTS_SIZE ? "size" : "time", NULL);
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
