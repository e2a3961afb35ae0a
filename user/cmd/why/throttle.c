// SPDX-License-Identifier: GPL-2.0-only
#include "why/throttle.h"

#include <sched.h>

#include "why/recorded.h"

/*
 * The longest time that a CPU takes to leave its deepest idle state, with some more for an emulated
 * one, ns.  cpuidle's drivers have exit latencies of up to some 100 us.
 */
#define WAKING_UP	1000000
/* Cgroups below each other that are looked at.  Only a forged tape has more. */
#define MOST_DEPTH	64

static struct throttle throttle_of(const struct quotas_cgroup *cgroup, uint64_t id,
				   const struct tape_cgroup *look)
{
	return (struct throttle){
		.cgroup = cgroup ? cgroup->path : "", .id = id,
		.quota = look ? look->quota : 0, .period = look ? look->period : 0,
	};
}

/* Quotas of CPU time are only for tasks of these policies. */
static bool has_quota(const struct span *run)
{
	return run->policy == SCHED_OTHER || run->policy == SCHED_BATCH ||
	       run->policy == SCHED_IDLE;
}

/*
 * Returns true if a task that the CPU would have run without the bout did not run in it.  Where a
 * throttled cgroup's tasks run until they return to user space, it has left its CPU there.
 */
static bool stops(const struct history *history, const struct span *run, const struct bout *bout)
{
	return history->recorded->throttling != STAPE_THROTTLING_TASKS ||
	       (!run->woke && run->left >= bout->begin);
}

/*
 * Finds the last bout of a cgroup on a CPU that stopped a task in a time.  One that lasts has not
 * stopped a task that ran afterwards.
 */
static bool find_bout(const struct history *history, const struct span *run, uint64_t cgroup,
		      uint32_t cpu, const struct bout *time, struct bout *bout)
{
	const struct throttles *throttles = &history->throttles;

	if (run->lasts && throttles_lasts(throttles, cgroup, cpu, bout) &&
	    bout->begin < time->end && stops(history, run, bout))
		return true;
	return throttles_find(throttles, cgroup, cpu, time->begin, time->end, bout) &&
	       stops(history, run, bout);
}

bool throttle_find(struct throttle *throttle, const struct history *history,
		   const struct span *run, uint32_t cpu, struct bout *bout)
{
	const struct quotas *quotas = &history->recorded->quotas;
	uint64_t id = history->tasks[run->task].cgroup;
	const struct quotas_cgroup *cgroup;
	struct bout found, last = { 0, 0 };
	unsigned int depth;

	if (!history->throttles.nr || !has_quota(run))
		return false;
	/* The one that ended last is what kept the task. */
	cgroup = quotas_find(quotas, id);
	for (depth = 0; depth < MOST_DEPTH; depth++, id = cgroup->id) {
		if (find_bout(history, run, id, cpu, bout, &found) && found.end > last.end) {
			last = found;
			*throttle = throttle_of(cgroup, id, cgroup ?
						quotas_between(cgroup, found.begin, found.end) :
						NULL);
		}
		cgroup = cgroup ? quotas_above(quotas, cgroup, bout->begin) : NULL;
		if (!cgroup)
			break;
	}
	if (!last.end)
		return false;
	bout->begin = last.begin > bout->begin ? last.begin : bout->begin;
	bout->end = last.end < bout->end ? last.end : bout->end;
	return true;
}

/* Returns true if a CPU was idle for longer than it takes to wake up. */
static bool is_kept(const struct span *span, uint64_t time)
{
	return span->kind == SPAN_IDLE && time > WAKING_UP;
}

bool throttle_runtime(const struct span *run, const struct span *span, uint64_t time)
{
	return run->policy == SCHED_DEADLINE && is_kept(span, time);
}

bool throttle_suspect(struct throttle *throttle, const struct history *history,
		      const struct span *run, uint64_t ready, const struct span *span,
		      uint64_t time)
{
	const struct recorded *recorded = history->recorded;
	const struct quotas_cgroup *cgroup;
	const struct tape_cgroup *look;

	if (!is_kept(span, time) || !has_quota(run))
		return false;
	/* The tape tells when it was throttled. */
	if (recorded->throttling && ready >= history->throttles.known_since)
		return false;
	/* The kernel counts a throttling when it ends: no count excludes one that lasts. */
	cgroup = quotas_suspect(&recorded->quotas, history->tasks[run->task].cgroup, ready,
				run->lasts ? UINT64_MAX : run->begin, &look);
	if (!cgroup)
		return false;
	*throttle = throttle_of(cgroup, cgroup->id, look);
	return true;
}
