// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the events of a tape, and finds out what they mean for each task.
 *
 * Reads the events once, in order of time, and keeps the running task of every CPU
 * and the state of every task.  Each event also names the task that ran on its CPU.
 * The state is checked against that and corrected, so that a loss has no effect
 * beyond the events that it took.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/sized.h"
#include "tape/meta.h"
#include "tape/next.h"
#include "timeline/live.h"
#include "timeline/timeline.h"

/*
 * Corrects the lane's task to the one that the event names.  Returns the task that ran
 * there before the event, or SCHEDTAPE_NONE.
 */
static uint32_t sync_lane(struct schedtape_timeline *tl, struct lane *lane,
			  const struct schedtape_brief *ev)
{
	uint64_t since = lane->blind ? lane->since : ev->time;
	uint32_t index;

	if (lane->task != SCHEDTAPE_NONE && ev->curr &&
	    (timeline_task(tl, lane->task)->pid == ev->curr || lane->old_pid == ev->curr))
		return lane->task;

	lane->blind = false;
	index = ev->curr ? timeline_find(tl, ev->curr, ev->time) : SCHEDTAPE_NONE;
	/* The same: a thread has taken its leader's PID. */
	if (index != SCHEDTAPE_NONE && (index == lane->task || index == lane->ghost))
		return timeline_track(tl, index)->state == TASK_AWAY ? SCHEDTAPE_NONE : index;
	if (lane->task != SCHEDTAPE_NONE)
		timeline_lose(tl, lane->task, lane->last < ev->time ? lane->last : ev->time);
	if (index == SCHEDTAPE_NONE)
		return index;

	if (since < timeline_track(tl, index)->since)
		since = timeline_track(tl, index)->since;
	timeline_run(tl, index, ev->cpu, since < ev->time ? since : ev->time, ev->time);
	return index;
}

static void on_switch(struct schedtape_timeline *tl, struct lane *lane,
		      const struct schedtape_brief *ev)
{
	unsigned int state = schedtape_switch_state(ev);
	uint32_t prev = lane->task;
	uint32_t next;

	lane->old_pid = 0;
	/*
	 * Ignore a switch to itself, perhaps under another PID, but not one from a dead task to the
	 * next with its PID.
	 */
	if (prev != SCHEDTAPE_NONE && ev->pid && state != STAPE_STATE_DEAD &&
	    schedtape_tasks_get(&tl->set, ev->pid) == prev)
		return;
	lane->ghost = SCHEDTAPE_NONE;
	if (prev != SCHEDTAPE_NONE)
		timeline_leave(tl, prev, state, schedtape_switch_syscall(ev), ev->time);
	if (!ev->pid)
		return;
	next = timeline_find(tl, ev->pid, ev->time);
	if (next == SCHEDTAPE_NONE)
		return;
	if (timeline_track(tl, next)->state == TASK_RUNNING)
		next = timeline_find_other(tl, next);
	/* An exiting leader: it has the PID of a thread, which has called execve(). */
	if (timeline_task(tl, next)->pid != ev->pid)
		lane->old_pid = ev->pid;
	timeline_run(tl, next, ev->cpu, ev->time, ev->time);
}

/*
 * Stores the waker, until STAPE_EV_WAKEUP shows that the wake-up succeeds.  Wakings of one
 * task come one at a time, because the kernel holds the task's lock.  A task that wakes
 * itself is an exception, and ignored.
 */
static void on_waking(struct schedtape_timeline *tl, uint32_t waker,
		      const struct schedtape_brief *ev)
{
	uint32_t wakee = timeline_find(tl, ev->pid, ev->time);
	struct schedtape_track *track;

	if (wakee == SCHEDTAPE_NONE || wakee == waker)
		return;
	track = timeline_track(tl, wakee);
	track->waking_in = ev->arg;
	if (!schedtape_waking_by_task(ev) || waker == SCHEDTAPE_NONE) {
		track->waker = SCHEDTAPE_NONE;
		track->ticket = 0;
		return;
	}
	track->waker = waker;
	track->ticket = ++tl->ticket;
	timeline_count(tl, waker, ev->time);
	timeline_call(tl, waking, timeline_task(tl, waker), timeline_task(tl, wakee),
		      track->ticket, ev->time);
}

static void on_wakeup(struct schedtape_timeline *tl, uint32_t curr,
		      const struct schedtape_brief *ev)
{
	uint32_t wakee = timeline_find(tl, ev->pid, ev->time);

	if (wakee == SCHEDTAPE_NONE || wakee == curr)
		return;
	/* Its fork is lost, but its first wake-up does not end a sleep. */
	if (ev->type == STAPE_EV_WAKEUP_NEW && timeline_track(tl, wakee)->state == TASK_FOUND)
		timeline_track(tl, wakee)->state = TASK_NEW;
	timeline_wakeup(tl, wakee, timeline_target(tl, ev), ev->time);
	timeline_queue(tl, wakee, ev->arg, ev->time);
}

