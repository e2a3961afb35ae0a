/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watches the quotas of a recording's cgroups (version 2), and describes them on its tape: all of
 * them at the start and at the end, in between those that were changed or are new.
 */
#ifndef SCHEDTAPE_CGROUP_WATCH_H
#define SCHEDTAPE_CGROUP_WATCH_H

#include <limits.h>

#include "machine/cgroup-places.h"

struct schedtape_cgroup_watched;
struct schedtape_writer;

/**
 * struct schedtape_cgroup_watch - the cgroups that are watched
 * @mount: where the hierarchy is mounted
 * @places: which cgroups these are
 * @fd: readable after a change; -1: there is none
 * @cgroups: the @nr of them, with memory for @room
 * @blind: changes of some of them do not make @fd readable
 * @changed: some of them may have another quota than the tape says
 * @entries: entries that are on the tape already
 */
struct schedtape_cgroup_watch {
	char mount[PATH_MAX];
	struct schedtape_cgroup_places places;
	int fd;
	struct schedtape_cgroup_watched *cgroups;
	size_t nr;
	size_t room;
	bool blind;
	bool changed;
	size_t entries;
};

/*
 * Begins to watch the cgroups that schedtape_cgroups_describe() describes for @filter.  @mount: ""
 * if there is no hierarchy.
 */
void schedtape_cgroup_watch_open(struct schedtape_cgroup_watch *watch, const char *mount,
				 const struct schedtape_filter *filter);
/* Describes all cgroups.  Returns 0 or -errno. */
int schedtape_cgroup_watch_all(struct schedtape_cgroup_watch *watch,
			       struct schedtape_writer *writer, struct schedtape_error *err);
/*
 * Describes the cgroups whose quota has changed, and new ones.  @blind: also reads the quotas of
 * those of which @fd says nothing.  Returns 0 or -errno.
 */
int schedtape_cgroup_watch_look(struct schedtape_cgroup_watch *watch, bool blind,
				struct schedtape_writer *writer, struct schedtape_error *err);
void schedtape_cgroup_watch_close(struct schedtape_cgroup_watch *watch);

#endif /* SCHEDTAPE_CGROUP_WATCH_H */
