/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The wire format: what the module writes into a ring page is what lies in a
 * tape.  Documentation/event-format.rst is the manual of this file; what
 * changes one changes the other, and STAPE_WIRE_VERSION with them.
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
 * The time before a page's first event is the page's base time.  Who runs on
 * the CPU follows from the page's header and the switches in it, so neither
 * the previous task of a switch nor the waker of a wake-up is written.
 *
 * Types below 8 are one word.  Types from 8 to 13 carry payload words behind
 * them, as many as the low four bits of their argument say: a reader skips a
 * type that it does not know.  Types 14 and 15 are prefixes of the next event.
 */
#ifndef _SCHEDTAPE_EVENT_H
#define _SCHEDTAPE_EVENT_H

#include <linux/types.h>

#define STAPE_WIRE_VERSION	1

#define STAPE_PAGE_SIZE		4096
#define STAPE_PAGE_MAGIC	0x53545031	/* "STP1" */

/**
 * struct stape_page_header - what makes a ring page self-contained
 * @magic: STAPE_PAGE_MAGIC; read in the wrong byte order it is another number
 * @cpu: the CPU whose events these are
 * @used: bytes of this page that mean something, the header included
 * @events: events in this page; prefixes and payload words do not count
 * @curr: PID that ran on the CPU before the first event, 0: none of the filter
 * @curr_kind: enum stape_next of what ran before the first event
 * @time: time before the first event, ns of the session's clock
 * @end: time of the last event
 * @seq: number of this page in the stream of its CPU, counted from 0
 * @lost: events lost between the page before and this one
 * @lost_first: time of the first of them, 0: none was lost
 * @lost_last: time of the last of them
 */
struct stape_page_header {
	__u32 magic;
	__u32 cpu;
	__u32 used;
	__u32 events;
	__u32 curr;
	__u32 curr_kind;
	__u64 time;
	__u64 end;
	__u64 seq;
	__u64 lost;
	__u64 lost_first;
	__u64 lost_last;
};

enum stape_event_type {
	STAPE_EV_NONE = 0,	/* never written: a zero word is damage */
	STAPE_EV_SWITCH = 1,	/* PID: next; argument: STAPE_SWITCH_* */
	STAPE_EV_WAKING = 2,	/* PID: wakee; argument: enum stape_context */
	STAPE_EV_WAKEUP = 3,	/* PID: wakee; argument: CPU it is queued on */
	STAPE_EV_WAKEUP_NEW = 4,	/* the same for a task's first time */
	STAPE_EV_FORK = 5,	/* PID: child; argument: STAPE_FORK_* */
	STAPE_EV_EXIT = 6,	/* PID: the task that exits, on its CPU */
	STAPE_EV_MIGRATE = 7,	/* PID; argument: CPU it moves to */
	STAPE_EV_EXEC = 8,	/* PID; one payload word: its PID before */
	STAPE_EV_RENAME = 9,	/* PID; two payload words: comm, as bytes */
	STAPE_EV_ARG = 14,	/* prefix: bits 31..0 are bits 41..10 of the argument */
	STAPE_EV_TIME = 15,	/* prefix: bits 59..0 are added to the time */
};

/* What a switch's argument says: prev's state, and what next is. */
#define STAPE_SWITCH_STATE_MASK	0x00f	/* enum stape_state of prev */
#define STAPE_SWITCH_NEXT_SHIFT	4
#define STAPE_SWITCH_NEXT_MASK	0x030	/* enum stape_next */

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

/* Where the waker's code ran; only in STAPE_CTX_TASK was it the waker's will. */
enum stape_context {
	STAPE_CTX_TASK = 0,
	STAPE_CTX_SOFTIRQ = 1,
	STAPE_CTX_HARDIRQ = 2,
	STAPE_CTX_NMI = 3,
};

#define STAPE_FORK_THREAD	0x001	/* shares its parent's thread group */

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