static void on_exec(struct schedtape_timeline *tl, const struct schedtape_event *ev)
{
	if (ev->old_pid && ev->old_pid != ev->pid)
		timeline_exec(tl, ev->pid, ev->old_pid, ev->time);
}

static void add_pause(struct schedtape_timeline *tl, const struct schedtape_event *ev)
{
	if (schedtape_pauses_add(&tl->pauses, ev))
		timeline_fail(tl, -ENOMEM, "not enough memory for all pauses");
}

static void add_interval_end(struct schedtape_timeline *tl, const struct schedtape_brief *ev)
{
	struct schedtape_interval_end *all;

	all = schedtape_list_grow(tl->interval_ends, tl->nr_interval_ends, &tl->max_interval_ends,
				  sizeof(*all));
	if (!all) {
		timeline_fail(tl, -ENOMEM, "not enough memory for all ends of intervals");
		return;
	}
	tl->interval_ends = all;
	all[tl->nr_interval_ends++] = (struct schedtape_interval_end){ ev->time, ev->arg };
}

/* A loss or a pause on a CPU. */
static void on_gap(struct schedtape_timeline *tl, struct lane *lane,
		   const struct schedtape_event *ev)
{
	uint64_t first = ev->lost_first > lane->last ? ev->lost_first : lane->last;

	if (ev->type == SCHEDTAPE_EV_PAUSED)
		add_pause(tl, ev);

	if (lane->task != SCHEDTAPE_NONE)
		timeline_lose(tl, lane->task, first);
	lane->ghost = SCHEDTAPE_NONE;
	lane->old_pid = 0;
	lane->blind = true;
	lane->used = true;
	lane->since = ev->lost_last > first ? ev->lost_last : first;
	lane->last = lane->since;
	if (lane->since > tl->loss_end)
		tl->loss_end = lane->since;
}

static void on_migrate(struct schedtape_timeline *tl, uint32_t index,
		       const struct schedtape_brief *ev)
{
	timeline_add(tl, index, SCHEDTAPE_COUNT_MIGRATIONS, timeline_target(tl, ev), ev->time);
	timeline_queue(tl, index, ev->arg, ev->time);
}

/* A task has ended on a CPU that is not recorded.  Another task may have its PID already. */
static void on_ended(struct schedtape_timeline *tl, uint32_t index, uint64_t time)
{
	if (timeline_exits(tl, index) && timeline_track(tl, index)->state != TASK_DEAD)
		timeline_end(tl, index, time);
}

static void on_task(struct schedtape_timeline *tl, uint32_t curr,
		    const struct schedtape_brief *ev)
{
	uint32_t index;

	switch (ev->type) {
	case STAPE_EV_WAKING:
		on_waking(tl, curr, ev);
		return;
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
		on_wakeup(tl, curr, ev);
		return;
	case STAPE_EV_FORK:
		timeline_fork(tl, ev->pid, curr, ev->arg, ev->time);
		return;
	case STAPE_EV_EXEC:
		on_exec(tl, tape_details(ev));
		return;
	case STAPE_EV_TASK:
		timeline_task_event(tl, tape_details(ev));
		return;
	case STAPE_EV_PRIO:
		timeline_setprio(tl, tape_details(ev));
		return;
	case SCHEDTAPE_EV_THROTTLE:
	case SCHEDTAPE_EV_UNTHROTTLE:
	case SCHEDTAPE_EV_TRIGGER:
	case SCHEDTAPE_EV_IDLE:
		return;
	}
	if (ev->type == SCHEDTAPE_EV_AFFINITY &&
	    schedtape_owners_is_zombie(&tl->set.owners, ev->pid))
		return;
	if (ev->type == STAPE_EV_RENAME ||
	    (ev->type == STAPE_EV_EXIT && !schedtape_exit_ended(ev)))
		index = timeline_find_living(tl, ev->pid, ev->time);
	else
		index = timeline_find(tl, ev->pid, ev->time);
	if (index == SCHEDTAPE_NONE)
		return;
	if (ev->type == STAPE_EV_RENAME)
		timeline_rename(tl, index, tape_details(ev)->comm, ev->time);
	else if (ev->type == SCHEDTAPE_EV_AFFINITY)
		timeline_setaffinity(tl, index, tape_details(ev)->affinity, ev->time);
	else if (ev->type == STAPE_EV_EXIT && schedtape_exit_ended(ev))
		on_ended(tl, index, ev->time);
	else if (ev->type == STAPE_EV_EXIT)
		schedtape_owners_exiting(&tl->set.owners, index);
	else if (ev->type == STAPE_EV_MIGRATE)
		on_migrate(tl, index, ev);
}

