// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: what it prints.
 */
#include <math.h>

#include "common/input.h"
#include "common/output.h"
#include "diff/diff.h"

static void print_side(const char *name, const struct diff_side *side)
{
	char time[OUT_TIME_LEN], count[OUT_COUNT_LEN];

	printf("# %s: %s: %s s, %zu tasks", name, side->path, out_seconds(time, diff_wall(side), 6),
	       side->nr_tasks);
	if (cmd_count_lost(side->end))
		printf(", LOST %s events", out_count(count, cmd_count_lost(side->end)));
	putchar('\n');
}

static const struct out_column task_columns[] = {
	{ "Task", -23 }, { "PID in B", 8 }, { "Run A ms", 11 }, { "Run B ms", 11 },
	{ "Error", 8 }, { "Bursts A", 9 }, { "B", 8 }, { "Sleeps A", 9 }, { "B", 8 },
	{ "Wakeups A", 9 }, { "B", 8 }, { "By task A", 9 }, { "B", 8 },
	{ "KS bursts", 9 }, { "sleeps", 6 }, { "latency", 7 }, { 0 }
};

static void print_numbers(struct out_table *table, const struct schedtape_task *a,
			  const struct schedtape_task *b)
{
	char error[OUT_PERCENT_LEN];

	out_cell(table, "%.3f", out_ms(a->cpu_time));
	out_cell(table, "%.3f", out_ms(b->cpu_time));
	out_cell(table, "%s", out_percent(error,
					  schedtape_relative_error(a->cpu_time, b->cpu_time)));
	out_cell(table, "%" PRIu64, a->bursts);
	out_cell(table, "%" PRIu64, b->bursts);
	out_cell(table, "%" PRIu64, diff_sleeps(a));
	out_cell(table, "%" PRIu64, diff_sleeps(b));
	out_cell(table, "%" PRIu64, a->wakeups);
	out_cell(table, "%" PRIu64, b->wakeups);
	out_cell(table, "%" PRIu64, a->wakeups_by_task);
	out_cell(table, "%" PRIu64, b->wakeups_by_task);
}

static void print_distance(struct out_table *table, double distance)
{
	if (isnan(distance))
		out_cell(table, "-");
	else
		out_cell(table, "%.3f", distance);
}

static void print_tasks(const struct diff *diff)
{
	struct out_table table;
	int limit;
	size_t i;

	out_table_begin(&table, task_columns);
	for (i = 0; i < diff->distance->matched && out_works(); i++) {
		const struct schedtape_task *a = diff_a(diff, &diff->pairs[i]);
		const struct schedtape_task *b = diff_b(diff, &diff->pairs[i]);
		char name[TEXT_TASK_LEN];

		out_cell(&table, "%s", text_task(name, a->comm, a->pid));
		out_cell(&table, "%u", b->pid);
		print_numbers(&table, a, b);
		for (limit = DIFF_BURST_KS; limit <= DIFF_DELAY_KS; limit++)
			print_distance(&table, diff_error(diff, &diff->pairs[i], limit));
	}
	out_table_rule(&table);
	out_cell(&table, "TOTAL");
	out_cell(&table, "%s", "");
	print_numbers(&table, &diff->verdict.total_a, &diff->verdict.total_b);
	for (i = 0; i < SCHEDTAPE_NR_LENGTHS; i++)
		print_distance(&table, diff->verdict.total_ks[i]);
}

static void print_unmatched(const struct diff *diff)
{
	size_t i;

	for (i = diff->distance->matched; i < diff->nr_pairs && out_works(); i++) {
		const struct schedtape_task *a = diff_a(diff, &diff->pairs[i]);
		const struct schedtape_task *task = a ? a : diff_b(diff, &diff->pairs[i]);
		char name[TEXT_TASK_LEN];

		printf("only in %s: %-23s  ran %.3f ms in %" PRIu64 " bursts, %" PRIu64
		       " wake-ups\n", a ? "A" : "B", text_task(name, task->comm, task->pid),
		       out_ms(task->cpu_time), task->bursts, task->wakeups);
	}
}

