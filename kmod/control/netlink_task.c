// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink dump of the live tasks in a filter.
 */
#include "control/internal.h"

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>
#include <schedtape/event.h>

#include "record/sessions.h"
#include "record/task_info.h"

const struct nla_policy stape_task_policy[STAPE_A_TASK_SESSION + 1] = {
	[STAPE_A_TASK_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
};

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
	if (n && policy != SCHED_DEADLINE)
		return nla_put_u64_64bit(skb, STAPE_A_TASK_SLICE, words[STAPE_WISH_SLICE],
					 STAPE_A_TASK_PAD) ?:
		       nla_put_u32(skb, STAPE_A_TASK_CLAMPS, words[STAPE_WISH_CLAMPS]) ?:
		       nla_put_u64_64bit(skb, STAPE_A_TASK_SLACK, words[STAPE_WISH_SLACK],
					 STAPE_A_TASK_PAD);
	for (i = 0; i < n; i++)
		if (nla_put_u64_64bit(skb, STAPE_A_TASK_DL_RUNTIME + i, words[i],
				      STAPE_A_TASK_PAD))
			return -EMSGSIZE;
	return 0;
}

static int stape_task_fill_shared(struct sk_buff *skb, struct task_struct *task)
{
	u64 shared = stape_task_shared(task);
	u32 autogroup = shared >> STAPE_SHARED_AUTOGROUP_SHIFT;
	u32 core = shared >> STAPE_SHARED_CORE_SHIFT;

	if ((autogroup && nla_put_u32(skb, STAPE_A_TASK_AUTOGROUP, autogroup)) ||
	    (core && nla_put_u32(skb, STAPE_A_TASK_CORE, core)))
		return -EMSGSIZE;
	return 0;
}

/* Puts a task's description into a message.  For RCU readers. */
static int stape_task_fill(struct sk_buff *skb, const struct stape_filter *filter,
			   struct task_struct *task)
{
	struct pid_namespace *ns = task_active_pid_ns(task);
	u64 now = ktime_get_mono_fast_ns();	/* first, so that a newer event overrides this */
	char comm[TASK_COMM_LEN];

	/* Without its lock the name may be half old, half new, but the copy is terminated. */
	data_race(strscpy_pad(comm, task->comm, sizeof(comm)));
	if (nla_put_u32(skb, STAPE_A_TASK_PID, task_pid_nr(task)) ||
	    nla_put_u32(skb, STAPE_A_TASK_TGID, task_tgid_nr(task)) ||
	    nla_put_u32(skb, STAPE_A_TASK_PPID, stape_filter_parent(filter, task)) ||
	    nla_put_u32(skb, STAPE_A_TASK_NS_PID, ns ? task_pid_nr_ns(task, ns) : 0) ||
	    nla_put_string(skb, STAPE_A_TASK_COMM, comm) ||
	    nla_put_u32(skb, STAPE_A_TASK_STATE, stape_task_state(READ_ONCE(task->__state))) ||
	    nla_put_u32(skb, STAPE_A_TASK_CPU, task_cpu(task)) ||
	    stape_task_fill_prio(skb, task) ||
	    stape_message_put_vpid(skb, STAPE_A_TASK_VPID, task_pid_nr(task),
				   task_pid_vnr(task)) ||
	    stape_task_fill_shared(skb, task) ||
	    /* Not cpus_ptr: that is one CPU while migration is disabled. */
	    stape_cpumask_put(skb, STAPE_A_TASK_AFFINITY, &task->cpus_mask) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_START_TIME, task->start_time, STAPE_A_TASK_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_CPU_TIME, READ_ONCE(task->se.sum_exec_runtime),
			      STAPE_A_TASK_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_TIME, now, STAPE_A_TASK_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_TASK_CGROUP, stape_task_cgroup(task),
			      STAPE_A_TASK_PAD))
		return -EMSGSIZE;
	return 0;
}

static int stape_task_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct stape_filter *filter, u32 pid)
{
	struct task_struct *task;
	void *header;
	int ret = 0;

	rcu_read_lock();
	task = stape_task_find(pid);
	if (task) {
		header = stape_message_dump(skb, cb, STAPE_CMD_TASK_GET);
		ret = !header ? -EMSGSIZE :
		      stape_message_dumped(skb, header, stape_task_fill(skb, filter, task));
	}
	rcu_read_unlock();
	return ret;
}

int stape_task_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **attrs = stape_dump_attrs(genl_dumpit_info(cb));
	struct stape_session *session = stape_lookup_session(cb->skb, attrs, cb->extack);
	u32 pid = cb->args[0];

	if (IS_ERR(session))
		return PTR_ERR(session);
	while (session->active.filter.members) {
		pid = stape_filter_next(&session->active.filter, pid);
		if (pid >= PID_MAX_LIMIT ||
		    stape_task_dump_one(skb, cb, &session->active.filter, pid))
			break;
		pid++;
	}
	stape_session_release(session);
	cb->args[0] = pid;
	return skb->len;
}
