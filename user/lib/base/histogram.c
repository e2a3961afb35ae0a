// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_FEW	16
#define FEW_GROW	4
#define FEW	256	/* FIRST_FEW times a power of FEW_GROW: as much memory as four parts */

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

/* -- many lengths ---------------------------------------------------------- */

/* Makes room for the counts of the buckets from @low to @high, besides those that there are. */
static int reach(struct schedtape_histogram *histogram, unsigned int low, unsigned int high)
{
	unsigned int first = low & -HISTOGRAM_PART, end = (high & -HISTOGRAM_PART) + HISTOGRAM_PART;
	unsigned int before;
	uint8_t *counts;

	if (histogram->nr_counts && histogram->first < first)
		first = histogram->first;
	if (histogram->nr_counts && histogram->first + histogram->nr_counts > end)
		end = histogram->first + histogram->nr_counts;
	if (end - first == histogram->nr_counts)
		return 0;
	counts = realloc(histogram->counts, end - first);
	if (!counts)
		return -ENOMEM;
	before = histogram->nr_counts ? histogram->first - first : 0;
	memmove(counts + before, counts, histogram->nr_counts);
	memset(counts, 0, before);
	memset(counts + before + histogram->nr_counts, 0,
	       end - first - before - histogram->nr_counts);
	histogram->counts = counts;
	histogram->first = first;
	histogram->nr_counts = end - first;
	return 0;
}

/* Makes room for one more of @carries.  The array is full when their number is a power of two. */
static int grow_carries(struct schedtape_histogram *histogram)
{
	unsigned int nr = histogram->nr_carries;
	struct histogram_carry *carries;

	if (nr & (nr - 1))
		return 0;
	carries = reallocarray(histogram->carries, nr ? 2 * nr : 1, sizeof(*carries));
	if (!carries)
		return -ENOMEM;
	histogram->carries = carries;
	return 0;
}

/* Adds to what a byte of @counts cannot hold.  This happens once in 256 times. */
static int carry(struct schedtape_histogram *histogram, unsigned int bucket, uint64_t times)
{
	unsigned int at = 0, nr = histogram->nr_carries;
	struct histogram_carry *carries;

	while (at < nr && histogram->carries[at].bucket < bucket)
		at++;
	if (at < nr && histogram->carries[at].bucket == bucket) {
		histogram->carries[at].times += times;
		return 0;
	}
	if (grow_carries(histogram))
		return -ENOMEM;
	carries = histogram->carries;
	memmove(carries + at + 1, carries + at, (nr - at) * sizeof(*carries));
	carries[at] = (struct histogram_carry){ .times = times, .bucket = bucket };
	histogram->nr_carries++;
	return 0;
}

/* Adds to the count of a bucket that @counts reach. */
static int count(struct schedtape_histogram *histogram, unsigned int bucket, unsigned int times)
{
	uint8_t *low = &histogram->counts[bucket - histogram->first];

	times += *low;
	*low = times;
	return times > UINT8_MAX ? carry(histogram, bucket, UINT8_MAX + 1) : 0;
}

/*
 * Returns the count of the bucket @histogram->first + @i.  To be called for all of them in order,
 * with the same @carry, which is 0 at first.
 */
static uint64_t next_count(const struct schedtape_histogram *histogram, unsigned int i,
			   unsigned int *carry)
{
	const struct histogram_carry *next;

	if (*carry == histogram->nr_carries)
		return histogram->counts[i];
	next = &histogram->carries[*carry];
	if (next->bucket != histogram->first + i)
		return histogram->counts[i];
	++*carry;
	return histogram->counts[i] + next->times;
}

/* -- adding ---------------------------------------------------------------- */

/*
 * Counts the lengths in @few.  They are counted together, so that @counts stay in the CPU's cache
 * meanwhile: there is a histogram for each task, and the next length is of another one.
 */
static int count_few(struct schedtape_histogram *histogram)
{
	unsigned int i, low = HISTOGRAM_BUCKETS, high = 0;
	int rc = 0;

	for (i = 0; i < histogram->nr_few; i++) {
		if (histogram->few[i] < low)
			low = histogram->few[i];
		if (histogram->few[i] > high)
			high = histogram->few[i];
	}
	if (histogram->nr_few)
		rc = reach(histogram, low, high);
	for (i = 0; i < histogram->nr_few && !rc; i++)
		rc = count(histogram, histogram->few[i], 1);
	histogram->nr_few = 0;
	return rc;
}

/* Makes room in @few for one more length. */
static int make_room(struct schedtape_histogram *histogram)
{
	unsigned int room = histogram->few_room ? FEW_GROW * histogram->few_room : FIRST_FEW;
	uint16_t *few;

	if (histogram->few_room == FEW)
		return count_few(histogram);
	few = reallocarray(histogram->few, room, sizeof(*few));
	if (!few)
		return -ENOMEM;
	histogram->few = few;
	histogram->few_room = room;
	return 0;
}

static inline int add_one(struct schedtape_histogram *histogram, unsigned int bucket)
{
	if (histogram->nr_few == histogram->few_room && make_room(histogram))
		return -ENOMEM;
	histogram->few[histogram->nr_few++] = bucket;
	histogram->nr++;
	return 0;
}

