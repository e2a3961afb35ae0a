/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tape that is an array of events: enough for a timeline, without a file. The running task of
 * each CPU is filled in as by the page reader. The CPU of descriptions is FAKE_NONE, except on
 * tapes of older versions.
 */
#ifndef SELFTESTS_FAKE_TAPE_H
#define SELFTESTS_FAKE_TAPE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/error.h>
#include <schedtape.h>
#include <tape/next.h>
#include <tape/groups.h>
#include <tape/meta.h>

#include "story.h"

#define FAKE_CPUS	8
#define FAKE_NONE	STAPE_CPU_NONE
#define FAKE_DAMAGE	UINT16_MAX	/* stands for a damaged page */

struct schedtape_tape {
	struct schedtape_event *events;
	size_t nr;
	size_t room;
	size_t at;
	struct schedtape_task_info tasks[16];
	size_t nr_tasks;
	struct schedtape_player players[4];
	size_t nr_players;
	struct schedtape_group groups[4];
	size_t nr_groups;
	struct schedtape_end end;
	const char *recorded;
	uint32_t curr[FAKE_CPUS];
};

const struct schedtape_task_info *schedtape_tape_tasks(struct schedtape_tape *tape, size_t *n)
{
	*n = tape->nr_tasks;
	return tape->tasks;
}

const struct schedtape_player *schedtape_tape_players(struct schedtape_tape *tape, size_t *n)
{
	*n = tape->nr_players;
	return tape->players;
}

const struct schedtape_group *tape_group_find(struct schedtape_tape *tape, uint32_t pid,
					      uint64_t start_time, uint64_t time)
{
	size_t i;

	for (i = 0; i < tape->nr_groups; i++)
		if (tape->groups[i].pid == pid && tape->groups[i].start_time == start_time &&
		    tape->groups[i].time == time)
			return &tape->groups[i];
	return NULL;
}

bool tape_has_groups(const struct schedtape_tape *tape)
{
	return tape->nr_groups;
}

const struct schedtape_end *schedtape_tape_end(struct schedtape_tape *tape)
{
	return &tape->end;
}

const char *tape_recorded_cpus(struct schedtape_tape *tape)
{
	return tape->recorded;
}

bool schedtape_tape_is_pipe(const struct schedtape_tape *tape)
{
	(void)tape;
	return false;
}

int schedtape_tape_rewind(struct schedtape_tape *tape, struct schedtape_error *err)
{
	(void)err;
	tape->at = 0;
	return 0;
}

int tape_next_event(struct schedtape_tape *tape, const struct schedtape_event **ev,
		    struct schedtape_error *err)
{
	if (tape->at == tape->nr)
		return 0;
	*ev = &tape->events[tape->at++];
	if ((*ev)->type == FAKE_DAMAGE)
		return schedtape_fail(err, -EBADMSG, "%s", (*ev)->comm);
	return 1;
}

int tape_next_brief(struct schedtape_tape *tape, const struct schedtape_brief **brief,
		    struct schedtape_error *err)
{
	const struct schedtape_event *ev;
	int ret = tape_next_event(tape, &ev, err);

	if (ret > 0)
		*brief = &ev->brief;
	return ret;
}

static inline struct schedtape_tape *fake_new(uint64_t start, uint64_t stop)
{
	struct schedtape_tape *tape = calloc(1, sizeof(*tape));

	if (!tape)
		abort();
	tape->end.start_time = start;
	tape->end.stop_time = stop;
	return tape;
}

static inline void fake_free(struct schedtape_tape *tape)
{
	free(tape->events);
	free(tape);
}

static inline struct schedtape_task_info *
fake_info(struct schedtape_tape *tape, uint32_t pid, const char *comm, unsigned int state,
	  uint32_t cpu)
{
	struct schedtape_task_info *info = &tape->tasks[tape->nr_tasks++];

	info->time = tape->end.start_time;
	info->pid = pid;
	info->tgid = pid;
	info->state = state;
	info->cpu = cpu;
	snprintf(info->comm, sizeof(info->comm), "%s", comm);
	return info;
}

