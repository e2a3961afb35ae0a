// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers of sessions: what probes do when a limit is exceeded, and the notifications of it.
 */
#include "record/trigger.h"

#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "base/work.h"
#include "record/encode.h"
#include "record/filter.h"
#include "record/watch.h"

/* How long a trigger that has fired only counts: a storm must not fill tape and sockets. */
#define STAPE_TRIGGER_REST_MS	10

static_assert(STAPE_TRIGGERS_MAX <= STAPE_WAITS_FIRED_MASK);

/*
 * On while sessions may have triggers, and for 10 s after that, because each change patches the
 * kernel's code.
 */
DEFINE_STATIC_KEY_DEFERRED_FALSE(stape_trigger_key, 10 * HZ);

/**
 * stape_trigger_enable() - let the probes of switches and wakeups look for triggers
 *
 * Context: may sleep.
 */
void stape_trigger_enable(void)
{
	stape_extras_get();
	static_branch_deferred_inc(&stape_trigger_key);
}

/**
 * stape_trigger_disable() - undo stape_trigger_enable()
 *
 * Context: may sleep.
 */
void stape_trigger_disable(void)
{
	static_branch_slow_dec_deferred(&stape_trigger_key);
	stape_extras_put();
}

/**
 * stape_trigger_exit() - wait until the last stape_trigger_disable() has taken effect
 *
 * Context: module exit; may sleep.
 */
void stape_trigger_exit(void)
{
	static_key_deferred_flush(&stape_trigger_key);
}

/* -- firing ------------------------------------------------------------------ */

/**
 * stape_trigger_clip() - get how much of a wait, or of a run, counts
 * @triggers: a session's
 * @elapsed: how long it has lasted; below 0 if the clocks of two CPUs differ
 * @now: its end, by the raw clock
 *
 * After a suspend @elapsed may mean nothing, because the raw clock may have started again.
 *
 * Context: any.
 * Return: the part since the recording was started, or resumed.
 */
u64 stape_trigger_clip(const struct stape_triggers *triggers, s64 elapsed, u64 now)
{
	s64 since = now - READ_ONCE(triggers->epoch);

	if (since < 0 || (elapsed < 0 && elapsed > -(s64)NSEC_PER_SEC))
		return 0;
	return min_t(u64, elapsed, since);
}

/**
 * stape_trigger_concerns() - check whether a trigger is for a task
 * @trigger: any
 * @task: the task; it may run elsewhere, and change its name meanwhile
 *
 * The time of a match is bounded, because names and patterns are short.
 *
 * Context: any.
 */
bool stape_trigger_concerns(const struct stape_trigger *trigger, const struct task_struct *task)
{
	const struct stape_trigger_setup *setup = &trigger->setup;

	if (setup->pid && setup->pid != task->pid && setup->pid != task->tgid)
		return false;
	return !*setup->comm || stape_filter_name_matches(setup->comm, task->comm);
}

/* Returns a time of the session's clock in ns. */
static u64 stape_trigger_ns(const struct stape_triggers *triggers, u64 time)
{
	return triggers->counter ? mul_u64_u32_div(time, 1000000, stape_counter_rate()) : time;
}

/**
 * stape_trigger_fire() - count that a trigger fires, write the event, and queue the notification
 * @triggers: a session's
 * @number: of the trigger
 * @pid: the task's PID, 0: all tasks
 * @cpu: the task's CPU
 * @value: by the session's clock, or wake-ups
 * @lasts: it has not ended
 *
 * Context: interrupts off.  Any lock may be held.
 */
void stape_trigger_fire(struct stape_triggers *triggers, u32 number, u32 pid, u32 cpu, u64 value,
			bool lasts)
{
	struct stape_trigger *trigger = &triggers->triggers[number];
	u64 payload[STAPE_TRIGGER_WORDS];

	if (!READ_ONCE(triggers->on))
		return;
	atomic64_inc(&trigger->fired);
	if (atomic_read(&trigger->state) != STAPE_TRIGGER_ARMED ||
	    atomic_cmpxchg(&trigger->state, STAPE_TRIGGER_ARMED, STAPE_TRIGGER_TAKEN) !=
	    STAPE_TRIGGER_ARMED)
		return;
	if (trigger->setup.kind != STAPE_TRIGGER_RATE)
		value = stape_trigger_ns(triggers, value);
	trigger->notice = (struct stape_trigger_notice) {
		.number = number,
		.pid = pid,
		.cpu = cpu,
		.lasts = lasts,
		.value = value,
		.time = ktime_get_mono_fast_ns(),
	};
	atomic_set_release(&trigger->state, STAPE_TRIGGER_FIRED);
	payload[STAPE_TRIGGER_VALUE] = value;
	payload[STAPE_TRIGGER_WHERE] = (u64)cpu << STAPE_TRIGGER_CPU_SHIFT |
				       (u64)number << STAPE_TRIGGER_NUMBER_SHIFT |
				       (u64)trigger->setup.kind << STAPE_TRIGGER_KIND_SHIFT |
				       (lasts ? STAPE_TRIGGER_LASTS : 0);
	stape_encode_set(triggers->active, STAPE_SET_TRIGGER, pid, payload, STAPE_TRIGGER_WORDS);
	stape_wake_queue(&triggers->wake);
}