static const char *name_of(char buffer[TEXT_TASK_LEN], const struct diff *diff, uint32_t pair)
{
	const struct schedtape_task *task = diff_a(diff, &diff->pairs[pair]);

	return text_task(buffer, task->comm, task->pid);
}

/* That tasks have no counterparts makes another graph, too. */
static bool edges_differ(const struct schedtape_distance *d)
{
	return d->edges_differ || d->edges_only_a || d->edges_only_b;
}

static void print_edges(const struct diff *diff)
{
	static const struct out_column columns[] = {
		{ "Waker", -23 }, { "Wakee", -23 }, { "In A", 10 }, { "In B", 10 }, { 0 }
	};
	struct out_table table;
	size_t i;

	putchar('\n');
	out_table_begin(&table, columns);
	for (i = 0; i < diff->nr_edges && out_works(); i++) {
		const struct schedtape_edge_pair *edge = &diff->edges[i];
		char name[TEXT_TASK_LEN];

		if (edge->a == edge->b)
			continue;
		out_cell(&table, "%s", name_of(name, diff, edge->waker));
		out_cell(&table, "%s", name_of(name, diff, edge->wakee));
		out_cell(&table, "%" PRIu64, edge->a);
		out_cell(&table, "%" PRIu64, edge->b);
	}
}

static void print_graph(const struct diff *diff)
{
	const struct schedtape_distance *d = diff->distance;
	const struct diff_verdict *verdict = &diff->verdict;
	char ratio[32] = "", order[OUT_PERCENT_LEN];

	if (diff_wall(&diff->a))
		snprintf(ratio, sizeof(ratio), ", ratio %.3f",
			 (double)diff_wall(&diff->b) / diff_wall(&diff->a));
	printf("\nedges: %" PRIu64 " equal, %" PRIu64 " with another count, %" PRIu64
	       " only in A, %" PRIu64 " only in B\n", d->edges_same, d->edges_differ,
	       d->edges_only_a, d->edges_only_b);
	if (!isnan(verdict->errors[DIFF_ORDER]))
		printf("order: %s of all pairs of wake-ups come in the other order\n",
		       out_percent(order, verdict->errors[DIFF_ORDER]));
	if (d->only_b)
		printf("unmatched: %zu tasks only in B ran %.3f ms\n", d->only_b,
		       out_ms(verdict->unmatched_time));
	printf("wall time: A %.6f s, B %.6f s%s\n", diff_wall(&diff->a) / 1e9,
	       diff_wall(&diff->b) / 1e9, ratio);
}

static void print_verdict(const struct diff *diff)
{
	const struct schedtape_distance *d = diff->distance;
	const struct diff_verdict *verdict = &diff->verdict;
	char same[OUT_COUNT_LEN], all[OUT_COUNT_LEN], worst[OUT_PERCENT_LEN];
	char within[OUT_PERCENT_LEN], median[OUT_PERCENT_LEN], name[TEXT_TASK_LEN];

	printf("verdict: %zu of %zu tasks matched", d->matched, d->matched + d->only_a);
	if (d->only_b)
		printf(" (%zu only in B)", d->only_b);
	if (verdict->worst[DIFF_CPU])
		printf(", CPU time within %s (worst: %s %s, median %s)",
		       out_percent(within, fabs(verdict->errors[DIFF_CPU])),
		       name_of(name, diff, verdict->worst[DIFF_CPU] - diff->pairs),
		       out_percent(worst, verdict->errors[DIFF_CPU]),
		       out_percent(median, verdict->median_cpu));
	if (verdict->small)
		printf(", %zu ran too short to judge", verdict->small);
	printf(", wake-ups %s of %s between the same tasks, %s\n",
	       out_count(same, d->woken_same), out_count(all, d->woken_a),
	       d->same_graph ? "same graph" : "graph differs");
}

void diff_print_text(const struct diff *diff)
{
	print_side("A", &diff->a);
	print_side("B", &diff->b);
	diff_machine_print(diff);
	putchar('\n');
	print_tasks(diff);
	print_unmatched(diff);
	if (diff->options->edges && edges_differ(diff->distance))
		print_edges(diff);
	print_graph(diff);
	print_verdict(diff);
}

