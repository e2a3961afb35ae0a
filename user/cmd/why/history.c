// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each task and each CPU did lately, and when which cgroups were throttled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "common/idle-time.h"
#include "why/internal.h"

#define MOST_PLACES	65536		/* 256 cgroups on 256 CPUs */
#define MOST_BOUTS	(1U << 20)	/* 16 MB */
#define FIRST_ROOM	1024		/* spans */

/* -- throttled cgroups ----------------------------------------------------- */

static int compare_place(const struct throttles_place *place, uint64_t cgroup, uint32_t cpu)
{
	if (place->cgroup != cgroup)
		return place->cgroup < cgroup ? -1 : 1;
	return place->cpu < cpu ? -1 : place->cpu > cpu;
}

/* Returns the number of the first place that is not before that of a cgroup on a CPU. */
static size_t find_place(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu)
{
	size_t low = 0, high = throttles->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_place(&throttles->places[middle], cgroup, cpu) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_place(const struct throttles *throttles, size_t at, uint64_t cgroup, uint32_t cpu)
{
	return at < throttles->nr && !compare_place(&throttles->places[at], cgroup, cpu);
}

static void know_since(struct throttles *throttles, uint64_t time)
{
	if (time > throttles->known_since)
		throttles->known_since = time;
}

/* Returns the place of a cgroup on a CPU, and makes it if needed.  NULL: no memory. */
static struct throttles_place *get_place(struct throttles *throttles, uint64_t cgroup, uint32_t cpu)
{
	size_t at = find_place(throttles, cgroup, cpu);
	struct throttles_place *places;

	if (has_place(throttles, at, cgroup, cpu))
		return &throttles->places[at];
	places = schedtape_list_grow(throttles->places, throttles->nr, &throttles->room,
				     sizeof(*places));
	if (!places)
		return NULL;
	throttles->places = places;
	memmove(&places[at + 1], &places[at], (throttles->nr - at) * sizeof(*places));
	throttles->nr++;
	places[at] = (struct throttles_place){ .cgroup = cgroup, .cpu = cpu };
	return &places[at];
}

/* Forgets the older half of the bouts of each place. */
static void forget_bouts(struct throttles *throttles)
{
	struct throttles_place *place;
	size_t i, half;

	throttles->nr_bouts = 0;
	for (i = 0; i < throttles->nr; i++) {
		place = &throttles->places[i];
		half = (place->nr + 1) / 2;
		if (half)
			know_since(throttles, place->bouts[half - 1].end);
		place->nr -= half;
		memmove(place->bouts, place->bouts + half, place->nr * sizeof(*place->bouts));
		throttles->nr_bouts += place->nr;
	}
}

/* Returns since when a cgroup is throttled that has been since @place->since, or since a loss. */
static uint64_t since_when(const struct throttles *throttles, const struct throttles_place *place)
{
	return place->since > throttles->lost_until ? place->since : throttles->lost_until;
}

/*
 * The cgroup is throttled no longer, so it was until now.  Unless the tape has the begin, that is
 * before the tape's begin, or in or before the last loss.  If the kernel has not kept to an end
 * that it had begun, this is another one of the same bout.
 */
static int end_bout(struct throttles *throttles, struct throttles_place *place, uint64_t time)
{
	uint64_t since = since_when(throttles, place);
	struct bout *last = place->nr ? &place->bouts[place->nr - 1] : NULL, *bouts;

	if (!place->since && last && last->end >= throttles->lost_until) {
		last->end = time;
		return 0;
	}
	place->since = 0;
	bouts = schedtape_list_grow(place->bouts, place->nr, &place->room, sizeof(*bouts));
	if (!bouts)
		return -ENOMEM;
	place->bouts = bouts;
	bouts[place->nr++] = (struct bout){ since, time };
	if (++throttles->nr_bouts >= MOST_BOUTS)
		forget_bouts(throttles);
	return 0;
}

static void note_loss(struct throttles *throttles, const struct schedtape_event *ev)
{
	if (ev->lost_last > throttles->lost_until)
		throttles->lost_until = ev->lost_last;
	know_since(throttles, ev->lost_last);
}

int throttles_event(struct throttles *throttles, const struct schedtape_event *ev)
{
	struct throttles_place *place;

	if (schedtape_event_is_gap(ev))
		note_loss(throttles, ev);
	if (!schedtape_event_is_throttling(ev))
		return 0;
	if (throttles->nr == MOST_PLACES) {
		know_since(throttles, ev->time);
		return 0;
	}
	place = get_place(throttles, ev->cgroup, ev->task_cpu);
	if (!place)
		return -ENOMEM;
	if (ev->type == SCHEDTAPE_EV_UNTHROTTLE)
		return end_bout(throttles, place, ev->time);
	place->since = ev->time;
	return 0;
}

bool throttles_find(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		    uint64_t begin, uint64_t end, struct bout *bout)
{
	size_t at = find_place(throttles, cgroup, cpu), low = 0, high, middle;
	const struct throttles_place *place;

	if (!has_place(throttles, at, cgroup, cpu))
		return false;
	place = &throttles->places[at];
	high = place->nr;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (place->bouts[middle].begin < end)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || place->bouts[low - 1].end <= begin)
		return false;
	*bout = place->bouts[low - 1];
	return true;
}

