/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of libschedtape: what the events of a tape mean for each task, and how far one
 * tape is from another.
 */
#ifndef LIBSCHEDTAPE_TIMELINE_H
#define LIBSCHEDTAPE_TIMELINE_H

#include <schedtape-tape.h>

/* -- timeline.c: what the events mean for each task ------------------------ */

/**
 * struct schedtape_task - one task, from its fork (or the start) to its exit
 * @index: number in the timeline, in order of appearance; a PID that is used
 *	again is another task
 * @parent: index of the task that forked it, or SCHEDTAPE_NONE
 * @process: index of the task that leads its thread group; its own: a leader
 * @tgid: PID of its thread group; its own, if nobody has said
 * @ppid: TGID of its parent, 0: not known
 * @ns_pid: its PID in its own PID namespace, 0: not known
 * @start_time: when it was made, ns of CLOCK_MONOTONIC, 0: not known; with the
 *	PID it is a task's identity
 * @first_comm: name when it first appeared, as far as is known
 * @comm: its last name
 * @from_start: alive when the recording started
 * @joined: it came into the filter when it was already alive
 * @left: it went out of the filter, and did not come back
 * @thread: made as a thread, in its parent's thread group
 * @exited: it has ended within the recording
 * @prio_known: @policy, @nice and @rt_priority are
 * @policy, @nice, @rt_priority: its last ones
 * @dl: the last ones, with SCHED_DEADLINE as @policy
 * @cgroup: id of its cgroup (version 2), the last one; 0: not known
 * @prio_changes: how often they changed; what waiters lend it does not count
 * @info: the tape's description of it, NULL: none, or it was forked on the tape
 * @start, @end: ns of the session's clock, clipped to the recording and to the
 *	time before it @left
 * @cpu_time: ns on a CPU
 * @slept_as: enum stape_state of its last sleep, or of the one that it is in
 * @bursts: times that it ran and then blocked or exited, or ran until the end
 * @sleeps: bursts that ended by blocking (not stopped, traced, preempted, dead)
 * @stops: bursts that ended by being stopped, traced or parked
 * @preemptions: times that it was switched out while it could run
 * @wakeups: sleeps and stops that ended, those from before the start included
 * @wakeups_by_task: those that a task of the tape ended, itself or in a softirq
 *	that it raised
 * @migrations: times that it moved to another CPU
 * @delays: times that it waited, woken or preempted, and got a CPU; waits
 *	with a loss in between are not counted
 * @delay_total, @delay_max: ns
 * @delay_max_time: when the longest wait ended
 */
struct schedtape_task {
	uint32_t index;
	uint32_t parent;
	uint32_t process;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ns_pid;
	uint64_t start_time;
	char first_comm[STAPE_COMM_LEN];
	char comm[STAPE_COMM_LEN];
	bool from_start;
	bool joined;
	bool left;
	bool thread;
	bool exited;
	bool prio_known;
	uint32_t policy;
	int32_t nice;
	uint32_t rt_priority;
	struct schedtape_deadline dl;
	uint64_t cgroup;
	uint64_t prio_changes;
	const struct schedtape_task_info *info;
	uint64_t start, end;
	uint64_t cpu_time;
	uint32_t slept_as;
	uint64_t bursts;
	uint64_t sleeps;
	uint64_t stops;
	uint64_t preemptions;
	uint64_t wakeups;
	uint64_t wakeups_by_task;
	uint64_t migrations;
	uint64_t delays;
	uint64_t delay_total;
	uint64_t delay_max;
	uint64_t delay_max_time;
};

#define SCHEDTAPE_NONE	UINT32_MAX

/* Tasks lie side by side: any of them, from any other. */
static inline const struct schedtape_task *
schedtape_task_at(const struct schedtape_task *task, uint32_t index)
{
	return task - task->index + index;
}

/**
 * struct schedtape_edge - who woke whom
 * @waker, @wakee: tasks
 * @count: wake-ups that ended a sleep, by @waker itself or in a softirq that it
 *	raised
 */
struct schedtape_edge {
	uint32_t waker;
	uint32_t wakee;
	uint64_t count;
};

/* ns of the session's clock */
struct schedtape_range {
	uint64_t first;
	uint64_t last;
};

