// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the report of a tape.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/output.h"
#include "report/internal.h"

enum column {
	TASK, CPU, SLEEPS, PREEMPTED, MEDIAN, P95, P99, WORST, WORST_AT, BY_TASKS, EXTERNALLY,
	MIGRATIONS, BURSTS, POLICY, TGID, STOPS, AVERAGE, WORST_END, WORST_CPU, DELAYS, SUM,
	WAKEUPS, TASKS, PID, INDEX,
};

/*
 * JSON lines[] of report:
 * @name: Name of the task, or of the group of tasks that the line adds up.
 * @policy: Policy of the task if it is only one.
 * @tasks: Number of tasks.
 * @pid: PID, TGID and index of the task if it is only one, or null, like the next two.
 * @tgid, @index:
 * @cpu_time_ns: As in tasks, like the next ones.
 * @sleeps, @stops, @preemptions, @bursts, @migrations, @wakeups, @wakeups_by_task:
 * @wakeups_externally, @delays, @delay_total_ns, @delay_avg_ns, @delay_median_ns, @delay_p95_ns:
 * @delay_p99_ns, @delay_max_ns, @delay_max_begin_ns, @delay_max_end_ns, @delay_max_cpu:
 */
const struct sheet_column report_columns[] = {
	[TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "name", SHEET_PROPERTY },
	[CPU] = { { "cpu", "CPU\nms", TABLE_NEEDED }, SHEET_MS, "cpu_time_ns", SHEET_SUM },
	[SLEEPS] = { { "sleeps", "sleeps", 0 }, SHEET_COUNT, "sleeps", SHEET_SUM },
	[PREEMPTED] = { { "preempted", "preempted", 0 }, SHEET_COUNT, "preemptions", SHEET_SUM },
	[MEDIAN] = { { "delay-median", "delay\nmedian ms", 0 }, SHEET_DELAY,
		     "delay_median_ns", SHEET_DISTRIBUTION },
	[P95] = { { "delay-p95", "delay\n95 % ms", 0 }, SHEET_DELAY,
		  "delay_p95_ns", SHEET_DISTRIBUTION },
	[P99] = { { "delay-p99", "delay\n99 % ms", 0 }, SHEET_DELAY,
		  "delay_p99_ns", SHEET_DISTRIBUTION },
	[WORST] = { { "delay-max", "delay\nmax ms", TABLE_WORST }, SHEET_DELAY,
		    "delay_max_ns", SHEET_DISTRIBUTION },
	[WORST_AT] = { { "delay-max-at", "delay max\nbegan at s", 0 }, SHEET_TIME,
		       "delay_max_begin_ns", SHEET_DISTRIBUTION },
	[BY_TASKS] = { { "woken-by-tasks", "woken\nby tasks", 0 }, SHEET_COUNT,
		       "wakeups_by_task", SHEET_SUM },
	[EXTERNALLY] = { { "woken-externally", "woken\nexternally", 0 }, SHEET_COUNT,
			 "wakeups_externally", SHEET_SUM },
	[MIGRATIONS] = { { "migrations", "migrations", 0 }, SHEET_COUNT, "migrations", SHEET_SUM },
	[BURSTS] = { { "bursts", "bursts", 0 }, SHEET_COUNT, "bursts", SHEET_SUM },
	[POLICY] = { { "policy", "policy", TABLE_TEXT }, SHEET_TEXT, "policy", SHEET_PROPERTY },
	[TGID] = { { "tgid", "TGID", 0 }, SHEET_CPU, "tgid", SHEET_PROPERTY },
	[STOPS] = { { "stops", "stops", 0 }, SHEET_COUNT, "stops", SHEET_SUM },
	[AVERAGE] = { { "delay-avg", "delay\navg ms", TABLE_ASKED }, SHEET_DELAY,
		      "delay_avg_ns", SHEET_DISTRIBUTION },
	[WORST_END] = { { "delay-max-end", "delay max\nended at s", TABLE_ASKED }, SHEET_TIME,
			"delay_max_end_ns", SHEET_DISTRIBUTION },
	[WORST_CPU] = { { "delay-max-cpu", "delay max\non CPU", TABLE_ASKED }, SHEET_CPU,
			"delay_max_cpu", SHEET_DISTRIBUTION },
	[DELAYS] = { { "delays", "delays", TABLE_ASKED }, SHEET_COUNT, "delays", SHEET_SUM },
	[SUM] = { { "delay-total", "delay\ntotal ms", TABLE_ASKED }, SHEET_MS,
		  "delay_total_ns", SHEET_SUM },
	[WAKEUPS] = { { "wakeups", "wake-ups", TABLE_ASKED }, SHEET_COUNT, "wakeups", SHEET_SUM },
	[TASKS] = { { "tasks", "tasks", TABLE_ASKED }, SHEET_COUNT, "tasks", SHEET_PROPERTY },
	[PID] = { { "pid", "PID", TABLE_ASKED }, SHEET_CPU, "pid", SHEET_PROPERTY },
	[INDEX] = { { "index", "index", TABLE_ASKED }, SHEET_CPU, "index", SHEET_PROPERTY },
	{ .json = NULL }
};

