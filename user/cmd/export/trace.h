/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of Perfetto that is being written.
 *
 * The viewer finds the states of a thread by itself: it runs from a switch to the next one of its
 * CPU, and then is in the state that this one has, until it is woken or runs.  So the trace has to
 * say what the tape does not show.  A CPU that runs no task of the tape runs a thread of our own:
 * "other", or "unknown" where events are missing.  A task that leaves unseen gets no state; and so
 * do all tasks that have no CPU when events are lost.
 */
#ifndef SCHEDTAPE_EXPORT_TRACE_H
#define SCHEDTAPE_EXPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtape.h>

#include "base/text.h"
#include "common/samples.h"
#include "common/selection.h"
#include "export/internal.h"
#include "export/packets.h"

#define NO_CPU		UINT32_MAX

/* What a CPU runs. */
enum lane_kind {
	LANE_UNKNOWN,
	LANE_IDLE,
	LANE_OTHER,
	LANE_TASK,
};

/**
 * struct trace_lane - a CPU
 * @kind: enum lane_kind
 * @task: index of the task that it runs
 * @tid: by which it was switched in
 * @since: no switch is missing from then on, until @time, if it is later
 * @time: of its last switch
 * @leaves: the task has left in @state, and what follows is not known yet
 * @named: bits of kinds of which the thread was described
 * @events, @losses: its tracks were described
 */
struct trace_lane {
	enum lane_kind kind;
	uint32_t task;
	uint32_t tid;
	uint64_t since;
	uint64_t time;
	bool leaves;
	bool events;
	bool losses;
	unsigned int state;
	unsigned int named;
};

/* What the trace says of a task. */
enum seen {
	SEEN_NOTHING,
	SEEN_RUNS,
	SEEN_STATE,
};

/**
 * struct trace_task - a task, by its index
 * @seen: enum seen
 * @described: the trace has its name and its process
 * @track: it has its own track
 * @delays: and one of its delays
 * @worst: and one of its worst waits
 * @waking: it has a waking since it ran last
 * @cpu: where it ran last
 * @waking_time: of that waking
 */
struct trace_task {
	uint8_t seen;
	bool described;
	bool track;
	bool delays;
	bool worst;
	bool waking;
	uint32_t cpu;
	uint64_t waking_time;
};

/**
 * struct trace - a trace that is being written
 * @ev: the present event; what the timeline makes of it comes after it
 * @events: their number
 * @leaving: the CPU whose task has left, NO_CPU: none
 * @ended: index of the task that has ended, SCHEDTAPE_NONE: none
 * @gap: the CPU of a loss whose effects on tasks are to be written, NO_CPU: none
 * @losses_end: when the losses so far end, if states of tasks are to be ended then; 0: not
 * @loss_end: as the timeline had it
 * @woken: the event is a waking that is to be written
 * @off: the present time is not selected
 * @range: the next part of the time that begins or, unless @off, ends
 * @clock: the next sample of the clocks
 * @slept: for how long the machine has slept since it booted
 * @flows: number of arrows
 * @descriptions: the track of losses of descriptions was described
 * @intervals: the track of intervals was described
 * @samples: of other tracepoints
 * @worst: the worst waits, NULL: not wanted
 */
struct trace {
	struct export *export;
	struct packets *packets;
	struct schedtape_timeline *timeline;
	struct trace_lane *lanes;
	size_t nr_lanes;
	struct trace_task *tasks;
	size_t nr_tasks;
	struct schedtape_event ev;
	uint64_t events;
	uint32_t leaving;
	uint32_t ended;
	uint32_t gap;
	uint64_t losses_end;
	uint64_t loss_end;
	bool woken;
	bool off;
	size_t range;
	size_t clock;
	uint64_t slept;
	uint64_t flows;
	bool descriptions;
	bool intervals;
	struct samples samples;
	struct worst *worst;
	int rc;
};

/* -- lanes.c --------------------------------------------------------------- */

/* A failure is in @rc of the trace. */

/* A task as the trace has it, with its name. */
struct named_task {
	struct packets_task task;
	char comm[TEXT_NAME_LEN];
};

/* Returns a task of the trace, or NULL without memory. */
struct trace_task *trace_find_task(struct trace *trace, uint32_t index);
/* Returns a CPU, or NULL without memory. */
struct trace_lane *trace_find_lane(struct trace *trace, uint32_t cpu);
/* Returns a task of the timeline. */
const struct schedtape_task *trace_task_at(const struct trace *trace, uint32_t index);
void trace_name_task(struct named_task *named, const struct schedtape_task *task);
/* Describes a task before it is named for the first time, or @again when more is known. */
void trace_describe(struct trace *trace, const struct schedtape_task *task, bool again);
bool trace_selects(const struct trace *trace, const struct schedtape_task *task);

static inline bool trace_selects_time(const struct trace *trace, uint64_t time)
{
	return selection_has_time(trace->export->selection, time);
}

static inline bool trace_selects_cpu(const struct trace *trace, uint32_t cpu)
{
	return selection_has_cpu(trace->export->selection, cpu);
}

/*
 * Returns the PID of the thread that stands for what a CPU runs, if that is no task of the tape,
 * after describing the thread.
 */
uint32_t lanes_own(struct trace *trace, uint32_t cpu, enum lane_kind kind);
/* Sets what a CPU runs up to now. */
void lanes_name(struct trace *trace, struct named_task *named, uint32_t cpu);
/* A CPU runs something else from now on.  @task: with LANE_TASK */
void lanes_change(struct trace *trace, uint32_t cpu, uint64_t time, enum lane_kind kind,
		  const struct schedtape_task *task);
/* Ends the states of all tasks without a CPU, on one that runs no task, but what @kind says. */
void lanes_forget_all(struct trace *trace, uint32_t cpu, enum lane_kind kind, uint64_t time);
/* Ends that of a task which goes on unseen, on this CPU, unless it runs a task. */
void lanes_forget_one(struct trace *trace, const struct schedtape_task *task, uint32_t cpu,
		      uint64_t time);
/* Passes the begins and ends of selected parts of the time. */
void lanes_pass(struct trace *trace, uint64_t time);

/* -- tracks.c -------------------------------------------------------------- */

/* Returns the number of a task's own track, which is described before. */
uint64_t tracks_find(struct trace *trace, const struct schedtape_task *task);
/*
 * Writes an arrow from the task that woke another one to the wait of this one, which ends now.
 * Only now is it known that the tape shows all of the wait.
 */
void tracks_arrow(struct trace *trace, const struct schedtape_task *task,
		  const struct schedtape_run *run);
/* Writes how long a task has waited for the CPU that it gets now. */
void tracks_delay(struct trace *trace, const struct schedtape_task *task, uint64_t delay,
		  uint64_t time);
/* Writes that events are missing. */
void tracks_gap(struct trace *trace, const struct schedtape_event *ev);
/* Writes that an interval ends. */
void tracks_interval(struct trace *trace, const struct schedtape_event *ev);
/* Writes the samples up to a time.  On one CPU, what a task does comes before it leaves. */
void tracks_samples(struct trace *trace, uint64_t time);
/* Writes the worst waits, when the whole tape has been read. */
void tracks_waits(struct trace *trace);

#endif /* SCHEDTAPE_EXPORT_TRACE_H */
