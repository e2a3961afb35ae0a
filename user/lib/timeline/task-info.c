// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Descriptions of tasks: those that the recorder has asked for and that lie on
 * the tape apart from the events, and those that the kernel writes into the
 * stream when a task enters the filter, leaves it, or exits.
 *
 * A PID and the time at which its task was made are an identity: a description
 * whose start time is not that of the life which has the PID is someone else's.
 */
#include <string.h>

#include "timeline/timeline.h"

/* Is the life the described task?  Who was made after it appeared is not. */
static bool is_same(struct schedtape_timeline *tl, uint32_t index,
		    const struct schedtape_task *task)
{
	const struct schedtape_life *life = timeline_life(tl, index);

	if (!task->start_time)
		return timeline_track(tl, index)->state != LIFE_DEAD;
	if (life->start_time)
		return life->start_time == task->start_time;
	return task->start_time <= timeline_track(tl, index)->seen + START_TIME_SLACK;
}

void timeline_rename(struct schedtape_timeline *tl, uint32_t index, const char *comm,
		     uint64_t time)
{
	struct schedtape_life *life = timeline_life(tl, index);

	if (!strcmp(life->comm, comm))
		return;
	memcpy(life->comm, comm, sizeof(life->comm));
	if (!life->first_comm[0])
		memcpy(life->first_comm, comm, sizeof(life->comm));
	timeline_count(tl, index, time);
	timeline_tell(tl, renamed, life, time);
}

/* @change: it is known to be one, whatever it was before. */
static void set_prio(struct schedtape_timeline *tl, uint32_t index, uint32_t policy, int32_t nice,
		     uint32_t rt_priority, const struct schedtape_deadline *dl, bool change,
		     uint64_t time)
{
	struct schedtape_life *life = timeline_life(tl, index);

	if (life->prio_known && life->policy == policy && life->nice == nice &&
	    life->rt_priority == rt_priority && !memcmp(&life->dl, dl, sizeof(*dl)))
		return;
	change |= life->prio_known;
	life->prio_known = true;
	life->policy = policy;
	life->nice = nice;
	life->rt_priority = rt_priority;
	life->dl = *dl;
	if (!change)
		return;
	life->prio_changes++;
	timeline_count(tl, index, time);
	timeline_tell(tl, setprio, life, time);
}

void timeline_setprio(struct schedtape_timeline *tl, const struct schedtape_event *ev)
{
	uint32_t index = timeline_find(tl, ev->pid, ev->time);

	if (index != SCHEDTAPE_NONE)
		set_prio(tl, index, ev->policy, ev->nice, ev->rt_priority, &ev->dl, true, ev->time);
}

/* No life has it: hardly any is ever set, and it is large. */
void timeline_setaffinity(struct schedtape_timeline *tl, uint32_t index,
			  const unsigned char *affinity, uint64_t time)
{
	timeline_count(tl, index, time);
	timeline_tell(tl, setaffinity, timeline_life(tl, index), affinity, time);
}

/* Moves are recorded as they happen: another cgroup than was known is one. */
static void set_cgroup(struct schedtape_timeline *tl, uint32_t index, uint64_t cgroup,
		       uint64_t time)
{
	struct schedtape_life *life = timeline_life(tl, index);

	if (!cgroup || life->cgroup == cgroup)
		return;
	life->cgroup = cgroup;
	timeline_count(tl, index, time);
	timeline_tell(tl, moved, life, time);
}

/* Adds to a life what is not known of it. */
static void identify(struct schedtape_timeline *tl, uint32_t index,
		     const struct schedtape_task *task, uint64_t time)
{
	struct schedtape_life *life = timeline_life(tl, index);
	bool named = !life->comm[0] && task->comm[0];
	bool grouped = !timeline_track(tl, index)->described;

	if (timeline_track(tl, index)->state == LIFE_DEAD)
		return;
	if (grouped)
		timeline_set_group(tl, index, task->tgid, time);
	life = timeline_life(tl, index);
	if (!life->start_time)
		life->start_time = task->start_time;
	if (!life->ppid)
		life->ppid = task->ppid;
	if (!life->ns_pid)
		life->ns_pid = task->ns_pid;
	if (named) {
		memcpy(life->comm, task->comm, sizeof(life->comm));
		memcpy(life->first_comm, life->comm, sizeof(life->comm));
	}
	if (named || grouped)
		timeline_tell(tl, identified, life, time);
	/* It got its name where events are missing; else the stream knows better. */
	if (tl->loss_end && task->comm[0])
		timeline_rename(tl, index, task->comm, time);
	set_prio(tl, index, task->policy, task->nice, task->rt_priority, &task->dl, false, time);
	set_cgroup(tl, index, task->cgroup, time);
}

