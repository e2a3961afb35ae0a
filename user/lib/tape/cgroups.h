/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How cgroups (version 2) were from time to time, by the CGROUPS records of a tape.
 */
#ifndef SCHEDTAPE_TAPE_CGROUPS_H
#define SCHEDTAPE_TAPE_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedtape_tape;

/**
 * struct tape_cgroup - a cgroup, as it was between two times
 * @began, @time: before and after its files were read, ns of CLOCK_MONOTONIC
 * @id: the kernel's id
 * @path: below the root of the hierarchy; NULL: an earlier entry of the cgroup has it
 * @quota, @period: as in cpu.max, us; @period is 0 if the cgroup had no quota
 * @counted: the numbers of cpu.stat that follow are valid
 * @periods: nr_periods
 * @throttled: nr_throttled
 * @throttled_us: throttled_usec
 */
struct tape_cgroup {
	uint64_t began;
	uint64_t time;
	uint64_t id;
	char *path;
	uint64_t quota;
	uint64_t period;
	bool counted;
	uint64_t periods;
	uint64_t throttled;
	uint64_t throttled_us;
};

/*
 * Returns the entries of all CGROUPS records, in the order of the tape; of a pipe, those that have
 * come.  They move when more come.
 */
const struct tape_cgroup *tape_cgroups(struct schedtape_tape *tape, size_t *n);
/*
 * Reads a CGROUPS payload.  -EBADMSG: corrupt.  tape_cgroups_forget() removes all entries but the
 * first @n.
 */
int tape_content_cgroups(struct schedtape_tape *tape, const char *text, size_t bytes);
void tape_cgroups_forget(struct schedtape_tape *tape, size_t n);

#endif /* SCHEDTAPE_TAPE_CGROUPS_H */
