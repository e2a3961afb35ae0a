// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints chains, and the table of causes.
 */
#include <errno.h>
#include <string.h>

#include "common/color.h"
#include "common/output.h"
#include "why/internal.h"

/**
 * struct words - the texts of a kind of link
 * @json: its name in JSON
 * @text: what follows the task's name
 * @until: of a sleep: what follows that, and the system call if it is known
 * @other: the other task's name follows that
 */
static const struct words {
	const char *json;
	const char *text;
	const char *until;
	bool other;
} words[LINK_NR_KINDS] = {
	[LINK_RAN] = { "ran", " ran", "", false },
	[LINK_QUEUED] = { "queued", " was ready, its CPU ran ", "", true },
	[LINK_OTHER] = { "other", " was ready, its CPU ran another task", "", false },
	[LINK_IDLE] = { "idle", " was ready, its CPU was idle", "", false },
	[LINK_READY] = { "ready", " was ready, what its CPU did is not known", "", false },
	[LINK_SUSPECTED] = {
		"perhaps_throttled", " was ready, its CPU was idle: perhaps throttled", "", false
	},
	[LINK_RUNTIME] = {
		"perhaps_no_runtime", " was ready, its CPU was idle: perhaps no runtime left", "",
		false
	},
	[LINK_THROTTLED] = { "throttled", " was throttled", "", false },
	[LINK_INTERRUPT] = { "interrupt", " slept", " until an interrupt", false },
	[LINK_BLOCKED] = { "blocked", " was blocked", " until an interrupt", false },
	[LINK_OUTSIDE] = { "outside", " slept", " until another task woke it", false },
	[LINK_STILL_ASLEEP] = { "still_asleep", " slept", " until the tape ended", false },
	[LINK_STILL_BLOCKED] = { "still_blocked", " was blocked", " until the tape ended", false },
	[LINK_UNKNOWN] = { "unknown", ": not known", "", false },
};

/* Returns " in futex"; "": not known. */
static const char *in_syscall(char buffer[SYSCALLS_NAME + 4], struct syscalls *syscalls,
			      uint64_t syscall)
{
	char name[SYSCALLS_NAME];

	if (syscall == SCHEDTAPE_SYSCALL_UNKNOWN)
		return "";
	snprintf(buffer, SYSCALLS_NAME + 4, " in %s", syscalls_name(syscalls, syscall, name));
	return buffer;
}

/* @in: of in_syscall() */
static const char *label(char buffer[WHY_LABEL], enum link_kind kind, const char *task,
			 const char *other, const char *in)
{
	snprintf(buffer, WHY_LABEL, "%s%s%s%s%s", task && *task ? task : "?", words[kind].text, in,
		 words[kind].until, !words[kind].other ? "" : other && *other ? other : "?");
	return buffer;
}

static const char *name_task(char buffer[TEXT_TASK_LEN], const struct link_name *name)
{
	return name->pid ? text_task(buffer, name->comm, name->pid) : NULL;
}

const char *why_label(char buffer[WHY_LABEL], const struct link *link, struct syscalls *syscalls)
{
	char task[TEXT_TASK_LEN], other[TEXT_TASK_LEN], in[SYSCALLS_NAME + 4];

	return label(buffer, link->kind, name_task(task, &link->task_name),
		     name_task(other, &link->other_name),
		     in_syscall(in, syscalls, link->syscall));
}

/* The same for all tasks of that name. */
static const char *name_tasks(char buffer[TEXT_NAME_LEN], const struct link_name *name)
{
	return name->pid ? text_name(buffer, name->comm) : NULL;
}

/* -- chains ---------------------------------------------------------------- */

static double share(const struct chain *chain, uint64_t time)
{
	return 100.0 * time / (chain->end - chain->begin);
}

/* The numbers that all lines of a chain have. */
static void print_figures(const struct printer *printer, const struct chain *chain,
			  const struct link *link)
{
	char begin[TIME_TEXT_LEN];

	printf("%7.2f %% %12.3f %8" PRIu64 " %*s  ", share(chain, link->time), out_ms(link->time),
	       link->parts, time_text_width(printer->times),
	       time_text(printer->times, begin, link->begin));
}

/* Returns the number of the link with the largest share. */
static size_t find_largest(const struct chain *chain)
{
	size_t i, largest = 0;

	for (i = 1; i < chain->nr; i++)
		if (chain->links[i].time > chain->links[largest].time)
			largest = i;
	return largest;
}

