/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The past of the cgroups that are watched, in memory, for tapes that are written later: quotas,
 * counts, and the paths of cgroups that have been removed.  The memory is bounded, because what was
 * before a tape's first event can be forgotten.
 */
#ifndef SCHEDTAPE_CGROUP_PAST_H
#define SCHEDTAPE_CGROUP_PAST_H

#include "machine/cgroup-watch.h"

/*
 * Looks at cgroups that have changed or are new.  @blind: as that of schedtape_cgroup_watch_look();
 * @counts: also at those that have a quota, for the counts.
 */
void schedtape_cgroup_past_look(struct schedtape_cgroup_watch *watch, bool blind, bool counts);
/* Forgets what there was before @time, ns of CLOCK_MONOTONIC, but not the last quotas before it. */
void schedtape_cgroup_past_forget(struct schedtape_cgroup_watch *watch, uint64_t time);
/* Describes what there was until @time.  Returns 0 or -errno. */
int schedtape_cgroup_past_write(struct schedtape_cgroup_watch *watch, uint64_t time,
				struct schedtape_writer *writer, struct schedtape_error *err);

#endif /* SCHEDTAPE_CGROUP_PAST_H */
