/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The quotas of CPU time that the cgroups of a tape had, from time to time, and what the kernel has
 * counted of them.
 */
#ifndef SCHEDTAPE_CMD_QUOTAS_H
#define SCHEDTAPE_CMD_QUOTAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tape/cgroups.h"

struct json_object;

/**
 * struct quotas_cgroup - a cgroup
 * @path: below the root of the hierarchy; "": not known
 * @looks: how it was, by time; @nr of them, one at least.  The first one also holds before its time
 */
struct quotas_cgroup {
	uint64_t id;
	const char *path;
	const struct tape_cgroup *looks;
	size_t nr;
};

/**
 * struct quotas - all cgroups of a tape that is open; all 0: none
 * @looks: of all of them, by id and time
 * @by_id: the @nr cgroups by id
 * @by_path: the same by path
 * @seen: number of the tape's entries that these are
 */
struct quotas {
	struct schedtape_tape *tape;
	struct tape_cgroup *looks;
	struct quotas_cgroup *by_id;
	const struct quotas_cgroup **by_path;
	size_t nr;
	size_t seen;
};

/* Returns 0 or -ENOMEM.  In both cases, the caller calls quotas_free(). */
int quotas_read(struct quotas *quotas, struct schedtape_tape *tape);
/* Reads the tape's entries again if there are more: of a pipe, when they have come. */
int quotas_update(struct quotas *quotas);
void quotas_free(struct quotas *quotas);

/**
 * struct quotas_counts - what the kernel has counted of a cgroup
 * @periods: periods of its quota in which it had something to run
 * @throttled: those of them in which it was throttled
 * @throttled_ns: for how long, added up over all CPUs
 * @until: the counting ends then, ns of CLOCK_MONOTONIC
 */
struct quotas_counts {
	uint64_t periods;
	uint64_t throttled;
	uint64_t throttled_ns;
	uint64_t until;
};

/* Returns false if the tape has not two counts of the cgroup. */
bool quotas_count(const struct quotas_cgroup *cgroup, struct quotas_counts *counts);
/* Returns true if the cgroup had a quota at any time. */
bool quotas_has(const struct quotas_cgroup *cgroup);
/* Returns the cgroup of that id; NULL: the tape does not describe it. */
const struct quotas_cgroup *quotas_find(const struct quotas *quotas, uint64_t id);
/* Returns the nearest cgroup above one that the tape describes, as of @time; NULL: none. */
const struct quotas_cgroup *quotas_above(const struct quotas *quotas,
					 const struct quotas_cgroup *cgroup, uint64_t time);
/* Returns the last quota that the cgroup had between two times, or NULL. */
const struct tape_cgroup *quotas_between(const struct quotas_cgroup *cgroup, uint64_t begin,
					 uint64_t end);
/*
 * Returns the nearest of a cgroup and its ancestors whose quota may have throttled a task in it
 * that waited from @begin to @end: it had a quota then, and by the kernel's counts it may have been
 * throttled.  Sets *@look to the quota.  Returns NULL if there is no such cgroup.  Times are ns
 * of CLOCK_MONOTONIC.
 */
const struct quotas_cgroup *quotas_suspect(const struct quotas *quotas, uint64_t id,
					   uint64_t begin, uint64_t end,
					   const struct tape_cgroup **look);
/* Returns a quota in per cent of a CPU; 0: there is none. */
static inline double quotas_percent(uint64_t quota, uint64_t period)
{
	return period ? 100.0 * quota / period : 0;
}

/* -- for info -------------------------------------------------------------- */

/* Prints a line for each cgroup that had a quota. */
void quotas_print(const struct quotas *quotas, uint64_t stop, void (*print_key)(const char *key));
/* Adds the member "quotas" to @to. */
void quotas_json(const struct quotas *quotas, struct json_object *to);

#endif /* SCHEDTAPE_CMD_QUOTAS_H */
