// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Starts tasks.  owners.h finds the current task of a PID.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "tape/groups.h"
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
	if (at & OWNERS_INFO) {
		leader = &tl->set.infos[at & ~OWNERS_INFO];
		/* On a corrupt tape a leader may be a thread: avoid an endless recursion. */
		if (leader->tgid != leader->pid)
			return SCHEDTAPE_NONE;
		return timeline_find(tl, leader->pid, time);
	}
	if (at & OWNERS_FORMER)
		return SCHEDTAPE_NONE;
	return timeline_track(tl, at)->state != TASK_DEAD ||
	       schedtape_owners_is_zombie(&tl->set.owners, tgid) ? at : SCHEDTAPE_NONE;
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

/*
 * Sets the autogroup and the core-scheduling cookie of a task that starts.  Its listed description
 * may have been made after the one in the stream; then the latter is nearer to what it had first.
 */
static void first_autogroup(struct schedtape_timeline *tl, struct schedtape_task *task)
{
	const struct schedtape_event *ev = tl->description;
	const struct schedtape_task_info *info = task->info;
	const struct schedtape_group *group = NULL;

	/* A leader is born before the thread that is described. */
	if (ev && ev->pid != task->pid)
		ev = NULL;
	if (info && (!ev || info->time <= ev->time))
		group = tape_group_find(tl->tape, task->pid, task->start_time, info->time);
	if (group) {
		task->autogroup = group->autogroup;
		task->autogroup_nice = group->nice;
		task->core = group->core;
	} else if (ev) {
		task->autogroup = ev->autogroup;
		task->core = ev->core;
	}
}

/**
 * timeline_birth() - start a task whose fork was not recorded
 * @tl: the timeline
 * @who: a description of the task
 * @source: its description on the tape, or NULL
 * @why: STAPE_TASK_* of that description, or TIMELINE_LISTED
 * @time: when it appears
 *
 * The task is taken to exist from the start, unless its start time is later, or another
 * task had its PID.
 */
uint32_t timeline_birth(struct schedtape_timeline *tl, const struct schedtape_task_info *who,
			const struct schedtape_task_info *source, unsigned int why,
			uint64_t time)
{
	bool joined = why == STAPE_TASK_ENTERS, exits = why == STAPE_TASK_EXITS;
	bool first = schedtape_tasks_get(&tl->set, who->pid) >= OWNERS_INFO;
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
	tl->set.owners.owners[index].found = joined;
	timeline_set_group(tl, index, who->tgid, time);
	timeline_track(tl, index)->seen = time;
	task = timeline_task(tl, index);
	task->info = source;
	task->from_start = from_start;
	task->joined = joined;
	/* At its end its parent may be a later one. */
	task->ppid = !exits ? who->ppid : source ? source->ppid : 0;
	if (exits)
		task->exit_ppid = who->ppid;
	task->ns_pid = who->ns_pid;
	task->start_time = who->start_time;
	task->prio_known = true;
	task->policy = who->policy;
	task->nice = who->nice;
	task->rt_priority = who->rt_priority;
	task->dl = who->dl;
	task->cgroup = who->cgroup;
	first_autogroup(tl, task);
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
	tl->set.owners.owners[index].found = !from_start;
	task = timeline_task(tl, index);
	task->from_start = from_start;
	timeline_call(tl, born, task, NULL, task->start);
	return index;
}

/* Takes over what has changed of a task with its PID. */
void timeline_reidentify(struct schedtape_timeline *tl, uint32_t index)
{
	const struct schedtape_owner *owner = &tl->set.owners.owners[index];
	const struct schedtape_track *track = timeline_track(tl, index);
	struct schedtape_task *task = timeline_task(tl, index);
	const struct schedtape_task *before;

	if (task->pid == owner->pid)
		return;
	if (track->state == TASK_RUNNING)
		tl->lanes[track->cpu].old_pid = task->pid;
	/* A thread gets these of its leader, too. */
	before = owner->before == SCHEDTAPE_NONE ? NULL : timeline_task(tl, owner->before);
	task->start_time = before ? before->start_time : 0;
	task->ns_pid = before ? before->ns_pid : 0;
	timeline_track(tl, index)->described = true;
	schedtape_tasks_reidentify(&tl->set, index);
}

