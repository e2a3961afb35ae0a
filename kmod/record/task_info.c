// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attributes of a live task, as words of an event and one by one.
 *
 * No lock keeps a task from changing.  Each number is loaded once.  For numbers that belong
 * together (policy and deadline, priority and whether it is lent) one load decides.
 */
#include "record/task_info.h"

#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <schedtape/event.h>

#include "record/watch.h"

/**
 * stape_task_state() - convert a task's state to that of the wire format
 * @state: the kernel's, TASK_*
 *
 * Context: any.
 * Return: enum stape_state.
 */
u32 stape_task_state(unsigned int state)
{
	if (!state)
		return STAPE_STATE_RUNNING;
	if (state & TASK_DEAD)
		return STAPE_STATE_DEAD;
	if (state & TASK_PARKED)
		return STAPE_STATE_PARKED;
	if (state & __TASK_STOPPED)
		return STAPE_STATE_STOPPED;
	if (state & __TASK_TRACED)
		return STAPE_STATE_TRACED;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return STAPE_STATE_IDLE;
	if (state & TASK_INTERRUPTIBLE)
		return STAPE_STATE_SLEEPING;
	/* TASK_NEW, too: not woken yet. */
	return STAPE_STATE_BLOCKED;
}

/**
 * stape_task_nice() - get a task's own nice value
 * @task: the task
 *
 * Context: any.
 */
int stape_task_nice(const struct task_struct *task)
{
	int nice, prio;

	/* A player may be niced, or get its own value back, between the two loads. */
	do {
		prio = READ_ONCE(task->static_prio);
		smp_rmb();	/* pairs with stape_rendezvous_lower() */
		if (stape_watch_is_niced(task, &nice))
			return nice;
		smp_rmb();	/* pairs with stape_rendezvous_restore() */
	} while (prio != READ_ONCE(task->static_prio));
	return PRIO_TO_NICE(prio);
}

/**
 * stape_task_cgroup() - get a task's cgroup in the hierarchy of version 2
 * @task: the task
 *
 * Context: any; @task must be alive or be current.
 * Return: the cgroup's id.
 */
u64 stape_task_cgroup(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}

/**
 * stape_task_prio_word() - encode a task's policy and priorities as a word
 * @task: the task
 * @policy: its own
 * @prio: its kernel priority
 * @boosted: @prio is lent by a waiter
 *
 * Context: any.
 * Return: STAPE_PRIO_*.
 */
u64 stape_task_prio_word(const struct task_struct *task, unsigned int policy, int prio,
			 bool boosted)
{
	int nice = stape_task_nice(task);

	/* A niced player has this priority: its own nice value counts. */
	if (prio == NICE_TO_PRIO(MAX_NICE))
		prio = NICE_TO_PRIO(nice);
	return (u64)(policy & 0xff) << STAPE_PRIO_POLICY_SHIFT |
	       (u64)(nice - MIN_NICE) << STAPE_PRIO_NICE_SHIFT |
	       (u64)(READ_ONCE(task->rt_priority) & 0xff) << STAPE_PRIO_RT_SHIFT |
	       (u64)(u16)(prio + 1) << STAPE_PRIO_PRIO_SHIFT | (boosted ? STAPE_PRIO_BOOSTED : 0);
}

/**
 * stape_task_dl_words() - encode a task's deadline, or its slice, slack and clamps
 * @task: the task
 * @policy: its own, as the event has it
 * @words: STAPE_DL_WORDS, to be filled, also if none of them belongs to the event
 *
 * The last word is small, because another value might look like the word of a waking.
 *
 * Context: any.
 * Return: the number of words that belong to the event.
 */
u32 stape_task_dl_words(const struct task_struct *task, unsigned int policy, u64 *words)
{
	u64 slack = READ_ONCE(task->timer_slack_ns);

	BUILD_BUG_ON((int)STAPE_WISH_WORDS != (int)STAPE_DL_WORDS);
	if (policy != SCHED_DEADLINE) {
		words[STAPE_WISH_SLICE] = stape_custom_slice(task);
		words[STAPE_WISH_CLAMPS] = stape_clamps(task);
		words[STAPE_WISH_SLACK] = slack == STAPE_USUAL_SLACK ? 0 : slack + 1;
		return words[STAPE_WISH_SLICE] | words[STAPE_WISH_CLAMPS] |
		       words[STAPE_WISH_SLACK] ? STAPE_WISH_WORDS : 0;
	}
	words[STAPE_DL_RUNTIME] = READ_ONCE(task->dl.dl_runtime);
	words[STAPE_DL_DEADLINE] = READ_ONCE(task->dl.dl_deadline);
	words[STAPE_DL_PERIOD] = READ_ONCE(task->dl.dl_period);
	return STAPE_DL_WORDS;
}