/* -- the table ------------------------------------------------------------- */

/* "fifo:10", "other:-5", "batch" */
static const char *policy_of(char buffer[32], const struct schedtape_task *task)
{
	const char *name = schedtape_policy_name(task->policy);

	if (!task->prio_known)
		return "-";
	if (task->rt_priority)
		snprintf(buffer, 32, "%s:%u", name, task->rt_priority);
	else if (task->nice)
		snprintf(buffer, 32, "%s:%d", name, task->nice);
	else
		snprintf(buffer, 32, "%s", name);
	return buffer;
}

static void fill_delays(union sheet_value *row, const struct delays_sum *sum)
{
	static const struct delays_columns columns = {
		.median = MEDIAN, .worst_at = WORST_AT, .worst_cpu = WORST_CPU,
		.average = AVERAGE, .nr = DELAYS, .sum = SUM,
	};

	delays_fill(row, &columns, sum);
	row[WORST_END].n = sum->delays.nr ? sum->worst_begin + sum->delays.worst : SHEET_NONE;
}

static int fill_row(union sheet_value *row, const struct task_sum *sum,
		    const struct groups *groups, const struct group *group, const void *arg)
{
	uint32_t task = group ? groups_only_task(groups, group) : SCHEDTAPE_NONE;
	const struct task_counts *counts = &sum->counts;
	const struct schedtape_task *tasks = arg;
	const char *policy = group ? "-" : "";
	char buffer[32];

	row[CPU].n = sum->delays.runtime;
	row[SLEEPS].n = counts->sleeps;
	row[PREEMPTED].n = counts->preemptions;
	row[WAKEUPS].n = counts->wakeups;
	row[BY_TASKS].n = counts->wakeups_by_task;
	row[EXTERNALLY].n = counts->wakeups - counts->wakeups_by_task;
	row[MIGRATIONS].n = counts->migrations;
	row[BURSTS].n = counts->bursts;
	row[STOPS].n = counts->stops;
	row[INDEX].n = SHEET_NONE;
	fill_delays(row, &sum->delays);
	if (task != SCHEDTAPE_NONE) {
		row[INDEX].n = task;
		policy = policy_of(buffer, &tasks[task]);
	}
	row[POLICY].text = strdup(policy);
	return row[POLICY].text ? 0 : -ENOMEM;
}

int report_fill(struct sheet *sheet, const struct groups *groups, const struct group_sums *sums,
		const struct schedtape_task *tasks)
{
	static const struct group_view view = {
		.labels = { .tasks = TASKS, .pid = PID, .tgid = TGID }, .fill = fill_row,
	};
	struct task_sum total = { .delays = { .runtime = 0 } };
	int rc = group_sums_fill(sheet, groups, sums, &view, tasks, &total);

	schedtape_histogram_free(&total.delays.delays);
	return rc;
}

