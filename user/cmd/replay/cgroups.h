/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cgroups of a replay: copies of the tape's cgroups, in a folder of their own.
 */
#ifndef SCHEDTAPE_CGROUPS_H
#define SCHEDTAPE_CGROUPS_H

#include <limits.h>

#include <program/program.h>

#include "player/cpu-map.h"

/**
 * struct cgroups_made - what has to be removed after the replay
 * @parent: the folder that @top is in
 * @top: the folder of all cgroups of the replay
 * @stage: enum cgroups_stage of @top, whose name is complete before @stage is stored
 * @unclamped: the kernel has not the utilization clamps of a cgroup
 * @enabled: a bit for each controller of @parent that was not enabled before
 *
 * It is in memory that forked processes share.  @stage and @enabled are stored atomically, before
 * the change that they announce, because the controller may be killed at any moment.
 */
struct cgroups_made {
	char parent[PATH_MAX];
	char top[PATH_MAX];
	uint32_t stage;
	uint32_t enabled;
	bool unclamped;
};

/**
 * struct cgroups - the cgroups of one replay; all 0: none
 * @made: what has to be removed
 * @procs: by the program's number of the cgroup: path of its cgroup.procs; NULL: unknown
 * @nr: number of @procs
 */
struct cgroups {
	struct cgroups_made *made;
	char **procs;
	uint32_t nr;
};

/*
 * Allocates @made.  Call it before cgroups_make() and before a fork of a process that has to
 * remove cgroups that are made later.  Returns 0 or -errno.
 */
int cgroups_open(struct cgroups *cgroups);
/*
 * Makes the program's cgroups below @parent ("": the root), with their weights, quotas and, mapped
 * by @cpus, their CPUs.  Returns 0, or -errno after a message.
 */
int cgroups_make(struct cgroups *cgroups, const char *parent, struct schedtape_tape *tape,
		 const struct schedtape_program *program, const struct cpu_map *cpus);
/* Removes all cgroups, and kills the processes in them. */
void cgroups_remove(struct cgroups *cgroups);

#endif /* SCHEDTAPE_CGROUPS_H */