static_assert(BITS_PER_LONG == 64);	/* compat.h requires it */

/**
 * stape_task_affinity() - encode a task's affinity as words
 * @task: the task
 * @words: STAPE_AFFINITY_WORDS + 1, to be filled
 *
 * The last word is 0, because another value might look like the word of a waking, into which
 * stape_ring_put_wakeup() would put a wakeup.
 *
 * Context: any.
 * Return: the number of words.
 */
u32 stape_task_affinity(const struct task_struct *task, u64 *words)
{
	/* Not cpus_ptr: that is one CPU while migration is disabled. */
	const unsigned long *bits = cpumask_bits(&task->cpus_mask);
	u32 i, n = 0, max = min_t(u32, BITS_TO_LONGS(nr_cpu_ids), STAPE_AFFINITY_WORDS);

	for (i = 0; i < max; i++) {
		words[i] = READ_ONCE(bits[i]);
		if (words[i])
			n = i + 1;
	}
	words[n] = 0;
	return n + 1;
}

/* Random, because a cookie is an address, and what stands for it must not tell that. */
static siphash_key_t stape_task_key __ro_after_init;

/**
 * stape_task_init() - choose the numbers that stand for core-scheduling cookies
 *
 * Context: module init.
 */
void __init stape_task_init(void)
{
	get_random_bytes(&stape_task_key, sizeof(stape_task_key));
}

/* Different cookies have different numbers, but for one pair in 2^28. */
static u32 stape_task_core(const struct task_struct *task)
{
	unsigned long cookie = stape_core_cookie(task);

	if (likely(!cookie))
		return 0;
	return siphash_1u64(cookie, &stape_task_key) % STAPE_SHARED_CORE_MASK + 1;
}

/**
 * stape_task_shared() - encode with which tasks a task shares an autogroup and a core
 * @task: the task
 *
 * An autogroup is made by setsid(), and a child is in that of its parent, as it is in its session.
 * So the session tells one from others.  Its own number is private to the kernel's scheduler.
 *
 * Context: any; @task must be alive or be current.
 * Return: STAPE_SHARED_*; 0: it shares neither.
 */
u64 stape_task_shared(struct task_struct *task)
{
	u32 session;

	rcu_read_lock();
	session = stape_in_autogroup(task) ? task_session_nr_ns(task, &init_pid_ns) : 0;
	rcu_read_unlock();
	return (u64)session << STAPE_SHARED_AUTOGROUP_SHIFT |
	       (u64)stape_task_core(task) << STAPE_SHARED_CORE_SHIFT;
}

/**
 * stape_task_words() - encode a task's description as words of an event
 * @task: the task
 * @ppid: TGID of its parent
 * @comm: its name, TASK_COMM_LEN bytes
 * @words: up to STAPE_TASK_WORDS and STAPE_DL_WORDS, to be filled
 * @shared: returned: a last word, STAPE_SHARED_*; 0: it is left out
 *
 * Context: any; @task must be alive or be current.
 * Return: the number of words, without the last one.
 */
u32 stape_task_words(struct task_struct *task, u64 ppid, const char *comm, u64 *words, u64 *shared)
{
	unsigned int policy = READ_ONCE(task->policy);
	int prio = READ_ONCE(task->prio);
	u64 ns_pid = 0;
	struct pid_namespace *ns;

	rcu_read_lock();
	ns = task_active_pid_ns(task);
	if (ns)
		ns_pid = task_pid_nr_ns(task, ns);
	rcu_read_unlock();
	*shared = stape_task_shared(task);

	/* task->comm, read without its lock, may be half old, half new, and unterminated. */
	data_race(memcpy(&words[STAPE_TASK_COMM], comm, STAPE_COMM_LEN));
	((char *)&words[STAPE_TASK_COMM])[STAPE_COMM_LEN - 1] = 0;
	words[STAPE_TASK_GROUP] = task->tgid | ppid << 32;
	words[STAPE_TASK_PRIO] = stape_task_prio_word(task, policy, prio,
						      prio < READ_ONCE(task->normal_prio));
	words[STAPE_TASK_START_TIME] = task->start_time;
	words[STAPE_TASK_STATE] = stape_task_state(READ_ONCE(task->__state)) |
				  (u64)task_cpu(task) << 32;
	words[STAPE_TASK_NS_PID] = ns_pid;
	words[STAPE_TASK_CGROUP] = stape_task_cgroup(task);
	return STAPE_TASK_WORDS + stape_task_dl_words(task, policy, words + STAPE_TASK_WORDS);
}