/**
 * struct schedtape_timeline_ops - what a user of a timeline is told, in order
 *
 * Times are ns of the session's clock, and never go back, but for that of
 * tasks from the start.  A task's cpu_time is up to date at each call, and so
 * is that of its parent or waker.  Any of them may be NULL; what is not 0 ends
 * the run.  Pointers to tasks hold during the call only (the tasks move when
 * there are more of them): keep the index.
 *
 * A task is told born() first and either exited() or ended() last; in between,
 * slept() and woke() take turns, and slept() comes first.  Of a task that fell
 * asleep unseen, before the start or in a loss, slept() is told together with
 * woke(), at the same time.  After left(), which may come at any time, no slept()
 * or woke() is told until joined(), after which slept() comes first again.
 *
 * @born: a new task: forked by @parent just now, or (NULL) there from the
 *	start; those are told, with the time of the start, when the first event
 *	names them, but before anything else of theirs.  NULL, too, if it came
 *	into the filter just now, or the fork is lost
 * @waking: @waker (its cpu_time is up to date) may be waking someone; tells by
 *	the next woke() with @ticket whether it really did.
 * @woke: @task's sleep ended.  @waker: NULL if it was not a task of the tape,
 *	itself or in a softirq of its own; @ticket: of the waking(), 0 without
 *	waker
 * @slept: @task blocked, or was stopped
 * @left: it went out of the filter: what it does from now on is not known
 * @joined: it is back
 * @renamed: by exec or otherwise, @task->comm
 * @identified: @task->first_comm or @task->process was not known at its birth,
 *	and now is
 * @waited: it got a CPU after having waited for one for @delay, woken or preempted
 * @setprio: another @task->policy, nice, rt_priority or dl
 * @setaffinity: where it may run from now on, which need not be news: @affinity has
 *	SCHEDTAPE_AFFINITY_BYTES
 * @moved: another @task->cgroup
 * @exited: last switch-out of an exited task; or its PID is another's now
 * @ended: the tape's end has come, with the task still there
 * @marked: the next of @marks has come, with the task there, @asleep or not.  What
 *	is told at the same time, or later, comes after it
 * @reached: it has come, and been told of all tasks
 * @marks: times, in order; @nr_marks of them
 * @no_edges: schedtape_timeline_edges() will not be asked: it has none then
 */
struct schedtape_timeline_ops {
	int (*born)(void *arg, const struct schedtape_task *task,
		    const struct schedtape_task *parent, uint64_t time);
	int (*waking)(void *arg, const struct schedtape_task *waker,
		      const struct schedtape_task *wakee, uint64_t ticket, uint64_t time);
	int (*woke)(void *arg, const struct schedtape_task *task,
		    const struct schedtape_task *waker, uint64_t ticket, uint64_t time);
	int (*slept)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*left)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*joined)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*renamed)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*identified)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*waited)(void *arg, const struct schedtape_task *task, uint64_t delay,
		      uint64_t time);
	int (*setprio)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*setaffinity)(void *arg, const struct schedtape_task *task,
			   const unsigned char *affinity, uint64_t time);
	int (*moved)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*exited)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*ended)(void *arg, const struct schedtape_task *task, uint64_t time);
	int (*marked)(void *arg, const struct schedtape_task *task, bool asleep, uint64_t time);
	int (*reached)(void *arg, uint64_t time);
	const uint64_t *marks;
	size_t nr_marks;
	bool no_edges;
};

struct schedtape_timeline;

/* Rewinds the tape and runs all of it through @ops (which may be NULL). */
int schedtape_timeline_run(struct schedtape_tape *tape,
			   const struct schedtape_timeline_ops *ops, void *arg,
			   struct schedtape_timeline **timeline, struct schedtape_error *err);
void schedtape_timeline_free(struct schedtape_timeline *timeline);
/* Pages contradict themselves, and their events are missing: the first; or NULL. */
const char *schedtape_timeline_damage(const struct schedtape_timeline *timeline);
/* All tasks, by index. */
const struct schedtape_task *schedtape_timeline_tasks(const struct schedtape_timeline *timeline,
						      size_t *n);
/* All edges, by waker, then wakee. */
const struct schedtape_edge *schedtape_timeline_edges(const struct schedtape_timeline *timeline,
						      size_t *n);
/* When the session was paused, by time. */
const struct schedtape_range *schedtape_timeline_pauses(const struct schedtape_timeline *timeline,
							size_t *n);

/* -- profile.c: what bursts, sleeps and waits for a CPU are like ------------- */

