// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tape as a trace of Perfetto.
 *
 * The viewer finds the states of a thread by itself: it runs from a switch to the next one of its
 * CPU, and then is in the state that this one has, until it is woken or runs.  So the trace has to
 * say what the tape does not show.  A CPU that runs no task of the tape runs a thread of our own:
 * "other", or "unknown" where events are missing.  A task that leaves unseen gets no state; and so
 * do all tasks that have no CPU when events are lost, see forget().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/list.h"
#include "base/text.h"
#include "common/idle-time.h"
#include "common/input.h"
#include "common/output.h"
#include "common/samples.h"
#include "export/internal.h"
#include "export/packets.h"
#include "tape/meta.h"
#include "timeline/timeline.h"

/* PIDs are lower. */
#define OWN_PID		(STAPE_PID_MASK + 1)
#define OWN_NAME	"not recorded"

#define NO_CPU		UINT32_MAX
#define EVENTS		4096	/* between two looks at signals and the output */
#define TEXT_ROOM	8192	/* of all texts of a sample */

/* Numbers of tracks: those of each task begin with its own. */
#define TRACK_FIRST	1
#define TRACKS		4	/* of a task */
#define TRACK_DELAY	1	/* behind its own: its delays */
/* Those of each CPU, and of the descriptions, which belong to none. */
#define TRACK_CPUS	(1ULL << 62)
#define TRACK_LOSSES	(1ULL << 61)	/* and it is of its losses */

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
 * @waking: it has a waking since it ran last
 * @cpu: where it ran last
 * @waking_time: of that waking
 */
struct trace_task {
	uint8_t seen;
	bool described;
	bool track;
	bool delays;
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
 * @woken: the event is a waking that is to be written
 * @off: the present time is not selected
 * @range: the next part of the time that begins or, unless @off, ends
 * @clock: the next sample of the clocks
 * @flows: number of arrows
 * @descriptions: the track of losses of descriptions was described
 * @samples: of other tracepoints
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
	bool woken;
	bool off;
	size_t range;
	size_t clock;
	uint64_t flows;
	bool descriptions;
	struct samples samples;
	int rc;
};

static int no_memory(struct trace *trace)
{
	trace->rc = -ENOMEM;
	return -ENOMEM;
}

/* -- tasks and CPUs -------------------------------------------------------- */

/* Returns a task of the trace, NULL: no memory. */
static struct trace_task *task_of(struct trace *trace, uint32_t index)
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

