// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each CPU runs, and the states of tasks that follow from it.
 */
#include <errno.h>

#include "base/list.h"
#include "export/trace.h"
#include "timeline/timeline.h"

/* PIDs are lower. */
#define OWN_PID		(STAPE_PID_MASK + 1)
#define OWN_NAME	"not recorded"

static int no_memory(struct trace *trace)
{
	trace->rc = -ENOMEM;
	return -ENOMEM;
}

/* -- tasks and CPUs -------------------------------------------------------- */

struct trace_task *trace_find_task(struct trace *trace, uint32_t index)
{
	struct trace_task *tasks;

	tasks = schedtape_list_reach(trace->tasks, index, &trace->nr_tasks, sizeof(*tasks));
	if (!tasks) {
		no_memory(trace);
		return NULL;
	}
	trace->tasks = tasks;
	return &tasks[index];
}

struct trace_lane *trace_find_lane(struct trace *trace, uint32_t cpu)
{
	struct trace_lane *lanes;
	size_t i, before = trace->nr_lanes;

	/* The timeline says that it is corrupt, but a sample may have any number. */
	if (cpu >= TIMELINE_MAX_CPUS) {
		trace->rc = -EBADMSG;
		return NULL;
	}
	lanes = schedtape_list_reach(trace->lanes, cpu, &trace->nr_lanes, sizeof(*lanes));
	if (!lanes) {
		no_memory(trace);
		return NULL;
	}
	trace->lanes = lanes;
	for (i = before; i < trace->nr_lanes; i++)
		lanes[i] = (struct trace_lane){
			.since = trace->export->start, .time = trace->export->start,
		};
	return &lanes[cpu];
}

const struct schedtape_task *trace_task_at(const struct trace *trace, uint32_t index)
{
	size_t n;

	return &schedtape_timeline_tasks(trace->timeline, &n)[index];
}

void trace_name_task(struct named_task *named, const struct schedtape_task *task)
{
	named->task = (struct packets_task){
		.tid = task->pid,
		.comm = text_name(named->comm, task->comm),
		.has_prio = task->prio_known,
		.prio = identities_prio(task->policy, task->nice, task->rt_priority),
	};
}

void trace_describe(struct trace *trace, const struct schedtape_task *task, bool again)
{
	const struct schedtape_task *leader = schedtape_task_at(task, task->process);
	struct trace_task *seen = trace_find_task(trace, task->index);
	char comm[TEXT_NAME_LEN];
	struct named_task named;

	if (!seen || seen->described != again)
		return;
	seen->described = true;
	trace->export->any = true;
	trace_name_task(&named, task);
	packets_process(trace->packets, trace->ev.time, &named.task, task->tgid,
			leader->pid == task->tgid && *leader->comm ?
			text_name(comm, leader->comm) : NULL, task->ppid);
}

bool trace_selects(const struct trace *trace, const struct schedtape_task *task)
{
	const struct selection *selection = trace->export->selection;

	return !selection_of_tasks(selection) || selection_has_timeline_task(selection, task);
}

/* Returns the PID of the thread that stands for what a CPU runs, if that is no task of the tape. */
static uint32_t own_tid(uint32_t cpu, enum lane_kind kind)
{
	return kind == LANE_IDLE ? 0 : OWN_PID + 1 + 2 * cpu + (kind == LANE_OTHER);
}

/* Sets what a CPU runs instead of a task of the tape, after describing it. */
static void name_own(struct trace *trace, struct named_task *named, uint32_t cpu,
		     enum lane_kind kind)
{
	struct trace_lane *lane = &trace->lanes[cpu];

	snprintf(named->comm, sizeof(named->comm), "%s/%u", kind == LANE_IDLE ? "swapper" :
		 kind == LANE_OTHER ? "other" : "unknown", cpu);
	named->task = (struct packets_task){ own_tid(cpu, kind), named->comm, false, 0 };
	if (kind == LANE_IDLE || lane->named & 1 << kind)
		return;
	lane->named |= 1 << kind;
	packets_process(trace->packets, trace->ev.time, &named->task, OWN_PID, OWN_NAME, 0);
}

uint32_t lanes_own(struct trace *trace, uint32_t cpu, enum lane_kind kind)
{
	struct named_task named;

	if (!trace_find_lane(trace, cpu))
		return 0;
	name_own(trace, &named, cpu, kind);
	return named.task.tid;
}

/* -- switches -------------------------------------------------------------- */

void lanes_name(struct trace *trace, struct named_task *named, uint32_t cpu)
{
	struct trace_lane *lane = &trace->lanes[cpu];

	if (lane->kind != LANE_TASK) {
		name_own(trace, named, cpu, lane->kind);
		return;
	}
	trace_describe(trace, trace_task_at(trace, lane->task), false);
	trace_name_task(named, trace_task_at(trace, lane->task));
	named->task.tid = lane->tid;
}

/* Writes that a CPU changes from what it runs to a task, or to what else it runs. */
static void put_change(struct trace *trace, uint32_t cpu, uint64_t time, unsigned int state,
		       enum lane_kind kind, const struct schedtape_task *task)
{
	struct named_task prev, next;

