// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for waits and runs that last longer than a trigger's limit, and counts wake-ups.  A task
 * that hangs never ends its wait, so no probe finds it.
 *
 * The works take no lock that probes or sessions take, so a pause may wait for them.
 */
#include "record/trigger.h"

#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "base/work.h"
#include "record/task_info.h"

/* Leaves that a work looks at before it lets others run. */
#define STAPE_TRIGGER_BATCH	32

/**
 * struct stape_trigger_call - a trigger that fires on a CPU that is recorded
 * @triggers: the session's
 * @number: of the trigger
 * @pid: the task's PID, 0: all tasks
 * @cpu: the task's CPU
 * @value: as for stape_trigger_fire()
 * @lasts: likewise
 */
struct stape_trigger_call {
	struct stape_triggers *triggers;
	u32 number;
	u32 pid;
	u32 cpu;
	u64 value;
	bool lasts;
};

static void stape_trigger_fire_here(void *data)
{
	const struct stape_trigger_call *call = data;

	stape_trigger_fire(call->triggers, call->number, call->pid, call->cpu, call->value,
			   call->lasts);
}

/*
 * Fires on a CPU that is recorded, on this one if possible, so that the event is on the tape.  For
 * a trigger that rests, no other CPU is interrupted.
 */
static void stape_trigger_fire_anywhere(struct stape_trigger_call *call)
{
	const struct stape_trigger *trigger = &call->triggers->triggers[call->number];

	if (atomic_read(&trigger->state) == STAPE_TRIGGER_ARMED &&
	    !smp_call_function_any(call->triggers->cpus, stape_trigger_fire_here, call, 1))
		return;
	local_irq_disable();
	stape_trigger_fire_here(call);
	local_irq_enable();
}

/* -- waits ------------------------------------------------------------------- */

/*
 * Gets a task's CPU, and whether a trigger is for the task.  Returns false if the task has ended.
 */
static bool stape_trigger_locate(const struct stape_trigger *trigger, u32 pid, u32 *cpu,
				 bool *concerned)
{
	struct task_struct *task;

	rcu_read_lock();
	task = stape_task_find(pid);
	if (task) {
		*cpu = task_cpu(task);
		*concerned = stape_trigger_concerns(trigger, task);
	}
	rcu_read_unlock();
	return task;
}

/*
 * Fires each trigger that has a limit below the length of a wait so far.  A trigger is counted in
 * the word before it fires.  If the word cannot be changed, a probe has stored another state: the
 * wait has ended, and the probe has fired.
 */
static void stape_trigger_lasts(struct stape_triggers *triggers, u32 pid, u64 *at, u64 word)
{
	const struct stape_trigger_order *order = &triggers->order[stape_trigger_kind(word)];
	struct stape_trigger_call call = { .triggers = triggers, .pid = pid, .lasts = true };
	const struct stape_waits *waits = triggers->active->waits;
	u64 now = stape_clock_now(triggers->counter);
	bool concerned;
	u32 i;

	call.value = stape_trigger_clip(triggers, stape_wait_elapsed(waits, word, now), now);
	for (i = stape_wait_fired(word); i < order->nr; i++) {
		const struct stape_trigger *trigger = &triggers->triggers[order->numbers[i]];

		if (call.value <= trigger->limit ||
		    !stape_trigger_locate(trigger, pid, &call.cpu, &concerned))
			return;
		if (cmpxchg(at, word, word + BIT(STAPE_WAITS_FIRED_SHIFT)) != word)
			return;
		word += BIT(STAPE_WAITS_FIRED_SHIFT);
		call.number = order->numbers[i];
		if (concerned)
			stape_trigger_fire_anywhere(&call);
	}
}

/* Returns what a task does now.  Its word has no state yet. */
static enum stape_waits_state stape_trigger_look(const struct task_struct *task)
{
	unsigned int state;

	/*
	 * If the task is switched in after the first load, or woken after the second, a probe
	 * stores a state, and the caller's exchange fails.
	 */
	if (stape_on_cpu(task))
		return STAPE_WAITS_NONE;
	smp_rmb();	/* see above; pairs with the locks of the runqueue */
	state = READ_ONCE(task->__state);
	if (!state)
		return STAPE_WAITS_RUNNABLE;
	if (state & (TASK_NEW | TASK_WAKING))
		return STAPE_WAITS_NONE;
	return stape_task_state(state) == STAPE_STATE_BLOCKED ? STAPE_WAITS_BLOCKED :
								STAPE_WAITS_NONE;
}

