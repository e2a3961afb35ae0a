// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: the errors of B against A, and whether they exceed limits.
 */
#include <math.h>
#include <stdlib.h>

#include "common/output.h"
#include "diff/internal.h"

/* A limit's name in messages, its lengths, and whether it is for tasks. */
static const struct {
	const char *name;
	int length;		/* enum schedtape_length, or -1 */
	bool of_tasks;
} limits[DIFF_NR_LIMITS] = {
	[DIFF_CPU] = { "CPU time", -1, true },
	[DIFF_WAKEUPS] = { "wake-ups", -1, true },
	[DIFF_SLEEPS] = { "sleeps", -1, true },
	[DIFF_BURST_KS] = { "lengths of bursts", SCHEDTAPE_BURSTS, true },
	[DIFF_SLEEP_KS] = { "lengths of sleeps", SCHEDTAPE_SLEEPS, true },
	[DIFF_DELAY_KS] = { "scheduling delays", SCHEDTAPE_DELAYS, true },
	[DIFF_TOTAL_CPU] = { "CPU time in total", -1, false },
	[DIFF_ORDER] = { "order of wake-ups", -1, false },
	[DIFF_WALL] = { "wall time", -1, false },
	[DIFF_UNMATCHED] = { "tasks only in B", -1, false },
};

double diff_relative(double a, double b)
{
	if (a == b)
		return 0;
	return a ? (b - a) / a : INFINITY;
}

double diff_error(const struct diff *diff, const struct schedtape_pair *pair,
		  enum diff_limit limit)
{
	const struct schedtape_task *a = diff_a(diff, pair), *b = diff_b(diff, pair);

	switch (limit) {
	case DIFF_CPU:
		return diff_relative(a ? a->cpu_time : 0, b ? b->cpu_time : 0);
	case DIFF_WAKEUPS:
		return diff_relative(a ? a->wakeups : 0, b ? b->wakeups : 0);
	case DIFF_SLEEPS:
		return diff_relative(a ? diff_sleeps(a) : 0, b ? diff_sleeps(b) : 0);
	default:
		if (limits[limit].length < 0)
			return NAN;
		return schedtape_profile_distance(diff->a.profile, diff->b.profile, pair,
						  limits[limit].length);
	}
}

static bool never_ran(const struct schedtape_task *task)
{
	return !task->cpu_time && !task->bursts && !task->wakeups;
}

static bool ran_once(const struct schedtape_task *task)
{
	return task->bursts <= 1 && task->wakeups <= 1 && !diff_sleeps(task);
}

/* Is it a task that never ran, and its player, which only runs to end? */
static bool only_ends(const struct schedtape_task *a, const struct schedtape_task *b)
{
	return b && ((never_ran(a) && ran_once(b)) || (never_ran(b) && ran_once(a)));
}

static bool is_small(const struct diff *diff, const struct schedtape_pair *pair)
{
	const struct schedtape_task *a = diff_a(diff, pair), *b = diff_b(diff, pair);

	if (only_ends(a, b))
		return true;
	return a->cpu_time < diff->options->min_runtime &&
	       (!b || b->cpu_time < diff->options->min_runtime);
}

