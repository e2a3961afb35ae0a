// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink commands for the filters of sessions.
 */
#include "control/internal.h"

#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "base/registry.h"
#include "record/rules.h"
#include "record/sessions.h"
#include "record/task_info.h"

/* Not const, because up to 6.6 a policy's pointer to its range is not const. */
static struct netlink_range_validation stape_pid_range = { .min = 1, .max = PID_MAX_LIMIT - 1 };

const struct nla_policy stape_filter_add_policy[STAPE_A_SESSION_FOLLOW + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_SESSION_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pid_range),
	[STAPE_A_SESSION_TID] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pid_range),
	[STAPE_A_SESSION_CGROUP] = { .type = NLA_U64 },
	[STAPE_A_SESSION_FOLLOW] = { .type = NLA_FLAG },
};

const struct nla_policy stape_filter_del_policy[STAPE_A_SESSION_CGROUP + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_SESSION_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pid_range),
	[STAPE_A_SESSION_TID] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pid_range),
	[STAPE_A_SESSION_CGROUP] = { .type = NLA_U64 },
};

const struct nla_policy stape_filter_set_policy[STAPE_A_SESSION_EXCLUDE_COMM + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_SESSION_ALL] = NLA_POLICY_MAX(NLA_U8, 1),
	[STAPE_A_SESSION_KTHREADS] = NLA_POLICY_MAX(NLA_U8, 1),
	[STAPE_A_SESSION_NO_INHERIT] = NLA_POLICY_MAX(NLA_U8, 1),
	[STAPE_A_SESSION_EXCLUDE_COMM] = { .type = NLA_NUL_STRING,
					   .len = STAPE_PATTERN_LEN - 1 },
};

static struct task_struct *stape_filter_find(u32 pid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = get_pid_task(find_vpid(pid), PIDTYPE_PID);	/* in the sender's namespace */
	rcu_read_unlock();
	return task;
}

static int stape_filter_check(const struct stape_filter *filter, struct task_struct *task,
			      const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (!stape_filter_own_rules(filter)->flags.kthreads &&
	    stape_task_flags(task) & PF_KTHREAD) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a kernel thread, which the filter leaves out");
		return -EINVAL;
	}
	if (task_tgid(task) == filter->owner) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "the recorder itself is never recorded");
		return -EINVAL;
	}
	return 0;
}

static int stape_filter_add_task(struct stape_session *session, struct task_struct *task,
				 const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int ret = stape_filter_check(&session->active.filter, task, attr, extack);

	if (ret)
		return ret;
	ret = stape_rules_add_task(&session->active, task, nla_type(attr) == STAPE_A_SESSION_PID);
	if (ret == -ESRCH)
		NL_SET_ERR_MSG_ATTR(extack, attr, "it has ended already");
	else
		WRITE_ONCE(session->had_members, true);
	return ret;
}

static int stape_filter_change_task(struct stape_session *session, const struct nlattr *attr,
				    bool add, struct netlink_ext_ack *extack)
{
	struct task_struct *task = stape_filter_find(nla_get_u32(attr));
	int ret;

	if (!task) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "there is no such process or thread");
		return -ESRCH;
	}
	if (add)
		ret = stape_filter_add_task(session, task, attr, extack);
	else
		ret = stape_rules_del_task(&session->active, task,
					   nla_type(attr) == STAPE_A_SESSION_PID);
	if (ret == -ENOENT)
		NL_SET_ERR_MSG_ATTR(extack, attr, "it is not in the filter");
	put_task_struct(task);
	return ret;
}

static int stape_filter_change_cgroup(struct stape_session *session, const struct nlattr *attr,
				      bool add, struct genl_info *info)
{
	bool follow = add && nla_get_flag(info->attrs[STAPE_A_SESSION_FOLLOW]);
	u64 id = nla_get_u64(attr);
	int ret = add ? stape_rules_add_cgroup(&session->active, id, follow) :
			stape_rules_del_cgroup(&session->active, id);

	if (ret == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "there is no such cgroup (version 2)");
	else if (ret == -E2BIG)
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "more cgroups than a filter can have");
	else if (ret == -ENAMETOOLONG)
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "its path is too long to be followed");
	return ret;
}

