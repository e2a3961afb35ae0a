// SPDX-License-Identifier: GPL-2.0-only
#include "priority.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

#define NICEST	(-20)

static struct {
	bool known;
	int policy;
	int nice;
	struct sched_param param;
} before;

static int wanted;

int priority_take(void)
{
	struct sched_param param = { .sched_priority = wanted };

	/* Not for children: they get what everybody has, and then priority_leave(). */
	if (wanted)
		return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) ?
		       -errno : 0;
	if (before.policy != SCHED_OTHER)
		return 0;
	/* It is no failure if it may not be. */
	if (!sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param))
		setpriority(PRIO_PROCESS, 0, NICEST);
	return 0;
}

int priority_set(int realtime)
{
	before.policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	before.nice = getpriority(PRIO_PROCESS, 0);
	sched_getparam(0, &before.param);
	before.known = true;
	wanted = realtime;
	return priority_take();
}

void priority_leave(void)
{
	if (!before.known)
		return;
	sched_setscheduler(0, before.policy, &before.param);
	setpriority(PRIO_PROCESS, 0, before.nice);
}
