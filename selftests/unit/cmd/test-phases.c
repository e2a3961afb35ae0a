// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: phases: groups of points, and how many there are.
 */
#include <math.h>
#include <stdlib.h>

#include "common/clusters.h"
#include "tap.h"

#define N	90

static struct point points[N];
static struct clusters clusters;

/* Points near @nr corners in turns, each up to @apart from it. */
static void make_points(unsigned int nr, double apart)
{
	uint64_t random = 1;
	int i, dim;

	for (i = 0; i < N; i++)
		for (dim = 0; dim < POINT_DIMS; dim++)
			points[i].at[dim] = ((unsigned int)dim % nr == i % nr) +
					    apart * (2 * clusters_random_share(&random) - 1);
}

/* Finds groups of the first @n points. */
static void find(uint32_t n, uint32_t least, uint32_t most)
{
	clusters_free(&clusters);
	ok(!clusters_find(&clusters, points, n, least, most), "no error");
}

static bool follows_corners(unsigned int nr)
{
	int i;

	for (i = nr; i < N; i++)
		if (clusters.of[i] != clusters.of[i - nr])
			return false;
	for (i = 1; i < (int)nr; i++)
		if (clusters.of[i] == clusters.of[0])
			return false;
	return true;
}

TEST(choice)
{
	make_points(3, 0.15);
	find(N, 1, 10);
	ok(clusters.k == 3 && follows_corners(3), "three groups are found by themselves");
	find(N, 2, 2);
	ok(clusters.k == 2, "or as many as are asked for");
	make_points(1, 0.15);
	find(N, 1, 10);
	ok(clusters.k == 1, "points that are alike are one group");
}

TEST(few)
{
	make_points(3, 0);
	find(N, 5, 5);
	ok(clusters.k == 3 && follows_corners(3), "there are no more groups than different points");
	find(3, 3, 3);
	ok(clusters.k == 3 && clusters.error == 0, "as many groups as points");
	find(1, 1, 1);
	ok(clusters.k == 1 && clusters.of[0] == 0, "one point");
}

TEST(repeats)
{
	struct clusters first;
	int i;

	make_points(3, 0.5);
	find(N, 1, 10);
	first = clusters;
	clusters = (struct clusters){ .k = 0 };
	find(N, 1, 10);
	ok(first.k == clusters.k && first.error == clusters.error, "the result is always the same");
	for (i = 0; i < N && first.of[i] == clusters.of[i]; i++)
		;
	ok(i == N, "for each point");
	clusters_free(&first);
}

TEST_MAIN
