// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for switches, wake-ups and migrations: the hot path.  They return as soon as they
 * know that no session has the task.  Their data is stape_filter_ids.  attach.c has the rules
 * for all probes.
 */
#include "record/probe_sched.h"

#include <linux/preempt.h>
#include <linux/sched.h>

#include "record/dead.h"
#include "record/encode.h"
#include "record/probe_task.h"
#include "record/softirq.h"
#include "record/task_info.h"
#include "record/watch.h"

/* Returns the context of a wake-up.  A section with softirqs disabled is no softirq. */
static u32 stape_probe_context(void)
{
	if (in_nmi() || in_hardirq())
		return STAPE_CTX_HARDIRQ;
	if (!in_serving_softirq())
		return STAPE_CTX_TASK;
	return stape_softirq_by_current() ? STAPE_CTX_SOFTIRQ_TASK : STAPE_CTX_SOFTIRQ;
}

/* -- switches ---------------------------------------------------------------- */

/*
 * Returns whether @prev stays runnable.  A task with a signal pending does not block: its state
 * has been set back to running, but prev_state was read before that.
 */
static __always_inline bool stape_probe_runnable(bool preempt, const struct task_struct *prev)
{
	return preempt || !READ_ONCE(prev->__state);
}

/* Returns the next task's @id, or STAPE_FILTER_MULTI if another filter has the previous task. */
static __always_inline unsigned long stape_probe_next_id(unsigned long id,
							 unsigned long prev_id)
{
	return unlikely(id != prev_id) && prev_id ? STAPE_FILTER_MULTI : id;
}

/* Writes any switch. */
static noinline notrace void stape_probe_switch_any(void *data, bool preempt,
						    struct task_struct *prev,
						    struct task_struct *next,
						    unsigned int prev_state)
{
	u32 state = stape_probe_runnable(preempt, prev) ? STAPE_STATE_RUNNING :
							  stape_task_state(prev_state);
	unsigned long prev_id = stape_filter_id(data, prev->pid);
	unsigned long id = stape_filter_id(data, next->pid);

	if (id)
		stape_encode_switch(stape_active_ring(stape_probe_next_id(id, prev_id)),
				    true, next->pid, state);
	else if (prev_id)
		stape_encode_switch(stape_active_ring(prev_id), false, next->pid, state);
	if (state == STAPE_STATE_DEAD && prev_id)
		stape_dead_add(prev);
	if (stape_watch_enabled())
		stape_watch_switch(prev, next, state != STAPE_STATE_RUNNING);
}

/*
 * Writes a switch in the usual case: no task is watched, and @prev's state is not a rare one.
 * Only the task itself sets its state to TASK_INTERRUPTIBLE, never its waker.  TASK_FREEZABLE may
 * be set as well, as when it waits for a futex or for a child; other bits are not.
 */
static __always_inline void stape_probe_switch_usual(void *data, bool preempt,
						     struct task_struct *prev,
						     struct task_struct *next,
						     unsigned int prev_state, unsigned long id,
						     bool recorded)
{
	struct stape_ring *ring = stape_active_ring(id);

	/* Any other value is read again.  READ_ONCE() would take an instruction more. */
	if (likely(!preempt && data_race(prev->__state) & TASK_INTERRUPTIBLE))
		stape_encode_switch(ring, recorded, next->pid, STAPE_STATE_SLEEPING);
	else if (stape_probe_runnable(preempt, prev))
		stape_encode_switch(ring, recorded, next->pid, STAPE_STATE_RUNNING);
	else
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
}

void notrace stape_probe_switch(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	unsigned long prev_id = stape_filter_id(data, prev->pid);
	unsigned long id = stape_filter_id(data, next->pid);

	if (stape_watch_enabled()) {
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
	} else if (id == prev_id) {
		if (id)
			stape_probe_switch_usual(data, preempt, prev, next, prev_state, id, true);
	} else if (id) {
		stape_probe_switch_usual(data, preempt, prev, next, prev_state,
					 stape_probe_next_id(id, prev_id), true);
	} else {
		stape_probe_switch_usual(data, preempt, prev, next, prev_state, prev_id, false);
	}
}

/* -- wake-ups and moves ------------------------------------------------------ */

/* Writes any event of those below, with interrupts on or off. */
static noinline notrace void stape_probe_write_any(const struct task_struct *task,
						   unsigned long id, u64 type, u32 arg)
{
	u32 low = (u32)task->pid << STAPE_PID_SHIFT | (arg & STAPE_ARG_MASK);
	unsigned long flags;

	local_irq_save(flags);
	stape_ring_emit_any(stape_active_ring(id), stape_ring_word(type, low), arg);
	local_irq_restore(flags);
}

/* Writes an event of one task.  @emit: stape_ring_emit() or stape_ring_emit_wakeup(). */
static __always_inline void stape_probe_write(struct task_struct *task, unsigned long id,
					      u64 type, u32 arg,
					      void (*emit)(struct stape_ring *ring, u64 word))
{
	struct stape_ring *ring = stape_active_ring(id);

	/* Interrupts may be on only if a task wakes itself. */
	if (unlikely(task == current || arg > STAPE_ARG_MASK))
		stape_probe_write_any(task, id, type, arg);
	else
		emit(ring, stape_ring_word(type, (u32)task->pid << STAPE_PID_SHIFT | arg));
}

