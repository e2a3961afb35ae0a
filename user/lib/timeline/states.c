// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What happens to one life: it runs, leaves, sleeps, is woken, ends.
 *
 * The stream is trusted more than what was concluded from it before: after a
 * loss a life may turn up anywhere.  Two things hold whatever comes: a life runs
 * on at most one CPU at a time, and woke() follows slept().
 */
#include <errno.h>

#include "timeline/timeline.h"

/* Brings the CPU time of a running life up to date. */
void timeline_count(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);

	if (track->state != LIFE_RUNNING || time <= track->since)
		return;
	timeline_life(tl, index)->cpu_time += time - track->since;
	track->since = time;
}

/* Takes a running life off its CPU. */
static void off_cpu(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct lane *lane = &tl->lanes[track->cpu];

	timeline_count(tl, index, time);
	if (lane->life == index)
		lane->life = SCHEDTAPE_NONE;
}

static void set_state(struct schedtape_timeline *tl, uint32_t index, enum life_state state,
		      uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);

	track->state = state;
	track->since = time;
}

static void end_burst(struct schedtape_timeline *tl, uint32_t index)
{
	struct schedtape_track *track = timeline_track(tl, index);

	if (track->burst)
		timeline_life(tl, index)->bursts++;
	track->burst = false;
}

static void fall_asleep(struct schedtape_timeline *tl, uint32_t index, enum life_state state,
			uint64_t time)
{
	end_burst(tl, index);
	set_state(tl, index, state, time);
	timeline_tell(tl, slept, timeline_life(tl, index), time);
}

static void wake(struct schedtape_timeline *tl, uint32_t index, uint32_t waker, uint64_t ticket,
		 uint64_t time)
{
	struct schedtape_life *life = timeline_life(tl, index);

	set_state(tl, index, LIFE_RUNNABLE, time);
	life->wakeups++;
	if (waker != SCHEDTAPE_NONE) {
		life->wakeups_by_task++;
		if (!tl->ops->no_edges && schedtape_edges_add(&tl->edges, waker, index))
			timeline_fail(tl, -ENOMEM, "not enough memory for who woke whom");
		timeline_count(tl, waker, time);
	}
	timeline_tell(tl, woke, life,
		      waker == SCHEDTAPE_NONE ? NULL : timeline_life(tl, waker), ticket, time);
}

/* Nothing has shown since the last loss that it is still in its state. */
static bool is_doubtful(struct schedtape_timeline *tl, const struct schedtape_track *track)
{
	return track->since < tl->loss_end;
}

static void count_latency(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct schedtape_life *life = timeline_life(tl, index);
	uint64_t latency = time > track->since ? time - track->since : 0;

	/* It may have run and waited again where events were lost. */
	if (is_doubtful(tl, track))
		return;
	life->latencies++;
	life->latency_total += latency;
	if (latency > life->latency_max || life->latencies == 1) {
		life->latency_max = latency;
		life->latency_max_time = time;
	}
	timeline_tell(tl, waited, life, latency, time);
}

/**
 * timeline_run() - a life gets a CPU
 * @tl: the timeline
 * @index: the life
 * @cpu: where; what ran there has left
 * @since: when it began to run
 * @time: when that shows: the same, or later after a loss
 */
void timeline_run(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t since,
		  uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);

	switch (track->state) {
	case LIFE_RUNNING:
		/* Its departure there is lost, or the clocks of two CPUs differ a little. */
		tl->lanes[track->cpu].ghost = index;
		off_cpu(tl, index, since);
		break;
	case LIFE_RUNNABLE:
		count_latency(tl, index, since);
		break;
	case LIFE_ASLEEP:
	case LIFE_STOPPED:
		/*
		 * Its wake-up is lost; or there was none: the kernel says that
		 * a task sleeps when a signal kept it from doing so.
		 */
		wake(tl, index, SCHEDTAPE_NONE, 0, time);
		break;
	case LIFE_AWAY:
		timeline_come(tl, index, time);
		break;
	}
	set_state(tl, index, LIFE_RUNNING, since);
	track->cpu = cpu;
	track->burst = true;
	tl->lanes[cpu].life = index;
}

