// SPDX-License-Identifier: LGPL-2.1-or-later
#include "timeline/owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PIDS	4096

void schedtape_owners_free(struct schedtape_owners *owners)
{
	schedtape_store_free(&owners->store);
	free(owners->pids);
}

int schedtape_owners_set(struct schedtape_owners *owners, uint32_t pid, uint32_t at)
{
	uint32_t n = owners->nr_pids ? owners->nr_pids : FIRST_PIDS;
	uint32_t *pids;

	if (pid >= owners->nr_pids) {
		while (n <= pid)
			n *= 2;
		pids = realloc(owners->pids, n * sizeof(*pids));
		if (!pids)
			return -ENOMEM;
		memset(pids + owners->nr_pids, 0xff, (n - owners->nr_pids) * sizeof(*pids));
		owners->pids = pids;
		owners->nr_pids = n;
	}
	owners->pids[pid] = at;
	return 0;
}

/* Returns the number for a task that has @pid next, with room for it; SCHEDTAPE_NONE: no memory. */
static uint32_t make_room(struct schedtape_owners *owners, uint32_t pid)
{
	uint32_t last = schedtape_owners_get(owners, pid);

	if (owners->reuse && last < OWNERS_FORMER && owners->owners[last].ended &&
	    !owners->owners[last].threads)
		return last;
	if (owners->nr + 1 >= OWNERS_FORMER ||
	    schedtape_store_add(&owners->store, sizeof(*owners->owners), 1))
		return SCHEDTAPE_NONE;
	owners->owners = owners->store.memory;
	return owners->nr;
}

uint32_t schedtape_owners_add(struct schedtape_owners *owners, uint32_t pid)
{
	uint32_t task = make_room(owners, pid);

	if (task == SCHEDTAPE_NONE || schedtape_owners_set(owners, pid, task))
		return SCHEDTAPE_NONE;
	if (task == owners->nr)
		owners->nr++;
	owners->owners[task] = (struct schedtape_owner){
		.pid = pid, .process = task, .before = SCHEDTAPE_NONE,
	};
	return task;
}

static void count_thread(struct schedtape_owners *owners, uint32_t task, int change)
{
	uint32_t leader = owners->owners[task].process;

	if (leader == task || owners->owners[task].exiting)
		return;
	owners->owners[leader].threads += change;
	owners->owners[leader].threads_xor ^= task;
}

void schedtape_owners_join(struct schedtape_owners *owners, uint32_t task, uint32_t leader)
{
	count_thread(owners, task, -1);
	owners->owners[task].process = leader;
	count_thread(owners, task, 1);
}

void schedtape_owners_exiting(struct schedtape_owners *owners, uint32_t task)
{
	count_thread(owners, task, -1);
	owners->owners[task].exiting = true;
}

void schedtape_owners_end(struct schedtape_owners *owners, uint32_t task)
{
	schedtape_owners_exiting(owners, task);
	owners->owners[task].ended = true;
}

/* Returns the only thread that does not exit, without the leader; or SCHEDTAPE_NONE. */
static uint32_t last_thread(const struct schedtape_owners *owners, uint32_t leader)
{
	return owners->owners[leader].threads == 1 ? owners->owners[leader].threads_xor :
						     SCHEDTAPE_NONE;
}

void schedtape_owners_take(struct schedtape_owners *owners, uint32_t thread, uint32_t pid)
{
	struct schedtape_owner *owner = &owners->owners[thread];

	owner->before = owner->process;
	if (schedtape_owners_get(owners, owner->pid) == thread)
		owners->pids[owner->pid] = OWNERS_FORMER | thread;
	owners->pids[pid] = thread;
	owner->pid = pid;
	schedtape_owners_join(owners, thread, thread);
}

/*
 * An event names a thread by the PID that it had before it took its leader's.  Returns the leader,
 * if that still exists: it has the thread's PID now.  Otherwise the thread has not called execve():
 * an event that named the leader was of the leader, although that had ended.
 */