static inline struct schedtape_event *fake_event(struct schedtape_tape *tape, uint64_t time,
						 uint32_t cpu, uint32_t type, uint32_t pid,
						 uint64_t arg)
{
	struct schedtape_event *ev;

	if (tape->nr == tape->room) {
		tape->room = tape->room ? tape->room * 2 : 64;
		tape->events = realloc(tape->events, tape->room * sizeof(*tape->events));
		if (!tape->events)
			abort();
	}
	ev = &tape->events[tape->nr++];
	memset(ev, 0, sizeof(*ev));
	ev->time = time;
	ev->cpu = cpu;
	ev->type = type;
	ev->detailed = type >= STAPE_EV_EXEC;
	ev->pid = pid;
	ev->arg = arg;
	ev->curr = cpu == FAKE_NONE ? 0 : tape->curr[cpu];
	ev->curr_kind = ev->curr ? STAPE_NEXT_TASK : cpu == FAKE_NONE ? STAPE_NEXT_OTHER :
						     STAPE_NEXT_IDLE;
	return ev;
}

/* @state: of the task that leaves; @next 0: idle. */
static inline void fake_switch(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			       unsigned int state, uint32_t next)
{
	unsigned int kind = next ? STAPE_NEXT_TASK : STAPE_NEXT_IDLE;

	fake_event(tape, time, cpu, STAPE_EV_SWITCH, next,
		   state | kind << STAPE_SWITCH_NEXT_SHIFT);
	tape->curr[cpu] = next;
}

static inline void fake_waking(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			       uint32_t pid, unsigned int context)
{
	fake_event(tape, time, cpu, STAPE_EV_WAKING, pid, context);
}

static inline void fake_wakeup(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			       uint32_t pid)
{
	fake_event(tape, time, cpu, STAPE_EV_WAKEUP, pid, cpu);
}

/* The usual case: waking and wakeup at once, on the waker's CPU. */
static inline void fake_wake(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			     uint32_t pid, unsigned int context)
{
	fake_waking(tape, time, cpu, pid, context);
	fake_wakeup(tape, time, cpu, pid);
}

static inline void fake_fork(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			     uint32_t pid, bool thread)
{
	fake_event(tape, time, cpu, STAPE_EV_FORK, pid, thread ? STAPE_FORK_THREAD : 0);
	fake_event(tape, time, cpu, STAPE_EV_WAKEUP_NEW, pid, cpu);
}

/* A fork in the descriptions. */
static inline void fake_described_fork(struct schedtape_tape *tape, uint64_t time, uint32_t pid,
				       uint32_t parent)
{
	struct schedtape_event *ev = fake_event(tape, time, FAKE_NONE, STAPE_EV_FORK, pid, 0);

	ev->curr = parent;
	ev->curr_kind = STAPE_NEXT_TASK;
}

static inline void fake_exec(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			     uint32_t pid, uint32_t old_pid)
{
	fake_event(tape, time, cpu, STAPE_EV_EXEC, pid, 1)->old_pid = old_pid;
	if (cpu != FAKE_NONE && tape->curr[cpu] == old_pid)
		tape->curr[cpu] = pid;
}

static inline void fake_rename(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			       uint32_t pid, const char *comm)
{
	struct schedtape_event *ev = fake_event(tape, time, cpu, STAPE_EV_RENAME, pid, 2);

	snprintf(ev->comm, sizeof(ev->comm), "%s", comm);
}

static inline void fake_prio(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
			     uint32_t pid, unsigned int policy, int nice, unsigned int rt_priority)
{
	struct schedtape_event *ev = fake_event(tape, time, cpu, STAPE_EV_PRIO, pid, 1);

	ev->policy = policy;
	ev->nice = nice;
	ev->rt_priority = rt_priority;
}

static inline void fake_affinity(struct schedtape_tape *tape, uint64_t time, uint32_t cpu,
				 uint32_t pid, uint64_t mask)
{
	struct schedtape_event *ev = fake_event(tape, time, cpu, SCHEDTAPE_EV_AFFINITY, pid, 2);

	mask = htole64(mask);
	memset(ev->affinity, 0, sizeof(ev->affinity));
	memcpy(ev->affinity, &mask, sizeof(mask));
}

/* Describes a process; the caller changes more fields. */
static inline struct schedtape_event *fake_describe(struct schedtape_tape *tape, uint64_t time,
						    uint32_t cpu, uint32_t pid, unsigned int why,
						    const char *comm, uint64_t start_time)
{
	struct schedtape_event *ev = fake_event(tape, time, cpu, STAPE_EV_TASK, pid,
						why << STAPE_TASK_WHY_SHIFT | STAPE_TASK_WORDS);

	snprintf(ev->comm, sizeof(ev->comm), "%s", comm);
	ev->tgid = pid;
	ev->start_time = start_time;
	return ev;
}

