/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Priorities: how a test sets them, and what it expects to be told of them.
 */
#ifndef SELFTESTS_PRIO_H
#define SELFTESTS_PRIO_H

#include <stdbool.h>
#include <sys/types.h>

#include "record.h"

int st_set_policy(pid_t pid, int policy, int priority);

/* What a task has from now on. */
struct st_prio {
	int policy, nice, rt_priority, prio;
	bool boosted;
};

bool st_prio_is(const struct schedtape_event *ev, struct st_prio prio);
/*
 * Was a task told to have these and no others, in this order?  NULL, or the first
 * that is wrong.
 */
const char *st_prio_compare(const struct st_record *r, pid_t pid, const struct st_prio *prios,
			    size_t n);

#define EXPECT_PRIOS(r, pid, prios) do {						\
	const char *_wrong = st_prio_compare(r, pid, prios,				\
					     sizeof(prios) / sizeof((prios)[0]));	\
	EXPECT_EQ(NULL, _wrong) {							\
		TH_LOG("%s", _wrong);							\
	}										\
} while (0)

#endif /* SELFTESTS_PRIO_H */
