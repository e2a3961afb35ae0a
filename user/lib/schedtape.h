/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: tapes, the module's client, and the programs that tapes
 * compile to.
 *
 * Functions return 0 (or a count) or -errno, and put the reason in words into
 * the struct schedtape_error that they take (which may be NULL).  Objects are
 * opaque and belong to whoever made them; nothing here keeps global state.
 * One object may be used by one thread at a time.
 */
#ifndef SCHEDTAPE_H
#define SCHEDTAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape/device.h>
#include <schedtape/event.h>
#include <schedtape/netlink.h>

struct json_object;

/**
 * struct schedtape_error - why a call failed
 * @text: one line without a newline: what, where, and what to do about it
 */
struct schedtape_error {
	char text[512];
};

/* @code: -errno, which it returns.  @err: may be NULL. */
int schedtape_fail(struct schedtape_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* -- page.c: ring pages ---------------------------------------------------- */

/* Pseudo types of struct schedtape_event, beyond enum stape_event_type. */
enum schedtape_event_type {
	SCHEDTAPE_EV_LOST = 32,		/* events of this CPU are missing here */
	SCHEDTAPE_EV_PAUSED = 33,	/* the session was paused: none is missing */
};

/**
 * struct schedtape_deadline - what SCHED_DEADLINE takes, ns; all 0: not known
 * @runtime: CPU time in each period
 * @deadline: from the period's begin
 */
struct schedtape_deadline {
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/**
 * struct schedtape_event - one event, unpacked
 * @time: ns of the session's clock
 * @cpu: where it was recorded
 * @type: enum stape_event_type or enum schedtape_event_type
 * @pid: whom it is about; 0 for a switch to something outside the filter
 * @arg: as the type says
 * @curr: PID of the filter's task that ran on the CPU before the event, or 0
 * @curr_kind: enum stape_next of what ran on the CPU before the event
 * @old_pid: STAPE_EV_EXEC: the PID before
 * @comm: STAPE_EV_RENAME: the new name; STAPE_EV_TASK: its name; NUL-terminated
 * @lost: SCHEDTAPE_EV_LOST: events lost between @lost_first and @lost_last;
 *	0: nobody knows how many
 * @lost_first, @lost_last: of SCHEDTAPE_EV_PAUSED the range of the pause
 * @policy, @nice, @rt_priority: STAPE_EV_PRIO, STAPE_EV_TASK: what it has now
 * @boosted: the same: it runs at a priority that a waiter lends it
 * @prio: the same: the kernel's priority that it runs at, -1: deadline
 * @tgid: this and all that follow: STAPE_EV_TASK
 * @ppid: TGID of its parent, 0: not recorded
 * @ns_pid: its PID in its own PID namespace
 * @state: enum stape_state
 * @task_cpu: where it is
 * @start_time: when it was made, ns of CLOCK_MONOTONIC
 * @cgroup: id of its cgroup (version 2), 0: not known
 * @dl: with SCHED_DEADLINE as its @policy
 *
 * A loss or a pause has a time that is not after anything that follows it, and as
 * @curr what runs after it (at the end of a CPU: STAPE_NEXT_OTHER).
 */
struct schedtape_event {
	uint64_t time;
	uint32_t cpu;
	uint32_t type;
	uint32_t pid;
	uint32_t curr;
	uint32_t curr_kind;
	uint32_t old_pid;
	uint64_t arg;
	char comm[STAPE_COMM_LEN];
	uint64_t lost;
	uint64_t lost_first;
	uint64_t lost_last;
	uint8_t policy;
	int8_t nice;
	uint8_t rt_priority;
	bool boosted;
	int32_t prio;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ns_pid;
	uint32_t state;
	uint32_t task_cpu;
	uint64_t start_time;
	uint64_t cgroup;
	struct schedtape_deadline dl;
};

static inline unsigned int schedtape_switch_state(const struct schedtape_event *ev)
{
	return ev->arg & STAPE_SWITCH_STATE_MASK;
}

static inline unsigned int schedtape_switch_next(const struct schedtape_event *ev)
{
	return (ev->arg & STAPE_SWITCH_NEXT_MASK) >> STAPE_SWITCH_NEXT_SHIFT;
}

/* STAPE_TASK_EXITS, _ENTERS, _LEAVES, _MOVES, or what a later version has. */
static inline uint64_t schedtape_task_why(const struct schedtape_event *ev)
{
	return ev->arg >> STAPE_TASK_WHY_SHIFT;
}

/* Of a waking: it is the doing of the task on the CPU, not of an interrupt. */
static inline bool schedtape_waking_by_task(const struct schedtape_event *ev)
{
	return ev->arg == STAPE_CTX_TASK || ev->arg == STAPE_CTX_SOFTIRQ_TASK;
}

/* Not an event: something is missing on its CPU, or was not to be recorded. */
static inline bool schedtape_event_is_gap(const struct schedtape_event *ev)
{
	return ev->type >= SCHEDTAPE_EV_LOST;
}

/**
 * struct schedtape_page - a cursor in one page
 *
 * Plain data, to be embedded; valid as long as the page's memory is.
 */
struct schedtape_page {
	const unsigned char *data;
	uint32_t at;			/* bytes */
	uint32_t events;		/* taken so far */
	bool swap;			/* the page has the other byte order */
	bool lost_pending;		/* a loss stands before the first event */
	bool pause_pending;		/* and then, or instead, a pause */
	bool wakeup_pending;		/* the last word has another event */
	struct stape_page_header header;	/* in this machine's order */
	uint64_t time;
	uint32_t curr;
	uint32_t curr_kind;
};

/* @data: STAPE_PAGE_SIZE bytes, any alignment. -EBADMSG: not a sound page. */
int schedtape_page_open(struct schedtape_page *page, const void *data,
			struct schedtape_error *err);
/*
 * 1: an event; 0: the page's end; -EBADMSG: damage, the page ends here.
 * Events of a type that this library does not know are skipped.
 */
int schedtape_page_next(struct schedtape_page *page, struct schedtape_event *ev,
			struct schedtape_error *err);

const char *schedtape_event_name(unsigned int type);
const char *schedtape_context_name(unsigned int context);
const char *schedtape_policy_name(unsigned int policy);
char schedtape_state_char(unsigned int state);

/* -- tape: what both sides of a tape share --------------------------------- */

/**
 * struct schedtape_task - a task that was alive when it was described: when the
 *	recording started, or ended if its rings were overwritten
 * @time: when this was read, ns of CLOCK_MONOTONIC
 * @start_time: when the task was made, ns of CLOCK_MONOTONIC
 * @cpu_time: CPU time that it had used, ns
 * @state: enum stape_state
 * @affinity: bit n%8 of byte n/8: CPU n
 * @affinity_bytes: bytes of it; 0: not known
 * @cgroup: id of its cgroup (version 2), 0: not known
 * @dl: with SCHED_DEADLINE as its @policy
 */
struct schedtape_task {
	uint64_t time;
	uint64_t start_time;
	uint64_t cpu_time;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ns_pid;
	uint32_t cpu;
	uint32_t state;
	uint32_t policy;
	int32_t nice;
	uint32_t rt_priority;
	uint32_t affinity_bytes;
	const unsigned char *affinity;
	char comm[STAPE_COMM_LEN];
	uint64_t cgroup;
	struct schedtape_deadline dl;
};

/**
 * struct schedtape_cpu - what a session's ring went through on one CPU
 * @events: recorded, and kept
 * @lost: those that the ring had no room for, or the tape
 * @lost_first, @lost_last: times of the first and the last of them
 * @overwritten: those that newer ones have taken the place of, as was asked for
 */
struct schedtape_cpu {
	uint32_t cpu;
	uint32_t reserved;
	uint64_t events;
	uint64_t lost;
	uint64_t lost_first;
	uint64_t lost_last;
	uint64_t overwritten;
};

/**
 * struct schedtape_end - the end of a recording
 * @start_time: when it began, ns of CLOCK_MONOTONIC; a reader's is later if rings
 *	were overwritten: from when on the tape has everything
 * @stop_time: when it ended
 * @began: only a reader's: when it began in any case
 * @window_start: only a writer's: from when on the tape has everything, by the
 *	session's clock; 0: nothing was overwritten
 * @cpus: one for every CPU that recorded or lost anything; a writer's have times
 *	of the session's clock
 */
struct schedtape_end {
	uint64_t start_time;
	uint64_t stop_time;
	uint64_t began;
	uint64_t window_start;
	const struct schedtape_cpu *cpus;
	size_t nr_cpus;
};

/* -- tape-write.c ---------------------------------------------------------- */

/*
 * After a failed write the tape is cut back to its last whole record, and the
 * writer may be used on (for the end record, say).  Where it cannot be cut (a
 * pipe), every further call fails.
 */
struct schedtape_writer;

/**
 * struct schedtape_writer_options
 * @size: sizeof this struct
 * @level: zstd level of chunks, 0: not compressed
 */
struct schedtape_writer_options {
	size_t size;
	int level;
};

/*
 * @path: "-" is standard output.  A file is created with mode 0600 or truncated.
 * @meta: the machine and the recording, see Documentation/tape-format.rst.
 */
int schedtape_writer_create(const char *path, struct json_object *meta,
			    const struct schedtape_writer_options *options,
			    struct schedtape_writer **writer, struct schedtape_error *err);
int schedtape_writer_tasks(struct schedtape_writer *writer,
			   const struct schedtape_task *tasks, size_t n,
			   struct schedtape_error *err);
/*
 * How the session's clock goes: readers make ns of CLOCK_MONOTONIC of its times
 * by what stands between two of these.
 */
int schedtape_writer_clock(struct schedtape_writer *writer,
			   const struct stape_clock_sample *sample, struct schedtape_error *err);
/*
 * @pages: @n consecutive pages of one CPU's stream, in this machine's byte
 * order; they must not change during the call.  Only their headers are looked
 * at; -EINVAL: these are not such pages.
 */
int schedtape_writer_pages(struct schedtape_writer *writer, const void *pages,
			   size_t n, struct schedtape_error *err);
/* Bytes in the tape so far. */
uint64_t schedtape_writer_bytes(const struct schedtape_writer *writer);
/* Writes the end record.  Without it the tape is torn, and still readable. */
int schedtape_writer_end(struct schedtape_writer *writer, const struct schedtape_end *end,
			 struct schedtape_error *err);
/* Frees; -errno if anything (close, too) went wrong. */
int schedtape_writer_close(struct schedtape_writer *writer, struct schedtape_error *err);

/* -- tape-read.c ----------------------------------------------------------- */

struct schedtape_tape;

/*
 * @path: a regular file, or the directory of a tape in several; "-" is standard
 * input, which must be a regular file, too.  -EINVAL: not a tape; -ENOTSUP: of a
 * newer format; -EBADMSG: its header is damaged; whatever else is wrong with it,
 * the tape opens.
 */
int schedtape_tape_open(const char *path, struct schedtape_tape **tape,
			struct schedtape_error *err);
void schedtape_tape_close(struct schedtape_tape *tape);
struct json_object *schedtape_tape_meta(struct schedtape_tape *tape);
const struct schedtape_task *schedtape_tape_tasks(struct schedtape_tape *tape, size_t *n);
/* Of a torn tape, what its chunks say. */
const struct schedtape_end *schedtape_tape_end(struct schedtape_tape *tape);
/*
 * Where the tape ends too early or is damaged, and how; NULL: nowhere.  A
 * chunk's damage is found when it is read.
 */
const char *schedtape_tape_torn(struct schedtape_tape *tape);
uint64_t schedtape_tape_bytes(const struct schedtape_tape *tape);
uint64_t schedtape_tape_chunks(const struct schedtape_tape *tape);
uint64_t schedtape_tape_pages(const struct schedtape_tape *tape);
/*
 * Events of all CPUs by time, those of one time of the session's clock by CPU.
 * Times are ns of CLOCK_MONOTONIC, whatever that clock was.  1: an event; 0: the
 * end; -errno.  Whatever is missing (lost in the ring, pages that the recorder
 * didn't get, damaged chunks) is a SCHEDTAPE_EV_LOST.  -EBADMSG: a page
 * contradicts itself though its checksum is right; what is left of the page is
 * left out, and the next call goes on behind it.
 *
 * Chunks are loaded by threads of the tape's own, until the end is reached.
 */
int schedtape_tape_next(struct schedtape_tape *tape, struct schedtape_event *ev,
			struct schedtape_error *err);
/* Back to the first event. */
int schedtape_tape_rewind(struct schedtape_tape *tape, struct schedtape_error *err);

/* -- tape-clock.c ---------------------------------------------------------- */

/* What the clocks said during the recording, in order. */
const struct stape_clock_sample *schedtape_tape_clocks(struct schedtape_tape *tape, size_t *n);
/* The session's clock was not CLOCK_MONOTONIC but the CPU's counter. */
bool schedtape_tape_counts(struct schedtape_tape *tape);
/*
 * By how much somebody has set CLOCK_REALTIME between two samples, ns; 0: nobody,
 * or by so little that it cannot be told.
 */
int64_t schedtape_clock_step(const struct stape_clock_sample *from,
			     const struct stape_clock_sample *to);

/* -- tape-copy.c ----------------------------------------------------------- */

/**
 * struct schedtape_copy_options
 * @size: sizeof this struct
 * @recover: what is missing or damaged is left out, not refused
 * @progress: NULL, or told from time to time of how many bytes are done
 * @arg: for @progress
 */
struct schedtape_copy_options {
	size_t size;
	bool recover;
	void (*progress)(void *arg, uint64_t done, uint64_t bytes);
	void *arg;
};

/*
 * Makes one file of a tape: all sound records as they are, and an end.  Nothing
 * of the tape is changed.  -EBADMSG: it is damaged, and not to be recovered.
 * schedtape_tape_torn() tells afterwards what was left out, and so does the copy.
 * @bytes: of the copy.
 */
int schedtape_tape_copy(struct schedtape_tape *tape, const char *path,
			const struct schedtape_copy_options *options, uint64_t *bytes,
			struct schedtape_error *err);

/* -- timeline.c: what the events mean for each task ------------------------ */

/**
 * struct schedtape_life - one task, from its fork (or the start) to its exit
 * @index: number in the timeline, in order of appearance; a PID that is used
 *	again is another life
 * @parent: index of the life that forked it, or SCHEDTAPE_NONE
 * @process: index of the life that leads its thread group; its own: a leader
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
 * @task: the tape's description of it, NULL: none, or it was forked on the tape
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
 * @latencies: times that it waited, woken or preempted, and got a CPU; waits
 *	with a loss in between are not counted
 * @latency_total, @latency_max: ns
 * @latency_max_time: when the longest wait ended
 */
struct schedtape_life {
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
	const struct schedtape_task *task;
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
	uint64_t latencies;
	uint64_t latency_total;
	uint64_t latency_max;
	uint64_t latency_max_time;
};

#define SCHEDTAPE_NONE	UINT32_MAX

/* Lives lie side by side: any of them, from any other. */
static inline const struct schedtape_life *
schedtape_life_at(const struct schedtape_life *life, uint32_t index)
{
	return life - life->index + index;
}

/**
 * struct schedtape_edge - who woke whom
 * @waker, @wakee: lives
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
 * lives from the start.  A life's cpu_time is up to date at each call, and so
 * is that of its parent or waker.  Any of them may be NULL; what is not 0 ends
 * the run.  Pointers to lives hold during the call only (the lives move when
 * there are more of them): keep the index.
 *
 * A life is told born() first and either exited() or ended() last; in between,
 * slept() and woke() take turns, and slept() comes first.  Of a life that fell
 * asleep unseen, before the start or in a loss, slept() is told together with
 * woke(), at the same time.  After left(), which may come at any time, no slept()
 * or woke() is told until joined(), after which slept() comes first again.
 *
 * @born: a new life: forked by @parent just now, or (NULL) there from the
 *	start; those are told, with the time of the start, when the first event
 *	names them, but before anything else of theirs.  NULL, too, if it came
 *	into the filter just now, or the fork is lost
 * @waking: @waker (its cpu_time is up to date) may be waking someone; tells by
 *	the next woke() with @ticket whether it really did.
 * @woke: @life's sleep ended.  @waker: NULL if it was not a task of the tape,
 *	itself or in a softirq of its own; @ticket: of the waking(), 0 without
 *	waker
 * @slept: @life blocked, or was stopped
 * @left: it went out of the filter: what it does from now on is not known
 * @joined: it is back
 * @renamed: by exec or otherwise, @life->comm
 * @identified: @life->first_comm or @life->process was not known at its birth,
 *	and now is
 * @waited: it got a CPU after having waited for one for @latency, woken or preempted
 * @setprio: another @life->policy, nice, rt_priority or dl
 * @moved: another @life->cgroup
 * @exited: last switch-out of an exited task; or its PID is another's now
 * @ended: the tape's end has come, with the life still there
 * @marked: the next of @marks has come, with the life there, @asleep or not.  What
 *	is told at the same time, or later, comes after it
 * @reached: it has come, and been told of all lives
 * @marks: times, in order; @nr_marks of them
 * @no_edges: schedtape_timeline_edges() will not be asked: it has none then
 */
struct schedtape_timeline_ops {
	int (*born)(void *arg, const struct schedtape_life *life,
		    const struct schedtape_life *parent, uint64_t time);
	int (*waking)(void *arg, const struct schedtape_life *waker,
		      const struct schedtape_life *wakee, uint64_t ticket, uint64_t time);
	int (*woke)(void *arg, const struct schedtape_life *life,
		    const struct schedtape_life *waker, uint64_t ticket, uint64_t time);
	int (*slept)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*left)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*joined)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*renamed)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*identified)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*waited)(void *arg, const struct schedtape_life *life, uint64_t latency,
		      uint64_t time);
	int (*setprio)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*moved)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*exited)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*ended)(void *arg, const struct schedtape_life *life, uint64_t time);
	int (*marked)(void *arg, const struct schedtape_life *life, bool asleep, uint64_t time);
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
/* All lives, by index. */
const struct schedtape_life *schedtape_timeline_lives(const struct schedtape_timeline *timeline,
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
	SCHEDTAPE_LATENCIES,	/* from a wake-up or preemption to a CPU, ns */
	SCHEDTAPE_NR_LENGTHS,
};

/*
 * For each life of a tape the distributions of its lengths, in steps of 3 %, and the
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
 * @a, @b: lives; one of them is SCHEDTAPE_NONE if the task has no counterpart
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
/* Edges between matched tasks whose counts differ, by waker, then wakee. */
const struct schedtape_edge_pair *
schedtape_comparison_edges(const struct schedtape_comparison *comparison, size_t *n);
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

#endif /* SCHEDTAPE_H */
