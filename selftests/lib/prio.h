/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Priorities: setting them, and checking the events about them.
 */
#ifndef SELFTESTS_PRIO_H
#define SELFTESTS_PRIO_H

#include <stdbool.h>
#include <sys/types.h>

#include "record.h"

int st_set_policy(pid_t pid, int policy, int priority);

/* The attributes that a task gets. */
struct st_prio {
	int policy, nice, rt_priority, prio;
	bool boosted;
};

bool st_prio_is(const struct schedtape_event *ev, struct st_prio prio);
/*
 * Checks that the events of a task have these priorities and no others, in this order. Returns
 * NULL, or the first difference.
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
