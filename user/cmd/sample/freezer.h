/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stops all tasks of a cgroup at once, and lets them go on, also after this process was killed.
 */
#ifndef SCHEDTAPE_SAMPLE_FREEZER_H
#define SCHEDTAPE_SAMPLE_FREEZER_H

#include <stdint.h>
#include <sys/types.h>

#include <schedtape.h>

/**
 * struct freezer - a frozen cgroup
 * @cgroup: its folder
 * @guard: writing end of a pipe: the guardian thaws the cgroup when nobody has it any more
 * @guardian: a process that outlives this one
 * @since: when it was frozen, CLOCK_MONOTONIC
 */
struct freezer {
	const char *cgroup;
	int guard;
	pid_t guardian;
	uint64_t since;
};

/*
 * Freezes the cgroup.  Returns 0; -errno after setting @err, and then it is not frozen; -ESRCH:
 * there is no process in it.
 */
int freezer_freeze(struct freezer *freezer, const char *cgroup, struct schedtape_error *err);
/* Thaws it.  Returns how long it was frozen. */
uint64_t freezer_thaw(struct freezer *freezer);

#endif /* SCHEDTAPE_SAMPLE_FREEZER_H */