/* -- edges ----------------------------------------------------------------- */

static bool shows_edge(const struct schedtape_task *tasks, const struct selection *selection,
		       const struct schedtape_edge *edge)
{
	return selection_has_timeline_task(selection, &tasks[edge->waker]) ||
	       selection_has_timeline_task(selection, &tasks[edge->wakee]);
}

static void print_edge_rows(struct table *table, const struct schedtape_timeline *timeline,
			    const struct selection *selection)
{
	const struct schedtape_task *tasks, *waker, *wakee;
	const struct schedtape_edge *edges;
	char name[TEXT_TASK_LEN];
	size_t i, n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	edges = schedtape_timeline_edges(timeline, &n);
	for (i = 0; i < n && out_works(); i++) {
		if (!shows_edge(tasks, selection, &edges[i]))
			continue;
		waker = &tasks[edges[i].waker];
		wakee = &tasks[edges[i].wakee];
		table_cell(table, "%s", text_task(name, waker->comm, waker->pid));
		table_cell(table, "%s", text_task(name, wakee->comm, wakee->pid));
		table_cell(table, "%" PRIu64, edges[i].count);
	}
}

void report_print_edges(const struct schedtape_timeline *timeline,
			const struct selection *selection)
{
	static const struct table_column columns[] = {
		{ "waker", "waker", TABLE_TEXT | TABLE_NEEDED },
		{ "wakee", "wakee", TABLE_TEXT | TABLE_NEEDED },
		{ "wakeups", "wake-ups", TABLE_NEEDED },
		{ 0 }
	};
	struct table table;

	putchar('\n');
	table_begin(&table, columns, NULL);
	while (table_pass(&table))
		print_edge_rows(&table, timeline, selection);
}

static void add_index(struct json_object *object, const char *key, uint32_t index)
{
	json_object_object_add(object, key, index == SCHEDTAPE_NONE ? NULL :
			       json_object_new_int64(index));
}

/*
 * JSON edges[] of report:
 * @waker_index: Index of the waker.
 * @wakee_index: Index of the wakee.
 * @count: Wake-ups.
 */
void report_json_edges(const struct schedtape_timeline *timeline,
		       const struct selection *selection)
{
	const struct schedtape_edge *edges;
	const struct schedtape_task *tasks;
	struct json_object *object;
	size_t i, n;

	out_json_list("edges");
	tasks = schedtape_timeline_tasks(timeline, &n);
	edges = schedtape_timeline_edges(timeline, &n);
	for (i = 0; i < n && out_works(); i++) {
		if (!shows_edge(tasks, selection, &edges[i]))
			continue;
		object = json_object_new_object();
		add_index(object, "waker_index", edges[i].waker);
		add_index(object, "wakee_index", edges[i].wakee);
		out_json_add_count(object, "count", edges[i].count);
		out_json_element(object);
	}
	out_json_list_end();
}

/* -- JSON of tasks --------------------------------------------------------- */

static void add_policy(struct json_object *object, const struct schedtape_task *task)
{
	out_json_add_count(object, "prio_changes", task->prio_changes);
	if (!task->prio_known)
		return;
	json_object_object_add(object, "policy",
			       json_object_new_string(schedtape_policy_name(task->policy)));
	json_object_object_add(object, "nice", json_object_new_int(task->nice));
	out_json_add_count(object, "rt_priority", task->rt_priority);
	if (task->policy != SCHED_DEADLINE)
		out_json_add_wish(object, &task->wish);
	else if (task->dl.period)
		out_json_add_deadline(object, &task->dl);
}

