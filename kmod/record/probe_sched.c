// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probes: one per tracepoint, however many sessions record.  They run in
 * the scheduler, under its locks: they allocate nothing, print nothing, wake
 * nobody, and wait for nothing but the filter's innermost lock.
 *
 * Those here are what scheduling itself costs, so they leave as soon as they
 * know that no session has the task.
 *
 * Every probe is an RCU reader, because sessions, rings and players are freed after a
 * grace period.  Linux 6.12 switches preemption off around a probe.  Linux 7.3 takes SRCU
 * (srcu_fast) instead, and a grace period of RCU does not wait for that.  So a probe
 * relies on its tracepoint's own context, or calls rcu_read_lock():
 *
 *   sched_switch, sched_waking and sched_wakeup of another task, sched_wakeup_new,
 *   sched_migrate_task, sched_pi_setprio, softirq_raise: the kernel has interrupts off
 *   sched_waking and sched_wakeup of the current task: try_to_wake_up() has preemption off
 *   softirq_entry: bottom halves are off, but on PREEMPT_RT with preemption on; the probe
 *   looks at nothing that is freed
 *   sched_process_fork, _exit, _exec, task_rename: can be preempted; they take RCU
 *   cgroup_attach_task: the kernel holds a spinlock, which on PREEMPT_RT leaves
 *   preemption on; it takes RCU
 *
 * Handlers of return probes (hook.h) run with preemption off on all kernels.
 */
#include <trace/events/cgroup.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "record/probe_sched.h"

#include <linux/mutex.h>
#include <linux/tracepoint.h>

#include "record/probe_task.h"
#include "record/retprobe.h"
#include "record/session.h"
#include "record/softirq.h"
#include "record/task_info.h"
#include "replay/player.h"

/* Where an interrupted waker is.  Softirqs that are only disabled are no context. */
static u32 stape_probe_context(void)
{
	if (in_nmi() || in_hardirq())
		return STAPE_CTX_HARDIRQ;
	if (!in_serving_softirq())
		return STAPE_CTX_TASK;
	return stape_softirq_by_current() ? STAPE_CTX_SOFTIRQ_TASK : STAPE_CTX_SOFTIRQ;
}

/* Where events of a task with that slot go. */
static __always_inline struct stape_ring *stape_probe_ring(unsigned long slot)
{
	return this_cpu_read(stape_session_rings[slot]);
}

/* -- switches ---------------------------------------------------------------- */

/* The lower half of a switch's word. @pid: that goes on, of the filter if @recorded. */
static __always_inline u32 stape_probe_switch_low(bool recorded, u32 pid, u32 state)
{
	if (recorded)
		return pid << STAPE_PID_SHIFT | state;
	return (pid ? STAPE_NEXT_OTHER : STAPE_NEXT_IDLE) << STAPE_SWITCH_NEXT_SHIFT | state;
}

/*
 * Written only if what goes on, or what ran before, is the filter's. @recorded is
 * a constant where that saves something.
 */
static __always_inline void stape_probe_switched(struct stape_ring *ring, bool recorded,
						 u32 pid, u32 state)
{
	u32 low = stape_probe_switch_low(recorded, pid, state);

	if (recorded || stape_ring_curr_pid(ring))
		stape_ring_emit_switch(ring, low);
	else
		ring->curr = low;
}

/**
 * stape_probe_refresh() - judge what runs on this CPU anew
 * @data: the session, whose filter has changed
 *
 * A task that has become, or ceased to be, the filter's is written as a switch.  It need
 * not be the one before that has: that may have left, made room unseen, and come back.
 *
 * Context: on_each_cpu(): interrupts off.
 */
void stape_probe_refresh(void *data)
{
	struct stape_session *session = data;
	struct stape_ring *ring = this_cpu_ptr(session->rings);
	bool recorded = stape_filter_has(&session->filter, current);

	if (stape_ring_curr_pid(ring) != (recorded ? current->pid : 0))
		stape_probe_switched(ring, recorded, current->pid, STAPE_STATE_RUNNING);
}

/**
 * stape_probe_refresh_current() - the same, where the filter may have changed for current only
 * @session: an active session
 *
 * Context: any.
 */
void stape_probe_refresh_current(struct stape_session *session)
{
	unsigned long flags;

	local_irq_save(flags);
	stape_probe_refresh(session);
	local_irq_restore(flags);
}

