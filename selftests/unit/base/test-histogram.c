// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: histograms: buckets of at most 1 %, quantiles by nearest rank, exact sums and worst
 * lengths, however many lengths there are, and sums of histograms.
 */
#include <stdlib.h>
#include <string.h>

#include <base/histogram.h>

#include "tap.h"

static void add(struct schedtape_histogram *histogram, uint64_t length, unsigned int times)
{
	while (times--)
		if (schedtape_histogram_add(histogram, length))
			abort();
}

/* Returns the only bucket that has a length. */
static unsigned int bucket_of(uint64_t length)
{
	static uint64_t counts[HISTOGRAM_BUCKETS];
	struct schedtape_histogram histogram = { 0 };
	unsigned int i = 0;

	add(&histogram, length, 1);
	schedtape_histogram_counts(&histogram, counts);
	schedtape_histogram_free(&histogram);
	while (i < HISTOGRAM_BUCKETS && !counts[i])
		i++;
	return i;
}

TEST(buckets)
{
	uint64_t first = 0, limit;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		limit = schedtape_histogram_limit(i);
		if (bucket_of(first) != i || bucket_of(limit) != i || limit - first > first / 100)
			break;
		first = limit + 1;
	}
	ok(i == HISTOGRAM_BUCKETS && !first,
	   "the buckets follow one another up to 2^64, and none is wider than 1 %%");
	ok(bucket_of(254) != bucket_of(255), "short lengths are told apart");
}

TEST(quantiles)
{
	struct schedtape_histogram h = { 0 };
	uint64_t i;

	ok(!schedtape_histogram_quantile(&h, 50, 100), "nothing has no quantile");
	for (i = 100; i > 0; i--)
		add(&h, i, 1);
	ok(h.nr == 100 && h.sum == 5050 && h.worst == 100, "number, sum and worst");
	ok(schedtape_histogram_quantile(&h, 50, 100) == 50 &&
	   schedtape_histogram_quantile(&h, 95, 100) == 95 &&
	   schedtape_histogram_quantile(&h, 991, 1000) == 100 &&
	   schedtape_histogram_quantile(&h, 1, 1000) == 1 &&
	   schedtape_histogram_quantile(&h, 1, 1) == 100, "quantiles by nearest rank");
	schedtape_histogram_free(&h);

	add(&h, 1000001, 3);
	ok(schedtape_histogram_quantile(&h, 50, 100) == 1000001,
	   "a quantile is not more than the worst");
	add(&h, 2000000, 1);
	i = schedtape_histogram_quantile(&h, 50, 100);
	ok(i >= 1000001 && i < 1010001, "it is the longest length of its bucket");
	schedtape_histogram_free(&h);
}

TEST(many)
{
	struct schedtape_histogram h = { 0 };

	add(&h, 100, 1000);
	add(&h, 5000000000, 1000);
	add(&h, UINT64_MAX, 1);
	ok(h.nr == 2001 && h.worst == UINT64_MAX && h.sum == 100 * 1000 + 5000000000000 - 1,
	   "many lengths: number, sum and worst");
	ok(schedtape_histogram_quantile(&h, 499, 1000) == 100 &&
	   schedtape_histogram_quantile(&h, 501, 1000) >= 5000000000 &&
	   schedtape_histogram_quantile(&h, 501, 1000) < 5050000000 &&
	   schedtape_histogram_quantile(&h, 1000, 2001) == 100 &&
	   schedtape_histogram_quantile(&h, 1001, 2001) >= 5000000000 &&
	   schedtape_histogram_quantile(&h, 1, 1) == UINT64_MAX, "each counts once");
	schedtape_histogram_free(&h);
}

/* Lengths on both sides of those that have come first, and a bucket that outgrows a byte. */
TEST(outgrown)
{
	static uint64_t counts[HISTOGRAM_BUCKETS];
	struct schedtape_histogram h = { 0 }, copy = { 0 };
	uint64_t sum = 0;
	unsigned int i;

	add(&h, 1000000, 255);
	add(&h, 1500000, 256);
	add(&h, 1000000000, 513);
	add(&h, 1000000, 1);
	add(&h, 3, 2);
	schedtape_histogram_counts(&h, counts);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += counts[i];
	ok(sum == 1027 && h.nr == 1027 && counts[3] == 2 && counts[bucket_of(1000000)] == 256 &&
	   counts[bucket_of(1500000)] == 256 && counts[bucket_of(1000000000)] == 513,
	   "the count of a bucket may be large, and buckets may come in any order");
	ok(schedtape_histogram_quantile(&h, 258, 1027) < 1010000 &&
	   schedtape_histogram_quantile(&h, 259, 1027) >= 1500000 &&
	   schedtape_histogram_quantile(&h, 514, 1027) < 1515000 &&
	   schedtape_histogram_quantile(&h, 515, 1027) == 1000000000,
	   "and quantiles see all of it");
	/* A sum has counts only. */
	schedtape_histogram_merge(&copy, &h);
	ok(schedtape_histogram_quantile(&copy, 258, 1027) < 1010000 &&
	   schedtape_histogram_quantile(&copy, 259, 1027) >= 1500000 &&
	   schedtape_histogram_quantile(&copy, 514, 1027) < 1515000 &&
	   schedtape_histogram_quantile(&copy, 515, 1027) == 1000000000, "so do those of a sum");
	schedtape_histogram_free(&copy);
	schedtape_histogram_free(&h);
}

static bool are_same(const struct schedtape_histogram *a, const struct schedtape_histogram *b)
{
	static uint64_t counts_a[HISTOGRAM_BUCKETS], counts_b[HISTOGRAM_BUCKETS];

	schedtape_histogram_counts(a, counts_a);
	schedtape_histogram_counts(b, counts_b);
	return a->nr == b->nr && a->sum == b->sum && a->worst == b->worst &&
	       !memcmp(counts_a, counts_b, sizeof(counts_a));
}

TEST(merge)
{
	struct schedtape_histogram few = { 0 }, many = { 0 }, all = { 0 };
	struct schedtape_histogram sum = { 0 }, back = { 0 };

	add(&few, 100, 3);
	add(&few, 777777, 2);
	add(&many, 200, 2000);
	add(&many, 100, 5);
	add(&all, 100, 8);
	add(&all, 777777, 2);
	add(&all, 200, 2000);
	ok(!schedtape_histogram_merge(&sum, &few) && are_same(&sum, &few) &&
	   !schedtape_histogram_merge(&sum, &many) && are_same(&sum, &all),
	   "a sum has all lengths of both");
	ok(!schedtape_histogram_merge(&back, &many) && !schedtape_histogram_merge(&back, &few) &&
	   are_same(&back, &all), "in either order");
	schedtape_histogram_free(&few);
	schedtape_histogram_free(&many);
	schedtape_histogram_free(&sum);
	schedtape_histogram_free(&back);
	schedtape_histogram_free(&all);
}

TEST_MAIN