int schedtape_histogram_add(struct schedtape_histogram *histogram, uint64_t length)
{
	histogram->sum += length;
	if (length > histogram->worst)
		histogram->worst = length;
	return add_one(histogram, bucket_of(length));
}

/* Adds eight counts from the one of @bucket on. */
static int count_eight(struct schedtape_histogram *histogram, unsigned int bucket,
		       const uint8_t *others)
{
	uint8_t *counts = &histogram->counts[bucket - histogram->first];
	uint64_t sum, other;
	unsigned int i;
	int rc = 0;

	memcpy(&sum, counts, sizeof(sum));
	memcpy(&other, others, sizeof(other));
	/* If all are below 128, no sum outgrows its byte. */
	if (!((sum | other) & 0x8080808080808080)) {
		sum += other;
		memcpy(counts, &sum, sizeof(sum));
		return 0;
	}
	for (i = 0; i < sizeof(sum) && !rc; i++)
		rc = count(histogram, bucket + i, others[i]);
	return rc;
}

static int merge_counts(struct schedtape_histogram *histogram,
			const struct schedtape_histogram *other)
{
	const struct histogram_carry *carries = other->carries;
	unsigned int i;
	int rc;

	if (!other->nr_counts)
		return 0;
	rc = reach(histogram, other->first, other->first + other->nr_counts - 1U);
	for (i = 0; i < other->nr_counts && !rc; i += sizeof(uint64_t))
		rc = count_eight(histogram, other->first + i, other->counts + i);
	for (i = 0; i < other->nr_carries && !rc; i++)
		rc = carry(histogram, carries[i].bucket, carries[i].times);
	return rc;
}

int schedtape_histogram_merge(struct schedtape_histogram *histogram,
			      const struct schedtape_histogram *other)
{
	unsigned int i;
	int rc;

	histogram->sum += other->sum;
	if (other->worst > histogram->worst)
		histogram->worst = other->worst;
	rc = merge_counts(histogram, other);
	histogram->nr += other->nr - other->nr_few;
	for (i = 0; i < other->nr_few && !rc; i++)
		rc = add_one(histogram, other->few[i]);
	/* The caller reads the sum next: with @few empty it has to read only @counts. */
	if (!rc && histogram->counts)
		rc = count_few(histogram);
	return rc;
}

/* -- reading --------------------------------------------------------------- */

void schedtape_histogram_counts(const struct schedtape_histogram *histogram,
				uint64_t counts[HISTOGRAM_BUCKETS])
{
	unsigned int i, at = 0;

	memset(counts, 0, HISTOGRAM_BUCKETS * sizeof(*counts));
	for (i = 0; i < histogram->nr_counts; i++)
		counts[histogram->first + i] = next_count(histogram, i, &at);
	for (i = 0; i < histogram->nr_few; i++)
		counts[histogram->few[i]]++;
}

static int compare_buckets(const void *left, const void *right)
{
	return *(const uint16_t *)left - *(const uint16_t *)right;
}

/*
 * Returns the bucket of the length with a rank, if all lengths are in @few.  @rank: 1 is the
 * shortest
 */
static unsigned int few_at(const struct schedtape_histogram *histogram, uint64_t rank)
{
	uint16_t sorted[FEW];

	memcpy(sorted, histogram->few, histogram->nr * sizeof(*sorted));
	qsort(sorted, histogram->nr, sizeof(*sorted), compare_buckets);
	return sorted[rank - 1];
}

/* The same, if none is. */
static unsigned int counts_at(const struct schedtape_histogram *histogram, uint64_t rank)
{
	unsigned int i, at = 0;
	uint64_t times;

	for (i = 0; i < histogram->nr_counts - 1U; i++) {
		times = next_count(histogram, i, &at);
		if (times >= rank)
			break;
		rank -= times;
	}
	return histogram->first + i;
}

/* The same, if some are. */
static unsigned int any_at(const struct schedtape_histogram *histogram, uint64_t rank)
{
	uint64_t counts[HISTOGRAM_BUCKETS];
	unsigned int i;

	schedtape_histogram_counts(histogram, counts);
	for (i = 0; i < HISTOGRAM_BUCKETS - 1 && counts[i] < rank; i++)
		rank -= counts[i];
	return i;
}

static unsigned int bucket_at(const struct schedtape_histogram *histogram, uint64_t rank)
{
	if (!histogram->nr_counts)
		return few_at(histogram, rank);
	return histogram->nr_few ? any_at(histogram, rank) : counts_at(histogram, rank);
}

uint64_t schedtape_histogram_quantile(const struct schedtape_histogram *histogram,
				      unsigned int num, unsigned int den)
{
	uint64_t rank, limit;

	if (!histogram->nr)
		return 0;
	/* nr * num / den, rounded up, without an overflow */
	rank = histogram->nr / den * num + (histogram->nr % den * num + den - 1) / den;
	limit = schedtape_histogram_limit(bucket_at(histogram, rank));
	return limit < histogram->worst ? limit : histogram->worst;
}

void schedtape_histogram_free(struct schedtape_histogram *histogram)
{
	free(histogram->few);
	free(histogram->counts);
	free(histogram->carries);
	*histogram = (struct schedtape_histogram){ 0 };
}
