/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cgroups of a replay: those of the tape once more, in a folder of their own.
 */
#ifndef SCHEDTAPE_CGROUPS_H
#define SCHEDTAPE_CGROUPS_H

#include <limits.h>

#include <program.h>

#include "cpu-map.h"

/**
 * struct cgroups - those of one replay; all 0: there are none
 * @top: the folder that has all of them, "": none yet
 * @parent: the folder that it is in
 * @enabled: controllers of @parent that were not enabled before, as -NAME of each
 * @procs: by the program's number: the file that takes processes; NULL: not known
 * @nr: of them
 */
struct cgroups {
	char top[PATH_MAX];
	char parent[PATH_MAX];
	char enabled[32];
	char **procs;
	uint32_t nr;
};

/*
 * Makes those of the program below @parent ("": the root), with their weights and quotas,
 * and their CPUs by @cpus.  -errno, and says why.
 */
int cgroups_make(struct cgroups *cgroups, const char *parent, struct schedtape_tape *tape,
		 const struct schedtape_program *program, const struct cpu_map *cpus);
/* Removes all of them; who is in there still is killed. */
void cgroups_remove(struct cgroups *cgroups);

#endif /* SCHEDTAPE_CGROUPS_H */
