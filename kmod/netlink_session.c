// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink commands for sessions and their filters.
 */
#include "netlink.h"

#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <net/genetlink.h>

#include "session.h"

/* Not const: until 6.6 policies point to ranges that they might change. */
static struct netlink_range_validation stape_pages_range = { .max = STAPE_RING_PAGES_MAX };
static struct netlink_range_validation stape_pid_range = { .min = 1, .max = PID_MAX_LIMIT - 1 };

const struct nla_policy stape_session_id_policy[STAPE_A_SESSION_ID + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy stape_session_set_policy[STAPE_A_SESSION_WATERMARK + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_SESSION_RING_PAGES] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pages_range),
	[STAPE_A_SESSION_WATERMARK] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pages_range),
};

const struct nla_policy stape_filter_policy[STAPE_A_SESSION_PID + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_SESSION_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pid_range),
};

static int stape_session_fill(struct sk_buff *skb, struct stape_session *session)
{
	u64 events = 0, lost = 0;
	int cpu;

	if (session->rings) {
		for_each_possible_cpu(cpu) {
			struct stape_ring *ring = per_cpu_ptr(session->rings, cpu);

			events += READ_ONCE(ring->producer->events);
			lost += READ_ONCE(ring->producer->lost);
		}
	}
	if (nla_put_u32(skb, STAPE_A_SESSION_ID, session->id) ||
	    nla_put_u32(skb, STAPE_A_SESSION_STATE, session->state) ||
	    nla_put_u32(skb, STAPE_A_SESSION_OWNER, session->owner) ||
	    nla_put_u32(skb, STAPE_A_SESSION_RING_PAGES, session->ring_pages) ||
	    nla_put_u32(skb, STAPE_A_SESSION_WATERMARK, session->watermark) ||
	    nla_put_u32(skb, STAPE_A_SESSION_TASKS, atomic_read(&session->filter.tasks)) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_EVENTS, events, STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_LOST, lost, STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_START_TIME, session->start_time,
			      STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_STOP_TIME, session->stop_time,
			      STAPE_A_SESSION_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Permission, and the session that the request names.  Under stape_sessions_lock. */
static int stape_session_get(struct sk_buff *skb, struct genl_info *info,
			     struct stape_session **session)
{
	int ret = stape_netlink_permit(skb, info->extack);

	if (ret)
		return ret;
	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_ID)) {
		NL_SET_ERR_MSG(info->extack, "which session? its id is missing");
		return -EINVAL;
	}
	*session = stape_session_find(nla_get_u32(info->attrs[STAPE_A_SESSION_ID]));
	if (!*session) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[STAPE_A_SESSION_ID],
				    "there is no such session");
		return -ENOENT;
	}
	return 0;
}

int stape_session_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_session *session;
	struct stape_message message;
	int ret;

	mutex_lock(&stape_sessions_lock);
	ret = stape_session_get(skb, info, &session);
	if (ret)
		goto out;
	ret = stape_message_reply(&message, info);
	if (!ret)
		ret = stape_message_send(&message, stape_session_fill(message.skb, session), info);
out:
	mutex_unlock(&stape_sessions_lock);
	return ret;
}

int stape_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct stape_session *session;
	struct stape_message message;

	mutex_lock(&stape_sessions_lock);
	list_for_each_entry(session, &stape_sessions, all) {
		if (session->id <= cb->args[0])
			continue;	/* in an earlier part of the dump */
		if (stape_message_dump(&message, skb, cb, STAPE_CMD_SESSION_GET) ||
		    stape_message_dumped(&message, stape_session_fill(skb, session)))
			break;
		cb->args[0] = session->id;
	}
	mutex_unlock(&stape_sessions_lock);
	return skb->len;
}

static u32 stape_attr_u32(struct genl_info *info, int attr, u32 value)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : value;
}

