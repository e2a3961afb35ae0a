// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Returns the events of a tape, one after the other.  They are merged some hundred at a time; if
 * there are many, in a thread that is ahead of the caller.
 */
#include <errno.h>

#include "base/error.h"
#include "base/sized.h"
#include "tape/ahead.h"
#include "tape/cursor.h"
#include "tape/cursors.h"
#include "tape/load.h"
#include "tape/merge.h"
#include "tape/next.h"
#include "tape/stream.h"
#include "tape/tape.h"

#define FEW		128	/* events, few enough for the CPU's first cache */
#define ALONE		32	/* times that FEW are merged before a thread starts */

/* Notes the next event of a pipe: the only one that is merged, and the heap's first one. */
static void returns_live(struct schedtape_tape *tape, struct tape_merged *merged)
{
	struct schedtape_brief *brief = merged->briefs;

	if (!merged->n)
		return;
	tape_stream_returns(tape, tape_cursor_time(tape->heap[0].cursor), brief);
	if (brief->detailed)
		merged->details[0].time = brief->time;
}

/* Merges the next events in this thread.  Returns NULL without memory. */
static const struct tape_merged *merge_here(struct schedtape_tape *tape,
					    struct schedtape_error *err)
{
	if (!tape->own)
		tape->own = tape_merged_new(FEW);
	if (!tape->own) {
		schedtape_fail(err, -ENOMEM, "%s: not enough memory", tape->path);
		return NULL;
	}
	tape_merge(tape, tape->own, false);
	if (tape->stream)
		returns_live(tape, tape->own);
	if (++tape->alone == ALONE && tape->own->ret > 0)
		tape_ahead_start(tape);
	return tape->own;
}

/* Forgets the events that are merged.  The thread has ended, or ends. */
static void forget_merged(struct schedtape_tape *tape)
{
	tape_ahead_stop(tape);
	tape->merged = NULL;
	tape->alone = 0;
	tape->brief = NULL;
	tape->briefs_end = NULL;
}

/* Returns what comes behind the merged events: 1: more; 0: the end; -errno. */
static int behind_merged(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret = tape->merged ? tape->merged->ret : 1;

	if (ret > 0)
		return ret;
	if (err && ret < 0 && tape->merged->why.text[0])
		*err = tape->merged->why;
	forget_merged(tape);
	if (!ret)
		tape_load_stop(tape);
	return ret == TAPE_NOT_AHEAD ? 1 : ret;
}

/* Merges the next events.  Returns 1; 0: there are none; -errno. */
__attribute__((noinline))
static int next_merged(struct schedtape_tape *tape, struct schedtape_error *err)
{
	const struct tape_merged *merged;
	int ret;

	do {
		ret = behind_merged(tape, err);
		if (ret <= 0)
			return ret;
		merged = tape->ahead ? tape_ahead_next(tape) : merge_here(tape, err);
		if (!merged)
			return -ENOMEM;
		tape->merged = merged;
	} while (!merged->n);
	tape->brief = merged->briefs;
	tape->briefs_end = merged->briefs + merged->n;
	tape->details = merged->details;
	return 1;
}

/* Counts an event that this version does not know. */
static void skip_event(struct tape_skipped *skipped, uint64_t which)
{
	unsigned int i;

	skipped->events++;
	for (i = 0; i < skipped->nr_kinds && skipped->kinds[i].which != which;)
		i++;
	if (i == TAPE_SKIPPED_KINDS)
		return;
	if (i == skipped->nr_kinds)
		skipped->kinds[skipped->nr_kinds++].which = which;
	skipped->kinds[i].events++;
}

/* Passes the next event, which is detailed, if this version does not know it. */
static bool pass_unknown(struct schedtape_tape *tape)
{
	uint64_t which = tape->brief->arg >> STAPE_SET_SHIFT;

	if (tape->brief->type != STAPE_EV_SET)
		return false;
	/* A recorder has read the names of cgroups: their paths are in CGROUPS records. */
	if (which != STAPE_SET_CGROUP)
		skip_event(&tape->skipped, which);
	tape->brief++;
	tape->details++;
	return true;
}

/* Goes to the next event that this version knows.  Returns 1; 0: there is none; -errno. */
static inline int find_next(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret;

	do {
		if (tape->brief == tape->briefs_end) {
			ret = next_merged(tape, err);
			if (ret <= 0)
				return ret;
		}
	} while (tape->brief->detailed && pass_unknown(tape));
	return 1;
}

/* Takes the event that was found. */
static inline const struct schedtape_brief *take_brief(struct schedtape_tape *tape)
{
	const struct schedtape_brief *brief = tape->brief++;

	return brief->detailed ? &tape->details++->brief : brief;
}

int tape_next_brief(struct schedtape_tape *tape, const struct schedtape_brief **brief,
		    struct schedtape_error *err)
{
	int ret = find_next(tape, err);

	if (ret > 0)
		*brief = take_brief(tape);
	return ret;
}

int tape_next_event(struct schedtape_tape *tape, const struct schedtape_event **ev,
		    struct schedtape_error *err)
{
	int ret = find_next(tape, err);

	if (ret > 0)
		*ev = tape_event(&tape->ev, take_brief(tape));
	return ret;
}

int schedtape_tape_next_briefs(struct schedtape_tape *tape, struct schedtape_briefs *briefs,
			       struct schedtape_error *err)
{
	struct schedtape_briefs own = { .stride = sizeof(*own.first) };
	/* Before events are taken, so that a caller who has not set the size loses none. */
	int ret = sized_put(briefs, &own, sizeof(own), "the briefs of a tape", err);

	if (!ret)
		ret = find_next(tape, err);
	if (ret <= 0)
		return ret;
	own.first = tape->brief;
	own.details = tape->details;
	do
		tape->details += tape->brief->detailed;
	while (++tape->brief != tape->briefs_end && tape->brief->type != STAPE_EV_SET);
	own.n = tape->brief - own.first;
	ret = sized_put(briefs, &own, sizeof(own), "the briefs of a tape", err);
	return ret ? ret : 1;
}

int schedtape_tape_next(struct schedtape_tape *tape, struct schedtape_event *ev,
			struct schedtape_error *err)
{
	const struct schedtape_event *next;
	int ret = tape_next_event(tape, &next, err);

	if (ret > 0)
		*ev = *next;
	return ret;
}

int tape_rewind_descriptions(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret = schedtape_tape_rewind(tape, err);

	if (!ret && !tape->stream)
		tape_merge_descriptions(tape);
	return ret;
}

int schedtape_tape_rewind(struct schedtape_tape *tape, struct schedtape_error *err)
{
	if (tape->stream)
		return tape_stream_rewind(tape, err);

	tape->skipped = (struct tape_skipped){ 0 };
	forget_merged(tape);
	tape_load_stop(tape);
	tape_merge_rewind(tape);
	return 0;
}