/* Returns a CPU, NULL: no memory. */
static struct trace_lane *lane_of(struct trace *trace, uint32_t cpu)
{
	struct trace_lane *lanes;
	size_t i, before = trace->nr_lanes;

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

static const struct schedtape_task *timeline_at(const struct trace *trace, uint32_t index)
{
	size_t n;

	return &schedtape_timeline_tasks(trace->timeline, &n)[index];
}

/* A task as the trace has it, with its name. */
struct named_task {
	struct packets_task task;
	char comm[TEXT_NAME_LEN];
};

static void name_task(struct named_task *named, const struct schedtape_task *task)
{
	named->task = (struct packets_task){
		.tid = task->pid,
		.comm = text_name(named->comm, task->comm),
		.has_prio = task->prio_known,
		.prio = identities_prio(task->policy, task->nice, task->rt_priority),
	};
}

/* Describes a task before it is named for the first time, or again when more is known. */
static void describe(struct trace *trace, const struct schedtape_task *task, bool again)
{
	const struct schedtape_task *leader = schedtape_task_at(task, task->process);
	struct trace_task *seen = task_of(trace, task->index);
	char comm[TEXT_NAME_LEN];
	struct named_task named;

	if (!seen || seen->described != again)
		return;
	seen->described = true;
	trace->export->any = true;
	name_task(&named, task);
	packets_process(trace->packets, trace->ev.time, &named.task, task->tgid,
			leader->pid == task->tgid && *leader->comm ?
			text_name(comm, leader->comm) : NULL, task->ppid);
}

static bool selects(const struct trace *trace, const struct schedtape_task *task)
{
	const struct selection *selection = trace->export->selection;

	return !selection_of_tasks(selection) || selection_has_timeline_task(selection, task);
}

static bool selects_time(const struct trace *trace, uint64_t time)
{
	return selection_has_time(trace->export->selection, time);
}

static bool selects_cpu(const struct trace *trace, uint32_t cpu)
{
	return selection_has_cpu(trace->export->selection, cpu);
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

/* -- switches -------------------------------------------------------------- */

/* Sets what a CPU runs up to now. */
static void name_lane(struct trace *trace, struct named_task *named, uint32_t cpu)
{
	struct trace_lane *lane = &trace->lanes[cpu];

	if (lane->kind != LANE_TASK) {
		name_own(trace, named, cpu, lane->kind);
		return;
	}
	describe(trace, timeline_at(trace, lane->task), false);
	name_task(named, timeline_at(trace, lane->task));
	named->task.tid = lane->tid;
}

/* Writes that a CPU changes from what it runs to a task, or to what else it runs. */
static void put_change(struct trace *trace, uint32_t cpu, uint64_t time, unsigned int state,
		       enum lane_kind kind, const struct schedtape_task *task)
{
	struct named_task prev, next;

	name_lane(trace, &prev, cpu);
	if (kind == LANE_TASK) {
		describe(trace, task, false);
		name_task(&next, task);
	} else {
		name_own(trace, &next, cpu, kind);
	}
	packets_switch(trace->packets, cpu, time, &prev.task, state, &next.task);
}

/* Takes a CPU's task away. */
static void leave(struct trace *trace, const struct trace_lane *lane, uint32_t cpu,
		  unsigned int state)
{
	struct trace_task *seen = task_of(trace, lane->task);

	if (!seen)
		return;
	seen->seen = state == PACKETS_UNKNOWN ? SEEN_NOTHING : SEEN_STATE;
	seen->cpu = cpu;
}

/* A CPU runs something else from now on.  @task: with LANE_TASK */
static void change(struct trace *trace, uint32_t cpu, uint64_t time, enum lane_kind kind,
		   const struct schedtape_task *task)
{
	struct trace_lane *lane = lane_of(trace, cpu);
	struct trace_task *seen = kind == LANE_TASK ? task_of(trace, task->index) : NULL;
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
	struct trace_task *seen = task_of(trace, index);
	struct named_task own, named;

	if (!seen || seen->seen != SEEN_STATE)
		return;
	seen->seen = SEEN_NOTHING;
	name_own(trace, &own, cpu, kind);
	name_task(&named, timeline_at(trace, index));
	packets_switch(trace->packets, cpu, time, &own.task, PACKETS_RUNNABLE, &named.task);
	packets_switch(trace->packets, cpu, time, &named.task, PACKETS_UNKNOWN, &own.task);
}

static void forget_all(struct trace *trace, uint32_t cpu, enum lane_kind kind, uint64_t time)
{
	size_t i;

	for (i = 0; i < trace->nr_tasks; i++)
		forget(trace, i, cpu, kind, time);
}

/* Of a task that goes on where the trace does not show it: on this CPU, unless it runs a task. */
static void forget_one(struct trace *trace, const struct schedtape_task *task, uint32_t cpu,
		       uint64_t time)
{
	struct trace_lane *lane = lane_of(trace, cpu);

	if (!lane || lane->kind == LANE_TASK || trace->off)
		return;
	if (time > lane->time)
		lane->time = time;
	forget(trace, task->index, cpu, lane->kind, lane->time);
}

/* -- what is put off until the timeline knows it --------------------------- */

static void put_waking(struct trace *trace, const struct schedtape_task *wakee, uint32_t cpu,
		       uint64_t time, uint32_t by, unsigned int flags)
{
	struct trace_task *seen = task_of(trace, wakee->index);
	struct named_task named;

	if (!seen || !selects(trace, wakee))
		return;
	seen->waking = true;
	seen->waking_time = time;
	if (trace->off)
		return;
	describe(trace, wakee, false);
	name_task(&named, wakee);
	packets_waking(trace->packets, cpu, time, by, flags, &named.task);
}

/* Writes the waking of the last event. */
static void write_waking(struct trace *trace)
{
	const struct schedtape_event *ev = &trace->ev;
	struct trace_lane *lane = lane_of(trace, ev->cpu);
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
	name_lane(trace, &by, ev->cpu);
	put_waking(trace, timeline_at(trace, index), ev->cpu, ev->time, by.task.tid, flags);
}

static void write_end(struct trace *trace)
{
	const struct schedtape_task *task = timeline_at(trace, trace->ended);
	struct trace_task *seen = &trace->tasks[trace->ended];
	struct named_task named;

	name_task(&named, task);
	packets_end(trace->packets, seen->cpu, task->end, &named.task);
	seen->seen = SEEN_NOTHING;
	trace->ended = SCHEDTAPE_NONE;
}

/* Writes what was put off during the last event. */
static void settle(struct trace *trace)
{
	if (trace->leaving != NO_CPU)
		change(trace, trace->leaving, trace->ev.time, LANE_UNKNOWN, NULL);
	trace->leaving = NO_CPU;
	if (trace->ended != SCHEDTAPE_NONE)
		write_end(trace);
	if (trace->gap != NO_CPU)
		forget_all(trace, trace->gap, LANE_UNKNOWN, trace->lanes[trace->gap].time);
	trace->gap = NO_CPU;
	if (trace->woken)
		write_waking(trace);
	trace->woken = false;
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
	name_lane(trace, &next, cpu);
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
	forget_all(trace, cpu, LANE_UNKNOWN, time);
	if (lane->kind == LANE_TASK)
		trace->tasks[lane->task].seen = SEEN_NOTHING;
}

/* Passes the begins and ends of selected parts up to a time. */
static void pass(struct trace *trace, uint64_t time)
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

/* -- tracks ---------------------------------------------------------------- */

/* Returns the number of a task's own track, which is described before. */
static uint64_t track_of(struct trace *trace, const struct schedtape_task *task)
{
	uint64_t track = TRACK_FIRST + (uint64_t)task->index * TRACKS;
	struct trace_task *seen = task_of(trace, task->index);
	struct named_task named;

	if (!seen || seen->track)
		return track;
	seen->track = true;
	name_task(&named, task);
	packets_thread_track(trace->packets, track, &named.task, task->tgid);
	return track;
}

/*
 * Writes an arrow from the task that woke another one to the wait of this one, which ends now.
 * Only now is it known that the tape shows all of the wait.
 */
static void put_arrow(struct trace *trace, const struct schedtape_task *task,
		      const struct schedtape_run *run)
{
	const struct schedtape_task *waker = schedtape_task_at(task, run->waker);
	struct trace_task *seen = task_of(trace, task->index);
	char name[TEXT_TASK_LEN], text[TEXT_TASK_LEN + 16];
	struct packets_event event = { .name = text };

	if (!seen || !selects(trace, waker) || !selects_time(trace, run->woke))
		return;
	snprintf(text, sizeof(text), "wakes %s", text_task(name, task->comm, task->pid));
	event.track = track_of(trace, waker);
	event.time = seen->waking && seen->waking_time < run->woke ? seen->waking_time : run->woke;
	event.flow = ++trace->flows;
	packets_instant(trace->packets, &event);
	snprintf(text, sizeof(text), "woken by %s", text_task(name, waker->comm, waker->pid));
	event.track = track_of(trace, task);
	event.time = run->woke;
	event.flow_end = event.flow;
	event.flow = 0;
	packets_slice(trace->packets, &event, run->begin);
}

/* Writes how long a task has waited for the CPU that it gets now. */
static void put_delay(struct trace *trace, const struct schedtape_task *task, uint64_t delay,
		      uint64_t time)
{
	uint64_t track = track_of(trace, task) + TRACK_DELAY;
	struct trace_task *seen = task_of(trace, task->index);

	if (!seen)
		return;
	if (!seen->delays)
		packets_counter_track(trace->packets, track, track - TRACK_DELAY, "delay");
	seen->delays = true;
	packets_counter(trace->packets, track, time, delay);
}

/* Returns the number of a CPU's track, which is described before. */
static uint64_t cpu_track(struct trace *trace, uint32_t cpu, bool losses)
{
	uint64_t track = TRACK_CPUS | (losses ? TRACK_LOSSES : 0) | cpu;
	struct trace_lane *lane = cpu == STAPE_CPU_NONE ? NULL : lane_of(trace, cpu);
	bool *described = &trace->descriptions;
	char name[64] = "events lost: descriptions of tasks";

	if (lane)
		described = losses ? &lane->losses : &lane->events;
	if (*described)
		return track;
	*described = true;
	if (lane)
		snprintf(name, sizeof(name), "%s: CPU %u", losses ? "events lost" : "other events",
			 cpu);
	packets_track(trace->packets, track, 0, name);
	return track;
}

/* Writes that events are missing. */
static void put_gap(struct trace *trace, const struct schedtape_event *ev)
{
	char count[OUT_COUNT_LEN], name[OUT_COUNT_LEN + 16];
	struct packets_event event = { .time = ev->lost_first, .name = name };

	if (!selection_overlaps(trace->export->selection, ev->lost_first, ev->lost_last))
		return;
	if (ev->type == SCHEDTAPE_EV_PAUSED)
		event.name = "paused";
	else if (ev->lost)
		snprintf(name, sizeof(name), "%s events lost", out_count(count, ev->lost));
	else
		event.name = "events lost";
	event.track = cpu_track(trace, ev->cpu, true);
	packets_slice(trace->packets, &event, ev->lost_last);
}

/* -- other tracepoints ----------------------------------------------------- */

/* Sets what a value is, with its text in @room.  Returns the bytes of that. */
static size_t note_value(struct packets_note *note, const struct schedtape_field *field,
			 const struct schedtape_value *value, char *room, size_t size)
{
	size_t i, n = 0;

	*note = (struct packets_note){
		.key = field->name, .number = value->number, .is_signed = field->is_signed,
	};
	if (field->kind == SCHEDTAPE_FIELD_NUMBER)
		return 0;
	*room = '\0';
	note->text = room;
	if (field->kind == SCHEDTAPE_FIELD_TEXT)
		n = snprintf(room, size, "%.*s", (int)value->n, value->text);
	for (i = 0; field->kind == SCHEDTAPE_FIELD_NUMBERS && i < value->n && n < size; i++)
		n += snprintf(room + n, size - n, field->is_signed ? "%s%" PRId64 : "%s%" PRIu64,
			      i ? " " : "", value->numbers[i]);
	text_safe(room, size, room);
	return strlen(room) + 1;
}

/* Sets the fields of a sample.  Returns their number. */
static size_t note_sample(struct trace *trace, struct packets_note *notes, size_t most,
			  char *room, size_t size)
{
	const struct schedtape_sample *sample = &trace->samples.next;
	struct schedtape_decoder *decoder = trace->samples.decoder;
	const struct schedtape_tracepoint *point;
	const struct schedtape_value *values;
	size_t used, nr;
	int i, n;

	notes[0] = (struct packets_note){ .key = "cpu", .number = sample->cpu };
	n = schedtape_decoder_values(decoder, sample, &values);
	if (n < 0) {
		notes[1] = (struct packets_note){
			.key = "data", .text = schedtape_decoder_text(decoder, sample),
		};
		return 2;
	}
	point = schedtape_decoder_find(decoder, sample);
	for (i = 0, nr = 1; i < n && nr < most && size > 1; i++, nr++) {
		used = note_value(&notes[nr], &point->fields[i], &values[i], room, size);
		room += used;
		size -= used;
	}
	return nr;
}

/* Returns the task of a sample; NULL: none, or it is not known. */
static const struct schedtape_task *sampled_task(const struct trace *trace, uint32_t tid)
{
	uint32_t index;

	if (!tid || tid > STAPE_PID_MASK)
		return NULL;
	index = schedtape_tasks_get(&trace->timeline->set, tid);
	return index < trace->timeline->set.nr ? timeline_at(trace, index) : NULL;
}

/* Writes the next sample, on the track of its task, or of its CPU. */
static void put_sample(struct trace *trace)
{
	const struct schedtape_sample *sample = &trace->samples.next;
	const struct schedtape_task *task = sampled_task(trace, sample->tid);
	struct packets_note notes[PACKETS_NOTES];
	struct packets_event event = {
		.time = sample->time, .name = samples_name(&trace->samples), .notes = notes,
	};
	char room[TEXT_ROOM];

	if (task ? !selects(trace, task) : selection_of_tasks(trace->export->selection))
		return;
	event.track = task ? track_of(trace, task) : cpu_track(trace, sample->cpu, false);
	event.nr_notes = note_sample(trace, notes, PACKETS_NOTES, room, sizeof(room));
	packets_instant(trace->packets, &event);
	trace->export->any = true;
}

static void put_sample_loss(struct trace *trace)
{
	const struct schedtape_sample *sample = &trace->samples.next;
	char count[OUT_COUNT_LEN], name[OUT_COUNT_LEN + 48];
	struct packets_event event = { .time = sample->time, .name = name };

	snprintf(name, sizeof(name), "%s events of other tracepoints lost",
		 out_count(count, sample->lost));
	event.track = cpu_track(trace, sample->cpu, true);
	packets_instant(trace->packets, &event);
}

/* Writes the samples up to a time.  On one CPU, what a task does comes before it leaves. */
static void pass_samples(struct trace *trace, uint64_t time)
{
	const struct schedtape_sample *next = &trace->samples.next;

	while (!trace->rc && trace->samples.any && next->time <= time) {
		if (selects_time(trace, next->time) && selects_cpu(trace, next->cpu)) {
			if (next->lost)
				put_sample_loss(trace);
			if (next->bytes)
				put_sample(trace);
		}
		trace->rc = samples_advance(&trace->samples);
	}
}

/* -- events ---------------------------------------------------------------- */

static enum lane_kind lane_kind_of(unsigned int kind)
{
	return kind == STAPE_NEXT_OTHER ? LANE_OTHER : LANE_IDLE;
}

/* Events of a CPU are missing.  Its task leaves in ran(), which comes next. */
static void on_gap(struct trace *trace, const struct schedtape_event *ev)
{
	struct trace_lane *lane = lane_of(trace, ev->cpu);

	if (!lane)
		return;
	put_gap(trace, ev);
	if (lane->kind != LANE_TASK)
		change(trace, ev->cpu, ev->lost_first, LANE_UNKNOWN, NULL);
	lane->since = ev->lost_last;
	if (!trace->off)
		trace->gap = ev->cpu;
}

/* The tape says what a CPU does that runs no task of it, and since when. */
static void on_idle(struct trace *trace, const struct schedtape_event *ev)
{
	struct trace_lane *lane = lane_of(trace, ev->cpu);

	if (lane && lane->kind != LANE_TASK && ev->idle.kind != STAPE_NEXT_TASK)
		change(trace, ev->cpu, ev->idle.since, lane_kind_of(ev->idle.kind), NULL);
}

/* An event shows what a CPU has run since no switch is missing. */
static void resume(struct trace *trace, const struct schedtape_event *ev)
{
	struct trace_lane *lane = lane_of(trace, ev->cpu);

	if (lane && lane->kind == LANE_UNKNOWN && !ev->curr)
		change(trace, ev->cpu, lane->since, lane_kind_of(ev->curr_kind), NULL);
}

/* Writes the clocks, as they were up to a time. */
static void pass_clocks(struct trace *trace, uint64_t time)
{
	const struct stape_clock_sample *samples;
	size_t n;

	samples = schedtape_tape_clocks(trace->export->tape, &n);
	for (; trace->clock < n && (!trace->clock || samples[trace->clock].mono <= time);
	     trace->clock++)
		packets_clocks(trace->packets, &samples[trace->clock]);
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
	if (trace->rc)
		return trace->rc;
	pass_clocks(trace, ev->time);
	pass(trace, ev->time);
	pass_samples(trace, ev->time);
	trace->ev = *ev;
	if (ev->cpu == STAPE_CPU_NONE && schedtape_event_is_gap(ev))
		put_gap(trace, ev);
	if (ev->cpu == STAPE_CPU_NONE || !selects_cpu(trace, ev->cpu))
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
	struct trace_task *seen = task_of(trace, task->index), *from;
	struct named_task named;

	from = seen && parent ? task_of(trace, parent->index) : NULL;
	if (!from || trace->off || !selects(trace, task))
		return trace->rc;
	if (selects(trace, parent))
		describe(trace, parent, false);
	name_task(&named, task);
	packets_fork(trace->packets, from->cpu, time, selects(trace, parent) ? parent->pid :
		     own_tid(from->cpu, LANE_OTHER), &named.task, task->thread);
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
	describe(trace, task, true);
	return trace->rc;
}

static int on_renamed(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;
	struct trace_task *seen = task_of(trace, task->index);
	struct named_task named;

	if (!seen || !seen->described)
		return trace->rc;
	if (seen->seen == SEEN_RUNS && !selects(trace, task))
		change(trace, seen->cpu, time, LANE_OTHER, NULL);
	else if (!selects(trace, task))
		forget_one(trace, task, seen->cpu, time);
	if (!trace->off && selects(trace, task)) {
		name_task(&named, task);
		packets_rename(trace->packets, seen->cpu, time, &named.task);
	}
	return trace->rc;
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct trace *trace = arg;
	struct trace_task *seen = task_of(trace, task->index);
	unsigned int type = trace->ev.type;

	(void)waker;
	(void)ticket;
	/* Its waking is lost. */
	if (seen && !seen->waking && (type == STAPE_EV_WAKEUP || type == STAPE_EV_WAKEUP_NEW) &&
	    lane_of(trace, trace->ev.cpu))
		put_waking(trace, task, trace->ev.cpu, time,
			   own_tid(trace->ev.cpu, LANE_UNKNOWN), 0);
	return trace->rc;
}

static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct trace *trace = arg;
	struct trace_task *seen = task_of(trace, task->index);

	if (!seen)
		return trace->rc;
	if (!selects_cpu(trace, run->cpu)) {
		forget_one(trace, task, run->cpu, run->begin);
	} else if (selects(trace, task)) {
		change(trace, run->cpu, run->begin, LANE_TASK, task);
		if (!trace->off && run->woke && run->waker != SCHEDTAPE_NONE)
			put_arrow(trace, task, run);
	} else {
		change(trace, run->cpu, run->begin, LANE_OTHER, NULL);
	}
	if (trace->leaving == run->cpu)
		trace->leaving = NO_CPU;
	trace->tasks[task->index].waking = false;
	return trace->rc;
}

static int on_waited(void *arg, const struct schedtape_task *task, uint64_t delay, uint64_t time)
{
	struct trace *trace = arg;

	if (selects(trace, task) && selects_time(trace, time))
		put_delay(trace, task, delay, time);
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
	struct trace_lane *lane = lane_of(trace, run->cpu);
	bool known;

	if (!lane || lane->kind != LANE_TASK || lane->task != task->index)
		return trace->rc;
	lane->leaves = true;
	lane->state = trace_state(run->state);
	known = ev->type == STAPE_EV_SWITCH && ev->cpu == run->cpu && ev->time == run->end;
	if (!known)
		change(trace, run->cpu, run->end, LANE_UNKNOWN, NULL);
	else if (schedtape_switch_next(ev) != STAPE_NEXT_TASK)
		change(trace, run->cpu, run->end, lane_kind_of(schedtape_switch_next(ev)), NULL);
	else
		trace->leaving = run->cpu;
	return trace->rc;
}

static int on_left(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;
	struct trace_task *seen = task_of(trace, task->index);

	if (seen)
		forget_one(trace, task, seen->cpu, time);
	return trace->rc;
}

static int on_exited(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;

	(void)time;
	if (!task_of(trace, task->index) || !selects(trace, task))
		return trace->rc;
	if (trace->ended != SCHEDTAPE_NONE)
		write_end(trace);
	if (!trace->off)
		describe(trace, task, false);
	if (trace->tasks[task->index].described)
		trace->ended = task->index;
	return trace->rc;
}

/* A task that has had no event is at least there. */
static int on_ended(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct trace *trace = arg;

	(void)time;
	if (!trace->off && selects(trace, task))
		describe(trace, task, false);
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
		.woke = on_woke,
		.waited = on_waited,
		.began = on_began,
		.ran = on_ran,
		.left = on_left,
		.exited = on_exited,
		.ended = on_ended,
	};
	struct trace trace = {
		.export = export, .leaving = NO_CPU, .gap = NO_CPU, .ended = SCHEDTAPE_NONE,
	};
	int rc;

	trace.packets = packets_new(export->to);
	if (!trace.packets)
		return -ENOMEM;
	begin(&trace);
	/* After a message, a trace without samples is better than none. */
	samples_begin(&trace.samples, export->tape, export->path);
	rc = schedtape_timeline_run(export->tape, &ops, &trace, &trace.timeline, err);
	if (!rc) {
		cmd_warn_damage(trace.timeline);
		settle(&trace);
		pass_samples(&trace, UINT64_MAX);
		rc = trace.rc;
		schedtape_timeline_free(trace.timeline);
	}
	if (!rc)
		rc = packets_flush(trace.packets);
	samples_end(&trace.samples);
	packets_free(trace.packets);
	free(trace.lanes);
	free(trace.tasks);
	return rc;
}
