// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary of timehist: what each task did; and what each CPU did: how long it ran tasks of the
 * tape, other tasks, and nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "common/idle-time.h"
#include "timehist/internal.h"

#define UNKNOWN_KIND	(STAPE_NEXT_OTHER + 1)

/* -- tasks ----------------------------------------------------------------- */

enum task_column {
	TASK, PARENT, COUNT, SUM, MEDIAN, P95, P99, WORST, WORST_AT, MIGRATIONS, LEAST, AVERAGE,
	PID, EXIT_PARENT,
};

/*
 * JSON tasks[] of timehist --summary:
 * @name: The task.
 * @ppid: As of report, or null.
 * @runs: How often it got a CPU.
 * @cpu_time_ns: Time on a CPU.
 * @run_median_ns: Of its times on a CPU, like the next ones.
 * @run_p95_ns, @run_p99_ns, @run_max_ns:
 * @run_max_begin_ns: When the longest one began.
 * @migrations: Moves to another CPU.
 * @run_min_ns, @run_avg_ns:
 * @pid: Its PID.
 * @exit_ppid: As of report, or null.
 */
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

static int add_task_row(struct sheet *sheet, const struct schedtape_task *task,
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
		ret = add_task_row(sheet, &tasks[i], &sum);
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

/* -- CPUs ------------------------------------------------------------------ */

enum cpu_column { CPU, BUSY, TASKS, OTHERS, IDLE, OFFLINE, UNKNOWN, IDLES };

/*
 * JSON idle[] of timehist --summary:
 * @cpu: Its number.
 * @busy: Share of the known time in which it was not idle, 0 to 1, or null.
 * @tasks_ns: For how long it ran tasks of the tape.
 * @others_ns: Other tasks.
 * @idle_ns: Nothing.
 * @offline_ns: For how long it was offline.
 * @unknown_ns: For how long that is not known.
 * @idles: How often it became idle after a task of the tape.
 */
const struct sheet_column idle_columns[] = {
	[CPU] = { { "cpu", "CPU", TABLE_NEEDED }, SHEET_CPU, "cpu", SHEET_PROPERTY },
	[BUSY] = { { "busy", "busy\n%", 0 }, SHEET_SHARE, "busy", SHEET_PROPERTY },
	[TASKS] = { { "tasks", "tasks of\nthe tape ms", 0 }, SHEET_MS, "tasks_ns", SHEET_SUM },
	[OTHERS] = { { "others", "others\nms", 0 }, SHEET_MS, "others_ns", SHEET_SUM },
	[IDLE] = { { "idle", "idle\nms", 0 }, SHEET_MS, "idle_ns", SHEET_SUM },
	[OFFLINE] = { { "offline", "offline\nms", 0 }, SHEET_MS, "offline_ns", SHEET_SUM },
	[UNKNOWN] = { { "unknown", "unknown\nms", 0 }, SHEET_MS, "unknown_ns", SHEET_SUM },
	[IDLES] = { { "idles", "times\nidle", 0 }, SHEET_COUNT, "idles", SHEET_SUM },
	{ .json = NULL }
};

/* Returns the sum of the CPU; NULL: no memory. */
static struct cpu_sum *get_cpu(struct timehist *th, uint32_t cpu, uint64_t start)
{
	struct cpu_sum *cpus;

	if (cpu < th->nr_cpu_sums)
		return &th->cpus[cpu];
	cpus = reallocarray(th->cpus, cpu + 1, sizeof(*cpus));
	if (!cpus)
		return NULL;
	th->cpus = cpus;
	for (; th->nr_cpu_sums <= cpu; th->nr_cpu_sums++)
		cpus[th->nr_cpu_sums] = (struct cpu_sum){ .last = start };
	return &cpus[cpu];
}

/*
 * The CPU has done the same until now: enum stape_next; another value: it is not known what.  If
 * the tape does not show when CPUs were idle, it is known only of tasks.
 */
static void add_until(const struct timehist *th, struct cpu_sum *cpu, unsigned int kind,
		      uint64_t until)
{
	uint64_t part;

	if (until < cpu->last)
		return;
	part = selection_part(&th->selection, cpu->last, until);
	if (kind > (th->knows_idle ? STAPE_NEXT_OTHER : STAPE_NEXT_TASK))
		cpu->unknown += part;
	else
		cpu->time[kind] += part;
	cpu->last = until;
}

/*
 * The CPU was idle and ran others until now, it is not known when.  What it did in a part of the
 * time is certain only as far as the rest is too short for it.
 */
static void add_mixed(const struct timehist *th, struct cpu_sum *cpu, uint64_t idle,
		      uint64_t until)
{
	uint64_t part = selection_part(&th->selection, cpu->last, until);
	uint64_t others = until - cpu->last - idle;
	uint64_t sure_idle = part > others ? part - others : 0;
	uint64_t sure_others = part > idle ? part - idle : 0;

	cpu->time[STAPE_NEXT_IDLE] += sure_idle;
	cpu->time[STAPE_NEXT_OTHER] += sure_others;
	cpu->unknown += part - sure_idle - sure_others;
	cpu->last = until;
}

/* The tape tells what the CPU did since the switch or the loss before. */
static void add_told(const struct timehist *th, struct cpu_sum *cpu,
		     const struct schedtape_event *ev)
{
	struct idle_time time = idle_time_of(ev, cpu->last);
	bool offline = ev->idle.kind == STAPE_IDLE_OFFLINE;

	if (cpu->offline || (offline && !time.known)) {
		cpu->offline_time += selection_part(&th->selection, cpu->last, ev->time);
		cpu->last = ev->time;
		cpu->offline = false;
		return;
	}
	cpu->offline = offline;
	if (ev->idle.kind == STAPE_NEXT_TASK) {
		add_until(th, cpu, ev->curr_kind, ev->time);
		return;
	}
	if (!time.known)
		add_until(th, cpu, UNKNOWN_KIND, time.since);
	else if (!time.idle)
		add_until(th, cpu, STAPE_NEXT_OTHER, time.since);
	else
		add_mixed(th, cpu, time.idle, time.since);
	add_until(th, cpu, ev->idle.kind, ev->time);
}

/* Returns true if the CPU runs a task of the tape after the event. */
static bool runs_task_after(const struct schedtape_event *ev)
{
	if (schedtape_event_is_gap(ev))
		return false;
	if (ev->type == STAPE_EV_SWITCH)
		return schedtape_switch_next(ev) == STAPE_NEXT_TASK;
	if (ev->type == SCHEDTAPE_EV_IDLE && ev->idle.kind != STAPE_NEXT_TASK)
		return false;
	return ev->curr_kind == STAPE_NEXT_TASK;
}

int idle_add(struct timehist *th, const struct schedtape_event *ev, uint64_t start)
{
	struct cpu_sum *cpu;

	if (ev->cpu == STAPE_CPU_NONE || !selection_has_cpu(&th->selection, ev->cpu))
		return 0;
	cpu = get_cpu(th, ev->cpu, start);
	if (!cpu)
		return -ENOMEM;
	cpu->used = true;
	if (schedtape_event_is_gap(ev)) {
		add_until(th, cpu, UNKNOWN_KIND, ev->lost_last);
		cpu->offline = false;
	} else if (ev->type == SCHEDTAPE_EV_IDLE && ev->time >= cpu->last) {
		add_told(th, cpu, ev);
	} else if (ev->type == STAPE_EV_SWITCH || ev->curr_kind == STAPE_NEXT_TASK) {
		/* A task that runs at an event ran until then, also if a loss follows. */
		add_until(th, cpu, ev->curr_kind, ev->time);
	}
	cpu->runs_task = runs_task_after(ev);
	if (ev->type == STAPE_EV_SWITCH && schedtape_switch_next(ev) == STAPE_NEXT_IDLE &&
	    selection_has_time(&th->selection, ev->time))
		cpu->idles++;
	return 0;
}

static int add_cpu_row(struct sheet *sheet, const struct timehist *th, uint32_t number,
		       uint64_t stop)
{
	const struct cpu_sum *cpu = &th->cpus[number];
	const uint64_t *time = cpu->time;
	union sheet_value *row = sheet_row(sheet);
	uint64_t busy, known;

	if (!row)
		return -ENOMEM;
	busy = time[STAPE_NEXT_TASK] + time[STAPE_NEXT_OTHER];
	known = busy + time[STAPE_NEXT_IDLE];
	row[CPU].n = number;
	row[BUSY].n = known && th->knows_idle ? sheet_share(busy, known) : SHEET_NONE;
	row[TASKS].n = time[STAPE_NEXT_TASK];
	row[OTHERS].n = time[STAPE_NEXT_OTHER];
	row[IDLE].n = time[STAPE_NEXT_IDLE];
	row[OFFLINE].n = cpu->offline_time;
	row[UNKNOWN].n = cpu->unknown;
	if (stop > cpu->last)
		row[cpu->offline ? OFFLINE : UNKNOWN].n += selection_part(&th->selection, cpu->last,
									   stop);
	row[IDLES].n = cpu->idles;
	return 0;
}

int idle_fill(struct sheet *sheet, const struct timehist *th, uint64_t stop)
{
	int ret = 0;
	uint32_t i;

	for (i = 0; i < th->nr_cpu_sums && !ret; i++) {
		/* As other commands count it: no event shows until when the task ran. */
		if (th->cpus[i].runs_task)
			add_until(th, &th->cpus[i], STAPE_NEXT_TASK, stop);
		if (th->cpus[i].used)
			ret = add_cpu_row(sheet, th, i, stop);
	}
	return ret;
}
