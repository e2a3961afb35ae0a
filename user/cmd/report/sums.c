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

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct report_sums *sums = arg;
	uint32_t number;
	int rc = delays_run(&sums->delays, task, run, &number);

	if (!rc && sums->calls && number != SCHEDTAPE_NONE)
		rc = calls_run(sums->calls, sums->delays.selection, run, number);
	return rc;
}

/* A task that was woken before the tape ends, and has no CPU yet, has slept. */
static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct report_sums *sums = arg;
	uint32_t number;

	if (!selection_has_cpu(sums->delays.selection, STAPE_CPU_NONE))
		return 0;
	if (delays_number(&sums->delays, task->index, STAPE_CPU_NONE, &number))
		return -ENOMEM;
	return calls_run(sums->calls, sums->delays.selection, run, number);
}

static int on_counted(void *arg, const struct schedtape_task *task, unsigned int events,
		      uint32_t cpu, uint64_t time)
{
	struct report_sums *sums = arg;
	uint32_t number;

	if (!selection_has_cpu(sums->delays.selection, cpu) ||
	    !selection_has_time(sums->delays.selection, time))
		return 0;
	if (delays_number(&sums->delays, task->index, cpu, &number) ||
	    reach((void **)&sums->counts, &sums->nr, number, sizeof(*sums->counts)))
		return -ENOMEM;
	task_counts_take(&sums->counts[number], events);
	return 0;
}

struct schedtape_timeline_ops report_sums_ops(const struct report_sums *sums, bool edges)
{
	return (struct schedtape_timeline_ops){
		.size = sizeof(struct schedtape_timeline_ops),
		.no_edges = !edges,
		.ran = on_ran,
		.waits = sums->calls ? on_waits : NULL,
		.counted = sums->part ? on_counted : NULL,
	};
}

int report_sum_add(struct report_sum *sum, const struct report_sum *other)
{
	task_counts_add(&sum->counts, &other->counts);
	return delays_add(&sum->delays, &other->delays);
}

struct report_sum report_sum_of(const struct report_sums *sums, const struct schedtape_task *tasks,
				size_t number)
{
	struct report_sum sum = { .delays = { .runtime = 0 } };

	if (number < sums->delays.nr)
		sum.delays = sums->delays.sums[number];
	if (sums->part) {
		if (number < sums->nr)
			sum.counts = sums->counts[number];
		return sum;
	}
	sum.delays.runtime = tasks[number].cpu_time;
	sum.counts = task_counts_of(&tasks[number]);
	return sum;
}

bool report_sum_is_shown(const struct report_sums *sums, const struct report_sum *sum)
{
	static const struct task_counts none;

	return sums->whole || sum->delays.runtime || sum->delays.delays.nr ||
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
		groups_count(groups, number, delays_task(&sums->delays, i));
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
}