static uint32_t find_former(struct schedtape_owners *owners, uint32_t pid, uint32_t thread)
{
	struct schedtape_owner *owner = &owners->owners[thread];
	uint32_t leader = owner->before;

	/* Its execve() has succeeded, so the PID is that of a task whose fork is lost. */
	if (leader == SCHEDTAPE_NONE || !owners->owners[leader].ended)
		return leader;
	if (owner->ended)
		return SCHEDTAPE_NONE;
	if (owners->pids[owner->pid] == thread)
		owners->pids[owner->pid] = leader;
	owners->pids[pid] = thread;
	owner->pid = pid;
	owner->before = SCHEDTAPE_NONE;
	schedtape_owners_join(owners, thread, leader);
	return thread;
}

uint32_t schedtape_owners_find(struct schedtape_owners *owners, uint32_t pid)
{
	uint32_t at = schedtape_owners_get(owners, pid), thread;

	if (at >= OWNERS_INFO)
		return SCHEDTAPE_NONE;
	if (at & OWNERS_FORMER)
		return find_former(owners, pid, at & ~OWNERS_FORMER);
	if (!owners->owners[at].ended)
		return at;
	/* The PID of a leader that has ended is its thread's, because it is not free yet. */
	thread = last_thread(owners, at);
	if (thread != SCHEDTAPE_NONE)
		schedtape_owners_take(owners, thread, pid);
	return thread;
}

uint32_t schedtape_owners_find_living(struct schedtape_owners *owners, uint32_t pid)
{
	uint32_t task = schedtape_owners_find(owners, pid), thread;

	if (task == SCHEDTAPE_NONE || !owners->owners[task].exiting)
		return task;
	thread = last_thread(owners, task);
	if (thread == SCHEDTAPE_NONE)
		return task;
	schedtape_owners_take(owners, thread, pid);
	return thread;
}

uint32_t schedtape_owners_other(const struct schedtape_owners *owners, uint32_t task)
{
	const struct schedtape_owner *owner = &owners->owners[task];
	uint32_t leader = owner->process;

	if (owner->exiting)
		return last_thread(owners, task);
	if (leader == task || !owners->owners[leader].exiting || owners->owners[leader].ended ||
	    last_thread(owners, leader) != task)
		return SCHEDTAPE_NONE;
	return leader;
}

bool schedtape_owners_is_zombie(const struct schedtape_owners *owners, uint32_t pid)
{
	uint32_t at = schedtape_owners_get(owners, pid);

	return at < OWNERS_FORMER && owners->owners[at].ended && owners->owners[at].threads;
}

/* Returns the thread that has, or had, a PID; SCHEDTAPE_NONE: none.  @pid: that it has now */
static uint32_t find_executing(const struct schedtape_owners *owners, uint32_t pid,
			       uint32_t old_pid)
{
	uint32_t at = schedtape_owners_get(owners, old_pid);

	if (at < OWNERS_FORMER)
		return owners->owners[at].ended ? SCHEDTAPE_NONE : at;
	if (at >= OWNERS_INFO || owners->owners[at & ~OWNERS_FORMER].pid != pid)
		return SCHEDTAPE_NONE;
	return at & ~OWNERS_FORMER;
}

uint32_t schedtape_owners_exec(struct schedtape_owners *owners, uint32_t pid, uint32_t old_pid,
			       uint32_t *leader)
{
	uint32_t thread = find_executing(owners, pid, old_pid);
	uint32_t at = schedtape_owners_get(owners, pid);

	errno = 0;
	*leader = SCHEDTAPE_NONE;
	if (thread == SCHEDTAPE_NONE) {
		if (at < OWNERS_FORMER && owners->owners[at].found && !owners->owners[at].exiting)
			return at;
		return thread;
	}
	if (at != thread) {
		/* Makes room, too: the tape may not have the leader. */
		if (schedtape_owners_set(owners, pid, thread)) {
			errno = ENOMEM;
			return SCHEDTAPE_NONE;
		}
		schedtape_owners_take(owners, thread, pid);
		*leader = at < OWNERS_FORMER ? at : SCHEDTAPE_NONE;
	} else {
		*leader = owners->owners[thread].before;
	}
	owners->owners[thread].before = SCHEDTAPE_NONE;
	return thread;
}
