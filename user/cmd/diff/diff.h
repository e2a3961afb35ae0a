/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedtape diff: diff.c loads, judge.c judges, print.c prints, with what
 * machine.c finds.
 */
#ifndef SCHEDTAPE_DIFF_H
#define SCHEDTAPE_DIFF_H

#include <schedtape.h>

#include "common/table.h"

/* What may be limited: fractions, KS distances, a number of tasks. */
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
 * @limits: negative: none
 * @min_runtime: tasks that ran less in both are not judged by it, ns
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
 * struct diff_verdict - the worst of A's tasks
 * @worst: by limit, for those that tasks are judged by; NULL: no task to judge
 * @errors: theirs, signed fractions; of all others that of the tapes, NAN: none
 * @median_cpu: of what is judged, its amount
 * @small: tasks whose CPU time was too short to be judged
 * @total_a, @total_b: sums of A's tasks, and of their counterparts
 * @total_ks: distances of the lengths of all matched tasks together
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

/*
 * Of B against A: signed fractions, INFINITY where A has nothing; KS distances, NAN
 * where one has nothing.  @limit: one that tasks are judged by.
 */
double diff_error(const struct diff *diff, const struct schedtape_pair *pair,
		  enum diff_limit limit);

/* A stop of the original is a sleep of its replay. */
static inline uint64_t diff_sleeps(const struct schedtape_task *task)
{
	return task->sleeps + task->stops;
}

/* What the recorder took to begin and to end is none of the tasks'. */
static inline uint64_t diff_wall(const struct diff_side *side)
{
	return schedtape_profile_span(side->profile);
}

/* judge.c: fills in the verdict.  -ENOMEM: said why. */
int diff_judge(struct diff *diff, const struct schedtape_comparison *comparison);
/* Which of the limits that were asked for are exceeded?  CMD_FAILURE if any is, and says so. */
int diff_check(const struct diff *diff);

/* machine.c: how the recordings differ in what their tasks had no part in. */
void diff_machine_print(const struct diff *diff);
void diff_machine_json(const struct diff *diff);

/* settings.c: the part of it that is about the scheduler's settings. */
void diff_settings_print(const struct diff *diff);
void diff_settings_json(const struct diff *diff);

/* print.c */
extern const struct table_column diff_columns[];
void diff_print_text(const struct diff *diff);
void diff_print_json(const struct diff *diff);

#endif /* SCHEDTAPE_DIFF_H */
