/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedtape diff: diff.c loads and judges, diff-print.c prints.
 */
#ifndef SCHEDTAPE_DIFF_H
#define SCHEDTAPE_DIFF_H

#include <schedtape.h>

/**
 * struct diff_options - the command line
 * @max_cpu_error, @max_wakeup_error: fractions, negative: no limit
 * @min_runtime: tasks that ran less in both are not judged by it, ns
 */
struct diff_options {
	const char *paths[2];
	bool json;
	bool same_graph;
	bool edges;
	double max_cpu_error;
	double max_wakeup_error;
	uint64_t min_runtime;
};

struct diff_side {
	const char *path;
	struct schedtape_tape *tape;
	struct schedtape_timeline *timeline;
	const struct schedtape_end *end;
	const struct schedtape_life *lives;
	size_t nr_lives;
};

/**
 * struct diff_verdict - the worst of A's tasks
 * @worst_cpu, @worst_wakeup: NULL: no task to judge
 * @cpu_error, @wakeup_error: theirs, signed fractions
 * @small: tasks whose CPU time was too short to be judged
 */
struct diff_verdict {
	const struct schedtape_pair *worst_cpu;
	const struct schedtape_pair *worst_wakeup;
	double cpu_error;
	double wakeup_error;
	size_t small;
};

struct diff {
	const struct diff_options *options;
	struct diff_side a;
	struct diff_side b;
	const struct schedtape_distance *distance;
	const struct schedtape_pair *pairs;
	const struct schedtape_edge_pair *edges;
	size_t nr_pairs;
	size_t nr_edges;
	struct diff_verdict verdict;
};

/* The task of a pair in A or in B, or NULL. */
static inline const struct schedtape_life *diff_a(const struct diff *diff,
						  const struct schedtape_pair *pair)
{
	return pair->a == SCHEDTAPE_NONE ? NULL : &diff->a.lives[pair->a];
}

static inline const struct schedtape_life *diff_b(const struct diff *diff,
						  const struct schedtape_pair *pair)
{
	return pair->b == SCHEDTAPE_NONE ? NULL : &diff->b.lives[pair->b];
}

/* Of B against A, signed fractions; INFINITY where A has nothing. */
double diff_cpu_error(const struct diff *diff, const struct schedtape_pair *pair);
double diff_wakeup_error(const struct diff *diff, const struct schedtape_pair *pair);

void diff_print_text(const struct diff *diff);
void diff_print_json(const struct diff *diff);

#endif /* SCHEDTAPE_DIFF_H */
