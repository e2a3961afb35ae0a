// SPDX-License-Identifier: GPL-2.0-only
#include "stat/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

enum column {
	TASK, EVENTS, FIRST, TASKS = FIRST + COUNTS_TYPES, PID,
};

const struct sheet_column stat_columns[] = {
	[TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "name", SHEET_PROPERTY },
	[EVENTS] = { { "events", "events", TABLE_NEEDED }, SHEET_COUNT, "events", SHEET_SUM },
	[FIRST + COUNTS_SWITCH] = { { "switch", "switch", TABLE_NEEDED }, SHEET_COUNT,
				    "switch", SHEET_SUM },
	[FIRST + COUNTS_WAKING] = { { "waking", "waking", 0 }, SHEET_COUNT, "waking", SHEET_SUM },
	[FIRST + COUNTS_WAKEUP] = { { "wakeup", "wakeup", 0 }, SHEET_COUNT, "wakeup", SHEET_SUM },
	[FIRST + COUNTS_WAKEUP_NEW] = { { "wakeup_new", "wakeup\nnew", 0 }, SHEET_COUNT,
					"wakeup_new", SHEET_SUM },
	[FIRST + COUNTS_MIGRATE] = { { "migrate", "migrate", 0 }, SHEET_COUNT,
				     "migrate", SHEET_SUM },
	[FIRST + COUNTS_THROTTLE] = { { "throttle", "throttle", TABLE_ASKED }, SHEET_COUNT,
				      "throttle", SHEET_SUM },
	[FIRST + COUNTS_UNTHROTTLE] = { { "unthrottle", "unthrottle", TABLE_ASKED }, SHEET_COUNT,
					"unthrottle", SHEET_SUM },
	[FIRST + COUNTS_FORK] = { { "fork", "fork", 0 }, SHEET_COUNT, "fork", SHEET_SUM },
	[FIRST + COUNTS_EXEC] = { { "exec", "exec", 0 }, SHEET_COUNT, "exec", SHEET_SUM },
	[FIRST + COUNTS_EXIT] = { { "exit", "exit", 0 }, SHEET_COUNT, "exit", SHEET_SUM },
	[FIRST + COUNTS_RENAME] = { { "rename", "rename", 0 }, SHEET_COUNT, "rename", SHEET_SUM },
	[FIRST + COUNTS_SETPRIO] = { { "setprio", "set\nprio", 0 }, SHEET_COUNT,
				     "setprio", SHEET_SUM },
	[FIRST + COUNTS_SETAFFINITY] = { { "setaffinity", "set\naffinity", 0 }, SHEET_COUNT,
					 "setaffinity", SHEET_SUM },
	[FIRST + COUNTS_TASK] = { { "described", "described", TABLE_ASKED }, SHEET_COUNT,
				  "described", SHEET_SUM },
	[TASKS] = { { "tasks", "tasks", TABLE_ASKED }, SHEET_COUNT, "tasks", SHEET_PROPERTY },
	[PID] = { { "pid", "PID", TABLE_ASKED }, SHEET_CPU, "pid", SHEET_PROPERTY },
	{ .json = NULL }
};

/* Adds a line, with a copy of @label.  Returns it; NULL: no memory. */
static union sheet_value *add_row(struct sheet *sheet, const char *label,
				  const struct counts_sum *sum)
{
	union sheet_value *row = sheet_row(sheet);
	size_t i;

	if (!row)
		return NULL;
	row[TASK].text = strdup(label);
	row[EVENTS].n = counts_events(sum);
	for (i = 0; i < COUNTS_TYPES; i++) {
		row[FIRST + i].n = sum->n[i];
		sheet->total[FIRST + i].n += sum->n[i];
	}
	sheet->total[EVENTS].n += row[EVENTS].n;
	row[PID].n = SHEET_NONE;
	return row[TASK].text ? row : NULL;
}

/* Adds the line of what is no group, if it has events.  Returns 0 or -ENOMEM. */
static int add_rest(struct sheet *sheet, const char *label, const struct counts_sum *sum)
{
	return !counts_events(sum) || add_row(sheet, label, sum) ? 0 : -ENOMEM;
}

