// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tape as a trace of Perfetto: what its events say, and what the timeline makes of them.
 */
#include <errno.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "common/idle-time.h"
#include "common/input.h"
#include "export/trace.h"
#include "tape/meta.h"
#include "timeline/timeline.h"

#define EVENTS		4096	/* between two looks at signals and the output */
#define CLOCKS_APART	1000000	/* ns between the readings of two clocks, at most */

/* -- what is put off until the timeline knows it --------------------------- */

static void put_waking(struct trace *trace, const struct schedtape_task *wakee, uint32_t cpu,
		       uint64_t time, uint32_t by, unsigned int flags)
{
	struct trace_task *seen = trace_find_task(trace, wakee->index);
	struct named_task named;

	if (!seen || !trace_selects(trace, wakee))
		return;
	seen->waking = true;
	seen->waking_time = time;
	if (trace->off)
		return;
	trace_describe(trace, wakee, false);
	trace_name_task(&named, wakee);
	packets_waking(trace->packets, cpu, time, by, flags, &named.task);
}

/* Writes the waking of the last event. */
static void write_waking(struct trace *trace)
{
	const struct schedtape_event *ev = &trace->ev;
	struct trace_lane *lane = trace_find_lane(trace, ev->cpu);
	unsigned int flags = 0;
	struct named_task by;
	uint32_t index;

	index = schedtape_tasks_get(&trace->timeline->set, ev->pid);
	if (!lane || index >= trace->timeline->set.nr)
		return;
	if (ev->arg == STAPE_CTX_HARDIRQ)
		flags = PACKETS_HARDIRQ;
	else if (ev->arg == STAPE_CTX_SOFTIRQ)
		flags = PACKETS_SOFTIRQ;
	lanes_name(trace, &by, ev->cpu);
	put_waking(trace, trace_task_at(trace, index), ev->cpu, ev->time, by.task.tid, flags);
}

static void write_end(struct trace *trace)
{
	const struct schedtape_task *task = trace_task_at(trace, trace->ended);
	struct trace_task *seen = &trace->tasks[trace->ended];
	struct named_task named;

	trace_name_task(&named, task);
	packets_end(trace->packets, seen->cpu, task->end, &named.task);
	seen->seen = SEEN_NOTHING;
	trace->ended = SCHEDTAPE_NONE;
}

/* States of tasks from before this time are in doubt. */
static void doubt(struct trace *trace, uint64_t time)
{
	uint32_t cpu;

	for (cpu = 0; cpu < trace->nr_lanes; cpu++) {
		if (trace->lanes[cpu].kind == LANE_TASK || trace->off)
			continue;
		if (time > trace->lanes[cpu].time)
			trace->lanes[cpu].time = time;
		lanes_forget_all(trace, cpu, trace->lanes[cpu].kind, trace->lanes[cpu].time);
		return;
	}
}

/* Writes what was put off during the last event. */
static void settle(struct trace *trace)
{
	if (trace->leaving != NO_CPU)
		lanes_change(trace, trace->leaving, trace->ev.time, LANE_UNKNOWN, NULL);
	trace->leaving = NO_CPU;
	if (trace->ended != SCHEDTAPE_NONE)
		write_end(trace);
	if (trace->gap != NO_CPU)
		lanes_forget_all(trace, trace->gap, LANE_UNKNOWN, trace->lanes[trace->gap].time);
	else if (trace->timeline->loss_end > trace->loss_end)
		doubt(trace, trace->ev.time);
	trace->loss_end = trace->timeline->loss_end;
	trace->gap = NO_CPU;
	if (trace->woken)
		write_waking(trace);
	trace->woken = false;
}

/* -- events ---------------------------------------------------------------- */

static enum lane_kind lane_kind_of(unsigned int kind)
{
	return kind == STAPE_NEXT_OTHER ? LANE_OTHER : LANE_IDLE;
}