/* In the switch probe, with interrupts off. */
static void stape_probe_dead(struct task_struct *task)
{
	struct stape_session *session;

	for_each_active_session(session)
		if (stape_filter_dead(&session->filter, task))
			irq_work_queue(&session->wake);
}

/*
 * A task with a signal pending does not block, whatever prev_state was read
 * before that was found out: then its state is back to running.
 */
static __always_inline bool stape_probe_runnable(bool preempt, const struct task_struct *prev)
{
	return preempt || !READ_ONCE(prev->__state);
}

/* The slot of what goes on, or if that ran before is another session's: of both. */
static __always_inline unsigned long stape_probe_next_slot(unsigned long slot,
							   unsigned long prev_slot)
{
	return unlikely(slot != prev_slot) && prev_slot ? STAPE_FILTER_SHARED : slot;
}

/* Any switch. */
static noinline notrace void stape_probe_switch_any(void *data, bool preempt,
						    struct task_struct *prev,
						    struct task_struct *next,
						    unsigned int prev_state)
{
	u32 state = stape_probe_runnable(preempt, prev) ? STAPE_STATE_RUNNING :
							  stape_task_state(prev_state);
	unsigned long prev_slot = stape_filter_slot(prev->pid);
	unsigned long slot = stape_filter_slot(next->pid);

	if (slot)
		stape_probe_switched(stape_probe_ring(stape_probe_next_slot(slot, prev_slot)),
				     true, next->pid, state);
	else if (prev_slot)
		stape_probe_switched(stape_probe_ring(prev_slot), false, next->pid, state);
	if (state == STAPE_STATE_DEAD)
		stape_probe_dead(prev);
	if (stape_player_exist())
		stape_player_switch(prev, next, state != STAPE_STATE_RUNNING);
}

/*
 * The same for nearly all that matter: no player, no rare state.  Only the task
 * itself says that it sleeps, and who wakes it does not say that of it.
 */
static __always_inline void stape_probe_switch_usual(void *data, bool preempt,
						     struct task_struct *prev,
						     struct task_struct *next,
						     unsigned int prev_state, unsigned long slot,
						     bool recorded)
{
	struct stape_ring *ring = stape_probe_ring(slot);

	if (likely(!preempt && READ_ONCE(prev->__state) == TASK_INTERRUPTIBLE))
		stape_probe_switched(ring, recorded, next->pid, STAPE_STATE_SLEEPING);
	else if (stape_probe_runnable(preempt, prev))
		stape_probe_switched(ring, recorded, next->pid, STAPE_STATE_RUNNING);
	else
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
}

static notrace void stape_probe_switch(void *data, bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int prev_state)
{
	unsigned long prev_slot = stape_filter_slot(prev->pid);
	unsigned long slot = stape_filter_slot(next->pid);

	if (stape_player_exist())
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
	else if (slot)
		stape_probe_switch_usual(data, preempt, prev, next, prev_state,
					 stape_probe_next_slot(slot, prev_slot), true);
	else if (prev_slot)
		stape_probe_switch_usual(data, preempt, prev, next, prev_state, prev_slot, false);
	else if (unlikely(READ_ONCE(prev->__state) == TASK_DEAD) && stape_filter_slot(prev->tgid))
		stape_probe_dead(prev);
}

/* -- wake-ups and moves ------------------------------------------------------ */

/* Any of those below, with interrupts on or off. */
static noinline notrace void stape_probe_write_any(const struct task_struct *task,
						   unsigned long slot, u64 type, u32 arg)
{
	u32 low = (u32)task->pid << STAPE_PID_SHIFT | (arg & STAPE_ARG_MASK);
	unsigned long flags;

	local_irq_save(flags);
	stape_ring_emit_any(stape_probe_ring(slot), stape_ring_word(type, low), arg);
	local_irq_restore(flags);
}

/* An event of one task.  @emit: stape_ring_emit() or what joins it. */
static __always_inline void stape_probe_write(struct task_struct *task, unsigned long slot,
					      u64 type, u32 arg,
					      void (*emit)(struct stape_ring *ring, u64 word))
{
	struct stape_ring *ring = stape_probe_ring(slot);

	/* A task that wakes itself is the one case where interrupts may be on. */
	if (unlikely(task == current || arg > STAPE_ARG_MASK))
		stape_probe_write_any(task, slot, type, arg);
	else
		emit(ring, stape_ring_word(type, (u32)task->pid << STAPE_PID_SHIFT | arg));
}

