// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for switches, wake-ups and migrations: the hot path.  They return as soon as they
 * know that no session has the task.  Their data is stape_filter_ids.  attach.c has the rules
 * for all probes.
 *
 * A probe that the kernel calls writes the usual event of a session that has the CPU's counter as
 * its clock.  It calls nothing but at its end, so that it saves no registers.  (The probe of
 * wakeup_new, a rare event, does.)  Where an id is slow (STAPE_FILTER_SLOW), a function of its own
 * reads CLOCK_MONOTONIC, or writes the event to several sessions.
 */
#include "record/probes.h"

#include <linux/preempt.h>
#include <linux/sched.h>

#include "record/encode.h"
#include "record/members.h"
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

/*
 * Has the CPU not been idle since the reader knew its idle time, or only since the last switch?  At
 * a switch from a task that is not recorded, the reader knows then that the CPU has run others.
 * @ring has the counter as its clock.
 */
static __always_inline bool stape_probe_idle_known(const struct stape_ring *ring)
{
	return this_cpu_read(stape_idle_clocks[true].sum) == ring->idle_seen;
}

/* -- any switch -------------------------------------------------------------- */

/* Returns the number of the filter that has a task, STAPE_FILTER_NR_MULTI, or 0 for idle tasks. */
static __always_inline unsigned long stape_probe_nr(const s8 *ids, const struct task_struct *task)
{
	return stape_filter_nr(stape_filter_id(ids, task->pid));
}

/*
 * Returns true only if @prev sleeps in TASK_INTERRUPTIBLE.  Only the task itself sets its state to
 * that, never its waker.  TASK_FREEZABLE may be set as well, as when it waits for a futex or for a
 * child; other bits are not.
 */
static __always_inline bool stape_probe_sleeps(bool preempt, const struct task_struct *prev)
{
	/* Any other value is read again.  READ_ONCE() would take an instruction more. */
	return likely(!preempt && data_race(prev->__state) & TASK_INTERRUPTIBLE);
}

/*
 * Returns whether @prev stays runnable.  A task with a signal pending does not block: its state
 * has been set back to running, but prev_state was read before that.
 */
static __always_inline bool stape_probe_runnable(bool preempt, const struct task_struct *prev)
{
	return preempt || !READ_ONCE(prev->__state);
}

/*
 * Returns the time of an event by a ring's clock.  @now: the event's times by both clocks, 0: not
 * read yet.  So the event has one time in all sessions with the same clock.
 */
static __always_inline u64 stape_probe_now(const struct stape_ring *ring, u64 now[2])
{
	if (!now[ring->counter])
		now[ring->counter] = stape_ring_now(ring);
	return now[ring->counter];
}

/*
 * Writes a switch if the session has @next, or if the stream says that the CPU runs a recorded
 * task.  Has triggers look at it before.  @left, @entered: the session has @prev, @next.  @now: of
 * stape_probe_now().
 */
static __always_inline void stape_probe_switch_write(struct stape_ring *ring,
						     struct task_struct *prev, bool left,
						     struct task_struct *next, bool entered,
						     u32 state, u64 now[2])
{
	u64 word = stape_ring_word(STAPE_EV_SWITCH,
				   stape_encode_switch_low(entered, next->pid, state));
	u32 curr_pid = stape_ring_curr_pid(ring);

	if (stape_trigger_enabled() && ring->waits && (left || entered))
		stape_trigger_switch(ring, prev, left, next, entered, state,
				     stape_probe_now(ring, now));
	if (!curr_pid && !entered) {
		stape_ring_forget_curr(ring);
		return;
	}
	/* A task that has left the filter may run where the stream still names another one. */
	if (ring->syscalls && curr_pid && curr_pid == prev->pid && stape_syscall_has_regs(prev) &&
	    state != STAPE_STATE_RUNNING && state != STAPE_STATE_DEAD) {
		word |= STAPE_SWITCH_SYSCALL;
		word |= stape_in_32bit_syscall(prev) ? STAPE_SWITCH_SYSCALL_32 : 0;
		stape_ring_put_long(ring, word, stape_syscall_number(prev),
				    stape_probe_now(ring, now));
	} else {
		stape_ring_put_switch(ring, word, stape_probe_now(ring, now));
	}
}

