// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: output.
 */
#include <math.h>

#include "common/color.h"
#include "common/input.h"
#include "common/output.h"
#include "diff/internal.h"

static const unsigned char keeps_colors[] = {
	[DIFF_NO_LIMIT] = COLOR_PLAIN, [DIFF_WITHIN] = COLOR_GREEN, [DIFF_BEYOND] = COLOR_RED,
};

static void print_side(const char *name, const struct diff_side *side)
{
	char time[OUT_TIME_LEN], count[OUT_COUNT_LEN];

	printf("# %s: %s: %s s, %zu tasks", name, side->path, out_seconds(time, diff_wall(side), 6),
	       side->nr_tasks);
	if (cmd_count_lost(side->end))
		printf(", LOST %s events", out_count(count, cmd_count_lost(side->end)));
	putchar('\n');
}

const struct table_column diff_columns[] = {
	{ "task", "task", TABLE_TEXT | TABLE_NEEDED },
	{ "cpu-a", "CPU\nA ms", TABLE_PAIR | TABLE_NEEDED },
	{ "cpu-b", "CPU\nB ms", TABLE_NEEDED },
	{ "cpu-error", "CPU\nerror", TABLE_NEEDED },
	{ "sleeps-a", "sleeps\nA", TABLE_PAIR },
	{ "sleeps-b", "sleeps\nB", 0 },
	{ "wakeups-a", "wake-ups\nA", TABLE_PAIR },
	{ "wakeups-b", "wake-ups\nB", 0 },
	{ "burst-distance", "distance\nbursts", 0 },
	{ "sleep-distance", "distance\nsleeps", 0 },
	{ "delay-distance", "distance\ndelays", 0 },
	{ "pid-b", "PID\nin B", 0 },
	{ "by-tasks-a", "by tasks\nA", TABLE_PAIR },
	{ "by-tasks-b", "by tasks\nB", 0 },
	{ "bursts-a", "bursts\nA", TABLE_PAIR },
	{ "bursts-b", "bursts\nB", 0 },
	{ 0 }
};

static void print_distance(struct table *table, double distance)
{
	if (isnan(distance))
		table_cell(table, "-");
	else
		table_cell(table, "%.3f", distance);
}

/* @colors: by limit; @pid_b: "" for the total */
static void print_row(struct table *table, const struct schedtape_task *a,
		      const struct schedtape_task *b, const double *distances,
		      const unsigned char *colors, const char *name, const char *pid_b)
{
	double cpu_error = diff_relative(a->cpu_time, b->cpu_time);
	char error[OUT_PERCENT_LEN];
	size_t i;

	table_cell(table, "%s", name);
	table_cell(table, "%.3f", out_ms(a->cpu_time));
	table_cell(table, "%.3f", out_ms(b->cpu_time));
	table_color(table, colors[DIFF_CPU]);
	table_cell(table, "%s", out_percent(error, cpu_error));
	table_cell(table, "%" PRIu64, diff_sleeps(a));
	table_color(table, colors[DIFF_SLEEPS]);
	table_cell(table, "%" PRIu64, diff_sleeps(b));
	table_cell(table, "%" PRIu64, a->wakeups);
	table_color(table, colors[DIFF_WAKEUPS]);
	table_cell(table, "%" PRIu64, b->wakeups);
	for (i = 0; i < SCHEDTAPE_NR_LENGTHS; i++) {
		table_color(table, colors[DIFF_BURST_KS + i]);
		print_distance(table, distances[i]);
	}
	table_cell(table, "%s", pid_b);
	table_cell(table, "%" PRIu64, a->wakeups_by_task);
	table_cell(table, "%" PRIu64, b->wakeups_by_task);
	table_cell(table, "%" PRIu64, a->bursts);
	table_cell(table, "%" PRIu64, b->bursts);
}

static void print_pair(struct table *table, const struct diff *diff,
		       const struct schedtape_pair *pair)
{
	const struct schedtape_task *a = diff_a(diff, pair), *b = diff_b(diff, pair);
	double distances[SCHEDTAPE_NR_LENGTHS];
	unsigned char colors[DIFF_NR_LIMITS];
	char name[TEXT_TASK_LEN], pid_b[16];
	int i;

	for (i = 0; i < SCHEDTAPE_NR_LENGTHS; i++)
		distances[i] = diff_error(diff, pair, DIFF_BURST_KS + i);
	for (i = 0; i < DIFF_NR_LIMITS; i++)
		colors[i] = keeps_colors[diff_task_keeps(diff, pair, i)];
	snprintf(pid_b, sizeof(pid_b), "%u", b->pid);
	print_row(table, a, b, distances, colors, text_task(name, a->comm, a->pid), pid_b);
}