/* @slot: not read again: the task may have left the filter since. */
static noinline notrace void stape_probe_waking_irq(struct task_struct *task, unsigned long slot)
{
	stape_probe_write(task, slot, STAPE_EV_WAKING,
			  stape_probe_context() << STAPE_WAKING_CONTEXT_SHIFT, stape_ring_emit);
}

static notrace void stape_probe_waking(void *data, struct task_struct *task)
{
	unsigned long slot = stape_filter_slot(task->pid);

	if (!slot)
		return;
	if (unlikely(in_interrupt()))
		stape_probe_waking_irq(task, slot);
	else
		stape_probe_write(task, slot, STAPE_EV_WAKING,
				  STAPE_CTX_TASK << STAPE_WAKING_CONTEXT_SHIFT, stape_ring_emit);
}

static notrace void stape_probe_wakeup(void *data, struct task_struct *task)
{
	unsigned long slot = stape_filter_slot(task->pid);
	u32 cpu;

	if (!slot)
		return;
	cpu = task_cpu(task);
	if (likely(cpu <= STAPE_WAKE_CPU_MASK))
		stape_probe_write(task, slot, STAPE_EV_WAKEUP, cpu, stape_ring_emit_wakeup);
	else
		stape_probe_write(task, slot, STAPE_EV_WAKEUP, cpu, stape_ring_emit);
}

static __always_inline void stape_probe_placed(struct task_struct *task, u64 type, u32 cpu)
{
	unsigned long slot = stape_filter_slot(task->pid);

	if (slot)
		stape_probe_write(task, slot, type, cpu, stape_ring_emit);
}

static notrace void stape_probe_wakeup_new(void *data, struct task_struct *task)
{
	/*
	 * What the kernel makes for a process comes without sched_process_fork.  One of
	 * its threads does so, or a kernel thread.
	 */
	if (unlikely(task->flags & (PF_IO_WORKER | PF_USER_WORKER)))
		stape_life_fork(NULL, same_thread_group(current, task) ? current :
				task->group_leader, task);
	stape_probe_placed(task, STAPE_EV_WAKEUP_NEW, task_cpu(task));
}

static notrace void stape_probe_migrate(void *data, struct task_struct *task, int cpu)
{
	stape_probe_placed(task, STAPE_EV_MIGRATE, cpu);
}

/* -- several sessions ---------------------------------------------------------- */

/* A switch as one of several sessions sees it. */
static u32 stape_probe_share_switch(const struct stape_session *session, u32 low)
{
	u32 pid = low >> STAPE_PID_SHIFT;

	if (!pid || test_bit(pid, session->filter.members))
		return low;
	return stape_probe_switch_low(false, pid, low & STAPE_SWITCH_STATE_MASK);
}

static __always_inline void stape_probe_share_one(const struct stape_session *session,
						  struct stape_ring *ring, u64 word, u32 arg,
						  u64 now)
{
	u32 low = word;

	if (word >> STAPE_TYPE_SHIFT == STAPE_EV_SWITCH) {
		low = stape_probe_share_switch(session, low);
		if (low >> STAPE_PID_SHIFT || stape_ring_curr_pid(ring))
			stape_ring_put(ring, stape_ring_word(STAPE_EV_SWITCH, low), now, true);
		else
			ring->curr = low;
	} else if (test_bit(low >> STAPE_PID_SHIFT, session->filter.members)) {
		stape_ring_put_any(ring, word, arg, now);
	}
}

/* An event for whichever sessions it concerns.  Each clock is read once.  Interrupts are off. */
static notrace void stape_probe_share(u64 word, u32 arg, bool counter, u64 now)
{
	u64 other = 0;
	struct stape_session *session;

	for_each_active_session(session) {
		struct stape_ring *ring = this_cpu_ptr(session->rings);

		if (ring->counter != counter && !other)
			other = stape_clock_now(!counter);
		stape_probe_share_one(session, ring, word, arg,
				      ring->counter == counter ? now : other);
	}
}

/* Instead of a session's: never has a page, and something always runs. */
static DEFINE_PER_CPU(struct stape_ring, stape_probe_shared);

static void stape_probe_init_shared(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		stape_ring_init_shared(per_cpu_ptr(&stape_probe_shared, cpu), stape_probe_share);
		per_cpu(stape_session_rings[STAPE_FILTER_SHARED], cpu) =
			per_cpu_ptr(&stape_probe_shared, cpu);
	}
}