/* Writes a switch to all sessions, of which several may have the tasks. */
static noinline notrace void stape_probe_switch_each(struct task_struct *prev,
						     struct task_struct *next, u32 state)
{
	struct stape_active *active;
	u64 now[2] = { 0 };

	for_each_active(active)
		stape_probe_switch_write(this_cpu_ptr(active->rings), prev,
					 stape_filter_has(&active->filter, prev), next,
					 stape_filter_has(&active->filter, next), state, now);
}

/* Writes a switch to all sessions that it concerns.  @prev_nr, @nr: of stape_probe_nr() */
static __always_inline void stape_probe_switch_all(struct task_struct *prev, unsigned long prev_nr,
						   struct task_struct *next, unsigned long nr,
						   u32 state)
{
	unsigned long both = prev_nr | nr;
	u64 now[2] = { 0 };

	if (!both)
		return;
	if (unlikely((nr && prev_nr && nr != prev_nr) || both == STAPE_FILTER_NR_MULTI))
		stape_probe_switch_each(prev, next, state);
	else
		stape_probe_switch_write(stape_active_ring(both), prev, prev_nr, next, nr, state,
					 now);
}

/* Writes any switch. */
static noinline notrace void stape_probe_switch_any(void *data, bool preempt,
						    struct task_struct *prev,
						    struct task_struct *next,
						    unsigned int prev_state)
{
	u32 state = stape_probe_runnable(preempt, prev) ? STAPE_STATE_RUNNING :
							  stape_task_state(prev_state);
	unsigned long prev_nr = stape_probe_nr(data, prev);

	stape_probe_switch_all(prev, prev_nr, next, stape_probe_nr(data, next), state);
	if (state == STAPE_STATE_DEAD && prev_nr)
		stape_members_add_dead(prev);
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

/* -- usual switches ---------------------------------------------------------- */

/* Stands for the PID of any task that is neither recorded nor idle. */
#define STAPE_PROBE_OTHER	1

/*
 * Writes a switch.  @syscall: @prev sleeps in the system call @number.  @counter: the ring's clock.
 * The flags are compile-time constants.
 */
static __always_inline void stape_probe_switch_put(struct stape_ring *ring, bool recorded, u32 pid,
						   u32 state, bool syscall, u32 number,
						   bool counter)
{
	u64 word = stape_ring_word(STAPE_EV_SWITCH,
				   stape_encode_switch_low(recorded, pid, state));

	if (!recorded && !stape_ring_curr_pid(ring))
		stape_ring_forget_curr(ring);
	else if (syscall)
		stape_ring_put_long(ring, word | STAPE_SWITCH_SYSCALL, number,
				    stape_clock_now(counter));
	else
		stape_ring_put(ring, word, stape_clock_now(counter));
}

/*
 * Writes a switch in the usual case: @prev's state is not a rare one.
 * @pid: that of @next if it is recorded, which is read again, because that saves a register in the
 * caller; if not, a compile-time constant, STAPE_PROBE_OTHER or 0.
 * @syscalls: the ring may want system calls; @counter: its clock; both are compile-time constants.
 */
static __always_inline void stape_probe_switch_usual(void *data, bool preempt,
						     struct task_struct *prev,
						     struct task_struct *next,
						     unsigned int prev_state, unsigned long nr,
						     bool recorded, u32 pid, bool prev_recorded,
						     bool syscalls, bool counter)
{
	struct stape_ring *ring = stape_active_ring(nr);

	if (stape_probe_sleeps(preempt, prev)) {
		if (!syscalls || !ring->syscalls)
			stape_probe_switch_put(ring, recorded, pid, STAPE_STATE_SLEEPING, false, 0,
					       counter);
		else if (likely(prev_recorded && stape_syscall_has_regs(prev) &&
				!stape_in_32bit_syscall(prev)))
			stape_probe_switch_put(ring, recorded, pid, STAPE_STATE_SLEEPING, true,
					       stape_syscall_number(prev), counter);
		else
			stape_probe_switch_any(data, preempt, prev, next, prev_state);
	} else if (stape_probe_runnable(preempt, prev)) {
		stape_probe_switch_put(ring, recorded, pid, STAPE_STATE_RUNNING, false, 0, counter);
	} else {
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
	}
}

/* Writes a switch between tasks that different sessions have.  Neither is an idle task. */
static __always_inline void stape_probe_switch_other(void *data, bool preempt,
						     struct task_struct *prev,
						     struct task_struct *next,
						     unsigned int prev_state, long id,
						     long next_id)
{
	bool multi = id == STAPE_FILTER_MULTI || next_id == STAPE_FILTER_MULTI;

	if (likely(multi && stape_probe_sleeps(preempt, prev)))
		stape_probe_switch_each(prev, next, STAPE_STATE_SLEEPING);
	else if (multi && stape_probe_runnable(preempt, prev))
		stape_probe_switch_each(prev, next, STAPE_STATE_RUNNING);
	else
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
}

/*
 * Writes a switch between tasks of which one at least has a slow id.  If one session with
 * CLOCK_MONOTONIC has both, or has @prev and nobody has @next, it is written here; all others by
 * stape_probe_switch_any().  @id: that of @prev.
 */
static __always_inline void stape_probe_switch_by_mono(void *data, bool preempt,
						       struct task_struct *prev,
						       struct task_struct *next,
						       unsigned int prev_state, long id,
						       bool syscalls)
{
	long next_id = stape_filter_id(data, next->pid);

	/* Ids below STAPE_FILTER_MULTI are those of such sessions, and STAPE_FILTER_IDLE. */
	if (unlikely(id >= STAPE_FILTER_MULTI))
		stape_probe_switch_other(data, preempt, prev, next, prev_state, id, next_id);
	else if (next_id == id)
		stape_probe_switch_usual(data, preempt, prev, next, prev_state,
					 stape_filter_nr(id), true, next->pid, true, syscalls,
					 false);
	else if (id == STAPE_FILTER_IDLE)
		stape_probe_switch_noted(data, preempt, prev, next, prev_state);
	else if (!next_id)
		stape_probe_switch_usual(data, preempt, prev, next, prev_state,
					 stape_filter_nr(id), false, STAPE_PROBE_OTHER, true,
					 syscalls, false);
	else
		stape_probe_switch_other(data, preempt, prev, next, prev_state, id, next_id);
}

static noinline notrace void stape_probe_switch_slow_id(void *data, bool preempt,
							struct task_struct *prev,
							struct task_struct *next,
							unsigned int prev_state, long id)
{
	stape_probe_switch_by_mono(data, preempt, prev, next, prev_state, id, false);
}

static noinline notrace void stape_probe_switch_slow_id_syscalls(void *data, bool preempt,
								 struct task_struct *prev,
								 struct task_struct *next,
								 unsigned int prev_state, long id)
{
	stape_probe_switch_by_mono(data, preempt, prev, next, prev_state, id, true);
}

/*
 * Notes that the CPU is idle no longer, and writes the switch to a task that a session records.  A
 * function of its own, as the next one, so that the usual switches do not save registers.
 */
static noinline notrace void stape_probe_switch_from_idle(void *data, unsigned long nr,
							  struct task_struct *idle,
							  struct task_struct *next)
{
	struct stape_ring *ring = stape_active_ring(nr);
	u32 low = stape_encode_switch_low(true, next->pid, STAPE_STATE_RUNNING);

	if (likely(stape_probe_idle_known(ring) && stape_ring_says_idle(ring) &&
		   !stape_clock_mono_used()))
		stape_ring_put(ring, stape_ring_word(STAPE_EV_SWITCH, low),
			       stape_idle_end_known(&ring->idle_seen));
	else
		stape_probe_switch_noted(data, false, idle, next, TASK_RUNNING);
}

/*
 * Notes that the CPU becomes idle, and writes the switch if a session has @prev, which was not
 * preempted: @prev_id.
 */
static noinline notrace void stape_probe_switch_to_idle(void *data, long prev_id,
							struct task_struct *prev,
							struct task_struct *idle,
							unsigned int prev_state)
{
	if (stape_clock_mono_used()) {
		stape_probe_switch_noted(data, false, prev, idle, prev_state);
		return;
	}
	stape_idle_begin_counter();
	if (!prev_id)
		return;
	if (likely(prev_id > 0))
		stape_probe_switch_usual(data, false, prev, idle, prev_state, prev_id, false, 0,
					 true, true, true);
	else
		stape_probe_switch_any(data, false, prev, idle, prev_state);
}

static __always_inline void stape_probe_switch_unwatched(void *data, bool preempt,
							 struct task_struct *prev,
							 struct task_struct *next,
							 unsigned int prev_state, bool syscalls)
{
	long prev_id = stape_filter_id(data, prev->pid);
	long id = stape_filter_id(data, next->pid);

	if (id == prev_id) {
		/* No CPU switches between idle tasks. */
		if (!id)
			return;
		if (unlikely(id < 0))
			goto slow;
		stape_probe_switch_usual(data, preempt, prev, next, prev_state, id, true,
					 READ_ONCE(next->pid), true, syscalls, true);
	} else if (!id) {
		if (prev_id == STAPE_FILTER_IDLE)
			stape_idle_end();
		else if (unlikely(stape_filter_is_slow(prev_id)))
			goto slow;
		else
			stape_probe_switch_usual(data, preempt, prev, next, prev_state, prev_id,
						 false, STAPE_PROBE_OTHER, true, syscalls, true);
	} else if (id == STAPE_FILTER_IDLE) {
		if (likely(!preempt))
			stape_probe_switch_to_idle(data, prev_id, prev, next, prev_state);
		else
			stape_probe_switch_noted(data, true, prev, next, prev_state);
	} else if (unlikely(stape_filter_is_slow(id))) {
		goto slow;
	} else if (prev_id == STAPE_FILTER_IDLE) {
		stape_probe_switch_from_idle(data, id, prev, next);
	} else if (!prev_id && likely(stape_probe_idle_known(stape_active_ring(id)))) {
		stape_probe_switch_usual(data, preempt, prev, next, prev_state, id, true,
					 READ_ONCE(next->pid), false, syscalls, true);
	} else {
		stape_probe_switch_any(data, preempt, prev, next, prev_state);
	}
	return;
slow:
	/* Or the compiler extends it to an int before all switches. */
	OPTIMIZER_HIDE_VAR(preempt);
	if (syscalls)
		stape_probe_switch_slow_id_syscalls(data, preempt, prev, next, prev_state, prev_id);
	else
		stape_probe_switch_slow_id(data, preempt, prev, next, prev_state, prev_id);
}

/* -- switches with triggers -------------------------------------------------- */

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
	if (!left && unlikely(!waits))
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
	stape_ring_put(ring, stape_ring_word(STAPE_EV_SWITCH, low), now);
	return true;
}