/* @curr: task that runs on the CPU after the pause. */
static inline void fake_pause(struct schedtape_tape *tape, uint64_t first, uint64_t last,
			      uint32_t cpu, uint32_t curr)
{
	struct schedtape_event *ev;

	if (cpu != FAKE_NONE)
		tape->curr[cpu] = curr;
	ev = fake_event(tape, first, cpu, SCHEDTAPE_EV_PAUSED, 0, 0);
	ev->lost_first = first;
	ev->lost_last = last;
}

/* @curr: task that runs on the CPU after the loss. */
static inline void fake_loss(struct schedtape_tape *tape, uint64_t first, uint64_t last,
			     uint32_t cpu, uint64_t lost, uint32_t curr)
{
	struct schedtape_event *ev;

	if (cpu != FAKE_NONE)
		tape->curr[cpu] = curr;
	ev = fake_event(tape, first, cpu, SCHEDTAPE_EV_LOST, 0, 0);
	ev->lost = lost;
	ev->lost_first = first;
	ev->lost_last = last;
}

static inline void fake_damage(struct schedtape_tape *tape, uint64_t time, const char *text)
{
	struct schedtape_event *ev = fake_event(tape, time, 0, FAKE_DAMAGE, 0, 0);

	snprintf(ev->comm, sizeof(ev->comm), "%s", text);
}

/* Adds the events of a story, see story.h.  A switch to "other" is one to "idle" here. */
static inline void fake_story(struct schedtape_tape *tape, const char *story)
{
	struct story_event ev;

	while (story_next(&story, &ev, 0)) {
		switch (ev.type) {
		case STAPE_EV_SWITCH:
			fake_switch(tape, ev.time, ev.cpu, ev.arg, ev.pid);
			break;
		case STAPE_EV_WAKE:
			fake_waking(tape, ev.time, ev.cpu, ev.pid, ev.arg);
			fake_event(tape, ev.time, ev.cpu, STAPE_EV_WAKEUP, ev.pid, ev.on);
			break;
		case STAPE_EV_WAKEUP:
			fake_event(tape, ev.time, ev.cpu, ev.type, ev.pid, ev.on);
			break;
		case STAPE_EV_FORK:
			fake_event(tape, ev.time, ev.cpu, ev.type, ev.pid, ev.arg);
			fake_event(tape, ev.time, ev.cpu, STAPE_EV_WAKEUP_NEW, ev.pid, ev.on);
			break;
		case STAPE_EV_RENAME:
			fake_rename(tape, ev.time, ev.cpu, ev.pid, ev.name);
			break;
		default:
			fake_event(tape, ev.time, ev.cpu, ev.type, ev.pid, ev.arg);
		}
	}
}

static inline struct schedtape_timeline *fake_run(struct schedtape_tape *tape)
{
	struct schedtape_timeline *timeline;

	if (schedtape_timeline_run(tape, NULL, NULL, &timeline, NULL))
		abort();
	return timeline;
}

static inline void fake_done(struct schedtape_tape *tape, struct schedtape_timeline *timeline)
{
	schedtape_timeline_free(timeline);
	fake_free(tape);
}

static inline size_t fake_count(const struct schedtape_timeline *timeline)
{
	size_t n;

	schedtape_timeline_tasks(timeline, &n);
	return n;
}

/* Returns the @nth task with a PID. */
static inline const struct schedtape_task *fake_task(const struct schedtape_timeline *timeline,
						     uint32_t pid, unsigned int nth)
{
	static const struct schedtape_task none;
	const struct schedtape_task *tasks;
	size_t i, n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	for (i = 0; i < n; i++)
		if (tasks[i].pid == pid && !nth--)
			return &tasks[i];
	return &none;
}

static inline uint64_t fake_edge(const struct schedtape_timeline *timeline, uint32_t waker,
				 uint32_t wakee)
{
	const struct schedtape_task *tasks;
	const struct schedtape_edge *edges;
	uint64_t count = 0;
	size_t i, n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	edges = schedtape_timeline_edges(timeline, &n);
	for (i = 0; i < n; i++)
		if (tasks[edges[i].waker].pid == waker && tasks[edges[i].wakee].pid == wakee)
			count += edges[i].count;
	return count;
}

#endif /* SELFTESTS_FAKE_TAPE_H */
