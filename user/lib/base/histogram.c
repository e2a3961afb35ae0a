// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW	256	/* a power of two; as many take as much memory as half of a part */

static unsigned int bucket_of(uint64_t length)
{
	unsigned int shift;

	if (length < 2 * HISTOGRAM_PART)
		return length;
	shift = 63 - __builtin_clzll(length) - HISTOGRAM_BITS;
	return (shift << HISTOGRAM_BITS) + (length >> shift);
}

uint64_t schedtape_histogram_limit(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * HISTOGRAM_PART)
		return bucket;
	shift = (bucket >> HISTOGRAM_BITS) - 1;
	/* The last bucket's is UINT64_MAX: 2^64, which is 0 here, minus 1. */
	return (((uint64_t)bucket - (shift << HISTOGRAM_BITS) + 1) << shift) - 1;
}

static int count(struct schedtape_histogram *histogram, unsigned int bucket, uint64_t times)
{
	uint64_t **part = &histogram->parts[bucket >> HISTOGRAM_BITS];

	if (!*part)
		*part = calloc(HISTOGRAM_PART, sizeof(**part));
	if (!*part)
		return -ENOMEM;
	(*part)[bucket % HISTOGRAM_PART] += times;
	return 0;
}

static int make_parts(struct schedtape_histogram *histogram)
{
	int rc = 0;
	uint64_t i;

	histogram->parts = calloc(HISTOGRAM_PARTS, sizeof(*histogram->parts));
	if (!histogram->parts)
		return -ENOMEM;
	for (i = 0; i < histogram->nr && !rc; i++)
		rc = count(histogram, histogram->few[i], 1);
	free(histogram->few);
	histogram->few = NULL;
	return rc;
}

static int grow_few(struct schedtape_histogram *histogram)
{
	uint64_t n = histogram->nr;
	uint16_t *few;

	/* The array is full at each power of two, 8 at least. */
	if (n & (n - 1) || (n && n < 8))
		return 0;
	few = realloc(histogram->few, (n ? 2 * n : 8) * sizeof(*few));
	if (!few)
		return -ENOMEM;
	histogram->few = few;
	return 0;
}

static int add_times(struct schedtape_histogram *histogram, unsigned int bucket, uint64_t times)
{
	int rc;

	if (!histogram->parts && histogram->nr + times <= FEW) {
		while (times--) {
			if (grow_few(histogram))
				return -ENOMEM;
			histogram->few[histogram->nr++] = bucket;
		}
		return 0;
	}
	rc = histogram->parts ? 0 : make_parts(histogram);
	if (!rc)
		rc = count(histogram, bucket, times);
	histogram->nr += times;
	return rc;
}

int schedtape_histogram_add(struct schedtape_histogram *histogram, uint64_t length)
{
	histogram->sum += length;
	if (length > histogram->worst)
		histogram->worst = length;
	return add_times(histogram, bucket_of(length), 1);
}

int schedtape_histogram_merge(struct schedtape_histogram *histogram,
			      const struct schedtape_histogram *other)
{
	uint64_t i, times, n = other->parts ? HISTOGRAM_BUCKETS : other->nr;
	const uint64_t *part;
	int rc = 0;

	histogram->sum += other->sum;
	if (other->worst > histogram->worst)
		histogram->worst = other->worst;
	for (i = 0; i < n && !rc; i++) {
		if (!other->parts) {
			rc = add_times(histogram, other->few[i], 1);
			continue;
		}
		part = other->parts[i >> HISTOGRAM_BITS];
		times = part ? part[i % HISTOGRAM_PART] : 0;
		if (times)
			rc = add_times(histogram, i, times);
	}
	return rc;
}

void schedtape_histogram_counts(const struct schedtape_histogram *histogram,
				uint64_t counts[HISTOGRAM_BUCKETS])
{
	uint64_t i;

	memset(counts, 0, HISTOGRAM_BUCKETS * sizeof(*counts));
	if (!histogram->parts) {
		for (i = 0; i < histogram->nr; i++)
			counts[histogram->few[i]]++;
		return;
	}
	for (i = 0; i < HISTOGRAM_PARTS; i++)
		if (histogram->parts[i])
			memcpy(counts + i * HISTOGRAM_PART, histogram->parts[i],
			       HISTOGRAM_PART * sizeof(*counts));
}

static int compare_buckets(const void *left, const void *right)
{
	return *(const uint16_t *)left - *(const uint16_t *)right;
}

/* Returns the bucket of the length with the rank, of few lengths.  @rank: 1 is the shortest */
static unsigned int few_at(const struct schedtape_histogram *histogram, uint64_t rank)
{
	uint16_t sorted[FEW];

	memcpy(sorted, histogram->few, histogram->nr * sizeof(*sorted));
	qsort(sorted, histogram->nr, sizeof(*sorted), compare_buckets);
	return sorted[rank - 1];
}

/* The same of many lengths. */
static unsigned int many_at(const struct schedtape_histogram *histogram, uint64_t rank)
{
	const uint64_t *part;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		part = histogram->parts[i >> HISTOGRAM_BITS];
		if (!part) {
			i |= HISTOGRAM_PART - 1;
			continue;
		}
		if (part[i % HISTOGRAM_PART] >= rank)
			break;
		rank -= part[i % HISTOGRAM_PART];
	}
	return i;
}

uint64_t schedtape_histogram_quantile(const struct schedtape_histogram *histogram,
				      unsigned int num, unsigned int den)
{
	uint64_t rank, limit;

	if (!histogram->nr)
		return 0;
	/* nr * num / den, rounded up, without an overflow */
	rank = histogram->nr / den * num + (histogram->nr % den * num + den - 1) / den;
	limit = schedtape_histogram_limit(histogram->parts ? many_at(histogram, rank) :
							     few_at(histogram, rank));
	return limit < histogram->worst ? limit : histogram->worst;
}

void schedtape_histogram_free(struct schedtape_histogram *histogram)
{
	unsigned int i;

	free(histogram->few);
	for (i = 0; histogram->parts && i < HISTOGRAM_PARTS; i++)
		free(histogram->parts[i]);
	free(histogram->parts);
	*histogram = (struct schedtape_histogram){ 0 };
}
