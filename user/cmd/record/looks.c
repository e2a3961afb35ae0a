// SPDX-License-Identifier: GPL-2.0-only
#include "record/looks.h"

#include "module/cgroup.h"

void looks_open(struct recorder *recorder, const struct schedtape_filter *filter)
{
	char mount[PATH_MAX];
	struct schedtape_error err;

	schedtape_watch_open(&recorder->watch, SCHEDTAPE_SCHED_EXT);
	if (schedtape_cgroup_mount(mount, sizeof(mount), &err))
		mount[0] = '\0';
	schedtape_cgroup_watch_open(&recorder->cgroups, mount, filter);
}

static int put_scheduler(struct recorder *recorder, bool changed, struct schedtape_error *err)
{
	return changed ? schedtape_writer_scheduler(recorder->writer, &recorder->watch.now, err) :
	       0;
}

int looks_begin(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = put_scheduler(recorder, schedtape_watch_look(&recorder->watch), err);

	return ret ? ret : schedtape_cgroup_watch_all(&recorder->cgroups, recorder->writer, err);
}

int looks_again(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = 0;

	if (schedtape_watch_lives(&recorder->watch))
		ret = put_scheduler(recorder, schedtape_watch_look(&recorder->watch), err);
	return ret ? ret : schedtape_cgroup_watch_look(&recorder->cgroups, true, recorder->writer,
						       err);
}

int looks_end(struct recorder *recorder, struct schedtape_error *err)
{
	int ret = put_scheduler(recorder, schedtape_watch_end(&recorder->watch), err);

	return ret ? ret : schedtape_cgroup_watch_all(&recorder->cgroups, recorder->writer, err);
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
