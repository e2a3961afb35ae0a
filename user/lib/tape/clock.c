// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The clocks of a tape.  Samples may come from a tape of unknown origin, be impossible
 * and in any order.  Converted times never go back, whatever the samples are.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape-tape.h>

#include "base/list.h"
#include "tape/clock.h"

#define NS_PER_MS	1000000

/*
 * The two clocks are read one after the other.  Between samples that are nearer than this,
 * the error from that would dominate the slope.
 */
#define NEAREST_NS	NS_PER_MS
#define LATEST_NS	(1ULL << 62)	/* 146 years: later times are corrupt */
#define STEP_NS		NS_PER_MS	/* less is not seen as a step, for the same reason */
#define MOST_LIVE	4096		/* samples that are kept of a tape that is being read */

int tape_clocks_add(struct tape_clocks *clocks, const struct stape_clock_sample *sample)
{
	struct stape_clock_sample *samples;

	samples = schedtape_list_grow(clocks->samples, clocks->nr_samples, &clocks->capacity,
				      sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	clocks->samples = samples;
	samples[clocks->nr_samples++] = *sample;
	return 0;
}

/* -- lines ----------------------------------------------------------------- */

static unsigned int bits_of(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/*
 * Computes @mult, rounded up in its 62nd bit.  For @ns below LATEST_NS this adds less than
 * 1 ns, so that no line ends behind the beginning of the next one.  It has no effect on
 * results, which are rounded down to whole ns.
 */
static void line_slope(struct tape_line *line, uint64_t ns, uint64_t ticks)
{
	uint64_t rest = ns % ticks;
	unsigned int i;
	bool carry;

	line->mult = ns / ticks;
	line->shift = 62 + bits_of(ticks) - bits_of(ns);
	for (i = 0; i < line->shift; i++) {
		carry = rest >> 63;
		rest <<= 1;
		line->mult <<= 1;
		if (carry || rest >= ticks) {
			rest -= ticks;
			line->mult++;
		}
	}
	line->mult += rest != 0;
	line->high = 0;
	/* The counter is not slower than a GHz. */
	if (line->shift && line->shift <= 64 && bits_of(line->mult) <= line->shift)
		line->high = line->mult << (64 - line->shift);
}

/* Behind the last sample, continues the line before it, or uses the kernel's calibration. */
static void line_open(struct tape_clocks *clocks, const struct stape_clock_sample *sample)
{
	struct tape_line *line = &clocks->lines[clocks->nr_lines];

	*line = (struct tape_line) { .counter = sample->counter, .mono = sample->mono };
	if (clocks->nr_lines) {
		line->mult = line[-1].mult;
		line->shift = line[-1].shift;
		line->high = line[-1].high;
	} else if (sample->khz) {
		line_slope(line, NS_PER_MS, sample->khz);
	} else {
		line->mult = 1;
	}
	line->ticks = UINT64_MAX - line->counter;
	clocks->from = *sample;
	clocks->nr_lines++;
}

/*
 * Ends the last line at a sample, and begins the next one there.  Samples come in order of the
 * counter.
 */
static void lines_add(struct tape_clocks *clocks, const struct stape_clock_sample *to)
{
	const struct stape_clock_sample *from = &clocks->from;
	struct tape_line *line;

	if (!clocks->nr_lines) {
		line_open(clocks, to);
		return;
	}
	line = &clocks->lines[clocks->nr_lines - 1];
	if (from->mono >= LATEST_NS) {
		clocks->nr_lines--;
		line_open(clocks, to);
		return;
	}
	if (to->mono >= LATEST_NS || to->mono < from->mono + NEAREST_NS ||
	    to->counter <= from->counter)
		return;
	line->ticks = to->counter - from->counter;
	line_slope(line, to->mono - from->mono, line->ticks);
	line_open(clocks, to);
}

static int sample_compare(const void *one, const void *two)
{
	const struct stape_clock_sample *a = one, *b = two;

	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	return a->mono < b->mono ? -1 : a->mono > b->mono;
}

/* Sorts samples and removes duplicates: files of a directory have some in common. */
static void clocks_sort(struct tape_clocks *clocks)
{
	struct stape_clock_sample *samples = clocks->samples;
	size_t i, n = 0;

	qsort(samples, clocks->nr_samples, sizeof(*samples), sample_compare);
	for (i = 0; i < clocks->nr_samples; i++)
		if (!n || memcmp(&samples[i], &samples[n - 1], sizeof(*samples)))
			samples[n++] = samples[i];
	clocks->nr_samples = n;
}

int tape_clocks_init(struct tape_clocks *clocks)
{
	bool counts = false;
	size_t i;

	if (!clocks->nr_samples)
		return 0;
	clocks_sort(clocks);
	for (i = 0; i < clocks->nr_samples; i++)
		if (clocks->samples[i].counter != clocks->samples[i].mono)
			counts = true;
	if (!counts)
		return 0;

	clocks->lines = calloc(clocks->nr_samples, sizeof(*clocks->lines));
	if (!clocks->lines)
		return -ENOMEM;
	for (i = 0; i < clocks->nr_samples; i++)
		lines_add(clocks, &clocks->samples[i]);
	clocks->line = clocks->lines;
	return 0;
}

/* -- while the tape is still being read ------------------------------------- */

/* Drops the older half of the samples, and of the lines. */
static void drop_old(struct tape_clocks *clocks)
{
	size_t half = MOST_LIVE / 2;

	if (clocks->nr_samples == MOST_LIVE) {
		clocks->nr_samples -= half;
		memmove(clocks->samples, clocks->samples + half,
			clocks->nr_samples * sizeof(*clocks->samples));
	}
	if (clocks->nr_lines == MOST_LIVE) {
		clocks->nr_lines -= half;
		memmove(clocks->lines, clocks->lines + half,
			clocks->nr_lines * sizeof(*clocks->lines));
	}
}

/* Makes lines from the first sample on that differs from CLOCK_MONOTONIC. */
static int lines_begin(struct tape_clocks *clocks)
{
	size_t i;

	clocks->lines = calloc(MOST_LIVE, sizeof(*clocks->lines));
	if (!clocks->lines)
		return -ENOMEM;
	for (i = 0; i + 1 < clocks->nr_samples; i++)
		lines_add(clocks, &clocks->samples[i]);
	return 0;
}

int tape_clocks_add_live(struct tape_clocks *clocks, const struct stape_clock_sample *sample)
{
	int ret = 0;

	/* Only a corrupt tape has them in another order. */
	if (clocks->nr_samples &&
	    sample->counter <= clocks->samples[clocks->nr_samples - 1].counter)
		return 0;
	drop_old(clocks);
	ret = tape_clocks_add(clocks, sample);
	if (!ret && !clocks->lines && sample->counter != sample->mono)
		ret = lines_begin(clocks);
	if (ret || !clocks->lines)
		return ret;
	lines_add(clocks, sample);
	clocks->line = &clocks->lines[clocks->nr_lines - 1];
	return 0;
}

uint64_t tape_clocks_known(const struct tape_clocks *clocks)
{
	return clocks->lines ? clocks->from.counter : UINT64_MAX;
}

void tape_clocks_exit(struct tape_clocks *clocks)
{
	free(clocks->samples);
	free(clocks->lines);
}

/* -- conversion ------------------------------------------------------------ */

uint64_t tape_clocks_ns_slow(struct tape_clocks *clocks, uint64_t counter)
{
	const struct tape_line *line = clocks->lines;
	size_t low = 0, high = clocks->nr_lines, middle;
	uint64_t ns;

	if (counter < line->counter) {
		ns = tape_multiply(line->counter - counter, line->mult, line->shift);
		return ns > line->mono ? 0 : line->mono - ns;
	}
	/* Find the last line that doesn't begin after @counter. */
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (clocks->lines[middle].counter <= counter)
			low = middle;
		else
			high = middle;
	}
	line = &clocks->lines[low];
	clocks->line = line;
	ns = tape_multiply(counter - line->counter, line->mult, line->shift);
	return ns > UINT64_MAX - line->mono ? UINT64_MAX : line->mono + ns;
}

/* All clocks are slewed alike, so the difference of two changes only by a step of one. */
static int64_t step_of(uint64_t clock, uint64_t other)
{
	int64_t step = (int64_t)(clock - other);

	return step < STEP_NS && step > -STEP_NS ? 0 : step;
}

int64_t schedtape_clock_step(const struct stape_clock_sample *from,
			     const struct stape_clock_sample *to)
{
	return step_of(to->real - from->real, to->boot - from->boot);
}

uint64_t schedtape_clock_sleep(const struct stape_clock_sample *from,
			       const struct stape_clock_sample *to)
{
	int64_t slept = step_of(to->boot - from->boot, to->mono - from->mono);

	return slept > 0 ? slept : 0;
}