static void print_links(const struct printer *printer, const struct chain *chain)
{
	char text[WHY_LABEL];
	size_t i, largest = find_largest(chain);
	const struct link *link;
	unsigned int color;

	for (i = 0; i < chain->nr && out_works(); i++) {
		link = &chain->links[i];
		color = i == largest ? COLOR_BOLD : COLOR_PLAIN;
		fputs(color_on(color), stdout);
		print_figures(printer, chain, link);
		fputs(why_label(text, link, printer->syscalls), stdout);
		if (link->throttle.period)
			printf(" (cpu.max %g %%)",
			       quotas_percent(link->throttle.quota, link->throttle.period));
		puts(color_off(color));
	}
}

/* Returns the time of the links behind the first @n. */
static uint64_t time_behind(const struct chain *chain, size_t n)
{
	uint64_t time = 0;

	for (; n < chain->nr; n++)
		time += chain->links[n].time;
	return time;
}

/* Prints a long chain: a line for each pair of names, and one for those that are too many. */
static void print_merged(const struct printer *printer, struct chain *chain)
{
	char text[WHY_LABEL], task[TEXT_NAME_LEN], other[TEXT_NAME_LEN], in[SYSCALLS_NAME + 4];
	const struct link *link;
	unsigned int color;
	uint64_t rest;
	size_t i;

	chain_merge(chain);
	for (i = 0; i < chain->nr && i < printer->top && out_works(); i++) {
		link = &chain->links[i];
		color = i ? COLOR_PLAIN : COLOR_BOLD;
		fputs(color_on(color), stdout);
		print_figures(printer, chain, link);
		fputs(label(text, link->kind, name_tasks(task, &link->task_name),
			    name_tasks(other, &link->other_name),
			    in_syscall(in, printer->syscalls, link->syscall)), stdout);
		puts(color_off(color));
	}
	if (chain->nr <= printer->top)
		return;
	rest = time_behind(chain, printer->top);
	printf("%7.2f %% %12.3f  in %zu more lines, see --top\n", share(chain, rest), out_ms(rest),
	       chain->nr - printer->top);
}

static void print_chain(const struct printer *printer, struct chain *chain)
{
	printf("%s%9s %12s %8s %*s  %s%s\n", color_on(COLOR_HEADING), "share", "ms", "times",
	       time_text_width(printer->times), "first", "what the time was spent on",
	       color_off(COLOR_HEADING));
	if (chain->nr > printer->top)
		print_merged(printer, chain);
	else
		print_links(printer, chain);
	putchar('\n');
}

static void print_range(const struct printer *printer, const struct chain *chain)
{
	char begin[TIME_TEXT_LEN], end[TIME_TEXT_LEN];

	printf("%.3f ms, from %s to %s", out_ms(chain->end - chain->begin),
	       time_text(printer->times, begin, chain->begin),
	       time_text(printer->times, end, chain->end));
}

void why_print_wait(const struct printer *printer, struct chain *chain)
{
	char name[TEXT_TASK_LEN], in[SYSCALLS_NAME + 4];

	printf("%s did not run for ", name_task(name, &chain->task_name));
	print_range(printer, chain);
	fputs(in_syscall(in, printer->syscalls, chain->syscall), stdout);
	if (chain->lasts)
		fputs(", when the tape ended", stdout);
	else
		printf(", and then on CPU %" PRIu32, chain->cpu);
	printf("; it was ready for %.3f ms of that\n", out_ms(chain->ready));
	print_chain(printer, chain);
}

void why_print_path(const struct printer *printer, struct chain *chain)
{
	char name[TEXT_TASK_LEN];

	printf("critical path to the end of %s: ", name_task(name, &chain->task_name));
	print_range(printer, chain);
	putchar('\n');
	print_chain(printer, chain);
}

unsigned int why_kinds(const struct chain *chain)
{
	unsigned int kinds = 0;
	size_t i;

	for (i = 0; i < chain->nr; i++)
		kinds |= 1U << chain->links[i].kind;
	return kinds;
}

/* "20 %, then 40 % of a CPU" */
static void print_percents(const struct quotas_cgroup *cgroup)
{
	const char *between = "";
	double percent, before = -1;
	size_t i;

	for (i = 0; i < cgroup->nr; i++) {
		percent = quotas_percent(cgroup->looks[i].quota, cgroup->looks[i].period);
		/* What is not throttled at first is of no interest. */
		if (percent == before || (!percent && before < 0))
			continue;
		if (percent)
			printf("%s%g %%", between, percent);
		else
			printf("%snone", between);
		between = ", then ";
		before = percent;
	}
	fputs(" of a CPU", stdout);
}

