/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each task and each CPU did lately: spans of time, each of which knows the ones before it.
 */
#ifndef SCHEDTAPE_WHY_HISTORY_H
#define SCHEDTAPE_WHY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "why/throttles.h"

struct recorded;

/* Instead of the number of a span: there is none. */
#define SPAN_NONE	UINT64_MAX

/**
 * enum span_kind - what a span is
 * @SPAN_RUN: a CPU ran a task of the tape
 * @SPAN_IDLE: a CPU was idle
 * @SPAN_OTHER: a CPU ran tasks that are not recorded
 * @SPAN_UNKNOWN: the tape does not show what a CPU did
 * @SPAN_QUEUED: a task was ready, and waited for a CPU from which it was then moved away
 */
enum span_kind {
	SPAN_RUN,
	SPAN_IDLE,
	SPAN_OTHER,
	SPAN_UNKNOWN,
	SPAN_QUEUED,
};

/**
 * struct span - a part of the time of a task or a CPU
 * @begin, @end: ns of the session's clock; @end is SPAN_NONE while it lasts
 * @left, @woke: of a SPAN_RUN, as in struct schedtape_run
 * @before: the task's run before this one; of a SPAN_QUEUED the one before it in the same wait
 * @on_cpu: what the CPU did just before; of a SPAN_QUEUED what it did at the end
 * @source: of a SPAN_RUN: the run in which the waker, or the parent, was at @woke
 * @queue: of a SPAN_RUN: the last SPAN_QUEUED of the wait before it
 * @task: index; SCHEDTAPE_NONE: no task
 * @cpu: the CPU
 * @kind: enum span_kind
 * @left_syscall: of a SPAN_RUN, as in struct schedtape_run
 * @left_state: enum stape_state at @left; SPAN_NO_STATE: not known
 * @woke_in: enum stape_context at @woke; SPAN_NO_STATE: not known
 * @lasts: of a SPAN_RUN: the task still waited for this run when the tape ended
 * @policy: of a SPAN_RUN: that of the task when it began, or when the tape ended
 */
struct span {
	uint64_t begin;
	uint64_t end;
	uint64_t left;
	uint64_t woke;
	uint64_t before;
	uint64_t on_cpu;
	uint64_t source;
	uint64_t queue;
	uint64_t left_syscall;
	uint32_t task;
	uint32_t cpu;
	uint8_t kind;
	uint8_t left_state;
	uint8_t woke_in;
	bool lasts;
	uint8_t policy;
};

#define SPAN_NO_STATE	0xff

/**
 * struct history_task - where a task is
 * @last: its last SPAN_RUN
 * @waking: the run of the task that tried to wake it last
 * @source: the run of the task that woke or forked it last, until it runs again
 * @queue: the last SPAN_QUEUED of the wait in which it is
 * @queued_since: since when it waits for @queued_cpu; 0: it does not wait, or that is not known
 * @cgroup: id of its cgroup when it ran last, or when the tape ended
 */
struct history_task {
	uint64_t last;
	uint64_t waking;
	uint64_t source;
	uint64_t queue;
	uint64_t queued_since;
	uint64_t cgroup;
	uint32_t queued_cpu;
};

/**
 * struct history_cpu - where a CPU is
 * @present: what it does; SPAN_NONE: nothing is known
 * @explained: time of the last event that says what the CPU did
 */
struct history_cpu {
	uint64_t present;
	uint64_t explained;
};

/**
 * struct history - the spans
 * @recorded: what the tape says about its recording
 * @spans: a ring: span N is at N modulo @room
 * @room: a power of two, which grows up to @most
 * @most: spans that are kept; also a power of two
 * @nr: number of spans so far
 * @tasks: by index of the task
 * @cpus: by number
 * @throttles: when cgroups were throttled
 */
struct history {
	const struct recorded *recorded;
	struct span *spans;
	uint64_t room;
	uint64_t most;
	uint64_t nr;
	struct history_task *tasks;
	size_t nr_tasks;
	struct history_cpu *cpus;
	size_t nr_cpus;
	struct throttles throttles;
};

/* Returns a span, valid until the next event; NULL: there is none, or it is too long ago. */
static inline const struct span *history_get(const struct history *history, uint64_t number)
{
	if (number >= history->nr || history->nr - number > history->room)
		return NULL;
	return &history->spans[number & (history->room - 1)];
}

/*
 * Returns when the wait before a run began, 0: that is not known.  @left, @woke: as in struct
 * schedtape_run.  @lasts: the tape ended before the run.  If a task slept when the tape began, and
 * has not run since, its wait began when it was woken.
 */
static inline uint64_t history_wait_begin(uint64_t left, uint64_t woke, bool lasts)
{
	return left || !lasts ? left : woke;
}

/* Returns a task, to be changed; NULL: no memory. */
struct history_task *history_task(struct history *history, uint32_t index);

/* The callbacks of the timeline, with the same arguments.  They return 0 or -ENOMEM. */
int history_event(struct history *history, const struct schedtape_event *ev);
int history_born(struct history *history, const struct schedtape_task *task,
		 const struct schedtape_task *parent);
int history_waking(struct history *history, const struct schedtape_task *waker,
		   const struct schedtape_task *wakee);
int history_woke(struct history *history, const struct schedtape_task *task,
		 const struct schedtape_task *waker);
int history_queued(struct history *history, const struct schedtape_task *task, uint32_t cpu,
		   uint64_t time);
int history_began(struct history *history, const struct schedtape_task *task,
		  const struct schedtape_run *run);
int history_ran(struct history *history, const struct schedtape_task *task,
		const struct schedtape_run *run);
/* Adds the run for which the task waited when the tape ended.  @number: is set to its number. */
int history_waits(struct history *history, const struct schedtape_task *task,
		  const struct schedtape_run *run, uint64_t *number);
void history_free(struct history *history);

#endif /* SCHEDTAPE_WHY_HISTORY_H */