/*
 * The life that a description is of, which may have to be made.  It may be over,
 * or SCHEDTAPE_NONE.
 */
static uint32_t meet(struct schedtape_timeline *tl, const struct schedtape_task *task,
		     const struct schedtape_task *source, bool joined, uint64_t time)
{
	uint32_t at = schedtape_lives_get(&tl->set, task->pid);

	/* Its PID may be that of a thread which has called execve(). */
	if (at < LIVES_TASK && timeline_track(tl, at)->state == LIFE_DEAD &&
	    schedtape_lives_last_thread(&tl->set, at) != SCHEDTAPE_NONE)
		at = timeline_find(tl, task->pid, time);
	if (at < LIVES_TASK && is_same(tl, at, task)) {
		identify(tl, at, task, time);
		return at;
	}
	if (at < LIVES_TASK)
		timeline_vacate(tl, at, time);
	return timeline_birth(tl, task, source, joined, time);
}

/* As far as an event would tell it. */
static void describe_affinity(struct schedtape_timeline *tl, uint32_t index,
			      const struct schedtape_task *task, uint64_t time)
{
	unsigned char affinity[SCHEDTAPE_AFFINITY_BYTES] = { 0 };
	uint32_t bytes = task->affinity_bytes;

	memcpy(affinity, task->affinity, bytes < sizeof(affinity) ? bytes : sizeof(affinity));
	timeline_setaffinity(tl, index, affinity, time);
}

static void describe(struct schedtape_timeline *tl, const struct schedtape_task *task,
		     uint64_t time)
{
	uint32_t index = meet(tl, task, task, false, time);
	struct schedtape_life *life;

	if (index == SCHEDTAPE_NONE)
		return;
	life = timeline_life(tl, index);
	if (!life->task && life->parent == SCHEDTAPE_NONE)
		life->task = task;
	/* It may have changed unseen, in a pause. */
	if (life->task != task && task->affinity_bytes)
		describe_affinity(tl, index, task, time);
	timeline_described_as(tl, index, task->state, time);
}

/**
 * timeline_describe() - take the tape's descriptions up to a time
 * @tl: the timeline
 * @before: only those that are older
 * @latest: what is younger is told with this time
 *
 * Each was true at its own time, which no event knows of.
 */
void timeline_describe(struct schedtape_timeline *tl, uint64_t before, uint64_t latest)
{
	const struct schedtape_lives *set = &tl->set;
	uint64_t time;

	while (tl->described < set->nr_tasks && !tl->rc) {
		const struct schedtape_task *task = &set->tasks[set->order[tl->described]];

		if (task->time >= before)
			return;
		tl->described++;
		time = task->time > tl->start ? task->time : tl->start;
		describe(tl, task, time < latest ? time : latest);
	}
}

/* The tape may have a description of the same task, still to be taken. */
static const struct schedtape_task *find_source(struct schedtape_timeline *tl,
						const struct schedtape_task *task)
{
	uint32_t at = schedtape_lives_get(&tl->set, task->pid);
	const struct schedtape_task *source;

	if (at == SCHEDTAPE_NONE || at < LIVES_TASK)
		return NULL;
	source = &tl->set.tasks[at & ~LIVES_TASK];
	return source->start_time == task->start_time ? source : NULL;
}

/**
 * timeline_task() - the stream describes a task
 * @tl: the timeline
 * @ev: a STAPE_EV_TASK
 */
void timeline_task(struct schedtape_timeline *tl, const struct schedtape_event *ev)
{
	struct schedtape_task task = {
		.time = ev->time,
		.start_time = ev->start_time,
		.pid = ev->pid,
		.tgid = ev->tgid,
		.ppid = ev->ppid,
		.ns_pid = ev->ns_pid,
		.cpu = ev->task_cpu,
		.state = ev->state,
		.policy = ev->policy,
		.nice = ev->nice,
		.rt_priority = ev->rt_priority,
		.cgroup = ev->cgroup,
		.dl = ev->dl,
	};
	bool enters = schedtape_task_why(ev) == STAPE_TASK_ENTERS;
	uint32_t index;

	memcpy(task.comm, ev->comm, sizeof(task.comm));
	index = meet(tl, &task, find_source(tl, &task), enters, ev->time);
	if (index == SCHEDTAPE_NONE)
		return;
	if (enters) {
		timeline_come(tl, index, ev->time);
		timeline_described_as(tl, index, ev->state, ev->time);
	} else if (schedtape_task_why(ev) == STAPE_TASK_LEAVES) {
		timeline_go(tl, index, ev->time);
	}
}