/* Prints the cgroups which were throttled; without @known, those that may have been. */
static void print_quotas(const struct history *history, bool known)
{
	const struct quotas *quotas = &history->recorded->quotas;
	char periods[OUT_COUNT_LEN], throttled[OUT_COUNT_LEN], time[OUT_TIME_LEN];
	const struct quotas_cgroup *cgroup;
	struct quotas_counts counts;
	bool counted;
	size_t i;

	for (i = 0; i < quotas->nr; i++) {
		cgroup = quotas->by_path[i];
		counted = quotas_count(cgroup, &counts);
		if (known ? !throttles_has(&history->throttles, cgroup->id) :
			    !quotas_has(cgroup) ||
			    (counted && !counts.throttled && !counts.throttled_ns))
			continue;
		printf("# %s: cpu.max of the cgroup ", known ? "Throttled" : "Perhaps throttled");
		text_print(stdout, *cgroup->path ? cgroup->path : "?");
		fputs(" is ", stdout);
		print_percents(cgroup);
		if (counted)
			printf("; it was throttled in %s of %s periods, for %s s",
			       out_count(throttled, counts.throttled),
			       out_count(periods, counts.periods),
			       out_seconds(time, counts.throttled_ns, 3));
		puts(".");
	}
}

void why_print_notes(unsigned int kinds, const struct history *history)
{
	const struct recorded *recorded = history->recorded;
	bool another = kinds & (1U << LINK_OTHER | 1U << LINK_OUTSIDE);

	if (kinds & 1U << LINK_THROTTLED)
		print_quotas(history, true);
	if (kinds & 1U << LINK_SUSPECTED)
		print_quotas(history, false);
	if (kinds & 1U << LINK_RUNTIME)
		puts("# Perhaps no runtime left: with SCHED_DEADLINE a task that has used it up "
		     "waits for its next period.");
	if (another && recorded->all)
		puts("# Another task: the recorder itself, or what --exclude-comm leaves out.");
	else if (another)
		puts("# Another task: the tape does not have it; "
		     "\"schedtape record -a --kthreads\" records all.");
	if (kinds & 1U << LINK_UNKNOWN)
		puts("# Not known: events are lost, or it began before the recording.");
	if (kinds & 1U << LINK_READY && !recorded->knows_idle)
		puts("# What its CPU did is not known: tapes tell when CPUs were idle since format "
		     "2.11; older ones have to have all tasks, \"schedtape record -a --kthreads\" "
		     "without --exclude-comm.");
	else if (kinds & 1U << LINK_READY)
		puts("# What its CPU did is not known: it ran others for a part of the time, or "
		     "events are lost.");
}

/* @pid: the key of the PID; NULL: none */
static void json_task(struct json_object *object, const char *pid, const char *comm,
		      const struct link_name *name)
{
	if (!name->pid)
		return;
	if (pid)
		json_object_object_add(object, pid, json_object_new_int64(name->pid));
	out_json_add_name(object, comm, name->comm);
}

static void json_syscall(struct json_object *object, struct syscalls *syscalls, uint64_t syscall)
{
	char name[SYSCALLS_NAME];

	if (syscall != SCHEDTAPE_SYSCALL_UNKNOWN)
		out_json_add_name(object, "syscall", syscalls_name(syscalls, syscall, name));
}

static void json_throttle(struct json_object *object, const struct throttle *throttle)
{
	out_json_add_count(object, "cgroup_id", throttle->id);
	json_object_object_add(object, "cgroup", json_object_new_string(throttle->cgroup));
	out_json_add_count(object, "quota_ns", throttle->quota * 1000);
	out_json_add_count(object, "period_ns", throttle->period * 1000);
}

/*
 * @merged: the link is of all tasks of a name, and of all quotas
 *
 * JSON chains[].links[] of why:
 * @kind: "ran", "queued" (its CPU ran another task of the tape), "other" (its CPU ran a task that
 *	is not on the tape), "idle", "ready" (what its CPU did is not known), "throttled",
 *	"perhaps_throttled" (the tape does not tell when cgroups were throttled),
 *	"perhaps_no_runtime" (a task with SCHED_DEADLINE), "interrupt", "blocked", "outside" (it
 *	slept until a task that is not on the tape woke it), "still_asleep" (until the tape ended),
 *	"still_blocked" or "unknown", see schedtape-why(1).
 * @pid: PID of the link's task. The key is absent if the link has no task.
 * @comm: Its name.
 * @syscall: Of interrupt, blocked, outside, still_asleep and still_blocked: the system call that it
 *	slept in, if it is known.
 * @other_pid: Of queued: PID of the task that its CPU ran.
 * @other_comm: Its name.
 * @cgroup_id: Id of the cgroup whose quota throttled the task. Only links of the kinds throttled
 *	and perhaps_throttled have it. In the latter the quota may have throttled the task; the
 *	tape does not say whether it did.
 * @cgroup: Its path; empty if the tape does not have it.
 * @quota_ns: CPU time that it could use in a period; 0, like the next one, if the tape does not
 *	have it.
 * @period_ns: Length of a period.
 * @time_ns: The time.
 * @share: Its share of the wait, 0 to 1.
 * @times: Of how many parts it consists.
 * @begin_ns: When the first part began.
 * @end_ns: When the last part ended.
 */
