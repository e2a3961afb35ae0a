/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cgroups (version 2) a recording is about: those that its tasks are in, or may be in later.
 */
#ifndef SCHEDTAPE_CGROUP_PLACES_H
#define SCHEDTAPE_CGROUP_PLACES_H

#include <schedtape/client.h>
#include <stdbool.h>

#define SCHEDTAPE_MAX_CGROUPS	16384	/* META has all of them in one record */

/**
 * struct schedtape_cgroup_paths - paths below the root of the hierarchy, each one once
 * @paths: @n of them, with memory for @room
 */
struct schedtape_cgroup_paths {
	char **paths;
	size_t n;
	size_t room;
};

/**
 * struct schedtape_cgroup_places - the cgroups of a recording
 * @in: cgroups of recorded tasks
 * @trees: cgroups which are recorded with all their descendants
 */
struct schedtape_cgroup_places {
	struct schedtape_cgroup_paths in;
	struct schedtape_cgroup_paths trees;
};

/* Adds a path, unless it is there. */
void schedtape_cgroup_paths_add(struct schedtape_cgroup_paths *list, const char *path);
/* Removes a path, if it is there. */
void schedtape_cgroup_paths_remove(struct schedtape_cgroup_paths *list, const char *path);
/*
 * Finds the places of @filter.  If it is NULL or has neither tasks nor cgroups, this process will
 * start the recorded command: the only tree is the cgroup of this process.
 */
void schedtape_cgroup_places_find(struct schedtape_cgroup_places *places,
				  const struct schedtape_filter *filter);
/*
 * Calls @each for the places, the descendants of trees, and all ancestors of these, an ancestor
 * before its descendants, until it returns false.  @mount: where the hierarchy is mounted; @top:
 * begin at this cgroup, "": at the root.  Returns 0 or -errno.
 */
int schedtape_cgroup_places_walk(const struct schedtape_cgroup_places *places, const char *mount,
				 const char *top,
				 bool (*each)(void *arg, const char *folder, const char *path,
					      uint64_t id), void *arg);
void schedtape_cgroup_places_free(struct schedtape_cgroup_places *places);

#endif /* SCHEDTAPE_CGROUP_PLACES_H */
