// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up what tasks did, on the whole tape or in the selected part of it.
 */
#include <errno.h>
#include <stdlib.h>

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
		group = groups_of(groups, delays_task(delays, pair->waker),
				  delays_cpu(delays, pair->waker), &rc);
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

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct report_sums *sums = arg;
	uint32_t number;
	int rc = delays_run(&sums->tasks.delays, task, run, &number);

	if (!rc && sums->calls && number != SCHEDTAPE_NONE)
		rc = add_sleep(sums->calls, sums->tasks.delays.selection, run, number);
	return rc;
}

/* A task that was woken before the tape ends, and has no CPU yet, has slept. */
static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct report_sums *sums = arg;
	struct delays *delays = &sums->tasks.delays;
	uint32_t number;

	if (!selection_has_cpu(delays->selection, STAPE_CPU_NONE))
		return 0;
	if (delays_number(delays, task->index, STAPE_CPU_NONE, &number))
		return -ENOMEM;
	return add_sleep(sums->calls, delays->selection, run, number);
}

static int on_counted(void *arg, const struct schedtape_task *task, unsigned int events,
		      uint32_t cpu, uint64_t time)
{
	struct report_sums *sums = arg;

	return task_sums_count(&sums->tasks, task, events, cpu, time);
}

struct schedtape_timeline_ops report_sums_ops(const struct report_sums *sums, bool edges)
{
	return (struct schedtape_timeline_ops){
		.size = sizeof(struct schedtape_timeline_ops),
		.no_edges = !edges,
		.ran = on_ran,
		.waits = sums->calls ? on_waits : NULL,
		.counted = sums->tasks.part ? on_counted : NULL,
	};
}
