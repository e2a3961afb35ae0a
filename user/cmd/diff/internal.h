/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedtape diff: diff.c loads, judge.c judges, parts.c finds and prints the parts of errors,
 * machines.c compares the machines, print.c prints the rest.
 */
#ifndef SCHEDTAPE_DIFF_INTERNAL_H
#define SCHEDTAPE_DIFF_INTERNAL_H

#include <schedtape.h>

#include "common/table.h"

/* Values that may have a limit: fractions, KS distances, a number of tasks. */
enum diff_limit {
	DIFF_CPU,
	DIFF_WAKEUPS,
	DIFF_SLEEPS,
	DIFF_BURST_KS,
	DIFF_SLEEP_KS,
	DIFF_DELAY_KS,
	DIFF_TOTAL_CPU,
	DIFF_ORDER,
	DIFF_WALL,
	DIFF_UNMATCHED,
	DIFF_NR_LIMITS,
};

/* The default of --min-runtime: what starting and ending a thread costs varies by 0.1 ms. */
#define DIFF_MIN_RUNTIME_MS	5

/**
 * struct diff_options - the command line
 * @limits: negative: no limit
 * @min_runtime: the CPU time of a task that ran less on both tapes is not judged, ns
 */
struct diff_options {
	const char *paths[2];
	struct table_options table;
	bool json;
	bool same_graph;
	bool edges;
	double limits[DIFF_NR_LIMITS];
	uint64_t min_runtime;
};

struct diff_side {
	const char *path;
	struct schedtape_tape *tape;
	struct schedtape_timeline *timeline;
	struct schedtape_profile *profile;
	const struct schedtape_end *end;
	const struct schedtape_task *tasks;
	size_t nr_tasks;
};

/**
 * struct diff_verdict - the errors of B against A
 * @worst: by limit: the worst task of A, for limits of tasks; NULL: no task to judge
 * @errors: by limit: error of @worst, or of the tapes for the other limits; signed
 *	fractions, NAN: unknown
 * @median_cpu: median of the absolute errors of the judged CPU times
 * @small: number of tasks whose CPU time was too short to judge
 * @total_a, @total_b: sums over A's tasks, and over their counterparts
 * @total_ks: KS distances of the lengths of all matched tasks together
 * @unmatched_time: CPU time of tasks that are only in B, ns
 */
struct diff_verdict {
	const struct schedtape_pair *worst[DIFF_NR_LIMITS];
	double errors[DIFF_NR_LIMITS];
	double median_cpu;
	size_t small;
	struct schedtape_task total_a;
	struct schedtape_task total_b;
	double total_ks[SCHEDTAPE_NR_LENGTHS];
	uint64_t unmatched_time;
};

/**
 * struct diff_parts - what the error of a task's CPU time in a replay consists of, ns
 * @error: the sum of the other members
 * @steps: costs of steps for which no burst made up
 * @forks: the same of forks and exits
 * @stalls: CPU time in which the player did not get on, 0 also if that is not known
 * @rest: what is left
 */
struct diff_parts {
	int64_t error;
	int64_t steps;
	int64_t forks;
	int64_t stalls;
	int64_t rest;
};

/**
 * struct diff - two tapes and how they differ
 * @parts: by pair, for matched ones; NULL: not known
 * @total_parts: their sums
 * @stalls_known: B's END has the stalls
 * @no_parts: why the parts of a replay's errors are not known, or NULL
 */
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
	struct diff_parts *parts;
	struct diff_parts total_parts;
	bool stalls_known;
	const char *no_parts;
};

/* Return the task of a pair in A or in B, or NULL. */
static inline const struct schedtape_task *diff_a(const struct diff *diff,
						  const struct schedtape_pair *pair)
{
	return pair->a == SCHEDTAPE_NONE ? NULL : &diff->a.tasks[pair->a];
}

static inline const struct schedtape_task *diff_b(const struct diff *diff,
						  const struct schedtape_pair *pair)
{
	return pair->b == SCHEDTAPE_NONE ? NULL : &diff->b.tasks[pair->b];
}

/* Returns (b - a) / a; 0 if both are 0, INFINITY if only a is 0. */
double diff_relative(double a, double b);
/*
 * Returns the error of a task in B against A: a signed fraction, INFINITY if A has nothing;
 * or a KS distance, NAN if one of them has nothing.  @limit: a limit of tasks.
 */
double diff_error(const struct diff *diff, const struct schedtape_pair *pair,
		  enum diff_limit limit);

/* Counts stops by signals as sleeps, because a replay sleeps instead. */
static inline uint64_t diff_sleeps(const struct schedtape_task *task)
{
	return task->sleeps + task->stops;
}

/* Returns the wall time, without the start-up and the shutdown of the recorder. */
static inline uint64_t diff_wall(const struct diff_side *side)
{
	return schedtape_profile_span(side->profile);
}

/*
 * Whether an error is within the limit that the user has set for it.  DIFF_NO_LIMIT: the user has
 * set none, or this task is not judged by it.
 */
enum diff_keeps {
	DIFF_NO_LIMIT,
	DIFF_WITHIN,
	DIFF_BEYOND,
};

enum diff_keeps diff_keeps(const struct diff *diff, enum diff_limit limit, double error);
/* The same of the error of a task, for limits of tasks. */
enum diff_keeps diff_task_keeps(const struct diff *diff, const struct schedtape_pair *pair,
				enum diff_limit limit);

/* judge.c: fills in the verdict.  Returns 0, or not 0 after a message. */
int diff_judge(struct diff *diff, const struct schedtape_comparison *comparison);
/* Prints each limit that is exceeded.  Returns CMD_FAILURE if there is one, otherwise 0. */
int diff_check(const struct diff *diff);

/*
 * parts.c: fills in the parts of errors if B is a replay of A.  Returns 0, or not 0 after a
 * message.
 */
int diff_find_parts(struct diff *diff);
void diff_parts_print(const struct diff *diff);
/* @parts: may be NULL. */
struct json_object *diff_parts_json(const struct diff *diff, const struct diff_parts *parts);

/* machines.c: differences of the machines: schedulers, settings. */
void diff_machine_print(const struct diff *diff);
void diff_machine_json(const struct diff *diff);

/* print.c */
extern const struct table_column diff_columns[];
void diff_print_text(const struct diff *diff);
void diff_print_json(const struct diff *diff);

#endif /* SCHEDTAPE_DIFF_INTERNAL_H */