static void print_tasks(const struct diff *diff)
{
	unsigned char colors[DIFF_NR_LIMITS] = { COLOR_PLAIN };
	struct table table;
	size_t i;

	colors[DIFF_CPU] = keeps_colors[diff_keeps(diff, DIFF_TOTAL_CPU,
						   diff->verdict.errors[DIFF_TOTAL_CPU])];
	table_begin(&table, diff_columns, &diff->options->table);
	while (table_pass(&table)) {
		for (i = 0; i < diff->distance->matched && out_works(); i++)
			print_pair(&table, diff, &diff->pairs[i]);
		table_rule(&table);
		print_row(&table, &diff->verdict.total_a, &diff->verdict.total_b,
			  diff->verdict.total_ks, colors, "TOTAL", "");
	}
}

static void print_unmatched_rows(struct table *table, const struct diff *diff)
{
	size_t i;

	for (i = diff->distance->matched; i < diff->nr_pairs && out_works(); i++) {
		const struct schedtape_task *a = diff_a(diff, &diff->pairs[i]);
		const struct schedtape_task *task = a ? a : diff_b(diff, &diff->pairs[i]);
		char name[TEXT_TASK_LEN];

		table_cell(table, "%s", text_task(name, task->comm, task->pid));
		table_cell(table, "%s", a ? "A" : "B");
		table_cell(table, "%.3f", out_ms(task->cpu_time));
		table_cell(table, "%" PRIu64, task->bursts);
		table_cell(table, "%" PRIu64, task->wakeups);
	}
}

static void print_unmatched(const struct diff *diff)
{
	static const struct table_column columns[] = {
		{ "task", "unmatched task", TABLE_TEXT | TABLE_NEEDED },
		{ "tape", "only in", TABLE_NEEDED },
		{ "cpu", "CPU ms", 0 },
		{ "bursts", "bursts", 0 },
		{ "wakeups", "wake-ups", 0 },
		{ 0 }
	};
	struct table table;

	if (diff->distance->matched == diff->nr_pairs)
		return;
	putchar('\n');
	table_begin(&table, columns, NULL);
	while (table_pass(&table))
		print_unmatched_rows(&table, diff);
}

static const char *name_of(char buffer[TEXT_TASK_LEN], const struct diff *diff, uint32_t pair)
{
	const struct schedtape_task *task = diff_a(diff, &diff->pairs[pair]);

	return text_task(buffer, task->comm, task->pid);
}

/* Returns true if the wake-up graphs differ, also because tasks are unmatched. */
static bool edges_differ(const struct schedtape_distance *d)
{
	return d->edges_differ || d->edges_only_a || d->edges_only_b;
}

static void print_edge_rows(struct table *table, const struct diff *diff)
{
	size_t i;

	for (i = 0; i < diff->nr_edges && out_works(); i++) {
		const struct schedtape_edge_pair *edge = &diff->edges[i];
		char name[TEXT_TASK_LEN];

		if (edge->a == edge->b)
			continue;
		table_cell(table, "%s", name_of(name, diff, edge->waker));
		table_cell(table, "%s", name_of(name, diff, edge->wakee));
		table_cell(table, "%" PRIu64, edge->a);
		table_cell(table, "%" PRIu64, edge->b);
	}
}

static void print_edges(const struct diff *diff)
{
	static const struct table_column columns[] = {
		{ "waker", "waker", TABLE_TEXT | TABLE_NEEDED },
		{ "wakee", "wakee", TABLE_TEXT | TABLE_NEEDED },
		{ "wakeups-a", "wake-ups\nA", TABLE_NEEDED },
		{ "wakeups-b", "wake-ups\nB", TABLE_NEEDED },
		{ 0 }
	};
	struct table table;

	putchar('\n');
	table_begin(&table, columns, NULL);
	while (table_pass(&table))
		print_edge_rows(&table, diff);
}

static void print_wakeups(const struct diff *diff)
{
	const struct schedtape_distance *d = diff->distance;
	const struct diff_verdict *verdict = &diff->verdict;
	char same[OUT_COUNT_LEN], all[OUT_COUNT_LEN], order[OUT_PERCENT_LEN];

	printf("wake-ups: %s of %s between the same tasks", out_count(same, d->woken_same),
	       out_count(all, d->woken_a));
	if (!isnan(verdict->errors[DIFF_ORDER]))
		printf(", %s of pairs in the other order",
		       out_percent(order, verdict->errors[DIFF_ORDER]));
	printf("\nedges: %" PRIu64 " equal, %" PRIu64 " with another count, %" PRIu64
	       " only in A, %" PRIu64 " only in B\n", d->edges_same, d->edges_differ,
	       d->edges_only_a, d->edges_only_b);
}