	lanes_name(trace, &prev, cpu);
	if (kind == LANE_TASK) {
		trace_describe(trace, task, false);
		trace_name_task(&next, task);
	} else {
		name_own(trace, &next, cpu, kind);
	}
	packets_switch(trace->packets, cpu, time, &prev.task, state, &next.task);
}

/* Takes a CPU's task away. */
static void leave(struct trace *trace, const struct trace_lane *lane, uint32_t cpu,
		  unsigned int state)
{
	struct trace_task *seen = trace_find_task(trace, lane->task);

	if (!seen)
		return;
	seen->seen = state == PACKETS_UNKNOWN ? SEEN_NOTHING : SEEN_STATE;
	seen->cpu = cpu;
}

void lanes_change(struct trace *trace, uint32_t cpu, uint64_t time, enum lane_kind kind,
		  const struct schedtape_task *task)
{
	struct trace_lane *lane = trace_find_lane(trace, cpu);
	struct trace_task *seen = kind == LANE_TASK ? trace_find_task(trace, task->index) : NULL;
	unsigned int state = PACKETS_RUNNABLE;

	if (!lane || (kind == LANE_TASK && !seen) || (kind != LANE_TASK && kind == lane->kind))
		return;
	if (time < lane->time)
		time = lane->time;
	if (lane->kind == LANE_TASK)
		state = lane->leaves ? lane->state : PACKETS_UNKNOWN;
	if (!trace->off)
		put_change(trace, cpu, time, state, kind, task);
	if (lane->kind == LANE_TASK)
		leave(trace, lane, cpu, state);
	lane->kind = kind;
	lane->time = time;
	lane->leaves = false;
	if (kind != LANE_TASK)
		return;
	lane->task = task->index;
	lane->tid = task->pid;
	seen->cpu = cpu;
	seen->seen = trace->off ? SEEN_NOTHING : SEEN_RUNS;
}

/*
 * Ends the state of a task that has no CPU, because the tape no longer shows it.  Only a task that
 * leaves a CPU can do so without a state.  So it is on a CPU for no time at all: on one that runs
 * no task, but what @kind says.
 */
static void forget(struct trace *trace, uint32_t index, uint32_t cpu, enum lane_kind kind,
		   uint64_t time)
{
	struct trace_task *seen = trace_find_task(trace, index);
	struct named_task own, named;

	if (!seen || seen->seen != SEEN_STATE)
		return;
	seen->seen = SEEN_NOTHING;
	name_own(trace, &own, cpu, kind);
	trace_name_task(&named, trace_task_at(trace, index));
	packets_switch(trace->packets, cpu, time, &own.task, PACKETS_RUNNABLE, &named.task);
	packets_switch(trace->packets, cpu, time, &named.task, PACKETS_UNKNOWN, &own.task);
}

void lanes_forget_all(struct trace *trace, uint32_t cpu, enum lane_kind kind, uint64_t time)
{
	size_t i;

	for (i = 0; i < trace->nr_tasks; i++)
		forget(trace, i, cpu, kind, time);
}

void lanes_forget_one(struct trace *trace, const struct schedtape_task *task, uint32_t cpu,
		      uint64_t time)
{
	struct trace_lane *lane = trace_find_lane(trace, cpu);

	if (!lane || lane->kind == LANE_TASK || trace->off)
		return;
	if (time > lane->time)
		lane->time = time;
	forget(trace, task->index, cpu, lane->kind, lane->time);
}

/* -- parts of the time ----------------------------------------------------- */

/* At the begin of a part a CPU runs what it runs. */
static void turn_on(struct trace *trace, uint32_t cpu, uint64_t time)
{
	struct trace_lane *lane = &trace->lanes[cpu];
	struct named_task prev, next;

	if (lane->kind == LANE_UNKNOWN)
		return;
	name_own(trace, &prev, cpu, LANE_UNKNOWN);
	lanes_name(trace, &next, cpu);
	packets_switch(trace->packets, cpu, time, &prev.task, PACKETS_RUNNABLE, &next.task);
	lane->time = time;
	if (lane->kind == LANE_TASK)
		trace->tasks[lane->task].seen = SEEN_RUNS;
}

/* At its end, that is not known. */
static void turn_off(struct trace *trace, uint32_t cpu, uint64_t time)
{
	struct trace_lane *lane = &trace->lanes[cpu];

	if (lane->kind == LANE_UNKNOWN)
		return;
	put_change(trace, cpu, time, PACKETS_UNKNOWN, LANE_UNKNOWN, NULL);
	lanes_forget_all(trace, cpu, LANE_UNKNOWN, time);
	if (lane->kind == LANE_TASK)
		trace->tasks[lane->task].seen = SEEN_NOTHING;
}

void lanes_pass(struct trace *trace, uint64_t time)
{
	const struct time_ranges *times = &trace->export->selection->times;
	const struct time_range *range;
	uint64_t edge;
	uint32_t cpu;

	while (trace->range < times->nr) {
		range = &times->ranges[trace->range];
		edge = trace->off ? range->start : range->stop;
		if (time < edge)
			return;
		for (cpu = 0; cpu < trace->nr_lanes; cpu++)
			if (trace->off)
				turn_on(trace, cpu, edge);
			else
				turn_off(trace, cpu, edge);
		trace->range += !trace->off;
		trace->off = !trace->off;
	}
}