bool throttles_lasts(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		     struct bout *bout)
{
	size_t at = find_place(throttles, cgroup, cpu);

	if (!has_place(throttles, at, cgroup, cpu) || !throttles->places[at].since)
		return false;
	*bout = (struct bout){ since_when(throttles, &throttles->places[at]), UINT64_MAX };
	return true;
}

bool throttles_has(const struct throttles *throttles, uint64_t cgroup)
{
	size_t at = find_place(throttles, cgroup, 0);

	return at < throttles->nr && throttles->places[at].cgroup == cgroup;
}

void throttles_free(struct throttles *throttles)
{
	size_t i;

	for (i = 0; i < throttles->nr; i++)
		free(throttles->places[i].bouts);
	free(throttles->places);
}

/* -- tasks and CPUs -------------------------------------------------------- */

struct history_task *history_task(struct history *history, uint32_t index)
{
	static const struct history_task unknown = {
		.last = SPAN_NONE, .waking = SPAN_NONE, .source = SPAN_NONE, .queue = SPAN_NONE,
	};
	struct history_task *tasks;

	tasks = schedtape_list_reach_with(history->tasks, index, &history->nr_tasks,
					  sizeof(*tasks), &unknown);
	if (!tasks)
		return NULL;
	history->tasks = tasks;
	return &tasks[index];
}

/* Returns a CPU, to be changed; NULL: no memory. */
static struct history_cpu *cpu_of(struct history *history, uint32_t cpu)
{
	static const struct history_cpu unknown = { .present = SPAN_NONE };
	struct history_cpu *cpus;

	cpus = schedtape_list_reach_with(history->cpus, cpu, &history->nr_cpus, sizeof(*cpus),
					 &unknown);
	if (!cpus)
		return NULL;
	history->cpus = cpus;
	return &cpus[cpu];
}

static struct span *get_span(struct history *history, uint64_t number)
{
	return (struct span *)history_get(history, number);
}

/* Adds a span, and returns it; NULL: no memory. */
static struct span *add_span(struct history *history, enum span_kind kind, uint32_t cpu,
			     uint64_t begin)
{
	uint64_t room = history->room ? 2 * history->room : FIRST_ROOM;
	struct span *span;

	if (!history->spans || (history->nr == history->room && room <= history->most)) {
		span = reallocarray(history->spans, room, sizeof(*span));
		if (!span)
			return NULL;
		history->spans = span;
		history->room = room;
	}
	span = &history->spans[history->nr++ & (history->room - 1)];
	*span = (struct span){
		.begin = begin, .end = SPAN_NONE,
		.before = SPAN_NONE, .on_cpu = SPAN_NONE, .source = SPAN_NONE, .queue = SPAN_NONE,
		.task = SCHEDTAPE_NONE, .cpu = cpu,
		.kind = kind, .left_state = SPAN_NO_STATE, .woke_in = SPAN_NO_STATE,
	};
	return span;
}

static void end_span(struct history *history, uint64_t number, uint64_t time)
{
	struct span *span = get_span(history, number);

	if (span && span->end == SPAN_NONE)
		span->end = time > span->begin ? time : span->begin;
}

/* The CPU does something else from now on.  Returns the new span; NULL: no memory. */
static struct span *go_on(struct history *history, enum span_kind kind, uint32_t cpu, uint64_t time)
{
	struct history_cpu *at = cpu_of(history, cpu);
	struct span *span;