/**
 * timeline_leave() - a running life is switched out
 * @tl: the timeline
 * @index: the life
 * @state: enum stape_state that it leaves in
 * @time: when
 */
void timeline_leave(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
		    uint64_t time)
{
	struct schedtape_life *life = timeline_life(tl, index);

	off_cpu(tl, index, time);
	if (state != STAPE_STATE_RUNNING && state != STAPE_STATE_DEAD)
		life->slept_as = state;
	switch (state) {
	case STAPE_STATE_RUNNING:
		life->preemptions++;
		set_state(tl, index, LIFE_RUNNABLE, time);
		break;
	case STAPE_STATE_STOPPED:
	case STAPE_STATE_TRACED:
	case STAPE_STATE_PARKED:
		life->stops++;
		fall_asleep(tl, index, LIFE_STOPPED, time);
		break;
	case STAPE_STATE_DEAD:
		timeline_end(tl, index, time);
		break;
	default:
		life->sleeps++;
		fall_asleep(tl, index, LIFE_ASLEEP, time);
		break;
	}
}

/* Events of its CPU are lost from @time on. */
void timeline_lose(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	off_cpu(tl, index, time);
	set_state(tl, index, LIFE_LOST, time);
}

/* The filter has it no longer, though its CPU's stream may still say that it runs. */
void timeline_go(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct schedtape_life *life = timeline_life(tl, index);

	if (track->state == LIFE_DEAD || track->state == LIFE_AWAY)
		return;
	if (track->state == LIFE_RUNNING) {
		off_cpu(tl, index, time);
		tl->lanes[track->cpu].ghost = index;
	}
	end_burst(tl, index);
	set_state(tl, index, LIFE_AWAY, time);
	life->left = true;
	life->end = time;
	timeline_tell(tl, left, life, time);
}

/* The filter has it again. */
void timeline_come(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct schedtape_life *life = timeline_life(tl, index);
	struct lane *lane = track->cpu < tl->nr_lanes ? &tl->lanes[track->cpu] : NULL;

	if (track->state != LIFE_AWAY)
		return;
	/* It may have run all the time: if so, its CPU's next event tells. */
	if (lane && lane->ghost == index) {
		lane->ghost = SCHEDTAPE_NONE;
		lane->blind = true;
		lane->since = time;
	}
	set_state(tl, index, LIFE_LOST, time);
	life->left = false;
	timeline_tell(tl, joined, life, time);
}

/* It ran and blocked unseen. */
static void block_unseen(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	timeline_life(tl, index)->slept_as = STAPE_STATE_SLEEPING;
	timeline_life(tl, index)->sleeps += timeline_track(tl, index)->burst;
	fall_asleep(tl, index, LIFE_ASLEEP, time);
}

/**
 * timeline_described_as() - somebody has looked at a life
 * @tl: the timeline
 * @index: the life
 * @state: enum stape_state that it was in
 * @time: when
 *
 * What the stream says is trusted more: this counts only where that is missing.
 */
void timeline_described_as(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
			   uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	bool asleep = track->state == LIFE_ASLEEP || track->state == LIFE_STOPPED;
	bool unknown = track->state == LIFE_FOUND || track->state == LIFE_LOST;

	if (track->state == LIFE_RUNNING || track->state == LIFE_DEAD ||
	    track->state == LIFE_AWAY || (!unknown && !is_doubtful(tl, track)))
		return;
	if (state == STAPE_STATE_RUNNING) {
		if (asleep)
			wake(tl, index, SCHEDTAPE_NONE, 0, time);
		set_state(tl, index, LIFE_READY, time);
	} else if (asleep) {
		track->since = time;
	} else if (track->state != LIFE_FOUND) {
		block_unseen(tl, index, time);
	}
	if (state != STAPE_STATE_RUNNING)
		timeline_life(tl, index)->slept_as = state;
}

