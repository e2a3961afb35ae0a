// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary of timehist: what each task did.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "timehist/internal.h"

enum column {
	TASK, PARENT, COUNT, SUM, MEDIAN, P95, P99, WORST, WORST_AT, MIGRATIONS, LEAST, AVERAGE,
	PID, EXIT_PARENT,
};

const struct sheet_column summary_columns[] = {
	[TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "name", SHEET_PROPERTY },
	[PARENT] = { { "parent", "parent", 0 }, SHEET_CPU, "ppid", SHEET_PROPERTY },
	[COUNT] = { { "sched-in", "sched-in", 0 }, SHEET_COUNT, "runs", SHEET_SUM },
	[SUM] = { { "run-time", "run time\nms", TABLE_NEEDED }, SHEET_MS,
		  "cpu_time_ns", SHEET_SUM },
	[MEDIAN] = { { "median", "median\nms", 0 }, SHEET_MS, "run_median_ns", SHEET_DISTRIBUTION },
	[P95] = { { "p95", "95 %\nms", 0 }, SHEET_MS, "run_p95_ns", SHEET_DISTRIBUTION },
	[P99] = { { "p99", "99 %\nms", 0 }, SHEET_MS, "run_p99_ns", SHEET_DISTRIBUTION },
	[WORST] = { { "max-run", "longest\nms", 0 }, SHEET_MS, "run_max_ns", SHEET_DISTRIBUTION },
	[WORST_AT] = { { "max-at", "longest began\nat s", 0 }, SHEET_TIME,
		       "run_max_begin_ns", SHEET_DISTRIBUTION },
	[MIGRATIONS] = { { "migrations", "migrations", 0 }, SHEET_COUNT, "migrations", SHEET_SUM },
	[LEAST] = { { "min-run", "shortest\nms", TABLE_ASKED }, SHEET_MS,
		    "run_min_ns", SHEET_DISTRIBUTION },
	[AVERAGE] = { { "avg-run", "average\nms", TABLE_ASKED }, SHEET_MS,
		      "run_avg_ns", SHEET_DISTRIBUTION },
	[PID] = { { "pid", "PID", TABLE_ASKED }, SHEET_CPU, "pid", SHEET_PROPERTY },
	[EXIT_PARENT] = { { "exit-parent", "parent\nat exit", TABLE_ASKED }, SHEET_CPU,
			  "exit_ppid", SHEET_PROPERTY },
	{ .json = NULL }
};

static struct runs_sum *get_sum(struct timehist *th, uint32_t index)
{
	struct runs_sum *sums;

	sums = schedtape_list_reach(th->sums, index, &th->nr_sums, sizeof(*sums));
	if (!sums)
		return NULL;
	th->sums = sums;
	return &sums[index];
}

int summary_add(struct timehist *th, const struct schedtape_task *task,
		const struct schedtape_run *run)
{
	uint64_t length = selection_part(&th->selection, run->begin, run->end);
	bool selected = selection_has_cpu(&th->selection, run->cpu) &&
			selection_overlaps(&th->selection, run->begin, run->end) &&
			prio_selects(th, task->pid);
	struct runs_sum *sum;

	if (!selected)
		return 0;
	sum = get_sum(th, task->index);
	if (!sum)
		return -ENOMEM;
	if (!sum->runs.nr || length < sum->least)
		sum->least = length;
	if (!sum->runs.nr || length > sum->runs.worst)
		sum->worst_begin = run->begin;
	return schedtape_histogram_add(&sum->runs, length);
}

bool summary_counts(const struct timehist *th)
{
	return th->summary && (th->prio || th->selection.cpus.nr || th->selection.times.nr);
}

int summary_count(struct timehist *th, const struct schedtape_task *task, unsigned int events,
		  uint32_t cpu, uint64_t time)
{
	struct runs_sum *sum;

	if (!(events & SCHEDTAPE_COUNT_MIGRATIONS) || !selection_has_cpu(&th->selection, cpu) ||
	    !selection_has_time(&th->selection, time) || !prio_selects(th, task->pid))
		return 0;
	sum = get_sum(th, task->index);
	if (!sum)
		return -ENOMEM;
	sum->migrations++;
	return 0;
}

