// SPDX-License-Identifier: GPL-2.0-only
#include "common/delays.h"

#include <errno.h>
#include <stdlib.h>

#include "base/list.h"

/* Returns the sum with the number; NULL: no memory. */
static struct delays_sum *get_sum(struct delays *delays, uint32_t number)
{
	struct delays_sum *sums;

	sums = schedtape_list_reach(delays->sums, number, &delays->nr, sizeof(*sums));
	if (!sums)
		return NULL;
	delays->sums = sums;
	return &sums[number];
}

static void note_worst(struct delays_sum *sum, uint64_t delay, uint64_t begin, uint32_t cpu)
{
	/* Of equal ones the first, in whatever order parts are added. */
	if (sum->delays.nr && (delay < sum->delays.worst ||
			       (delay == sum->delays.worst && begin >= sum->worst_begin)))
		return;
	sum->worst_begin = begin;
	sum->worst_cpu = cpu;
}

int delays_note(struct delays_sum *sum, uint64_t delay, uint64_t begin, uint32_t cpu)
{
	note_worst(sum, delay, begin, cpu);
	return schedtape_histogram_add(&sum->delays, delay);
}

uint64_t delays_since(const struct schedtape_run *run)
{
	if (run->woke)
		return run->woke;
	return run->left_state == STAPE_STATE_RUNNING ? run->left : 0;
}

int delays_make_number(struct delays *delays, uint32_t task, uint32_t cpu, uint32_t *number)
{
	struct delays_pair *last;

	*number = task;
	if (!delays->by_cpu)
		return get_sum(delays, task) ? 0 : -ENOMEM;
	last = schedtape_list_reach(delays->last, task, &delays->nr_last, sizeof(*last));
	if (!last)
		return -ENOMEM;
	delays->last = last;
	if (schedtape_edges_number(&delays->pairs, task, cpu, number) ||
	    !get_sum(delays, *number))
		return -ENOMEM;
	last[task] = (struct delays_pair){ .cpu = cpu, .number = *number + 1 };
	return 0;
}

int delays_run(struct delays *delays, const struct schedtape_task *task,
	       const struct schedtape_run *run, uint32_t *number)
{
	uint64_t since = delays_since(run);
	struct delays_sum *sum;

	*number = SCHEDTAPE_NONE;
	if (!selection_has_cpu(delays->selection, run->cpu))
		return 0;
	if (delays_number(delays, task->index, run->cpu, number))
		return -ENOMEM;
	sum = &delays->sums[*number];
	sum->runtime += selection_part(delays->selection, run->begin, run->end);
	if (!since || !selection_has_time(delays->selection, run->begin))
		return 0;
	return delays_note(sum, run->begin - since, since, run->cpu);
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	uint32_t number;

	return delays_run(arg, task, run, &number);
}

const struct schedtape_timeline_ops delays_ops = {
	.size = sizeof(delays_ops),
	.no_edges = true,
	.ran = on_ran,
};

int delays_add(struct delays_sum *sum, const struct delays_sum *other)
{
	sum->runtime += other->runtime;
	if (!other->delays.nr)
		return 0;
	note_worst(sum, other->delays.worst, other->worst_begin, other->worst_cpu);
	return schedtape_histogram_merge(&sum->delays, &other->delays);
}

void delays_free(struct delays *delays)
{
	size_t i;

	for (i = 0; i < delays->nr; i++)
		schedtape_histogram_free(&delays->sums[i].delays);
	free(delays->sums);
	free(delays->last);
	schedtape_edges_free(&delays->pairs);
}

void delays_fill(union sheet_value *row, const struct delays_columns *columns,
		 const struct delays_sum *sum)
{
	const struct schedtape_histogram *delays = &sum->delays;
	const union sheet_value none = { .n = SHEET_NONE };
	unsigned int i;

	row[columns->nr].n = delays->nr;
	row[columns->sum].n = delays->sum;
	if (delays->nr) {
		sheet_lengths(&row[columns->median], delays);
		row[columns->worst_at].n = sum->worst_begin;
		row[columns->worst_cpu].n = sum->worst_cpu;
		row[columns->average].n = delays->sum / delays->nr;
		return;
	}
	for (i = 0; i < 4; i++)
		row[columns->median + i] = none;
	row[columns->worst_at] = none;
	row[columns->worst_cpu] = none;
	row[columns->average] = none;
}