static struct json_object *json_link(const struct printer *printer, const struct chain *chain,
				     const struct link *link, bool merged)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "kind", json_object_new_string(words[link->kind].json));
	json_task(object, merged ? NULL : "pid", "comm", &link->task_name);
	json_task(object, merged ? NULL : "other_pid", "other_comm", &link->other_name);
	json_syscall(object, printer->syscalls, link->syscall);
	if (!merged && link->throttle.id)
		json_throttle(object, &link->throttle);
	out_json_add_count(object, "time_ns", link->time);
	out_json_add_double(object, "share", (double)link->time / (chain->end - chain->begin));
	out_json_add_count(object, "times", link->parts);
	out_json_add_count(object, "begin_ns", link->begin);
	out_json_add_count(object, "end_ns", link->end);
	return object;
}

/*
 * JSON chains[] of why:
 * @pid: PID of the task that waited; of a path the one that ran last.
 * @comm: Its name.
 * @syscall: The system call that it slept in, as @syscalls[].syscall of report; absent if it is not
 *	known.
 * @begin_ns: When it left its CPU; of a path when the process started.
 * @end_ns: When it got a CPU; of a path when the last one of its runs ended.
 * @lasts: True if the tape ended before; absent otherwise.
 * @cpu: That CPU; if the wait lasts, the one for which the task waited, absent if it slept.
 * @ready_ns: For how long it was ready; of a path 0.
 * @kept_ns: The length without the task's own sleeps, by which the worst waits are found.
 * @links: The links, the latest first. Parts of the wait that have the same kind and the same tasks
 *	are one link. The times of all links add up to the wait. If --top allows fewer, all tasks
 *	of a name share a link, without PIDs and cgroups, and the longest links are here.
 * @more_links: Number of links that --top leaves out; absent if it leaves out none, like the next
 *	one.
 * @more_ns: Sum of their times.
 */
void why_json_chain(const struct printer *printer, struct chain *chain)
{
	struct json_object *object = json_object_new_object();
	struct json_object *links = json_object_new_array();
	bool merged = chain->nr > printer->top;
	uint64_t kept = chain_kept(chain);
	size_t i;

	if (merged)
		chain_merge(chain);

	json_task(object, "pid", "comm", &chain->task_name);
	json_syscall(object, printer->syscalls, chain->syscall);
	out_json_add_count(object, "begin_ns", chain->begin);
	out_json_add_count(object, "end_ns", chain->end);
	if (chain->lasts)
		out_json_add_bool(object, "lasts", true);
	if (chain->cpu != SCHEDTAPE_NONE)
		out_json_add_count(object, "cpu", chain->cpu);
	out_json_add_count(object, "ready_ns", chain->ready);
	out_json_add_count(object, "kept_ns", kept);
	for (i = 0; i < chain->nr && i < printer->top; i++)
		json_object_array_add(links, json_link(printer, chain, &chain->links[i], merged));
	json_object_object_add(object, "links", links);
	if (chain->nr > printer->top) {
		out_json_add_count(object, "more_links", chain->nr - printer->top);
		out_json_add_count(object, "more_ns", time_behind(chain, printer->top));
	}
	out_json_element(object);
}

/* -- causes ---------------------------------------------------------------- */

enum column {
	CAUSE, TIME, SHARE, WAITS, MEDIAN, P95, P99, WORST, WORST_END, AVERAGE, KIND, SYSCALL,
};

/*
 * JSON causes[] of why:
 * @cause: The text of the line.
 * @kind: The kind, as of links.
 * @syscall: The system call that the tasks slept in; null if it is not known, and without --sleeps.
 * @time_ns: Sum of its time in all waits.
 * @share: Its share of the total, 0 to 1.
 * @waits: Number of waits that have it.
 * @median_ns: Its time in one wait, like the next four.
 * @p95_ns, @p99_ns, @max_ns, @avg_ns:
 * @max_end_ns: When the wait ended that has the longest.
 */