	if (!at)
		return NULL;
	end_span(history, at->present, time);
	span = add_span(history, kind, cpu, time);
	if (!span)
		return NULL;
	span->on_cpu = at->present;
	at->present = history->nr - 1;
	return span;
}

static int go_on_without(struct history *history, enum span_kind kind, uint32_t cpu, uint64_t time)
{
	return go_on(history, kind, cpu, time) ? 0 : -ENOMEM;
}

/* Returns what a CPU does that runs no task of the tape. */
static enum span_kind kind_of(const struct history *history, unsigned int next)
{
	if (!history->recorded->knows_idle)
		return SPAN_UNKNOWN;
	return next == STAPE_NEXT_IDLE ? SPAN_IDLE : SPAN_OTHER;
}

static int lose(struct history *history, const struct schedtape_event *ev)
{
	struct span *span = go_on(history, SPAN_UNKNOWN, ev->cpu, ev->lost_first);

	if (!span)
		return -ENOMEM;
	span->end = ev->lost_last;
	return 0;
}

/*
 * What a CPU does at its first event, or the first one after a loss, it has done since the start or
 * the end of the loss.
 */
static int find_out(struct history *history, const struct schedtape_event *ev)
{
	const struct history_cpu *at = cpu_of(history, ev->cpu);
	const struct span *present;
	uint64_t since = 0;

	if (!at)
		return -ENOMEM;
	present = history_get(history, at->present);
	if (ev->curr || !history->recorded->knows_idle ||
	    (present && present->kind != SPAN_UNKNOWN))
		return 0;
	if (present)
		since = present->end < ev->time ? present->end : ev->time;
	return go_on_without(history, kind_of(history, ev->curr_kind), ev->cpu, since);
}

/* Begins another span, unless the CPU does that already. */
static int go_on_if(struct history *history, enum span_kind kind, uint32_t cpu, uint64_t time)
{
	struct span *present = get_span(history, history->cpus[cpu].present);

	if (present && present->kind == kind)
		return 0;
	/* It has not lasted yet. */
	if (present && present->begin == time && present->kind != SPAN_RUN) {
		present->kind = kind;
		return 0;
	}
	return go_on_without(history, kind, cpu, time);
}

/*
 * An event says what a CPU did that ran no task of the tape, since the span began, or since the
 * last such event.
 */
static int explain(struct history *history, const struct schedtape_event *ev)
{
	struct history_cpu *at = &history->cpus[ev->cpu];
	const struct span *present = history_get(history, at->present);
	struct idle_time time;
	enum span_kind kind;
	uint64_t from;

	if (!present || present->kind == SPAN_RUN || ev->idle.kind == STAPE_NEXT_TASK)
		return 0;
	from = at->explained > present->begin ? at->explained : present->begin;
	if (ev->time < from)
		return 0;
	at->explained = ev->time;
	time = idle_time_of(ev, from);
	if (!time.known || (time.idle && time.idle < time.since - from))
		kind = SPAN_UNKNOWN;
	else
		kind = time.idle ? SPAN_IDLE : SPAN_OTHER;
	if (time.since > from && go_on_if(history, kind, ev->cpu, from))
		return -ENOMEM;
	return go_on_if(history, ev->idle.kind == STAPE_IDLE_OFFLINE ? SPAN_UNKNOWN :
			kind_of(history, ev->idle.kind), ev->cpu, time.since);
}

/* Follows what CPUs do, but not runs of tasks: history_began() does that. */
int history_event(struct history *history, const struct schedtape_event *ev)
{
	if (ev->cpu == STAPE_CPU_NONE)
		return 0;
	if (throttles_event(&history->throttles, ev))
		return -ENOMEM;
	if (schedtape_event_is_gap(ev))
		return lose(history, ev);
	if (find_out(history, ev))
		return -ENOMEM;
	if (ev->type == SCHEDTAPE_EV_IDLE)
		return explain(history, ev);
	if (ev->type != STAPE_EV_SWITCH || ev->pid)
		return 0;
	return go_on_without(history, kind_of(history, schedtape_switch_next(ev)), ev->cpu,
			     ev->time);
}

/* A new task runs for the first time after its parent has woken it. */
int history_born(struct history *history, const struct schedtape_task *task,
		 const struct schedtape_task *parent)
{
	int rc = parent ? history_waking(history, parent, task) : 0;

	return rc ? rc : history_woke(history, task, parent);
}

