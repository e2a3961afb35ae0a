// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Changes of one task's state: it runs, leaves its CPU, sleeps, is woken, ends.
 *
 * If an event contradicts the state, the event is right, because after a loss a task
 * may appear in any state.  Two rules always hold: a task runs on at most one CPU at a
 * time, and woke() follows slept().
 */
#include <errno.h>

#include "timeline/timeline.h"

/* Brings the CPU time of a running task up to date. */
void timeline_count(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);

	if (track->state != TASK_RUNNING || time <= track->since)
		return;
	timeline_task(tl, index)->cpu_time += time - track->since;
	track->since = time;
}

/*
 * @state: enum stape_state, SCHEDTAPE_NONE: the tape does not show it.  @syscall: as
 * schedtape_switch_syscall() returns it.
 */
static struct schedtape_run run_of(const struct schedtape_track *track, uint32_t state,
				   uint64_t syscall)
{
	return (struct schedtape_run){
		.begin = track->begun,
		.end = track->since,
		.left = track->left,
		.woke = track->woke,
		.cpu = track->cpu,
		.state = state,
		.left_state = track->left ? track->left_as : SCHEDTAPE_NONE,
		.waker = track->woke ? track->woke_by : SCHEDTAPE_NONE,
		.woke_in = track->woke && track->woke_in != TRACK_UNKNOWN ? track->woke_in :
									    SCHEDTAPE_NONE,
		.syscall = syscall,
		.left_syscall = track->left ? track->left_in : SCHEDTAPE_SYSCALL_UNKNOWN,
	};
}

static void report_run(struct schedtape_timeline *tl, uint32_t index, uint32_t state,
		       uint64_t syscall)
{
	const struct schedtape_run run = run_of(timeline_track(tl, index), state, syscall);

	timeline_call(tl, ran, timeline_task(tl, index), &run);
}

/* Takes a running task off its CPU.  @state, @syscall: see run_of(). */
static void off_cpu(struct schedtape_timeline *tl, uint32_t index, uint32_t state,
		    uint64_t syscall, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct lane *lane = &tl->lanes[track->cpu];

	timeline_count(tl, index, time);
	if (lane->task == index)
		lane->task = SCHEDTAPE_NONE;
	if (tl->ops.ran)
		report_run(tl, index, state, syscall);
	track->left = state == SCHEDTAPE_NONE ? 0 : time;
	track->left_as = state;
	track->left_in = syscall;
	track->woke = 0;
}

static void set_state(struct schedtape_timeline *tl, uint32_t index, enum task_state state,
		      uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);

	track->state = state;
	track->since = time;
}

/* @why: SCHEDTAPE_COUNT_SLEEPS or _STOPS: the burst ended so; 0: by exit() or unseen */
static inline void end_burst(struct schedtape_timeline *tl, uint32_t index, unsigned int why,
			     uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);

	/* Two calls, because they are short if the compiler knows what they count. */
	if (track->burst)
		timeline_add(tl, index, why | SCHEDTAPE_COUNT_BURSTS, track->cpu, time);
	else
		timeline_add(tl, index, why, track->cpu, time);
	track->burst = false;
}

/* @why: see end_burst() */
static inline void fall_asleep(struct schedtape_timeline *tl, uint32_t index, enum task_state state,
			       unsigned int why, uint64_t time)
{
	end_burst(tl, index, why, time);
	set_state(tl, index, state, time);
	timeline_call(tl, slept, timeline_task(tl, index), time);
}

static void wake(struct schedtape_timeline *tl, uint32_t index, uint32_t waker, uint64_t ticket,
		 uint32_t cpu, uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);
	unsigned int counts = SCHEDTAPE_COUNT_WAKEUPS;

	set_state(tl, index, TASK_RUNNABLE, time);
	timeline_track(tl, index)->woke = time;
	timeline_track(tl, index)->woke_by = waker;
	timeline_track(tl, index)->woke_in = TRACK_UNKNOWN;
	if (waker != SCHEDTAPE_NONE)
		counts |= SCHEDTAPE_COUNT_WAKEUPS_BY_TASK;
	timeline_add(tl, index, counts, cpu, time);
	if (waker != SCHEDTAPE_NONE) {
		if (!tl->ops.no_edges && schedtape_edges_add(&tl->edges, waker, index))
			timeline_fail(tl, -ENOMEM, "not enough memory for who woke whom");
		timeline_count(tl, waker, time);
	}
	timeline_call(tl, woke, task,
		      waker == SCHEDTAPE_NONE ? NULL : timeline_task(tl, waker), ticket, time);
}

