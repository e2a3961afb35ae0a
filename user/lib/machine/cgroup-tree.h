/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cgroups (version 2) of a recording, on its tape.
 */
#ifndef SCHEDTAPE_CGROUP_TREE_H
#define SCHEDTAPE_CGROUP_TREE_H

#include <schedtape/client.h>

struct json_object;

/*
 * Describes cgroups for a tape's META: those of the tasks of @filter, their ancestors, and
 * the descendants of its cgroups.  If @filter is NULL or has neither tasks nor cgroups, this
 * process will start the recorded command: describes the cgroup of this process, its
 * ancestors and its descendants.  Returns NULL if no cgroup2 hierarchy is mounted.
 */
struct json_object *schedtape_cgroups_describe(const struct schedtape_filter *filter);

/**
 * struct schedtape_cgroup_state - a cgroup when a recording began
 * @id: the kernel's id
 * @path: below the root of the hierarchy, without ".." parts
 * @quota, @period: as in cpu.max, us; @period is 0 if it had no quota
 * @cpus: as in cpuset.cpus; NULL: all
 * @weight: as in cpu.weight, valid if @weighs
 * @weighs: the cpu controller was enabled for the cgroup
 * @idle: as in cpu.idle
 * @clamp_min, @clamp_max: as in cpu.uclamp.min and cpu.uclamp.max; NULL: the kernel's own
 * @newer: it was made later: only the path and the last quota are on the tape
 * @time: of @newer: when it had that quota, ns of CLOCK_MONOTONIC
 */
struct schedtape_cgroup_state {
	uint64_t id;
	const char *path;
	uint64_t quota;
	uint64_t period;
	const char *cpus;
	const char *clamp_min;
	const char *clamp_max;
	unsigned int weight;
	bool weighs;
	bool idle;
	bool newer;
	uint64_t time;
};

/* Limit of names in a path of a tape; trees of cgroups are not so deep in practice. */
#define SCHEDTAPE_CGROUP_PARTS	64

/**
 * struct schedtape_cgroup_table - the cgroups of a tape that have a valid path
 * @by_id: sorted by id
 * @by_path: sorted by path; one that was removed may have the path of a later one
 * @nr: number of cgroups
 */
struct schedtape_cgroup_table {
	struct schedtape_cgroup_state *by_id;
	const struct schedtape_cgroup_state **by_path;
	size_t nr;
};

/* Returns 0 or -ENOMEM.  The texts belong to the tape: they are valid until it is closed. */
int schedtape_cgroup_table_read(struct schedtape_cgroup_table *table,
				struct schedtape_tape *tape);
void schedtape_cgroup_table_free(struct schedtape_cgroup_table *table);
/* These return NULL if the table has no such cgroup. */
const struct schedtape_cgroup_state *
schedtape_cgroup_by_id(const struct schedtape_cgroup_table *table, uint64_t id);
const struct schedtape_cgroup_state *
schedtape_cgroup_by_path(const struct schedtape_cgroup_table *table, const char *path);

#endif /* SCHEDTAPE_CGROUP_TREE_H */
