// SPDX-License-Identifier: GPL-2.0-only
#include "report/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* Makes an array reach an entry, as schedtape_list_reach().  Returns 0 or -ENOMEM. */
static int reach(void **array, size_t *nr, size_t number, size_t size)
{
	void *longer = schedtape_list_reach(*array, number, nr, size);

	if (!longer)
		return -ENOMEM;
	*array = longer;
	return 0;
}

static void count_end(struct report_counts *counts, const struct schedtape_run *run)
{
	switch (run->state) {
	case STAPE_STATE_RUNNING:
		counts->preemptions++;
		return;
	case SCHEDTAPE_NONE:
		return;
	case STAPE_STATE_DEAD:
		break;
	case STAPE_STATE_STOPPED:
	case STAPE_STATE_TRACED:
	case STAPE_STATE_PARKED:
		counts->stops++;
		break;
	default:
		counts->sleeps++;
	}
	counts->bursts++;
}

static int count_run(struct report_sums *sums, const struct schedtape_task *task,
		     const struct schedtape_run *run, uint32_t number)
{
	const struct selection *selection = sums->delays.selection;
	struct report_counts *counts;
	uint64_t migrations;

	if (reach((void **)&sums->seen, &sums->nr_seen, task->index, sizeof(*sums->seen)))
		return -ENOMEM;
	migrations = task->migrations - sums->seen[task->index];
	sums->seen[task->index] = task->migrations;
	if (number == SCHEDTAPE_NONE || !selection_has_time(selection, run->end))
		return 0;
	if (reach((void **)&sums->counts, &sums->nr, number, sizeof(*sums->counts)))
		return -ENOMEM;
	counts = &sums->counts[number];
	count_end(counts, run);
	counts->migrations += migrations;
	if (run->woke && run->left) {
		counts->wakeups++;
		counts->wakeups_by_task += run->waker != SCHEDTAPE_NONE;
	}
	return 0;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct report_sums *sums = arg;
	uint32_t number;
	int rc = delays_run(&sums->delays, task, run, &number);

	if (!rc && sums->calls && number != SCHEDTAPE_NONE)
		rc = calls_run(sums->calls, sums->delays.selection, run, number);
	return rc || !sums->part ? rc : count_run(sums, task, run, number);
}

const struct schedtape_timeline_ops report_sums_ops = {
	.size = sizeof(report_sums_ops),
	.no_edges = true,
	.ran = on_ran,
};

const struct schedtape_timeline_ops report_sums_edges_ops = {
	.size = sizeof(report_sums_edges_ops),
	.ran = on_ran,
};

static void add_counts(struct report_counts *counts, const struct report_counts *other)
{
	counts->bursts += other->bursts;
	counts->sleeps += other->sleeps;
	counts->stops += other->stops;
	counts->preemptions += other->preemptions;
	counts->wakeups += other->wakeups;
	counts->wakeups_by_task += other->wakeups_by_task;
	counts->migrations += other->migrations;
}

int report_sum_add(struct report_sum *sum, const struct report_sum *other)
{
	add_counts(&sum->counts, &other->counts);
	return delays_add(&sum->delays, &other->delays);
}

struct report_sum report_sum_of(const struct report_sums *sums, const struct schedtape_task *tasks,
				size_t number)
{
	struct report_sum sum = { .delays = { .runtime = 0 } };
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
	sum.counts = (struct report_counts){
		.bursts = task->bursts, .sleeps = task->sleeps, .stops = task->stops,
		.preemptions = task->preemptions, .wakeups = task->wakeups,
		.wakeups_by_task = task->wakeups_by_task, .migrations = task->migrations,
	};
	return sum;
}

bool report_sum_is_shown(const struct report_sums *sums, const struct report_sum *sum)
{
	static const struct report_counts none;

	return !sums->part || sum->delays.runtime || sum->delays.delays.nr ||
	       memcmp(&sum->counts, &none, sizeof(none));
}

int report_sums_group(const struct report_sums *sums, struct groups *groups,
		      const struct schedtape_task *tasks, struct report_sum **of_groups,
		      size_t *room)
{
	size_t i, n = sums->delays.by_cpu ? sums->delays.pairs.nr : groups->nr_numbers;
	struct report_sum sum;
	uint32_t number;
	int rc = 0;

	*of_groups = NULL;
	*room = 0;
	if (reach((void **)of_groups, room, groups->nr, sizeof(**of_groups)))
		return -ENOMEM;
	for (i = 0; i < n && !rc; i++) {
		number = delays_group(&sums->delays, groups, i, &rc);
		if (number == SCHEDTAPE_NONE)
			continue;
		if (reach((void **)of_groups, room, number, sizeof(**of_groups)))
			return -ENOMEM;
		sum = report_sum_of(sums, tasks, i);
		if (!report_sum_is_shown(sums, &sum))
			continue;
		groups_count(groups, number, i);
		rc = report_sum_add(&(*of_groups)[number], &sum);
	}
	return rc;
}

void report_sums_free_groups(struct report_sum *of_groups, size_t n)
{
	size_t i;

	for (i = 0; of_groups && i < n; i++)
		schedtape_histogram_free(&of_groups[i].delays.delays);
	free(of_groups);
}

void report_sums_free(struct report_sums *sums)
{
	delays_free(&sums->delays);
	free(sums->counts);
	free(sums->seen);
}