/* Returns true if no event since the last loss has confirmed the task's state. */
static bool is_doubtful(struct schedtape_timeline *tl, const struct schedtape_track *track)
{
	return track->since < tl->loss_end;
}

static void count_delay(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct schedtape_task *task = timeline_task(tl, index);
	uint64_t delay = time > track->since ? time - track->since : 0;

	/* In the loss it may have run and become runnable again. */
	if (is_doubtful(tl, track))
		return;
	task->delays++;
	task->delay_total += delay;
	if (delay > task->delay_max || task->delays == 1) {
		task->delay_max = delay;
		task->delay_max_time = time;
	}
	timeline_call(tl, waited, task, delay, time);
}

static void report_begin(struct schedtape_timeline *tl, uint32_t index)
{
	const struct schedtape_run run = run_of(timeline_track(tl, index), SCHEDTAPE_NONE,
						SCHEDTAPE_SYSCALL_UNKNOWN);

	timeline_call(tl, began, timeline_task(tl, index), &run);
}

/**
 * timeline_run() - a task gets a CPU
 * @tl: the timeline
 * @index: the task
 * @cpu: its CPU; the task that ran there has already left
 * @since: when it began to run
 * @time: time of the event that shows it: the same, or later after a loss
 */
void timeline_run(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t since,
		  uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	bool seen = !is_doubtful(tl, track);

	switch (track->state) {
	case TASK_RUNNING:
		/* Its switch-out there is lost, or the clocks of two CPUs differ a little. */
		tl->lanes[track->cpu].ghost = index;
		off_cpu(tl, index, SCHEDTAPE_NONE, SCHEDTAPE_SYSCALL_UNKNOWN, since);
		break;
	case TASK_RUNNABLE:
		count_delay(tl, index, since);
		break;
	case TASK_ASLEEP:
	case TASK_STOPPED:
		/*
		 * Its wake-up is lost.  Or the task did not sleep, because of a signal: the
		 * kernel then still reports a sleeping state.
		 */
		wake(tl, index, SCHEDTAPE_NONE, 0, cpu, time);
		track->woke = 0;
		break;
	case TASK_AWAY:
		timeline_come(tl, index, time);
		/* fall through */
	default:
		seen = false;
	}
	/* It may have run unseen since then. */
	if (!seen) {
		track->left = 0;
		track->woke = 0;
	}
	set_state(tl, index, TASK_RUNNING, since);
	track->begun = since;
	track->cpu = cpu;
	track->burst = true;
	tl->lanes[cpu].task = index;
	if (tl->ops.began)
		report_begin(tl, index);
}

/**
 * timeline_leave() - a running task is switched out
 * @tl: the timeline
 * @index: the task
 * @state: enum stape_state that it leaves in
 * @syscall: the system call that it sleeps in, as schedtape_switch_syscall() returns it
 * @time: when
 */
void timeline_leave(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
		    uint64_t syscall, uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);

	if (state == STAPE_STATE_DEAD) {
		timeline_end(tl, index, time);
		return;
	}
	off_cpu(tl, index, state, syscall, time);
	if (state != STAPE_STATE_RUNNING)
		task->slept_as = state;
	switch (state) {
	case STAPE_STATE_RUNNING:
		timeline_add(tl, index, SCHEDTAPE_COUNT_PREEMPTIONS, timeline_track(tl, index)->cpu,
			     time);
		set_state(tl, index, TASK_RUNNABLE, time);
		break;
	case STAPE_STATE_STOPPED:
	case STAPE_STATE_TRACED:
	case STAPE_STATE_PARKED:
		fall_asleep(tl, index, TASK_STOPPED, SCHEDTAPE_COUNT_STOPS, time);
		break;
	default:
		fall_asleep(tl, index, TASK_ASLEEP, SCHEDTAPE_COUNT_SLEEPS, time);
		break;
	}
}

/* Takes a task off its CPU, whose events are lost from @time on. */
void timeline_lose(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	off_cpu(tl, index, SCHEDTAPE_NONE, SCHEDTAPE_SYSCALL_UNKNOWN, time);
	set_state(tl, index, TASK_LOST, time);
}

/*
 * A task goes to @cpu.  If it is runnable, it waits for that CPU; or it may run there unseen, if
 * the CPU is not recorded.
 */
