// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watched tasks: a table by task, in which the switch probe counts their CPU time.  And
 * stape_extras_key.
 */
#include "record/watch.h"

#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

/* It remains on for 10 s after the last user, because each change patches the kernel's code. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(stape_extras_key, 10 * HZ);
/* On while tasks may be watched, and as long after that. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(stape_watch_key, 10 * HZ);

/* All watched tasks: read by the switch probe, changed under the lock. */
static DEFINE_HASHTABLE(stape_watches, 14);
static DEFINE_RAW_SPINLOCK(stape_watches_lock);

/**
 * stape_extras_get() - let the switch probe look for more to do
 *
 * Context: may sleep.
 */
void stape_extras_get(void)
{
	static_branch_deferred_inc(&stape_extras_key);
}

/**
 * stape_extras_put() - undo stape_extras_get()
 *
 * Context: may sleep.
 */
void stape_extras_put(void)
{
	static_branch_slow_dec_deferred(&stape_extras_key);
}

/**
 * stape_extras_exit() - wait until the last put and disable have taken effect
 *
 * Context: module exit; may sleep.
 */
void stape_extras_exit(void)
{
	static_key_deferred_flush(&stape_watch_key);
	static_key_deferred_flush(&stape_extras_key);
}

/**
 * stape_watch_enable() - let the switch probe look for watched tasks
 *
 * Context: may sleep.
 */
void stape_watch_enable(void)
{
	stape_extras_get();
	static_branch_deferred_inc(&stape_watch_key);
}

/**
 * stape_watch_disable() - undo stape_watch_enable()
 *
 * Context: may sleep.
 */
void stape_watch_disable(void)
{
	static_branch_slow_dec_deferred(&stape_watch_key);
	stape_extras_put();
}

/* Returns a task's watch, or NULL.  For RCU readers. */
static struct stape_watch *stape_watch_find(const struct task_struct *task)
{
	struct stape_watch *watch;

	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "a probe looks for watched tasks without RCU");
	hash_for_each_possible_rcu_notrace(stape_watches, watch, hash, (unsigned long)task)
		if (watch->task == task)
			return watch;
	return NULL;
}

/* Returns the time since the watched task got its CPU.  The clock may step back by some ns. */
static u64 stape_watch_running(const struct stape_watch *watch, u64 now)
{
	return max_t(s64, now - READ_ONCE(watch->since), 0);
}

/**
 * stape_watch_switch() - count the CPU time of watched tasks
 * @prev: the task that is switched out
 * @next: the task that is switched in
 * @sleeps: @prev sleeps
 *
 * CPU time is counted between switches, by the same clock as on a tape.  So the CPU time of a
 * player means the same as that of its recorded task.  The kernel's own count of a task's CPU
 * time differs: it charges part of a wake-up to the wakee.
 *
 * Context: the switch probe: interrupts off, runqueue lock.
 */
void stape_watch_switch(struct task_struct *prev, struct task_struct *next, bool sleeps)
{
	/* No idle task is watched. */
	struct stape_watch *left = prev->pid ? stape_watch_find(prev) : NULL;
	struct stape_watch *entered = next->pid ? stape_watch_find(next) : NULL;
	u64 now;

	/* Before the clock is read, so that the time from there to the event is always the same. */
	if (left && sleeps)
		left->ops->on_sleep(left);
	if (!left && !entered)
		return;
	now = ktime_get_mono_fast_ns();
	if (left)
		WRITE_ONCE(left->runtime, left->runtime + stape_watch_running(left, now));
	if (entered) {
		WRITE_ONCE(entered->since, now);
		WRITE_ONCE(*entered->clock, now - entered->runtime);
	}
}

/**
 * stape_watch_gone() - notify the watcher that a task ends, or executes another program
 * @task: any task
 *
 * Context: the exit and exec probes.
 */
void stape_watch_gone(const struct task_struct *task)
{
	struct stape_watch *watch;

	rcu_read_lock();
	watch = stape_watch_find(task);
	if (watch)
		watch->ops->on_exit(watch);
	rcu_read_unlock();
}

/**
 * stape_watch_is_niced() - check whether a task's present nice value is not its own
 * @task: any task
 * @nice: returned in that case: its own nice value; may be NULL
 *
 * Context: any.
 */
bool stape_watch_is_niced(const struct task_struct *task, int *nice)
{
	struct stape_watch *watch;
	bool niced;

	if (!stape_watch_enabled())
		return false;
	rcu_read_lock();
	watch = stape_watch_find(task);
	/* Pairs with the release in stape_rendezvous_lower(): @nice was stored before. */
	niced = watch && smp_load_acquire(&watch->niced);
	if (niced && nice)
		*nice = READ_ONCE(watch->nice);
	rcu_read_unlock();
	return niced;
}

/**
 * stape_watch_is_watched() - check whether a task is watched
 * @task: any task
 *
 * Context: any.
 */
bool stape_watch_is_watched(const struct task_struct *task)
{
	bool found;

	rcu_read_lock();
	found = stape_watch_find(task);
	rcu_read_unlock();
	return found;
}

/**
 * stape_watch_add() - watch the calling task
 * @watch: @task, @ops and @clock are set, all else is zeroed
 *
 * The task's CPU time counts from here on.
 *
 * Context: any.
 */
void stape_watch_add(struct stape_watch *watch)
{
	unsigned long flags;

	/* No switch may come between reading the clock and the entry in the table. */
	raw_spin_lock_irqsave(&stape_watches_lock, flags);
	watch->since = ktime_get_mono_fast_ns();
	WRITE_ONCE(*watch->clock, watch->since);
	hash_add_rcu(stape_watches, &watch->hash, (unsigned long)watch->task);
	raw_spin_unlock_irqrestore(&stape_watches_lock, flags);
}

/**
 * stape_watch_remove() - stop watching a task
 * @watch: of stape_watch_add(); probes may use it until an RCU grace period is over
 *
 * Context: any.
 */
void stape_watch_remove(struct stape_watch *watch)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&stape_watches_lock, flags);
	hash_del_rcu(&watch->hash);
	raw_spin_unlock_irqrestore(&stape_watches_lock, flags);
}

/**
 * stape_watch_runtime() - get the calling task's CPU time since stape_watch_add()
 * @watch: the calling task's
 *
 * Context: process.
 * Return: ns.
 */
u64 stape_watch_runtime(const struct stape_watch *watch)
{
	u64 runtime;

	/* A switch in between would count the CPU time of other tasks. */
	preempt_disable();
	runtime = READ_ONCE(watch->runtime) + stape_watch_running(watch, ktime_get_mono_fast_ns());
	preempt_enable();
	return runtime;
}
