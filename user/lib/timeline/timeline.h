/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internals of the timeline: run.c reads the events, births.c starts tasks (owners.h finds them),
 * task-info.c adds what descriptions of tasks say, and states.c follows each task's states.
 */
#ifndef SCHEDTAPE_TIMELINE_H
#define SCHEDTAPE_TIMELINE_H

#include "base/error.h"
#include "timeline/edges.h"
#include "timeline/pauses.h"
#include "timeline/tasks.h"

/**
 * struct lane - one CPU
 * @task: the task that runs there, or SCHEDTAPE_NONE
 * @ghost: a task that started elsewhere, or left the filter, before its switch-out on this
 *	CPU was seen: that switch-out, which may still come, does not count
 * @since: while @blind: the time from which on no switch is missing
 * @last: time of the last event
 * @old_pid: by which the CPU's events name @task, if that has called execve() and got another PID
 *	since it was switched in; else 0
 * @blind: at the start and after a loss or pause: the running task is not known until the
 *	next event
 * @used: the CPU has had an event
 */
struct lane {
	uint32_t task;
	uint32_t ghost;
	uint64_t since;
	uint64_t last;
	uint32_t old_pid;
	bool blind;
	bool used;
};

/**
 * struct schedtape_timeline - a run through a tape, and its result
 * @players: on the tape of a replay: which tasks of another tape its tasks play
 * @start: when recording began
 * @loss_end: end of the latest loss or pause on any CPU: a state of a task from before then
 *	may be outdated, unless a later event has confirmed it
 * @tape: the tape, while the run goes on
 * @description: the description in the stream that is being used, or NULL
 * @recorded: list of the CPUs that were recorded, "0-3,6"; NULL: all
 * @misses_descriptions: descriptions of tasks are lost
 * @described: number of the tape's descriptions of tasks that have been used
 * @ticket: the last ticket
 * @pauses: those of all CPUs, merged
 * @interval_ends: by time, with room for @max_interval_ends
 * @marked: number of marks that have been reached
 * @damage: what is wrong with the first corrupt page, "" if there is none
 * @rc: the first failure, of a callback or of the timeline
 * @ev: memory for tape_event()
 * @ops: callbacks, called with @arg; those that the caller does not have are NULL
 * @err: for a failure of the timeline, may be NULL
 */
