// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describes a live task: what a tape has to know of those that were there
 * before the recording.
 *
 * No lock keeps a task as it is.  Numbers are loaded once each, and of what belongs
 * together (policy and deadline, priority and whether it is lent) one decides.
 */
#include "record/task_info.h"

#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <net/netlink.h>
#include <schedtape/event.h>
#include <schedtape/netlink.h>

#include "record/filter.h"
#include "replay/player.h"

/**
 * stape_task_state() - a task's state in the words of the wire format
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

/* A bit for every CPU that may be, lowest first, whatever this machine's words are. */
static int stape_task_fill_affinity(struct sk_buff *skb, const struct task_struct *task)
{
	struct nlattr *attr = nla_reserve(skb, STAPE_A_TASK_AFFINITY,
					  DIV_ROUND_UP(nr_cpu_ids, BITS_PER_BYTE));
	u8 *bytes;
	int cpu;

	if (!attr)
		return -EMSGSIZE;
	bytes = nla_data(attr);
	memset(bytes, 0, nla_len(attr));
	/* Not cpus_ptr: that is one CPU while migration is disabled. */
	for_each_possible_cpu(cpu)
		if (cpumask_test_cpu(cpu, &task->cpus_mask))
			bytes[cpu / BITS_PER_BYTE] |= 1 << cpu % BITS_PER_BYTE;
	return 0;
}

static int stape_task_nice(const struct task_struct *task)
{
	int nice, prio;

	/* It may be lowered, or raised again, between the two looks. */
	do {
		prio = READ_ONCE(task->static_prio);
		smp_rmb();	/* pairs with stape_meet_lower() */
		if (stape_player_is_lowered(task, &nice))
			return nice;
		smp_rmb();	/* pairs with stape_meet_raise() */
	} while (prio != READ_ONCE(task->static_prio));
	return PRIO_TO_NICE(prio);
}

static int stape_task_fill_prio(struct sk_buff *skb, const struct task_struct *task)
{
	unsigned int policy = READ_ONCE(task->policy);
	u64 words[STAPE_DL_WORDS];
	u32 i, n;

	if (nla_put_u32(skb, STAPE_A_TASK_POLICY, policy) ||
	    nla_put_s32(skb, STAPE_A_TASK_NICE, stape_task_nice(task)) ||
	    nla_put_u32(skb, STAPE_A_TASK_RT_PRIORITY, READ_ONCE(task->rt_priority)))
		return -EMSGSIZE;
	n = stape_task_dl_words(task, policy, words);
	for (i = 0; i < n; i++)
		if (nla_put_u64_64bit(skb, STAPE_A_TASK_DL_RUNTIME + i, words[i],
				      STAPE_A_TASK_PAD))
			return -EMSGSIZE;
	return 0;
}

/* The TGID of its parent; 0: that is not recorded, and not to be told of. */
static u32 stape_task_parent(const struct stape_filter *filter, const struct task_struct *task)
{
	struct task_struct *parent = rcu_dereference(task->real_parent);

	return stape_filter_has(filter, parent) ? task_tgid_nr(parent) : 0;
}

/**
 * stape_task_fill() - put a task's description into a message
 * @skb: the message
 * @filter: of the session that is told of it
 * @task: the task
 *
 * Context: RCU reader.
 * Return: 0, or -EMSGSIZE if the message is full.
 */
int stape_task_fill(struct sk_buff *skb, const struct stape_filter *filter,
		    struct task_struct *task)
{
	struct pid_namespace *ns = task_active_pid_ns(task);
	u64 now = ktime_get_mono_fast_ns();	/* an event that is newer knows better */
	char comm[TASK_COMM_LEN];

