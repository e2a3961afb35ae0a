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
#include "record/extras.h"
#include "record/probe_task.h"
#include "record/softirq.h"
#include "record/syscall.h"
#include "record/task_info.h"
#include "record/trigger.h"
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

/* -- idle time --------------------------------------------------------------- */

/* Notes when the CPU becomes idle, or is so no longer. */
static __always_inline void stape_probe_idle(const struct task_struct *prev,
					     const struct task_struct *next)
{
	if (!prev->pid)
		stape_idle_end();
	else if (!next->pid)
		stape_idle_begin();
}

/* Returns the id of the filter that has a task, as stape_filter_id(), but 0 for the idle tasks. */
static __always_inline unsigned long stape_probe_id(const u8 *ids, const struct task_struct *task)
{
	return stape_filter_id(ids, task->pid) & (STAPE_FILTER_IDLE - 1);
}

/*
 * Has the CPU not been idle since the reader knew its idle time, or only since the last switch?  At
 * a switch from a task that is not recorded, the reader knows then that the CPU has run others.
 */
static __always_inline bool stape_probe_idle_known(const struct stape_ring *ring)
{
	return !stape_clock_mono_used() &&
	       this_cpu_read(stape_idle_clocks[true].sum) == ring->idle_seen;
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

/* The part of a switch's argument for the system call that @prev sleeps in. */
static __always_inline u32 stape_probe_syscall_flags(const struct task_struct *prev)
{
	return STAPE_SWITCH_SYSCALL |
	       (stape_in_32bit_syscall(prev) ? STAPE_SWITCH_SYSCALL_32 : 0);
}

/* Writes a switch from idle or another task to a recorded one. */
static notrace void stape_probe_switch_enter(struct stape_ring *ring, u32 pid, u32 state)
{
	u32 low = stape_encode_switch_low(true, pid, state);

	stape_ring_put_slow(ring, stape_ring_word(STAPE_EV_SWITCH, low), low & STAPE_ARG_MASK,
			    stape_ring_now(ring));
}

/*
 * Writes a switch, with the system call if the ring wants it.  @prev_recorded: the filter may have
 * @prev.
 */
static notrace void stape_probe_switch_write(struct stape_ring *ring, bool recorded, u32 pid,
					     struct task_struct *prev, bool prev_recorded,
					     u32 state)
{
	/* The stream may not know a recorded task yet that has just come into the filter. */
	if (recorded && (!prev_recorded || !stape_ring_curr_pid(ring)))
		stape_probe_switch_enter(ring, pid, state);
	else if (ring->syscalls && prev_recorded && stape_syscall_has_regs(prev) &&
		 state != STAPE_STATE_RUNNING && state != STAPE_STATE_DEAD)
		stape_encode_syscall(ring, recorded, pid, state | stape_probe_syscall_flags(prev),
				     stape_syscall_number(prev));
	else
		stape_encode_switch(ring, recorded, pid, state);
}

/* Writes a switch, and has triggers look at it.  @prev_id, @id: not both 0. */
static __always_inline void stape_probe_switch_look(struct task_struct *prev,
						    unsigned long prev_id,
						    struct task_struct *next, unsigned long id,
						    u32 state)
{
	struct stape_ring *ring =
		stape_active_ring(id ? stape_probe_next_id(id, prev_id) : prev_id);

	if (stape_trigger_enabled())
		stape_trigger_switch(ring, prev, prev_id, next, id, state);
	stape_probe_switch_write(ring, id, next->pid, prev, prev_id, state);
}

/* Writes any switch. */
static noinline notrace void stape_probe_switch_any(void *data, bool preempt,
						    struct task_struct *prev,
						    struct task_struct *next,
						    unsigned int prev_state)
{
	u32 state = stape_probe_runnable(preempt, prev) ? STAPE_STATE_RUNNING :
							  stape_task_state(prev_state);
	unsigned long prev_id = stape_probe_id(data, prev);
	unsigned long id = stape_probe_id(data, next);

	if (id || prev_id)
		stape_probe_switch_look(prev, prev_id, next, id, state);
	if (state == STAPE_STATE_DEAD && prev_id)
		stape_dead_add(prev);
	if (stape_watch_enabled())
		stape_watch_switch(prev, next, state != STAPE_STATE_RUNNING);
}

/*
 * Writes a switch of a task that sleeps.  @extras: the ring may want system calls, a compile-time
 * constant.
 */
static __always_inline void stape_probe_switch_sleeps(struct stape_ring *ring, bool recorded,
						      u32 pid, struct task_struct *prev,
						      bool prev_recorded, bool extras)
{
	u32 state = STAPE_STATE_SLEEPING;

	if (!extras || !ring->syscalls)
		stape_encode_switch(ring, recorded, pid, state);
	else if (likely(prev_recorded && stape_syscall_has_regs(prev) &&
			!stape_in_32bit_syscall(prev)))
		stape_encode_syscall(ring, recorded, pid, state | STAPE_SWITCH_SYSCALL,
				     stape_syscall_number(prev));
	else
		stape_probe_switch_write(ring, recorded, pid, prev, prev_recorded, state);
}

/* Stands for the PID of any task that is neither recorded nor idle. */
#define STAPE_PROBE_OTHER	1

/*
 * Writes a switch in the usual case: no task is watched, and @prev's state is not a rare one.
 * @pid: that of @next if it is recorded; if not, a compile-time constant, STAPE_PROBE_OTHER or 0.
 * Only the task itself sets its state to TASK_INTERRUPTIBLE, never its waker.  TASK_FREEZABLE may
 * be set as well, as when it waits for a futex or for a child; other bits are not.
 */
static __always_inline void stape_probe_switch_usual(void *data, bool preempt,
						     struct task_struct *prev,
						     struct task_struct *next,
						     unsigned int prev_state, unsigned long id,
						     bool recorded, u32 pid, bool prev_recorded,
						     bool extras)
{
	struct stape_ring *ring = stape_active_ring(id);

	/* Any other value is read again.  READ_ONCE() would take an instruction more. */
	if (likely(!preempt && data_race(prev->__state) & TASK_INTERRUPTIBLE))
		stape_probe_switch_sleeps(ring, recorded, pid, prev, prev_recorded, extras);
	else if (stape_probe_runnable(preempt, prev))
		stape_encode_switch(ring, recorded, pid, STAPE_STATE_RUNNING);
	else
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
}

/* Notes idle time, and writes any switch. */
static noinline notrace void stape_probe_switch_noted(void *data, bool preempt,
						      struct task_struct *prev,
						      struct task_struct *next,
						      unsigned int prev_state)
{
	stape_probe_idle(prev, next);
	stape_probe_switch_any(data, preempt, prev, next, prev_state);
}

/*
 * Notes that the CPU is idle no longer, and writes the switch to a task that sessions record.  A
 * function of its own, as the next one, so that the usual switches do not save registers.  @id:
 * not 0
 */
static noinline notrace void stape_probe_switch_from_idle(void *data, unsigned long id,
							  struct task_struct *idle,
							  struct task_struct *next)
{
	struct stape_ring *ring = stape_active_ring(id);
	u32 low = stape_encode_switch_low(true, next->pid, STAPE_STATE_RUNNING);

	if (likely(stape_probe_idle_known(ring) && stape_ring_says_idle(ring)))
		stape_ring_put(ring, stape_ring_word(STAPE_EV_SWITCH, low),
			       stape_idle_end_known(&ring->idle_seen), true);
	else
		stape_probe_switch_noted(data, false, idle, next, TASK_RUNNING);
}

/*
 * Notes that the CPU becomes idle, and writes the switch if a session has @prev, which was not
 * preempted: @prev_id.
 */
static noinline notrace void stape_probe_switch_to_idle(void *data, unsigned long prev_id,
							struct task_struct *prev,
							struct task_struct *idle,
							unsigned int prev_state)
{
	if (stape_clock_mono_used()) {
		stape_probe_switch_noted(data, false, prev, idle, prev_state);
		return;
	}
	stape_idle_begin_counter();
	if (prev_id)
		stape_probe_switch_usual(data, false, prev, idle, prev_state, prev_id, false, 0,
					 true, true);
}

static __always_inline void stape_probe_switch_unwatched(void *data, bool preempt,
							 struct task_struct *prev,
							 struct task_struct *next,
							 unsigned int prev_state, bool extras)
{
	unsigned long prev_id = stape_filter_id(data, prev->pid);
	unsigned long id = stape_filter_id(data, next->pid);

	if (id == prev_id) {
		/* No CPU switches between idle tasks. */
		if (id)
			stape_probe_switch_usual(data, preempt, prev, next, prev_state, id, true,
						 next->pid, true, extras);
	} else if (!id) {
		if (prev_id != STAPE_FILTER_IDLE)
			stape_probe_switch_usual(data, preempt, prev, next, prev_state, prev_id,
						 false, STAPE_PROBE_OTHER, true, extras);
		else
			stape_idle_end();
	} else if (id == STAPE_FILTER_IDLE) {
		if (likely(!preempt))
			stape_probe_switch_to_idle(data, prev_id, prev, next, prev_state);
		else
			stape_probe_switch_noted(data, true, prev, next, prev_state);
	} else if (prev_id == STAPE_FILTER_IDLE) {
		stape_probe_switch_from_idle(data, id, prev, next);
	} else if (prev_id || likely(stape_probe_idle_known(stape_active_ring(id)))) {
		stape_probe_switch_usual(data, preempt, prev, next, prev_state,
					 stape_probe_next_id(id, prev_id), true, next->pid,
					 prev_id, extras);
	} else {
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
	}
}

/*
 * Writes a switch, and notes what it ends and begins, if no trigger fires, and nothing else is
 * unusual.  @left, @entered: the session has the previous task, the next one; compile-time
 * constants.  @pid: as for stape_probe_switch_usual().  Returns false if nothing was done.
 */
static __always_inline bool stape_probe_switch_quick(struct stape_ring *ring,
						     struct task_struct *prev, bool left,
						     u32 pid, bool entered, u32 state)
{
	u32 low = stape_encode_switch_low(entered, pid, state);
	struct stape_waits *waits = ring->waits;
	struct stape_waits_leaf *from = NULL;
	u64 now, *word;

	/* A ring without triggers has the limit 0 for runs. */
	if (unlikely((!left && !waits) || !stape_ring_by_counter(ring)))
		return false;
	if (!entered && unlikely(!stape_ring_curr_pid(ring)))
		return false;
	now = stape_clock_now(true);
	/* Also if it is not known since when the task has run. */
	if (left && unlikely(now - ring->running_since > ring->burst_limit))
		return false;
	if (left && state == STAPE_STATE_RUNNING) {
		from = stape_waits_leaf(waits, prev->pid);
		if (unlikely(from == &stape_waits_no_leaf))
			return false;
	}
	if (entered) {
		word = stape_waits_word(stape_waits_leaf(waits, pid), pid);
		if (unlikely(!stape_wait_is_short(word, now)))
			return false;
		WRITE_ONCE(*word, STAPE_WAITS_NONE);
		WRITE_ONCE(ring->running_since, now);
	}
	if (from)
		WRITE_ONCE(*stape_waits_word(from, prev->pid),
			   stape_wait_word(waits, now, STAPE_WAITS_RUNNABLE));
	stape_ring_put(ring, stape_ring_word(STAPE_EV_SWITCH, low), now, true);
	return true;
}

/*
 * The same ids are read again, which saves registers.  The parameters are in the registers of the
 * tracepoint's.
 */
static noinline notrace void stape_probe_switch_slow(void *data, u32 state,
						     struct task_struct *prev,
						     struct task_struct *next)
{
	unsigned long prev_id = stape_probe_id(data, prev);
	unsigned long id = stape_probe_id(data, next);

	if (id || prev_id)
		stape_probe_switch_look(prev, prev_id, next, id, state);
}

/* stape_probe_switch_by_id() from or to the idle task. */
static noinline notrace void stape_probe_switch_idle(void *data, u32 state,
						     struct task_struct *prev,
						     struct task_struct *next)
{
	unsigned long prev_id = stape_probe_id(data, prev);
	unsigned long id = stape_probe_id(data, next);

	stape_probe_idle(prev, next);
	if (!id && (!prev_id || stape_probe_switch_quick(stape_active_ring(prev_id), prev, true, 0,
							 false, state)))
		return;
	stape_probe_switch_look(prev, prev_id, next, id, state);
}

/*
 * Writes a switch while sessions may have triggers.  If a ring wants system calls, its limit for
 * runs is 0: only a task that has run may sleep in one.
 */
static __always_inline void stape_probe_switch_by_id(void *data, struct task_struct *prev,
						     struct task_struct *next, u32 state)
{
	unsigned long prev_id = stape_filter_id(data, prev->pid);
	unsigned long id = stape_filter_id(data, next->pid);
	bool done = false;

	if (id == prev_id) {
		if (!id)
			return;
		done = stape_probe_switch_quick(stape_active_ring(id), prev, true, next->pid, true,
						state);
	} else if (!id && prev_id != STAPE_FILTER_IDLE) {
		done = stape_probe_switch_quick(stape_active_ring(prev_id), prev, true,
						STAPE_PROBE_OTHER, false, state);
	} else if (id == STAPE_FILTER_IDLE || prev_id == STAPE_FILTER_IDLE) {
		stape_probe_switch_idle(data, state, prev, next);
		return;
	} else if (!prev_id && likely(stape_probe_idle_known(stape_active_ring(id)))) {
		done = stape_probe_switch_quick(stape_active_ring(id), prev, false, next->pid, true,
						state);
	}
	if (unlikely(!done))
		stape_probe_switch_slow(data, state, prev, next);
}

static noinline notrace void stape_probe_switch_triggers(void *data, bool preempt,
							 struct task_struct *prev,
							 struct task_struct *next,
							 unsigned int prev_state)
{
	/* As in stape_probe_switch_usual(). */
	if (likely(!preempt && data_race(prev->__state) & TASK_INTERRUPTIBLE))
		stape_probe_switch_by_id(data, prev, next, STAPE_STATE_SLEEPING);
	else if (stape_probe_runnable(preempt, prev))
		stape_probe_switch_by_id(data, prev, next, STAPE_STATE_RUNNING);
	else
		stape_probe_switch_noted(data, preempt, prev, next, prev_state);
}

static noinline notrace void stape_probe_switch_syscalls(void *data, bool preempt,
							 struct task_struct *prev,
							 struct task_struct *next,
							 unsigned int prev_state)
{
	stape_probe_switch_unwatched(data, preempt, prev, next, prev_state, true);
}

/*
 * These are functions of their own, and call nothing but at their ends, so that none of them saves
 * registers.  Sessions that want more have triggers most of the time.
 */
void notrace stape_probe_switch(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	if (!stape_extras_enabled())
		stape_probe_switch_unwatched(data, preempt, prev, next, prev_state, false);
	else if (stape_watch_enabled())
		stape_probe_switch_noted(data, preempt, prev, next, prev_state);
	else if (static_branch_likely(&stape_trigger_key.key))
		stape_probe_switch_triggers(data, preempt, prev, next, prev_state);
	else
		stape_probe_switch_syscalls(data, preempt, prev, next, prev_state);
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

/* Writes any wakeup, and has triggers look at it. */
static noinline notrace void stape_probe_wakeup_any(unsigned long id, struct task_struct *task)
{
	unsigned long flags;

	/* Interrupts may be on only if a task wakes itself. */
	local_irq_save(flags);
	stape_probe_write_any(task, id, STAPE_EV_WAKEUP, task_cpu(task));
	stape_trigger_wakeup(stape_active_ring(id), task);
	local_irq_restore(flags);
}

/* Writes a wakeup while sessions may have triggers.  This calls nothing but at its end. */
static noinline notrace void stape_probe_wakeup_triggers(void *data, struct task_struct *task)
{
	unsigned long id = stape_filter_id(data, task->pid);
	u32 cpu = task_cpu(task);
	struct stape_ring *ring;
	u64 *word, now;

	if (!id)
		return;
	/* A task that wakes itself may be preempted here. */
	if (unlikely(stape_on_cpu(task) || cpu > STAPE_WAKE_CPU_MASK))
		goto any;
	ring = stape_active_ring(id);
	if (unlikely(!ring->waits || !stape_ring_by_counter(ring)))
		goto any;
	word = stape_waits_word(stape_waits_leaf(ring->waits, task->pid), task->pid);
	/* READ_ONCE() would take an instruction more. */
	if (unlikely(data_race(*word) != STAPE_WAITS_NONE))
		goto any;
	now = stape_clock_now(true);
	WRITE_ONCE(*word, stape_wait_word(ring->waits, now, STAPE_WAITS_RUNNABLE));
	/* The work that adds them up may read an old value. */
	data_race(ring->wakeups++);
	stape_ring_put_wakeup(ring, stape_ring_word(STAPE_EV_WAKEUP,
						    (u32)task->pid << STAPE_PID_SHIFT | cpu), now);
	return;
any:
	stape_probe_wakeup_any(id, task);
}

void notrace stape_probe_wakeup(void *data, struct task_struct *task)
{
	unsigned long id;
	u32 cpu;

	if (stape_trigger_enabled()) {
		stape_probe_wakeup_triggers(data, task);
		return;
	}
	id = stape_filter_id(data, task->pid);
	if (!id)
		return;
	cpu = task_cpu(task);
	if (likely(cpu <= STAPE_WAKE_CPU_MASK))
		stape_probe_write(task, id, STAPE_EV_WAKEUP, cpu, stape_ring_emit_wakeup);
	else
		stape_probe_write(task, id, STAPE_EV_WAKEUP, cpu, stape_ring_emit);
}

/* Notes that a new task waits. */
static noinline notrace void stape_probe_wakeup_new_triggers(void *data, struct task_struct *task)
{
	unsigned long id = stape_filter_id(data, task->pid);

	if (id)
		stape_trigger_wakeup_new(stape_active_ring(id), task);
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
	if (stape_trigger_enabled())
		stape_probe_wakeup_new_triggers(data, task);
}

void notrace stape_probe_migrate(void *data, struct task_struct *task, int cpu)
{
	stape_probe_placed(data, task, STAPE_EV_MIGRATE, cpu);
}

/* -- several sessions -------------------------------------------------------- */

#define STAPE_FANOUT_SYSCALL	(STAPE_SWITCH_SYSCALL | STAPE_SWITCH_SYSCALL_32)

/* Returns the lower half of a switch's word for one of several sessions. */
static u32 stape_fanout_switch_low(const struct stape_active *active,
				   const struct stape_ring *ring, u32 low)
{
	u32 pid = low >> STAPE_PID_SHIFT;

	if (!ring->syscalls || !stape_ring_curr_pid(ring))
		low &= ~STAPE_FANOUT_SYSCALL;
	if (!pid || test_bit(pid, active->filter.members))
		return low;
	return stape_encode_switch_low(false, pid, low & (STAPE_SWITCH_STATE_MASK |
							  STAPE_FANOUT_SYSCALL));
}

/* The session does not have the previous task. */
static void stape_fanout_switch_in(struct stape_ring *ring, u32 low, u64 word, u64 now)
{
	if (low >> STAPE_PID_SHIFT)
		stape_ring_put_slow(ring, word, low & STAPE_ARG_MASK, now);
	else
		stape_ring_forget_curr(ring);
}

static void stape_fanout_switch(const struct stape_active *active, struct stape_ring *ring,
				u64 word, u64 arg, u64 now)
{
	u32 low = stape_fanout_switch_low(active, ring, word);

	word = stape_ring_word(STAPE_EV_SWITCH, low);
	if (!stape_ring_curr_pid(ring))
		stape_fanout_switch_in(ring, low, word, now);
	else if (low & STAPE_SWITCH_SYSCALL)
		stape_ring_put_long(ring, word, arg >> STAPE_ARG_BITS, now, true);
	else
		stape_ring_put(ring, word, now, true);
}

static __always_inline void stape_fanout_one(const struct stape_active *active,
					     struct stape_ring *ring, u64 word, u64 arg,
					     u64 now)
{
	u32 low = word;

	if (word >> STAPE_TYPE_SHIFT == STAPE_EV_SWITCH)
		stape_fanout_switch(active, ring, word, arg, now);
	else if (test_bit(low >> STAPE_PID_SHIFT, active->filter.members))
		stape_ring_put_any(ring, word, arg, now);
}

/* Passes an event on to each session that it concerns, with interrupts off. */
static notrace void stape_fanout(u64 word, u64 arg)
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
