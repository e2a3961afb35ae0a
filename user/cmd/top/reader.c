// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the tape of a recording that runs, and adds up what the tasks do in each interval.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/list.h"
#include "base/thread.h"
#include "tape/meta.h"
#include "timeline/live.h"
#include "top/internal.h"

/* -- sums ------------------------------------------------------------------ */

void interval_free(struct interval *interval)
{
	size_t i;

	for (i = 0; i < interval->nr_sums; i++)
		schedtape_histogram_free(&interval->sums[i].sum.delays.delays);
	free(interval->sums);
	free(interval->tasks);
	*interval = (struct interval){ 0 };
}

/* Empties the sums of tasks. */
static void clear(struct top_sums *sums)
{
	task_sums_free(&sums->tasks);
	sums->tasks = (struct task_sums){
		.delays = { .by_cpu = true, .selection = &sums->all }, .part = true,
	};
}

/* @begin: when the first interval begins, ns */
static void top_sums_init(struct top_sums *sums, uint64_t begin)
{
	*sums = (struct top_sums){ .begin = begin };
	clear(sums);
}

/* -- sums: callbacks of the timeline --------------------------------------- */

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

/* Adds a time on a CPU.  @counts: set to the counts of the task there.  Returns 0 or -ENOMEM. */
static int add_time(struct top_sums *sums, const struct schedtape_task *task, uint32_t cpu,
		    uint64_t begin, uint64_t end, struct task_counts **counts)
{
	const struct schedtape_run run = {
		.begin = begin, .end = end > begin ? end : begin, .cpu = cpu,
	};
	uint32_t number;

	if (delays_run(&sums->tasks.delays, task, &run, &number))
		return -ENOMEM;
	*counts = task_sums_counts(&sums->tasks, number);
	return *counts ? 0 : -ENOMEM;
}

/* The delay before the run belongs to the interval in which it ends. */
static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct top_sums *sums = arg;
	struct top_lane *lane = get_lane(sums, run->cpu);
	uint32_t number;

	/* The run has no length yet. */
	if (!lane || delays_run(&sums->tasks.delays, task, run, &number))
		return -ENOMEM;
	lane->task = task->index;
	lane->since = run->begin > sums->begin ? run->begin : sums->begin;
	return 0;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct top_sums *sums = arg;
	struct top_lane *lane = get_lane(sums, run->cpu);
	struct task_counts *counts;

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

	return task_sums_count(&sums->tasks, task, events, cpu, time);
}

static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct top_sums *sums = arg;

	if (ev->type == SCHEDTAPE_EV_LOST)
		sums->lost += ev->lost;
	sums->events += !schedtape_event_is_gap(ev) && ev->type != SCHEDTAPE_EV_IDLE;
	return sums->rc;
}

/* Callbacks of the timeline, for a struct top_sums. */
static const struct schedtape_timeline_ops top_sums_ops = {
	.size = sizeof(top_sums_ops),
	.no_edges = true,
	.began = on_began,
	.ran = on_ran,
	.event = on_event,
	.counted = on_counted,
};

/* -- sums: the end of an interval ------------------------------------------ */