/**
 * stape_trigger_fire_all() - fire the triggers of a kind that have a limit below a value
 * @triggers: a session's
 * @kind: enum stape_trigger_kind, or 0: none
 * @from: how many of the kind, those with the lowest limits, have fired already
 * @task: the task, which runs or waits on this CPU, or is woken from here
 * @value: by the session's clock
 * @lasts: the wait or run has not ended
 *
 * Context: interrupts off.  Any lock may be held.
 * Return: how many of the kind have fired now.
 */
u32 stape_trigger_fire_all(struct stape_triggers *triggers, u32 kind, u32 from,
			   const struct task_struct *task, u64 value, bool lasts)
{
	const struct stape_trigger_order *order = &triggers->order[kind];
	u32 i;

	for (i = from; i < order->nr; i++) {
		const struct stape_trigger *trigger = &triggers->triggers[order->numbers[i]];

		if (value <= trigger->limit)
			break;
		if (stape_trigger_concerns(trigger, task))
			stape_trigger_fire(triggers, order->numbers[i], task->pid,
					   smp_processor_id(), value, lasts);
	}
	return i;
}

/* A wait or a run has ended. */
static void stape_trigger_ended(struct stape_triggers *triggers, u32 kind,
				const struct task_struct *task, s64 elapsed, u64 now)
{
	stape_trigger_fire_all(triggers, kind, 0, task, stape_trigger_clip(triggers, elapsed, now),
			       false);
}

/* Fires for the end of a task's wait, if it waits. */
static void stape_trigger_waited(const struct stape_ring *ring, const struct task_struct *task,
				 u64 word, u64 now)
{
	stape_trigger_ended(ring->triggers, stape_trigger_kind(word), task,
			    stape_wait_elapsed(ring->waits, word, now), now);
}

/* -- called by probes -------------------------------------------------------- */

/*
 * Returns a task's word; or NULL: the stock of leaves is empty, and the work makes one later.
 * Until then no trigger fires for the task.
 */
static u64 *stape_trigger_word(struct stape_waits *waits, const struct task_struct *task)
{
	u64 *word = stape_waits_find(waits, task->pid) ?: stape_waits_take(waits, task->pid);

	if (!word)
		atomic64_inc(&waits->missed);
	return word;
}

/* Notes that a task begins to wait. */
static void stape_trigger_begin(struct stape_waits *waits, const struct task_struct *task, u64 now,
				enum stape_waits_state state)
{
	u64 *word = stape_trigger_word(waits, task);

	if (word)
		WRITE_ONCE(*word, stape_wait_word(waits, now, state));
}

static void stape_trigger_switch_out(struct stape_ring *ring, const struct task_struct *task,
				     u64 now, u32 state)
{
	/* Else it is not known since when the task has run.  The switch is not written yet. */
	if (stape_ring_curr_pid(ring) == task->pid)
		stape_trigger_ended(ring->triggers, STAPE_TRIGGER_BURST, task,
				    now - ring->running_since, now);
	if (state == STAPE_STATE_RUNNING)
		stape_trigger_begin(ring->waits, task, now, STAPE_WAITS_RUNNABLE);
	else if (state == STAPE_STATE_BLOCKED)
		stape_trigger_begin(ring->waits, task, now, STAPE_WAITS_BLOCKED);
}

static void stape_trigger_switch_in(struct stape_ring *ring, const struct task_struct *task,
				    u64 now)
{
	u64 *word = stape_waits_find(ring->waits, task->pid);

	WRITE_ONCE(ring->running_since, now);
	if (!word)
		return;
	stape_trigger_waited(ring, task, READ_ONCE(*word), now);
	WRITE_ONCE(*word, STAPE_WAITS_NONE);
}

