/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up how long tasks slept in which system calls.
 */
#ifndef SCHEDTAPE_REPORT_CALLS_H
#define SCHEDTAPE_REPORT_CALLS_H

#include "common/delays.h"
#include "common/groups.h"
#include "common/sheet.h"
#include "common/syscalls.h"
#include "timeline/edges.h"

/**
 * struct calls - all sums
 * @pairs: what the sums are of: a number of struct delays, or of a group, as the waker; and a
 *	system call as the wakee, see calls.c
 * @sums: by number of the pair: sleeps, each from when the task left its CPU until it was woken, in
 *	the place of delays
 * @nr: number of @sums
 */
struct calls {
	struct schedtape_edges pairs;
	struct delays_sum *sums;
	size_t nr;
};

/*
 * Takes the sleep before a run.  @number: that of the task's sum in struct delays.  Returns 0 or
 * -ENOMEM.
 */
int calls_run(struct calls *calls, const struct selection *selection,
	      const struct schedtape_run *run, uint32_t number);
/* Adds up the tasks of each group.  @grouped: all 0.  Returns 0 or -ENOMEM. */
int calls_group(const struct calls *calls, const struct delays *delays, struct groups *groups,
		struct calls *grouped);
/*
 * Prints the table of grouped sums, with the lines and the times that @of asks for; @json: the list
 * "syscalls".  Returns 0 or -ENOMEM.
 */
int calls_print(const struct calls *grouped, const struct groups *groups,
		struct syscalls *syscalls, const struct sheet_options *of, bool json);
void calls_free(struct calls *calls);

#endif /* SCHEDTAPE_REPORT_CALLS_H */