static void print_cpu_time(const struct diff *diff)
{
	const struct diff_verdict *verdict = &diff->verdict;
	char within[OUT_PERCENT_LEN], median[OUT_PERCENT_LEN], name[TEXT_TASK_LEN];
	unsigned int color = keeps_colors[diff_keeps(diff, DIFF_CPU, verdict->errors[DIFF_CPU])];

	if (!verdict->worst[DIFF_CPU])
		return;
	printf("CPU time: within %s%s%s, median %s (worst: %s)\n", color_on(color),
	       out_percent(within, fabs(verdict->errors[DIFF_CPU])), color_off(color),
	       out_percent(median, verdict->median_cpu),
	       name_of(name, diff, verdict->worst[DIFF_CPU] - diff->pairs));
}

/* Prints the summary first, because it answers how much B differs from A. */
static void print_verdict(const struct diff *diff)
{
	const struct schedtape_distance *d = diff->distance;
	const struct diff_verdict *verdict = &diff->verdict;
	unsigned int color = d->same_graph ? COLOR_GREEN :
			     diff->options->same_graph ? COLOR_RED : COLOR_YELLOW;
	char ratio[32] = "";

	printf("verdict: %s%s%s, %zu of %zu tasks matched\n", color_on(color),
	       d->same_graph ? "same graph" : "graph differs", color_off(color), d->matched,
	       d->matched + d->only_a);
	print_wakeups(diff);
	print_cpu_time(diff);
	if (verdict->small)
		printf("not judged: CPU time of %zu task%s that ran too short\n", verdict->small,
		       verdict->small == 1 ? "" : "s");
	if (d->kthreads)
		printf("left out: %zu kernel thread%s, which the replay does not play\n",
		       d->kthreads, d->kthreads == 1 ? "" : "s");
	if (diff_wall(&diff->a))
		snprintf(ratio, sizeof(ratio), ", ratio %.3f",
			 (double)diff_wall(&diff->b) / diff_wall(&diff->a));
	printf("wall time: A %.6f s, B %.6f s%s (first to last event)\n", diff_wall(&diff->a) / 1e9,
	       diff_wall(&diff->b) / 1e9, ratio);
	if (d->only_b)
		printf("unmatched: %zu tasks only in B ran %.3f ms\n", d->only_b,
		       out_ms(verdict->unmatched_time));
	putchar('\n');
}

void diff_print_text(const struct diff *diff)
{
	print_verdict(diff);
	print_side("A", &diff->a);
	print_side("B", &diff->b);
	diff_machine_print(diff);
	putchar('\n');
	print_tasks(diff);
	diff_parts_print(diff);
	print_unmatched(diff);
	if (diff->options->edges && edges_differ(diff->distance))
		print_edges(diff);
}

/*
 * @task: a task, or the sum of all tasks
 *
 * JSON a.total, b.total of diff:
 * @cpu_time_ns, @bursts, @sleeps, @wakeups, @wakeups_by_task:
 */
static void add_numbers(struct json_object *object, const struct schedtape_task *task)
{
	out_json_add_count(object, "cpu_time_ns", task->cpu_time);
	out_json_add_count(object, "bursts", task->bursts);
	out_json_add_count(object, "sleeps", diff_sleeps(task));
	out_json_add_count(object, "wakeups", task->wakeups);
	out_json_add_count(object, "wakeups_by_task", task->wakeups_by_task);
}

/*
 * JSON tasks[].a, tasks[].b of diff:
 * @index: Its index in report of that tape.
 * @pid, @comm, @cpu_time_ns, @bursts, @sleeps, @wakeups, @wakeups_by_task:
 */
static struct json_object *json_task(const struct schedtape_task *task)
{
	struct json_object *object;

	if (!task)
		return NULL;
	object = json_object_new_object();
	out_json_add_count(object, "index", task->index);
	out_json_add_count(object, "pid", task->pid);
	out_json_add_name(object, "comm", task->comm);
	add_numbers(object, task);
	return object;
}

