/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up the links of many waits: links of the same kind whose tasks have the same names are one
 * cause.  If the tasks' own sleeps count, each system call that they slept in is one, too.
 */
#ifndef SCHEDTAPE_WHY_CAUSES_H
#define SCHEDTAPE_WHY_CAUSES_H

#include "base/histogram.h"
#include "timeline/edges.h"
#include "why/chain.h"

/**
 * struct cause - one cause
 * @kind: enum link_kind
 * @task, @other: numbers of names; SCHEDTAPE_NONE: no task
 * @syscall: in which @task slept; SCHEDTAPE_SYSCALL_UNKNOWN: in none, in any, or not known
 * @rest: the task's own sleep, see chain_is_rest()
 * @present: its time in the wait that is being added
 * @waits: how much time it took of each wait that has it
 * @worst_end: when the wait ended of which it took most, ns of the session's clock
 */
struct cause {
	enum link_kind kind;
	uint32_t task;
	uint32_t other;
	uint64_t syscall;
	bool rest;
	uint64_t present;
	struct schedtape_histogram waits;
	uint64_t worst_end;
};

/**
 * struct causes - all of them; all 0: none
 * @apart: a task's own sleeps are causes of their own
 * @halves, @names: the numbers of names, of two halves
 * @texts: the @nr_texts names, by number
 * @calls: the numbers of system calls, of two halves
 * @pairs: the numbers of causes: the task's name and the kind, the other task's name or the call
 * @list: the @nr causes, by these numbers
 * @nr_waits: waits that have been added
 */
struct causes {
	bool apart;
	struct schedtape_edges halves;
	struct schedtape_edges names;
	char (*texts)[STAPE_COMM_LEN];
	size_t nr_texts;
	struct schedtape_edges calls;
	struct schedtape_edges pairs;
	struct cause *list;
	size_t nr;
	uint64_t nr_waits;
};

/* Adds a wait.  @tasks: any task of the timeline.  Returns 0 or -ENOMEM. */
int causes_add(struct causes *causes, const struct chain *chain,
	       const struct schedtape_task *tasks);
/* Returns a name; NULL: no task. */
const char *causes_name(const struct causes *causes, uint32_t number);
void causes_free(struct causes *causes);

#endif /* SCHEDTAPE_WHY_CAUSES_H */
