/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of all CPUs in their order, some hundred at a time.
 */
#ifndef SCHEDTAPE_TAPE_MERGE_H
#define SCHEDTAPE_TAPE_MERGE_H

#include <schedtape-page.h>

struct schedtape_tape;

#define TAPE_MERGED_DETAILS	8

/**
 * struct tape_merged - the next events of a tape, with times in ns
 * @room: how many @briefs there is memory for
 * @n: number of events
 * @nr_details: number of @details
 * @ret: what comes behind them: 1: more events; 0: the end; TAPE_NOT_AHEAD; -errno, for
 *	the reason @why
 * @details: those of the events that are detailed
 * @briefs: the events
 */
struct tape_merged {
	unsigned int room;
	unsigned int n;
	unsigned int nr_details;
	int ret;
	struct schedtape_error why;
	struct schedtape_event details[TAPE_MERGED_DETAILS];
	struct schedtape_brief briefs[];
};

/* -E2BIG: the chunks of all CPUs together are too large for a tape of this size. */
int tape_merge_init(struct schedtape_tape *tape, struct schedtape_error *err);
void tape_merge_exit(struct schedtape_tape *tape);

/* Returns memory for @room events, or NULL.  The caller calls free(). */
struct tape_merged *tape_merged_new(unsigned int room);

/*
 * Finds the next events.  @ahead: the caller of the library does not wait for them, so
 * the tape must not change: then TAPE_NOT_AHEAD comes before a chunk that turns out to be damaged.
 */
void tape_merge(struct schedtape_tape *tape, struct tape_merged *to, bool ahead);
void tape_merge_rewind(struct schedtape_tape *tape);
/* After a rewind: leaves out all events but descriptions, if the tape has these apart. */
void tape_merge_descriptions(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_MERGE_H */
