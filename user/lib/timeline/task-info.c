// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Descriptions of tasks: those that the recorder has requested, in TASKS records of the
 * tape, and those that the kernel writes into the stream when a task enters the filter,
 * leaves it, or exits.
 *
 * A PID and a start time identify a task.  If the start time in a description is not that
 * of the task which has the PID, the description is of another task.
 */
#include <sched.h>
#include <string.h>

#include "tape/groups.h"
#include "tape/page.h"
#include "timeline/timeline.h"

/* Does @info describe this task?  No, if it started after this task first appeared. */
static bool is_same(struct schedtape_timeline *tl, uint32_t index,
		    const struct schedtape_task_info *info)
{
	const struct schedtape_task *task = timeline_task(tl, index);

	if (!info->start_time)
		return timeline_track(tl, index)->state != TASK_DEAD;
	if (task->start_time)
		return task->start_time == info->start_time;
	return info->start_time <= timeline_track(tl, index)->seen + START_TIME_SLACK;
}

void timeline_rename(struct schedtape_timeline *tl, uint32_t index, const char *comm,
		     uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);

	if (!strcmp(task->comm, comm))
		return;
	memcpy(task->comm, comm, sizeof(task->comm));
	if (!task->first_comm[0])
		memcpy(task->first_comm, comm, sizeof(task->comm));
	timeline_count(tl, index, time);
	timeline_call(tl, renamed, task, time);
}

/* Does a task keep what belongs to its policy?  Its timer slack, without events, does not count. */
static bool same_more(const struct schedtape_task *task, const struct schedtape_deadline *dl)
{
	struct schedtape_task other = { .dl = *dl };

	if (task->policy != SCHED_DEADLINE)
		other.wish.slack = task->wish.slack;
	return !memcmp(&task->dl, &other.dl, sizeof(*dl));
}

/* @change: counts as a change even if the previous values are not known. */
static void set_prio(struct schedtape_timeline *tl, uint32_t index, uint32_t policy, int32_t nice,
		     uint32_t rt_priority, const struct schedtape_deadline *dl, bool change,
		     uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);

	if (task->prio_known && task->policy == policy && task->nice == nice &&
	    task->rt_priority == rt_priority && same_more(task, dl)) {
		task->dl = *dl;
		return;
	}
	change |= task->prio_known;
	task->prio_known = true;
	task->policy = policy;
	task->nice = nice;
	task->rt_priority = rt_priority;
	task->dl = *dl;
	if (!change)
		return;
	task->prio_changes++;
	timeline_count(tl, index, time);
	timeline_call(tl, setprio, task, time);
}

void timeline_setprio(struct schedtape_timeline *tl, const struct schedtape_event *ev)
{
	uint32_t index;

	/* Of a leader that has ended: its threads have priorities of their own. */
	if (schedtape_owners_is_zombie(&tl->set.owners, ev->pid))
		return;
	index = timeline_find(tl, ev->pid, ev->time);
	if (index != SCHEDTAPE_NONE)
		set_prio(tl, index, ev->policy, ev->nice, ev->rt_priority, &ev->dl, true, ev->time);
}

/* Not kept in struct schedtape_task, because it is large and seldom set. */
void timeline_setaffinity(struct schedtape_timeline *tl, uint32_t index,
			  const unsigned char *affinity, uint64_t time)
{
	timeline_count(tl, index, time);
	timeline_call(tl, setaffinity, timeline_task(tl, index), affinity, time);
}

/* Reports a move if the cgroup is a new one.  The kernel records moves when they happen. */
static void set_cgroup(struct schedtape_timeline *tl, uint32_t index, uint64_t cgroup,
		       uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);

	if (!cgroup || task->cgroup == cgroup)
		return;
	task->cgroup = cgroup;
	timeline_count(tl, index, time);
	timeline_call(tl, moved, task, time);
}

/* Takes the autogroup and the cookie of a description.  @nice: of the autogroup, if known */
static void set_autogroup(struct schedtape_timeline *tl, uint32_t index, uint32_t autogroup,
			  int nice, uint32_t core, uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);

	if (timeline_track(tl, index)->state == TASK_DEAD)
		return;
	task->core = core;
	if (task->autogroup == autogroup) {
		/* Events do not have it. */
		if (task->autogroup_nice == SCHEDTAPE_NICE_UNKNOWN)
			task->autogroup_nice = nice;
		return;
	}
	task->autogroup = autogroup;
	task->autogroup_nice = nice;
	timeline_count(tl, index, time);
	timeline_call(tl, regrouped, task, time);
}

