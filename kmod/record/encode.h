/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts events into rings.  A task's attributes are read after the event's time: if two CPUs
 * write the same attribute, the event with the later time has the newer value.
 *
 * What a task is goes into the session's ring of descriptions, what it does into the ring of the
 * CPU.  The priority that a waiter lends and the throttling of cgroups belong to the latter: they
 * are written under the runqueue lock, where nothing may wait for the lock of the descriptions.
 */
#ifndef _STAPE_ENCODE_H
#define _STAPE_ENCODE_H

#include <linux/cpumask.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <schedtape/event.h>

#include "record/active.h"
#include "record/retprobe.h"
#include "record/watch.h"

/**
 * struct stape_attributes - attributes of a task that may change at any time
 * @prio: policy, nice value and real-time priority as in a PRIO's word; its other bits are 0
 * @dl: words of stape_task_dl_words()
 * @affinity: words of stape_task_affinity(), and zeros behind them
 * @cgroup: id of its cgroup
 * @shared: word of stape_task_shared()
 */
struct stape_attributes {
	u64 prio;
	u64 dl[STAPE_DL_WORDS];
	u64 affinity[STAPE_AFFINITY_WORDS + 1];
	u64 cgroup;
	u64 shared;
};

void stape_encode_payload(struct stape_active *active, u32 type, const struct task_struct *task,
			  const u64 *payload, u32 words);
void stape_encode_prio(struct stape_active *active, const struct task_struct *task);
void stape_encode_lent(struct stape_active *active, const struct task_struct *task, int prio);
void stape_encode_set(struct stape_active *active, u32 what, u32 pid, const u64 *payload,
		      u32 words);
bool stape_encode_interval(struct stape_active *active, u64 nr, u64 *time);
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
void stape_encode_differences(struct stape_active *active, struct task_struct *parent,
			      struct task_struct *child, bool all);
void stape_encode_resync(struct stape_active *active);
void stape_encode_resync_current(struct stape_active *active);

/*
 * Returns the lower half of a switch's word.  @recorded: the filter has the next task, @pid.
 * @prev: the part of the argument that is about the previous task.
 */
static __always_inline u32 stape_encode_switch_low(bool recorded, u32 pid, u32 prev)
{
	if (recorded)
		return pid << STAPE_PID_SHIFT | prev;
	return (pid ? STAPE_NEXT_OTHER : STAPE_NEXT_IDLE) << STAPE_SWITCH_NEXT_SHIFT | prev;
}

/* cpumask_equal() by whole words, which is no call.  A mask may change meanwhile. */
static inline bool stape_encode_same_cpus(const struct cpumask *a, const struct cpumask *b)
{
	u32 i = 0;

	do {
		if (READ_ONCE(cpumask_bits(a)[i]) != READ_ONCE(cpumask_bits(b)[i]))
			return false;
	} while (unlikely(++i * BITS_PER_LONG < nr_cpu_ids));
	return true;
}

/*
 * Returns true if a child surely has its parent's attributes, as nearly all have.  A player's nice
 * value is not the one in its task_struct.
 */
static inline bool stape_encode_inherits(const struct task_struct *parent,
					 const struct task_struct *child)
{
	unsigned int policy = READ_ONCE(child->policy);
	/* One branch for all of them, because they hardly ever differ. */
	unsigned int differ = (policy ^ READ_ONCE(parent->policy)) |
			      (READ_ONCE(child->static_prio) ^ READ_ONCE(parent->static_prio)) |
			      (READ_ONCE(child->rt_priority) ^ READ_ONCE(parent->rt_priority));

	return likely(!differ && policy != SCHED_DEADLINE) && !stape_watch_enabled() &&
	       likely(stape_custom_slice(child) == stape_custom_slice(parent)) &&
	       likely(stape_clamps(child) == stape_clamps(parent)) &&
	       likely(rcu_access_pointer(child->cgroups) == rcu_access_pointer(parent->cgroups)) &&
	       /* If autogroups were switched on or off, the parent is still where it was. */
	       likely(stape_same_autogroup(child, parent)) &&
	       /* If a mask changes meanwhile, that is written: the child's bit is set. */
	       likely(stape_encode_same_cpus(&child->cpus_mask, &parent->cpus_mask));
}

/* Returns true if a task has another PID in its own namespace.  @task: new, so it has a PID */
static inline bool stape_encode_is_nested(struct task_struct *task)
{
	return task_pid(task)->level;
}

/**
 * stape_encode_forked() - write the attributes that a child did not inherit
 * @active: a session's
 * @parent: the task that forked
 * @child: the new task.  Its bit is set, so that a change from now on is written
 *
 * The reader assumes that a child has its parent's cgroup, policy and affinity.  So the
 * child's own values are written where they differ: for CLONE_INTO_CGROUP, for
 * SCHED_RESET_ON_FORK, and if the parent was changed after copy_process().  All of them are
 * written if a probed function is between a change and its event, because the parent's values
 * may not be in the stream then.  A child that has another PID in its own PID namespace is
 * described, because a reader could not know that PID.
 *
 * Context: interrupts off.
 */
static inline void stape_encode_forked(struct stape_active *active, struct task_struct *parent,
				       struct task_struct *child)
{
	bool busy = stape_retprobe_busy();

	if (unlikely(busy || stape_encode_is_nested(child) ||
		     !stape_encode_inherits(parent, child)))
		stape_encode_differences(active, parent, child, busy);
}

#endif /* _STAPE_ENCODE_H */
