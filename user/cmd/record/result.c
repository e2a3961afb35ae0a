// SPDX-License-Identifier: GPL-2.0-only
/* The result of a recording. */
#include "record/internal.h"

#include <stdio.h>
#include <unistd.h>

#include "common/destination.h"
#include "common/input.h"
#include "common/output.h"

/* Lists all tapes of a recording.  @tape: the last one */
static struct json_object *list_tapes(const struct recorder *recorder, const char *tape)
{
	struct json_object *list = json_object_new_array();
	const struct parts *parts = recorder->parts;
	size_t i;

	for (i = 0; i < parts->nr; i++)
		json_object_array_add(list, json_object_new_string(parts->kept[i].path));
	if (!recorder->renames)
		json_object_array_add(list, json_object_new_string(tape));
	return list;
}

/*
 * JSON of record:
 * @tape: Path of the tape; null after --no-final without a snapshot.
 * @bytes: Its size.
 * @events: Events on it.
 * @lost: Events that could not be recorded or written.
 * @overwritten: Events that were overwritten by newer ones.
 * @samples: Events of other tracepoints; only with -e, like the next two.
 * @samples_lost: Those that were lost.
 * @samples_dropped: Those of tasks that were not recorded at that moment; they are not on the tape.
 * @tapes: The names of the tapes and snapshots that were kept, the oldest first; only with
 *	--switch-output, --overwrite or -M. Then @tape is the last one, and the numbers are the
 *	sums of all, also of those that were removed; but @overwritten is that of the last one.
 *	Several snapshots may have the same events.
 */
void result_print_json(const char *tape, const struct recorder *recorder)
{
	const struct recorder_totals *of = &recorder->totals, *before = &recorder->earlier;
	struct json_object *root = out_json_new("record");

	json_object_object_add(root, "tape", tape ? json_object_new_string(tape) : NULL);
	out_json_add_count(root, "bytes", before->bytes + of->bytes);
	out_json_add_count(root, "events", before->events + of->events);
	out_json_add_count(root, "lost", before->lost + of->lost);
	out_json_add_count(root, "overwritten", of->overwritten);
	if (recorder->has_samples) {
		out_json_add_count(root, "samples", of->samples);
		out_json_add_count(root, "samples_lost", of->samples_lost);
		out_json_add_count(root, "samples_dropped", of->samples_dropped);
	}
	if (recorder->parts)
		json_object_object_add(root, "tapes", list_tapes(recorder, tape));
	out_json(root, true);
}

/* Returns true if no task ran.  What went into a pipe cannot be read again. */
static bool has_nothing(const struct recorder *recorder, const char *path)
{
	struct schedtape_tape *tape;
	bool empty;

	if (!recorder->totals.events)
		return true;
	if (destination_is_stream(path))
		return false;
	/* Idle times of the largest machine. */
	if (recorder->totals.events > 100000)
		return false;
	if (schedtape_tape_open(path, &tape, NULL))
		return false;
	empty = cmd_tape_is_empty(tape);
	schedtape_tape_close(tape);
	return empty;
}

static void warn_of_losses(const struct recorder *recorder, const char *path)
{
	if (recorder->slept)
		out_warning(path, "the machine slept for %.3f s, in which nothing was "
			    "recorded", recorder->slept / 1e9);
	if (recorder->said)
		return;
	if (recorder->totals.samples_lost)
		out_warning(path, "events of other tracepoints were lost: name fewer (-e), or "
			    "choose among them with --filter");
	if (recorder->totals.lost)
		out_warning(path,
			    "events were lost: use larger rings (-m), see \"schedtape info\"");
	else if (!recorder->totals.overwritten && has_nothing(recorder, path))
		out_warning(path, "the tape has no events: no chosen task ran while the "
			    "recording was on");
}

void result_say_missing(const struct recorder *recorder)
{
	char lost[OUT_COUNT_LEN];

	if (recorder->said && recorder->totals.lost)
		out_error(recorder->path, "%s events are missing, because the tape could not be "
			  "written", out_count(lost, recorder->totals.lost));
}

void result_say_early(const struct recorder *recorder, const char *path)
{
	if (recorder->quiet)
		return;
	/* Over the line that shows the progress. */
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	result_say(recorder, path);
}

void result_say(const struct recorder *recorder, const char *path)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN], count[OUT_COUNT_LEN];
	char overwritten[OUT_COUNT_LEN + 16] = "", samples[2 * OUT_COUNT_LEN + 48] = "";

	if (recorder->totals.overwritten)
		snprintf(overwritten, sizeof(overwritten), ", %s overwritten",
			 out_count(count, recorder->totals.overwritten));
	if (recorder->has_samples)
		snprintf(samples, sizeof(samples), "; of other tracepoints %s, %s lost",
			 out_count(count, recorder->totals.samples),
			 out_count(lost, recorder->totals.samples_lost));
	fprintf(stderr, "[ %s: wrote %.3f MB to %s: %s events, %s lost%s%s ]\n", out_command(),
		recorder->totals.bytes / 1e6, path, out_count(events, recorder->totals.events),
		out_count(lost, recorder->totals.lost), overwritten, samples);
	warn_of_losses(recorder, path);
}
