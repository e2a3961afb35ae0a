/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The times at which a recording is on: -D and --duration.
 */
#ifndef SCHEDTAPE_TIMING_H
#define SCHEDTAPE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/select.h"
#include "record/control.h"

/**
 * struct timing - when to record
 * @periods: periods to record, ms since timing_begin(); empty: record from the beginning on
 * @open_end: the last period has no end
 * @off: do not record until an order of --control
 * @duration: ms since the first start, pauses included; 0: no limit
 */
struct timing {
	struct select_numbers periods;
	bool open_end;
	bool off;
	uint64_t duration;
	/* private: */
	uint64_t begun;
	uint64_t started;	/* 0: not yet */
	size_t edge;		/* index of the next edge; each period has two */
};

/* Returns CLOCK_MONOTONIC in ms. */
uint64_t timing_now(void);
/* Returns how long it is until timing_now() is @due, ms, @most at most. */
int timing_until(uint64_t due, int most);

/* Parses "-1", "MS" or "MS-MS,...".  Returns false for any other text. */
bool timing_parse_delay(struct timing *timing, const char *text);
/* Parses a number of seconds.  Returns false for any other text. */
bool timing_parse_duration(struct timing *timing, const char *text);
/* Returns true if recording does not start at the beginning. */
bool timing_delayed(const struct timing *timing);
/* Periods count from now on, or from timing_started() if that was called before. */
void timing_begin(struct timing *timing);
/* To be called after each start of the session. */
void timing_started(struct timing *timing);
/* Returns the next order that is due.  Call it until it returns ORDER_NONE. */
enum order timing_next(struct timing *timing);
/* Returns how long it is until an order is due, ms, @most at most. */
int timing_wait(const struct timing *timing, int most);
void timing_free(struct timing *timing);

#endif /* SCHEDTAPE_TIMING_H */
