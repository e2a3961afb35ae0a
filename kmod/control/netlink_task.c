// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink dump of the live tasks in a filter.
 */
#include "control/netlink.h"

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <net/genetlink.h>

#include "record/session.h"
#include "record/task_info.h"

const struct nla_policy stape_task_policy[STAPE_A_TASK_SESSION + 1] = {
	[STAPE_A_TASK_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
};

static int stape_task_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct stape_filter *filter, u32 pid)
{
	struct task_struct *task;
	struct stape_message message;
	int ret = 0;

	rcu_read_lock();
	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	if (task) {
		ret = stape_message_dump(&message, skb, cb, STAPE_CMD_TASK_GET);
		if (!ret)
			ret = stape_message_dumped(&message, stape_task_fill(skb, filter, task));
	}
	rcu_read_unlock();
	return ret;
}

int stape_task_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genl_dumpit_info *info = genl_dumpit_info(cb);
	struct nlattr *id = stape_dump_attrs(info)[STAPE_A_TASK_SESSION];
	struct stape_session *session;
	u32 pid = cb->args[0];

	if (!id) {
		NL_SET_ERR_MSG(cb->extack, "which session? its id is missing");
		return -EINVAL;
	}
	mutex_lock(&stape_sessions_lock);
	session = stape_session_find(nla_get_u32(id));
	if (!session) {
		mutex_unlock(&stape_sessions_lock);
		NL_SET_ERR_MSG_ATTR(cb->extack, id, "there is no such session");
		return -ENOENT;
	}
	for (;;) {
		pid = stape_filter_next(&session->filter, pid);
		if (pid >= PID_MAX_LIMIT || stape_task_dump_one(skb, cb, &session->filter, pid))
			break;
		pid++;
	}
	mutex_unlock(&stape_sessions_lock);
	cb->args[0] = pid;
	return skb->len;
}