static void add_groups(struct json_object *object, const struct schedtape_task *task)
{
	if (task->autogroup)
		out_json_add_count(object, "autogroup", task->autogroup);
	if (task->autogroup && task->autogroup_nice != SCHEDTAPE_NICE_UNKNOWN)
		json_object_object_add(object, "autogroup_nice",
				       json_object_new_int(task->autogroup_nice));
	if (task->core)
		out_json_add_count(object, "core", task->core);
}

static void add_figures(struct json_object *object, const union sheet_value *row)
{
	static const enum column columns[] = { MEDIAN, P95, P99, WORST_AT, WORST_CPU };
	size_t i;

	for (i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		json_object_object_add(object, report_columns[columns[i]].json,
				       row[columns[i]].n == SHEET_NONE ? NULL :
				       json_object_new_uint64(row[columns[i]].n));
}

/*
 * JSON tasks[] of report:
 * @index: Number of the task on this tape; edges and other tasks name it by this.
 * @parent_index: Index of its parent, or null.
 * @process_index: Index of the task that leads its process, or null.
 * @pid: PID of the thread.
 * @tgid: PID of its process.
 * @ppid: PID of the process that forked it, or if that is not on the tape, of its parent process
 *	when the tape first describes it; 0: not recorded. Of a task that was forked with
 *	CLONE_PARENT: @ppid of the task that forked it.
 * @ns_pid: PID in its own PID namespace, 0: unknown.
 * @autogroup: Tasks with the same number share an autogroup: PID of their session; only if the task
 *	is in one.
 * @autogroup_nice: Nice value of that autogroup when the recording began; only if known.
 * @core: Stands for its core-scheduling cookie; only if it has one.
 * @start_time_ns: When it was made, CLOCK_MONOTONIC; 0: unknown.
 * @first_comm: Its first known name.
 * @comm: Its last name.
 * @from_start: It was alive when the recording began.
 * @joined: It was alive when it entered the filter.
 * @left: It left the filter for good.
 * @thread: It was made as a thread.
 * @exited: It ended during the recording.
 * @exit_ppid: PID of its parent process when it ended, which is another one if the first has ended
 *	before; 0: not recorded, null: its end is not on the tape.
 * @prio_changes: How often its policy, priority or nice value changed.
 * @policy: Its last policy; only if known, like the next ones.
 * @nice: Nice value.
 * @rt_priority: Real-time priority.
 * @runtime_ns: Of SCHED_DEADLINE only, like the next two.
 * @deadline_ns, @period_ns:
 * @slice_ns: Slice that was set for the task, with another policy; only if one was.
 * @clamp_min: Lower utilization clamp that was set for it, up to 1024; only if one was.
 * @clamp_max: Upper one.
 * @timer_slack_ns: Its timer slack when it was last described, if that is not 50 µs.
 * @start_ns: When it appears on the tape.
 * @end_ns: When it ends, or the tape.
 * @cpu_time_ns: CPU time.
 * @bursts: Bursts, see the columns in schedtape-report(1), as of the next ones.
 * @sleeps, @stops, @preemptions:
 * @wakeups: Wake-ups of both kinds.
 * @wakeups_by_task: Those by another task of the tape.
 * @migrations:
 * @delays: Number of scheduling delays.
 * @delay_total_ns: Their sum.
 * @delay_max_ns: The longest.
 * @delay_max_end_ns: When that ended.
 * @delay_median_ns: Null if the task has no delay, like the next four.
 * @delay_p95_ns, @delay_p99_ns:
 * @delay_max_begin_ns: When the longest began.
 * @delay_max_cpu: The CPU on which it ended.
 */
static struct json_object *json_task(const struct schedtape_task *task)
{
	struct json_object *object = json_object_new_object();

	add_index(object, "index", task->index);
	add_index(object, "parent_index", task->parent);
	add_index(object, "process_index", task->process);
	out_json_add_count(object, "pid", task->pid);
	out_json_add_count(object, "tgid", task->tgid);
	out_json_add_count(object, "ppid", task->ppid);
	out_json_add_count(object, "ns_pid", task->ns_pid);
	add_groups(object, task);
	out_json_add_count(object, "start_time_ns", task->start_time);
	out_json_add_name(object, "first_comm", task->first_comm);
	out_json_add_name(object, "comm", task->comm);
	out_json_add_bool(object, "from_start", task->from_start);
	out_json_add_bool(object, "joined", task->joined);
	out_json_add_bool(object, "left", task->left);
	out_json_add_bool(object, "thread", task->thread);
	out_json_add_bool(object, "exited", task->exited);
	add_index(object, "exit_ppid", task->exit_ppid);
	add_policy(object, task);
	out_json_add_count(object, "start_ns", task->start);
	out_json_add_count(object, "end_ns", task->end);
	out_json_add_count(object, "cpu_time_ns", task->cpu_time);
	out_json_add_count(object, "bursts", task->bursts);
	out_json_add_count(object, "sleeps", task->sleeps);
	out_json_add_count(object, "stops", task->stops);
	out_json_add_count(object, "preemptions", task->preemptions);
	out_json_add_count(object, "wakeups", task->wakeups);
	out_json_add_count(object, "wakeups_by_task", task->wakeups_by_task);
	out_json_add_count(object, "migrations", task->migrations);
	out_json_add_count(object, "delays", task->delays);
	out_json_add_count(object, "delay_total_ns", task->delay_total);
	out_json_add_count(object, "delay_max_ns", task->delay_max);
	out_json_add_count(object, "delay_max_end_ns", task->delay_max_time);
	return object;
}

void report_json_tasks(const struct sheet *sheet, const struct schedtape_task *tasks)
{
	const union sheet_value *row = sheet->values;
	struct json_object *object;
	size_t i;

	out_json_list("tasks");
	for (i = 0; i < sheet->nr_rows && out_works(); i++, row += sheet->nr_columns) {
		object = json_task(&tasks[row[INDEX].n]);
		add_figures(object, row);
		out_json_element(object);
	}
	out_json_list_end();
	sheet_json_total(sheet);
}

/* -- sleeps in system calls ------------------------------------------------ */

enum calls_column {
	CALLS_TASK, CALLS_CALL, CALLS_SLEEPS, CALLS_OF_SLEEPS, CALLS_TIME, CALLS_OF_TIME,
	CALLS_MEDIAN, CALLS_P95, CALLS_P99, CALLS_WORST, CALLS_WORST_AT,
};

/*
 * JSON syscalls[] of report:
 * @name: As in the table.
 * @syscall: The system call, or "no system call"; with "(32 bit)" after it if it is a 32-bit one
 *	of a machine with 64 bits.
 * @sleeps: How often it slept in this call and was woken.
 * @sleeps_share: Share of all its sleeps, 0 to 1.
 * @sleep_total_ns: For how long.
 * @sleep_share: Share of the time of all its sleeps, 0 to 1.
 * @sleep_median_ns: Median of these sleeps.
 * @sleep_p95_ns: 95 % are not longer.
 * @sleep_p99_ns: 99 % are not longer.
 * @sleep_max_ns: The longest one.
 * @sleep_max_begin_ns: When that began.
 */
static const struct sheet_column calls_columns[] = {
	[CALLS_TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
			 "name", SHEET_PROPERTY },
	[CALLS_CALL] = { { "syscall", "sleeps in", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
			 "syscall", SHEET_PROPERTY },
	[CALLS_SLEEPS] = { { "sleeps", "sleeps", 0 }, SHEET_COUNT, "sleeps", SHEET_SUM },
	[CALLS_OF_SLEEPS] = { { "of-sleeps", "of all\n%", 0 }, SHEET_SHARE,
			      "sleeps_share", SHEET_PROPERTY },
	[CALLS_TIME] = { { "time", "time\nms", 0 }, SHEET_MS, "sleep_total_ns", SHEET_SUM },
	[CALLS_OF_TIME] = { { "of-time", "of all\n%", 0 }, SHEET_SHARE,
			    "sleep_share", SHEET_PROPERTY },
	[CALLS_MEDIAN] = { { "median", "median\nms", 0 }, SHEET_MS,
			   "sleep_median_ns", SHEET_DISTRIBUTION },
	[CALLS_P95] = { { "p95", "95 %\nms", 0 }, SHEET_MS, "sleep_p95_ns", SHEET_DISTRIBUTION },
	[CALLS_P99] = { { "p99", "99 %\nms", 0 }, SHEET_MS, "sleep_p99_ns", SHEET_DISTRIBUTION },
	[CALLS_WORST] = { { "max", "max\nms", 0 }, SHEET_MS, "sleep_max_ns", SHEET_DISTRIBUTION },
	[CALLS_WORST_AT] = { { "max-at", "max\nbegan at s", 0 }, SHEET_TIME,
			     "sleep_max_begin_ns", SHEET_DISTRIBUTION },
	{ .json = NULL }
};

/* What a group slept in all. */
struct whole {
	uint64_t sleeps;
	uint64_t time;
};

static int add_calls_row(struct sheet *sheet, const struct groups *groups,
			 struct syscalls *syscalls, const struct schedtape_edge *pair,
			 const struct delays_sum *sum, const struct whole *whole)
{
	char label[GROUPS_LABEL], name[SYSCALLS_NAME];
	union sheet_value *row = sheet_row(sheet);

	if (!row)
		return -ENOMEM;
	row[CALLS_TASK].text = strdup(groups_label(groups, pair->waker, label));
	row[CALLS_CALL].text = strdup(syscalls_name(syscalls, calls_syscall(pair), name));
	row[CALLS_SLEEPS].n = sum->delays.nr;
	row[CALLS_OF_SLEEPS].n = sheet_share(sum->delays.nr, whole->sleeps);
	row[CALLS_TIME].n = sum->delays.sum;
	row[CALLS_OF_TIME].n = sheet_share(sum->delays.sum, whole->time);
	sheet_lengths(&row[CALLS_MEDIAN], &sum->delays);
	row[CALLS_WORST_AT].n = sum->worst_begin;
	return row[CALLS_TASK].text && row[CALLS_CALL].text ? 0 : -ENOMEM;
}

static int fill_calls(struct sheet *sheet, const struct calls *grouped,
		      const struct groups *groups, struct syscalls *syscalls)
{
	struct whole *wholes = calloc(groups->nr + 1, sizeof(*wholes));
	const struct schedtape_edge *pairs = grouped->pairs.edges;
	int rc = wholes ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < grouped->pairs.nr && !rc; i++) {
		wholes[pairs[i].waker].sleeps += grouped->sums[i].delays.nr;
		wholes[pairs[i].waker].time += grouped->sums[i].delays.sum;
	}
	for (i = 0; i < grouped->pairs.nr && !rc; i++)
		rc = add_calls_row(sheet, groups, syscalls, &pairs[i], &grouped->sums[i],
				   &wholes[pairs[i].waker]);
	free(wholes);
	return rc;
}

int calls_print(const struct calls *grouped, const struct groups *groups,
		struct syscalls *syscalls, const struct sheet_options *of, bool json)
{
	struct sheet_options options = { .top = 0 };
	struct sheet sheet;
	int rc;

	sheet_options_init(&options, calls_columns, "time");
	options.top = of->top;
	options.times = of->times;
	sheet_begin(&sheet, calls_columns, &options);
	rc = fill_calls(&sheet, grouped, groups, syscalls);
	if (!rc) {
		sheet_sort(&sheet);
		if (json)
			sheet_json(&sheet, "syscalls");
		else
			sheet_print(&sheet);
	}
	sheet_free(&sheet);
	return rc;
}
