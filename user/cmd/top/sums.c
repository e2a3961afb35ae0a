// SPDX-License-Identifier: GPL-2.0-only
#include "top/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

void top_sums_init(struct top_sums *sums, uint64_t begin)
{
	*sums = (struct top_sums){ .begin = begin, .delays = { .by_cpu = true } };
	sums->delays.selection = &sums->all;
}

/* -- callbacks ------------------------------------------------------------- */

/* Returns a CPU, or NULL: no memory. */
static struct top_lane *get_lane(struct top_sums *sums, uint32_t cpu)
{
	static const struct top_lane unknown = { .task = SCHEDTAPE_NONE };
	struct top_lane *lanes;

	lanes = schedtape_list_reach_with(sums->lanes, cpu, &sums->nr_lanes, sizeof(*lanes),
					  &unknown);
	if (!lanes)
		return NULL;
	sums->lanes = lanes;
	return &lanes[cpu];
}

static struct interval_counts *get_counts(struct top_sums *sums, uint32_t number)
{
	struct interval_counts *counts;

	counts = schedtape_list_reach(sums->counts, number, &sums->nr_counts, sizeof(*counts));
	if (!counts)
		return NULL;
	sums->counts = counts;
	return &counts[number];
}

/* Adds a time on a CPU.  @counts: set to the counts of the task there.  Returns 0 or -ENOMEM. */
static int add_time(struct top_sums *sums, const struct schedtape_task *task, uint32_t cpu,
		    uint64_t begin, uint64_t end, struct interval_counts **counts)
{
	const struct schedtape_run run = {
		.begin = begin, .end = end > begin ? end : begin, .cpu = cpu,
	};
	uint32_t number;

	if (delays_run(&sums->delays, task, &run, &number))
		return -ENOMEM;
	*counts = get_counts(sums, number);
	return *counts ? 0 : -ENOMEM;
}

/* The delay before the run belongs to the interval in which it ends. */
static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct top_sums *sums = arg;
	struct top_lane *lane = get_lane(sums, run->cpu);
	uint32_t number;

	/* The run has no length yet. */
	if (!lane || delays_run(&sums->delays, task, run, &number))
		return -ENOMEM;
	lane->task = task->index;
	lane->since = run->begin > sums->begin ? run->begin : sums->begin;
	return 0;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct top_sums *sums = arg;
	struct top_lane *lane = get_lane(sums, run->cpu);
	struct interval_counts *counts;

	if (!lane || add_time(sums, task, run->cpu, lane->since, run->end, &counts))
		return -ENOMEM;
	lane->task = SCHEDTAPE_NONE;
	counts->switches += run->state != SCHEDTAPE_NONE;
	return 0;
}

static int on_counted(void *arg, const struct schedtape_task *task, unsigned int events,
		      uint32_t cpu, uint64_t time)
{
	struct top_sums *sums = arg;
	struct interval_counts *counts;
	uint32_t number;

	(void)time;
	if (delays_number(&sums->delays, task->index, cpu, &number))
		return -ENOMEM;
	counts = get_counts(sums, number);
	if (!counts)
		return -ENOMEM;
	task_counts_take(&counts->of_task, events);
	return 0;
}

static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct top_sums *sums = arg;

	if (ev->type == SCHEDTAPE_EV_LOST)
		sums->lost += ev->lost;
	sums->events += !schedtape_event_is_gap(ev) && ev->type != SCHEDTAPE_EV_IDLE;
	return sums->rc;
}

const struct schedtape_timeline_ops top_sums_ops = {
	.size = sizeof(top_sums_ops),
	.no_edges = true,
	.began = on_began,
	.ran = on_ran,
	.event = on_event,
	.counted = on_counted,
};

/* -- the end of an interval ------------------------------------------------ */