static int stape_filter_change_one(struct stape_session *session, const struct nlattr *attr,
				   bool add, struct genl_info *info)
{
	switch (nla_type(attr)) {
	case STAPE_A_SESSION_PID:
	case STAPE_A_SESSION_TID:
		return stape_filter_change_task(session, attr, add, info->extack);
	case STAPE_A_SESSION_CGROUP:
		return stape_filter_change_cgroup(session, attr, add, info);
	}
	return 0;
}

/*
 * Adds or removes all objects up to the first that fails.  A process may have very many threads, so
 * this can take long, under the session's lock and the kernel's for all generic netlink families.
 */
static int stape_filter_change(struct stape_session *session, struct genl_info *info)
{
	bool add = info->genlhdr->cmd == STAPE_CMD_FILTER_ADD;
	const struct nlattr *attr;
	int rest, ret = 0;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest) {
		ret = stape_rules_interrupted();
		if (!ret)
			ret = stape_filter_change_one(session, attr, add, info);
		if (ret)
			break;
	}
	if (ret == -EPERM)
		NL_SET_ERR_MSG(info->extack, STAPE_STOP_ALL_TEXT);
	/* Once, because it looks at all tasks. */
	if (info->attrs[STAPE_A_SESSION_CGROUP])
		stape_rules_update_all(&session->active);
	return ret;
}

static bool stape_filter_flag(struct genl_info *info, int attr)
{
	return info->attrs[attr] && nla_get_u8(info->attrs[attr]);
}

static int stape_filter_set(struct stape_session *session, struct genl_info *info)
{
	const struct stape_filter_flags flags = {
		.all = stape_filter_flag(info, STAPE_A_SESSION_ALL),
		.kthreads = stape_filter_flag(info, STAPE_A_SESSION_KTHREADS),
		.no_inherit = stape_filter_flag(info, STAPE_A_SESSION_NO_INHERIT),
	};
	char (*patterns)[STAPE_PATTERN_LEN];
	const struct nlattr *attr;
	int rest, ret, n = 0;

	/* stape_filter_set_doit() has checked their number. */
	patterns = kcalloc(STAPE_FILTER_PATTERNS_MAX, sizeof(*patterns), GFP_KERNEL_ACCOUNT);
	if (!patterns)
		return -ENOMEM;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest)
		if (nla_type(attr) == STAPE_A_SESSION_EXCLUDE_COMM)
			nla_strscpy(patterns[n++], attr, STAPE_PATTERN_LEN);
	ret = stape_rules_set(&session->active, &flags, patterns, n);
	kfree(patterns);
	return ret;
}

/*
 * Changes a filter while probes keep it up to date.  If that fails, a session that this has
 * attached is detached again, unless some of the tasks have been added.
 */
static int stape_filter_do(struct genl_info *info,
			   int (*change)(struct stape_session *session, struct genl_info *info))
{
	struct stape_session *session = info->user_ptr[0];
	bool attached = session->attached;
	int ret;

	ret = stape_session_attach(session, info->extack);
	if (ret)
		return ret;
	ret = change(session, info);
	stape_session_resync(session);
	if (ret && !attached && stape_filter_is_over(&session->active.filter))
		stape_session_detach(session);
	return ret;
}

#define STAPE_FILTER_OBJECTS \
	(BIT_ULL(STAPE_A_SESSION_PID) | BIT_ULL(STAPE_A_SESSION_TID) | \
	 BIT_ULL(STAPE_A_SESSION_CGROUP))

int stape_filter_change_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr = stape_message_excess(info, STAPE_FILTER_OBJECTS,
							 STAPE_FILTER_OBJECTS_MAX);

	if (attr) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "more objects than a request may name: send several");
		return -E2BIG;
	}
	if (!info->attrs[STAPE_A_SESSION_TID] && !info->attrs[STAPE_A_SESSION_CGROUP] &&
	    GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_PID)) {
		NL_SET_ERR_MSG(info->extack, "no pid, tid or cgroup is given");
		return -EINVAL;
	}
	return stape_filter_do(info, stape_filter_change);
}

int stape_filter_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr;

	attr = stape_message_excess(info, BIT_ULL(STAPE_A_SESSION_EXCLUDE_COMM),
				    STAPE_FILTER_PATTERNS_MAX);
	if (attr) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "more patterns than a filter can have");
		return -E2BIG;
	}
	return stape_filter_do(info, stape_filter_set);
}
