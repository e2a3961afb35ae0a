// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up what tasks did, on the whole tape or in the selected part of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "report/internal.h"

/* -- sleeps in system calls ------------------------------------------------ */

/* A system call has 32 bits in a pair: a number has 31, and STAPE_SYSCALL_NONE is none of them. */
#define KEY_32	0x80000000U

static uint32_t key_of(uint64_t call)
{
	return (uint32_t)call | (call & SCHEDTAPE_SYSCALL_32 ? KEY_32 : 0);
}

uint64_t calls_syscall(const struct schedtape_edge *pair)
{
	uint32_t key = pair->wakee;

	if (key == STAPE_SYSCALL_NONE || !(key & KEY_32))
		return key;
	return (key & ~KEY_32) | SCHEDTAPE_SYSCALL_32;
}

/* Returns the sum of a pair; NULL: no memory. */
static struct delays_sum *get_sum(struct calls *calls, uint32_t number, uint32_t key)
{
	struct delays_sum *sums;
	uint32_t pair;

	if (schedtape_edges_number(&calls->pairs, number, key, &pair))
		return NULL;
	sums = schedtape_list_reach(calls->sums, pair, &calls->nr, sizeof(*sums));
	if (!sums)
		return NULL;
	calls->sums = sums;
	return &sums[pair];
}

/*
 * Takes the sleep before a run.  @number: that of the task's sum in struct delays.  Returns 0 or
 * -ENOMEM.
 */
static int add_sleep(struct calls *calls, const struct selection *selection,
		     const struct schedtape_run *run, uint32_t number)
{
	struct delays_sum *sum;

	if (!run->left || !run->woke || run->left_syscall == SCHEDTAPE_SYSCALL_UNKNOWN ||
	    !selection_has_time(selection, run->woke))
		return 0;
	sum = get_sum(calls, number, key_of(run->left_syscall));
	if (!sum)
		return -ENOMEM;
	return delays_note(sum, run->woke - run->left, run->left, run->cpu);
}

int calls_group(const struct calls *calls, const struct delays *delays, struct groups *groups,
		struct calls *grouped)
{
	const struct schedtape_edge *pair;
	struct delays_sum *sum;
	uint32_t i, group;
	int rc = 0;

	for (i = 0; i < calls->pairs.nr && !rc; i++) {
		pair = &calls->pairs.edges[i];
		group = delays_group(delays, groups, pair->waker, &rc);
		if (group == SCHEDTAPE_NONE)
			continue;
		sum = get_sum(grouped, group, pair->wakee);
		rc = sum ? delays_add(sum, &calls->sums[i]) : -ENOMEM;
	}
	return rc;
}

void calls_free(struct calls *calls)
{
	size_t i;

	for (i = 0; i < calls->nr; i++)
		schedtape_histogram_free(&calls->sums[i].delays);
	free(calls->sums);
	schedtape_edges_free(&calls->pairs);
}

/* -- all of a task --------------------------------------------------------- */

/* Makes an array reach an entry, as schedtape_list_reach().  Returns 0 or -ENOMEM. */
static int reach(void **array, size_t *nr, size_t number, size_t size)
{
	void *longer = schedtape_list_reach(*array, number, nr, size);

	if (!longer)
		return -ENOMEM;
	*array = longer;
	return 0;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct report_sums *sums = arg;
	uint32_t number;
	int rc = delays_run(&sums->delays, task, run, &number);

	if (!rc && sums->calls && number != SCHEDTAPE_NONE)
		rc = add_sleep(sums->calls, sums->delays.selection, run, number);
	return rc;
}

/* A task that was woken before the tape ends, and has no CPU yet, has slept. */
static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct report_sums *sums = arg;
	uint32_t number;

	if (!selection_has_cpu(sums->delays.selection, STAPE_CPU_NONE))
		return 0;
	if (delays_number(&sums->delays, task->index, STAPE_CPU_NONE, &number))
		return -ENOMEM;
	return add_sleep(sums->calls, sums->delays.selection, run, number);
}

static int on_counted(void *arg, const struct schedtape_task *task, unsigned int events,
		      uint32_t cpu, uint64_t time)
{
	struct report_sums *sums = arg;
	uint32_t number;

	if (!selection_has_cpu(sums->delays.selection, cpu) ||
	    !selection_has_time(sums->delays.selection, time))
		return 0;
	if (delays_number(&sums->delays, task->index, cpu, &number) ||
	    reach((void **)&sums->counts, &sums->nr, number, sizeof(*sums->counts)))
		return -ENOMEM;
	task_counts_take(&sums->counts[number], events);
	return 0;
}

struct schedtape_timeline_ops report_sums_ops(const struct report_sums *sums, bool edges)
{
	return (struct schedtape_timeline_ops){
		.size = sizeof(struct schedtape_timeline_ops),
		.no_edges = !edges,
		.ran = on_ran,
		.waits = sums->calls ? on_waits : NULL,
		.counted = sums->part ? on_counted : NULL,
	};
}

int report_sum_add(struct report_sum *sum, const struct report_sum *other)
{
	task_counts_add(&sum->counts, &other->counts);
	return delays_add(&sum->delays, &other->delays);
}

struct report_sum report_sum_of(const struct report_sums *sums, const struct schedtape_task *tasks,
				size_t number)
{
	struct report_sum sum = { .delays = { .runtime = 0 } };

	if (number < sums->delays.nr)
		sum.delays = sums->delays.sums[number];
	if (sums->part) {
		if (number < sums->nr)
			sum.counts = sums->counts[number];
		return sum;
	}
	sum.delays.runtime = tasks[number].cpu_time;
	sum.counts = task_counts_of(&tasks[number]);
	return sum;
}

bool report_sum_is_shown(const struct report_sums *sums, const struct report_sum *sum)
{
	static const struct task_counts none;

	return sums->whole || sum->delays.runtime || sum->delays.delays.nr ||
	       memcmp(&sum->counts, &none, sizeof(none));
}

int report_sums_group(const struct report_sums *sums, struct groups *groups,
		      const struct schedtape_task *tasks, struct report_sum **of_groups,
		      size_t *room)
{
	size_t i, n = sums->delays.by_cpu ? sums->delays.pairs.nr : groups->nr_numbers;
	struct report_sum sum;
	uint32_t number;
	int rc = 0;

	*of_groups = NULL;
	*room = 0;
	if (reach((void **)of_groups, room, groups->nr, sizeof(**of_groups)))
		return -ENOMEM;
	for (i = 0; i < n && !rc; i++) {
		number = delays_group(&sums->delays, groups, i, &rc);
		if (number == SCHEDTAPE_NONE)
			continue;
		if (reach((void **)of_groups, room, number, sizeof(**of_groups)))
			return -ENOMEM;
		sum = report_sum_of(sums, tasks, i);
		if (!report_sum_is_shown(sums, &sum))
			continue;
		groups_count(groups, number, delays_task(&sums->delays, i));
		rc = report_sum_add(&(*of_groups)[number], &sum);
	}
	return rc;
}

void report_sums_free_groups(struct report_sum *of_groups, size_t n)
{
	size_t i;

	for (i = 0; of_groups && i < n; i++)
		schedtape_histogram_free(&of_groups[i].delays.delays);
	free(of_groups);
}

void report_sums_free(struct report_sums *sums)
{
	delays_free(&sums->delays);
	free(sums->counts);
}