/*
 * JSON a, b of diff:
 * @tape: Its path.
 * @wall_ns: From the first to the last thing that a task did.
 * @task_count: Tasks.
 * @lost: Missing events.
 * @total: Sums over all tasks; in b over matched tasks.
 */
static struct json_object *json_side(const struct diff_side *side,
				     const struct schedtape_task *total)
{
	struct json_object *object = json_object_new_object(), *numbers = json_object_new_object();

	json_object_object_add(object, "tape", json_object_new_string(side->path));
	out_json_add_count(object, "wall_ns", diff_wall(side));
	out_json_add_count(object, "task_count", side->nr_tasks);
	out_json_add_count(object, "lost", cmd_count_lost(side->end));
	add_numbers(numbers, total);
	json_object_object_add(object, "total", numbers);
	return object;
}

static const struct diff_parts *parts_of(const struct diff *diff, size_t pair)
{
	return diff->parts && pair < diff->distance->matched ? &diff->parts[pair] : NULL;
}

static const char * const error_keys[DIFF_NR_LIMITS] = {
	[DIFF_CPU] = "cpu_error",
	[DIFF_WAKEUPS] = "wakeup_error",
	[DIFF_SLEEPS] = "sleep_error",
	[DIFF_BURST_KS] = "burst_distance",
	[DIFF_SLEEP_KS] = "sleep_distance",
	[DIFF_DELAY_KS] = "delay_distance",
	[DIFF_TOTAL_CPU] = "cpu_error_total",
	[DIFF_ORDER] = "order_error",
	[DIFF_WALL] = "wall_error",
};

/*
 * JSON tasks[] of diff:
 * @a: The task in A, or null.
 * @b: The task in B, or null.
 * @cpu_error: (B - A) / A; null if that is no number.
 * @wakeup_error: The same of wake-ups.
 * @sleep_error: The same of sleeps.
 * @burst_distance: Kolmogorov-Smirnov distance of the lengths of bursts, 0 to 1, or null.
 * @sleep_distance: The same of sleeps.
 * @delay_distance: The same of scheduling delays.
 * @cpu_error_parts: What the error of CPU time consists of, or null: not known.
 */
static void list_tasks(const struct diff *diff)
{
	int limit;
	size_t i;

	out_json_list("tasks");
	for (i = 0; i < diff->nr_pairs && out_works(); i++) {
		const struct schedtape_pair *pair = &diff->pairs[i];
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "a", json_task(diff_a(diff, pair)));
		json_object_object_add(object, "b", json_task(diff_b(diff, pair)));
		for (limit = 0; limit <= DIFF_DELAY_KS; limit++)
			out_json_add_double(object, error_keys[limit],
					    diff_error(diff, pair, limit));
		json_object_object_add(object, "cpu_error_parts",
				       diff_parts_json(diff, parts_of(diff, i)));
		out_json_element(object);
	}
	out_json_list_end();
}

/*
 * Prints wakers and wakees as indexes of the array "tasks".
 *
 * JSON edges[] of diff:
 * @waker_index: Number of the waker in tasks.
 * @wakee_index: Number of the wakee in tasks.
 * @a: Wake-ups in A.
 * @b: Wake-ups in B.
 */
static void list_edges(const struct diff *diff)
{
	size_t i;

	out_json_list("edges");
	for (i = 0; i < diff->nr_edges && out_works(); i++) {
		struct json_object *object = json_object_new_object();

		out_json_add_count(object, "waker_index", diff->edges[i].waker);
		out_json_add_count(object, "wakee_index", diff->edges[i].wakee);
		out_json_add_count(object, "a", diff->edges[i].a);
		out_json_add_count(object, "b", diff->edges[i].b);
		out_json_element(object);
	}
	out_json_list_end();
}

/* Adds A's worst task as an index of the array "tasks". */
static void add_errors(struct json_object *object, const struct diff *diff)
{
	const struct diff_verdict *verdict = &diff->verdict;
	const struct schedtape_pair *worst;
	char key[32];
	int limit;

	for (limit = 0; limit < DIFF_NR_LIMITS; limit++) {
		/* DIFF_UNMATCHED has no key: the number is in "only_b". */
		if (!error_keys[limit])
			continue;
		out_json_add_double(object, error_keys[limit], verdict->errors[limit]);
		if (limit > DIFF_DELAY_KS)
			continue;
		worst = verdict->worst[limit];
		snprintf(key, sizeof(key), "%s_task_index", error_keys[limit]);
		json_object_object_add(object, key,
				       worst ? json_object_new_int64(worst - diff->pairs) : NULL);
	}
	json_object_object_add(object, "cpu_error_parts",
			       diff_parts_json(diff, diff->parts ? &diff->total_parts : NULL));
	json_object_object_add(object, "cpu_error_parts_unknown", diff->no_parts ?
			       json_object_new_string(diff->no_parts) : NULL);
	out_json_add_double(object, "cpu_error_median", verdict->median_cpu);
	out_json_add_double(object, "burst_distance_total", verdict->total_ks[SCHEDTAPE_BURSTS]);
	out_json_add_double(object, "sleep_distance_total", verdict->total_ks[SCHEDTAPE_SLEEPS]);
	out_json_add_double(object, "delay_distance_total",
			    verdict->total_ks[SCHEDTAPE_DELAYS]);
	out_json_add_count(object, "only_b_cpu_time_ns", verdict->unmatched_time);
}

