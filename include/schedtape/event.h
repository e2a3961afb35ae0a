/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The wire format: a tape contains the ring pages as the module writes them.
 * Documentation/event-format.rst is the manual of this file.  A change of one has
 * to change the other; and STAPE_WIRE_VERSION, if a reader of today would misunderstand it.
 *
 * A page is STAPE_PAGE_SIZE bytes: a header, then 64-bit words, in the byte
 * order of the machine that recorded (a tape's header says which).
 *
 *   63   60 59                          32 31                  10 9        0
 *  +-------+------------------------------+----------------------+----------+
 *  | type  | time since the last event    | PID                  | argument |
 *  | 4 bit | on this CPU, 28 bits         | 22 bits              | 10 bits  |
 *  +-------+------------------------------+----------------------+----------+
 *
 * The time of a page's first event counts from the page's base time.  A reader
 * knows which task runs on the CPU from the page's header and its switches, so
 * neither the previous task of a switch nor the waker of a wake-up is written.
 *
 * Events of types below 8 are one word.  Types 8 to 13 have payload words behind
 * them, as many as the low four bits of the argument say, so that a reader can
 * skip an unknown type.  Types 14 and 15 are prefixes of the next event.
 *
 * Forks, names, cgroups, policies, affinities and exits of tasks are in pages of their own, the
 * descriptions.  These belong to no CPU, because a task may be described on any CPU, also on one
 * that the session does not record.  Their events of a type below 8 name all that they need.
 *
 * If a task's wakeup directly follows its waking, both are one word, a wake:
 *
 *   63   60 59            48 47           32 31                  10 9 8 7      0
 *  +-------+----------------+---------------+----------------------+---+--------+
 *  | wake  | waking to      | since the     | PID                  |con|CPU of  |
 *  |       | wakeup, 12 bits| last, 16 bits | 22 bits              |txt|wakeup  |
 *  +-------+----------------+---------------+----------------------+---+--------+
 */
#ifndef _SCHEDTAPE_EVENT_H
#define _SCHEDTAPE_EVENT_H

#include <linux/types.h>

#define STAPE_WIRE_VERSION	3

#define STAPE_PAGE_SIZE		4096
#define STAPE_PAGE_MAGIC	0x53545032	/* "STP2" */

/* The cpu of pages with descriptions. */
#define STAPE_CPU_NONE		0xffffffffU

/**
 * struct stape_page_header - header that makes a ring page readable alone
 * @magic: STAPE_PAGE_MAGIC; its bytes are reversed if the page has the other byte order
 * @cpu: the CPU that recorded these events; STAPE_CPU_NONE: descriptions, from any CPU
 * @used: valid bytes of this page, the header included
 * @events: number of events in this page; prefixes and payload words do not count
 * @curr: PID that ran on the CPU before the first event, 0: no task of the filter
 * @curr_kind: enum stape_next, what ran before the first event
 * @flags: STAPE_PAGE_*
 * @time: base time, from which the first event's time counts
 * @end: time of the last event
 * @seq: number of this page in the stream of its CPU, or of the descriptions, counted from 0
 * @lost: number of events lost between the previous page and this one
 * @lost_first: time of the first lost event, 0: no event was lost
 * @lost_last: time of the last lost event
 *
 * Times are of the session's clock: CLOCK_MONOTONIC in ns or the CPU's counter in ticks
 * (enum stape_clock in schedtape/netlink.h).
 *
 * The header does not grow.  What a later version has to say about a page is a STAPE_EV_SET, the
 * first event of the page, at its base time.
 */
struct stape_page_header {
	__u32 magic;
	__u32 cpu;
	__u32 used;
	__u32 events;
	__u32 curr;
	__u16 curr_kind;
	__u16 flags;
	__u64 time;
	__u64 end;
	__u64 seq;
	__u64 lost;
	__u64 lost_first;
	__u64 lost_last;
};

/*
 * The session was paused before this page.  No event was recorded from @lost_first
 * to @lost_last; @lost says whether events were lost as well.
 */
#define STAPE_PAGE_PAUSED	0x0001
/* Switches of tasks that sleep name the system call: STAPE_SWITCH_SYSCALL. */
#define STAPE_PAGE_SYSCALLS	0x0002

enum stape_event_type {
	STAPE_EV_NONE = 0,	/* never written: a page with a zero word is corrupt */
	STAPE_EV_SWITCH = 1,	/* PID: next; argument: STAPE_SWITCH_* */
	STAPE_EV_WAKING = 2,	/* PID: wakee; argument: STAPE_WAKING_* */
	STAPE_EV_WAKE = 3,	/* a waking and its wakeup: STAPE_WAKE_* */
	STAPE_EV_WAKEUP = 4,	/* PID: wakee; argument: CPU it is queued on */
	STAPE_EV_WAKEUP_NEW = 5,	/* PID: new task; argument: CPU it is queued on */
	STAPE_EV_FORK = 6,	/* PID: child; argument: STAPE_FORK_* */
	STAPE_EV_MIGRATE = 7,	/* PID; argument: CPU it moves to */
	STAPE_EV_EXEC = 8,	/* PID; one payload word: its PID before */
	STAPE_EV_RENAME = 9,	/* PID; two payload words: new comm, as bytes */
	STAPE_EV_PRIO = 10,	/* PID; payload: STAPE_PRIO_*, perhaps more, see below */
	STAPE_EV_TASK = 11,	/* PID; argument: STAPE_TASK_*; payload: enum stape_task_word */
	STAPE_EV_EXIT = 12,	/* PID; argument: STAPE_EXIT_*; no payload */
	STAPE_EV_SET = 13,	/* PID; argument: STAPE_SET_*, which says what the payload is */
	STAPE_EV_ARG = 14,	/* prefix: bits 53..0 are bits 63..10 of the argument */
	STAPE_EV_TIME = 15,	/* prefix: bits 59..0 are added to the time */
};

/* Argument of a switch: the state of prev, and what next is. */
#define STAPE_SWITCH_STATE_MASK	0x00f	/* enum stape_state of prev */
#define STAPE_SWITCH_NEXT_SHIFT	4
#define STAPE_SWITCH_NEXT_MASK	0x030	/* enum stape_next */
#define STAPE_SWITCH_PROXY	0x040	/* reserved, always 0: prev lends its time */
#define STAPE_SWITCH_SYSCALL	0x080	/* prev sleeps; its system call is in bits 41..10 */
#define STAPE_SWITCH_SYSCALL_32	0x100	/* it is one of the 32-bit system calls of this machine */
#define STAPE_SWITCH_SYSCALL_SHIFT	10	/* 32 bits: its number, or STAPE_SYSCALL_NONE */

/* A task of user space sleeps in no system call, but in a page fault, say. */
#define STAPE_SYSCALL_NONE	0xffffffffU

enum stape_state {
	STAPE_STATE_RUNNING = 0,	/* preempted, or yielded */
	STAPE_STATE_SLEEPING = 1,	/* interruptible */
	STAPE_STATE_BLOCKED = 2,	/* uninterruptible, "D" */
	STAPE_STATE_STOPPED = 3,
	STAPE_STATE_TRACED = 4,
	STAPE_STATE_DEAD = 5,
	STAPE_STATE_PARKED = 6,
	STAPE_STATE_IDLE = 7,		/* uninterruptible without load */
};

enum stape_next {
	STAPE_NEXT_TASK = 0,	/* a task of the filter, by its PID */
	STAPE_NEXT_IDLE = 1,	/* PID 0: the CPU is idle */
	STAPE_NEXT_OTHER = 2,	/* PID 0: another task, outside the filter */
};

/* Argument of a waking. */
#define STAPE_WAKING_CONTEXT_SHIFT	8	/* 2 bits: enum stape_context */
#define STAPE_WAKING_CONTEXT_MASK	0x300

/*
 * Where the waker's code ran.  The task on the CPU is the waker only in
 * STAPE_CTX_TASK and STAPE_CTX_SOFTIRQ_TASK (loopback networking, say).
 */
enum stape_context {
	STAPE_CTX_TASK = 0,
	STAPE_CTX_SOFTIRQ = 1,	/* raised by an interrupt, or by another task */
	STAPE_CTX_HARDIRQ = 2,
	STAPE_CTX_SOFTIRQ_TASK = 3,	/* raised by the task that it runs on top of */
};

/* Parts of a wake, in the place of other events' time and argument. */
#define STAPE_WAKE_WAKING_MASK	0xffffU		/* of the time: from the last event to the waking */
#define STAPE_WAKE_WAKEUP_SHIFT	48		/* of the word: time from waking to wakeup */
#define STAPE_WAKE_WAKEUP_MASK	0xfffU
#define STAPE_WAKE_CPU_MASK	0x0ff		/* of the argument: CPU of the wakeup */

/* Argument of a fork.  Without a parent, the task that runs on the page's CPU is the parent. */
#define STAPE_FORK_THREAD	0x001	/* shares its parent's thread group */
#define STAPE_FORK_SIBLING	0x002	/* CLONE_PARENT: the parent's own parent is its parent */
#define STAPE_FORK_PARENT_SHIFT	10	/* 22 bits: the parent's PID */

/* The payload word of STAPE_EV_PRIO: the task's values from now on. */
#define STAPE_PRIO_POLICY_SHIFT		0	/* 8 bits: SCHED_* */
#define STAPE_PRIO_NICE_SHIFT		8	/* 8 bits: nice + 20 */
#define STAPE_PRIO_RT_SHIFT		16	/* 8 bits: rt_priority */
#define STAPE_PRIO_PRIO_SHIFT		32	/* 16 bits: kernel priority + 1, 0: deadline */
#define STAPE_PRIO_BOOSTED		(1ULL << 48)	/* lent by a waiter (PI) */

/* With SCHED_DEADLINE, these words follow those of STAPE_EV_PRIO and STAPE_EV_TASK. */
enum stape_dl_word {
	STAPE_DL_RUNTIME = 0,		/* CPU time that it may use in each period, ns */
	STAPE_DL_DEADLINE = 1,		/* from the beginning of the period, ns */
	STAPE_DL_PERIOD = 2,		/* ns */
	STAPE_DL_WORDS = 3,
};

/* With other policies, these words follow in the same places, if one of them is not 0. */
enum stape_wish_word {
	STAPE_WISH_SLICE = 0,		/* the slice that was set for the task, ns; 0: none was */
	STAPE_WISH_SLACK = 1,		/* timer slack, ns, plus 1; 0: it is STAPE_USUAL_SLACK */
	STAPE_WISH_CLAMPS = 2,		/* STAPE_CLAMP_* */
	STAPE_WISH_WORDS = 3,
};

/* Descriptions have the timer slack of their time: no event follows a change of it. */
#define STAPE_USUAL_SLACK		50000	/* ns */

/* Utilization clamps that were set for the task, from 0 to 1024, plus 1; 0: none was set. */
#define STAPE_CLAMP_MIN_SHIFT		0	/* 16 bits */
#define STAPE_CLAMP_MAX_SHIFT		16	/* 16 bits */
#define STAPE_CLAMP_MASK		0xffffU

/* Which attribute is set: bits of the argument above the number of words. */
#define STAPE_SET_SHIFT		4
#define STAPE_SET_AFFINITY	0	/* CPU n: bit n % 64 of payload word n / 64 */
#define STAPE_SET_THROTTLE	1	/* of a cgroup, PID 0; payload: enum stape_throttle_word */
#define STAPE_SET_TRIGGER	2	/* fired for the task; payload: enum stape_trigger_word */
#define STAPE_SET_IDLE		3	/* of the page's CPU, PID 0; enum stape_idle_word */
#define STAPE_SET_CGROUP	4	/* a cgroup's name, PID 0; enum stape_cgroup_word */
#define STAPE_SET_INTERVAL	5	/* an interval ends, PID 0; enum stape_interval_word */
/*
 * New events are further attributes, because no type is left: readers skip those that they do not
 * know.  The numbers from 64 on are in bits 31..0 of the first payload word of this one.
 */
#define STAPE_SET_MORE		63

/*
 * STAPE_SET_AFFINITY leaves out CPUs beyond these words.  A word of 0 follows the last
 * word with a CPU, and ends the payload.
 */
#define STAPE_AFFINITY_WORDS	14

/*
 * The payload of STAPE_SET_THROTTLE: a cgroup's quota is used up on a CPU, which runs none of its
 * tasks, nor those of cgroups below, until it is throttled no longer; see enum stape_throttling.
 */
enum stape_throttle_word {
	STAPE_THROTTLE_CGROUP = 0,	/* id of the cgroup */
	STAPE_THROTTLE_WHERE = 1,	/* the CPU, below bit 32; STAPE_THROTTLE_BEGINS */
	STAPE_THROTTLE_WORDS = 2,
};

#define STAPE_THROTTLE_BEGINS	(1ULL << 32)	/* of @WHERE; else it ends */

/*
 * The payload of STAPE_SET_TRIGGER: one of the session's triggers (schedtape/netlink.h) has fired.
 * PID 0: for all tasks together.
 */
enum stape_trigger_word {
	STAPE_TRIGGER_VALUE = 0,	/* ns; of STAPE_TRIGGER_RATE: wake-ups in a second */
	STAPE_TRIGGER_WHERE = 1,	/* STAPE_TRIGGER_*_SHIFT, STAPE_TRIGGER_LASTS */
	STAPE_TRIGGER_WORDS = 2,
};

#define STAPE_TRIGGER_CPU_SHIFT		0	/* 32 bits: the task's, not always the page's */
#define STAPE_TRIGGER_NUMBER_SHIFT	32	/* 8 bits: which one of the session's, from 0 */
#define STAPE_TRIGGER_KIND_SHIFT	40	/* 8 bits: enum stape_trigger_kind */
#define STAPE_TRIGGER_LASTS		(1ULL << 48)	/* what it is about has not ended yet */

/*
 * The payload of STAPE_SET_IDLE: how long the page's CPU was idle since the last switch away from a
 * recorded task, or since the last of these events.  In the rest of that time it ran others.
 */
enum stape_idle_word {
	STAPE_IDLE_TIME = 0,	/* by the session's clock, or STAPE_IDLE_UNKNOWN */
	STAPE_IDLE_SPAN = 1,	/* what the CPU does, and for how long it has: STAPE_IDLE_*_SHIFT */
	STAPE_IDLE_WORDS = 2,
};

#define STAPE_IDLE_UNKNOWN	(~0ULL)

#define STAPE_IDLE_KIND_SHIFT	0	/* 2 bits: enum stape_next; _TASK: as its switch says */
#define STAPE_IDLE_OFFLINE	3	/* the CPU is offline; with _UNKNOWN: it has been so */
#define STAPE_IDLE_SPAN_SHIFT	2	/* time by the session's clock, up to 2^56 */

/*
 * A switch from idle or another task to one of the filter has the same in its argument above bit 9,
 * if that fits and a reader could not know it: bits 9..0 are as always.
 */
#define STAPE_SWITCH_IDLE_SHIFT		10	/* 31 bits: idle time >> STAPE_SWITCH_IDLE_UNIT */
#define STAPE_SWITCH_IDLE_BITS		31
#define STAPE_SWITCH_IDLE_UNIT		4
#define STAPE_SWITCH_FROM_IDLE		(1ULL << 41)	/* the span is one of idle time */
#define STAPE_SWITCH_SPAN_SHIFT		42	/* 22 bits: span >> STAPE_SWITCH_SPAN_UNIT */
#define STAPE_SWITCH_SPAN_BITS		22
#define STAPE_SWITCH_SPAN_UNIT		10

/*
 * The payload of STAPE_SET_CGROUP, a description: the name of a cgroup (version 2) that was made
 * after the session had got its filter.  It comes before the first task is described in the cgroup
 * or below it, and perhaps again later.  A name without its NUL goes on in the next such event.
 */
enum stape_cgroup_word {
	STAPE_CGROUP_ID = 0,
	STAPE_CGROUP_PARENT = 1,	/* id of the cgroup that it is in */
	STAPE_CGROUP_NAME = 2,		/* as bytes, with NUL */
	STAPE_CGROUP_WORDS = 15,	/* at most */
};

/*
 * The payload of STAPE_SET_INTERVAL, a description: an interval of a sample has ended, see
 * session-mark in schedtape/netlink.h.
 */
enum stape_interval_word {
	STAPE_INTERVAL_NR = 0,		/* its number, from 1 */
	STAPE_INTERVAL_WORDS = 1,
};

/* Whether an exit begins or has ended: bits of the argument above the number of words. */
#define STAPE_EXIT_SHIFT	4
#define STAPE_EXIT_BEGINS	0	/* the task is in do_exit(), and still runs */
#define STAPE_EXIT_ENDED	1	/* it has ended, on a CPU that has no ring */

/* Why a task is described: bits of the argument above the number of words. */
#define STAPE_TASK_WHY_SHIFT	4
#define STAPE_TASK_EXITS	0	/* an EXIT follows */
#define STAPE_TASK_ENTERS	1	/* it is in the filter from now on */
#define STAPE_TASK_LEAVES	2	/* it has left the filter, and still exists */
#define STAPE_TASK_MOVES	3	/* it is in another cgroup from now on */
#define STAPE_TASK_FORKED	4	/* with its fork: not into the initial PID namespace */
#define STAPE_TASK_REGROUPED	5	/* it is in another autogroup from now on */

/* The payload of STAPE_EV_TASK. */
enum stape_task_word {
	STAPE_TASK_COMM = 0,		/* and 1: as bytes */
	STAPE_TASK_GROUP = 2,		/* TGID; above bit 32 the parent's, 0: not recorded */
	STAPE_TASK_PRIO = 3,		/* as STAPE_EV_PRIO's */
	STAPE_TASK_START_TIME = 4,	/* ns of CLOCK_MONOTONIC */
	STAPE_TASK_STATE = 5,		/* enum stape_state; above bit 32 its CPU */
	STAPE_TASK_NS_PID = 6,		/* PID in its own PID namespace */
	STAPE_TASK_CGROUP = 7,		/* id of its cgroup; older modules leave it out */
	STAPE_TASK_WORDS = 8,		/* perhaps with more behind them, as in a PRIO */
};

/*
 * One more word follows all of these, as the 9th or the 12th, unless it is 0: with which tasks this
 * one shares an autogroup, and a core.
 */
#define STAPE_SHARED_AUTOGROUP_SHIFT	0	/* 22 bits: PID of the session, of setsid(2) */
#define STAPE_SHARED_CORE_SHIFT		32	/* 28 bits: stands for a core-scheduling cookie */
#define STAPE_SHARED_CORE_MASK		((1U << 28) - 1)

#define STAPE_TYPE_SHIFT	60
#define STAPE_DELTA_SHIFT	32
#define STAPE_DELTA_BITS	28
#define STAPE_PID_SHIFT		10
#define STAPE_PID_BITS		22
#define STAPE_ARG_BITS		10

#define STAPE_DELTA_MASK	((1U << STAPE_DELTA_BITS) - 1)
#define STAPE_PID_MASK		((1U << STAPE_PID_BITS) - 1)
#define STAPE_ARG_MASK		((1U << STAPE_ARG_BITS) - 1)
#define STAPE_PAYLOAD_MASK	0x00f
#define STAPE_TIME_MASK		((1ULL << STAPE_TYPE_SHIFT) - 1)

#define STAPE_COMM_LEN		16

/**
 * stape_word() - pack an event
 * @type: enum stape_event_type
 * @delta: time since the last event on this CPU, below 2^28
 * @pid: below 2^22, which is the kernel's own limit
 * @arg: below 2^10
 */
static inline __u64 stape_word(__u64 type, __u64 delta, __u64 pid, __u64 arg)
{
	return type << STAPE_TYPE_SHIFT | delta << STAPE_DELTA_SHIFT |
	       pid << STAPE_PID_SHIFT | arg;
}

#endif /* _SCHEDTAPE_EVENT_H */