int stape_session_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_session *session;
	int ret;

	mutex_lock(&stape_sessions_lock);
	ret = stape_session_get(skb, info, &session);
	if (ret)
		goto out;
	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_RING_PAGES)) {
		NL_SET_ERR_MSG(info->extack, "ring-pages is missing");
		ret = -EINVAL;
		goto out;
	}
	ret = stape_session_set(session,
				nla_get_u32(info->attrs[STAPE_A_SESSION_RING_PAGES]),
				stape_attr_u32(info, STAPE_A_SESSION_WATERMARK, 0),
				info->extack);
out:
	mutex_unlock(&stape_sessions_lock);
	return ret;
}

int stape_session_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_session *session;
	int ret;

	mutex_lock(&stape_sessions_lock);
	ret = stape_session_get(skb, info, &session);
	if (!ret)
		ret = stape_session_start(session, info->extack);
	mutex_unlock(&stape_sessions_lock);
	return ret;
}

int stape_session_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_session *session;
	int ret;

	mutex_lock(&stape_sessions_lock);
	ret = stape_session_get(skb, info, &session);
	if (!ret)
		ret = stape_session_stop(session, info->extack);
	mutex_unlock(&stape_sessions_lock);
	return ret;
}

static int stape_filter_check(const struct stape_session *session, const struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return -EINVAL;
	/* The recorder would record that it records. */
	return task_tgid_nr((struct task_struct *)task) == session->owner ? -EINVAL : 0;
}

static struct task_struct *stape_filter_find(u32 pid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = get_pid_task(find_vpid(pid), PIDTYPE_PID);	/* of the sender's namespace */
	rcu_read_unlock();
	return task;
}

static int stape_filter_add_task(struct stape_session *session, struct task_struct *task,
				 const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int ret = stape_filter_add(&session->filter, task);

	if (ret)
		NL_SET_ERR_MSG_ATTR(extack, attr, "the process has ended already");
	else
		WRITE_ONCE(session->peopled, true);
	return ret;
}

static int stape_filter_change_one(struct stape_session *session, const struct nlattr *attr,
				   bool add, struct netlink_ext_ack *extack)
{
	struct task_struct *task = stape_filter_find(nla_get_u32(attr));
	int ret = 0;

	if (!task) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "there is no such process");
		return -ESRCH;
	}
	if (add) {
		ret = stape_filter_check(session, task);
		if (ret)
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "kernel threads and the recorder are never recorded");
		else
			ret = stape_filter_add_task(session, task, attr, extack);
	} else {
		stape_filter_del(&session->filter, task);
	}
	put_task_struct(task);
	return ret;
}

static int stape_filter_change(struct sk_buff *skb, struct genl_info *info, bool add)
{
	struct stape_session *session;
	const struct nlattr *attr;
	int ret, rest;

	mutex_lock(&stape_sessions_lock);
	ret = stape_session_get(skb, info, &session);
	if (ret)
		goto out;
	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_PID)) {
		NL_SET_ERR_MSG(info->extack, "whom? no pid is given");
		ret = -EINVAL;
		goto out;
	}
	ret = add ? stape_session_arm(session, info->extack) : 0;
	if (ret)
		goto out;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(attr) != STAPE_A_SESSION_PID)
			continue;
		ret = stape_filter_change_one(session, attr, add, info->extack);
		if (ret)
			break;
	}
	stape_session_refresh(session);
out:
	mutex_unlock(&stape_sessions_lock);
	return ret;
}

int stape_filter_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_filter_change(skb, info, true);
}

int stape_filter_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_filter_change(skb, info, false);
}

/**
 * stape_netlink_session_ntf() - tell the group how a session stands
 * @session: a session, kept alive by the caller
 *
 * Context: may sleep; not under stape_sessions_lock.
 */
void stape_netlink_session_ntf(struct stape_session *session)
{
	struct stape_message message;

	if (stape_message_ntf(&message, STAPE_CMD_SESSION_NTF))
		stape_message_multicast(&message, stape_session_fill(message.skb, session));
}
