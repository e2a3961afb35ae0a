/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watches the quotas of a recording's cgroups (version 2), and describes them on its tape: all of
 * them at the start and at the end, in between those that were changed or are new.  While there is
 * no tape, cgroup-past.h keeps in memory what there was.
 */
#ifndef SCHEDTAPE_CGROUP_WATCH_H
#define SCHEDTAPE_CGROUP_WATCH_H

#include <limits.h>

#include "machine/cgroup-places.h"

struct json_object;
struct schedtape_cgroup_watched;
struct schedtape_writer;

#define SCHEDTAPE_CGROUPS_MET	256

/**
 * struct schedtape_cgroup_made - a cgroup that the module has named
 * @parent: id of the one that it is in
 */
struct schedtape_cgroup_made {
	uint64_t id;
	uint64_t parent;
	char *name;
};

/**
 * struct schedtape_cgroup_watch - the cgroups that are watched
 * @mount: where the hierarchy is mounted
 * @places: which cgroups these are
 * @fd: readable after a change; -1: there is none
 * @cgroups: the @nr of them, with memory for @room
 * @blind: changes of some of them do not make @fd readable
 * @changed: some of them may have another quota than the tape says
 * @entries: entries that are on the tape already
 * @met: ids that schedtape_cgroup_watch_meet() has met, by a hash
 * @keeps: what there was is kept in memory, see cgroup-past.h
 * @gone: the @nr_gone cgroups that were removed, with memory for @gone_room, in the order of their
 *	removals: with @keeps, or until their paths are on the tape
 * @made: the @nr_made that schedtape_cgroup_watch_made() has got since the last look, with memory
 *	for @made_room
 * @nr_looks: with @keeps: how many looks at cgroups are in memory, @most_looks at most
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
	bool keeps;
	struct schedtape_cgroup_watched *gone;
	size_t nr_gone;
	size_t gone_room;
	struct schedtape_cgroup_made *made;
	size_t nr_made;
	size_t made_room;
	size_t nr_looks;
	size_t most_looks;
	uint64_t met[SCHEDTAPE_CGROUPS_MET];
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
/* Returns META's description of the cgroups, as they are now; NULL: there is no hierarchy. */
struct json_object *schedtape_cgroup_watch_describe(struct schedtape_cgroup_watch *watch);
/* Another tape begins, which has none of the cgroups yet. */
void schedtape_cgroup_watch_renew(struct schedtape_cgroup_watch *watch);
/*
 * Watches the cgroup of that id, because a recorded task is in it, also if the filter does not name
 * it.  Does nothing if @id is 0, which stands for an unknown cgroup.
 */
void schedtape_cgroup_watch_meet(struct schedtape_cgroup_watch *watch, uint64_t id);
/*
 * A recorded task is or was in a new cgroup, or below it.  If that was removed before a look, the
 * next look finds its path by @name and @parent.
 */
void schedtape_cgroup_watch_made(struct schedtape_cgroup_watch *watch, uint64_t id,
				 uint64_t parent, const char *name);
/*
 * Adds and removes cgroups, and marks those that may have changed, as inotify tells.  @blind: also
 * removes those that have no watch and are gone.
 */
void schedtape_cgroup_take_changes(struct schedtape_cgroup_watch *watch, bool blind);
/* Forgets the first @n of those that are gone. */
void schedtape_cgroup_drop_gone(struct schedtape_cgroup_watch *watch, size_t n);
void schedtape_cgroup_watch_close(struct schedtape_cgroup_watch *watch);

#endif /* SCHEDTAPE_CGROUP_WATCH_H */
