// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Starts tasks, and finds the current task of a PID.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "timeline/timeline.h"

static uint32_t add(struct schedtape_timeline *tl, uint32_t pid, uint64_t time)
{
	uint32_t index = schedtape_tasks_add(&tl->set, pid, time);

	if (index == SCHEDTAPE_NONE)
		timeline_fail(tl, -ENOMEM, "not enough memory for all tasks");
	return index;
}

/* Finds the task that leads a thread's group, if the tape has it. */
static uint32_t find_leader(struct schedtape_timeline *tl, uint32_t tgid, uint64_t time)
{
	uint32_t at = schedtape_tasks_get(&tl->set, tgid);
	const struct schedtape_task_info *leader;

	if (at == SCHEDTAPE_NONE)
		return at;
	if (at & TASKS_INFO) {
		leader = &tl->set.infos[at & ~TASKS_INFO];
		/* On a corrupt tape a leader may be a thread: avoid an endless recursion. */
		if (leader->tgid != leader->pid)
			return SCHEDTAPE_NONE;
		return timeline_find(tl, leader->pid, time);
	}
	return timeline_track(tl, at)->state == TASK_DEAD ? SCHEDTAPE_NONE : at;
}

/* Sets a task's thread group, which was not known.  May move the array of tasks. */
void timeline_set_group(struct schedtape_timeline *tl, uint32_t index, uint32_t tgid,
			uint64_t time)
{
	uint32_t pid = timeline_task(tl, index)->pid;
	bool thread = tgid && tgid != pid;
	uint32_t leader = thread ? find_leader(tl, tgid, time) : SCHEDTAPE_NONE;
	struct schedtape_task *task = timeline_task(tl, index);

	timeline_track(tl, index)->described = true;
	task->thread = thread;
	task->tgid = thread ? tgid : pid;
	if (leader != SCHEDTAPE_NONE)
		schedtape_tasks_join(&tl->set, index, leader);
}

/**
 * timeline_birth() - start a task whose fork was not recorded
 * @tl: the timeline
 * @who: a description of the task
 * @source: its description on the tape, or NULL
 * @joined: it has just entered the filter
 * @time: when it appears
 *
 * The task is taken to exist from the start, unless its start time is later, or another
 * task had its PID.
 */
uint32_t timeline_birth(struct schedtape_timeline *tl, const struct schedtape_task_info *who,
			const struct schedtape_task_info *source, bool joined, uint64_t time)
{
	bool first = schedtape_tasks_get(&tl->set, who->pid) >= TASKS_INFO;
	bool from_start = !joined && first &&
			  (!who->start_time || who->start_time <= tl->start + START_TIME_SLACK);
	struct schedtape_task *task;
	uint32_t index;

	/* Leaders are born before their threads. */
	if (who->tgid && who->tgid != who->pid)
		find_leader(tl, who->tgid, time);
	index = add(tl, who->pid, from_start ? tl->start : time);
	if (index == SCHEDTAPE_NONE)
		return index;
	timeline_set_group(tl, index, who->tgid, time);
	timeline_track(tl, index)->seen = time;
	task = timeline_task(tl, index);
	task->info = source;
	task->from_start = from_start;
	task->joined = joined;
	task->ppid = who->ppid;
	task->ns_pid = who->ns_pid;
	task->start_time = who->start_time;
	task->prio_known = true;
	task->policy = who->policy;
	task->nice = who->nice;
	task->rt_priority = who->rt_priority;
	task->dl = who->dl;
	task->cgroup = who->cgroup;
	memcpy(task->comm, who->comm, sizeof(task->comm) - 1);
	memcpy(task->first_comm, task->comm, sizeof(task->comm));
	timeline_call(tl, born, task, NULL, task->start);
	return index;
}

/* Starts a task that has neither a description nor a recorded fork. */
static uint32_t birth_of_unknown(struct schedtape_timeline *tl, uint32_t pid, bool from_start,
				 uint64_t time)
{
	uint32_t index = add(tl, pid, from_start ? tl->start : time);
	struct schedtape_task *task;

	if (index == SCHEDTAPE_NONE)
		return index;
	timeline_track(tl, index)->seen = time;
	task = timeline_task(tl, index);
	task->from_start = from_start;
	timeline_call(tl, born, task, NULL, task->start);
	return index;
}

/* The slow part of timeline_find(). */
uint32_t timeline_find_slow(struct schedtape_timeline *tl, uint32_t pid, uint64_t time)
{
	uint32_t at = schedtape_tasks_get(&tl->set, pid);
	const struct schedtape_task_info *info;
	uint32_t thread;

	if (at == SCHEDTAPE_NONE)
		return birth_of_unknown(tl, pid, true, time);
	if (at & TASKS_INFO) {
		info = &tl->set.infos[at & ~TASKS_INFO];
		/* The described task started later: it is the next one with this PID. */
		if (info->start_time > time + START_TIME_SLACK)
			return birth_of_unknown(tl, pid, true, time);
		return timeline_birth(tl, info, info, false, time);
	}

	/* Within execve() a thread has its leader's PID before the event says so. */
	thread = schedtape_tasks_last_thread(&tl->set, at);
	if (thread == SCHEDTAPE_NONE)
		return birth_of_unknown(tl, pid, false, time);
	timeline_take_over(tl, thread, pid, time);
	return thread;
}