struct schedtape_timeline {
	struct schedtape_tasks set;
	struct schedtape_edges edges;
	struct schedtape_player *players;
	size_t nr_players;
	struct lane *lanes;
	uint32_t nr_lanes;
	uint64_t start;
	uint64_t loss_end;
	struct schedtape_tape *tape;
	const struct schedtape_event *description;
	const char *recorded;
	bool misses_descriptions;
	size_t described;
	uint64_t ticket;
	struct schedtape_pauses pauses;
	struct schedtape_interval_end *interval_ends;
	size_t nr_interval_ends, max_interval_ends;
	size_t marked;
	struct schedtape_error damage;
	int rc;
	struct schedtape_event ev;
	struct schedtape_timeline_ops ops;
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

/* Has the exit of a task begun? */
static inline bool timeline_exits(const struct schedtape_timeline *tl, uint32_t index)
{
	return tl->set.owners.owners[index].exiting;
}

/* Records the first failure, with a message unless it is that of a callback. */
static inline void timeline_fail(struct schedtape_timeline *tl, int rc, const char *text)
{
	if (!tl->rc)
		tl->rc = schedtape_fail(tl->err, rc, "%s", text);
}

/*
 * A task's start time is a little before its recorded fork.  If a start time is later than
 * an event of a PID by more than this, another task has the PID, also if clocks differ.
 */
#define START_TIME_SLACK	1000000

/* Calls a callback, unless one has failed. */
#define timeline_call(tl, op, ...)						\
	do {									\
		if (!(tl)->rc && (tl)->ops.op)					\
			(tl)->rc = (tl)->ops.op((tl)->arg, __VA_ARGS__);	\
	} while (0)

/*
 * Functions that are called for each event are in two parts: the first one, which is enough for
 * most events, is inline.
 */

#define TIMELINE_LISTED	UINT32_MAX	/* of no event: a description outside the stream */
#define TIMELINE_MAX_CPUS	65536	/* no kernel has more, so a higher number is corrupt */

/* lanes.c */
struct lane *timeline_lane_new(struct schedtape_timeline *tl, uint32_t cpu);
bool timeline_lists(const struct schedtape_timeline *tl, uint32_t cpu);

/* Returns the lane of a CPU; NULL with @rc set: no such CPU, or no memory. */
static inline struct lane *timeline_lane(struct schedtape_timeline *tl, uint32_t cpu)
{
	return cpu < tl->nr_lanes ? &tl->lanes[cpu] : timeline_lane_new(tl, cpu);
}

/* Returns false for a CPU that the recording leaves out. */
static inline bool timeline_records(const struct schedtape_timeline *tl, uint32_t cpu)
{
	return !tl->recorded || timeline_lists(tl, cpu);
}

/* Returns the CPU to which an event moves a task; that of the event if it is not recorded. */
static inline uint32_t timeline_target(const struct schedtape_timeline *tl,
				       const struct schedtape_brief *ev)
{
	return ev->arg < TIMELINE_MAX_CPUS && timeline_records(tl, ev->arg) ? ev->arg : ev->cpu;
}

/* births.c; SCHEDTAPE_NONE with @rc set: no memory. */
uint32_t timeline_find_slow(struct schedtape_timeline *tl, uint32_t pid, uint64_t time);

/**
 * timeline_find() - find the task that has a PID
 * @tl: the timeline
 * @pid: not 0
 * @time: time of the event that names it
 *
 * If no task has the PID, starts one: it exists from the start, or its fork is lost.
 */
static inline uint32_t timeline_find(struct schedtape_timeline *tl, uint32_t pid, uint64_t time)
{
	uint32_t at = schedtape_tasks_get(&tl->set, pid);

	if (at < OWNERS_FORMER && timeline_track(tl, at)->state != TASK_DEAD)
		return at;
	return timeline_find_slow(tl, pid, time);
}

uint32_t timeline_birth(struct schedtape_timeline *tl, const struct schedtape_task_info *who,
			const struct schedtape_task_info *source, unsigned int why,
			uint64_t time);
void timeline_fork(struct schedtape_timeline *tl, uint32_t pid, uint32_t parent,
		   unsigned int how, uint64_t time);
uint32_t timeline_find_living(struct schedtape_timeline *tl, uint32_t pid, uint64_t time);
uint32_t timeline_find_other(struct schedtape_timeline *tl, uint32_t index);
void timeline_reidentify(struct schedtape_timeline *tl, uint32_t index);
void timeline_exec(struct schedtape_timeline *tl, uint32_t pid, uint32_t old_pid, uint64_t time);
void timeline_set_group(struct schedtape_timeline *tl, uint32_t index, uint32_t tgid,
			uint64_t time);
void timeline_vacate(struct schedtape_timeline *tl, uint32_t index, uint64_t time);

/* task-info.c */
void timeline_describe_more(struct schedtape_timeline *tl, uint64_t before, uint64_t latest);

/**
 * timeline_describe() - use the tape's descriptions up to a time
 * @tl: the timeline
 * @before: use descriptions that are older than this
 * @latest: report younger ones with this time
 *
 * Descriptions have to be merged with the events by time, because each one was read at a
 * time of its own.
 */
static inline void timeline_describe(struct schedtape_timeline *tl, uint64_t before,
				     uint64_t latest)
{
	if (tl->described < tl->set.nr_infos)
		timeline_describe_more(tl, before, latest);
}

void timeline_task_event(struct schedtape_timeline *tl, const struct schedtape_event *ev);
void timeline_rename(struct schedtape_timeline *tl, uint32_t index, const char *comm,
		     uint64_t time);
void timeline_setprio(struct schedtape_timeline *tl, const struct schedtape_event *ev);
void timeline_setaffinity(struct schedtape_timeline *tl, uint32_t index,
			  const unsigned char *affinity, uint64_t time);

/* states.c */

/*
 * Counts what a task did.  This is the only place where counts go up, and says of which CPU and
 * time the event is, so that sums of parts of the tape are those of the whole.  @counts: bits of
 * enum schedtape_count
 */
static inline void timeline_add(struct schedtape_timeline *tl, uint32_t index,
				unsigned int counts, uint32_t cpu, uint64_t time)
{
	struct schedtape_task *task = timeline_task(tl, index);

	task->bursts += !!(counts & SCHEDTAPE_COUNT_BURSTS);
	task->sleeps += !!(counts & SCHEDTAPE_COUNT_SLEEPS);
	task->stops += !!(counts & SCHEDTAPE_COUNT_STOPS);
	task->preemptions += !!(counts & SCHEDTAPE_COUNT_PREEMPTIONS);
	task->wakeups += !!(counts & SCHEDTAPE_COUNT_WAKEUPS);
	task->wakeups_by_task += !!(counts & SCHEDTAPE_COUNT_WAKEUPS_BY_TASK);
	task->migrations += !!(counts & SCHEDTAPE_COUNT_MIGRATIONS);
	if (counts)
		timeline_call(tl, counted, task, counts, cpu, time);
}

void timeline_count(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_run(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t since,
		  uint64_t time);
void timeline_leave(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
		    uint64_t syscall, uint64_t time);
void timeline_lose(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_queue(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t time);
void timeline_go(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_come(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_described_as(struct schedtape_timeline *tl, uint32_t index, unsigned int state,
			   uint32_t cpu, uint64_t time);
void timeline_wakeup(struct schedtape_timeline *tl, uint32_t index, uint32_t cpu, uint64_t time);
void timeline_end(struct schedtape_timeline *tl, uint32_t index, uint64_t time);
void timeline_run_unseen(struct schedtape_timeline *tl, uint32_t index);
void timeline_mark(struct schedtape_timeline *tl, uint64_t time);
void timeline_finish(struct schedtape_timeline *tl, uint64_t time);

#endif /* SCHEDTAPE_TIMELINE_H */
