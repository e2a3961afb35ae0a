// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses what is on a page, and reads the tape for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "common/selection.h"
#include "report/internal.h"

/* -- rows ------------------------------------------------------------------ */

/* Sorts tasks by their CPU time in the selected part, which is in @times by index. */
static int compare_tasks(const void *one, const void *two, void *times)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;
	const uint64_t *time = times;

	if (time[a] != time[b])
		return time[a] > time[b] ? -1 : 1;
	return a < b ? -1 : 1;
}

/* Gives rows to the selected tasks with the most CPU time. */
static int choose_tasks(struct page *page)
{
	const struct selection *selection = page->sums->delays.selection;
	struct page_rows *rows = &page->rows;
	const struct schedtape_task *tasks;
	struct task_sum sum;
	uint64_t *times;
	size_t i, n = 0;

	tasks = schedtape_timeline_tasks(page->timeline, &rows->nr_all);
	rows->tasks = calloc(rows->nr_all + 1, sizeof(*rows->tasks));
	rows->number_of = calloc(rows->nr_all + 1, sizeof(*rows->number_of));
	times = calloc(rows->nr_all + 1, sizeof(*times));
	if (!rows->tasks || !rows->number_of || !times) {
		free(times);
		return -ENOMEM;
	}
	for (i = 0; i < rows->nr_all; i++) {
		sum = task_sums_get(page->sums, tasks, i);
		times[i] = sum.delays.runtime;
		if (selection_has_timeline_task(selection, &tasks[i]) &&
		    task_sums_shows(page->sums, &sum))
			rows->tasks[n++] = i;
	}
	qsort_r(rows->tasks, n, sizeof(*rows->tasks), compare_tasks, times);
	free(times);
	rows->nr_tasks = n < PAGE_MOST_TASKS ? n : PAGE_MOST_TASKS;
	rows->nr_other = n - rows->nr_tasks;
	for (i = 0; i < n; i++)
		rows->number_of[rows->tasks[i]] = (i < rows->nr_tasks ? i : rows->nr_tasks) + 1;
	return n ? 0 : -ENODATA;
}

/* Gives a row to each selected CPU of the tape.  Descriptions of tasks are of none. */
static int choose_cpus(struct page *page)
{
	const struct selection *selection = page->sums->delays.selection;
	const struct schedtape_end *end = schedtape_tape_end(page->tape);
	struct page_rows *rows = &page->rows;
	const uint32_t none = SCHEDTAPE_NONE;
	uint32_t *row_of, cpu;
	size_t i;

	rows->cpus = calloc(end->nr_cpus + 1, sizeof(*rows->cpus));
	if (!rows->cpus)
		return -ENOMEM;
	for (i = 0; i < end->nr_cpus; i++) {
		cpu = end->cpus[i].cpu;
		if (cpu == STAPE_CPU_NONE || !selection_has_cpu(selection, cpu))
			continue;
		row_of = schedtape_list_reach_with(rows->row_of_cpu, cpu, &rows->nr_row_of_cpu,
						   sizeof(*row_of), &none);
		if (!row_of)
			return -ENOMEM;
		rows->row_of_cpu = row_of;
		row_of[cpu] = rows->nr_cpus;
		rows->cpus[rows->nr_cpus++] = cpu;
	}
	return rows->nr_cpus ? 0 : -ENODATA;
}

static uint32_t row_of_cpu(const struct page_rows *rows, uint32_t cpu)
{
	return cpu < rows->nr_row_of_cpu ? rows->row_of_cpu[cpu] : SCHEDTAPE_NONE;
}

/* Sets the time that the page shows.  Ranges are in order. */
static void choose_time(struct page *page)
{
	const struct time_ranges *times = &page->sums->delays.selection->times;
	const struct schedtape_end *end = schedtape_tape_end(page->tape);

	page->first = end->start_time;
	page->last = end->stop_time;
	if (times->nr && page->first < times->ranges[0].start)
		page->first = times->ranges[0].start;
	if (times->nr && page->last > times->stop)
		page->last = times->stop;
}

/* -- runs ------------------------------------------------------------------ */

/**
 * struct running - what a CPU runs
 * @run: its end is its begin, and its task is 0 if nothing runs
 * @late: it began before the block, but was not seen then
 */
struct running {
	struct page_run run;
	bool late;
};

/**
 * struct waiting - a task that waits for a CPU
 * @since: 0: it does not, or for one without a row
 * @how: enum page_how
 * @waker: number on the page
 */
struct waiting {
	uint64_t since;
	uint32_t how;
	uint32_t waker;
};

/**
 * struct reading - the tape is read for the page
 * @running: by row of a CPU
 * @waiting: by index of a task, @nr_waiting of them
 */
struct reading {
	struct page *page;
	struct running *running;
	struct waiting *waiting;
	size_t nr_waiting;
};

static uint32_t number_of(const struct page *page, uint32_t index)
{
	return index < page->rows.nr_all ? page->rows.number_of[index] : 0;
}

static struct waiting *waiting_of(struct reading *reading, uint32_t index)
{
	struct waiting *waiting;