const struct sheet_column why_columns[] = {
	[CAUSE] = { { "cause", "what kept tasks from running", TABLE_TEXT | TABLE_NEEDED },
		    SHEET_TEXT, "cause", SHEET_PROPERTY },
	[TIME] = { { "time", "time\nms", TABLE_NEEDED }, SHEET_MS, "time_ns", SHEET_SUM },
	[SHARE] = { { "share", "share", TABLE_WORST }, SHEET_SHARE, "share", SHEET_PROPERTY },
	[WAITS] = { { "waits", "waits", 0 }, SHEET_COUNT, "waits", SHEET_SUM },
	[MEDIAN] = { { "median", "median\nms", 0 }, SHEET_MS, "median_ns", SHEET_DISTRIBUTION },
	[P95] = { { "p95", "95 %\nms", 0 }, SHEET_MS, "p95_ns", SHEET_DISTRIBUTION },
	[P99] = { { "p99", "99 %\nms", 0 }, SHEET_MS, "p99_ns", SHEET_DISTRIBUTION },
	[WORST] = { { "max", "worst\nms", 0 }, SHEET_MS, "max_ns", SHEET_DISTRIBUTION },
	[WORST_END] = { { "max-end", "worst ended\nat s", 0 }, SHEET_TIME,
			"max_end_ns", SHEET_DISTRIBUTION },
	[AVERAGE] = { { "avg", "average\nms", TABLE_ASKED }, SHEET_MS,
		      "avg_ns", SHEET_DISTRIBUTION },
	[KIND] = { { "kind", "kind", TABLE_TEXT | TABLE_ASKED }, SHEET_TEXT,
		   "kind", SHEET_PROPERTY },
	[SYSCALL] = { { "syscall", "system call", TABLE_TEXT | TABLE_ASKED }, SHEET_TEXT,
		      "syscall", SHEET_PROPERTY },
	{ .json = NULL }
};

static int add_row(struct sheet *sheet, const struct causes *causes, const struct cause *cause,
		   uint64_t all, struct syscalls *syscalls)
{
	char text[WHY_LABEL], task[TEXT_NAME_LEN], other[TEXT_NAME_LEN], in[SYSCALLS_NAME + 4];
	const struct schedtape_histogram *waits = &cause->waits;
	const char *name = causes_name(causes, cause->task);
	const char *behind = causes_name(causes, cause->other);
	union sheet_value *row = sheet_row(sheet);

	if (!row)
		return -ENOMEM;
	row[TIME].n = waits->sum;
	row[SHARE].n = sheet_share(waits->sum, all);
	row[WAITS].n = waits->nr;
	sheet_lengths(&row[MEDIAN], waits);
	row[WORST_END].n = cause->worst_end;
	row[AVERAGE].n = waits->sum / waits->nr;
	row[KIND].text = strdup(words[cause->kind].json);
	row[CAUSE].text = strdup(label(text, cause->kind, name ? text_name(task, name) : NULL,
				       behind ? text_name(other, behind) : NULL,
				       in_syscall(in, syscalls, cause->syscall)));
	if (cause->syscall != SCHEDTAPE_SYSCALL_UNKNOWN) {
		row[SYSCALL].text = strdup(syscalls_name(syscalls, cause->syscall, text));
		if (!row[SYSCALL].text)
			return -ENOMEM;
	}
	return row[KIND].text && row[CAUSE].text ? 0 : -ENOMEM;
}

int why_fill(struct sheet *sheet, const struct causes *causes, struct syscalls *syscalls)
{
	union sheet_value *total = sheet_total(sheet);
	enum column column;
	uint64_t all = 0;
	size_t i;
	int rc = 0;

	if (!total)
		return -ENOMEM;
	for (i = 0; i < causes->nr; i++)
		if (!causes->list[i].rest)
			all += causes->list[i].waits.sum;
	for (i = 0; i < causes->nr && !rc; i++)
		if (!causes->list[i].rest)
			rc = add_row(sheet, causes, &causes->list[i], all, syscalls);
	total = sheet->total;
	for (column = MEDIAN; column <= AVERAGE; column++)
		total[column].n = SHEET_NONE;
	total[TIME].n = all;
	total[SHARE].n = all ? 1000000 : 0;
	total[WAITS].n = causes->nr_waits;
	total[KIND].text = strdup("");
	total[CAUSE].text = strdup("TOTAL");
	return rc ? rc : total[KIND].text && total[CAUSE].text ? 0 : -ENOMEM;
}
