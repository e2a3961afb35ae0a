// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where lives come from, and whose a PID is.
 */
#include <errno.h>
#include <string.h>

#include "timeline.h"

static uint32_t add(struct schedtape_timeline *tl, uint32_t pid, uint64_t time)
{
	uint32_t index = schedtape_lives_add(&tl->set, pid, time);

	if (index == SCHEDTAPE_NONE)
		timeline_fail(tl, -ENOMEM, "not enough memory for all tasks");
	return index;
}

/* The life that leads a described thread's group, if the tape has it. */
static uint32_t find_leader(struct schedtape_timeline *tl, const struct schedtape_task *task,
			    uint64_t time)
{
	uint32_t at = schedtape_lives_get(&tl->set, task->tgid);
	const struct schedtape_task *leader;

	if (at == SCHEDTAPE_NONE)
		return at;
	if (at & LIVES_TASK) {
		leader = &tl->set.tasks[at & ~LIVES_TASK];
		/* What a leader isn't, damage can make of it: no endless descent. */
		if (leader->tgid != leader->pid)
			return SCHEDTAPE_NONE;
		return timeline_find(tl, leader->pid, time);
	}
	return timeline_track(tl, at)->state == LIFE_DEAD ? SCHEDTAPE_NONE : at;
}

static uint32_t birth_of_task(struct schedtape_timeline *tl, const struct schedtape_task *task,
			      uint64_t time)
{
	bool thread = task->tgid && task->tgid != task->pid;
	uint32_t leader = thread ? find_leader(tl, task, time) : SCHEDTAPE_NONE;
	uint32_t index = add(tl, task->pid, tl->start);
	struct schedtape_life *life;

	if (index == SCHEDTAPE_NONE)
		return index;
	life = timeline_life(tl, index);
	life->task = task;
	life->from_start = true;
	life->thread = thread;
	if (leader != SCHEDTAPE_NONE) {
		life->process = leader;
		timeline_track(tl, leader)->threads++;
	}
	memcpy(life->comm, task->comm, sizeof(life->comm) - 1);
	memcpy(life->first_comm, life->comm, sizeof(life->comm));
	timeline_tell(tl, born, life, NULL, life->start);
	return index;
}

/* Neither described nor seen to be forked. */
static uint32_t birth_of_unknown(struct schedtape_timeline *tl, uint32_t pid, bool from_start,
				 uint64_t time)
{
	uint32_t index = add(tl, pid, from_start ? tl->start : time);
	struct schedtape_life *life;

	if (index == SCHEDTAPE_NONE)
		return index;
	life = timeline_life(tl, index);
	life->from_start = from_start;
	timeline_tell(tl, born, life, NULL, life->start);
	return index;
}

/**
 * timeline_find() - the life that has a PID
 * @tl: the timeline
 * @pid: not 0
 * @time: of the event that names it
 *
 * Makes one if there is none: it was there from the start, or its fork is lost.
 */
uint32_t timeline_find(struct schedtape_timeline *tl, uint32_t pid, uint64_t time)
{
	uint32_t at = schedtape_lives_get(&tl->set, pid);
	uint32_t thread;

	if (at == SCHEDTAPE_NONE)
		return birth_of_unknown(tl, pid, true, time);
	if (at & LIVES_TASK)
		return birth_of_task(tl, &tl->set.tasks[at & ~LIVES_TASK], time);
	if (timeline_track(tl, at)->state != LIFE_DEAD)
		return at;

	/* Within execve() a thread has its leader's PID before the event says so. */
	thread = schedtape_lives_last_thread(&tl->set, at);
	if (thread == SCHEDTAPE_NONE)
		return birth_of_unknown(tl, pid, false, time);
	timeline_take_over(tl, thread, pid, time);
	return thread;
}

/*
 * The PID goes to someone else.  Its last owner is over, even if its end is
 * lost, but one on its last steps still has its last switch-out to come: PIDs
 * are given back before that.
 */
static void vacate(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	const struct schedtape_track *track = timeline_track(tl, index);

	if (track->state == LIFE_DEAD || (track->exiting && track->state == LIFE_RUNNING))
		return;
	timeline_end(tl, index, time);
}

/**
 * timeline_fork() - a life begins
 * @tl: the timeline
 * @pid: its PID
 * @parent: the life that forked it, or SCHEDTAPE_NONE
 * @thread: it shares its parent's thread group
 * @time: when
 */
void timeline_fork(struct schedtape_timeline *tl, uint32_t pid, uint32_t parent,
		   bool thread, uint64_t time)
{
	uint32_t at = schedtape_lives_get(&tl->set, pid);
	const struct schedtape_task *task;
	struct schedtape_life *life;
	uint32_t index;

	if (at != SCHEDTAPE_NONE && at & LIVES_TASK) {
		/* Described after this fork, it is the child; before, an owner before it. */
		task = &tl->set.tasks[at & ~LIVES_TASK];
		at = task->time < time ? birth_of_task(tl, task, time) : SCHEDTAPE_NONE;
	}
	if (at != SCHEDTAPE_NONE && at != parent)
		vacate(tl, at, time);

	index = add(tl, pid, time);
	if (index == SCHEDTAPE_NONE)
		return;
	life = timeline_life(tl, index);
	life->parent = parent;
	life->thread = thread;
	timeline_track(tl, index)->state = LIFE_NEW;
	if (parent != SCHEDTAPE_NONE) {
		const struct schedtape_life *from = timeline_life(tl, parent);

		memcpy(life->comm, from->comm, sizeof(life->comm));
		memcpy(life->first_comm, from->comm, sizeof(life->comm));
		if (thread) {
			life->process = from->process;
			timeline_track(tl, life->process)->threads++;
		}
		timeline_count(tl, parent, time);
	}
	timeline_tell(tl, born, life, parent == SCHEDTAPE_NONE ? NULL : timeline_life(tl, parent),
		      time);
}

/* All described tasks that no event has named so far. */
void timeline_birth_all(struct schedtape_timeline *tl, uint64_t time)
{
	size_t i;

	for (i = 0; i < tl->set.nr_tasks && !tl->rc; i++) {
		const struct schedtape_task *task = &tl->set.tasks[i];

		if (schedtape_lives_get(&tl->set, task->pid) == (LIVES_TASK | i))
			birth_of_task(tl, task, time);
	}
}

/**
 * timeline_take_over() - execve() in a thread
 * @tl: the timeline
 * @index: the thread, which goes on
 * @pid: that of its leader, which it has from now on
 * @time: when
 */
void timeline_take_over(struct schedtape_timeline *tl, uint32_t index, uint32_t pid,
			uint64_t time)
{
	uint32_t before = schedtape_lives_get(&tl->set, pid);
	struct schedtape_life *life = timeline_life(tl, index);
	struct schedtape_track *group = timeline_track(tl, life->process);
	int rc;

	if (before < LIVES_TASK && before != index)
		vacate(tl, before, time);
	if (schedtape_lives_get(&tl->set, life->pid) == index)
		schedtape_lives_set(&tl->set, life->pid, SCHEDTAPE_NONE);
	rc = schedtape_lives_set(&tl->set, pid, index);
	if (rc)
		timeline_fail(tl, rc, "not enough memory for all tasks");
	if (life->process != index && group->threads)
		group->threads--;
	life->process = index;
	life->pid = pid;
}