/*
 * JSON verdict of diff:
 * @matched: Matched tasks.
 * @only_a: Tasks only in A.
 * @only_b: Tasks only in B.
 * @cpu_error: Error of the task that is furthest off.
 * @cpu_error_task_index: Number of that task in tasks, or null.
 * @wakeup_error, @wakeup_error_task_index, @sleep_error, @sleep_error_task_index, @burst_distance:
 * @burst_distance_task_index, @sleep_distance, @sleep_distance_task_index, @delay_distance:
 * @delay_distance_task_index:
 * @cpu_error_total: Error of the sum of CPU time.
 * @cpu_error_parts: Sums over matched tasks, or null: not known.
 * @cpu_error_parts_unknown: Why the parts of a replay are not known, or null.
 * @cpu_error_median: Median of the amounts of the errors of CPU time.
 * @order_error: Share of pairs of wake-ups that come in the other order, or null.
 * @wall_error: Error of wall_ns.
 * @burst_distance_total: Distance of the lengths of all tasks together.
 * @sleep_distance_total, @delay_distance_total:
 * @only_b_cpu_time_ns: CPU time of tasks only in B.
 * @not_judged: Tasks whose CPU time was too short to be judged.
 * @kthreads_left_out: Kernel threads that are not compared, because the replay has left them out.
 * @edges_same: Edges with equal counts.
 * @edges_differ: Edges with other counts.
 * @edges_only_a: Edges only in A.
 * @edges_only_b: Edges only in B, between matched tasks.
 * @woken_a: Wake-ups along edges of A.
 * @woken_b: Wake-ups along edges of B, between matched tasks.
 * @woken_same: Wake-ups along the same edges in both.
 * @same_graph: All tasks of A are matched, and wake each other equally often.
 */
static struct json_object *json_verdict(const struct diff *diff)
{
	const struct schedtape_distance *d = diff->distance;
	const struct diff_verdict *verdict = &diff->verdict;
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "matched", d->matched);
	out_json_add_count(object, "only_a", d->only_a);
	out_json_add_count(object, "only_b", d->only_b);
	add_errors(object, diff);
	out_json_add_count(object, "not_judged", verdict->small);
	out_json_add_count(object, "kthreads_left_out", d->kthreads);
	out_json_add_count(object, "edges_same", d->edges_same);
	out_json_add_count(object, "edges_differ", d->edges_differ);
	out_json_add_count(object, "edges_only_a", d->edges_only_a);
	out_json_add_count(object, "edges_only_b", d->edges_only_b);
	out_json_add_count(object, "woken_a", d->woken_a);
	out_json_add_count(object, "woken_b", d->woken_b);
	out_json_add_count(object, "woken_same", d->woken_same);
	out_json_add_bool(object, "same_graph", d->same_graph);
	return object;
}

/*
 * JSON of diff:
 * @a: An object about the original.
 * @b: An object about the other tape.
 * @scheduler: The schedulers of ordinary tasks.
 * @settings_compared: Both tapes have settings of the scheduler.
 * @settings: A list of settings that differ.
 * @settings_not_compared: A list of what could not be compared.
 * @tasks: A list of pairs of tasks: matched ones, those only in A, those only in B; without kernel
 *	threads that were left out.
 * @edges: A list of edges.
 * @verdict: The result.
 */
void diff_print_json(const struct diff *diff)
{
	out_json_begin("diff");
	out_json_member("a", json_side(&diff->a, &diff->verdict.total_a));
	out_json_member("b", json_side(&diff->b, &diff->verdict.total_b));
	diff_machine_json(diff);
	list_tasks(diff);
	list_edges(diff);
	out_json_member("verdict", json_verdict(diff));
	out_json_end();
}