/* Adds the time so far of tasks that run on. */
static int add_running(struct top_sums *sums, const struct schedtape_task *tasks, uint64_t end)
{
	struct task_counts *counts;
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
	struct task_entry *to = &interval->tasks[interval->nr_tasks];

	if (numbers[task->index])
		return numbers[task->index] - 1;
	*to = (struct task_entry){
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
	const struct schedtape_task *task = &tasks[sums->tasks.delays.pairs.edges[pair].waker];
	struct interval_sum *to = &interval->sums[interval->nr_sums];
	uint32_t leader;

	*to = (struct interval_sum){
		.task = take_task(interval, numbers, task),
		.cpu = sums->tasks.delays.pairs.edges[pair].wakee,
		.sum = task_sums_get(&sums->tasks, NULL, pair),
	};
	sums->tasks.delays.sums[pair].delays = (struct schedtape_histogram){ 0 };
	leader = take_task(interval, numbers, &tasks[task->process]);
	interval->tasks[to->task].process = leader;
	interval->nr_sums++;
}

static int take_sums(struct top_sums *sums, const struct schedtape_task *tasks, size_t nr_tasks,
		     struct interval *interval)
{
	uint32_t pair, nr = sums->tasks.delays.pairs.nr;
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

/*
 * Ends the interval, moves its sums to @interval, and begins the next one.  @end: ns, not before
 * the last event.  Returns 0 or -ENOMEM.
 */
static int top_sums_end(struct top_sums *sums, const struct schedtape_timeline *timeline,
			uint64_t end, struct interval *interval)
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

static void top_sums_free(struct top_sums *sums)
{
	task_sums_free(&sums->tasks);
	free(sums->lanes);
}

/* -- handing over ---------------------------------------------------------- */

static void say_ready(const struct reader *reader)
{
	uint64_t one = 1;

	/* This cannot fail: the counter is far from its limit. */
	if (write(reader->ready, &one, sizeof(one)) < 0)
		return;
}

/* Waits until the interval before it was taken, so that none is left out. */
static void hand_over(struct reader *reader, const struct interval *interval)
{
	pthread_mutex_lock(&reader->lock);
	while (reader->full)
		pthread_cond_wait(&reader->taken, &reader->lock);
	reader->interval = *interval;
	reader->full = true;
	pthread_mutex_unlock(&reader->lock);
	say_ready(reader);
}

enum reader_has reader_take(struct reader *reader, struct interval *interval)
{
	enum reader_has has = READER_NOTHING;
	uint64_t count;

	if (read(reader->ready, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return READER_ENDED;
	pthread_mutex_lock(&reader->lock);
	if (reader->full) {
		*interval = reader->interval;
		reader->full = false;
		pthread_cond_signal(&reader->taken);
		has = READER_INTERVAL;
	} else if (reader->ended) {
		has = READER_ENDED;
	}
	/* The next call finds the end. */
	if (has == READER_INTERVAL && reader->ended)
		say_ready(reader);
	pthread_mutex_unlock(&reader->lock);
	return has;
}

/* -- the thread ------------------------------------------------------------ */

/* Returns 0 or -errno, which also ends the run through the tape. */
static int end_interval(struct reader *reader, uint64_t end)
{
	struct interval interval;
	int ret;

	ret = top_sums_end(&reader->sums, reader->timeline, end, &interval);
	if (ret)
		return schedtape_fail(&reader->err, ret, "not enough memory for the tasks");
	hand_over(reader, &interval);
	return 0;
}

/*
 * All events so far have been added up.  The recorder writes marks at intervals of the same length,
 * and more of them when there are many events: an interval ends with a mark, when it is long
 * enough.
 */
static void before_wait(void *arg)
{
	struct reader *reader = arg;
	uint64_t now = tape_reached(reader->tape), length = reader->length;

	if (reader->sums.rc || !reader->timeline ||
	    now < reader->sums.begin + length - length / 10)
		return;
	reader->sums.rc = schedtape_timeline_reach(reader->timeline, reader->tape, now);
	if (!reader->sums.rc)
		reader->sums.rc = end_interval(reader, now);
}

static int read_tape(struct reader *reader)
{
	const struct schedtape_end *end = schedtape_tape_end(reader->tape);
	int ret;

	top_sums_init(&reader->sums, end->start_time);
	if (schedtape_cgroup_table_read(&reader->cgroups, reader->tape))
		return schedtape_fail(&reader->err, -ENOMEM, "not enough memory for the cgroups");
	schedtape_tape_before_wait(reader->tape, before_wait, reader);
	ret = schedtape_timeline_run(reader->tape, &top_sums_ops, &reader->sums,
				     &reader->timeline, &reader->err);
	end = schedtape_tape_end(reader->tape);
	/* The rest, if there is any. */
	if (!ret && end->stop_time > reader->sums.begin)
		ret = end_interval(reader, end->stop_time);
	return ret;
}

static void *reader_main(void *arg)
{
	struct reader *reader = arg;
	int ret;

	ret = schedtape_tape_open_once(reader->path, &reader->tape, &reader->err);
	if (!ret)
		ret = read_tape(reader);
	pthread_mutex_lock(&reader->lock);
	reader->ret = ret;
	reader->ended = true;
	pthread_mutex_unlock(&reader->lock);
	say_ready(reader);
	return NULL;
}

int reader_start(struct reader *reader, const char *path, uint64_t length)
{
	*reader = (struct reader){
		.path = path,
		.length = length,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.taken = PTHREAD_COND_INITIALIZER,
	};
	reader->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->ready < 0)
		return -errno;
	return schedtape_thread_start(&reader->thread, NULL, reader_main, reader);
}

int reader_join(struct reader *reader)
{
	pthread_join(reader->thread, NULL);
	schedtape_timeline_free(reader->timeline);
	schedtape_cgroup_table_free(&reader->cgroups);
	if (reader->tape)
		schedtape_tape_close(reader->tape);
	top_sums_free(&reader->sums);
	close(reader->ready);
	return reader->ret;
}