static int by_amount(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void add(struct schedtape_task *total, const struct schedtape_task *task)
{
	if (!task)
		return;
	total->cpu_time += task->cpu_time;
	total->bursts += task->bursts;
	total->sleeps += task->sleeps;
	total->stops += task->stops;
	total->wakeups += task->wakeups;
	total->wakeups_by_task += task->wakeups_by_task;
}

/* Returns true if the limit is for tasks, and for this one. */
static bool is_judged(const struct diff *diff, const struct schedtape_pair *pair,
		      enum diff_limit limit)
{
	return limits[limit].of_tasks && !only_ends(diff_a(diff, pair), diff_b(diff, pair)) &&
	       !(limit == DIFF_CPU && is_small(diff, pair));
}

static void judge_task(struct diff *diff, const struct schedtape_pair *pair)
{
	struct diff_verdict *verdict = &diff->verdict;
	int limit;
	double error;

	verdict->small += is_small(diff, pair);
	for (limit = 0; limit < DIFF_NR_LIMITS; limit++) {
		if (!is_judged(diff, pair, limit))
			continue;
		error = diff_error(diff, pair, limit);
		if (isnan(error) || (verdict->worst[limit] &&
				     fabs(error) <= fabs(verdict->errors[limit])))
			continue;
		verdict->worst[limit] = pair;
		verdict->errors[limit] = error;
	}
}

/*
 * Judges the tasks of A.  Tasks that are only in B (the controller of a replay) are reported;
 * they are errors only with --max-unmatched.  Returns the number of @cpu_errors.
 */
static size_t judge_tasks(struct diff *diff, double *cpu_errors)
{
	size_t i, n = 0;

	for (i = 0; i < diff->nr_pairs; i++) {
		const struct schedtape_pair *pair = &diff->pairs[i];

		if (pair->a == SCHEDTAPE_NONE) {
			diff->verdict.unmatched_time += diff_b(diff, pair)->cpu_time;
			continue;
		}
		judge_task(diff, pair);
		add(&diff->verdict.total_a, diff_a(diff, pair));
		add(&diff->verdict.total_b, diff_b(diff, pair));
		if (!is_small(diff, pair))
			cpu_errors[n++] = fabs(diff_error(diff, pair, DIFF_CPU));
	}
	return n;
}

int diff_judge(struct diff *diff, const struct schedtape_comparison *comparison)
{
	double *cpu_errors = calloc(diff->nr_pairs + 1, sizeof(*cpu_errors));
	struct diff_verdict *verdict = &diff->verdict;
	struct schedtape_error err = { "not enough memory" };
	int rc = -1;
	size_t n;

	if (cpu_errors) {
		n = judge_tasks(diff, cpu_errors);
		qsort(cpu_errors, n, sizeof(*cpu_errors), by_amount);
		verdict->median_cpu = n ? cpu_errors[n / 2] : NAN;
		verdict->errors[DIFF_TOTAL_CPU] =
			diff_relative(verdict->total_a.cpu_time, verdict->total_b.cpu_time);
		verdict->errors[DIFF_WALL] =
			diff_relative(diff_wall(&diff->a), diff_wall(&diff->b));
		verdict->errors[DIFF_UNMATCHED] = diff->distance->only_b;
		rc = schedtape_profile_order(diff->a.profile, diff->b.profile, comparison,
					     &verdict->errors[DIFF_ORDER], &err);
	}
	if (!rc)
		rc = schedtape_profile_total(diff->a.profile, diff->b.profile, diff->pairs,
					     diff->distance->matched, verdict->total_ks, &err);
	free(cpu_errors);
	if (rc)
		out_error(NULL, "%s", err.text);
	return rc;
}

enum diff_keeps diff_keeps(const struct diff *diff, enum diff_limit limit, double error)
{
	double most = diff->options->limits[limit];

	/* NAN, an unknown error, exceeds no limit. */
	if (most < 0 || isnan(error))
		return DIFF_NO_LIMIT;
	return fabs(error) > most ? DIFF_BEYOND : DIFF_WITHIN;
}

enum diff_keeps diff_task_keeps(const struct diff *diff, const struct schedtape_pair *pair,
				enum diff_limit limit)
{
	if (!is_judged(diff, pair, limit))
		return DIFF_NO_LIMIT;
	return diff_keeps(diff, limit, diff_error(diff, pair, limit));
}

static void complain(const struct diff *diff, enum diff_limit limit)
{
	double error = diff->verdict.errors[limit], most = diff->options->limits[limit];
	const struct schedtape_pair *pair = diff->verdict.worst[limit];
	char task[TEXT_TASK_LEN], is[OUT_PERCENT_LEN], may_be[OUT_PERCENT_LEN];
	const char *name = limits[limit].name;

	if (limits[limit].length >= 0)
		out_error(NULL, "%s of %s: distance %.3f, the limit is %.3f", name,
			  text_task(task, diff_a(diff, pair)->comm, diff_a(diff, pair)->pid),
			  error, most);
	else if (limit == DIFF_UNMATCHED)
		out_error(NULL, "%s: %.0f, the limit is %.0f", name, error, most);
	else if (pair)
		out_error(NULL, "%s of %s: %s off, the limit is %s", name,
			  text_task(task, diff_a(diff, pair)->comm, diff_a(diff, pair)->pid),
			  out_percent(is, error), out_percent(may_be, most));
	else
		out_error(NULL, "%s: %s off, the limit is %s", name, out_percent(is, error),
			  out_percent(may_be, most));
}

int diff_check(const struct diff *diff)
{
	const struct diff_options *opts = diff->options;
	int limit, status = 0;

	for (limit = 0; limit < DIFF_NR_LIMITS; limit++) {
		if (diff_keeps(diff, limit, diff->verdict.errors[limit]) != DIFF_BEYOND)
			continue;
		complain(diff, limit);
		status = CMD_FAILURE;
	}
	if (opts->same_graph && !diff->distance->same_graph) {
		out_error(NULL, "the graphs of who wakes whom differ");
		status = CMD_FAILURE;
	}
	return status;
}
