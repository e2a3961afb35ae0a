// SPDX-License-Identifier: GPL-2.0-only
#include "why/throttle.h"

#include "why/recorded.h"

/*
 * The longest time that a CPU takes to leave its deepest idle state, with some more for an emulated
 * one, ns.  cpuidle's drivers have exit latencies of up to some 100 us.
 */
#define WAKING_UP	1000000

bool throttle_find(struct throttle *throttle, const struct history *history,
		   const struct span *run, uint64_t ready, const struct span *span, uint64_t time)
{
	const struct recorded *recorded = history->recorded;
	const struct quotas_cgroup *cgroup;
	const struct tape_cgroup *look;

	/* Unless all tasks are on the tape, a CPU that ran another one may have been idle, too. */
	if (span->kind != SPAN_IDLE && (span->kind != SPAN_OTHER || recorded->all))
		return false;
	if (time <= WAKING_UP)
		return false;
	cgroup = quotas_suspect(&recorded->quotas, history->tasks[run->task].cgroup, ready,
				run->begin, &look);
	if (!cgroup)
		return false;
	*throttle = (struct throttle){
		.cgroup = cgroup->path, .quota = look->quota, .period = look->period,
	};
	return true;
}
