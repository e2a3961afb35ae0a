/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a command prints times: --ns, --reltime, --deltatime, --tod.  Commands that print tables only
 * have no --deltatime.  And the wall clock of a recording: CLOCK_REALTIME beside the clock that the
 * tape's times are of.
 */
#ifndef SCHEDTAPE_TIME_TEXT_H
#define SCHEDTAPE_TIME_TEXT_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/* -- the wall clock -------------------------------------------------------- */

/**
 * struct wall_clock - pairs of times, read at the same moments
 * @samples: @nr of them by time, of the tape; NULL: only @first is there
 * @first: the pair that the tape's description of the clock has
 * @nr: 0: the tape does not have its wall clock
 * @at: number of the sample that was used last
 * @pipe: the tape, if it may get more samples while it is read
 */
struct wall_clock {
	const struct stape_clock_sample *samples;
	struct stape_clock_sample first;
	size_t nr;
	size_t at;
	struct schedtape_tape *pipe;
};

/* The tape must not be closed before the last use of @clock. */
void wall_clock_init(struct wall_clock *clock, struct schedtape_tape *tape);

/*
 * These convert ns of CLOCK_MONOTONIC to ns since 1970, and back.  Between two samples the wall
 * clock goes on from the first one.  If it was set back, a time that it had twice is the last one
 * of the two.
 */
uint64_t wall_clock_real(struct wall_clock *clock, uint64_t mono);
uint64_t wall_clock_mono(struct wall_clock *clock, uint64_t real);

/* -- texts ----------------------------------------------------------------- */

/**
 * enum time_style - what the printed times count from
 * @TIME_STYLE_CLOCK: zero of the tape's clock
 * @TIME_STYLE_START: the start of the recording
 * @TIME_STYLE_DELTA: the time in the line before
 * @TIME_STYLE_DATE: dates of the wall clock
 */
enum time_style {
	TIME_STYLE_CLOCK,
	TIME_STYLE_START,
	TIME_STYLE_DELTA,
	TIME_STYLE_DATE,
};

/**
 * struct time_text_options - the options; the input of time_text_argp
 * @style: one of --reltime, --deltatime, --tod, or none of them
 * @digits: of a second, behind the point; preset: TIME_TEXT_OPTIONS_INIT
 */
struct time_text_options {
	enum time_style style;
	unsigned int digits;
};

#define TIME_TEXT_OPTIONS_INIT	{ .digits = 6 }

extern const struct argp time_text_argp;
extern const struct argp time_text_table_argp;	/* without --deltatime */

/**
 * struct time_text - prints times as the options ask for
 * @start: of the recording
 * @before: time of the line before; valid if @has_before
 * @second: the second of the last text
 * @head: that text up to its point: "12." or "2026-11-24 12:00:03."
 * @head_len: its length
 */
struct time_text {
	struct time_text_options options;
	struct wall_clock clock;
	uint64_t start;
	uint64_t before;
	bool has_before;
	uint64_t second;
	char head[32];
	unsigned int head_len;
};

#define TIME_TEXT_LEN	48

/*
 * Begins with a tape, which must not be closed before the last use.  Returns 0, or -1 after a
 * message: the tape does not have its wall clock.  @path: of the tape.
 */
int time_text_begin(struct time_text *text, const struct time_text_options *options,
		    struct schedtape_tape *tape, const char *path);
/*
 * The same for events that happen now, and again after some time, because the wall clock may be
 * set.  @start: of the recording, as the first call has it
 */
void time_text_now(struct time_text *text, uint64_t start);
/* Returns what is to follow a time: " s", or nothing if it is a date. */
const char *time_text_unit(const struct time_text *text);
/* Returns the width of times that are aligned right. */
unsigned int time_text_width(const struct time_text *text);
/* Makes the text of a time at the beginning of a line.  Times of lines never go back. */
const char *time_text_line(struct time_text *text, char buffer[TIME_TEXT_LEN], uint64_t ns);
/* Makes the text of another time.  With --deltatime it counts from the start. */
const char *time_text(struct time_text *text, char buffer[TIME_TEXT_LEN], uint64_t ns);
/* Makes "from 1.000000 to 2.000000 s", or the same of two dates. */
#define TIME_TEXT_RANGE_LEN	(2 * TIME_TEXT_LEN + 16)
const char *time_text_range(struct time_text *text, char buffer[TIME_TEXT_RANGE_LEN],
			    uint64_t first, uint64_t last);
/*
 * The same, without a NUL at the end.  They return the end.  @at: there is room for TIME_TEXT_LEN
 * bytes
 */
char *time_text_put_line(struct time_text *text, char *at, uint64_t ns);
char *time_text_put(struct time_text *text, char *at, uint64_t ns);

#endif /* SCHEDTAPE_TIME_TEXT_H */