/* Adds the line of a group, if it has events.  Returns 0 or -ENOMEM. */
static int add_group(struct sheet *sheet, const struct groups *groups, size_t number,
		     const struct counts_sum *sum)
{
	const struct group *group = &groups->groups[number];
	union sheet_value *row;
	char label[GROUPS_LABEL];

	if (!counts_events(sum))
		return 0;
	row = add_row(sheet, groups_label(groups, number, label), sum);
	if (!row)
		return -ENOMEM;
	row[TASKS].n = group->nr_tasks;
	if (group->nr_tasks == 1 && groups->by != GROUPS_CPU)
		row[PID].n = groups->tasks[group->task].pid;
	return 0;
}

/**
 * struct sums - what the lines have
 * @groups: by number of the group, with room for @room
 * @idle, @other: events while no task, or one that is not recorded, was on the CPU
 */
struct sums {
	struct counts_sum *groups;
	size_t room;
	struct counts_sum idle;
	struct counts_sum other;
};

/* Returns the sum of a group; NULL: no memory. */
static struct counts_sum *of_group(struct sums *sums, uint32_t number)
{
	struct counts_sum *all;

	all = schedtape_list_reach(sums->groups, number, &sums->room, sizeof(*all));
	if (!all)
		return NULL;
	sums->groups = all;
	return &all[number];
}

/* Adds a sum to that of the task's group.  Returns 0 or -ENOMEM. */
static int add_task(struct sums *sums, struct groups *groups, uint32_t task,
		    const struct counts_sum *sum)
{
	uint32_t number = groups->numbers[task];
	struct counts_sum *to;

	if (number == SCHEDTAPE_NONE)
		return 0;
	to = of_group(sums, number);
	if (!to)
		return -ENOMEM;
	groups_count(groups, number, task);
	counts_add(to, sum);
	return 0;
}

/* Adds a sum to that of a CPU.  Returns 0 or -ENOMEM. */
static int add_cpu(struct sums *sums, struct groups *groups, uint32_t who, uint32_t cpu,
		   const struct counts_sum *sum)
{
	uint32_t number = groups_of_cpu(groups, cpu);
	struct counts_sum *to = number == SCHEDTAPE_NONE ? NULL : of_group(sums, number);

	if (!to)
		return -ENOMEM;
	if (who >= COUNTS_TASKS)
		groups_count(groups, number, who - COUNTS_TASKS);
	counts_add(to, sum);
	return 0;
}

static int add_up(struct sums *sums, const struct counts *counts, struct groups *groups)
{
	size_t i, n = counts->by_cpu ? counts->pairs.nr : COUNTS_TASKS + groups->nr_tasks;
	bool of_tasks = selection_of_tasks(groups->selection);
	const struct counts_sum *sum;
	uint32_t who;
	int ret = 0;

	for (i = 0; i < n && i < counts->nr && !ret; i++) {
		sum = &counts->sums[i];
		who = counts->by_cpu ? counts->pairs.edges[i].waker : i;
		if (!counts_events(sum) ||
		    (of_tasks && (who < COUNTS_TASKS ||
				  !groups_selects(groups, who - COUNTS_TASKS))))
			continue;
		if (counts->by_cpu)
			ret = add_cpu(sums, groups, who, counts->pairs.edges[i].wakee, sum);
		else if (who >= COUNTS_TASKS)
			ret = add_task(sums, groups, who - COUNTS_TASKS, sum);
		else
			counts_add(who == COUNTS_IDLE ? &sums->idle : &sums->other, sum);
	}
	return ret;
}

int stat_fill(struct sheet *sheet, const struct counts *counts, struct groups *groups)
{
	union sheet_value *total = sheet_total(sheet);
	struct sums sums = { .room = 0 };
	int ret = total ? add_up(&sums, counts, groups) : -ENOMEM;
	size_t i;

	for (i = 0; i < sums.room && i < groups->nr && !ret; i++)
		ret = add_group(sheet, groups, i, &sums.groups[i]);
	free(sums.groups);
	if (ret || add_rest(sheet, "<idle>", &sums.idle) ||
	    add_rest(sheet, "<other>", &sums.other))
		return -ENOMEM;
	total[TASKS].n = groups->nr_counted;
	total[PID].n = SHEET_NONE;
	total[TASK].text = strdup("TOTAL");
	return total[TASK].text ? 0 : -ENOMEM;
}
