// SPDX-License-Identifier: GPL-2.0-only
#include "common/task-sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* -- tasks ----------------------------------------------------------------- */

struct task_counts *task_sums_counts(struct task_sums *sums, uint32_t number)
{
	struct task_counts *counts;

	counts = schedtape_list_reach(sums->counts, number, &sums->nr, sizeof(*counts));
	if (!counts)
		return NULL;
	sums->counts = counts;
	return &counts[number];
}

int task_sums_count(struct task_sums *sums, const struct schedtape_task *task, unsigned int events,
		    uint32_t cpu, uint64_t time)
{
	struct task_counts *counts;
	uint32_t number;

	if (!selection_has_cpu(sums->delays.selection, cpu) ||
	    !selection_has_time(sums->delays.selection, time))
		return 0;
	if (delays_number(&sums->delays, task->index, cpu, &number))
		return -ENOMEM;
	counts = task_sums_counts(sums, number);
	if (!counts)
		return -ENOMEM;
	for (; events; events &= events - 1)
		counts->n[__builtin_ctz(events)]++;
	return 0;
}

struct task_sum task_sums_get(const struct task_sums *sums, const struct schedtape_task *tasks,
			      size_t number)
{
	struct task_sum sum = { .delays = { .runtime = 0 } };
	const struct schedtape_task *task;

	if (number < sums->delays.nr)
		sum.delays = sums->delays.sums[number];
	if (sums->part) {
		if (number < sums->nr)
			sum.counts = sums->counts[number];
		return sum;
	}
	task = &tasks[number];
	sum.delays.runtime = task->cpu_time;
	sum.counts = (struct task_counts){
		.bursts = task->bursts, .sleeps = task->sleeps, .stops = task->stops,
		.preemptions = task->preemptions, .wakeups = task->wakeups,
		.wakeups_by_task = task->wakeups_by_task, .migrations = task->migrations,
	};
	return sum;
}

bool task_sums_shows(const struct task_sums *sums, const struct task_sum *sum)
{
	static const struct task_counts none;

	return sums->whole || sum->delays.runtime || sum->delays.delays.nr ||
	       memcmp(&sum->counts, &none, sizeof(none));
}

void task_sums_free(struct task_sums *sums)
{
	delays_free(&sums->delays);
	free(sums->counts);
}

/* -- groups ---------------------------------------------------------------- */

static int add(struct task_sum *sum, const struct task_sum *other)
{
	size_t i;

	for (i = 0; i < sizeof(sum->counts.n) / sizeof(*sum->counts.n); i++)
		sum->counts.n[i] += other->counts.n[i];
	return delays_add(&sum->delays, &other->delays);
}

int group_sums_add(struct group_sums *to, struct groups *groups, uint32_t task, uint32_t cpu,
		   const struct task_sum *sum)
{
	struct task_sum *longer;
	int rc = 0;
	uint32_t number = groups_of(groups, task, cpu, &rc);

	if (number == SCHEDTAPE_NONE)
		return rc;
	longer = schedtape_list_reach(to->sums, number, &to->room, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	to->sums = longer;
	groups_count(groups, number, task);
	return add(&longer[number], sum);
}

int group_sums_add_all(struct group_sums *to, struct groups *groups, const struct task_sums *sums,
		       const struct schedtape_task *tasks)
{
	const struct delays *delays = &sums->delays;
	size_t i, n = delays->by_cpu ? delays->pairs.nr : groups->nr_numbers;
	struct task_sum sum;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		sum = task_sums_get(sums, tasks, i);
		if (task_sums_shows(sums, &sum))
			rc = group_sums_add(to, groups, delays_task(delays, i),
					    delays_cpu(delays, i), &sum);
	}
	return rc;
}

int group_sums_fill(struct sheet *sheet, const struct groups *groups,
		    const struct group_sums *sums, const struct group_view *view,
		    const void *arg, struct task_sum *total)
{
	union sheet_value *row, *last = sheet_total(sheet);
	const struct group *group;
	int rc = last ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < groups->nr && i < sums->room && !rc; i++) {
		group = &groups->groups[i];
		if (!group->nr_tasks)
			continue;
		row = sheet_row(sheet);
		if (!row || groups_fill(row, &view->labels, groups, group) ||
		    view->fill(row, &sums->sums[i], groups, group, arg))
			rc = -ENOMEM;
		else
			rc = add(total, &sums->sums[i]);
	}
	if (!rc)
		rc = groups_fill(last, &view->labels, groups, NULL);
	return rc ? rc : view->fill(last, total, groups, NULL, arg);
}

void group_sums_free(struct group_sums *sums)
{
	size_t i;

	for (i = 0; i < sums->room; i++)
		schedtape_histogram_free(&sums->sums[i].delays.delays);
	free(sums->sums);
}
