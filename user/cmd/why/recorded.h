/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tape says about its recording: whether all tasks are on it, and the quotas of cgroups.
 */
#ifndef SCHEDTAPE_WHY_RECORDED_H
#define SCHEDTAPE_WHY_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/cgroup-tree.h"

/**
 * struct recorded - of a tape that is open
 * @all: it has all tasks, but for the recorder
 * @cgroups: as they were when the recording began
 */
struct recorded {
	bool all;
	struct schedtape_cgroup_table cgroups;
};

/* Returns 0 or -ENOMEM. */
int recorded_read(struct recorded *recorded, struct schedtape_tape *tape);
/*
 * Returns the quota of CPU time of a cgroup, as in cpu.max: its own, or that of the nearest cgroup
 * above it that has one.  NULL: none has, or the tape does not have the cgroup.  @id: of the cgroup
 */
const char *recorded_quota(const struct recorded *recorded, uint64_t id);
/* Returns the quota in per cent of a CPU, or -1. */
double recorded_percent(const char *quota);
void recorded_free(struct recorded *recorded);

#endif /* SCHEDTAPE_WHY_RECORDED_H */
