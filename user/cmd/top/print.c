// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shows an interval as a table, or as JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/output.h"
#include "top/internal.h"

enum column {
	TASK, SHARE, RUNTIME, SWITCHES, MEDIAN, P95, P99, WORST, WORST_CPU, PREEMPTED, WAKEUPS,
	MIGRATIONS, WORST_AT, AVERAGE, SUM, DELAYS, TASKS, PID, TGID, POLICY,
};

/*
 * JSON lines[] of top:
 * @name: Name of the task, or of the group of tasks that the line adds up, as in the table.
 * @cpu_share: Its part of the interval on a CPU; 1 is one CPU all the time.
 * @cpu_time_ns: The same as a time.
 * @switches: Times that it came off a CPU.
 * @delay_median_ns: Half of its delays were not longer than this; null without delays, like the
 *	next ones.
 * @delay_p95_ns, @delay_p99_ns, @delay_max_ns:
 * @delay_max_cpu: On which CPU the longest one ended.
 * @delay_max_begin_ns: When it began.
 * @delay_avg_ns:
 * @delay_total_ns: Sum of all delays, 0 without delays.
 * @delays: Number of delays.
 * @preemptions: Times that it came off a CPU although it was runnable.
 * @wakeups: Times that it got a CPU after it was woken.
 * @migrations: Times that it moved to another CPU.
 * @tasks: Number of tasks.
 * @pid: PID of the task if it is only one, or null.
 * @tgid: PID of its process, or null.
 * @policy: Its scheduling policy; "-" if it is not known, or of several tasks.
 */
const struct sheet_column top_columns[] = {
	[TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "name", SHEET_PROPERTY },
	[SHARE] = { { "cpu-share", "CPU\n%", TABLE_NEEDED }, SHEET_SHARE,
		    "cpu_share", SHEET_PROPERTY },
	[RUNTIME] = { { "cpu", "CPU\nms", 0 }, SHEET_MS, "cpu_time_ns", SHEET_SUM },
	[SWITCHES] = { { "switches", "switches", 0 }, SHEET_COUNT, "switches", SHEET_SUM },
	[MEDIAN] = { { "delay-median", "delay\nmedian ms", 0 }, SHEET_DELAY,
		     "delay_median_ns", SHEET_DISTRIBUTION },
	[P95] = { { "delay-p95", "delay\n95 % ms", TABLE_ASKED }, SHEET_DELAY,
		  "delay_p95_ns", SHEET_DISTRIBUTION },
	[P99] = { { "delay-p99", "delay\n99 % ms", 0 }, SHEET_DELAY,
		  "delay_p99_ns", SHEET_DISTRIBUTION },
	[WORST] = { { "delay-max", "delay\nmax ms", TABLE_WORST }, SHEET_DELAY,
		    "delay_max_ns", SHEET_DISTRIBUTION },
	[WORST_CPU] = { { "delay-max-cpu", "max\non CPU", 0 }, SHEET_CPU,
			"delay_max_cpu", SHEET_DISTRIBUTION },
	[PREEMPTED] = { { "preempted", "preempted", 0 }, SHEET_COUNT, "preemptions", SHEET_SUM },
	[WAKEUPS] = { { "wakeups", "wake-ups", 0 }, SHEET_COUNT, "wakeups", SHEET_SUM },
	[MIGRATIONS] = { { "migrations", "migrations", 0 }, SHEET_COUNT, "migrations", SHEET_SUM },
	[WORST_AT] = { { "delay-max-at", "max began\nat s", TABLE_ASKED }, SHEET_TIME,
		       "delay_max_begin_ns", SHEET_DISTRIBUTION },
	[AVERAGE] = { { "delay-avg", "delay\navg ms", TABLE_ASKED }, SHEET_DELAY,
		      "delay_avg_ns", SHEET_DISTRIBUTION },
	[SUM] = { { "delay-total", "delay\ntotal ms", TABLE_ASKED }, SHEET_MS,
		  "delay_total_ns", SHEET_SUM },
	[DELAYS] = { { "delays", "delays", TABLE_ASKED }, SHEET_COUNT, "delays", SHEET_SUM },
	[TASKS] = { { "tasks", "tasks", TABLE_ASKED }, SHEET_COUNT, "tasks", SHEET_PROPERTY },
	[PID] = { { "pid", "PID", TABLE_ASKED }, SHEET_CPU, "pid", SHEET_PROPERTY },
	[TGID] = { { "tgid", "TGID", TABLE_ASKED }, SHEET_CPU, "tgid", SHEET_PROPERTY },
	[POLICY] = { { "policy", "policy", TABLE_TEXT | TABLE_ASKED }, SHEET_TEXT,
		     "policy", SHEET_PROPERTY },
	{ .json = NULL }
};

/* -- rows ------------------------------------------------------------------ */

static const char *policy_name(const struct groups *groups, const struct group *group)
{
	uint32_t task;

	if (!group)
		return "";
	task = groups_only_task(groups, group);
	if (task == SCHEDTAPE_NONE || groups->tasks[task].policy == IDENTITY_NO_POLICY)
		return "-";
	return schedtape_policy_name(groups->tasks[task].policy);
}

