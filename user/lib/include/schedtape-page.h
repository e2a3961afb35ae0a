/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: errors, and ring pages with their events.  schedtape.h has the rules.
 */
#ifndef LIBSCHEDTAPE_PAGE_H
#define LIBSCHEDTAPE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape/device.h>
#include <schedtape/event.h>
#include <schedtape/netlink.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct schedtape_error - why a call failed
 * @text: one line without a newline: what, where, and what to do about it
 */
struct schedtape_error {
	char text[512];
};

/* -- page.c: ring pages ---------------------------------------------------- */

/* Pseudo types of struct schedtape_event, beyond enum stape_event_type. */
enum schedtape_event_type {
	SCHEDTAPE_EV_AFFINITY = 16,	/* STAPE_EV_SET that sets an affinity */
	SCHEDTAPE_EV_THROTTLE = 17,	/* STAPE_EV_SET: a cgroup's quota is used up on a CPU */
	SCHEDTAPE_EV_UNTHROTTLE = 18,	/* STAPE_EV_SET: it is no longer */
	SCHEDTAPE_EV_TRIGGER = 19,	/* STAPE_EV_SET: a trigger of the session has fired */
	SCHEDTAPE_EV_IDLE = 20,		/* how long the CPU was idle: a SET, or of a switch */
	SCHEDTAPE_EV_INTERVAL = 21,	/* STAPE_EV_SET: an interval of a sample ends */
	SCHEDTAPE_EV_LOST = 32,		/* events of this CPU are missing here */
	SCHEDTAPE_EV_PAUSED = 33,	/* the session was paused, no event is lost */
};

/**
 * struct schedtape_deadline - parameters of SCHED_DEADLINE, ns; all 0: not recorded
 * @runtime: CPU time in each period
 * @deadline: from the beginning of the period
 */