/* Of a task or of all of them. */
static void add_numbers(struct json_object *object, const struct schedtape_task *task)
{
	out_json_add_count(object, "cpu_time_ns", task->cpu_time);
	out_json_add_count(object, "bursts", task->bursts);
	out_json_add_count(object, "sleeps", diff_sleeps(task));
	out_json_add_count(object, "wakeups", task->wakeups);
	out_json_add_count(object, "wakeups_by_task", task->wakeups_by_task);
}

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

static struct json_object *json_side(const struct diff_side *side,
				     const struct schedtape_task *total)
{
	struct json_object *object = json_object_new_object(), *numbers = json_object_new_object();

	json_object_object_add(object, "tape", json_object_new_string(side->path));
	out_json_add_count(object, "wall_ns", diff_wall(side));
	out_json_add_count(object, "tasks", side->nr_tasks);
	out_json_add_count(object, "lost", cmd_count_lost(side->end));
	add_numbers(numbers, total);
	json_object_object_add(object, "total", numbers);
	return object;
}

static const char * const error_keys[DIFF_NR_LIMITS] = {
	[DIFF_CPU] = "cpu_error",
	[DIFF_WAKEUPS] = "wakeup_error",
	[DIFF_SLEEPS] = "sleep_error",
	[DIFF_BURST_KS] = "burst_distance",
	[DIFF_SLEEP_KS] = "sleep_distance",
	[DIFF_DELAY_KS] = "latency_distance",
	[DIFF_TOTAL_CPU] = "cpu_error_total",
	[DIFF_ORDER] = "order_error",
	[DIFF_WALL] = "wall_error",
	[DIFF_UNMATCHED] = "foreign",
};

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
		out_json_element(object);
	}
	out_json_list_end();
}

/* Wakers and wakees are numbers in "tasks". */
static void list_edges(const struct diff *diff)
{
	size_t i;

	out_json_list("edges");
	for (i = 0; i < diff->nr_edges && out_works(); i++) {
		struct json_object *object = json_object_new_object();

		out_json_add_count(object, "waker", diff->edges[i].waker);
		out_json_add_count(object, "wakee", diff->edges[i].wakee);
		out_json_add_count(object, "a", diff->edges[i].a);
		out_json_add_count(object, "b", diff->edges[i].b);
		out_json_element(object);
	}
	out_json_list_end();
}

/* The worst of A's tasks is a number in "tasks". */
static void add_errors(struct json_object *object, const struct diff *diff)
{
	const struct diff_verdict *verdict = &diff->verdict;
	const struct schedtape_pair *worst;
	char key[32];
	int limit;

	for (limit = 0; limit < DIFF_NR_LIMITS; limit++) {
		out_json_add_double(object, error_keys[limit], verdict->errors[limit]);
		if (limit > DIFF_DELAY_KS)
			continue;
		worst = verdict->worst[limit];
		snprintf(key, sizeof(key), "%s_task", error_keys[limit]);
		json_object_object_add(object, key,
				       worst ? json_object_new_int64(worst - diff->pairs) : NULL);
	}
	out_json_add_double(object, "cpu_error_median", verdict->median_cpu);
	out_json_add_double(object, "burst_distance_total", verdict->total_ks[SCHEDTAPE_BURSTS]);
	out_json_add_double(object, "sleep_distance_total", verdict->total_ks[SCHEDTAPE_SLEEPS]);
	out_json_add_double(object, "latency_distance_total",
			    verdict->total_ks[SCHEDTAPE_DELAYS]);
	out_json_add_count(object, "foreign_cpu_time_ns", verdict->unmatched_time);
}

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

void diff_print_json(const struct diff *diff)
{
	out_json_begin();
	out_json_member("a", json_side(&diff->a, &diff->verdict.total_a));
	out_json_member("b", json_side(&diff->b, &diff->verdict.total_b));
	diff_machine_json(diff);
	list_tasks(diff);
	list_edges(diff);
	out_json_member("verdict", json_verdict(diff));
	out_json_end();
}
