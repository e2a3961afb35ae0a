/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a recording is on: -D and --duration.
 */
#ifndef SCHEDTAPE_TIMING_H
#define SCHEDTAPE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/select.h"
#include "record/control.h"

/**
 * struct timing - what is due when
 * @periods: when to record, ms from the beginning on; none: from there on
 * @open_end: the last of them has no end
 * @off: do not record until told to
 * @duration: ms of recording, the pauses included; 0: no limit
 */
struct timing {
	struct select_numbers periods;
	bool open_end;
	bool off;
	uint64_t duration;
	/* private: */
	uint64_t begun;
	uint64_t started;	/* 0: not yet */
	size_t edge;		/* the next one, two of each period */
};

/* ms of CLOCK_MONOTONIC. */
uint64_t timing_now(void);

/* "-1", "MS" or "MS-MS,..."; false: none of them. */
bool timing_parse_delay(struct timing *timing, const char *text);
/* Seconds. */
bool timing_parse_duration(struct timing *timing, const char *text);
/* Does it leave the first start to later? */
bool timing_delayed(const struct timing *timing);
/* From now on, or from the start on, if that has been. */
void timing_begin(struct timing *timing);
/* The session has been started, maybe not for the first time. */
void timing_started(struct timing *timing);
/* What is due now; to be called until it is ORDER_NONE. */
enum order timing_next(struct timing *timing);
/* ms until something is due, @most at most. */
int timing_wait(const struct timing *timing, int most);
void timing_free(struct timing *timing);

#endif /* SCHEDTAPE_TIMING_H */