struct schedtape_deadline {
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/**
 * struct schedtape_wish - what was set for a task of another policy; 0: nothing, or not recorded
 * @slice: ns, as sched_runtime of sched_setattr(2)
 * @slack: timer slack when the task was described, ns, plus 1; 0: the usual STAPE_USUAL_SLACK
 * @clamps: STAPE_CLAMP_*, see schedtape_clamp_min()
 */
struct schedtape_wish {
	uint64_t slice;
	uint64_t slack;
	uint64_t clamps;
};

#define SCHEDTAPE_POLICY_EXT	7	/* SCHED_EXT: few C libraries define it */
#define SCHEDTAPE_NICE_UNKNOWN	127	/* in place of the nice value of an autogroup */

/* Size of the CPU mask in an event: bit n % 8 of byte n / 8 is CPU n. */
#define SCHEDTAPE_AFFINITY_BYTES	(STAPE_AFFINITY_WORDS * sizeof(uint64_t))

/**
 * struct schedtape_fired - a trigger that has fired, see schedtape/netlink.h
 * @value: ns, or wake-ups in a second
 * @number: which of the session's triggers, from 0
 * @kind: enum stape_trigger_kind, or a value of a later version
 * @cpu: the task's CPU
 * @lasts: the wait or run has not ended
 */
struct schedtape_fired {
	uint64_t value;
	uint32_t number;
	uint32_t kind;
	uint32_t cpu;
	bool lasts;
};

/**
 * struct schedtape_idle - what a CPU did that ran no task of the tape
 * @time: how long it was idle since its last switch away from a task, or since the last event of
 *	this type; UINT64_MAX: not known
 * @since: since when it does what it does; perhaps before that switch
 * @kind: enum stape_next: what that is; STAPE_NEXT_TASK: it runs the task of the last switch;
 *	STAPE_IDLE_OFFLINE: it is offline; if @time is not known, it has been offline until now
 */
struct schedtape_idle {
	uint64_t time;
	uint64_t since;
	uint32_t kind;
};

/**
 * struct schedtape_brief - what all types of events have
 * @time: ns of the session's clock
 * @arg: depends on @type, see schedtape/event.h; SCHEDTAPE_EV_INTERVAL: the interval's number
 * @cpu: the CPU that recorded it; STAPE_CPU_NONE: a description, from any CPU
 * @pid: the event's task; 0 for a switch to an other task or to idle
 * @curr: PID of the filter's task that ran on the CPU before the event, or 0; the parent of a
 *	STAPE_EV_FORK; 0 for all other descriptions
 * @type: enum stape_event_type or enum schedtape_event_type
 * @curr_kind: enum stape_next of what ran on the CPU before the event
 * @detailed: the event may have more than these: the other members of struct schedtape_event
 */
struct schedtape_brief {
	uint64_t time;
	uint64_t arg;
	uint32_t cpu;
	uint32_t pid;
	uint32_t curr;
	uint16_t type;
	uint8_t curr_kind;
	bool detailed;
};

/**
 * struct schedtape_event - one event, unpacked
 * @brief: the members before it, which are described there
 * @reserved: 0
 * @old_pid: STAPE_EV_EXEC: the PID before
 * @comm: STAPE_EV_RENAME: the new name; STAPE_EV_TASK: the name; NUL-terminated
 * @lost: SCHEDTAPE_EV_LOST: number of events lost between @lost_first and @lost_last;
 *	0: the number is not known
 * @lost_first, @lost_last: for SCHEDTAPE_EV_PAUSED the range of the pause
 * @policy, @nice, @rt_priority: STAPE_EV_PRIO, STAPE_EV_TASK: the current ones
 * @boosted: the same types: the task runs at a priority that a waiter lends it
 * @prio: the same types: the kernel's effective priority, -1: deadline
 * @tgid: this member and all that follow: STAPE_EV_TASK; @task_cpu and @cgroup also those of
 *	SCHEDTAPE_EV_THROTTLE and _UNTHROTTLE, whose @pid is 0
 * @ppid: TGID of its parent, 0: not recorded
 * @ns_pid: its PID in its own PID namespace
 * @state: enum stape_state
 * @task_cpu: the CPU where it runs or last ran
 * @start_time: when it was created, ns of CLOCK_MONOTONIC
 * @cgroup: id of its cgroup (version 2), 0: not recorded
 * @dl: the deadline parameters if @policy is SCHED_DEADLINE
 * @wish: with any other policy
 * @autogroup: tasks with the same number share an autogroup: PID of their session; 0: in none, or
 *	not recorded
 * @core: tasks with the same number may share a core: it stands for their core-scheduling cookie;
 *	0: without, or not recorded
 * @affinity: SCHEDTAPE_EV_AFFINITY, in place of @lost and all that follow: the CPUs that
 *	the task may use, of the first 8 * SCHEDTAPE_AFFINITY_BYTES
 * @trigger: SCHEDTAPE_EV_TRIGGER, in place of the same; its @pid is 0 for all tasks together
 * @idle: SCHEDTAPE_EV_IDLE, in place of the same; its @pid is 0.  It comes before the switch or the
 *	end that it explains.  Its own @curr_kind is what the switch before said
 *
 * The @time of a loss or pause is not later than that of any event that follows it.  Its
 * @curr is what runs after it (at the end of a CPU: STAPE_NEXT_OTHER).
 */
struct schedtape_event {
	union {
		struct {
			uint64_t time;
			uint64_t arg;
			uint32_t cpu;
			uint32_t pid;
			uint32_t curr;
			uint16_t type;
			uint8_t curr_kind;
			bool detailed;
		};
		struct schedtape_brief brief;
	};
	uint32_t old_pid;
	uint32_t reserved;
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
			union {
				struct schedtape_deadline dl;
				struct schedtape_wish wish;
			};
			uint32_t autogroup;
			uint32_t core;
		};
		unsigned char affinity[SCHEDTAPE_AFFINITY_BYTES];
		struct schedtape_fired trigger;
		struct schedtape_idle idle;
	};
};

/* Returns a task's lower utilization clamp, or -1 if none was set for it. */
static inline int schedtape_clamp_min(const struct schedtape_wish *wish)
{
	return (int)(wish->clamps >> STAPE_CLAMP_MIN_SHIFT & STAPE_CLAMP_MASK) - 1;
}

/* Returns its upper one, or -1. */
static inline int schedtape_clamp_max(const struct schedtape_wish *wish)
{
	return (int)(wish->clamps >> STAPE_CLAMP_MAX_SHIFT & STAPE_CLAMP_MASK) - 1;
}

/* The system call is one of the 32-bit ones of a machine with 64 bits. */
#define SCHEDTAPE_SYSCALL_32		(1ULL << 32)
#define SCHEDTAPE_SYSCALL_UNKNOWN	UINT64_MAX

