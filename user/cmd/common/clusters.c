// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds groups of points, as SimPoint does: k-means for each number of groups, from several random
 * beginnings, and of these results the one that explains the points without too many groups.
 *
 * k-means: S. Lloyd, "Least squares quantization in PCM", 1982; the beginnings are those of
 * D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.  Choice:
 * D. Pelleg and A. Moore, "X-means", 2000 (the Bayesian information criterion of groups of one
 * variance), and G. Hamerly et al., "SimPoint 3.0", 2005: the smallest number of groups whose score
 * reaches nine tenths of the way from the worst score to the best one.
 *
 * Libraries that have k-means are in C++ or Python, or bring much more than these 200 lines.
 */
#include "common/clusters.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS		5		/* as SimPoint */
#define ROUNDS		100		/* as SimPoint */
#define ENOUGH		0.9		/* as SimPoint */
/*
 * The variance, in each dimension, of points that are alike: if a tenth of the CPU time goes from
 * one class of tasks to another, that changes two numbers by 0.1, each of which is projected by a
 * factor whose square is 1/3 on average.  Without this, each interval of a workload that repeats
 * itself closely would become a phase.
 */
#define ALIKE		(2 * 0.1 * 0.1 / 3)

double clusters_distance(const struct point *a, const struct point *b)
{
	double sum = 0;
	int i;

	for (i = 0; i < POINT_DIMS; i++)
		sum += (a->at[i] - b->at[i]) * (a->at[i] - b->at[i]);
	return sum;
}

/* Chooses a point at random, one with twice the square of the distance twice as often. */
static uint32_t choose(const double *distances, uint32_t n, uint64_t *random)
{
	double sum = 0, at;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += distances[i];
	at = clusters_random_share(random) * sum;
	for (i = 0; i < n - 1; i++) {
		at -= distances[i];
		if (at < 0)
			break;
	}
	return i;
}

/*
 * Sets the centres to points far from each other; fewer of them if all others are the same as one.
 * @distances: room for one of each point
 */
static void set_centres(struct clusters *clusters, const struct point *points, uint32_t n,
			double *distances, uint64_t *random)
{
	uint32_t i, k, most = clusters->k, next = clusters_random(random) % n;
	double distance, farthest;

	for (i = 0; i < n; i++)
		distances[i] = INFINITY;
	for (k = 0; k < most; k++) {
		clusters->centres[k] = points[next];
		farthest = 0;
		for (i = 0; i < n; i++) {
			distance = clusters_distance(&points[i], &points[next]);
			if (distance < distances[i])
				distances[i] = distance;
			if (distances[i] > farthest)
				farthest = distances[i];
		}
		if (farthest == 0) {
			clusters->k = k + 1;
			return;
		}
		next = choose(distances, n, random);
	}
}

/* Puts each point into the group of the nearest centre.  Returns true if one was elsewhere. */
static bool assign(struct clusters *clusters, const struct point *points, uint32_t n)
{
	double distance, least;
	bool changed = false;
	uint32_t i, k, best;

	clusters->error = 0;
	for (i = 0; i < n; i++) {
		least = INFINITY;
		best = 0;
		for (k = 0; k < clusters->k; k++) {
			distance = clusters_distance(&points[i], &clusters->centres[k]);
			if (distance < least) {
				least = distance;
				best = k;
			}
		}
		clusters->error += least;
		changed = changed || clusters->of[i] != best;
		clusters->of[i] = best;
	}
	return changed;
}

/* Moves each centre into the middle of its points.  That of a group without points stays. */
static void move_centres(struct clusters *clusters, const struct point *points, uint32_t n)
{
	struct point sum;
	uint32_t i, k, nr;
	int dim;

	for (k = 0; k < clusters->k; k++) {
		memset(&sum, 0, sizeof(sum));
		nr = 0;
		for (i = 0; i < n; i++) {
			if (clusters->of[i] != k)
				continue;
			nr++;
			for (dim = 0; dim < POINT_DIMS; dim++)
				sum.at[dim] += points[i].at[dim];
		}
		for (dim = 0; nr && dim < POINT_DIMS; dim++)
			clusters->centres[k].at[dim] = sum.at[dim] / nr;
	}
}

static void kmeans(struct clusters *clusters, const struct point *points, uint32_t n,
		   double *distances, uint64_t *random)
{
	int round;

	set_centres(clusters, points, n, distances, random);
	memset(clusters->of, 0xff, n * sizeof(*clusters->of));
	for (round = 0; round < ROUNDS && assign(clusters, points, n); round++)
		move_centres(clusters, points, n);
}

/* Returns the Bayesian information criterion: how likely the points are, less what groups cost. */
static double score(const struct clusters *clusters, uint32_t n)
{
	double variance, likely = 0;
	uint32_t i, k, nr;

	variance = n > clusters->k ? clusters->error / POINT_DIMS / (n - clusters->k) : 0;
	if (variance < ALIKE)
		variance = ALIKE;
	for (k = 0; k < clusters->k; k++) {
		nr = 0;
		for (i = 0; i < n; i++)
			nr += clusters->of[i] == k;
		if (nr)
			likely += nr * log((double)nr / n);
	}
	likely -= n * POINT_DIMS / 2.0 * log(2 * M_PI * variance) +
		  POINT_DIMS * (double)(n - clusters->k) / 2;
	/* A group has a share, and a centre; all have one variance. */
	return likely - clusters->k * (POINT_DIMS + 1) / 2.0 * log(n);
}

static int allocate(struct clusters *clusters, uint32_t n, uint32_t k)
{
	*clusters = (struct clusters){
		.k = k,
		.centres = calloc(k, sizeof(*clusters->centres)),
		.of = calloc(n, sizeof(*clusters->of)),
	};
	return clusters->centres && clusters->of ? 0 : -ENOMEM;
}

/* Finds the best of several groupings into @k groups.  Returns 0 or -ENOMEM. */
static int find_of(struct clusters *best, const struct point *points, uint32_t n, uint32_t k)
{
	double *distances = calloc(n, sizeof(*distances));
	int seed, rc = distances ? allocate(best, n, k) : -ENOMEM;
	struct clusters clusters, other;
	uint64_t random = k;

	best->error = INFINITY;
	for (seed = 0; seed < SEEDS && !rc; seed++) {
		rc = allocate(&clusters, n, k);
		if (!rc)
			kmeans(&clusters, points, n, distances, &random);
		if (!rc && clusters.error < best->error) {
			other = *best;
			*best = clusters;
			clusters = other;
		}
		clusters_free(&clusters);
	}
	free(distances);
	return rc;
}

int clusters_find(struct clusters *clusters, const struct point *points, uint32_t n,
		  uint32_t least, uint32_t most)
{
	uint32_t i, nr = most - least + 1;
	double scores[nr], worst = INFINITY, best = -INFINITY;
	struct clusters all[nr];
	int rc = 0;

	memset(all, 0, sizeof(all));
	for (i = 0; i < nr && !rc; i++) {
		rc = find_of(&all[i], points, n, least + i);
		if (rc)
			break;
		scores[i] = score(&all[i], n);
		worst = fmin(worst, scores[i]);
		best = fmax(best, scores[i]);
	}
	for (i = 0; i < nr - 1 && !rc; i++)
		if (scores[i] >= worst + ENOUGH * (best - worst))
			break;
	if (!rc) {
		*clusters = all[i];
		all[i] = (struct clusters){ .k = 0 };
	}
	for (i = 0; i < nr; i++)
		clusters_free(&all[i]);
	return rc;
}

void clusters_free(struct clusters *clusters)
{
	free(clusters->centres);
	free(clusters->of);
}
