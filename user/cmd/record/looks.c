// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at what may change while a recording runs, and has no events: the scheduler of ordinary
 * tasks, and the quotas of cgroups.
 */
#include "record/internal.h"

#include <stdio.h>
#include <sys/stat.h>

#include "common/output.h"
#include "machine/cgroup-past.h"
#include "module/cgroup.h"

/* -- the scheduler --------------------------------------------------------- */

/* Looks at the scheduler, for the tape or for the past.  @end: the last look of a tape. */
static int look_at_scheduler(struct recorder *recorder, bool end, struct schedtape_error *err)
{
	struct schedtape_watch *watch = &recorder->watch;

	if (!recorder->past && !recorder->writer)
		return 0;
	if (!(end ? schedtape_watch_end(watch) : schedtape_watch_look(watch)))
		return 0;
	if (!recorder->past)
		return schedtape_writer_scheduler(recorder->writer, &watch->now, err);
	schedtape_scheduler_past_add(&recorder->schedulers, &watch->now);
	return 0;
}

/* -- cgroups --------------------------------------------------------------- */

/* Returns true if a cgroup that is made again with the path of number @i is recorded, too. */
static bool is_followed(const struct schedtape_filter *filter, size_t i)
{
	return filter->follow && filter->follow[i];
}

/* Returns the id of the cgroup that has the path of number @i now; 0: there is none. */
static uint64_t present_id(const struct recorder *recorder, size_t i)
{
	char folder[2 * PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%s%s", recorder->cgroups.mount,
		 recorder->filter->cgroups[i].path);
	return lstat(folder, &st) ? 0 : st.st_ino;
}

/* Is there a cgroup of the filter, or, if it is followed, another one of its path? */
static bool is_there(const struct recorder *recorder, size_t i)
{
	const struct schedtape_cgroup *cgroup = &recorder->filter->cgroups[i];
	uint64_t id;

	/* Without a path, that is not known. */
	if (!cgroup->path)
		return true;
	id = present_id(recorder, i);
	return id && (is_followed(recorder->filter, i) || id == cgroup->id);
}

/*
 * Says so when none of the filter's cgroups is left.  A service that restarts has none for a
 * moment: the second look says it, or the last.
 */
static void say_gone(struct recorder *recorder, bool end)
{
	const struct schedtape_filter *filter = recorder->filter;
	unsigned int before = recorder->cgroups_gone;
	size_t i, n = filter ? filter->nr_cgroups : 0;
	bool follows = false;

	recorder->cgroups_gone = 0;
	for (i = 0; i < n; i++) {
		if (is_there(recorder, i))
			return;
		follows = follows || is_followed(filter, i);
	}
	recorder->cgroups_gone = before + 1;
	if (!n || recorder->quiet || (before != 1 && !(end && !before)))
		return;
	out_warning(NULL, "-G: %s has been removed: %s", n > 1 ? "the last of these cgroups" :
		    filter->cgroups[0].path, follows ?
		    "the recording goes on, with tasks of a cgroup that is made there again" :
		    "no more tasks of it will be recorded");
}

/* The kernel's perf events stay with the cgroups for which they were opened: says so, once. */
static void say_made_again(struct recorder *recorder)
{
	const struct schedtape_filter *filter = recorder->filter;
	const struct schedtape_cgroup *cgroup;
	uint64_t id;
	size_t i;

	if (!filter || !recorder->events || perf_events_everywhere(recorder->events) ||
	    recorder->made_again || recorder->quiet)
		return;
	for (i = 0; i < filter->nr_cgroups; i++) {
		cgroup = &filter->cgroups[i];
		if (!cgroup->path || !is_followed(filter, i) ||
		    perf_events_within_another(filter, i))
			continue;
		id = present_id(recorder, i);
		if (!id || id == cgroup->id)
			continue;
		recorder->made_again = true;
		out_warning(NULL, "-e: %s has been made again: the tape has its scheduling events, "
			    "but no tracepoints of -e from then on; record again, or a cgroup "
			    "above it", cgroup->path);
		return;
	}
}

/* Writes all cgroups.  A tape of what was in memory has none of them yet. */
static int put_cgroups(struct recorder *recorder, struct schedtape_writer *writer,
		       struct schedtape_error *err)
{
	if (recorder->past)
		schedtape_cgroup_watch_renew(&recorder->cgroups);
	return schedtape_cgroup_watch_all(&recorder->cgroups, writer, err);
}

/* -- looks ----------------------------------------------------------------- */

static void made(void *arg, uint64_t id, uint64_t parent, const char *name)
{
	struct recorder *recorder = arg;

	schedtape_cgroup_watch_made(&recorder->cgroups, id, parent, name);
}

void looks_open(struct recorder *recorder, const struct schedtape_filter *filter)
{
	char mount[PATH_MAX];
	struct schedtape_error err;

	schedtape_watch_open(&recorder->watch, SCHEDTAPE_SCHED_EXT);
	if (schedtape_cgroup_mount(mount, sizeof(mount), &err))
		mount[0] = '\0';
	schedtape_cgroup_watch_open(&recorder->cgroups, mount, filter);
	recorder->names = (struct tape_names){ .each = made, .arg = recorder };
}

int looks_begin(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = look_at_scheduler(recorder, false, err);

	if (ret)
		return ret;
	if (!recorder->past)
		return put_cgroups(recorder, recorder->writer, err);
	schedtape_cgroup_past_look(&recorder->cgroups, true, true);
	return 0;
}

/* Looks at the cgroups that may have changed, for the tape or for the past. */
static int look_at_changed(struct recorder *recorder, bool blind, bool counts,
			   struct schedtape_error *err)
{
	if (!recorder->past)
		return schedtape_cgroup_watch_look(&recorder->cgroups, blind, recorder->writer,
						   err);
	schedtape_cgroup_past_look(&recorder->cgroups, blind, counts);
	return 0;
}

int looks_again(struct recorder *recorder, bool counts, struct schedtape_error *err)
{
	int ret = 0;

	say_gone(recorder, false);
	say_made_again(recorder);
	if (schedtape_watch_lives(&recorder->watch))
		ret = look_at_scheduler(recorder, false, err);
	return ret ? ret : look_at_changed(recorder, true, counts, err);
}

int looks_at_cgroups(struct recorder *recorder, struct schedtape_error *err)
{
	return look_at_changed(recorder, false, false, err);
}

int looks_end(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = look_at_scheduler(recorder, true, err);

	say_gone(recorder, true);
	say_made_again(recorder);
	return ret ? ret : put_cgroups(recorder, recorder->writer, err);
}

int looks_next(struct recorder *recorder, struct schedtape_error *err)
{
	struct schedtape_scheduler now;
	int ret;

	schedtape_watch_look(&recorder->watch);
	now = recorder->watch.now;
	/* This is the first one of the tape. */
	now.after = 0;
	ret = schedtape_writer_scheduler(recorder->writer, &now, err);
	if (ret)
		return ret;
	schedtape_cgroup_watch_renew(&recorder->cgroups);
	return put_cgroups(recorder, recorder->writer, err);
}

int looks_alone(struct recorder *recorder, struct schedtape_writer *writer,
		struct schedtape_error *err)
{
	int ret = look_at_scheduler(recorder, false, err);

	return ret ? ret : put_cgroups(recorder, writer, err);
}

bool looks_needed(const struct recorder *recorder)
{
	return schedtape_watch_lives(&recorder->watch) || recorder->cgroups.blind;
}

void looks_close(struct recorder *recorder)
{
	schedtape_watch_close(&recorder->watch);
	schedtape_cgroup_watch_close(&recorder->cgroups);
}