/* The slow part of timeline_find(). */
uint32_t timeline_find_slow(struct schedtape_timeline *tl, uint32_t pid, uint64_t time)
{
	uint32_t at = schedtape_tasks_get(&tl->set, pid);
	const struct schedtape_task_info *info;
	uint32_t index;

	if (at == SCHEDTAPE_NONE)
		return birth_of_unknown(tl, pid, true, time);
	if (at & OWNERS_INFO) {
		info = &tl->set.infos[at & ~OWNERS_INFO];
		/* The described task started later: it is the next one with this PID. */
		if (info->start_time > time + START_TIME_SLACK)
			return birth_of_unknown(tl, pid, true, time);
		return timeline_birth(tl, info, info, TIMELINE_LISTED, time);
	}
	index = schedtape_owners_find(&tl->set.owners, pid);
	if (index == SCHEDTAPE_NONE)
		return birth_of_unknown(tl, pid, false, time);
	timeline_reidentify(tl, index);
	return index;
}

/**
 * timeline_find_living() - find the task that has a PID, and does not exit yet
 * @tl: the timeline
 * @pid: not 0
 * @time: time of the event that names it
 */
uint32_t timeline_find_living(struct schedtape_timeline *tl, uint32_t pid, uint64_t time)
{
	uint32_t index;

	if (schedtape_tasks_get(&tl->set, pid) >= OWNERS_FORMER)
		return timeline_find(tl, pid, time);
	index = schedtape_owners_find_living(&tl->set.owners, pid);
	if (index == SCHEDTAPE_NONE)
		return timeline_find(tl, pid, time);
	timeline_reidentify(tl, index);
	return index;
}

/**
 * timeline_find_other() - find the task that is switched in, if the one with the PID runs elsewhere
 * @tl: the timeline
 * @index: the one with the PID
 *
 * In an execve() two tasks swap their PIDs.
 */
uint32_t timeline_find_other(struct schedtape_timeline *tl, uint32_t index)
{
	uint32_t other;

	other = schedtape_owners_other(&tl->set.owners, index);
	if (other == SCHEDTAPE_NONE || timeline_track(tl, other)->state == TASK_RUNNING)
		return index;
	if (tl->set.owners.owners[index].exiting) {
		schedtape_owners_take(&tl->set.owners, other, timeline_task(tl, index)->pid);
		timeline_reidentify(tl, other);
	}
	return other;
}

/*
 * Another task gets the PID of this one.  Ends this task, because its own end must be lost,
 * unless it is an exiting task that runs: the kernel frees PIDs before the last switch-out,
 * which is still to come.
 */
void timeline_vacate(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	const struct schedtape_track *track = timeline_track(tl, index);

	if (track->state == TASK_DEAD ||
	    (track->state == TASK_RUNNING && timeline_exits(tl, index)))
		return;
	timeline_end(tl, index, time);
}

/* Copies what a child inherits from the task that forked it.  @how: see timeline_fork() */
static void inherit(struct schedtape_timeline *tl, uint32_t index, uint32_t parent,
		    unsigned int how)
{
	bool sibling = how & (STAPE_FORK_THREAD | STAPE_FORK_SIBLING);
	const struct schedtape_task *from = timeline_task(tl, parent);
	struct schedtape_task *task = timeline_task(tl, index);

	memcpy(task->comm, from->comm, sizeof(task->comm));
	memcpy(task->first_comm, from->comm, sizeof(task->comm));
	task->ppid = sibling ? from->ppid : from->tgid;
	task->prio_known = from->prio_known;
	task->policy = from->policy;
	task->nice = from->nice;
	task->rt_priority = from->rt_priority;
	task->cgroup = from->cgroup;
	task->autogroup = from->autogroup;
	task->autogroup_nice = from->autogroup_nice;
	task->core = from->core;
	/* SCHED_DEADLINE is not inherited: such tasks can fork only with reset-on-fork. */
	if (from->policy == SCHED_DEADLINE)
		task->policy = SCHED_OTHER;
	else
		task->wish = from->wish;
	if (!(how & STAPE_FORK_THREAD))
		return;
	task->tgid = from->tgid;
	schedtape_tasks_join(&tl->set, index, from->process);
}