/**
 * timeline_wakeup() - a wake-up comes through
 * @tl: the timeline
 * @index: the wakee
 * @time: when
 *
 * Only a wake-up of someone who sleeps is one.  The kernel also "wakes" tasks
 * that have not got as far as sleeping.
 */
void timeline_wakeup(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	uint32_t waker = track->waker;
	uint64_t ticket = track->ticket;

	track->waker = SCHEDTAPE_NONE;
	track->ticket = 0;

	switch (track->state) {
	case LIFE_FOUND:
		fall_asleep(tl, index, LIFE_ASLEEP, time);
		break;
	case LIFE_NEW:
		set_state(tl, index, LIFE_RUNNABLE, time);
		return;
	case LIFE_READY:
	case LIFE_RUNNABLE:
		if (!is_doubtful(tl, track))
			return;
		block_unseen(tl, index, time);
		break;
	case LIFE_AWAY:
		timeline_come(tl, index, time);
		/* fall through */
	case LIFE_LOST:
		block_unseen(tl, index, time);
		break;
	case LIFE_RUNNING:
	case LIFE_DEAD:
		return;
	}
	wake(tl, index, waker, ticket, time);
}

/* Its end: its last switch-out, or its PID is someone else's. */
void timeline_end(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_life *life = timeline_life(tl, index);

	if (timeline_track(tl, index)->state == LIFE_RUNNING)
		off_cpu(tl, index, time);
	schedtape_lives_exiting(&tl->set, index);
	end_burst(tl, index);
	set_state(tl, index, LIFE_DEAD, time);
	life->exited = true;
	life->left = false;
	life->end = time;
	timeline_tell(tl, exited, life, time);
}

static bool is_asleep(const struct schedtape_track *track)
{
	switch (track->state) {
	case LIFE_FOUND:
	case LIFE_ASLEEP:
	case LIFE_STOPPED:
	case LIFE_AWAY:
		return true;
	}
	return false;
}

/**
 * timeline_mark() - tell of all lives how they are at a time
 * @tl: the timeline
 * @time: no event so far was later
 */
void timeline_mark(struct schedtape_timeline *tl, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < tl->set.nr; i++) {
		schedtape_lives_passed(&tl->set, i);
		if (timeline_track(tl, i)->state == LIFE_DEAD)
			continue;
		timeline_count(tl, i, time);
		timeline_tell(tl, marked, timeline_life(tl, i),
			      is_asleep(timeline_track(tl, i)), time);
	}
	timeline_tell(tl, reached, time);
}

/*
 * A task that ran all the time, alone on its CPU, left no event at all: only its
 * description tells.
 */
static void run_unseen(struct schedtape_timeline *tl, uint32_t index)
{
	const struct schedtape_life *life = timeline_life(tl, index);
	const struct schedtape_task *task = life->task;
	struct lane *lane;

	if (!task || !life->from_start || life->cpu_time || life->wakeups)
		return;
	lane = timeline_lane(tl, task->cpu);
	if (lane && !lane->used && lane->life == SCHEDTAPE_NONE)
		timeline_run(tl, index, task->cpu, tl->start, tl->start);
}

/* The tape's end: closes what is open. */
void timeline_finish(struct schedtape_timeline *tl, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < tl->set.nr; i++) {
		struct schedtape_track *track = timeline_track(tl, i);
		struct schedtape_life *life = timeline_life(tl, i);

		schedtape_lives_passed(&tl->set, i);
		if (track->state == LIFE_DEAD)
			continue;
		if (track->state == LIFE_READY)
			run_unseen(tl, i);
		timeline_count(tl, i, time);
		if (track->state == LIFE_LOST && track->exiting) {
			timeline_end(tl, i, time);
			continue;
		}
		end_burst(tl, i);
		if (!life->left)
			life->end = time;
		timeline_tell(tl, ended, life, time);
	}
}