void timeline_queue(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t time)
{
	if (timeline_track(tl, index)->state != TASK_RUNNABLE)
		return;
	if (timeline_records(tl, cpu))
		timeline_call(tl, queued, timeline_task(tl, index), cpu, time);
	else
		set_state(tl, index, TASK_LOST, time);
}

/* A task leaves the filter.  Later events of its CPU may still name it as the running one. */
void timeline_go(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct schedtape_task *task = timeline_task(tl, index);

	if (track->state == TASK_DEAD || track->state == TASK_AWAY)
		return;
	if (track->state == TASK_RUNNING) {
		off_cpu(tl, index, SCHEDTAPE_NONE, SCHEDTAPE_SYSCALL_UNKNOWN, time);
		tl->lanes[track->cpu].ghost = index;
	}
	end_burst(tl, index, 0, time);
	set_state(tl, index, TASK_AWAY, time);
	task->left = true;
	task->end = time;
	timeline_call(tl, left, task, time);
}

/* A task enters the filter again. */
void timeline_come(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	struct schedtape_task *task = timeline_task(tl, index);
	struct lane *lane = track->cpu < tl->nr_lanes ? &tl->lanes[track->cpu] : NULL;

	if (track->state != TASK_AWAY)
		return;
	/* It may have run all the time: if so, the next event of its CPU shows it. */
	if (lane && lane->ghost == index) {
		lane->ghost = SCHEDTAPE_NONE;
		lane->blind = true;
		lane->since = time;
	}
	set_state(tl, index, TASK_LOST, time);
	task->left = false;
	timeline_call(tl, joined, task, time);
}

/* The task must have run and blocked in a loss. */
static void block_unseen(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	timeline_task(tl, index)->slept_as = STAPE_STATE_SLEEPING;
	timeline_track(tl, index)->left = 0;
	fall_asleep(tl, index, TASK_ASLEEP,
		    timeline_track(tl, index)->burst ? SCHEDTAPE_COUNT_SLEEPS : 0, time);
}

/**
 * timeline_described_as() - use the state in a description of a task
 * @tl: the timeline
 * @index: the task
 * @state: enum stape_state at @time
 * @cpu: where it is then; another one than those recorded is not known
 * @time: when the description was read
 *
 * Has an effect only if the events leave the state unknown, because events are more exact.
 */
void timeline_described_as(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
			   uint32_t cpu, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	bool asleep = track->state == TASK_ASLEEP || track->state == TASK_STOPPED;
	bool unknown = track->state == TASK_FOUND || track->state == TASK_LOST;

	if (cpu >= TIMELINE_MAX_CPUS || !timeline_records(tl, cpu))
		cpu = STAPE_CPU_NONE;
	if (track->state == TASK_RUNNING || track->state == TASK_DEAD ||
	    track->state == TASK_AWAY || (!unknown && !is_doubtful(tl, track)))
		return;
	if (state == STAPE_STATE_RUNNING) {
		if (asleep)
			wake(tl, index, SCHEDTAPE_NONE, 0, cpu, time);
		set_state(tl, index, TASK_READY, time);
	} else if (asleep) {
		track->since = time;
	} else if (track->state != TASK_FOUND) {
		block_unseen(tl, index, time);
	}
	if (state != STAPE_STATE_RUNNING)
		timeline_task(tl, index)->slept_as = state;
}

/**
 * timeline_wakeup() - a wake-up succeeds
 * @tl: the timeline
 * @index: the wakee
 * @cpu: whose run queue it is put on
 * @time: when
 *
 * Ignores the event if the task is awake: the kernel also "wakes" tasks that were only
 * about to sleep.
 */
void timeline_wakeup(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t time)
{
	struct schedtape_track *track = timeline_track(tl, index);
	uint32_t waker = track->waker;
	uint64_t ticket = track->ticket;
	uint8_t waking_in = track->waking_in;

	track->waking_in = TRACK_UNKNOWN;
	track->waker = SCHEDTAPE_NONE;
	track->ticket = 0;

	switch (track->state) {
	case TASK_FOUND:
		fall_asleep(tl, index, TASK_ASLEEP, 0, time);
		break;
	case TASK_NEW:
		set_state(tl, index, TASK_RUNNABLE, time);
		track->woke = time;
		track->woke_by = timeline_task(tl, index)->parent;
		track->woke_in = STAPE_CTX_TASK;
		return;
	case TASK_READY:
	case TASK_RUNNABLE:
		if (!is_doubtful(tl, track))
			return;
		block_unseen(tl, index, time);
		break;
	case TASK_AWAY:
		timeline_come(tl, index, time);
		/* fall through */
	case TASK_LOST:
		block_unseen(tl, index, time);
		break;
	case TASK_RUNNING:
	case TASK_DEAD:
		return;
	}
	wake(tl, index, waker, ticket, cpu, time);
	timeline_track(tl, index)->woke_in = waking_in;
}

