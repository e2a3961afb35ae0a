// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lives of a timeline and the table of their PIDs.  No event allocates, on the
 * average.  Of many lives only those that are looked at are in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/tasks.h"

#define FIRST_PIDS	4096
#define WALK_STEP	4096	/* lives that a walk may have in memory */

int schedtape_lives_set(struct schedtape_lives *set, uint32_t pid, uint32_t index)
{
	uint32_t n = set->nr_pids ? set->nr_pids : FIRST_PIDS;
	uint32_t *pids;

	if (pid >= set->nr_pids) {
		while (n <= pid)
			n *= 2;
		pids = realloc(set->pids, n * sizeof(*pids));
		if (!pids)
			return -ENOMEM;
		memset(pids + set->nr_pids, 0xff, (n - set->nr_pids) * sizeof(*pids));
		set->pids = pids;
		set->nr_pids = n;
	}
	set->pids[pid] = index;
	return 0;
}

static int by_time(const void *left, const void *right, void *arg)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct schedtape_task *tasks = arg;

	if (tasks[a].time != tasks[b].time)
		return tasks[a].time < tasks[b].time ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int sort_tasks(struct schedtape_lives *set)
{
	uint32_t i;

	set->order = malloc((set->nr_tasks + 1) * sizeof(*set->order));
	if (!set->order)
		return -ENOMEM;
	for (i = 0; i < set->nr_tasks; i++)
		set->order[i] = i;
	qsort_r(set->order, set->nr_tasks, sizeof(*set->order), by_time, (void *)set->tasks);
	return 0;
}

/*
 * A described task waits in the PID table until the stream has to do with it, or
 * its time has come.  A PID may be described more than once: the first is there.
 */
int schedtape_lives_init(struct schedtape_lives *set, const struct schedtape_task *tasks,
			 size_t n, struct schedtape_error *err)
{
	size_t i;
	int rc;

	memset(set, 0, sizeof(*set));
	set->tasks = tasks;
	set->nr_tasks = n;
	if (n >= LIVES_TASK)
		return schedtape_fail(err, -EBADMSG, "too many tasks");

	rc = sort_tasks(set);
	for (i = 0; i < n && !rc; i++) {
		uint32_t pid = tasks[set->order[i]].pid;

		if (!pid || pid > STAPE_PID_MASK)
			return schedtape_fail(err, -EBADMSG, "impossible PID %u among the tasks",
					      pid);
		if (schedtape_lives_get(set, pid) == SCHEDTAPE_NONE)
			rc = schedtape_lives_set(set, pid, LIVES_TASK | set->order[i]);
	}
	return rc ? schedtape_fail(err, rc, "not enough memory") : 0;
}

void schedtape_lives_free(struct schedtape_lives *set)
{
	schedtape_store_free(&set->life_store);
	schedtape_store_free(&set->track_store);
	free(set->pids);
	free(set->order);
}

void schedtape_lives_passed(const struct schedtape_lives *set, uint32_t index)
{
	if (index % WALK_STEP)
		return;
	schedtape_store_let_go(&set->life_store);
	schedtape_store_let_go(&set->track_store);
}

static int make_room(struct schedtape_lives *set)
{
	if (set->nr + 1 >= LIVES_TASK ||
	    schedtape_store_add(&set->life_store, sizeof(*set->lives), 1) ||
	    schedtape_store_add(&set->track_store, sizeof(*set->tracks), 1))
		return -ENOMEM;
	set->lives = set->life_store.memory;
	set->tracks = set->track_store.memory;
	return 0;
}

uint32_t schedtape_lives_add(struct schedtape_lives *set, uint32_t pid, uint64_t time)
{
	uint32_t index = set->nr;

	if (make_room(set) || schedtape_lives_set(set, pid, index))
		return SCHEDTAPE_NONE;
	set->nr++;
	set->lives[index] = (struct schedtape_life){
		.index = index,
		.parent = SCHEDTAPE_NONE,
		.process = index,
		.pid = pid,
		.tgid = pid,
		.slept_as = STAPE_STATE_SLEEPING,
		.start = time,
		.end = time,
	};
	set->tracks[index] = (struct schedtape_track){
		.seen = time,
		.since = time,
		.waker = SCHEDTAPE_NONE,
		.state = LIFE_FOUND,
	};
	return index;
}

static void count_thread(struct schedtape_lives *set, uint32_t index, int change)
{
	uint32_t leader = set->lives[index].process;

	if (leader == index || set->tracks[index].exiting)
		return;
	set->tracks[leader].threads += change;
	set->tracks[leader].threads_xor ^= index;
}

void schedtape_lives_join(struct schedtape_lives *set, uint32_t index, uint32_t leader)
{
	count_thread(set, index, -1);
	set->lives[index].process = leader;
	count_thread(set, index, 1);
}

void schedtape_lives_exiting(struct schedtape_lives *set, uint32_t index)
{
	count_thread(set, index, -1);
	set->tracks[index].exiting = true;
}

/*
 * A thread that calls execve() outlives all others of its group and takes the
 * PID of its leader.
 */
uint32_t schedtape_lives_last_thread(const struct schedtape_lives *set, uint32_t leader)
{
	return set->tracks[leader].threads == 1 ? set->tracks[leader].threads_xor : SCHEDTAPE_NONE;
}