/*
 * The same ids are read again, which saves registers.  The parameters are in the registers of the
 * tracepoint's.
 */
static noinline notrace void stape_probe_switch_again(void *data, u32 state,
						      struct task_struct *prev,
						      struct task_struct *next)
{
	stape_probe_switch_all(prev, stape_probe_nr(data, prev), next, stape_probe_nr(data, next),
			       state);
}

/* stape_probe_switch_by_id() from or to the idle task. */
static noinline notrace void stape_probe_switch_idle(void *data, u32 state,
						     struct task_struct *prev,
						     struct task_struct *next)
{
	long prev_id = stape_filter_id(data, prev->pid);
	unsigned long nr = stape_probe_nr(data, next);

	stape_probe_idle(prev, next);
	if (!nr && prev_id > 0 &&
	    stape_probe_switch_quick(stape_active_ring(prev_id), prev, true, 0, false, state))
		return;
	stape_probe_switch_all(prev, stape_filter_nr(prev_id), next, nr, state);
}

/*
 * Writes a switch while sessions may have triggers.  If a ring wants system calls, its limit for
 * runs is 0: only a task that has run may sleep in one.
 */
static __always_inline void stape_probe_switch_by_id(void *data, struct task_struct *prev,
						     struct task_struct *next, u32 state)
{
	long prev_id = stape_filter_id(data, prev->pid);
	long id = stape_filter_id(data, next->pid);
	bool done = false;