static void pass_marks(struct schedtape_timeline *tl, uint64_t time)
{
	while (tl->marked < tl->ops.nr_marks && time >= tl->ops.marks[tl->marked] && !tl->rc)
		timeline_mark(tl, tl->ops.marks[tl->marked++]);
}

/* A description, which says nothing of what runs on a CPU.  Only a fork names another task. */
static void on_description(struct schedtape_timeline *tl, const struct schedtape_brief *ev)
{
	uint32_t parent = SCHEDTAPE_NONE;

	if (ev->type == SCHEDTAPE_EV_PAUSED)
		add_pause(tl, tape_details(ev));
	else if (ev->type == SCHEDTAPE_EV_LOST)
		tl->misses_descriptions = true;
	else if (ev->type == SCHEDTAPE_EV_INTERVAL)
		add_interval_end(tl, ev);
	if (schedtape_event_is_gap(ev) || !ev->pid)
		return;
	if (ev->type == STAPE_EV_FORK && ev->curr)
		parent = timeline_find(tl, ev->curr, ev->time);
	on_task(tl, parent, ev);
}

static void on_event(struct schedtape_timeline *tl, const struct schedtape_brief *ev)
{
	struct lane *lane;
	uint32_t curr;

	pass_marks(tl, ev->time);
	timeline_call(tl, event, tape_event(&tl->ev, ev));
	if (tl->rc)
		return;
	timeline_describe(tl, ev->time, ev->time);
	if (ev->cpu == STAPE_CPU_NONE) {
		on_description(tl, ev);
		return;
	}
	lane = timeline_lane(tl, ev->cpu);
	if (!lane)
		return;
	if (schedtape_event_is_gap(ev)) {
		on_gap(tl, lane, tape_details(ev));
		return;
	}
	curr = sync_lane(tl, lane, ev);
	if (ev->type == STAPE_EV_SWITCH)
		on_switch(tl, lane, ev);
	else if (ev->pid)
		on_task(tl, curr, ev);
	lane->last = ev->time;
	lane->used = true;
}

/*
 * Goes on after a corrupt page: its missing events are a loss whose end is not known.  @rc, @err:
 * of the call that found it.
 */
static int next_after_damage(struct schedtape_timeline *tl, struct schedtape_tape *tape, int rc,
			     const struct schedtape_brief **ev, struct schedtape_error *err)
{
	bool damaged = false;

	for (; rc == -EBADMSG; rc = tape_next_brief(tape, ev, err)) {
		if (!tl->damage.text[0])
			tl->damage = *err;
		damaged = true;
	}
	if (rc < 0 && tl->err)
		*tl->err = *err;
	/* The page may be of any CPU, so all states from before now are in doubt. */
	if (rc > 0 && damaged && tl->loss_end < (*ev)->time)
		tl->loss_end = (*ev)->time;
	return rc;
}

/* Reads the next event. */
static inline int next_event(struct schedtape_timeline *tl, struct schedtape_tape *tape,
			     const struct schedtape_brief **ev, struct schedtape_error *err)
{
	int rc = tape_next_brief(tape, ev, err);

	return rc >= 0 ? rc : next_after_damage(tl, tape, rc, ev, err);
}

/* Takes descriptions of tasks that a pipe has had since the last call. */
static int more_infos(struct schedtape_timeline *tl, struct schedtape_tape *tape)
{
	const struct schedtape_task_info *infos;
	size_t n;

	infos = schedtape_tape_tasks(tape, &n);
	return n == tl->set.nr_infos ? 0 : schedtape_tasks_describe(&tl->set, infos, n, tl->err);
}

int schedtape_timeline_reach(struct schedtape_timeline *tl, struct schedtape_tape *tape,
			     uint64_t time)
{
	uint32_t i;

	if (!tl->rc)
		tl->rc = more_infos(tl, tape);
	if (!tl->rc)
		timeline_describe(tl, time, time);
	/* Later tasks have events: a fork, or that they entered the filter. */
	for (i = 0; i < tl->set.nr && i < tl->set.nr_infos && !tl->rc; i++)
		timeline_run_unseen(tl, i);
	return tl->rc;
}

