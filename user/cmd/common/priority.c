// SPDX-License-Identifier: GPL-2.0-only
#include "common/priority.h"

#include <errno.h>
#include <sched.h>
#include <pthread.h>
#include <sys/resource.h>

#include <schedtape.h>

#include "base/sched-attr.h"

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

/* In a thread, so that the calling one keeps its attributes. */
static bool try_in_thread(void *(*try)(void *arg))
{
	bool has = true;
	pthread_t thread;

	if (!pthread_create(&thread, NULL, try, &has))
		pthread_join(thread, NULL);
	return has;
}

/*
 * Sets the policy, because sched_get_priority_max() accepts SCHED_EXT also in a kernel that is
 * built without it.
 */
bool priority_has_ext(void)
{
	return try_in_thread(try_ext);
}

static void *try_slice(void *arg)
{
	const struct sched_param param = { 0 };
	struct sched_attributes attr = { 0 };
	bool *has = arg;

	/* Only a task of an ordinary policy has a slice. */
	*has = sched_setscheduler(0, SCHED_OTHER, &param) ||
	       sched_attr_get(&attr) || attr.runtime;
	return NULL;
}

static void *try_clamp(void *arg)
{
	const struct sched_attributes attr = {
		.size = sizeof(attr), .flags = SCHED_ATTR_KEEP_ALL | SCHED_ATTR_CLAMP_MIN,
	};
	bool *has = arg;

	*has = !sched_attr_set(&attr) || errno != EOPNOTSUPP;
	return NULL;
}

bool priority_has_slices(void)
{
	return try_in_thread(try_slice);
}

bool priority_has_clamps(void)
{
	return try_in_thread(try_clamp);
}