/* -- registration ------------------------------------------------------------ */

/* Tracepoints that are not exported are found by their names. */
static struct stape_tracepoint {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} stape_tracepoints[] = {
	{ "sched_switch", stape_probe_switch },
	{ "sched_waking", stape_probe_waking },
	{ "sched_wakeup", stape_probe_wakeup },
	{ "sched_wakeup_new", stape_probe_wakeup_new },
	{ "sched_migrate_task", stape_probe_migrate },
	{ "sched_process_fork", stape_life_fork },
	{ "sched_process_exit", stape_life_exit },
	{ "sched_process_exec", stape_life_exec },
	{ "sched_pi_setprio", stape_life_boost },
	{ "task_rename", stape_life_rename },
	{ "cgroup_attach_task", stape_life_move },
	{ "softirq_raise", stape_softirq_raise },
	{ "softirq_entry", stape_softirq_entry },
};

/* A probe whose prototype is not its tracepoint's does not compile. */
static void __maybe_unused stape_probe_check_prototypes(void)
{
	check_trace_callback_type_sched_switch(stape_probe_switch);
	check_trace_callback_type_sched_waking(stape_probe_waking);
	check_trace_callback_type_sched_wakeup(stape_probe_wakeup);
	check_trace_callback_type_sched_wakeup_new(stape_probe_wakeup_new);
	check_trace_callback_type_sched_migrate_task(stape_probe_migrate);
	check_trace_callback_type_sched_process_fork(stape_life_fork);
	check_trace_callback_type_sched_process_exit(stape_life_exit);
	check_trace_callback_type_sched_process_exec(stape_life_exec);
	check_trace_callback_type_sched_pi_setprio(stape_life_boost);
	check_trace_callback_type_task_rename(stape_life_rename);
	check_trace_callback_type_cgroup_attach_task(stape_life_move);
	check_trace_callback_type_softirq_raise(stape_softirq_raise);
	check_trace_callback_type_softirq_entry(stape_softirq_entry);
}

static void stape_probe_find(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++)
		if (!strcmp(tp->name, stape_tracepoints[i].name))
			stape_tracepoints[i].tp = tp;
}

/**
 * stape_probe_init() - find the tracepoints
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT if this kernel lacks one.
 */
int stape_probe_init(void)
{
	int i, ret = 0;

	stape_probe_init_shared();
	for_each_kernel_tracepoint(stape_probe_find, NULL);
	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++) {
		if (!stape_tracepoints[i].tp) {
			pr_err("this kernel has no tracepoint %s\n", stape_tracepoints[i].name);
			ret = -ENOENT;
		}
	}
	return ret;
}

static void stape_probe_unregister(int n)
{
	while (n--)
		tracepoint_probe_unregister(stape_tracepoints[n].tp, stape_tracepoints[n].probe,
					    NULL);
	/*
	 * No probe runs after this: the module may go.  On recent kernels it waits for SRCU
	 * and not for RCU: who frees what probes look at waits for that as well.
	 */
	tracepoint_synchronize_unregister();
}

/* Protects the count and the registration; nests inside of all other locks. */
static DEFINE_MUTEX(stape_probe_lock);
static unsigned int stape_probe_users;

static int stape_probe_register(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++) {
		ret = tracepoint_probe_register(stape_tracepoints[i].tp,
						stape_tracepoints[i].probe, NULL);
		if (ret) {
			stape_probe_unregister(i);
			return ret;
		}
	}
	ret = stape_hook();
	if (ret)
		stape_probe_unregister(i);
	return ret;
}

/**
 * stape_probe_get() - hook the tracepoints, for the first user
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int stape_probe_get(void)
{
	int ret = 0;

	mutex_lock(&stape_probe_lock);
	if (!stape_probe_users)
		ret = stape_probe_register();
	if (!ret)
		stape_probe_users++;
	mutex_unlock(&stape_probe_lock);
	return ret;
}

/**
 * stape_probe_put() - unhook the tracepoints, for the last user
 *
 * Context: may sleep.
 */
void stape_probe_put(void)
{
	mutex_lock(&stape_probe_lock);
	if (!--stape_probe_users) {
		stape_unhook();
		stape_probe_unregister(ARRAY_SIZE(stape_tracepoints));
	}
	mutex_unlock(&stape_probe_lock);
}
