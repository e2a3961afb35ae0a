/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --time of the commands that read a tape: which parts of the recording they look at.
 */
#ifndef SCHEDTAPE_TIME_RANGES_H
#define SCHEDTAPE_TIME_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/**
 * enum time_kind - how a time is given
 * @TIME_OPEN: it is left out: the start or the end of the tape
 * @TIME_CLOCK: "12.5": as script prints times
 * @TIME_AFTER_START: "+0.5"
 * @TIME_SHARE: "10%"
 * @TIME_DATE: "2026-11-24 12:00:03.5"
 * @TIME_OF_DAY: "12:00:03.5"
 */
enum time_kind {
	TIME_OPEN,
	TIME_CLOCK,
	TIME_AFTER_START,
	TIME_SHARE,
	TIME_DATE,
	TIME_OF_DAY,
};

/**
 * struct time_point - a time as it is given
 * @ns: TIME_CLOCK, TIME_AFTER_START: ns; TIME_DATE: ns since 1970; TIME_OF_DAY: ns since midnight
 * @share: TIME_SHARE: of the recording, 0 to 1
 * @utc: TIME_OF_DAY: the day is one of UTC, not of the local time zone
 */
struct time_point {
	enum time_kind kind;
	uint64_t ns;
	double share;
	bool utc;
};

/**
 * struct time_range - a part of the recording
 * @from, @to: as they are given
 * @start, @stop: from @start to before @stop, ns of the tape's clock, set by time_ranges_resolve()
 */
struct time_range {
	struct time_point from;
	struct time_point to;
	uint64_t start;
	uint64_t stop;
};

/**
 * struct time_ranges - parts of the recording; an empty list is all of it
 * @stop: the latest end of all @nr @ranges, set by time_ranges_resolve()
 * @all: they have all of the recording, set by time_ranges_resolve()
 */
struct time_ranges {
	struct time_range *ranges;
	size_t nr;
	uint64_t stop;
	bool all;
};

/*
 * Adds ranges to a list.  @text is "FROM,TO", "FROM", "FROM," or ",TO", or several of them with
 * blanks in between; or "10%", "10%/2" or "10%-20%", or several of them with commas in between.
 * Returns 0, -EINVAL (wrong form, or a range that ends before it begins) or -ENOMEM.
 */
int time_ranges_parse(struct time_ranges *times, const char *text);
/*
 * Computes when the ranges are on a tape, and joins those that overlap.  Returns 0 or -errno:
 * -EINVAL: one ends before it begins; -ENODATA: a date, but the tape does not have its wall clock;
 * -ERANGE: none of them overlaps the recording; -ESPIPE: one is in per cent of a recording whose
 * end is not known yet, because the tape comes through a pipe.
 */
int time_ranges_resolve(struct time_ranges *times, struct schedtape_tape *tape);
/* Returns true if there are no ranges, or one has the time. */
bool time_ranges_has(const struct time_ranges *times, uint64_t time);
/* The same of any time from @first to @last. */
bool time_ranges_overlap(const struct time_ranges *times, uint64_t first, uint64_t last);
/* Returns how many ns from @first to @last they have. */
uint64_t time_ranges_part(const struct time_ranges *times, uint64_t first, uint64_t last);
void time_ranges_free(struct time_ranges *times);

#endif /* SCHEDTAPE_TIME_RANGES_H */
