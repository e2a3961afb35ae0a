/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of the timeline: timeline.c reads the events, births.c finds the task of each PID,
 * task-info.c adds what descriptions of tasks say, and states.c follows each task's states.
 */
#ifndef SCHEDTAPE_TIMELINE_H
#define SCHEDTAPE_TIMELINE_H

#include "timeline/edges.h"
#include "timeline/tasks.h"

/**
 * struct lane - one CPU
 * @task: the task that runs there, or SCHEDTAPE_NONE
 * @ghost: a task that was seen to start elsewhere, or to go out of the filter,
 *	before it was seen to leave here: the switch that is still to come is
 *	not to be believed
 * @since: while @blind: from when on nothing can have been switched
 * @last: time of the last event
 * @blind: at the start and after a loss or pause, until an event tells who runs
 * @used: there was an event
 */
struct lane {
	uint32_t task;
	uint32_t ghost;
	uint64_t since;
	uint64_t last;
	bool blind;
	bool used;
};

/**
 * struct schedtape_timeline - a run through a tape, and what came of it
 * @start: when recording began
 * @loss_end: end of the latest loss or pause on any CPU: what a task did before
 *	then and has not shown since may be over
 * @described: how many of the tape's descriptions of tasks have been taken
 * @ticket: the last one given out
 * @pauses: of all CPUs, put together
 * @marked: how many of the marks have come
 * @damage: what the first damaged page is like, "" if none is
 * @rc: the first failure, of an operation or of the timeline
 * @ops: to be told, with @arg
 * @err: for a failure of the timeline, may be NULL
 */
struct schedtape_timeline {
	struct schedtape_tasks set;
	struct schedtape_edges edges;
	struct lane *lanes;
	uint32_t nr_lanes;
	uint64_t start;
	uint64_t loss_end;
	size_t described;
	uint64_t ticket;
	struct schedtape_range *pauses;
	size_t nr_pauses;
	size_t marked;
	struct schedtape_error damage;
	int rc;
	const struct schedtape_timeline_ops *ops;
	void *arg;
	struct schedtape_error *err;
};

static inline struct schedtape_task *timeline_task(struct schedtape_timeline *tl, uint32_t index)
{
	return &tl->set.tasks[index];
}

static inline struct schedtape_track *timeline_track(struct schedtape_timeline *tl, uint32_t index)
{
	return &tl->set.tracks[index];
}

/* Remembers the first failure, in words unless an operation has its own. */
static inline void timeline_fail(struct schedtape_timeline *tl, int rc, const char *text)
{
	if (!tl->rc)
		tl->rc = schedtape_fail(tl->err, rc, "%s", text);
}

/*
 * A task is made a little before its fork is recorded; so much later than that
 * it is another one, whatever clocks differ by.
 */
#define START_TIME_SLACK	1000000

/* Calls an operation, unless one has failed. */
#define timeline_tell(tl, op, ...)						\
	do {									\
		if (!(tl)->rc && (tl)->ops->op)					\
			(tl)->rc = (tl)->ops->op((tl)->arg, __VA_ARGS__);	\
	} while (0)

/* lanes.c; NULL with @rc set: no such CPU, or no memory. */
struct lane *timeline_lane(struct schedtape_timeline *tl, uint32_t cpu);

/* births.c; SCHEDTAPE_NONE with @rc set: no memory. */
uint32_t timeline_find(struct schedtape_timeline *tl, uint32_t pid, uint64_t time);
uint32_t timeline_birth(struct schedtape_timeline *tl, const struct schedtape_task_info *who,
			const struct schedtape_task_info *source, bool joined, uint64_t time);
void timeline_fork(struct schedtape_timeline *tl, uint32_t pid, uint32_t parent,
		   bool thread, uint64_t time);
void timeline_take_over(struct schedtape_timeline *tl, uint32_t index, uint32_t pid,
			uint64_t time);
void timeline_set_group(struct schedtape_timeline *tl, uint32_t index, uint32_t tgid,
			uint64_t time);
void timeline_vacate(struct schedtape_timeline *tl, uint32_t index, uint64_t time);

/* task-info.c */
void timeline_describe(struct schedtape_timeline *tl, uint64_t before, uint64_t latest);
void timeline_task_event(struct schedtape_timeline *tl, const struct schedtape_event *ev);
void timeline_rename(struct schedtape_timeline *tl, uint32_t index, const char *comm,
		     uint64_t time);
void timeline_setprio(struct schedtape_timeline *tl, const struct schedtape_event *ev);
void timeline_setaffinity(struct schedtape_timeline *tl, uint32_t index,
			  const unsigned char *affinity, uint64_t time);

/* states.c */

void timeline_count(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_run(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t since,
		  uint64_t time);
void timeline_leave(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
		    uint64_t time);
void timeline_lose(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_go(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_come(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_described_as(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
			   uint64_t time);
void timeline_wakeup(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_end(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_mark(struct schedtape_timeline *tl, uint64_t time);
void timeline_finish(struct schedtape_timeline *tl, uint64_t time);

#endif /* SCHEDTAPE_TIMELINE_H */