enum schedtape_length {
	SCHEDTAPE_BURSTS,	/* CPU time from a wake-up to blocking, ns */
	SCHEDTAPE_SLEEPS,	/* from blocking to the wake-up, ns */
	SCHEDTAPE_DELAYS,	/* from a wake-up or preemption to a CPU, ns */
	SCHEDTAPE_NR_LENGTHS,
};

/*
 * For each task of a tape the distributions of its lengths, in steps of 3 %, and the
 * order of all wake-ups of tasks by tasks.
 */
struct schedtape_profile;

/* Runs a tape into a timeline and a profile of it. */
int schedtape_profile_run(struct schedtape_tape *tape, struct schedtape_timeline **timeline,
			  struct schedtape_profile **profile, struct schedtape_error *err);
void schedtape_profile_free(struct schedtape_profile *profile);
/* From the first time that a task was woken, slept, forked or ended to the last, ns. */
uint64_t schedtape_profile_span(const struct schedtape_profile *profile);

/* -- compare.c: how far one timeline is from another ------------------------ */

/**
 * struct schedtape_pair - a task of A and what it is in B
 * @a, @b: tasks; one of them is SCHEDTAPE_NONE if the task has no counterpart
 */
struct schedtape_pair {
	uint32_t a;
	uint32_t b;
};

/**
 * struct schedtape_edge_pair - how often one wakes another in A and in B
 * @waker, @wakee: numbers of pairs
 * @a, @b: wake-ups
 */
struct schedtape_edge_pair {
	uint32_t waker;
	uint32_t wakee;
	uint64_t a;
	uint64_t b;
};

/**
 * struct schedtape_distance - how far B is from A
 * @matched, @only_a, @only_b: tasks
 * @edges_same: edges between matched tasks with the same count in both
 * @edges_differ: those in both with different counts
 * @edges_only_a: edges that B has not; any of them if a task of theirs has no
 *	counterpart
 * @edges_only_b: edges between matched tasks that A has not
 * @woken_a, @woken_b: wake-ups along edges of A; along those of B between
 *	matched tasks
 * @woken_same: wake-ups that A and B have along the same edges
 * @same_graph: every task of A has a counterpart, and between these the same
 *	wake each other equally often
 */
struct schedtape_distance {
	size_t matched;
	size_t only_a;
	size_t only_b;
	uint64_t edges_same;
	uint64_t edges_differ;
	uint64_t edges_only_a;
	uint64_t edges_only_b;
	uint64_t woken_a;
	uint64_t woken_b;
	uint64_t woken_same;
	bool same_graph;
};

struct schedtape_comparison;

/* The timelines have to live as long as the comparison. */
int schedtape_compare(const struct schedtape_timeline *a, const struct schedtape_timeline *b,
		      struct schedtape_comparison **comparison, struct schedtape_error *err);
void schedtape_comparison_free(struct schedtape_comparison *comparison);
const struct schedtape_distance *
schedtape_comparison_distance(const struct schedtape_comparison *comparison);
/* Matched ones in A's order, then those only in A, then those only in B. */
const struct schedtape_pair *
schedtape_comparison_pairs(const struct schedtape_comparison *comparison, size_t *n);
/* All of A, and those of B between matched tasks, by waker, then wakee. */
const struct schedtape_edge_pair *
schedtape_comparison_edges(const struct schedtape_comparison *comparison, size_t *n);
/* The one of them between two pairs, or NULL. */
const struct schedtape_edge_pair *
schedtape_comparison_edge(const struct schedtape_comparison *comparison, uint32_t waker,
			  uint32_t wakee);
/*
 * Two-sample Kolmogorov-Smirnov statistic of a pair's lengths: the most by which the
 * shares of lengths up to any one differ, from 0 (alike) to 1.  NAN: one side has none.
 */
double schedtape_profile_distance(const struct schedtape_profile *a,
				  const struct schedtape_profile *b,
				  const struct schedtape_pair *pair, enum schedtape_length length);
/* The same for the lengths of all of them together. */
int schedtape_profile_total(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_pair *pairs, size_t n,
			    double distances[SCHEDTAPE_NR_LENGTHS], struct schedtape_error *err);
/*
 * Of all pairs of wake-ups that A and B have in common, the share that comes in the
 * other order (Kendall's tau distance).  NAN: they have less than two in common.
 */
int schedtape_profile_order(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_comparison *comparison, double *share,
			    struct schedtape_error *err);
/* (b - a) / a; 0 if both are 0, INFINITY if only a is. */
double schedtape_relative_error(double a, double b);

#endif /* LIBSCHEDTAPE_TIMELINE_H */
