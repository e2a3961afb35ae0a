/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Triggers of sessions: a recorded task waits or runs for longer than a limit, or the tasks are
 * woken too often.  The probes of switches and wakeups compare the end of each wait and run with
 * the limits of the CPU's ring, and call the functions here if one is exceeded, or in any other
 * case that is not the usual one.  trigger_scan.c looks at waits and runs that last.
 */
#ifndef _STAPE_TRIGGER_H
#define _STAPE_TRIGGER_H

#include <linux/atomic.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/workqueue.h>
#include <schedtape/event.h>
#include <schedtape/netlink.h>

#include "base/work.h"
#include "record/active.h"
#include "record/ring.h"
#include "record/waits.h"

/* Parts of the second of a rate. */
#define STAPE_TRIGGER_PARTS	10

/**
 * struct stape_trigger_setup - a trigger as a request gives it
 * @kind: enum stape_trigger_kind
 * @pid: only for this process or thread; in the initial PID namespace; 0: for all tasks
 * @limit: ns, or wake-ups a second
 * @comm: only for tasks with a name that this pattern matches; empty: for all
 */
struct stape_trigger_setup {
	u32 kind;
	u32 pid;
	u64 limit;
	char comm[STAPE_PATTERN_LEN];
};

/**
 * struct stape_trigger_notice - what a trigger has fired for
 * @number: of the trigger
 * @pid: the task's PID, 0: all tasks
 * @cpu: the task's CPU
 * @lasts: it has not ended
 * @value: ns, or wake-ups in a second
 * @time: ns of CLOCK_MONOTONIC
 */
struct stape_trigger_notice {
	u32 number;
	u32 pid;
	u32 cpu;
	bool lasts;
	u64 value;
	u64 time;
};

/**
 * enum stape_trigger_state - whether a trigger may fire
 * @STAPE_TRIGGER_ARMED: it may
 * @STAPE_TRIGGER_TAKEN: a CPU is about to fill in the notice
 * @STAPE_TRIGGER_FIRED: the notice has to be sent
 * @STAPE_TRIGGER_RESTS: it has been sent; until the trigger is armed again it only counts
 */
enum stape_trigger_state {
	STAPE_TRIGGER_ARMED,
	STAPE_TRIGGER_TAKEN,
	STAPE_TRIGGER_FIRED,
	STAPE_TRIGGER_RESTS,
};

/**
 * struct stape_trigger - one trigger
 * @setup: as it was asked for
 * @limit: @setup.limit by the session's clock; of a rate: the same
 * @fired: how often it has fired
 * @state: enum stape_trigger_state
 * @notice: belongs to the CPU that has changed @state to TAKEN, then to the work
 * @sent: jiffies, when @notice was sent
 * @exceeded: of a rate: the last second was above the limit
 */
struct stape_trigger {
	struct stape_trigger_setup setup;
	u64 limit;
	atomic64_t fired;
	atomic_t state;
	struct stape_trigger_notice notice;
	unsigned long sent;
	bool exceeded;
};

/**
 * struct stape_trigger_order - triggers of a kind, those with lower limits first
 * @nr: entries of @numbers
 * @numbers: of the triggers
 */
struct stape_trigger_order {
	u32 nr;
	u8 numbers[STAPE_TRIGGERS_MAX];
};

/**
 * struct stape_triggers - those of a session
 * @active: the session's
 * @cpus: the CPUs that are recorded
 * @counter: the session's clock is the CPU's counter
 * @on: the session records
 * @epoch: when it began to record, or was resumed, by the raw clock.  Waits and runs that began
 *	before count from there
 * @nr: entries of @triggers
 * @order: by kind; that of 0 is empty
 * @notify: sends a notice; from process context, without the session's lock
 * @wake: queues @tell from probes
 * @tell: sends notices, and arms triggers again
 * @scan: looks for waits and runs that last
 * @count: adds up the wake-ups of a rate
 * @scan_period: jiffies from the beginning of a scan to the next
 * @scan_began: jiffies
 * @scan_leaf: leaf of @active->waits with which the scan goes on
 * @wakeups: up to the last @count
 * @parts: wake-ups of the parts of the last second
 * @part: number of the newest one since the kernel's start; 0: nothing has been counted
 * @triggers: the triggers
 */
struct stape_triggers {
	struct stape_active *active;
	const struct cpumask *cpus;
	bool counter;
	bool on;
	u64 epoch;
	u32 nr;
	struct stape_trigger_order order[STAPE_TRIGGER_RATE + 1];
	void (*notify)(struct stape_active *active, const struct stape_trigger *trigger);
	struct stape_wake wake;
	struct delayed_work tell;
	struct delayed_work scan;
	struct delayed_work count;
	unsigned long scan_period;
	unsigned long scan_began;
	u32 scan_leaf;
	u64 wakeups;
	u64 parts[STAPE_TRIGGER_PARTS];
	unsigned long part;
	struct stape_trigger triggers[];
};

extern struct static_key_false_deferred stape_trigger_key;

/* Returns true if a session may have triggers.  Then stape_extras_enabled(), too. */
static __always_inline bool stape_trigger_enabled(void)
{
	return static_branch_unlikely(&stape_trigger_key.key);
}

/* Returns the kind of the triggers that are for a wait, or 0.  @word: the task's, of its waits */
static inline u32 stape_trigger_kind(u64 word)
{
	switch (stape_wait_state(word)) {
	case STAPE_WAITS_RUNNABLE:
		return STAPE_TRIGGER_LATENCY;
	case STAPE_WAITS_BLOCKED:
		return STAPE_TRIGGER_BLOCKED;
	default:
		return 0;
	}
}

void stape_trigger_enable(void);
void stape_trigger_disable(void);
void stape_trigger_exit(void);

/* Called here and by trigger_scan.c. */
void stape_trigger_fire(struct stape_triggers *triggers, u32 number, u32 pid, u32 cpu, u64 value,
			bool lasts);
u32 stape_trigger_fire_all(struct stape_triggers *triggers, u32 kind, u32 from,
			   const struct task_struct *task, u64 value, bool lasts);
u64 stape_trigger_clip(const struct stape_triggers *triggers, s64 elapsed, u64 now);
bool stape_trigger_concerns(const struct stape_trigger *trigger, const struct task_struct *task);
void stape_trigger_tell(struct work_struct *work);
void stape_trigger_wake(struct stape_wake *wake);

/* The works of struct stape_triggers in trigger_scan.c. */
void stape_trigger_scan(struct work_struct *work);
void stape_trigger_count(struct work_struct *work);

/* Called by probes. */
void stape_trigger_switch(struct stape_ring *ring, const struct task_struct *prev, bool left,
			  const struct task_struct *next, bool entered, u32 state, u64 now);
void stape_trigger_wakeup(struct stape_ring *ring, const struct task_struct *task, u64 now);
void stape_trigger_wakeup_new(struct stape_ring *ring, const struct task_struct *task, u64 now);

#endif /* _STAPE_TRIGGER_H */