/* @id is not read again, because the task may have left the filter since. */
static noinline notrace void stape_probe_waking_irq(struct task_struct *task, unsigned long id)
{
	stape_probe_write(task, id, STAPE_EV_WAKING,
			  stape_probe_context() << STAPE_WAKING_CONTEXT_SHIFT, stape_ring_emit);
}

void notrace stape_probe_waking(void *data, struct task_struct *task)
{
	unsigned long id = stape_filter_id(data, task->pid);

	if (!id)
		return;
	if (unlikely(in_interrupt()))
		stape_probe_waking_irq(task, id);
	else
		stape_probe_write(task, id, STAPE_EV_WAKING,
				  STAPE_CTX_TASK << STAPE_WAKING_CONTEXT_SHIFT, stape_ring_emit);
}

void notrace stape_probe_wakeup(void *data, struct task_struct *task)
{
	unsigned long id = stape_filter_id(data, task->pid);
	u32 cpu;

	if (!id)
		return;
	cpu = task_cpu(task);
	if (likely(cpu <= STAPE_WAKE_CPU_MASK))
		stape_probe_write(task, id, STAPE_EV_WAKEUP, cpu, stape_ring_emit_wakeup);
	else
		stape_probe_write(task, id, STAPE_EV_WAKEUP, cpu, stape_ring_emit);
}

static __always_inline void stape_probe_placed(void *data, struct task_struct *task, u64 type,
					       u32 cpu)
{
	unsigned long id = stape_filter_id(data, task->pid);

	if (id)
		stape_probe_write(task, id, type, cpu, stape_ring_emit);
}

void notrace stape_probe_wakeup_new(void *data, struct task_struct *task)
{
	/*
	 * sched_process_fork does not fire for threads that the kernel makes for a process.
	 * Either a thread of the process or a kernel thread makes them.
	 */
	if (unlikely(task->flags & (PF_IO_WORKER | PF_USER_WORKER)))
		stape_probe_fork(NULL, same_thread_group(current, task) ? current :
				task->group_leader, task);
	stape_probe_placed(data, task, STAPE_EV_WAKEUP_NEW, task_cpu(task));
}

void notrace stape_probe_migrate(void *data, struct task_struct *task, int cpu)
{
	stape_probe_placed(data, task, STAPE_EV_MIGRATE, cpu);
}

/* -- several sessions -------------------------------------------------------- */

/* Returns the lower half of a switch's word for one of several sessions. */
static u32 stape_fanout_switch(const struct stape_active *active, u32 low)
{
	u32 pid = low >> STAPE_PID_SHIFT;

	if (!pid || test_bit(pid, active->filter.members))
		return low;
	return stape_encode_switch_low(false, pid, low & STAPE_SWITCH_STATE_MASK);
}

static __always_inline void stape_fanout_one(const struct stape_active *active,
					     struct stape_ring *ring, u64 word, u32 arg,
					     u64 now)
{
	u32 low = word;

	if (word >> STAPE_TYPE_SHIFT == STAPE_EV_SWITCH) {
		low = stape_fanout_switch(active, low);
		if (low >> STAPE_PID_SHIFT || stape_ring_curr_pid(ring))
			stape_ring_put(ring, stape_ring_word(STAPE_EV_SWITCH, low), now, true);
		else
			ring->curr = low;
	} else if (test_bit(low >> STAPE_PID_SHIFT, active->filter.members)) {
		stape_ring_put_any(ring, word, arg, now);
	}
}

/* Passes an event on to each session that it concerns, with interrupts off. */
static notrace void stape_fanout(u64 word, u32 arg)
{
	struct stape_active *active;
	u64 now[2] = { 0 };	/* by clock; each is read once, if at all */

	for_each_active(active) {
		struct stape_ring *ring = this_cpu_ptr(active->rings);

		if (!now[ring->counter])
			now[ring->counter] = stape_ring_now(ring);
		stape_fanout_one(active, ring, word, arg, now[ring->counter]);
	}
}

/* The rings of STAPE_FILTER_MULTI, and of 0: a probe may read an id twice (stape_filter_id()). */
static DEFINE_PER_CPU(struct stape_ring, stape_fanout_rings);

/**
 * stape_fanout_init() - let events that concern several sessions reach all of them
 *
 * Context: module init.
 */
void stape_fanout_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		stape_ring_init_fanout(per_cpu_ptr(&stape_fanout_rings, cpu), stape_fanout);
		per_cpu(stape_active_rings[0], cpu) = per_cpu_ptr(&stape_fanout_rings, cpu);
		per_cpu(stape_active_rings[STAPE_FILTER_MULTI], cpu) =
			per_cpu_ptr(&stape_fanout_rings, cpu);
	}
}