/**
 * stape_trigger_switch() - fire for what a switch ends, and note what it begins
 * @ring: this CPU's ring of a session with triggers
 * @prev: the task that is switched out
 * @left: the session has @prev
 * @next: the task that is switched in
 * @entered: the session has @next
 * @state: enum stape_state of @prev
 * @now: by the session's clock
 *
 * Context: the switch probe, before the switch is written: interrupts off, runqueue lock.
 */
void notrace stape_trigger_switch(struct stape_ring *ring, const struct task_struct *prev,
				  bool left, const struct task_struct *next, bool entered,
				  u32 state, u64 now)
{
	if (left)
		stape_trigger_switch_out(ring, prev, now, state);
	if (entered)
		stape_trigger_switch_in(ring, next, now);
}

/**
 * stape_trigger_wakeup() - fire for the sleep that a wakeup ends, and note that the task waits
 * @ring: this CPU's ring of a session that has the task
 * @task: the task; if it runs, nothing happens
 * @now: by the session's clock
 *
 * The kernel has waited until a task that slept is off its CPU, so its last switch comes before.
 * A task that was preempted on its way to sleep is runnable already.
 *
 * Context: the wakeup probe: interrupts off.
 */
void notrace stape_trigger_wakeup(struct stape_ring *ring, const struct task_struct *task, u64 now)
{
	u64 *word;

	if (stape_on_cpu(task))
		return;
	WRITE_ONCE(ring->wakeups, ring->wakeups + 1);
	if (!ring->waits)
		return;
	word = stape_trigger_word(ring->waits, task);
	if (!word || stape_wait_state(READ_ONCE(*word)) == STAPE_WAITS_RUNNABLE)
		return;
	stape_trigger_waited(ring, task, READ_ONCE(*word), now);
	WRITE_ONCE(*word, stape_wait_word(ring->waits, now, STAPE_WAITS_RUNNABLE));
}

/**
 * stape_trigger_wakeup_new() - note that a new task waits
 * @ring: this CPU's ring of a session that has the task
 * @task: the task; another one may have had its PID
 * @now: by the session's clock
 *
 * Context: the wakeup_new probe: interrupts off.
 */
void notrace stape_trigger_wakeup_new(struct stape_ring *ring, const struct task_struct *task,
				      u64 now)
{
	if (ring->waits)
		stape_trigger_begin(ring->waits, task, now, STAPE_WAITS_RUNNABLE);
}

/* -- notifications ----------------------------------------------------------- */

/* Queues @tell for a probe. */
void stape_trigger_wake(struct stape_wake *wake)
{
	struct stape_triggers *triggers = container_of(wake, struct stape_triggers, wake);

	mod_delayed_work(stape_work, &triggers->tell, 0);
}

/* Sends a trigger's notice, or arms it again.  Returns true if it has to be looked at later. */
static bool stape_trigger_serve(struct stape_triggers *triggers, struct stape_trigger *trigger)
{
	/* Pairs with the release in stape_trigger_fire(): the notice is complete. */
	int state = atomic_read_acquire(&trigger->state);

	if (state == STAPE_TRIGGER_FIRED) {
		if (READ_ONCE(triggers->on))
			triggers->notify(triggers->active, trigger);
		trigger->sent = jiffies;
		atomic_set(&trigger->state, STAPE_TRIGGER_RESTS);
		return true;
	}
	if (state != STAPE_TRIGGER_RESTS)
		return false;
	if (time_before(jiffies, trigger->sent + msecs_to_jiffies(STAPE_TRIGGER_REST_MS)))
		return true;
	/* Pairs with the fully ordered exchange in stape_trigger_fire(): the notice is free. */
	atomic_set_release(&trigger->state, STAPE_TRIGGER_ARMED);
	return false;
}

/* Sends notices, and arms triggers again.  No lock: a pause waits for it under the session's. */
void stape_trigger_tell(struct work_struct *work)
{
	struct stape_triggers *triggers = container_of(to_delayed_work(work),
						       struct stape_triggers, tell);
	bool rests = false;
	u32 i;

	for (i = 0; i < triggers->nr; i++)
		rests |= stape_trigger_serve(triggers, &triggers->triggers[i]);
	if (rests)
		queue_delayed_work(stape_work, &triggers->tell,
				   msecs_to_jiffies(STAPE_TRIGGER_REST_MS));
}
