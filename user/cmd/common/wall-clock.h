/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wall clock of a recording: CLOCK_REALTIME beside the clock that the tape's times are of.
 */
#ifndef SCHEDTAPE_WALL_CLOCK_H
#define SCHEDTAPE_WALL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

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

#endif /* SCHEDTAPE_WALL_CLOCK_H */