/* When the wake-up succeeds, on the wakee's CPU, the waker may have left its own already. */
int history_waking(struct history *history, const struct schedtape_task *waker,
		   const struct schedtape_task *wakee)
{
	struct history_task *by = history_task(history, waker->index), *at;
	uint64_t run;

	if (!by)
		return -ENOMEM;
	run = by->last;
	at = history_task(history, wakee->index);
	if (!at)
		return -ENOMEM;
	at->waking = run;
	return 0;
}

int history_woke(struct history *history, const struct schedtape_task *task,
		 const struct schedtape_task *waker)
{
	struct history_task *at = history_task(history, task->index);

	if (!at)
		return -ENOMEM;
	at->source = waker ? at->waking : SPAN_NONE;
	at->queued_since = 0;
	return 0;
}

int history_queued(struct history *history, const struct schedtape_task *task, uint32_t cpu,
		   uint64_t time)
{
	struct history_task *at = history_task(history, task->index);
	struct history_cpu *on;
	struct span *span;

	if (!at)
		return -ENOMEM;
	if (at->queued_since && at->queued_cpu != cpu) {
		on = cpu_of(history, at->queued_cpu);
		span = on ? add_span(history, SPAN_QUEUED, at->queued_cpu, at->queued_since) : NULL;
		if (!span)
			return -ENOMEM;
		span->end = time;
		span->task = task->index;
		span->before = at->queue;
		span->on_cpu = on->present;
		at->queue = history->nr - 1;
	}
	if (at->queued_since && at->queued_cpu == cpu)
		return 0;
	at->queued_since = time;
	at->queued_cpu = cpu;
	return 0;
}

/* Fills the span of a run with what was before it. */
static void fill(struct span *span, struct history_task *at, const struct schedtape_task *task,
		 const struct schedtape_run *run)
{
	span->task = task->index;
	span->left = run->left;
	span->woke = run->woke;
	span->left_syscall = run->left_syscall;
	span->before = at->last;
	span->queue = at->queue;
	span->source = run->woke && run->waker != SCHEDTAPE_NONE ? at->source : SPAN_NONE;
	if (run->left)
		span->left_state = run->left_state;
	if (run->woke_in != SCHEDTAPE_NONE)
		span->woke_in = run->woke_in;
	at->cgroup = task->cgroup;
	span->policy = task->policy;
}

int history_began(struct history *history, const struct schedtape_task *task,
		  const struct schedtape_run *run)
{
	struct history_task *at = history_task(history, task->index);
	struct span *span;

	if (!at)
		return -ENOMEM;
	span = go_on(history, SPAN_RUN, run->cpu, run->begin);
	if (!span)
		return -ENOMEM;
	fill(span, at, task, run);
	at->last = history->nr - 1;
	at->source = SPAN_NONE;
	at->queue = SPAN_NONE;
	at->queued_since = 0;
	return 0;
}

int history_waits(struct history *history, const struct schedtape_task *task,
		  const struct schedtape_run *run, uint64_t *number)
{
	struct history_task *at = history_task(history, task->index);
	struct history_cpu *on;
	struct span *span;

	if (!at)
		return -ENOMEM;
	on = at->queued_since ? cpu_of(history, at->queued_cpu) : NULL;
	if (at->queued_since && !on)
		return -ENOMEM;
	span = add_span(history, SPAN_RUN, on ? at->queued_cpu : SCHEDTAPE_NONE, run->begin);
	if (!span)
		return -ENOMEM;
	if (on)
		span->on_cpu = on->present;
	span->lasts = true;
	fill(span, at, task, run);
	*number = history->nr - 1;
	return 0;
}

int history_ran(struct history *history, const struct schedtape_task *task,
		const struct schedtape_run *run)
{
	struct history_task *at = history_task(history, task->index);
	const struct history_cpu *on = cpu_of(history, run->cpu);

	if (!at || !on)
		return -ENOMEM;
	end_span(history, at->last, run->end);
	if (run->state == STAPE_STATE_RUNNING) {
		at->queued_since = run->end;
		at->queued_cpu = run->cpu;
	}
	if (run->state == SCHEDTAPE_NONE && on->present == at->last)
		return go_on_without(history, SPAN_UNKNOWN, run->cpu, run->end);
	return 0;
}

void history_free(struct history *history)
{
	free(history->spans);
	free(history->tasks);
	free(history->cpus);
	throttles_free(&history->throttles);
}