static int run(struct schedtape_timeline *tl, struct schedtape_tape *tape)
{
	bool pipe = schedtape_tape_is_pipe(tape);
	const struct schedtape_brief *ev;
	struct schedtape_error err;
	uint64_t last = 0;
	int rc;

	rc = schedtape_tape_rewind(tape, tl->err);
	if (rc)
		return rc;
	while ((rc = next_event(tl, tape, &ev, &err)) > 0) {
		if (pipe && !tl->rc)
			tl->rc = more_infos(tl, tape);
		if (!tl->rc)
			on_event(tl, ev);
		if (tl->rc)
			return tl->rc;
		last = ev->time > last ? ev->time : last;
	}
	if (rc)
		return rc;
	if (pipe && !tl->rc)
		tl->rc = more_infos(tl, tape);
	if (tl->rc)
		return tl->rc;
	/* Of a pipe, this is known only now. */
	if (schedtape_tape_end(tape)->stop_time > last)
		last = schedtape_tape_end(tape)->stop_time;
	timeline_describe(tl, UINT64_MAX, last);
	pass_marks(tl, last);
	timeline_finish(tl, last);
	if (!tl->rc)
		schedtape_edges_sort(&tl->edges);
	return tl->rc;
}

/* The timeline has a copy, because it may be compared when its tape is closed. */
static int copy_players(struct schedtape_timeline *tl, struct schedtape_tape *tape)
{
	const struct schedtape_player *players = schedtape_tape_players(tape, &tl->nr_players);

	if (!tl->nr_players)
		return 0;
	tl->players = calloc(tl->nr_players, sizeof(*players));
	if (!tl->players)
		return schedtape_fail(tl->err, -ENOMEM, "not enough memory");
	memcpy(tl->players, players, tl->nr_players * sizeof(*players));
	return 0;
}

/**
 * schedtape_timeline_run() - follow every task through a whole tape
 * @tape: rewound first
 * @ops: callbacks, may be NULL
 * @arg: for @ops
 * @timeline: the result, to be freed with schedtape_timeline_free(); it is set before the first
 *	call of @ops, see live.h
 * @err: may be NULL; not written when one of @ops ended the run
 *
 * Needs memory for each task and each edge, but not for events.
 *
 * Returns 0, -errno, or what one of @ops returned.
 */
int schedtape_timeline_run(struct schedtape_tape *tape,
			   const struct schedtape_timeline_ops *ops, void *arg,
			   struct schedtape_timeline **timeline, struct schedtape_error *err)
{
	const struct schedtape_task_info *infos;
	struct schedtape_timeline *tl;
	size_t n;
	int rc;

	tl = calloc(1, sizeof(*tl));
	*timeline = tl;
	if (!tl)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	tl->arg = arg;
	tl->err = err;
	tl->start = schedtape_tape_end(tape)->start_time;
	tl->tape = tape;
	tl->recorded = tape_recorded_cpus(tape);
	infos = schedtape_tape_tasks(tape, &n);
	rc = sized_get(&tl->ops, sizeof(tl->ops), ops, "callbacks of a timeline", err);
	if (!rc)
		rc = schedtape_tasks_init(&tl->set, infos, n, err);
	if (!rc)
		rc = run(tl, tape);
	if (!rc)
		rc = copy_players(tl, tape);
	/* The tape may be closed. */
	tl->recorded = NULL;
	tl->tape = NULL;
	if (rc) {
		schedtape_timeline_free(tl);
		*timeline = NULL;
	}
	return rc;
}

/**
 * schedtape_timeline_free() - free a timeline, its tasks and edges
 * @timeline: may be NULL
 */
void schedtape_timeline_free(struct schedtape_timeline *timeline)
{
	if (!timeline)
		return;
	schedtape_tasks_free(&timeline->set);
	schedtape_edges_free(&timeline->edges);
	free(timeline->players);
	free(timeline->lanes);
	schedtape_pauses_free(&timeline->pauses);
	free(timeline->interval_ends);
	free(timeline);
}

const char *schedtape_timeline_damage(const struct schedtape_timeline *timeline)
{
	return timeline->damage.text[0] ? timeline->damage.text : NULL;
}

const struct schedtape_task *schedtape_timeline_tasks(const struct schedtape_timeline *timeline,
						      size_t *n)
{
	*n = timeline->set.nr;
	return timeline->set.tasks;
}

const struct schedtape_edge *schedtape_timeline_edges(const struct schedtape_timeline *timeline,
						      size_t *n)
{
	*n = timeline->edges.nr;
	return timeline->edges.edges;
}

const struct schedtape_range *schedtape_timeline_pauses(const struct schedtape_timeline *timeline,
							size_t *n)
{
	*n = timeline->pauses.nr;
	return timeline->pauses.pauses;
}

const struct schedtape_interval_end *
schedtape_timeline_interval_ends(const struct schedtape_timeline *timeline, size_t *n)
{
	*n = timeline->nr_interval_ends;
	return timeline->interval_ends;
}
