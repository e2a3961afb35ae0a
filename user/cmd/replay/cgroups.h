/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cgroups of a replay: those of the tape once more, in a folder of their own.
 */
#ifndef SCHEDTAPE_CGROUPS_H
#define SCHEDTAPE_CGROUPS_H

#include <limits.h>

#include <program/program.h>

#include "player/cpu-map.h"

/**
 * struct cgroups_made - what there is to be removed, whoever does it
 * @parent: the folder that @top is in
 * @top: the folder that has all of them
 * @stage: how far @top is, complete before it is told: enum cgroups_stage
 * @enabled: a bit for each controller of @parent that was not enabled before
 *
 * Those who have forked share it.  @stage and @enabled are stored in one go, and tell of
 * what is about to be done: its maker may be killed at any moment.
 */
struct cgroups_made {
	char parent[PATH_MAX];
	char top[PATH_MAX];
	uint32_t stage;
	uint32_t enabled;
};

/**
 * struct cgroups - those of one replay; all 0: there are none
 * @made: of them
 * @procs: by the program's number: the file that takes processes; NULL: not known
 * @nr: of them
 */
struct cgroups {
	struct cgroups_made *made;
	char **procs;
	uint32_t nr;
};

/*
 * Before any of them is made.  Who is forked from now on has a copy by which it removes
 * what is made later.  -errno.
 */
int cgroups_open(struct cgroups *cgroups);
/*
 * Makes those of the program below @parent ("": the root), with their weights and quotas,
 * and their CPUs by @cpus.  -errno, and says why.
 */
int cgroups_make(struct cgroups *cgroups, const char *parent, struct schedtape_tape *tape,
		 const struct schedtape_program *program, const struct cpu_map *cpus);
/* Removes all of them; who is in there still is killed. */
void cgroups_remove(struct cgroups *cgroups);

#endif /* SCHEDTAPE_CGROUPS_H */
