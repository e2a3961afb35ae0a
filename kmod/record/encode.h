/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts events into rings.  A task's attributes are read after the event's time: if two CPUs
 * write the same attribute, the event with the later time has the newer value.
 *
 * What a task is goes into the session's ring of descriptions, what it does into the ring of the
 * CPU.  The priority that a waiter lends belongs to the latter: it is written under the runqueue
 * lock, where nothing may wait for the lock of the descriptions.
 */
#ifndef _STAPE_ENCODE_H
#define _STAPE_ENCODE_H

#include <schedtape/event.h>

#include "record/active.h"

/**
 * struct stape_attributes - attributes of a task that may change at any time
 * @prio: policy, nice value and real-time priority as in a PRIO's word; its other bits are 0
 * @dl: of SCHED_DEADLINE, else 0
 * @affinity: words of stape_task_affinity(), and zeros behind them
 * @cgroup: id of its cgroup
 */
struct stape_attributes {
	u64 prio;
	u64 dl[STAPE_DL_WORDS];
	u64 affinity[STAPE_AFFINITY_WORDS + 1];
	u64 cgroup;
};

void stape_encode_payload(struct stape_active *active, u32 type, const struct task_struct *task,
			  const u64 *payload, u32 words);
void stape_encode_prio(struct stape_active *active, const struct task_struct *task);
void stape_encode_lent(struct stape_active *active, const struct task_struct *task, int prio);
void stape_encode_affinity(struct stape_active *active, const struct task_struct *task,
			   u64 *payload);
void stape_encode_task(struct stape_active *active, struct task_struct *task, const char *comm,
		       u32 why);
void stape_encode_exit(struct stape_active *active, struct task_struct *task);
void stape_encode_ended(struct stape_active *active, u32 pid);
void stape_encode_enter(struct stape_active *active, struct task_struct *task, const char *comm,
			struct stape_attributes *written);
void stape_encode_changes(struct stape_active *active, struct task_struct *task,
			  const char *comm, const struct stape_attributes *known);
void stape_encode_fork(struct stape_active *active, struct task_struct *parent,
		       struct task_struct *child);
void stape_encode_forked(struct stape_active *active, struct task_struct *parent,
			 struct task_struct *child);
unsigned int stape_encode_count_entries(void);
void stape_encode_resync(struct stape_active *active);
void stape_encode_resync_current(struct stape_active *active);

/* Returns the lower half of a switch's word.  @recorded: the filter has the next task, @pid. */
static __always_inline u32 stape_encode_switch_low(bool recorded, u32 pid, u32 state)
{
	if (recorded)
		return pid << STAPE_PID_SHIFT | state;
	return (pid ? STAPE_NEXT_OTHER : STAPE_NEXT_IDLE) << STAPE_SWITCH_NEXT_SHIFT | state;
}

/*
 * Writes a switch if the filter has the next task or the previous one.  On the hot path
 * @recorded is a constant.
 */
static __always_inline void stape_encode_switch(struct stape_ring *ring, bool recorded, u32 pid,
						u32 state)
{
	u32 low = stape_encode_switch_low(recorded, pid, state);

	if (recorded || stape_ring_curr_pid(ring))
		stape_ring_emit_switch(ring, low);
	else
		ring->curr = low;
}

#endif /* _STAPE_ENCODE_H */
