/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: what the events of a tape mean for each task, and how far one
 * tape is from another.  schedtape.h has the rules.
 */
#ifndef LIBSCHEDTAPE_TIMELINE_H
#define LIBSCHEDTAPE_TIMELINE_H

#include <schedtape-tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- timeline/run.c: what the events mean for each task ------------------------ */

/**
 * struct schedtape_task - one task, from its fork (or the start) to its exit
 * @index: number in the timeline, in order of appearance; a PID that is used
 *	again is another task
 * @parent: index of the task that forked it, or SCHEDTAPE_NONE
 * @process: index of the task that leads its thread group; its own: a leader
 * @tgid: PID of its thread group; its own PID if the tape has no TGID for it
 * @ppid: TGID of the process that forked it; with CLONE_PARENT, @ppid of the task that forked it;
 *	if the fork is not on the tape, TGID of its parent when it was first described; 0: not
 *	recorded.  It may get other parents before it ends
 * @ns_pid: its PID in its own PID namespace, 0: not recorded
 * @exit_ppid: TGID of its parent when it ended, 0: not recorded; SCHEDTAPE_NONE: its end is not on
 *	the tape
 * @autogroup: tasks with the same number share an autogroup: PID of their session; 0: in none, or
 *	not recorded
 * @start_time: when it was created, ns of CLOCK_MONOTONIC, 0: not recorded; together
 *	with the PID it identifies the task
 * @first_comm: name when it first appeared, or the first name on the tape
 * @comm: its last name
 * @from_start: it was alive when the recording started
 * @joined: it was already alive when it entered the filter
 * @left: it left the filter, and did not come back
 * @thread: it was created as a thread, in its parent's thread group
 * @exited: it ended during the recording
 * @prio_known: @policy, @nice and @rt_priority are valid
 * @autogroup_nice: nice value of @autogroup, SCHEDTAPE_NICE_UNKNOWN: not recorded
 * @policy, @nice, @rt_priority: the last ones
 * @dl: the last deadline parameters if @policy is SCHED_DEADLINE
 * @wish: with any other policy
 * @cgroup: id of its last cgroup (version 2), 0: not recorded
 * @prio_changes: how often policy, nice value or priority changed, without priority
 *	that waiters lend to the task
 * @info: the tape's description of it, NULL: none, or it was forked on the tape
 * @start, @end: ns of the session's clock, clipped to the recording and to the
 *	time before it @left
 * @cpu_time: ns on a CPU
 * @slept_as: enum stape_state of its current or last sleep
 * @core: tasks with the same number may share a core: it stands for their core-scheduling cookie;
 *	0: without, or not recorded
 * @bursts: times that it ran and then blocked or exited, or ran until the end
 * @sleeps: bursts that ended by blocking (not stopped, traced, preempted, dead)
 * @stops: bursts that ended by being stopped, traced or parked
 * @preemptions: times that it was switched out while it was runnable
 * @wakeups: sleeps and stops that ended, also if they began before the start
 * @wakeups_by_task: wake-ups by a task of the tape, itself or in a softirq that it
 *	raised
 * @migrations: times that it moved to another CPU
 * @delays: times that it was runnable, woken or preempted, and then got a CPU; delays
 *	with a loss in between are not counted
 * @delay_total, @delay_max: ns
 * @delay_max_time: when the longest delay ended
 *
 * enum schedtape_count says where and when each of the counts from @bursts to @migrations goes up.
 */