	waiting = schedtape_list_reach(reading->waiting, index, &reading->nr_waiting,
				       sizeof(*waiting));
	if (waiting)
		reading->waiting = waiting;
	return waiting ? &waiting[index] : NULL;
}

/* Makes a page's run of a timeline's. */
static struct page_run run_of(const struct page *page, const struct schedtape_task *task,
			      const struct schedtape_run *run)
{
	uint32_t row = row_of_cpu(&page->rows, run->cpu);
	struct page_run made = {
		.end = run->end,
		.length = run->end - run->begin,
		.cpu = row == SCHEDTAPE_NONE ? page->rows.nr_cpus : row,
		.task = number_of(page, task->index),
		.how = PAGE_UNKNOWN,
	};
	uint32_t state = run->state == SCHEDTAPE_NONE ? PAGE_NO_STATE : run->state;
	uint64_t since = delays_since(run);

	if (since)
		made.wait = run->begin - since;
	if (run->woke) {
		made.how = run->woke_in == SCHEDTAPE_NONE ? PAGE_WOKEN_SOMEHOW : run->woke_in;
		if (run->waker != SCHEDTAPE_NONE)
			made.waker = number_of(page, run->waker);
	} else if (since) {
		made.how = PAGE_PREEMPTED;
	}
	made.how |= state << PAGE_HOW_BITS;
	return made;
}

static uint32_t as_going_on(uint32_t how)
{
	return (how & ((1U << PAGE_HOW_BITS) - 1)) | PAGE_GOES_ON << PAGE_HOW_BITS;
}

static bool overlaps(const struct reading *reading, uint64_t first, uint64_t last)
{
	return selection_overlaps(reading->page->sums->delays.selection, first, last);
}

/* Adds the runs that go on at @time. */
static int add_running(struct reading *reading, uint64_t time)
{
	struct page *page = reading->page;
	struct page_run run;
	unsigned int i;
	int rc = 0;

	for (i = 0; i < page->rows.nr_cpus && !rc; i++) {
		run = reading->running[i].run;
		if (!run.task || run.end >= time || !overlaps(reading, run.end, time))
			continue;
		run.length = time - run.end;
		run.end = time;
		run.how = as_going_on(run.how);
		rc = blocks_add(&page->blocks, &run);
	}
	return rc;
}

/* Adds the waits of tasks with a row that go on at @time. */
static int add_waiting(struct reading *reading, uint64_t time)
{
	struct page *page = reading->page;
	const struct waiting *waiting;
	struct page_run run;
	uint32_t number;
	size_t i;
	int rc = 0;

	for (i = 0; i < reading->nr_waiting && !rc; i++) {
		waiting = &reading->waiting[i];
		number = number_of(page, i);
		if (!waiting->since || waiting->since >= time || !number ||
		    number > page->rows.nr_tasks || !overlaps(reading, waiting->since, time))
			continue;
		run = (struct page_run){
			.end = time, .wait = time - waiting->since, .cpu = page->rows.nr_cpus,
			.task = number, .waker = waiting->waker, .how = as_going_on(waiting->how),
		};
		rc = blocks_add(&page->blocks, &run);
	}
	return rc;
}

/* Ends a block at @time, with all that goes on. */
static int end_block(struct reading *reading, uint64_t time)
{
	int rc = add_running(reading, time);

	if (!rc)
		rc = add_waiting(reading, time);
	return rc ? rc : blocks_end_one(&reading->page->blocks, time);
}

/* Adds a run that is over, or a wait, to the sums and to the block. */
static int add_run(struct reading *reading, const struct page_run *run, bool late)
{
	struct page *page = reading->page;
	uint64_t begin = run->end - run->length;
	int rc = 0;

	if (run->wait)
		levels_wait(&page->levels, run->task, begin - run->wait, begin);
	if (run->length)
		rc = levels_run(&page->levels, run->cpu, run->task, begin, run->end);
	if (rc)
		return rc;
	if (late)
		return blocks_add_late(&page->blocks, run);
	rc = blocks_add(&page->blocks, run);
	if (!rc && blocks_is_long(&page->blocks))
		rc = end_block(reading, run->end);
	return rc;
}

/* Has what ran a row for its task, and one for its CPU? */
static bool has_rows(const struct page *page, const struct schedtape_task *task, uint32_t cpu)
{
	return number_of(page, task->index) && row_of_cpu(&page->rows, cpu) != SCHEDTAPE_NONE;
}

static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct reading *reading = arg;
	struct waiting *waiting = waiting_of(reading, task->index);

	if (!waiting)
		return -ENOMEM;
	waiting->since = 0;
	if (has_rows(reading->page, task, run->cpu))
		reading->running[row_of_cpu(&reading->page->rows, run->cpu)] = (struct running){
			.run = run_of(reading->page, task, run),
			.late = run->begin < reading->page->blocks.first,
		};
	return 0;
}