/* Ends a task: this is its last switch-out, or another task has its PID. */
void timeline_end(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);

	if (timeline_track(tl, index)->state == TASK_RUNNING)
		off_cpu(tl, index, STAPE_STATE_DEAD, SCHEDTAPE_SYSCALL_UNKNOWN, time);
	schedtape_owners_end(&tl->set.owners, index);
	end_burst(tl, index, 0, time);
	set_state(tl, index, TASK_DEAD, time);
	task->exited = true;
	task->left = false;
	task->end = time;
	timeline_call(tl, exited, task, time);
}

static bool is_asleep(const struct schedtape_track *track)
{
	switch (track->state) {
	case TASK_FOUND:
	case TASK_ASLEEP:
	case TASK_STOPPED:
	case TASK_AWAY:
		return true;
	}
	return false;
}

/**
 * timeline_mark() - report the state of all tasks at a time
 * @tl: the timeline
 * @time: not earlier than any event so far
 */
void timeline_mark(struct schedtape_timeline *tl, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < tl->set.nr; i++) {
		schedtape_tasks_passed(&tl->set, i);
		if (timeline_track(tl, i)->state == TASK_DEAD)
			continue;
		timeline_count(tl, i, time);
		timeline_call(tl, marked, timeline_task(tl, i),
			      is_asleep(timeline_track(tl, i)), time);
	}
	timeline_call(tl, reached, time);
}

/*
 * A task that ran all the time, alone on its CPU, has no event at all.  Only its description
 * shows it, which says that the task is ready.
 */
void timeline_run_unseen(struct schedtape_timeline *tl, uint32_t index)
{
	const struct schedtape_task *task = timeline_task(tl, index);
	const struct schedtape_task_info *info = task->info;
	struct lane *lane;

	if (timeline_track(tl, index)->state != TASK_READY || !info || !task->from_start ||
	    task->cpu_time || task->wakeups || !timeline_records(tl, info->cpu))
		return;
	lane = timeline_lane(tl, info->cpu);
	if (lane && !lane->used && lane->task == SCHEDTAPE_NONE)
		timeline_run(tl, index, info->cpu, tl->start, tl->start);
}

/* Does the tape show since when a task waits that has no CPU? */
static bool shows_wait(struct schedtape_timeline *tl, uint32_t index)
{
	const struct schedtape_track *track = timeline_track(tl, index);

	if (is_doubtful(tl, track) || timeline_task(tl, index)->left)
		return false;
	if (track->state == TASK_RUNNABLE)
		return track->left || (track->woke && timeline_task(tl, index)->from_start);
	/* It may have been woken, and may run, on a CPU that is not recorded. */
	return is_asleep(track) && track->left && !tl->recorded;
}

static void report_wait(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	struct schedtape_run run = run_of(timeline_track(tl, index), SCHEDTAPE_NONE,
					  SCHEDTAPE_SYSCALL_UNKNOWN);

	run.begin = time;
	run.end = time;
	run.cpu = SCHEDTAPE_NONE;
	timeline_call(tl, waits, timeline_task(tl, index), &run);
}

/* The end of the tape: ends bursts, and reports all tasks that still exist. */
void timeline_finish(struct schedtape_timeline *tl, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < tl->set.nr; i++) {
		struct schedtape_track *track = timeline_track(tl, i);
		struct schedtape_task *task = timeline_task(tl, i);

		schedtape_tasks_passed(&tl->set, i);
		if (track->state == TASK_DEAD)
			continue;
		timeline_run_unseen(tl, i);
		timeline_count(tl, i, time);
		if (track->state == TASK_RUNNING && tl->ops.ran)
			report_run(tl, i, SCHEDTAPE_NONE, SCHEDTAPE_SYSCALL_UNKNOWN);
		else if (tl->ops.waits && shows_wait(tl, i))
			report_wait(tl, i, time);
		if (track->state == TASK_LOST && timeline_exits(tl, i)) {
			timeline_end(tl, i, time);
			continue;
		}
		end_burst(tl, i, 0, time);
		if (!task->left)
			task->end = time;
		timeline_call(tl, ended, task, time);
	}
}
