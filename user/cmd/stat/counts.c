// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the events of a tape.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "stat/internal.h"

/* Returns the type that an event is counted as; COUNTS_TYPES: none. */
static enum counts_type type_of(const struct schedtape_event *ev)
{
	static const uint8_t types[] = {
		[STAPE_EV_SWITCH] = COUNTS_SWITCH + 1,
		[STAPE_EV_WAKING] = COUNTS_WAKING + 1,
		[STAPE_EV_WAKEUP] = COUNTS_WAKEUP + 1,
		[STAPE_EV_WAKEUP_NEW] = COUNTS_WAKEUP_NEW + 1,
		[STAPE_EV_MIGRATE] = COUNTS_MIGRATE + 1,
		[SCHEDTAPE_EV_THROTTLE] = COUNTS_THROTTLE + 1,
		[SCHEDTAPE_EV_UNTHROTTLE] = COUNTS_UNTHROTTLE + 1,
		[STAPE_EV_FORK] = COUNTS_FORK + 1,
		[STAPE_EV_EXEC] = COUNTS_EXEC + 1,
		[STAPE_EV_EXIT] = COUNTS_EXIT + 1,
		[STAPE_EV_RENAME] = COUNTS_RENAME + 1,
		[STAPE_EV_PRIO] = COUNTS_SETPRIO + 1,
		[SCHEDTAPE_EV_AFFINITY] = COUNTS_SETAFFINITY + 1,
		[STAPE_EV_TASK] = COUNTS_TASK + 1,
	};

	if (ev->type >= sizeof(types) || !types[ev->type])
		return COUNTS_TYPES;
	/* The kernel has one event for an exit, when it begins. */
	if (ev->type == STAPE_EV_EXIT && schedtape_exit_ended(ev))
		return COUNTS_TYPES;
	return types[ev->type] - 1;
}

/* Returns the PID of the task that was on the CPU; 0: none, or it is not recorded. */
static uint32_t current_of(const struct schedtape_event *ev, enum counts_type type)
{
	/* Tasks are described by themselves, or by somebody that the tape does not name. */
	return type <= COUNTS_FORK ? ev->curr : ev->pid;
}

/* Returns the CPU of an event; STAPE_CPU_NONE: it is not known. */
static uint32_t cpu_of(const struct counts *counts, const struct schedtape_event *ev,
		       uint32_t pid)
{
	/* A description has no CPU, but its task is on one. */
	return ev->cpu == STAPE_CPU_NONE && pid ?
		       identities_get(counts->table.identities, pid)->cpu : ev->cpu;
}

/* Returns the sum with the number; NULL: no memory. */
static struct counts_sum *get_sum(struct counts *counts, uint32_t number)
{
	struct counts_sum *sums;

	sums = schedtape_list_reach(counts->sums, number, &counts->nr, sizeof(*sums));
	if (!sums)
		return NULL;
	counts->sums = sums;
	return &sums[number];
}

static int count(struct counts *counts, const struct schedtape_event *ev, enum counts_type type)
{
	uint32_t pid = current_of(ev, type), cpu = cpu_of(counts, ev, pid), number;
	struct counts_sum *sum;

	if (!selection_has_cpu(counts->selection, cpu) ||
	    !selection_has_time(counts->selection, ev->time))
		return 0;
	if (pid) {
		number = task_table_find(&counts->table, pid);
		if (number == SCHEDTAPE_NONE)
			return -ENOMEM;
		number += COUNTS_TASKS;
	} else {
		number = ev->curr_kind == STAPE_NEXT_IDLE ? COUNTS_IDLE : COUNTS_OTHER;
	}
	if (counts->by_cpu && schedtape_edges_number(&counts->pairs, number, cpu, &number))
		return -ENOMEM;
	sum = get_sum(counts, number);
	if (!sum)
		return -ENOMEM;
	sum->n[type]++;
	return 0;
}

int counts_take(void *arg, const struct schedtape_event *ev)
{
	struct counts *counts = arg;
	enum counts_type type;
	int ret;

	if (schedtape_event_is_gap(ev))
		return ev->type == SCHEDTAPE_EV_PAUSED ?
			       schedtape_pauses_add(&counts->pauses, ev) : 0;
	ret = task_table_follow(&counts->table, ev);
	type = type_of(ev);
	return ret || type == COUNTS_TYPES ? ret : count(counts, ev, type);
}

void counts_add(struct counts_sum *sum, const struct counts_sum *other)
{
	size_t i;

	for (i = 0; i < COUNTS_TYPES; i++)
		sum->n[i] += other->n[i];
}

uint64_t counts_events(const struct counts_sum *sum)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < COUNTS_TYPES; i++)
		events += sum->n[i];
	return events;
}

void counts_free(struct counts *counts)
{
	task_table_free(&counts->table);
	schedtape_pauses_free(&counts->pauses);
	schedtape_edges_free(&counts->pairs);
	free(counts->sums);
}