/*
 * Another task gets the PID of this one.  Ends this task, because its own end must be lost,
 * unless it is an exiting task that runs: the kernel frees PIDs before the last switch-out,
 * which is still to come.
 */
void timeline_vacate(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	const struct schedtape_track *track = timeline_track(tl, index);

	if (track->state == TASK_DEAD || (track->exiting && track->state == TASK_RUNNING))
		return;
	timeline_end(tl, index, time);
}

/* Copies what a child inherits from its parent. */
static void inherit(struct schedtape_timeline *tl, uint32_t index, uint32_t parent, bool thread)
{
	const struct schedtape_task *from = timeline_task(tl, parent);
	struct schedtape_task *task = timeline_task(tl, index);

	memcpy(task->comm, from->comm, sizeof(task->comm));
	memcpy(task->first_comm, from->comm, sizeof(task->comm));
	task->ppid = thread ? from->ppid : from->tgid;
	task->prio_known = from->prio_known;
	task->policy = from->policy;
	task->nice = from->nice;
	task->rt_priority = from->rt_priority;
	task->cgroup = from->cgroup;
	/* SCHED_DEADLINE is not inherited: such tasks can fork only with reset-on-fork. */
	if (from->policy == SCHED_DEADLINE)
		task->policy = SCHED_OTHER;
	if (!thread)
		return;
	task->tgid = from->tgid;
	schedtape_tasks_join(&tl->set, index, from->process);
}

/* A fork takes less than this, even if it is preempted often, ns. */
#define FORK_MAX	1000000000

/* Did the task enter the filter while it was being forked, before its fork event? */
static bool is_newborn(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	const struct schedtape_track *track = timeline_track(tl, index);
	const struct schedtape_task *task = timeline_task(tl, index);

	return task->joined && track->state == TASK_FOUND && track->seen >= tl->loss_end &&
	       time < task->start_time + FORK_MAX;
}

/**
 * timeline_fork() - start a task whose fork is recorded
 * @tl: the timeline
 * @pid: its PID
 * @parent: the task that forked it, or SCHEDTAPE_NONE
 * @thread: it shares its parent's thread group
 * @time: when
 */
void timeline_fork(struct schedtape_timeline *tl, uint32_t pid, uint32_t parent,
		   bool thread, uint64_t time)
{
	uint32_t at = schedtape_tasks_get(&tl->set, pid);
	struct schedtape_track *track;
	struct schedtape_task *task;
	uint32_t index;

	if (at < TASKS_INFO && is_newborn(tl, at, time)) {
		timeline_track(tl, at)->state = TASK_NEW;
		return;
	}
	/* A description that is not used yet was made after this fork, so it is the child's. */
	if (at < TASKS_INFO && at != parent)
		timeline_vacate(tl, at, time);
	index = add(tl, pid, time);
	if (index == SCHEDTAPE_NONE)
		return;
	task = timeline_task(tl, index);
	task->parent = parent;
	task->thread = thread;
	track = timeline_track(tl, index);
	track->state = TASK_NEW;
	track->described = !thread;
	if (parent != SCHEDTAPE_NONE) {
		inherit(tl, index, parent, thread);
		track->described |= timeline_track(tl, parent)->described;
		timeline_count(tl, parent, time);
	}
	timeline_call(tl, born, task, parent == SCHEDTAPE_NONE ? NULL : timeline_task(tl, parent),
		      time);
}

/* Returns the start time of the task that has had a PID so far. */
static uint64_t owner_start_time(struct schedtape_timeline *tl, uint32_t at)
{
	if (at == SCHEDTAPE_NONE)
		return 0;
	if (at & TASKS_INFO)
		return tl->set.infos[at & ~TASKS_INFO].start_time;
	return timeline_task(tl, at)->start_time;
}

/**
 * timeline_take_over() - give a thread its leader's PID, because it has called execve()
 * @tl: the timeline
 * @index: the thread, which goes on
 * @pid: its leader's PID, which the thread gets together with the leader's start time
 * @time: when
 */
void timeline_take_over(struct schedtape_timeline *tl, uint32_t index, uint32_t pid,
			uint64_t time)
{
	uint32_t before = schedtape_tasks_get(&tl->set, pid);
	struct schedtape_task *task = timeline_task(tl, index);
	int rc;

	task->start_time = owner_start_time(tl, before);
	if (before < TASKS_INFO && before != index)
		timeline_vacate(tl, before, time);
	if (schedtape_tasks_get(&tl->set, task->pid) == index)
		schedtape_tasks_set(&tl->set, task->pid, SCHEDTAPE_NONE);
	if (timeline_track(tl, index)->state == TASK_RUNNING)
		tl->lanes[timeline_track(tl, index)->cpu].old_pid = task->pid;
	rc = schedtape_tasks_set(&tl->set, pid, index);
	if (rc)
		timeline_fail(tl, rc, "not enough memory for all tasks");
	schedtape_tasks_join(&tl->set, index, index);
	timeline_track(tl, index)->described = true;
	task->pid = pid;
	task->tgid = pid;
}
