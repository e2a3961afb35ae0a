/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts times of the session's clock to ns of CLOCK_MONOTONIC, with straight lines
 * between the times at which both clocks were read.
 */
#ifndef SCHEDTAPE_TAPE_CLOCK_H
#define SCHEDTAPE_TAPE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape/device.h>

/**
 * struct tape_line - the line from one sample to the next
 * @counter: the session's clock at the sample
 * @ticks: ticks of that clock up to the next line
 * @mono: CLOCK_MONOTONIC at the sample
 * @mult, @shift: ns are ticks * @mult >> @shift, up to the next line's @mono
 * @high: ns are also the upper half of ticks * @high, which takes half the time; 0: they are not
 */
struct tape_line {
	uint64_t counter;
	uint64_t ticks;
	uint64_t mono;
	uint64_t mult;
	unsigned int shift;
	uint64_t high;
};

/**
 * struct tape_clocks - the clocks of a tape
 * @samples: in order of the session's clock, once tape_clocks_init() has run
 * @lines: in order; NULL: the session's clock is CLOCK_MONOTONIC
 * @line: the line that was used last
 * @from: the sample that the last line begins at
 */
struct tape_clocks {
	struct stape_clock_sample *samples;
	size_t nr_samples;
	size_t capacity;
	struct tape_line *lines;
	size_t nr_lines;
	const struct tape_line *line;
	struct stape_clock_sample from;
};

/* Adds a sample.  0 or -ENOMEM. */
int tape_clocks_add(struct tape_clocks *clocks, const struct stape_clock_sample *sample);
/* Makes the lines, after all samples have been added.  0 or -ENOMEM. */
int tape_clocks_init(struct tape_clocks *clocks);
/*
 * Adds a sample of a tape that is still being read, and makes the lines up to it.  Drops samples
 * and lines of long ago.  0 or -ENOMEM.
 */
int tape_clocks_add_live(struct tape_clocks *clocks, const struct stape_clock_sample *sample);
/* Returns the time before which later samples change no line; UINT64_MAX: there are no lines. */
uint64_t tape_clocks_known(const struct tape_clocks *clocks);
void tape_clocks_exit(struct tape_clocks *clocks);

/* Returns @a * @b >> @shift (below 128), or UINT64_MAX if that is too large. */
static inline uint64_t tape_multiply(uint64_t a, uint64_t b, unsigned int shift)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b >> shift;

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
#else
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t mid = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t cross = (a & UINT32_MAX) * (b >> 32) + (mid & UINT32_MAX);
	uint64_t high = (a >> 32) * (b >> 32) + (mid >> 32) + (cross >> 32);

	low = cross << 32 | (low & UINT32_MAX);
	if (shift >= 64)
		return high >> (shift - 64);
	if (high >> shift)
		return UINT64_MAX;
	return shift ? high << (64 - shift) | low >> shift : low;
#endif
}

/* Returns the upper half of @a * @b. */
static inline uint64_t tape_multiply_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	return (unsigned __int128)a * b >> 64;
#else
	return tape_multiply(a, b, 64);
#endif
}

/* Finds the line first; also for times before the first one. */
uint64_t tape_clocks_ns_slow(struct tape_clocks *clocks, uint64_t counter);

/* Converts to ns of CLOCK_MONOTONIC.  A later @counter never gives an earlier time. */
static inline uint64_t tape_clocks_ns(struct tape_clocks *clocks, uint64_t counter)
{
	const struct tape_line *line = clocks->line;
	uint64_t ns;

	if (!line)
		return counter;
	if (counter - line->counter >= line->ticks)
		return tape_clocks_ns_slow(clocks, counter);
	ns = line->high ? tape_multiply_high(counter - line->counter, line->high) :
			  tape_multiply(counter - line->counter, line->mult, line->shift);
	return ns > UINT64_MAX - line->mono ? UINT64_MAX : line->mono + ns;
}

#endif /* SCHEDTAPE_TAPE_CLOCK_H */