/* Returns the sum of a task, of which the caller does not own the runs. */
static struct runs_sum sum_of(const struct timehist *th, const struct schedtape_task *task)
{
	struct runs_sum sum = { .least = 0 };

	if (task->index < th->nr_sums)
		sum = th->sums[task->index];
	if (!summary_counts(th))
		sum.migrations = task->migrations;
	return sum;
}

static void fill_row(union sheet_value *row, const struct runs_sum *sum)
{
	unsigned int i;

	row[COUNT].n = sum->runs.nr;
	row[SUM].n = sum->runs.sum;
	row[MIGRATIONS].n = sum->migrations;
	if (sum->runs.nr) {
		sheet_lengths(&row[MEDIAN], &sum->runs);
		row[WORST_AT].n = sum->worst_begin;
		row[LEAST].n = sum->least;
		row[AVERAGE].n = sum->runs.sum / sum->runs.nr;
		return;
	}
	for (i = MEDIAN; i <= WORST_AT; i++)
		row[i].n = SHEET_NONE;
	row[LEAST].n = SHEET_NONE;
	row[AVERAGE].n = SHEET_NONE;
}

static int add_row(struct sheet *sheet, const struct schedtape_task *task,
		   const struct runs_sum *sum)
{
	union sheet_value *row = sheet_row(sheet);
	char name[TEXT_TASK_LEN];

	if (!row)
		return -ENOMEM;
	fill_row(row, sum);
	row[PARENT].n = task->ppid ? task->ppid : SHEET_NONE;
	row[EXIT_PARENT].n = task->exit_ppid && task->exit_ppid != SCHEDTAPE_NONE ?
			     task->exit_ppid : SHEET_NONE;
	row[PID].n = task->pid;
	row[TASK].text = strdup(text_task(name, task->comm, task->pid));
	return row[TASK].text ? 0 : -ENOMEM;
}

static int add_total(struct runs_sum *total, const struct runs_sum *sum)
{
	total->migrations += sum->migrations;
	if (!sum->runs.nr)
		return 0;
	if (!total->runs.nr || sum->least < total->least)
		total->least = sum->least;
	if (!total->runs.nr || sum->runs.worst > total->runs.worst ||
	    (sum->runs.worst == total->runs.worst && sum->worst_begin < total->worst_begin))
		total->worst_begin = sum->worst_begin;
	return schedtape_histogram_merge(&total->runs, &sum->runs);
}

int summary_fill(struct sheet *sheet, const struct timehist *th,
		 const struct schedtape_timeline *timeline)
{
	union sheet_value *row = sheet_total(sheet);
	const struct schedtape_task *tasks;
	struct runs_sum total = { .least = 0 }, sum;
	int ret = row ? 0 : -ENOMEM;
	size_t i, n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	for (i = 0; i < n && !ret; i++) {
		sum = sum_of(th, &tasks[i]);
		if ((!sum.runs.nr && !sum.migrations) ||
		    !selection_has_timeline_task(&th->selection, &tasks[i]))
			continue;
		ret = add_row(sheet, &tasks[i], &sum);
		if (!ret)
			ret = add_total(&total, &sum);
	}
	if (!ret) {
		fill_row(row, &total);
		row[PARENT].n = SHEET_NONE;
		row[EXIT_PARENT].n = SHEET_NONE;
		row[PID].n = SHEET_NONE;
		row[TASK].text = strdup("TOTAL");
		ret = row[TASK].text ? 0 : -ENOMEM;
	}
	schedtape_histogram_free(&total.runs);
	return ret;
}

void summary_free(struct timehist *th)
{
	size_t i;

	for (i = 0; i < th->nr_sums; i++)
		schedtape_histogram_free(&th->sums[i].runs);
	free(th->sums);
}