/* @arg: length of the interval, ns */
static int fill_row(union sheet_value *row, const struct task_sum *sum,
		    const struct groups *groups, const struct group *group, const void *arg)
{
	static const struct delays_columns columns = {
		.median = MEDIAN, .worst_at = WORST_AT, .worst_cpu = WORST_CPU,
		.average = AVERAGE, .nr = DELAYS, .sum = SUM,
	};
	const uint64_t *length = arg;

	row[SHARE].n = sheet_share(sum->delays.runtime, *length);
	row[RUNTIME].n = sum->delays.runtime;
	row[SWITCHES].n = sum->counts.switches;
	row[PREEMPTED].n = sum->counts.preemptions;
	row[WAKEUPS].n = sum->counts.wakeups;
	row[MIGRATIONS].n = sum->counts.migrations;
	delays_fill(row, &columns, &sum->delays);
	row[POLICY].text = strdup(policy_name(groups, group));
	return row[POLICY].text ? 0 : -ENOMEM;
}

static int fill(struct sheet *sheet, const struct interval *interval, struct groups *groups)
{
	static const struct group_view view = {
		.labels = { .tasks = TASKS, .pid = PID, .tgid = TGID }, .fill = fill_row,
	};
	uint64_t length = interval->end - interval->begin;
	struct task_sum total = { .delays = { .runtime = 0 } };
	struct group_sums sums = { .room = 0 };
	const struct interval_sum *from;
	int rc = 0;
	size_t i;

	for (i = 0; i < interval->nr_sums && !rc; i++) {
		from = &interval->sums[i];
		rc = group_sums_add(&sums, groups, from->task, from->cpu, &from->sum);
	}
	if (!rc)
		rc = group_sums_fill(sheet, groups, &sums, &view, &length, &total);
	schedtape_histogram_free(&total.delays.delays);
	group_sums_free(&sums);
	return rc;
}

int top_fill(struct sheet *sheet, const struct interval *interval, struct top_view *view)
{
	struct groups groups;
	size_t i;
	int rc;

	time_text_now(&view->time, interval->begin);
	for (i = 0; i < interval->nr_tasks; i++)
		select_names_meet(&view->selection.comms, interval->tasks[i].comm,
				  interval->tasks[i].pid);
	sheet_begin(sheet, top_columns, &view->sheet);
	rc = groups_make_of_tasks(&groups, view->by, &view->selection, interval->tasks,
				  interval->nr_tasks, view->cgroups);
	if (rc)
		return rc;
	rc = fill(sheet, interval, &groups);
	if (!rc)
		sheet_sort(sheet);
	groups_free(&groups);
	return rc;
}

/* -- printing -------------------------------------------------------------- */

#define END	(TIME_TEXT_LEN + 32)

/* Writes the time of the day, and the time on the clock that was asked for; only a date: --tod. */
static void end_text(char text[END], uint64_t end, struct time_text *time)
{
	char clock[16], at[TIME_TEXT_LEN];
	time_t then;
	struct tm tm;

	if (time->options.style == TIME_STYLE_DATE) {
		time_text(time, text, end);
		return;
	}
	if (time->options.style == TIME_STYLE_START)
		time_text(time, at, end);
	else
		out_seconds(at, end, 3);
	then = wall_clock_real(&time->clock, end) / 1000000000;
	localtime_r(&then, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(text, END, "%s  at %s s", clock, at);
}

const char *top_head(char buffer[TOP_HEAD], const struct interval *interval,
		     const struct sheet *sheet, struct time_text *time)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN], end[END], length[OUT_TIME_LEN];
	uint64_t tasks = sheet->total ? sheet->total[TASKS].n : 0;
	double cpus = sheet->total ? sheet->total[SHARE].n / 1e6 : 0;

	end_text(end, interval->end, time);
	snprintf(buffer, TOP_HEAD, "%s, %s s: %" PRIu64 " tasks on %.2f CPUs, %s events, %s lost",
		 end, out_seconds(length, interval->end - interval->begin, 3), tasks, cpus,
		 out_count(events, interval->events), out_count(lost, interval->lost));
	return buffer;
}

void top_print(const struct interval *interval, const struct sheet *sheet, struct time_text *time)
{
	char head[TOP_HEAD];

	puts(top_head(head, interval, sheet, time));
	sheet_print(sheet);
	putchar('\n');
}

/*
 * JSON of top:
 * @begin_ns, @end_ns: When the interval began and ended.
 * @events: Number of events in it, without those that say what CPUs without a task did.
 * @lost: Number of events that are missing, as far as it is known by then.
 * @lines: A list of the lines of the table, in their order.
 * @total: An object with the same keys, for all lines.
 */
void top_print_json(const struct interval *interval, const struct sheet *sheet)
{
	struct json_object *object = out_json_new("top");

	out_json_add_count(object, "begin_ns", interval->begin);
	out_json_add_count(object, "end_ns", interval->end);
	out_json_add_count(object, "events", interval->events);
	out_json_add_count(object, "lost", interval->lost);
	sheet_json_add(sheet, object, "lines");
	out_json(object, false);
}