/* Events of a CPU are missing.  Its task leaves in ran(), which comes next. */
static void on_gap(struct trace *trace, const struct schedtape_event *ev)
{
	struct trace_lane *lane = trace_find_lane(trace, ev->cpu);

	if (!lane)
		return;
	tracks_gap(trace, ev);
	if (lane->kind != LANE_TASK)
		lanes_change(trace, ev->cpu, ev->lost_first, LANE_UNKNOWN, NULL);
	lane->since = ev->lost_last;
	if (ev->lost_last > trace->losses_end)
		trace->losses_end = ev->lost_last;
	if (!trace->off)
		trace->gap = ev->cpu;
}

/* The tape says what a CPU does that runs no task of it, and since when. */
static void on_idle(struct trace *trace, const struct schedtape_event *ev)
{
	struct trace_lane *lane = trace_find_lane(trace, ev->cpu);

	if (lane && lane->kind != LANE_TASK && ev->idle.kind != STAPE_NEXT_TASK)
		lanes_change(trace, ev->cpu, ev->idle.since, lane_kind_of(ev->idle.kind), NULL);
}

/* An event shows what a CPU has run since no switch is missing. */
static void resume(struct trace *trace, const struct schedtape_event *ev)
{
	struct trace_lane *lane = trace_find_lane(trace, ev->cpu);

	if (lane && lane->kind == LANE_UNKNOWN && !ev->curr)
		lanes_change(trace, ev->cpu, lane->since, lane_kind_of(ev->curr_kind), NULL);
}

/* Writes the clocks, as they were up to a time. */
static void pass_clocks(struct trace *trace, uint64_t time)
{
	const struct stape_clock_sample *samples, *at;
	size_t n;

	samples = schedtape_tape_clocks(trace->export->tape, &n);
	for (; trace->clock < n && (!trace->clock || samples[trace->clock].mono <= time);
	     trace->clock++) {
		at = &samples[trace->clock];
		if (trace->clock)
			trace->slept += schedtape_clock_sleep(at - 1, at);
		else if (at->boot > at->mono + CLOCKS_APART)
			trace->slept = at->boot - at->mono;
		packets_clocks(trace->packets, at, trace->slept);
	}
}

static int look(struct trace *trace, uint64_t time)
{
	int rc = packets_failed(trace->packets);

	return rc ? rc : export_reached(trace->export, time);
}

static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct trace *trace = arg;

	settle(trace);
	if (!(trace->events++ % EVENTS) && !trace->rc)
		trace->rc = look(trace, ev->time);
	if (!trace->rc)
		trace->rc = worst_event(trace->worst, ev);
	if (trace->rc)
		return trace->rc;
	pass_clocks(trace, ev->time);
	/* A task may have gone to a CPU while that lost events. */
	if (trace->losses_end && trace->losses_end <= ev->time) {
		doubt(trace, trace->losses_end);
		trace->losses_end = 0;
	}
	lanes_pass(trace, ev->time);
	tracks_samples(trace, ev->time);
	trace->ev = *ev;
	if (ev->cpu == STAPE_CPU_NONE && schedtape_event_is_gap(ev))
		tracks_gap(trace, ev);
	else if (ev->type == SCHEDTAPE_EV_INTERVAL)
		tracks_interval(trace, ev);
	/* The timeline refuses impossible CPUs, with a message. */
	if (ev->cpu >= TIMELINE_MAX_CPUS || !trace_selects_cpu(trace, ev->cpu))
		return 0;
	if (schedtape_event_is_gap(ev))
		on_gap(trace, ev);
	else if (ev->type == SCHEDTAPE_EV_IDLE)
		on_idle(trace, ev);
	else
		resume(trace, ev);
	trace->woken = ev->type == STAPE_EV_WAKING;
	return trace->rc;
}

/* -- tasks ----------------------------------------------------------------- */

static int on_born(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *parent, uint64_t time)
{
	struct trace *trace = arg;
	struct trace_task *seen = trace_find_task(trace, task->index), *from;
	struct named_task named;

	trace->rc = worst_born(trace->worst, task, parent, time);
	from = seen && parent ? trace_find_task(trace, parent->index) : NULL;
	if (!from || trace->off || !trace_selects(trace, task))
		return trace->rc;
	if (trace_selects(trace, parent))
		trace_describe(trace, parent, false);
	trace_name_task(&named, task);
	packets_fork(trace->packets, from->cpu, time, trace_selects(trace, parent) ? parent->pid :
		     lanes_own(trace, from->cpu, LANE_OTHER), &named.task, task->thread);
	trace->tasks[task->index].described = true;
	trace->tasks[task->index].seen = SEEN_STATE;
	trace->tasks[task->index].cpu = from->cpu;
	trace->export->any = true;
	return trace->rc;
}

