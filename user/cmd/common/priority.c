// SPDX-License-Identifier: GPL-2.0-only
#include "common/priority.h"

#include <errno.h>
#include <sched.h>
#include <pthread.h>
#include <sys/resource.h>

#include <schedtape.h>

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

	/* Reset on fork: children get the usual priority, and then call priority_leave(). */
	if (wanted)
		return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) ?
		       -errno : 0;
	if (before.policy != SCHED_OTHER)
		return 0;
	/* Without permission the priority stays as it is, which is not a failure. */
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

static void *try_ext(void *arg)
{
	const struct sched_param param = { 0 };
	bool *has = arg;

	/* A kernel with SCHED_EXT may reject the call with another error. */
	*has = !sched_setscheduler(0, SCHEDTAPE_POLICY_EXT, &param) || errno != EINVAL;
	return NULL;
}

/*
 * Sets the policy, because sched_get_priority_max() accepts SCHED_EXT also in a kernel that is
 * built without it.  Uses a thread, so that the calling thread keeps its policy.
 */
bool priority_has_ext(void)
{
	bool has = true;
	pthread_t thread;

	if (!pthread_create(&thread, NULL, try_ext, &has))
		pthread_join(thread, NULL);
	return has;
}
