// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each CPU did: how long it ran tasks of the tape, other tasks, and nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/figures.h"
#include "timehist/timehist.h"

enum column { CPU, BUSY, TASKS, OTHERS, IDLE, UNKNOWN, IDLES };

const struct sheet_column idle_columns[] = {
	[CPU] = { { "cpu", "CPU", TABLE_NEEDED }, SHEET_CPU, "cpu" },
	[BUSY] = { { "busy", "busy\n%", 0 }, SHEET_SHARE, "busy" },
	[TASKS] = { { "tasks", "tasks of\nthe tape ms", 0 }, SHEET_MS, "tasks_ns" },
	[OTHERS] = { { "others", "others\nms", 0 }, SHEET_MS, "others_ns" },
	[IDLE] = { { "idle", "idle\nms", 0 }, SHEET_MS, "idle_ns" },
	[UNKNOWN] = { { "unknown", "unknown\nms", 0 }, SHEET_MS, "unknown_ns" },
	[IDLES] = { { "idles", "times\nidle", 0 }, SHEET_COUNT, "idles" },
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

/* An event names what ran on its CPU since the one before. */
int idle_add(struct timehist *th, const struct schedtape_event *ev, uint64_t start)
{
	struct cpu_sum *cpu;
	uint64_t until, part;

	if (ev->cpu == STAPE_CPU_NONE || !selection_has_cpu(&th->selection, ev->cpu))
		return 0;
	cpu = get_cpu(th, ev->cpu, start);
	if (!cpu)
		return -ENOMEM;
	cpu->used = true;
	until = schedtape_event_is_gap(ev) ? ev->lost_last : ev->time;
	if (until < cpu->last)
		return 0;
	part = selection_part(&th->selection, cpu->last, until);
	if (schedtape_event_is_gap(ev) || ev->curr_kind > STAPE_NEXT_OTHER)
		cpu->unknown += part;
	else
		cpu->time[ev->curr_kind] += part;
	cpu->last = until;
	if (ev->type == STAPE_EV_SWITCH && schedtape_switch_next(ev) == STAPE_NEXT_IDLE &&
	    selection_has_time(&th->selection, ev->time))
		cpu->idles++;
	return 0;
}

static int add_row(struct sheet *sheet, const struct timehist *th, uint32_t number, uint64_t stop)
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
	row[BUSY].n = known ? figures_share(busy, known) : SHEET_NONE;
	row[TASKS].n = time[STAPE_NEXT_TASK];
	row[OTHERS].n = time[STAPE_NEXT_OTHER];
	row[IDLE].n = time[STAPE_NEXT_IDLE];
	row[UNKNOWN].n = cpu->unknown;
	if (stop > cpu->last)
		row[UNKNOWN].n += selection_part(&th->selection, cpu->last, stop);
	row[IDLES].n = cpu->idles;
	return 0;
}

int idle_fill(struct sheet *sheet, const struct timehist *th, uint64_t stop)
{
	int ret = 0;
	uint32_t i;

	for (i = 0; i < th->nr_cpu_sums && !ret; i++)
		if (th->cpus[i].used)
			ret = add_row(sheet, th, i, stop);
	return ret;
}