/* Did the task enter the filter while it was being forked, before its fork event? */
static bool is_newborn(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	const struct schedtape_track *track = timeline_track(tl, index);
	const struct schedtape_task *task = timeline_task(tl, index);

	return task->joined && track->state == TASK_FOUND && track->seen >= tl->loss_end &&
	       time < task->start_time + OWNERS_FORK_MAX;
}

/**
 * timeline_fork() - start a task whose fork is recorded
 * @tl: the timeline
 * @pid: its PID
 * @parent: the task that forked it, or SCHEDTAPE_NONE
 * @how: STAPE_FORK_*
 * @time: when
 */
void timeline_fork(struct schedtape_timeline *tl, uint32_t pid, uint32_t parent,
		   unsigned int how, uint64_t time)
{
	bool thread = how & STAPE_FORK_THREAD;
	uint32_t at = schedtape_tasks_get(&tl->set, pid);
	struct schedtape_track *track;
	struct schedtape_task *task;
	uint32_t index;

	if (at < OWNERS_FORMER && is_newborn(tl, at, time)) {
		timeline_track(tl, at)->state = TASK_NEW;
		return;
	}
	/* A description that is not used yet was made after this fork, so it is the child's. */
	if (at < OWNERS_FORMER && at != parent)
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
		inherit(tl, index, parent, how);
		track->described |= timeline_track(tl, parent)->described;
		timeline_count(tl, parent, time);
	}
	timeline_call(tl, born, task, parent == SCHEDTAPE_NONE ? NULL : timeline_task(tl, parent),
		      time);
}

/* Returns start time and PID in its own namespace of the task that has had a PID so far. */
static uint64_t owner_start_time(struct schedtape_timeline *tl, uint32_t pid, uint32_t *ns_pid)
{
	uint32_t at = schedtape_tasks_get(&tl->set, pid);
	const struct schedtape_task_info *info;

	*ns_pid = 0;
	if (at < OWNERS_FORMER) {
		*ns_pid = timeline_task(tl, at)->ns_pid;
		return timeline_task(tl, at)->start_time;
	}
	if (at == SCHEDTAPE_NONE || !(at & OWNERS_INFO))
		return 0;
	info = &tl->set.infos[at & ~OWNERS_INFO];
	*ns_pid = info->ns_pid;
	return info->start_time;
}

/**
 * timeline_exec() - give a thread its leader's PIDs and start time, because it has called execve()
 * @tl: the timeline
 * @pid: its leader's PID
 * @old_pid: the PID that it had
 * @time: when
 */
void timeline_exec(struct schedtape_timeline *tl, uint32_t pid, uint32_t old_pid, uint64_t time)
{
	uint32_t index, leader, ns_pid;
	uint64_t start_time = owner_start_time(tl, pid, &ns_pid);

	index = schedtape_owners_exec(&tl->set.owners, pid, old_pid, &leader);
	/* The thread's birth is lost. */
	if (index == SCHEDTAPE_NONE && !errno) {
		if (timeline_find(tl, old_pid, time) == SCHEDTAPE_NONE)
			return;
		index = schedtape_owners_exec(&tl->set.owners, pid, old_pid, &leader);
	}
	if (index == SCHEDTAPE_NONE && errno)
		timeline_fail(tl, -ENOMEM, "not enough memory for all tasks");
	if (index == SCHEDTAPE_NONE)
		return;
	timeline_reidentify(tl, index);
	timeline_task(tl, index)->thread = true;
	timeline_task(tl, index)->start_time = start_time;
	timeline_task(tl, index)->ns_pid = ns_pid;
	if (leader != SCHEDTAPE_NONE)
		timeline_vacate(tl, leader, time);
}