static int on_identified(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;

	(void)time;
	trace_describe(trace, task, true);
	return trace->rc;
}

static int on_renamed(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;
	struct trace_task *seen = trace_find_task(trace, task->index);
	struct named_task named;

	if (!seen || !seen->described)
		return trace->rc;
	if (seen->seen == SEEN_RUNS && !trace_selects(trace, task))
		lanes_change(trace, seen->cpu, time, LANE_OTHER, NULL);
	else if (!trace_selects(trace, task))
		lanes_forget_one(trace, task, seen->cpu, time);
	if (!trace->off && trace_selects(trace, task)) {
		trace_name_task(&named, task);
		packets_rename(trace->packets, seen->cpu, time, &named.task);
	}
	return trace->rc;
}

static int on_waking(void *arg, const struct schedtape_task *waker,
		     const struct schedtape_task *wakee, uint64_t ticket, uint64_t time)
{
	struct trace *trace = arg;

	return worst_waking(trace->worst, waker, wakee, ticket, time);
}

static int on_queued(void *arg, const struct schedtape_task *task, uint32_t cpu, uint64_t time)
{
	struct trace *trace = arg;

	return worst_queued(trace->worst, task, cpu, time);
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct trace *trace = arg;
	struct trace_task *seen = trace_find_task(trace, task->index);
	unsigned int type = trace->ev.type;

	trace->rc = worst_woke(trace->worst, task, waker, ticket, time);
	/* Its waking is lost. */
	if (seen && !seen->waking && (type == STAPE_EV_WAKEUP || type == STAPE_EV_WAKEUP_NEW) &&
	    trace_find_lane(trace, trace->ev.cpu))
		put_waking(trace, task, trace->ev.cpu, time,
			   lanes_own(trace, trace->ev.cpu, LANE_UNKNOWN), 0);
	return trace->rc;
}

static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct trace *trace = arg;
	struct trace_task *seen = trace_find_task(trace, task->index);

	if (!seen)
		return trace->rc;
	trace->rc = worst_began(trace->worst, task, run);
	if (!trace_selects_cpu(trace, run->cpu)) {
		lanes_forget_one(trace, task, run->cpu, run->begin);
	} else if (trace_selects(trace, task)) {
		lanes_change(trace, run->cpu, run->begin, LANE_TASK, task);
		if (!trace->off && run->woke && run->waker != SCHEDTAPE_NONE)
			tracks_arrow(trace, task, run);
	} else {
		lanes_change(trace, run->cpu, run->begin, LANE_OTHER, NULL);
	}
	if (trace->leaving == run->cpu)
		trace->leaving = NO_CPU;
	trace->tasks[task->index].waking = false;
	return trace->rc;
}

static int on_waited(void *arg, const struct schedtape_task *task, uint64_t delay, uint64_t time)
{
	struct trace *trace = arg;

	if (trace_selects(trace, task) && trace_selects_time(trace, time))
		tracks_delay(trace, task, delay, time);
	return trace->rc;
}

/* Returns the state as ftrace has it. */
static unsigned int trace_state(uint32_t state)
{
	static const unsigned int states[] = {
		[STAPE_STATE_RUNNING] = PACKETS_RUNNABLE, [STAPE_STATE_SLEEPING] = 0x01,
		[STAPE_STATE_BLOCKED] = 0x02, [STAPE_STATE_STOPPED] = 0x04,
		[STAPE_STATE_TRACED] = 0x08, [STAPE_STATE_DEAD] = 0x10,
		[STAPE_STATE_PARKED] = 0x40, [STAPE_STATE_IDLE] = 0x80,
	};

	return state < sizeof(states) / sizeof(*states) ? states[state] : PACKETS_UNKNOWN;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct trace *trace = arg;
	const struct schedtape_event *ev = &trace->ev;
	struct trace_lane *lane = trace_find_lane(trace, run->cpu);
	bool known;

	trace->rc = worst_ran(trace->worst, task, run);
	if (!lane || lane->kind != LANE_TASK || lane->task != task->index)
		return trace->rc;
	lane->leaves = true;
	lane->state = trace_state(run->state);
	known = ev->type == STAPE_EV_SWITCH && ev->cpu == run->cpu && ev->time == run->end;
	if (!known)
		lanes_change(trace, run->cpu, run->end, LANE_UNKNOWN, NULL);
	else if (schedtape_switch_next(ev) != STAPE_NEXT_TASK)
		lanes_change(trace, run->cpu, run->end, lane_kind_of(schedtape_switch_next(ev)),
			     NULL);
	else
		trace->leaving = run->cpu;
	return trace->rc;
}