	/* Without its lock the name may be half old, half new: never unterminated. */
	data_race(strscpy_pad(comm, task->comm, sizeof(comm)));
	if (nla_put_u32(skb, STAPE_A_TASK_PID, task_pid_nr(task)) ||
	    nla_put_u32(skb, STAPE_A_TASK_TGID, task_tgid_nr(task)) ||
	    nla_put_u32(skb, STAPE_A_TASK_PPID, stape_task_parent(filter, task)) ||
	    nla_put_u32(skb, STAPE_A_TASK_NS_PID, ns ? task_pid_nr_ns(task, ns) : 0) ||
	    nla_put_string(skb, STAPE_A_TASK_COMM, comm) ||
	    nla_put_u32(skb, STAPE_A_TASK_STATE, stape_task_state(READ_ONCE(task->__state))) ||
	    nla_put_u32(skb, STAPE_A_TASK_CPU, task_cpu(task)) ||
	    stape_task_fill_prio(skb, task) || stape_task_fill_affinity(skb, task) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_START_TIME, task->start_time, STAPE_A_TASK_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_CPU_TIME, READ_ONCE(task->se.sum_exec_runtime),
			      STAPE_A_TASK_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_TIME, now, STAPE_A_TASK_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_CGROUP, stape_task_cgroup(task),
			      STAPE_A_TASK_PAD))
		return -EMSGSIZE;
	return 0;
}

/**
 * stape_task_cgroup() - where a task is in the hierarchy of version 2
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
 * stape_task_prio_word() - a task's policy and priorities as a word
 * @task: the task
 * @policy: its own
 * @prio: its kernel priority
 * @boosted: it is lent by a waiter
 *
 * Context: any.
 * Return: STAPE_PRIO_*.
 */
u64 stape_task_prio_word(const struct task_struct *task, unsigned int policy, int prio,
			 bool boosted)
{
	int nice = stape_task_nice(task);

	/* That of a player that gives way. */
	if (prio == NICE_TO_PRIO(MAX_NICE))
		prio = NICE_TO_PRIO(nice);
	return (u64)(policy & 0xff) << STAPE_PRIO_POLICY_SHIFT |
	       (u64)(nice - MIN_NICE) << STAPE_PRIO_NICE_SHIFT |
	       (u64)(READ_ONCE(task->rt_priority) & 0xff) << STAPE_PRIO_RT_SHIFT |
	       (u64)(u16)(prio + 1) << STAPE_PRIO_PRIO_SHIFT | (boosted ? STAPE_PRIO_BOOSTED : 0);
}

/**
 * stape_task_dl_words() - a task's deadline as words
 * @task: the task
 * @policy: its own, as it is told with them
 * @words: STAPE_DL_WORDS, to be filled if that is SCHED_DEADLINE
 *
 * Context: any.
 * Return: how many were filled.
 */
u32 stape_task_dl_words(const struct task_struct *task, unsigned int policy, u64 *words)
{
	if (policy != SCHED_DEADLINE)
		return 0;
	words[STAPE_DL_RUNTIME] = READ_ONCE(task->dl.dl_runtime);
	words[STAPE_DL_DEADLINE] = READ_ONCE(task->dl.dl_deadline);
	words[STAPE_DL_PERIOD] = READ_ONCE(task->dl.dl_period);
	return STAPE_DL_WORDS;
}

static_assert(BITS_PER_LONG == 64);	/* compat.h demands it */

/**
 * stape_task_affinity() - where a task may run, as words
 * @task: the task
 * @words: STAPE_AFFINITY_WORDS + 1, to be filled
 *
 * The last one is 0: others might look like the word of a waking that a wakeup may be put
 * into, see stape_ring_put_wakeup().
 *
 * Context: any.
 * Return: how many there are.
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

/**
 * stape_task_words() - a task's description as words of an event
 * @filter: of the session whose event it is
 * @task: the task
 * @comm: its name, TASK_COMM_LEN bytes
 * @words: up to STAPE_TASK_WORDS and STAPE_DL_WORDS, to be filled
 *
 * Context: any; @task must be alive or be current.
 * Return: how many there are.
 */
u32 stape_task_words(const struct stape_filter *filter, struct task_struct *task,
		     const char *comm, u64 *words)
{
	unsigned int policy = READ_ONCE(task->policy);
	int prio = READ_ONCE(task->prio);
	u64 ppid, ns_pid = 0;
	struct pid_namespace *ns;

	rcu_read_lock();
	ppid = stape_task_parent(filter, task);
	ns = task_active_pid_ns(task);
	if (ns)
		ns_pid = task_pid_nr_ns(task, ns);
	rcu_read_unlock();

	/* Its own, without its lock, may be half old, half new, and for a moment without end. */
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
