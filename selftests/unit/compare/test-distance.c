// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the distance of two distributions of lengths: the largest gap between their
 * shares, with steps of 1 % of a length, however many lengths there are.
 */
#include <math.h>
#include <stdlib.h>

#include <compare/distance.h>

#include "tap.h"

struct lengths {
	unsigned int n;
	uint64_t length[8];
};

static void add(struct schedtape_histogram *dist, uint64_t length, unsigned int times)
{
	while (times--)
		if (schedtape_histogram_add(dist, length))
			abort();
}

static bool is_distance(const struct lengths *one, const struct lengths *two, double distance)
{
	struct schedtape_histogram a = { 0 }, b = { 0 };
	unsigned int i;
	double there, back;

	for (i = 0; i < one->n; i++)
		add(&a, one->length[i], 1);
	for (i = 0; i < two->n; i++)
		add(&b, two->length[i], 1);
	there = schedtape_lengths_distance(&a, &b);
	back = schedtape_lengths_distance(&b, &a);
	schedtape_histogram_free(&a);
	schedtape_histogram_free(&b);
	return fabs(there - distance) < 1e-9 && fabs(back - distance) < 1e-9;
}

TEST(distance)
{
	static const struct {
		struct lengths a, b;
		double distance;
		const char *what;
	} cases[] = {
		{ { 4, { 1, 2, 3, 4 } }, { 4, { 4, 3, 2, 1 } }, 0, "the same in another order" },
		{ { 1, { 5 } }, { 3, { 5, 5, 5 } }, 0, "the same, more often" },
		{ { 2, { 1, 2 } }, { 2, { 3, 4 } }, 1, "all of one are shorter" },
		{ { 4, { 1, 2, 3, 4 } }, { 4, { 1, 2, 3, 10 } }, 0.25, "one of four is longer" },
		{ { 4, { 1, 1, 1, 10 } }, { 4, { 1, 5, 10, 10 } }, 0.5,
		  "the largest gap is not the last one" },
		{ { 1, { 0 } }, { 1, { 1 } }, 1, "no time at all is a length" },
		{ { 1, { 254 } }, { 1, { 255 } }, 1, "short lengths are told apart" },
		{ { 1, { 900 } }, { 1, { 909 } }, 1, "so are lengths that differ by 1 %" },
		{ { 1, { 1000 } }, { 1, { 1003 } }, 0, "but not by less than half of that" },
		{ { 1, { UINT64_MAX } }, { 1, { UINT64_MAX - 1 } }, 0, "the longest ones" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(is_distance(&cases[i].a, &cases[i].b, cases[i].distance), "%s: %g",
		   cases[i].what, cases[i].distance);
}

/* So many lengths that they are counted in buckets. */
TEST(many)
{
	struct schedtape_histogram few = { 0 }, many = { 0 };

	add(&few, 100, 1);
	add(&few, 200, 1);
	add(&many, 100, 1000);
	add(&many, 200, 1000);
	ok(many.nr == 2000 && schedtape_lengths_distance(&few, &many) == 0,
	   "each of many lengths counts once");
	add(&few, 300, 2);
	add(&many, 300, 1999);
	ok(fabs(schedtape_lengths_distance(&few, &many) - (0.5 - 2000 / 3999.0)) < 1e-9 ||
	   fabs(schedtape_lengths_distance(&few, &many) - (2000 / 3999.0 - 0.5)) < 1e-9,
	   "to the last one");
	schedtape_histogram_free(&few);
	schedtape_histogram_free(&many);
}

TEST(nothing)
{
	struct schedtape_histogram none = { 0 }, one = { 0 };

	add(&one, 1, 1);
	ok(isnan(schedtape_lengths_distance(&none, &one)) &&
	   isnan(schedtape_lengths_distance(&one, &none)) &&
	   isnan(schedtape_lengths_distance(&none, &none)), "nothing has no distance");
	schedtape_histogram_free(&one);
}

TEST_MAIN
