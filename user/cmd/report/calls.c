// SPDX-License-Identifier: GPL-2.0-only
#include "report/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "common/figures.h"

/* -- sums ------------------------------------------------------------------ */

/* A system call has 32 bits in a pair: a number has 31, and STAPE_SYSCALL_NONE is none of them. */
#define KEY_32	0x80000000U

static uint32_t key_of(uint64_t call)
{
	return (uint32_t)call | (call & SCHEDTAPE_SYSCALL_32 ? KEY_32 : 0);
}

static uint64_t call_of(uint32_t key)
{
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

int calls_run(struct calls *calls, const struct selection *selection,
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

/* -- table ----------------------------------------------------------------- */

enum column { TASK, CALL, SLEEPS, OF_SLEEPS, TIME, OF_TIME, MEDIAN, P95, P99, WORST, WORST_AT };

static const struct sheet_column columns[] = {
	[TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "name", SHEET_PROPERTY },
	[CALL] = { { "syscall", "sleeps in", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "syscall", SHEET_PROPERTY },
	[SLEEPS] = { { "sleeps", "sleeps", 0 }, SHEET_COUNT, "sleeps", SHEET_SUM },
	[OF_SLEEPS] = { { "of-sleeps", "of all\n%", 0 }, SHEET_SHARE,
			"sleeps_share", SHEET_PROPERTY },
	[TIME] = { { "time", "time\nms", 0 }, SHEET_MS, "sleep_total_ns", SHEET_SUM },
	[OF_TIME] = { { "of-time", "of all\n%", 0 }, SHEET_SHARE, "sleep_share", SHEET_PROPERTY },
	[MEDIAN] = { { "median", "median\nms", 0 }, SHEET_MS,
		     "sleep_median_ns", SHEET_DISTRIBUTION },
	[P95] = { { "p95", "95 %\nms", 0 }, SHEET_MS, "sleep_p95_ns", SHEET_DISTRIBUTION },
	[P99] = { { "p99", "99 %\nms", 0 }, SHEET_MS, "sleep_p99_ns", SHEET_DISTRIBUTION },
	[WORST] = { { "max", "max\nms", 0 }, SHEET_MS, "sleep_max_ns", SHEET_DISTRIBUTION },
	[WORST_AT] = { { "max-at", "max\nbegan at s", 0 }, SHEET_TIME,
		       "sleep_max_begin_ns", SHEET_DISTRIBUTION },
	{ .json = NULL }
};

/* What a group slept in all. */
struct whole {
	uint64_t sleeps;
	uint64_t time;
};

static int add_row(struct sheet *sheet, const struct groups *groups, struct syscalls *syscalls,
		   const struct schedtape_edge *pair, const struct delays_sum *sum,
		   const struct whole *whole)
{
	char label[GROUPS_LABEL], name[SYSCALLS_NAME];
	union sheet_value *row = sheet_row(sheet);

	if (!row)
		return -ENOMEM;
	row[TASK].text = strdup(groups_label(groups, pair->waker, label));
	row[CALL].text = strdup(syscalls_name(syscalls, call_of(pair->wakee), name));
	row[SLEEPS].n = sum->delays.nr;
	row[OF_SLEEPS].n = figures_share(sum->delays.nr, whole->sleeps);
	row[TIME].n = sum->delays.sum;
	row[OF_TIME].n = figures_share(sum->delays.sum, whole->time);
	figures_set(&row[MEDIAN], &sum->delays);
	row[WORST_AT].n = sum->worst_begin;
	return row[TASK].text && row[CALL].text ? 0 : -ENOMEM;
}

static int fill(struct sheet *sheet, const struct calls *grouped, const struct groups *groups,
		struct syscalls *syscalls)
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
		rc = add_row(sheet, groups, syscalls, &pairs[i], &grouped->sums[i],
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

	sheet_options_init(&options, columns, "time");
	options.top = of->top;
	options.times = of->times;
	sheet_begin(&sheet, columns, &options);
	rc = fill(&sheet, grouped, groups, syscalls);
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
