// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads a tape that comes through a pipe: once, while its events are returned.  Its PROGRESS
 * records say up to which time all CPUs have come, so that no earlier event can follow.  The
 * chunks between two of them are in memory.
 *
 * A tape without these records, of an older version, is in memory as a whole, if it is small
 * enough.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "tape/bytes.h"
#include "tape/clock.h"
#include "tape/cursors.h"
#include "tape/end.h"
#include "tape/losses.h"
#include "tape/meta.h"
#include "tape/stream.h"
#include "tape/tape.h"
#include "tape/waiting.h"
#include "tape/walk.h"

#define MOST_WAITING	(1U << 26)	/* bytes of chunks, as they are stored */

/* -- the end of the pipe ----------------------------------------------------- */

/* Adds an entry to the end's CPUs for each CPU that has chunks and that no end record has. */
static int add_guesses(struct schedtape_tape *tape)
{
	size_t i, told = tape->nr_cpus;
	struct schedtape_cpu *cpus;
	struct tape_cursor *c;

	cpus = reallocarray(tape->cpus, told + tape->nr_cursors + 1, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	tape->cpus = cpus;
	for (i = 0; i < tape->nr_cursors; i++) {
		c = &tape->cursors[i];
		c->guessed = !tape_end_find(tape, c->cpu);
	}
	for (i = 0; i < tape->nr_cursors; i++)
		if (tape->cursors[i].guessed)
			cpus[tape->nr_cpus++] = (struct schedtape_cpu) {
				.cpu = tape->cursors[i].cpu,
			};
	return 0;
}

/* Connects each cursor with its CPU's entry.  CPUs that have lost all events get a cursor, too. */
static int connect_ends(struct schedtape_tape *tape)
{
	size_t i;

	for (i = 0; i < tape->nr_cpus; i++)
		if ((tape->cpus[i].lost || tape->cpus[i].events) &&
		    !tape_waiting_cursor(tape, tape->cpus[i].cpu))
			return -ENOMEM;
	for (i = 0; i < tape->nr_cursors; i++)
		tape->cursors[i].end = tape_end_find(tape, tape->cursors[i].cpu);
	return 0;
}

static int stream_end(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct tape_stream *stream = tape->stream;
	struct json_object *number;
	int ret;

	if (json_object_object_get_ex(tape->meta, "stream", &number))
		tape_note(tape, "only stream %s of a recording: its directory has the rest",
			  json_object_get_string(number));
	tape_end_sort(tape);
	ret = add_guesses(tape);
	if (!ret)
		ret = tape_end_finish(tape);
	if (!ret)
		ret = connect_ends(tape);
	if (!ret)
		ret = tape_lost_init(tape);
	if (ret)
		return schedtape_fail(err, ret, "%s: out of memory", tape->path);
	stream->over = true;
	return 0;
}

/* -- reading ----------------------------------------------------------------- */

/* Times behind the last sample of the clocks may still change with the next one. */
static void set_limit(struct schedtape_tape *tape)
{
	struct tape_stream *stream = tape->stream;
	uint64_t known = tape_clocks_known(&tape->clocks);
	uint64_t limit = stream->progress < known ? stream->progress : known;

	if (limit > stream->limit)
		stream->limit = limit;
}

/* Reads a record.  Returns 1: go on; 0: the end; -errno. */
static int read_record(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret = tape_walk_next(tape, &tape->files[0], err);

	if (ret < 0)
		return ret;
	if (tape->stream->waiting > MOST_WAITING)
		return schedtape_fail(err, -E2BIG, "%s: %u MB have come without a mark up to which "
				      "all CPUs are complete, as in tapes of older versions: save "
				      "the tape in a file first", tape->files[0].path,
				      MOST_WAITING >> 20);
	if (!ret)
		return stream_end(tape, err);
	set_limit(tape);
	return 1;
}

int tape_stream_read(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct tape_stream *stream = tape->stream;
	uint64_t before = stream->limit;
	int ret;

	if (stream->before_wait)
		stream->before_wait(stream->arg);
	do {
		ret = read_record(tape, err);
	} while (ret > 0 && stream->limit == before);
	return ret < 0 ? ret : 0;
}

/*
 * Reads what a caller needs before the first event: META, the first PROGRESS record, and the
 * descriptions of tasks, which come before the first chunk, or if there is none so far, before
 * the second PROGRESS record.
 */
int tape_stream_begin(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret;

	do {
		ret = read_record(tape, err);
	} while (ret > 0 && !(tape->begun && (tape->stream->chunks || tape->stream->limit)));
	if (ret < 0)
		return ret;
	if (!tape->meta)
		tape->meta = json_object_new_object();
	if (!tape->meta)
		return schedtape_fail(err, -ENOMEM, "%s: out of memory", tape->path);
	if (!tape->stream->over)
		tape_end_begin(tape);
	return 0;
}

/* -- returning events -------------------------------------------------------- */

bool tape_stream_ready(const struct schedtape_tape *tape, const struct tape_cursor *c)
{
	uint64_t limit = tape->stream->limit;

	return tape_cursor_time(c) < limit &&
	       (c->brief || !schedtape_event_is_gap(&c->ev) || c->ev.lost_last < limit);
}

/*
 * A loss may be in a page that comes long after it began: the loss is returned then.  Other events
 * come late only on a corrupt tape.
 */
void tape_stream_returns(struct schedtape_tape *tape, uint64_t time, struct schedtape_brief *ev)
{
	struct tape_stream *stream = tape->stream;

	if (time < stream->returned && !schedtape_event_is_gap(ev) && !stream->late) {
		stream->late = true;
		tape_note(tape, "events of CPU %u come later than the tape says: their times are "
			  "wrong", ev->cpu);
	}
	if (time > stream->returned)
		stream->returned = time;
	if (ev->time < stream->returned_ns)
		ev->time = stream->returned_ns;
	stream->returned_ns = ev->time;
}

uint64_t tape_reached(struct schedtape_tape *tape)
{
	return tape_clocks_ns(&tape->clocks, tape->stream->limit);
}

int tape_stream_rewind(const struct schedtape_tape *tape, struct schedtape_error *err)
{
	if (!tape->taken && !tape->stream->returned)
		return 0;
	return schedtape_fail(err, -ESPIPE, "%s: a pipe can be read only once: save the tape in a "
			      "file first", tape->files[0].path);
}

void tape_stream_exit(struct schedtape_tape *tape)
{
	if (!tape->stream)
		return;
	tape_waiting_exit(tape);
	free(tape->stream);
}