/* Adds a run that is over, or only the wait before it, as far as they are selected. */
static int add_selected(struct reading *reading, const struct schedtape_task *task,
			const struct schedtape_run *run, bool late)
{
	struct page_run made = run_of(reading->page, task, run);

	if (overlaps(reading, run->begin, run->end))
		return add_run(reading, &made, late);
	if (!made.wait || !overlaps(reading, run->begin - made.wait, run->begin))
		return 0;
	made.end = run->begin;
	made.length = 0;
	made.cpu = reading->page->rows.nr_cpus;
	return add_run(reading, &made, false);
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct reading *reading = arg;
	struct running *running;
	struct waiting *waiting;
	bool late;
	int rc;

	if (!has_rows(reading->page, task, run->cpu))
		return 0;
	running = &reading->running[row_of_cpu(&reading->page->rows, run->cpu)];
	late = running->late;
	*running = (struct running){ .late = false };
	rc = add_selected(reading, task, run, late);
	if (rc || run->state != STAPE_STATE_RUNNING)
		return rc;
	waiting = waiting_of(reading, task->index);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting){ .since = run->end, .how = PAGE_PREEMPTED };
	return 0;
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct reading *reading = arg;
	struct waiting *waiting = waiting_of(reading, task->index);

	(void)ticket;
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting){
		.since = time, .how = PAGE_WOKEN_SOMEHOW,
		.waker = waker ? number_of(reading->page, waker->index) : 0,
	};
	return 0;
}

/* A task waits for a CPU: it was woken there, forked, or has moved there. */
static int on_queued(void *arg, const struct schedtape_task *task, uint32_t cpu, uint64_t time)
{
	struct reading *reading = arg;
	struct waiting *waiting = waiting_of(reading, task->index);

	if (!waiting)
		return -ENOMEM;
	if (!has_rows(reading->page, task, cpu))
		waiting->since = 0;
	else if (!waiting->since)
		*waiting = (struct waiting){ .since = time, .how = PAGE_WOKEN_SOMEHOW };
	return 0;
}

/* The task no longer waits for a CPU. */
static int on_gone(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct reading *reading = arg;

	(void)time;
	if (task->index < reading->nr_waiting)
		reading->waiting[task->index].since = 0;
	return 0;
}

/* In a loss or a pause, any task may have got a CPU. */
static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct reading *reading = arg;
	size_t i;

	if (schedtape_event_is_gap(ev))
		for (i = 0; i < reading->nr_waiting; i++)
			reading->waiting[i].since = 0;
	return 0;
}

/* The tape ends while the task waits for a CPU or sleeps. */
static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct reading *reading = arg;
	struct page_run made = run_of(reading->page, task, run);

	if (task->index >= reading->nr_waiting || !reading->waiting[task->index].since)
		return 0;
	reading->waiting[task->index].since = 0;
	if (!made.task || !made.wait || !overlaps(reading, run->begin - made.wait, run->end))
		return 0;
	return add_run(reading, &made, false);
}

static const struct schedtape_timeline_ops reading_ops = {
	.size = sizeof(reading_ops),
	.no_edges = true,
	.woke = on_woke,
	.slept = on_gone,
	.left = on_gone,
	.exited = on_gone,
	.ran = on_ran,
	.event = on_event,
	.began = on_began,
	.queued = on_queued,
	.waits = on_waits,
};

/* -- the page -------------------------------------------------------------- */

static int read_again(struct page *page, struct schedtape_error *err)
{
	struct reading reading = { .page = page };
	struct schedtape_timeline *timeline;
	int rc;

	reading.running = calloc(page->rows.nr_cpus + 1, sizeof(*reading.running));
	if (!reading.running)
		return -ENOMEM;
	rc = schedtape_timeline_run(page->tape, &reading_ops, &reading, &timeline, err);
	if (!rc) {
		schedtape_timeline_free(timeline);
		rc = end_block(&reading, page->last);
		if (!rc)
			rc = blocks_end_all(&page->blocks, page->first);
	}
	free(reading.running);
	free(reading.waiting);
	return rc;
}

/* How many bytes of text single runs may have: the page has sums and figures as well. */
static uint64_t bytes_for_runs(const struct page *page)
{
	uint64_t others = levels_bytes(&page->levels) * 4 / 3 + PAGE_OTHER_BYTES;

	return others < PAGE_MOST_BYTES ? PAGE_MOST_BYTES - others : 0;
}

int page_make(struct page *page, struct schedtape_error *err)
{
	int rc;

	err->text[0] = '\0';
	rc = choose_tasks(page);
	if (!rc)
		rc = choose_cpus(page);
	if (rc)
		return rc;
	choose_time(page);
	rc = levels_begin(&page->levels, page->rows.nr_cpus, page->rows.nr_tasks, page->first,
			  page->last);
	if (!rc)
		rc = blocks_begin(&page->blocks, page->rows.nr_cpus, page->first,
				  bytes_for_runs(page));
	if (!rc)
		rc = read_again(page, err);
	if (rc && !err->text[0])
		schedtape_fail(err, rc, "%s: %s", page->path, strerror(-rc));
	return rc;
}

void page_free(struct page *page)
{
	free(page->rows.cpus);
	free(page->rows.row_of_cpu);
	free(page->rows.tasks);
	free(page->rows.number_of);
	levels_free(&page->levels);
	blocks_free(&page->blocks);
}
