// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/cgroup-places.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/proc.h"
#include "machine/cgroup-files.h"

void schedtape_cgroup_paths_add(struct schedtape_cgroup_paths *list, const char *path)
{
	char **paths = list->paths;
	size_t i;

	for (i = list->n; i-- > 0; )
		if (!strcmp(paths[i], path))
			return;
	if (list->n == list->room) {
		paths = reallocarray(paths, 2 * list->room + 8, sizeof(*paths));
		if (!paths)
			return;
		list->paths = paths;
		list->room = 2 * list->room + 8;
	}
	paths[list->n] = strdup(path);
	list->n += !!paths[list->n];
}

void schedtape_cgroup_paths_remove(struct schedtape_cgroup_paths *list, const char *path)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (strcmp(list->paths[i], path))
			continue;
		free(list->paths[i]);
		list->paths[i] = list->paths[--list->n];
		return;
	}
}

/* Adds the cgroup of a process.  @pid: 0: this process. */
static void add_path_of(struct schedtape_cgroup_paths *list, uint32_t pid)
{
	char path[PATH_MAX];

	if (!schedtape_cgroup_of(pid, path))
		schedtape_cgroup_paths_add(list, path);
}

/* Adds the cgroups of the processes and threads of a filter. */
static void add_paths_of(struct schedtape_cgroup_paths *list,
			 const struct schedtape_filter *filter)
{
	size_t i;

	for (i = 0; i < filter->nr_pids; i++)
		add_path_of(list, filter->pids[i]);
	for (i = 0; i < filter->nr_tids; i++)
		add_path_of(list, filter->tids[i]);
}

void schedtape_cgroup_places_find(struct schedtape_cgroup_places *places,
				  const struct schedtape_filter *filter)
{
	static const struct schedtape_filter nobody;
	size_t i;

	*places = (struct schedtape_cgroup_places){ 0 };
	if (!filter)
		filter = &nobody;
	if (filter->all)
		schedtape_cgroup_paths_add(&places->trees, "/");
	for (i = 0; i < filter->nr_cgroups; i++)
		if (filter->cgroups[i].path)
			schedtape_cgroup_paths_add(&places->trees, filter->cgroups[i].path);
	if ((filter->nr_pids || filter->nr_tids) && proc_is_own())
		add_paths_of(&places->in, filter);
	if (!places->in.n && !places->trees.n)
		add_path_of(&places->trees, 0);
}

/* Is @path @other, or an ancestor of it? */
static bool is_above(const char *path, const char *other)
{
	size_t len = strcmp(path, "/") ? strlen(path) : 0;

	return !strncmp(path, other, len) && (!other[len] || other[len] == '/');
}

static bool leads_to(const struct schedtape_cgroup_paths *list, const char *path)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (is_above(path, list->paths[i]))
			return true;
	return false;
}

/* Is @path one of the paths, or a descendant? */
static bool is_below(const struct schedtape_cgroup_paths *list, const char *path)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (is_above(list->paths[i], path))
			return true;
	return false;
}

int schedtape_cgroup_places_walk(const struct schedtape_cgroup_places *places, const char *mount,
				 const char *top,
				 bool (*each)(void *arg, const char *folder, const char *path,
					      uint64_t id), void *arg)
{
	size_t len = strcmp(mount, "/") ? strlen(mount) : 0;
	char folder[2 * PATH_MAX];
	char *const roots[] = { folder, NULL };
	const char *path;
	struct stat st;
	FTSENT *at;
	FTS *tree;

	snprintf(folder, sizeof(folder), "%s%s", mount, top);
	/* FTS_NOSTAT: only folders are looked up, because a cgroup has some 40 files. */
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV | FTS_NOSTAT, NULL);
	if (!tree)
		return -errno;
	while ((at = fts_read(tree))) {
		if (at->fts_info != FTS_D)
			continue;
		path = at->fts_path[len] ? at->fts_path + len : "/";
		if (!leads_to(&places->in, path) && !leads_to(&places->trees, path) &&
		    !is_below(&places->trees, path))
			fts_set(tree, at, FTS_SKIP);
		else if (!lstat(at->fts_path, &st) && !each(arg, at->fts_path, path, st.st_ino))
			break;
	}
	fts_close(tree);
	return 0;
}

static void free_paths(struct schedtape_cgroup_paths *list)
{
	while (list->n)
		free(list->paths[--list->n]);
	free(list->paths);
}

void schedtape_cgroup_places_free(struct schedtape_cgroup_places *places)
{
	free_paths(&places->in);
	free_paths(&places->trees);
}