	if (id == prev_id) {
		if (!id)
			return;
		if (likely(id > 0))
			done = stape_probe_switch_quick(stape_active_ring(id), prev, true,
							READ_ONCE(next->pid), true, state);
	} else if (!id && prev_id != STAPE_FILTER_IDLE) {
		if (likely(!stape_filter_is_slow(prev_id)))
			done = stape_probe_switch_quick(stape_active_ring(prev_id), prev, true,
							STAPE_PROBE_OTHER, false, state);
	} else if (id == STAPE_FILTER_IDLE || prev_id == STAPE_FILTER_IDLE) {
		stape_probe_switch_idle(data, state, prev, next);
		return;
	} else if (!prev_id && likely(id > 0) &&
		   likely(stape_probe_idle_known(stape_active_ring(id)))) {
		done = stape_probe_switch_quick(stape_active_ring(id), prev, false,
						READ_ONCE(next->pid), true, state);
	}
	if (unlikely(!done))
		stape_probe_switch_again(data, state, prev, next);
}

static noinline notrace void stape_probe_switch_triggers(void *data, bool preempt,
							 struct task_struct *prev,
							 struct task_struct *next,
							 unsigned int prev_state)
{
	if (stape_probe_sleeps(preempt, prev))
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
 * Counts CPU time, and then writes the switch as where no task is watched: a switch of a player
 * costs as much as one of its task, and both times are equally far apart at each switch.
 */
static noinline notrace void stape_probe_switch_watched(void *data, bool preempt,
							struct task_struct *prev,
							struct task_struct *next,
							unsigned int prev_state)
{
	stape_watch_switch(prev, next, !stape_probe_runnable(preempt, prev));
	if (stape_trigger_enabled())
		stape_probe_switch_triggers(data, preempt, prev, next, prev_state);
	else
		stape_probe_switch_syscalls(data, preempt, prev, next, prev_state);
}

/* Sessions that want more than switches have triggers most of the time. */
void notrace stape_probe_switch(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	if (!stape_extras_enabled())
		stape_probe_switch_unwatched(data, preempt, prev, next, prev_state, false);
	else if (stape_watch_enabled())
		stape_probe_switch_watched(data, preempt, prev, next, prev_state);
	else if (static_branch_likely(&stape_trigger_key.key))
		stape_probe_switch_triggers(data, preempt, prev, next, prev_state);
	else
		stape_probe_switch_syscalls(data, preempt, prev, next, prev_state);
}

/* -- wake-ups and moves ------------------------------------------------------ */

/* Returns an event's word.  The PID is read again, which saves a register in the caller. */
static __always_inline u64 stape_probe_word(const struct task_struct *task, u64 type, u32 arg)
{
	u32 pid = READ_ONCE(task->pid);

	return stape_ring_word(type, pid << STAPE_PID_SHIFT | (arg & STAPE_ARG_MASK));
}

/* Writes an event of one task for a session at @now, and has its triggers look at it. */
static __always_inline void stape_probe_write_one(struct stape_ring *ring,
						  struct task_struct *task, u64 type, u32 arg,
						  u64 now)
{
	stape_ring_put_any(ring, stape_probe_word(task, type, arg), arg, now);
	if (stape_trigger_enabled() && type == STAPE_EV_WAKEUP)
		stape_trigger_wakeup(ring, task, now);
	else if (stape_trigger_enabled() && type == STAPE_EV_WAKEUP_NEW)
		stape_trigger_wakeup_new(ring, task, now);
}

/*
 * Writes an event of one task for all sessions that have it.  @id is not read again, because the
 * task may have left the filter since.  Interrupts may be on, if a task wakes itself.
 */
static noinline notrace void stape_probe_write_any(long id, struct task_struct *task, u64 type,
						   u32 arg)
{
	struct stape_active *active;
	struct stape_ring *ring;
	u64 now[2] = { 0 };
	unsigned long flags;

	local_irq_save(flags);
	if (id != STAPE_FILTER_MULTI) {
		ring = stape_active_ring(stape_filter_nr(id));
		stape_probe_write_one(ring, task, type, arg, stape_ring_now(ring));
	} else {
		for_each_active(active) {
			ring = this_cpu_ptr(active->rings);
			if (stape_filter_has(&active->filter, task))
				stape_probe_write_one(ring, task, type, arg,
						      stape_probe_now(ring, now));
		}
	}
	local_irq_restore(flags);
}

/*
 * Writes an event of one task.  @joins: it is a wakeup that stape_ring_put_wakeup() takes.
 * @counter: the id is not slow; if it is slow, the clock is CLOCK_MONOTONIC.
 */
static __always_inline void stape_probe_write(long id, struct task_struct *task, u64 type, u32 arg,
					      bool joins, bool counter)
{
	struct stape_ring *ring;

	/* Interrupts may be on only if a task wakes itself. */
	if (unlikely((!counter && id == STAPE_FILTER_MULTI) || task == current ||
		     arg > STAPE_ARG_MASK)) {
		stape_probe_write_any(id, task, type, arg);
		return;
	}
	ring = stape_active_ring(counter ? id : stape_filter_nr(id));
	if (joins)
		stape_ring_put_wakeup(ring, stape_probe_word(task, type, arg),
				      stape_clock_now(counter));
	else
		stape_ring_put(ring, stape_probe_word(task, type, arg), stape_clock_now(counter));
}

static noinline notrace void stape_probe_waking_irq(long id, struct task_struct *task)
{
	u32 arg = stape_probe_context() << STAPE_WAKING_CONTEXT_SHIFT;

	if (unlikely(id < 0))
		stape_probe_write_any(id, task, STAPE_EV_WAKING, arg);
	else
		stape_probe_write(id, task, STAPE_EV_WAKING, arg, false, true);
}

static noinline notrace void stape_probe_waking_slow_id(long id, struct task_struct *task)
{
	if (unlikely(in_interrupt()))
		stape_probe_waking_irq(id, task);
	else
		stape_probe_write(id, task, STAPE_EV_WAKING,
				  STAPE_CTX_TASK << STAPE_WAKING_CONTEXT_SHIFT, false, false);
}

void notrace stape_probe_waking(void *data, struct task_struct *task)
{
	long id = stape_filter_id(data, task->pid);

	/* The two comparisons with 0 take one test, as in the probes below. */
	if (!id)
		return;
	if (unlikely(id < 0))
		stape_probe_waking_slow_id(id, task);
	else if (unlikely(in_interrupt()))
		stape_probe_waking_irq(id, task);
	else
		stape_probe_write(id, task, STAPE_EV_WAKING,
				  STAPE_CTX_TASK << STAPE_WAKING_CONTEXT_SHIFT, false, true);
}

/* Writes a wakeup while sessions may have triggers. */
static noinline notrace void stape_probe_wakeup_triggers(void *data, struct task_struct *task)
{
	long id = stape_filter_id(data, task->pid);
	u32 cpu = task_cpu(task);
	struct stape_ring *ring;
	u64 *word, now;

	if (!id)
		return;
	/* A task that wakes itself may be preempted here. */
	if (unlikely(id < 0 || stape_on_cpu(task) || cpu > STAPE_WAKE_CPU_MASK))
		goto any;
	ring = stape_active_ring(id);
	if (unlikely(!ring->waits))
		goto any;
	word = stape_waits_word(stape_waits_leaf(ring->waits, task->pid), task->pid);
	/* READ_ONCE() would take an instruction more. */
	if (unlikely(data_race(*word) != STAPE_WAITS_NONE))
		goto any;
	now = stape_clock_now(true);
	WRITE_ONCE(*word, stape_wait_word(ring->waits, now, STAPE_WAITS_RUNNABLE));
	/* The work that adds them up may read an old value. */
	data_race(ring->wakeups++);
	stape_ring_put_wakeup(ring, stape_probe_word(task, STAPE_EV_WAKEUP, cpu), now);
	return;
any:
	stape_probe_write_any(id, task, STAPE_EV_WAKEUP, cpu);
}

static __always_inline void stape_probe_wakeup_by_id(long id, struct task_struct *task,
						     bool counter)
{
	u32 cpu = task_cpu(task);

	if (likely(cpu <= STAPE_WAKE_CPU_MASK))
		stape_probe_write(id, task, STAPE_EV_WAKEUP, cpu, true, counter);
	else
		stape_probe_write(id, task, STAPE_EV_WAKEUP, cpu, false, counter);
}

static noinline notrace void stape_probe_wakeup_slow_id(long id, struct task_struct *task)
{
	stape_probe_wakeup_by_id(id, task, false);
}

void notrace stape_probe_wakeup(void *data, struct task_struct *task)
{
	long id;

	if (stape_trigger_enabled()) {
		stape_probe_wakeup_triggers(data, task);
		return;
	}
	id = stape_filter_id(data, task->pid);
	if (!id)
		return;
	if (unlikely(id < 0))
		stape_probe_wakeup_slow_id(id, task);
	else
		stape_probe_wakeup_by_id(id, task, true);
}

static noinline notrace void stape_probe_placed_slow_id(long id, struct task_struct *task, u64 type,
							u32 cpu)
{
	stape_probe_write(id, task, type, cpu, false, false);
}

static __always_inline void stape_probe_placed(void *data, struct task_struct *task, u64 type,
					       u32 cpu)
{
	long id = stape_filter_id(data, task->pid);

	if (!id)
		return;
	if (unlikely(id < 0))
		stape_probe_placed_slow_id(id, task, type, cpu);
	else
		stape_probe_write(id, task, type, cpu, false, true);
}

/* Writes the first wakeup of a task while sessions may have triggers. */
static noinline notrace void stape_probe_wakeup_new_triggers(void *data, struct task_struct *task)
{
	long id = stape_filter_id(data, task->pid);

	if (id)
		stape_probe_write_any(id, task, STAPE_EV_WAKEUP_NEW, task_cpu(task));
}

void notrace stape_probe_wakeup_new(void *data, struct task_struct *task)
{
	/*
	 * sched_process_fork does not fire for threads that the kernel makes for a process.
	 * Either a thread of the process or a kernel thread makes them.
	 */
	if (unlikely(task->flags & (PF_IO_WORKER | PF_USER_WORKER)))
		stape_members_fork(NULL, same_thread_group(current, task) ? current :
				task->group_leader, task);
	if (stape_trigger_enabled())
		stape_probe_wakeup_new_triggers(data, task);
	else
		stape_probe_placed(data, task, STAPE_EV_WAKEUP_NEW, task_cpu(task));
}

void notrace stape_probe_migrate(void *data, struct task_struct *task, int cpu)
{
	stape_probe_placed(data, task, STAPE_EV_MIGRATE, cpu);
}