static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct trace *trace = arg;

	return worst_waits(trace->worst, task, run);
}

static int on_left(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;
	struct trace_task *seen = trace_find_task(trace, task->index);

	if (seen)
		lanes_forget_one(trace, task, seen->cpu, time);
	return trace->rc;
}

static int on_exited(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;

	(void)time;
	if (!trace_find_task(trace, task->index) || !trace_selects(trace, task))
		return trace->rc;
	if (trace->ended != SCHEDTAPE_NONE)
		write_end(trace);
	if (!trace->off)
		trace_describe(trace, task, false);
	if (trace->tasks[task->index].described)
		trace->ended = task->index;
	return trace->rc;
}

/* A task that has had no event is at least there. */
static int on_ended(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;

	(void)time;
	if (!trace->off && trace_selects(trace, task))
		trace_describe(trace, task, false);
	return trace->rc;
}

/* -- the run through the tape ---------------------------------------------- */

static void write_before_wait(void *arg)
{
	struct trace *trace = arg;

	packets_flush(trace->packets);
}

static const char *meta_text(struct schedtape_tape *tape, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(tape_meta(tape), key, &value) ?
	       json_object_get_string(value) : NULL;
}

static void begin(struct trace *trace)
{
	struct schedtape_tape *tape = trace->export->tape;
	char release[128], machine[128];
	const char *text = meta_text(tape, "release");

	if (text)
		packets_system(trace->packets, text_safe(release, sizeof(release), text),
			       text_safe(machine, sizeof(machine), meta_text(tape, "arch") ?
					 meta_text(tape, "arch") : ""));
	trace->off = trace->export->selection->times.nr;
	pass_clocks(trace, trace->export->start);
	schedtape_tape_before_wait(tape, write_before_wait, trace);
}

int export_perfetto(struct export *export, struct schedtape_error *err)
{
	const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.no_edges = true,
		.event = on_event,
		.born = on_born,
		.identified = on_identified,
		.renamed = on_renamed,
		.waking = on_waking,
		.woke = on_woke,
		.queued = on_queued,
		.waited = on_waited,
		.began = on_began,
		.ran = on_ran,
		.waits = on_waits,
		.left = on_left,
		.exited = on_exited,
		.ended = on_ended,
	};
	struct trace trace = {
		.export = export, .leaving = NO_CPU, .gap = NO_CPU, .ended = SCHEDTAPE_NONE,
	};
	int rc = -ENOMEM;

	trace.packets = packets_new(export->to);
	if (export->worst)
		trace.worst = worst_new(export);
	if (trace.packets && (trace.worst || !export->worst)) {
		begin(&trace);
		/* After a message, a trace without samples is better than none. */
		samples_begin(&trace.samples, export->tape, export->path);
		rc = schedtape_timeline_run(export->tape, &ops, &trace, &trace.timeline, err);
	}
	if (!rc) {
		cmd_warn_damage(trace.timeline);
		settle(&trace);
		tracks_samples(&trace, UINT64_MAX);
		tracks_waits(&trace);
		rc = trace.rc;
		schedtape_timeline_free(trace.timeline);
	}
	if (!rc)
		rc = packets_flush(trace.packets);
	samples_end(&trace.samples);
	worst_free(trace.worst);
	packets_free(trace.packets);
	free(trace.lanes);
	free(trace.tasks);
	return rc;
}
