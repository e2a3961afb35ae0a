/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Histograms of lengths with fixed buckets, at most 1 % wide, so that many lengths need little
 * memory, and histograms of parts of a tape can be added.
 *
 * The buckets are log-linear, as those of HdrHistogram: lengths below 256 have a bucket each, and
 * each power of two from there on is divided into 128 buckets of the same width.
 */
#ifndef SCHEDTAPE_HISTOGRAM_H
#define SCHEDTAPE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BITS		7
#define HISTOGRAM_PART		(1UL << HISTOGRAM_BITS)
#define HISTOGRAM_PARTS		(64UL - HISTOGRAM_BITS + 1)
#define HISTOGRAM_BUCKETS	(HISTOGRAM_PARTS * HISTOGRAM_PART)

/**
 * struct histogram_carry - a bucket with more lengths than a byte can count
 * @times: how often, without what the byte counts: a multiple of 256
 */
struct histogram_carry {
	uint64_t times;
	uint16_t bucket;
};

/**
 * struct schedtape_histogram - how often which length occurred; all 0: never any
 * @few: the buckets of the last lengths, which @counts lack
 * @counts: of the buckets from @first on, modulo 256, because there is a histogram for each task,
 *	and few buckets of a task have more; NULL: all lengths are in @few
 * @carries: the rest, in order of the buckets
 * @nr_few, @few_room: number of buckets in @few, and how many there is memory for
 * @first: a multiple of HISTOGRAM_PART, as is @nr_counts
 * @nr_counts: number of @counts
 * @nr_carries: number of @carries
 * @nr: number of lengths
 * @sum: of all lengths, exact
 * @worst: the longest length, exact
 */
struct schedtape_histogram {
	uint16_t *few;
	uint8_t *counts;
	struct histogram_carry *carries;
	uint16_t nr_few;
	uint16_t few_room;
	uint16_t first;
	uint16_t nr_counts;
	uint16_t nr_carries;
	uint64_t nr;
	uint64_t sum;
	uint64_t worst;
};

/* Adds a length.  0 or -ENOMEM. */
int schedtape_histogram_add(struct schedtape_histogram *histogram, uint64_t length);
/* Adds all lengths of @other.  0 or -ENOMEM. */
int schedtape_histogram_merge(struct schedtape_histogram *histogram,
			      const struct schedtape_histogram *other);
/*
 * Returns the length that @num of @den lengths do not exceed (nearest rank): the longest one that
 * would be in its bucket, but not more than @worst; 0 if there is no length.
 */
uint64_t schedtape_histogram_quantile(const struct schedtape_histogram *histogram,
				      unsigned int num, unsigned int den);
/* Copies the count of each bucket. */
void schedtape_histogram_counts(const struct schedtape_histogram *histogram,
				uint64_t counts[HISTOGRAM_BUCKETS]);
/* Returns the longest length of a bucket. */
uint64_t schedtape_histogram_limit(unsigned int bucket);
void schedtape_histogram_free(struct schedtape_histogram *histogram);

#endif /* SCHEDTAPE_HISTOGRAM_H */