/* Stores the state of a task that no probe has seen since it has become a member. */
static void stape_trigger_learn(const struct stape_waits *waits, u32 pid, u64 *at, u64 now)
{
	enum stape_waits_state state = STAPE_WAITS_NONE;
	struct task_struct *task;

	rcu_read_lock();
	task = stape_task_find(pid);
	if (task)
		state = stape_trigger_look(task);
	rcu_read_unlock();
	cmpxchg(at, STAPE_WAITS_UNKNOWN,
		state == STAPE_WAITS_NONE ? state : stape_wait_word(waits, now, state));
}

static bool stape_trigger_is_due(const struct stape_triggers *triggers, u64 word, u64 now)
{
	const struct stape_trigger_order *order = &triggers->order[stape_trigger_kind(word)];
	u32 fired = stape_wait_fired(word);

	/* A time far in the past or in the future is clipped later. */
	return fired < order->nr &&
	       (u64)stape_wait_elapsed(triggers->active->waits, word, now) >
	       triggers->triggers[order->numbers[fired]].limit;
}

static void stape_trigger_scan_leaf(struct stape_triggers *triggers, u32 n)
{
	const struct stape_filter *filter = &triggers->active->filter;
	struct stape_waits *waits = triggers->active->waits;
	struct stape_waits_leaf *leaf = stape_waits_add(waits, n);
	u64 now = stape_clock_now(triggers->counter);
	u32 i, pid;
	u64 word;

	for (i = 0; leaf && i < STAPE_WAITS_LEAF; i++) {
		pid = n * STAPE_WAITS_LEAF + i;
		if (!test_bit(pid, filter->members))
			continue;
		word = READ_ONCE(leaf->words[i]);
		if (stape_wait_state(word) == STAPE_WAITS_UNKNOWN)
			stape_trigger_learn(waits, pid, &leaf->words[i], now);
		else if (stape_trigger_is_due(triggers, word, now))
			stape_trigger_lasts(triggers, pid, &leaf->words[i], word);
	}
	stape_waits_retire(waits, filter, n);
}

/* -- runs -------------------------------------------------------------------- */

/* Runs on the task's CPU with interrupts off, so that no probe runs there meanwhile. */
static void stape_trigger_runs(void *data)
{
	struct stape_triggers *triggers = data;
	struct stape_ring *ring = this_cpu_ptr(triggers->active->rings);
	u64 now = stape_ring_now(ring), value;
	u32 pid = stape_ring_curr_pid(ring);

	/* The task may have left the filter, and another one runs. */
	if (!pid || pid != current->pid)
		return;
	if (ring->fired_since != ring->running_since) {
		WRITE_ONCE(ring->fired, 0);
		WRITE_ONCE(ring->fired_since, ring->running_since);
	}
	value = stape_trigger_clip(triggers, now - ring->running_since, now);
	WRITE_ONCE(ring->fired, stape_trigger_fire_all(triggers, STAPE_TRIGGER_BURST, ring->fired,
						       current, value, true));
}

/* Returns true if a task seems to run on a CPU for too long. */
static bool stape_trigger_may_run(const struct stape_triggers *triggers,
				  const struct stape_ring *ring)
{
	const struct stape_trigger_order *order = &triggers->order[STAPE_TRIGGER_BURST];
	u64 since = READ_ONCE(ring->running_since);
	u32 fired = READ_ONCE(ring->fired_since) == since ? READ_ONCE(ring->fired) : 0;

	/* The CPU itself looks again. */
	return fired < order->nr && data_race(stape_ring_curr_pid(ring)) &&
	       stape_clock_now(triggers->counter) - since >
	       triggers->triggers[order->numbers[fired]].limit;
}

/*
 * Interrupts a CPU only if a task has run there for too long.  CPUs that the session leaves out are
 * not looked at: a probe finds such a run when it ends.
 */
static void stape_trigger_scan_runs(struct stape_triggers *triggers)
{
	int cpu;

	if (!triggers->order[STAPE_TRIGGER_BURST].nr)
		return;
	for_each_cpu(cpu, triggers->cpus) {
		if (stape_trigger_may_run(triggers, per_cpu_ptr(triggers->active->rings, cpu)))
			smp_call_function_single(cpu, stape_trigger_runs, triggers, 1);
		cond_resched();
	}
}