/*
 * Takes what was listed with a description.  Without an entry the task stays where it is, because
 * not all recorders list autogroups again.
 */
static void describe_autogroup(struct schedtape_timeline *tl, uint32_t index,
			       const struct schedtape_task_info *info, uint64_t time)
{
	const struct schedtape_group *group;

	group = tape_group_find(tl->tape, info->pid, info->start_time, info->time);
	if (group)
		set_autogroup(tl, index, group->autogroup, group->nice, group->core, time);
}

/* Fills in members of a task that were not known.  @exits: its parent may be a later one. */
static void identify(struct schedtape_timeline *tl, uint32_t index,
		     const struct schedtape_task_info *info, bool exits, uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);
	bool named = !task->comm[0] && info->comm[0];
	bool grouped = !timeline_track(tl, index)->described;
	bool first = !task->start_time;

	if (timeline_track(tl, index)->state == TASK_DEAD)
		return;
	if (grouped)
		timeline_set_group(tl, index, info->tgid, time);
	task = timeline_task(tl, index);
	if (first)
		task->start_time = info->start_time;
	if (exits)
		task->exit_ppid = info->ppid;
	/* If the first description has no parent, a later one may have another parent. */
	else if (first && !task->ppid)
		task->ppid = info->ppid;
	if (!task->ns_pid)
		task->ns_pid = info->ns_pid;
	if (named) {
		memcpy(task->comm, info->comm, sizeof(task->comm));
		memcpy(task->first_comm, task->comm, sizeof(task->comm));
	}
	if (named || grouped)
		timeline_call(tl, identified, task, time);
	/* Only after a loss its name may be outdated; otherwise the events have the newer one. */
	if ((tl->loss_end || tl->misses_descriptions) && info->comm[0])
		timeline_rename(tl, index, info->comm, time);
	set_prio(tl, index, info->policy, info->nice, info->rt_priority, &info->dl, false, time);
	set_cgroup(tl, index, info->cgroup, time);
}

/* Returns the last task of a PID, which may have ended; SCHEDTAPE_NONE: none that was born. */
static uint32_t last_of(struct schedtape_timeline *tl, uint32_t pid, bool exits)
{
	struct schedtape_owners *owners = &tl->set.owners;
	uint32_t at = schedtape_tasks_get(&tl->set, pid), index;

	if (at != SCHEDTAPE_NONE && at & OWNERS_INFO)
		return SCHEDTAPE_NONE;
	index = exits ? schedtape_owners_find_living(owners, pid) :
			schedtape_owners_find(owners, pid);
	if (index == SCHEDTAPE_NONE)
		return at < OWNERS_FORMER ? at : index;
	timeline_reidentify(tl, index);
	return index;
}

/*
 * Finds or starts the task that a description is of.  @why: STAPE_TASK_*, TIMELINE_LISTED.  Returns
 * a task that may have ended, or SCHEDTAPE_NONE.
 */
static uint32_t meet(struct schedtape_timeline *tl, const struct schedtape_task_info *info,
		     const struct schedtape_task_info *source, unsigned int why, uint64_t time)
{
	bool exits = why == STAPE_TASK_EXITS;
	uint32_t at = last_of(tl, info->pid, exits);

	if (at != SCHEDTAPE_NONE && is_same(tl, at, info)) {
		identify(tl, at, info, exits, time);
		return at;
	}
	if (at != SCHEDTAPE_NONE)
		timeline_vacate(tl, at, time);
	return timeline_birth(tl, info, source, why, time);
}

/* Reports the affinity of a description, as many CPUs as an event has. */
static void describe_affinity(struct schedtape_timeline *tl, uint32_t index,
			      const struct schedtape_task_info *info, uint64_t time)
{
	unsigned char affinity[SCHEDTAPE_AFFINITY_BYTES] = { 0 };
	uint32_t bytes = info->affinity_bytes;

	memcpy(affinity, info->affinity, bytes < sizeof(affinity) ? bytes : sizeof(affinity));
	timeline_setaffinity(tl, index, affinity, time);
}

