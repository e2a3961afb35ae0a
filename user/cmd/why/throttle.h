/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether the quota of a cgroup kept a task from running.
 */
#ifndef SCHEDTAPE_WHY_THROTTLE_H
#define SCHEDTAPE_WHY_THROTTLE_H

#include "why/history.h"

/**
 * struct throttle - a quota that kept a task from running
 * @cgroup: path of the cgroup that has it, as long as the tape is open; "": not known
 * @id: its id
 * @quota, @period: as in cpu.max, us; @period is 0 if they are not known
 */
struct throttle {
	const char *cgroup;
	uint64_t id;
	uint64_t quota;
	uint64_t period;
};

/*
 * Returns true if the tape tells that the task of a run was throttled on a CPU in the time of
 * @bout, which is cut down to the last such part of it.
 */
bool throttle_find(struct throttle *throttle, const struct history *history,
		   const struct span *run, uint32_t cpu, struct bout *bout);
/*
 * Returns true if the task of a run, which was ready since @ready, was perhaps throttled while its
 * CPU did @span for @time: the tape has no, or not all, events of throttling.
 */
bool throttle_suspect(struct throttle *throttle, const struct history *history,
		      const struct span *run, uint64_t ready, const struct span *span,
		      uint64_t time);
/*
 * Returns true if the task of a run has perhaps used up its runtime, or yielded the rest, while its
 * CPU did @span for @time: the kernel has no tracepoint for that.
 */
bool throttle_runtime(const struct span *run, const struct span *span, uint64_t time);

#endif /* SCHEDTAPE_WHY_THROTTLE_H */
