/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of libschedtape: errors, and the ring pages that events come in.
 */
#ifndef LIBSCHEDTAPE_PAGE_H
#define LIBSCHEDTAPE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape/device.h>
#include <schedtape/event.h>
#include <schedtape/netlink.h>

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
	SCHEDTAPE_EV_AFFINITY = 16,	/* STAPE_EV_SET that sets an affinity */
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

/* What a task can have been given; later kernels may have other policies. */
#define SCHEDTAPE_MAX_POLICY		UINT8_MAX
#define SCHEDTAPE_MIN_NICE		(-20)
#define SCHEDTAPE_MAX_NICE		19
#define SCHEDTAPE_MAX_RT_PRIORITY	99
#define SCHEDTAPE_POLICY_EXT		7	/* SCHED_EXT, which few C libraries define */

/* Of a mask of CPUs that an event has: bit n % 8 of byte n / 8 is CPU n. */
#define SCHEDTAPE_AFFINITY_BYTES	(STAPE_AFFINITY_WORDS * sizeof(uint64_t))

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
 * @affinity: SCHEDTAPE_EV_AFFINITY, in place of @lost and all that follow: where it may
 *	run, as far as that goes
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
	union {
		struct {
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
		unsigned char affinity[SCHEDTAPE_AFFINITY_BYTES];
	};
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

#endif /* LIBSCHEDTAPE_PAGE_H */
