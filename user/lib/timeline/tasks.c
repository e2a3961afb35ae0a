// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The tasks of a timeline.  Arrays double, so most events
 * allocate nothing.  If there are many tasks, only those in use are in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/tasks.h"
#include "base/error.h"

#define WALK_STEP	4096	/* tasks that a walk may keep in memory */

static int by_time(const void *left, const void *right, void *arg)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct schedtape_task_info *infos = arg;

	if (infos[a].time != infos[b].time)
		return infos[a].time < infos[b].time ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Sorts the descriptions from @first on, which come after all others. */
static int sort_tasks(struct schedtape_tasks *set, size_t first)
{
	uint32_t *order = reallocarray(set->order, set->nr_infos + 1, sizeof(*order));
	size_t i;

	if (!order)
		return -ENOMEM;
	set->order = order;
	for (i = first; i < set->nr_infos; i++)
		order[i] = i;
	qsort_r(order + first, set->nr_infos - first, sizeof(*order), by_time,
		(void *)set->infos);
	return 0;
}

/*
 * Puts described tasks into the PID table, until an event names them or the time of the
 * description has come.  If a PID has more than one description, the table has the first.
 */
static int add_infos(struct schedtape_tasks *set, size_t first, struct schedtape_error *err)
{
	size_t i;
	int rc;

	if (set->nr_infos >= OWNERS_INFO - 1)
		return schedtape_fail(err, -EBADMSG, "too many tasks");

	rc = sort_tasks(set, first);
	for (i = first; i < set->nr_infos && !rc; i++) {
		uint32_t pid = set->infos[set->order[i]].pid;

		if (!pid || pid > STAPE_PID_MASK)
			return schedtape_fail(err, -EBADMSG, "impossible PID %u among the tasks",
					      pid);
		if (schedtape_tasks_get(set, pid) == SCHEDTAPE_NONE)
			rc = schedtape_owners_set(&set->owners, pid, OWNERS_INFO | set->order[i]);
	}
	return rc ? schedtape_fail(err, rc, "not enough memory") : 0;
}

int schedtape_tasks_init(struct schedtape_tasks *set, const struct schedtape_task_info *infos,
			 size_t n, struct schedtape_error *err)
{
	memset(set, 0, sizeof(*set));
	set->infos = infos;
	set->nr_infos = n;
	return add_infos(set, 0, err);
}

int schedtape_tasks_describe(struct schedtape_tasks *set, const struct schedtape_task_info *infos,
			     size_t n, struct schedtape_error *err)
{
	uintptr_t before = (uintptr_t)set->infos, moved;
	size_t first = set->nr_infos;
	uint32_t i;

	for (i = 0; i < set->nr; i++) {
		if (!set->tasks[i].info)
			continue;
		moved = ((uintptr_t)set->tasks[i].info - before) / sizeof(*infos);
		set->tasks[i].info = infos + moved;
	}
	set->infos = infos;
	set->nr_infos = n;
	return add_infos(set, first, err);
}

void schedtape_tasks_free(struct schedtape_tasks *set)
{
	schedtape_store_free(&set->task_store);
	schedtape_store_free(&set->track_store);
	schedtape_owners_free(&set->owners);
	free(set->order);
}

void schedtape_tasks_passed(const struct schedtape_tasks *set, uint32_t index)
{
	if (index % WALK_STEP)
		return;
	schedtape_store_let_go(&set->task_store);
	schedtape_store_let_go(&set->track_store);
	schedtape_store_let_go(&set->owners.store);
}

static int make_room(struct schedtape_tasks *set)
{
	if (schedtape_store_add(&set->task_store, sizeof(*set->tasks), 1) ||
	    schedtape_store_add(&set->track_store, sizeof(*set->tracks), 1))
		return -ENOMEM;
	set->tasks = set->task_store.memory;
	set->tracks = set->track_store.memory;
	return 0;
}

uint32_t schedtape_tasks_add(struct schedtape_tasks *set, uint32_t pid, uint64_t time)
{
	uint32_t index = set->nr;

	if (make_room(set) || schedtape_owners_add(&set->owners, pid) == SCHEDTAPE_NONE)
		return SCHEDTAPE_NONE;
	set->nr++;
	set->tasks[index] = (struct schedtape_task){
		.index = index,
		.parent = SCHEDTAPE_NONE,
		.process = index,
		.pid = pid,
		.tgid = pid,
		.exit_ppid = SCHEDTAPE_NONE,
		.autogroup_nice = SCHEDTAPE_NICE_UNKNOWN,
		.slept_as = STAPE_STATE_SLEEPING,
		.start = time,
		.end = time,
	};
	set->tracks[index] = (struct schedtape_track){
		.waking_in = TRACK_UNKNOWN,
		.seen = time,
		.since = time,
		.waker = SCHEDTAPE_NONE,
		.state = TASK_FOUND,
	};
	return index;
}

void schedtape_tasks_join(struct schedtape_tasks *set, uint32_t index, uint32_t leader)
{
	schedtape_owners_join(&set->owners, index, leader);
	set->tasks[index].process = leader;
}

void schedtape_tasks_reidentify(struct schedtape_tasks *set, uint32_t index)
{
	const struct schedtape_owner *owner = &set->owners.owners[index];
	struct schedtape_task *task = &set->tasks[index];

	task->pid = owner->pid;
	task->process = owner->process;
	task->tgid = owner->process == index ? owner->pid : set->tasks[owner->process].tgid;
}