/*
 * A task had ended when it was described: the description is there for its last events only, if
 * there are any.  Then also a task that had the PID before the last loss has ended in it.
 */
static void describe_dead(struct schedtape_timeline *tl, const struct schedtape_task_info *info,
			  uint64_t time)
{
	uint32_t at = schedtape_tasks_get(&tl->set, info->pid);

	if (at >= OWNERS_FORMER)
		return;
	/* A leader that had ended before its threads: only they have named it. */
	if (timeline_track(tl, at)->state == TASK_FOUND && timeline_task(tl, at)->info == info) {
		timeline_end(tl, at, time);
		return;
	}
	if (timeline_track(tl, at)->since >= tl->loss_end)
		return;
	timeline_vacate(tl, at, time);
	if (timeline_track(tl, at)->state == TASK_DEAD)
		schedtape_owners_set(&tl->set.owners, info->pid,
				     OWNERS_INFO | (info - tl->set.infos));
}

static void describe(struct schedtape_timeline *tl, const struct schedtape_task_info *info,
		     uint64_t time)
{
	struct schedtape_task *task;
	uint32_t index;

	if (info->state == STAPE_STATE_DEAD) {
		describe_dead(tl, info, time);
		return;
	}
	index = meet(tl, info, info, TIMELINE_LISTED, time);
	if (index == SCHEDTAPE_NONE)
		return;
	task = timeline_task(tl, index);
	if (!task->info && task->parent == SCHEDTAPE_NONE)
		task->info = info;
	/* They may have changed in a pause, without an event. */
	if (task->info != info && info->affinity_bytes)
		describe_affinity(tl, index, info, time);
	describe_autogroup(tl, index, info, time);
	timeline_described_as(tl, index, info->state, info->cpu, time);
}

/* The slow part of timeline_describe(). */
void timeline_describe_more(struct schedtape_timeline *tl, uint64_t before, uint64_t latest)
{
	const struct schedtape_tasks *set = &tl->set;
	uint64_t time;

	while (tl->described < set->nr_infos && !tl->rc) {
		const struct schedtape_task_info *info = &set->infos[set->order[tl->described]];

		if (info->time >= before)
			return;
		tl->described++;
		time = info->time > tl->start ? info->time : tl->start;
		describe(tl, info, time < latest ? time : latest);
	}
}

/* Finds a description of the same task on the tape that is not used yet. */
static const struct schedtape_task_info *find_source(struct schedtape_timeline *tl,
						     const struct schedtape_task_info *info)
{
	uint32_t at = schedtape_tasks_get(&tl->set, info->pid);
	const struct schedtape_task_info *source;

	if (at == SCHEDTAPE_NONE || at < OWNERS_INFO)
		return NULL;
	source = &tl->set.infos[at & ~OWNERS_INFO];
	return source->start_time == info->start_time ? source : NULL;
}

/**
 * timeline_task_event() - use a description in the stream
 * @tl: the timeline
 * @ev: a STAPE_EV_TASK
 */
void timeline_task_event(struct schedtape_timeline *tl, const struct schedtape_event *ev)
{
	struct schedtape_task_info info = tape_described(ev);
	unsigned int why = schedtape_task_why(ev);
	uint32_t index;

	/* A leader that has ended is moved together with its threads. */
	if ((why == STAPE_TASK_MOVES || why == STAPE_TASK_REGROUPED) &&
	    schedtape_owners_is_zombie(&tl->set.owners, ev->pid))
		return;
	tl->description = ev;
	index = meet(tl, &info, find_source(tl, &info), why, ev->time);
	tl->description = NULL;
	if (index == SCHEDTAPE_NONE)
		return;
	set_autogroup(tl, index, ev->autogroup, SCHEDTAPE_NICE_UNKNOWN, ev->core, ev->time);
	if (why == STAPE_TASK_ENTERS) {
		timeline_come(tl, index, ev->time);
		timeline_described_as(tl, index, ev->state, ev->task_cpu, ev->time);
	} else if (why == STAPE_TASK_LEAVES) {
		timeline_go(tl, index, ev->time);
	}
}