/* -- the works --------------------------------------------------------------- */

/* Returns the first jiffies of the next scan, from now on. */
static unsigned long stape_trigger_rest(const struct stape_triggers *triggers)
{
	unsigned long next = triggers->scan_began + triggers->scan_period;

	return time_after(next, jiffies) ? next - jiffies : 1;
}

/**
 * stape_trigger_scan() - look for waits and runs that last
 * @work: of struct stape_triggers
 *
 * This looks at a batch of tasks, and queues itself for the next one.
 *
 * Context: process.
 */
void stape_trigger_scan(struct work_struct *work)
{
	struct stape_triggers *triggers = container_of(to_delayed_work(work),
						       struct stape_triggers, scan);
	struct stape_waits *waits = triggers->active->waits;
	u32 leaf = triggers->scan_leaf, i;
	unsigned long rest = 0;

	if (!READ_ONCE(triggers->on))
		return;
	if (!leaf) {
		triggers->scan_began = jiffies;
		stape_waits_reclaim(waits);
		stape_trigger_scan_runs(triggers);
	}
	stape_waits_refill(waits);
	for (i = 0; i < STAPE_TRIGGER_BATCH; i++) {
		leaf = find_next_bit(waits->used, STAPE_WAITS_LEAVES, leaf);
		if (leaf >= STAPE_WAITS_LEAVES)
			break;
		stape_trigger_scan_leaf(triggers, leaf++);
		cond_resched();
	}
	if (leaf >= STAPE_WAITS_LEAVES) {
		leaf = 0;
		rest = stape_trigger_rest(triggers);
	}
	triggers->scan_leaf = leaf;
	queue_delayed_work(stape_work, &triggers->scan, rest);
}

static u64 stape_trigger_wakeups(const struct stape_triggers *triggers)
{
	u64 wakeups = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		wakeups += READ_ONCE(per_cpu_ptr(triggers->active->rings, cpu)->wakeups);
	return wakeups;
}

/* Adds what has been counted to the newest part of the last second.  Returns the sum of it. */
static u64 stape_trigger_last_second(struct stape_triggers *triggers)
{
	unsigned long part = jiffies / (HZ / STAPE_TRIGGER_PARTS);
	u64 wakeups = stape_trigger_wakeups(triggers), sum = 0;
	u32 i;

	if (!triggers->part) {	/* the recording has just been started, or resumed */
		triggers->part = part;
		triggers->wakeups = wakeups;
	}
	/* The work may be late. */
	for (i = 0; triggers->part != part && i < STAPE_TRIGGER_PARTS; i++)
		triggers->parts[++triggers->part % STAPE_TRIGGER_PARTS] = 0;
	triggers->part = part;
	triggers->parts[part % STAPE_TRIGGER_PARTS] += wakeups - triggers->wakeups;
	triggers->wakeups = wakeups;
	for (i = 0; i < STAPE_TRIGGER_PARTS; i++)
		sum += triggers->parts[i];
	return sum;
}

/**
 * stape_trigger_count() - compare the wake-ups of the last second with the limits
 * @work: of struct stape_triggers
 *
 * Context: process.
 */
void stape_trigger_count(struct work_struct *work)
{
	struct stape_triggers *triggers = container_of(to_delayed_work(work),
						       struct stape_triggers, count);
	const struct stape_trigger_order *order = &triggers->order[STAPE_TRIGGER_RATE];
	struct stape_trigger_call call = { .triggers = triggers };
	u32 i;

	if (!READ_ONCE(triggers->on))
		return;
	call.value = stape_trigger_last_second(triggers);
	call.cpu = raw_smp_processor_id();
	for (i = 0; i < order->nr; i++) {
		struct stape_trigger *trigger = &triggers->triggers[order->numbers[i]];
		bool exceeded = call.value > trigger->limit;

		call.number = order->numbers[i];
		if (exceeded && !trigger->exceeded)
			stape_trigger_fire_anywhere(&call);
		trigger->exceeded = exceeded;
	}
	queue_delayed_work(stape_work, &triggers->count, HZ / STAPE_TRIGGER_PARTS);
}