/* Adds the time so far of tasks that run on. */
static int add_running(struct top_sums *sums, const struct schedtape_task *tasks, uint64_t end)
{
	struct interval_counts *counts;
	uint32_t cpu;

	for (cpu = 0; cpu < sums->nr_lanes; cpu++) {
		struct top_lane *lane = &sums->lanes[cpu];

		if (lane->task == SCHEDTAPE_NONE)
			continue;
		if (add_time(sums, &tasks[lane->task], cpu, lane->since, end, &counts))
			return -ENOMEM;
		if (lane->since < end)
			lane->since = end;
	}
	return 0;
}

/*
 * Takes a task into the interval, once.  Returns its number there.  @numbers: by index of a task:
 * that number plus 1; 0: none yet
 */
static uint32_t take_task(struct interval *interval, uint32_t *numbers,
			  const struct schedtape_task *task)
{
	struct groups_task *to = &interval->tasks[interval->nr_tasks];

	if (numbers[task->index])
		return numbers[task->index] - 1;
	*to = (struct groups_task){
		.cgroup = task->cgroup, .pid = task->pid, .tgid = task->tgid,
		.policy = task->prio_known ? task->policy : IDENTITY_NO_POLICY,
		.process = interval->nr_tasks, .order = task->index,
		.took_pid = groups_took_pid(task),
	};
	memcpy(to->comm, task->comm, STAPE_COMM_LEN);
	numbers[task->index] = ++interval->nr_tasks;
	return interval->nr_tasks - 1;
}

/* Moves the sum of a task on a CPU. */
static void take_sum(struct top_sums *sums, uint32_t pair, struct interval *interval,
		     uint32_t *numbers, const struct schedtape_task *tasks)
{
	const struct schedtape_task *task = &tasks[sums->delays.pairs.edges[pair].waker];
	struct interval_sum *to = &interval->sums[interval->nr_sums];
	uint32_t leader;

	*to = (struct interval_sum){
		.task = take_task(interval, numbers, task),
		.cpu = sums->delays.pairs.edges[pair].wakee,
		.delays = sums->delays.sums[pair],
	};
	if (pair < sums->nr_counts)
		to->counts = sums->counts[pair];
	sums->delays.sums[pair].delays = (struct schedtape_histogram){ 0 };
	leader = take_task(interval, numbers, &tasks[task->process]);
	interval->tasks[to->task].process = leader;
	interval->nr_sums++;
}

static int take_sums(struct top_sums *sums, const struct schedtape_task *tasks, size_t nr_tasks,
		     struct interval *interval)
{
	uint32_t pair, nr = sums->delays.pairs.nr;
	uint32_t *numbers = calloc(nr_tasks + 1, sizeof(*numbers));

	/* Each pair has two tasks at most: its own, and that which leads the process. */
	interval->tasks = calloc(2 * (size_t)nr + 1, sizeof(*interval->tasks));
	interval->sums = calloc((size_t)nr + 1, sizeof(*interval->sums));
	if (!numbers || !interval->tasks || !interval->sums) {
		free(numbers);
		interval_free(interval);
		return -ENOMEM;
	}
	for (pair = 0; pair < nr; pair++)
		take_sum(sums, pair, interval, numbers, tasks);
	free(numbers);
	return 0;
}

static void clear(struct top_sums *sums)
{
	delays_free(&sums->delays);
	sums->delays = (struct delays){ .by_cpu = true, .selection = &sums->all };
	free(sums->counts);
	sums->counts = NULL;
	sums->nr_counts = 0;
}

int top_sums_end(struct top_sums *sums, const struct schedtape_timeline *timeline, uint64_t end,
		 struct interval *interval)
{
	const struct schedtape_task *tasks;
	size_t nr;
	int ret;

	tasks = schedtape_timeline_tasks(timeline, &nr);
	*interval = (struct interval){
		.begin = sums->begin, .end = end, .events = sums->events, .lost = sums->lost,
	};
	ret = add_running(sums, tasks, end);
	if (!ret)
		ret = take_sums(sums, tasks, nr, interval);
	clear(sums);
	sums->begin = end;
	sums->events = 0;
	sums->lost = 0;
	return ret;
}

void top_sums_free(struct top_sums *sums)
{
	clear(sums);
	delays_free(&sums->delays);
	free(sums->lanes);
}