struct schedtape_task {
	uint32_t index;
	uint32_t parent;
	uint32_t process;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ns_pid;
	uint32_t exit_ppid;
	uint32_t autogroup;
	uint64_t start_time;
	char first_comm[STAPE_COMM_LEN];
	char comm[STAPE_COMM_LEN];
	bool from_start;
	bool joined;
	bool left;
	bool thread;
	bool exited;
	bool prio_known;
	int8_t autogroup_nice;
	uint32_t policy;
	int32_t nice;
	uint32_t rt_priority;
	union {
		struct schedtape_deadline dl;
		struct schedtape_wish wish;
	};
	uint64_t cgroup;
	uint64_t prio_changes;
	const struct schedtape_task_info *info;
	uint64_t start, end;
	uint64_t cpu_time;
	uint32_t slept_as;
	uint32_t core;
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

/**
 * enum schedtape_count - the counts of a task, as bits; each is an event with a CPU and a time
 * @SCHEDTAPE_COUNT_BURSTS, @SCHEDTAPE_COUNT_SLEEPS, @SCHEDTAPE_COUNT_STOPS,
 * @SCHEDTAPE_COUNT_PREEMPTIONS: the task left this CPU, or last ran there
 * @SCHEDTAPE_COUNT_WAKEUPS, @SCHEDTAPE_COUNT_WAKEUPS_BY_TASK: it was put on the run queue of this
 *	CPU; if the wake-up itself is lost, it then ran there, or was found there
 * @SCHEDTAPE_COUNT_MIGRATIONS: it moved to this CPU
 *
 * If the event is lost, the time is that of the event which shows it.  What goes to a CPU that is
 * not recorded counts for the one where the tape has the event.
 */
enum schedtape_count {
	SCHEDTAPE_COUNT_BURSTS		= 1 << 0,
	SCHEDTAPE_COUNT_SLEEPS		= 1 << 1,
	SCHEDTAPE_COUNT_STOPS		= 1 << 2,
	SCHEDTAPE_COUNT_PREEMPTIONS	= 1 << 3,
	SCHEDTAPE_COUNT_WAKEUPS		= 1 << 4,
	SCHEDTAPE_COUNT_WAKEUPS_BY_TASK	= 1 << 5,
	SCHEDTAPE_COUNT_MIGRATIONS	= 1 << 6,
};

#define SCHEDTAPE_NONE	UINT32_MAX

/* Returns any task, given any other, because all tasks are in one array. */
static inline const struct schedtape_task *
schedtape_task_at(const struct schedtape_task *task, uint32_t index)
{
	return task - task->index + index;
}

/**
 * struct schedtape_edge - a waker and its wakee
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
 * struct schedtape_interval_end - where a session was marked with the end of an interval
 * @time: ns of the session's clock
 * @number: the interval's
 */
struct schedtape_interval_end {
	uint64_t time;
	uint64_t number;
};

/**
 * struct schedtape_run - a time that a task spent on a CPU without a break
 * @begin, @end: ns of the session's clock
 * @left: when the task had left a CPU before, 0: not known, or it is its first time
 * @woke: when it was woken after @left, or for its first time, 0: it was preempted, or that is
 *	not known
 * @cpu: the CPU; SCHEDTAPE_NONE in waits()
 * @state: enum stape_state in which it left; SCHEDTAPE_NONE: the tape does not show that, because
 *	of a loss or a pause, because the task left the filter, or because the tape ends
 * @left_state: enum stape_state in which it had left at @left
 * @waker: index of the task that woke it at @woke, itself or in a softirq that it raised, or
 *	forked it; SCHEDTAPE_NONE: none on the tape did
 * @woke_in: enum stape_context of who woke it; SCHEDTAPE_NONE: not known, or @woke is 0
 * @reserved: 0
 * @syscall: the system call in which it left, as schedtape_switch_syscall() returns it
 * @left_syscall: the one in which it had left at @left
 */
struct schedtape_run {
	uint64_t begin;
	uint64_t end;
	uint64_t left;
	uint64_t woke;
	uint32_t cpu;
	uint32_t state;
	uint32_t left_state;
	uint32_t waker;
	uint32_t woke_in;
	uint32_t reserved;
	uint64_t syscall;
	uint64_t left_syscall;
};

/**
 * struct schedtape_timeline_ops - callbacks of a run through a tape
 *
 * Times are ns of the session's clock.  They never go back, except the time of born()
 * for tasks from the start.  At each call cpu_time of the task, and of its parent or
 * waker, is up to date.  Each callback may be NULL; a return value other than 0 ends
 * the run.  Pointers to tasks are valid during the call only, because tasks move when
 * their array grows: keep the index.
 *
 * The first call for a task is born(), the last one exited() or ended().  In between
 * slept() and woke() alternate, slept() first.  If a task fell asleep unseen, before the
 * start or in a loss, slept() comes together with woke(), with the same time.  left() may
 * come at any time.  After it neither slept() nor woke() comes until joined(), and then
 * slept() comes first again.
 *
 * @size: sizeof this struct
 * @born: a new task.  @parent has just forked it.  NULL: it exists from the start, or it
 *	has just entered the filter, or its fork is lost.  A task from the start is
 *	reported when the first event names it, before its other callbacks, with the
 *	time of the start
 * @waking: @waker tries to wake @wakee; if it succeeds, the next woke() of @wakee has the
 *	same @ticket
 * @woke: @task's sleep ended.  @waker: the task that woke it, itself or in a softirq that
 *	it raised; NULL: an external wake-up.  @ticket: that of waking(), 0 without waker
 * @slept: @task blocked, or was stopped by a signal, traced or parked
 * @left: @task left the filter: the tape has none of its events from now on
 * @joined: @task is in the filter again
 * @renamed: @task->comm changed, by exec or otherwise
 * @identified: @task->first_comm or @task->process, not known at born(), is known now
 * @waited: @task got a CPU, @delay after it was woken or preempted
 * @setprio: @task->policy, nice, rt_priority, dl or wish changed
 * @setaffinity: the CPUs of @task from now on, maybe the same as before; @affinity has
 *	SCHEDTAPE_AFFINITY_BYTES
 * @moved: @task->cgroup changed
 * @exited: the last switch-out of an exited task; or another task has its PID now
 * @ended: the tape ends while the task exists
 * @marked: called for each existing task at the next of @marks; @asleep: it sleeps then.
 *	Callbacks for events of the same time or later follow
 * @reached: called after @marked was called for all tasks
 * @marks: times, in order
 * @nr_marks: number of @marks
 * @no_edges: leave out the edges: schedtape_timeline_edges() returns none
 * @reserved: false
 * @ran: @task came off a CPU, or the tape ends while it runs; before slept(), left() and exited()
 *	of the same time
 * @event: each event of the tape, before the callbacks that tell what it means; @ev is valid
 *	during the call
 * @began: @task got a CPU at @run->begin.  If @run->woke is not 0, @task was woken then, and has
 *	waited since; otherwise it was preempted at @run->left.  The end of @run is its begin, and
 *	its state is not known
 * @queued: @task, which is runnable, waits for @cpu: it was woken there, or has moved there
 * @waits: the tape ends while @task waits for a CPU or sleeps, and the tape shows since when.  @run
 *	describes the wait as in began(); its begin and end are the tape's end.  Before ended()
 * @counted: counts of @task went up by one each: @counts, bits of enum schedtape_count.  Each count
 *	of struct schedtape_task is the sum of these calls
 * @regrouped: @task->autogroup changed
 */
struct schedtape_timeline_ops {
	size_t size;
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
	bool reserved[7];
	int (*ran)(void *arg, const struct schedtape_task *task, const struct schedtape_run *run);
	int (*event)(void *arg, const struct schedtape_event *ev);
	int (*began)(void *arg, const struct schedtape_task *task,
		     const struct schedtape_run *run);
	int (*queued)(void *arg, const struct schedtape_task *task, uint32_t cpu, uint64_t time);
	int (*waits)(void *arg, const struct schedtape_task *task,
		     const struct schedtape_run *run);
	int (*counted)(void *arg, const struct schedtape_task *task, unsigned int counts,
		       uint32_t cpu, uint64_t time);
	int (*regrouped)(void *arg, const struct schedtape_task *task, uint64_t time);
};

struct schedtape_timeline;

/*
 * Rewinds the tape and reads all of it, with calls of @ops (which may be NULL).  Without callbacks,
 * the tasks and edges of the timeline are the result.
 * @arg: for the callbacks
 * @timeline: receives the timeline, which the caller frees; NULL if the call fails.  It may be used
 * when the tape is closed, but for @info of its tasks, which belongs to the tape.
 */
int schedtape_timeline_run(struct schedtape_tape *tape,
			   const struct schedtape_timeline_ops *ops, void *arg,
			   struct schedtape_timeline **timeline, struct schedtape_error *err);
void schedtape_timeline_free(struct schedtape_timeline *timeline);
/* Returns what is wrong with the first page whose events contradict themselves, or NULL. */
const char *schedtape_timeline_damage(const struct schedtape_timeline *timeline);
/* Returns all tasks, by index. */
const struct schedtape_task *schedtape_timeline_tasks(const struct schedtape_timeline *timeline,
						      size_t *n);
/* Returns all edges, by waker, then wakee. */
const struct schedtape_edge *schedtape_timeline_edges(const struct schedtape_timeline *timeline,
						      size_t *n);
/* Returns when the session was paused, by time. */
const struct schedtape_range *schedtape_timeline_pauses(const struct schedtape_timeline *timeline,
							size_t *n);
/* Returns the ends of intervals, by time. */
const struct schedtape_interval_end *
schedtape_timeline_interval_ends(const struct schedtape_timeline *timeline, size_t *n);

/* -- profile.c: distributions of bursts, sleeps and delays ------------------- */

enum schedtape_length {
	SCHEDTAPE_BURSTS,	/* CPU time from a wake-up to blocking, ns */
	SCHEDTAPE_SLEEPS,	/* from blocking to the wake-up, ns */
	SCHEDTAPE_DELAYS,	/* from a wake-up or preemption to a CPU, ns */
	SCHEDTAPE_NR_LENGTHS,
};

/*
 * The distributions of each task's lengths, in steps of 1 %, and the order of all
 * wake-ups of tasks by tasks.
 */
struct schedtape_profile;

/* Reads a tape, and makes its timeline and its profile, both of which the caller frees. */
int schedtape_profile_run(struct schedtape_tape *tape, struct schedtape_timeline **timeline,
			  struct schedtape_profile **profile, struct schedtape_error *err);
void schedtape_profile_free(struct schedtape_profile *profile);
/* Returns the ns from the first wake-up, sleep, fork or end of a task to the last one. */
uint64_t schedtape_profile_span(const struct schedtape_profile *profile);

/* -- compare.c: how far one timeline is from another ------------------------ */

/**
 * struct schedtape_pair - a task of A and its counterpart in B
 * @a, @b: tasks; one of them is SCHEDTAPE_NONE if the task has no counterpart
 */
struct schedtape_pair {
	uint32_t a;
	uint32_t b;
};

/**
 * struct schedtape_edge_pair - an edge, with its wake-ups in A and in B
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
 * @edges_differ: edges in both with different counts
 * @edges_only_a: edges only in A, also all edges of unmatched tasks of A
 * @edges_only_b: edges between matched tasks that are only in B
 * @woken_a: wake-ups along edges of A
 * @woken_b: wake-ups along edges of B between matched tasks
 * @woken_same: wake-ups that A and B have along the same edges
 * @same_graph: every task of A has a counterpart, and all edges between matched tasks
 *	have the same count in A and B
 * @kthreads: kernel threads of one tape that a replay on the other tape has left out.  They are
 *	in no pair and no edge, and in none of the numbers above
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
	size_t kthreads;
};

struct schedtape_comparison;

/*
 * Compares two timelines, which the caller keeps as long as the comparison.  If one tape is of
 * a replay, its players are first matched with the tasks that they play.  If it plays no kernel
 * thread of the other tape, these are left out of the comparison.
 */
int schedtape_compare(const struct schedtape_timeline *a, const struct schedtape_timeline *b,
		      struct schedtape_comparison **comparison, struct schedtape_error *err);
void schedtape_comparison_free(struct schedtape_comparison *comparison);
const struct schedtape_distance *
schedtape_comparison_distance(const struct schedtape_comparison *comparison);
/*
 * Returns matched tasks in A's order, then tasks only in A, then tasks only in B; without kernel
 * threads that were left out.
 */
const struct schedtape_pair *
schedtape_comparison_pairs(const struct schedtape_comparison *comparison, size_t *n);
/*
 * Returns all edges of A between tasks of pairs, and those of B between matched tasks, by waker,
 * then wakee.
 */
const struct schedtape_edge_pair *
schedtape_comparison_edges(const struct schedtape_comparison *comparison, size_t *n);
/*
 * Returns the two-sample Kolmogorov-Smirnov statistic of a pair's lengths: the largest
 * difference between their cumulative distributions, 0 (same) to 1.  NAN: one of the two
 * tasks has no such length.
 */
double schedtape_profile_distance(const struct schedtape_profile *a,
				  const struct schedtape_profile *b,
				  const struct schedtape_pair *pair, enum schedtape_length length);
/* Computes the same statistics over the lengths of all @pairs together. */
int schedtape_profile_total(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_pair *pairs, size_t n,
			    double distances[SCHEDTAPE_NR_LENGTHS], struct schedtape_error *err);
/*
 * Computes which share of all pairs of wake-ups common to A and B comes in opposite order
 * in A and B (Kendall's tau distance).  NAN: fewer than two wake-ups are common.
 */
int schedtape_profile_order(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_comparison *comparison, double *share,
			    struct schedtape_error *err);

#ifdef __cplusplus
}
#endif

#endif /* LIBSCHEDTAPE_TIMELINE_H */