/*
 * Returns the system call in which the task sleeps that a switch with this argument takes off the
 * CPU: the low 32 bits are its number or STAPE_SYSCALL_NONE; SCHEDTAPE_SYSCALL_32 may be set.
 * SCHEDTAPE_SYSCALL_UNKNOWN: the task is a kernel thread, or does not sleep, or the recording had
 * no --syscalls.
 */
static inline uint64_t schedtape_syscall(uint64_t arg)
{
	if (!(arg & STAPE_SWITCH_SYSCALL))
		return SCHEDTAPE_SYSCALL_UNKNOWN;
	return (uint32_t)(arg >> STAPE_SWITCH_SYSCALL_SHIFT) |
	       (arg & STAPE_SWITCH_SYSCALL_32 ? SCHEDTAPE_SYSCALL_32 : 0);
}

/* Returns true for a waking by the task on the CPU, false for one by an interrupt. */
static inline bool schedtape_context_is_task(uint64_t context)
{
	return context == STAPE_CTX_TASK || context == STAPE_CTX_SOFTIRQ_TASK;
}

/* @ev of these macros: a pointer to an event or to a brief. */
#define schedtape_switch_state(ev)	((unsigned int)((ev)->arg & STAPE_SWITCH_STATE_MASK))
#define schedtape_switch_next(ev)	((unsigned int)(((ev)->arg & STAPE_SWITCH_NEXT_MASK) >>	\
							STAPE_SWITCH_NEXT_SHIFT))
#define schedtape_switch_syscall(ev)	schedtape_syscall((ev)->arg)
#define schedtape_waking_by_task(ev)	schedtape_context_is_task((ev)->arg)
/* STAPE_TASK_EXITS, _ENTERS, _LEAVES, _MOVES, _FORKED, _REGROUPED, or a value of a later version */
#define schedtape_task_why(ev)		((ev)->arg >> STAPE_TASK_WHY_SHIFT)
/* An exit that reports the task's end, and not one that begins. */
#define schedtape_exit_ended(ev)	((ev)->arg >> STAPE_EXIT_SHIFT == STAPE_EXIT_ENDED)
/* A loss or a pause of a CPU, which are not events of the kernel. */
#define schedtape_event_is_gap(ev)	((ev)->type >= SCHEDTAPE_EV_LOST)

/* Returns true for an event of a cgroup, which begins to be throttled, or is no longer. */
static inline bool schedtape_event_is_throttling(const struct schedtape_event *ev)
{
	return ev->type == SCHEDTAPE_EV_THROTTLE || ev->type == SCHEDTAPE_EV_UNTHROTTLE;
}

/**
 * struct schedtape_page - a cursor in one page
 *
 * Plain data, to be embedded in other structs; valid as long as the page's memory.
 */
struct schedtape_page {
	const unsigned char *data;
	uint32_t at;			/* bytes */
	uint32_t events;		/* number of events read so far */
	bool swap;			/* the page has the other byte order */
	bool lost_pending;		/* a loss is to be returned before the first event */
	bool pause_pending;		/* a pause is to be returned, behind the loss if any */
	bool wakeup_pending;		/* the last word has a second event */
	bool switch_pending;		/* it is a switch whose idle time was returned */
	struct stape_page_header header;	/* in this machine's order */
	uint64_t time;
	uint32_t curr;
	uint32_t curr_kind;
};

/* @data: STAPE_PAGE_SIZE bytes, any alignment.  -EBADMSG: not a valid page. */
int schedtape_page_open(struct schedtape_page *page, const void *data,
			struct schedtape_error *err);
/*
 * Reads the next event, but skips events of types that this library does not know.
 * Returns 1: an event; 0: the end of the page; -EBADMSG: the rest of the page is corrupt.
 */
int schedtape_page_next(struct schedtape_page *page, struct schedtape_event *ev,
			struct schedtape_error *err);

/*
 * These return names as schedtape(1) prints them, which are static; "unknown", or '?' for a state,
 * for a value of a later version.
 */
/* @type: enum stape_event_type or enum schedtape_event_type */
const char *schedtape_event_name(unsigned int type);
/* @kind: enum stape_trigger_kind */
const char *schedtape_trigger_name(unsigned int kind);
/* @context: enum stape_context */
const char *schedtape_context_name(unsigned int context);
/* @policy: SCHED_* */
const char *schedtape_policy_name(unsigned int policy);
/* @state: enum stape_state */
char schedtape_state_char(unsigned int state);

#ifdef __cplusplus
}
#endif

#endif /* LIBSCHEDTAPE_PAGE_H */
