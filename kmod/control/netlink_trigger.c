// SPDX-License-Identifier: GPL-2.0-only
/*
 * The triggers of sessions as netlink attributes: in session-set, session-get and trigger-ntf.
 */
#include "control/internal.h"

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <net/genetlink.h>

#include "record/session.h"
#include "record/trigger.h"

/* Not const, because up to 6.6 a policy's pointer to its range is not const. */
static struct netlink_range_validation stape_trigger_pids = {
	.min = 1,
	.max = PID_MAX_LIMIT - 1,
};

const struct nla_policy stape_trigger_policy[STAPE_A_TRIGGER_COMM + 1] = {
	[STAPE_A_TRIGGER_KIND] = { .type = NLA_U32 },
	[STAPE_A_TRIGGER_LIMIT] = { .type = NLA_U64 },
	[STAPE_A_TRIGGER_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_trigger_pids),
	[STAPE_A_TRIGGER_COMM] = { .type = NLA_NUL_STRING, .len = STAPE_PATTERN_LEN - 1 },
};

/* -- session-set ------------------------------------------------------------- */

static int stape_trigger_check(const struct stape_trigger_setup *setup, const struct nlattr *attr,
			       struct netlink_ext_ack *extack)
{
	bool rate = setup->kind == STAPE_TRIGGER_RATE;

	if (setup->kind < STAPE_TRIGGER_LATENCY || setup->kind > STAPE_TRIGGER_RATE) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a trigger of a kind that is not known");
		return -EINVAL;
	}
	if (!setup->limit) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a trigger without a limit, or with 0");
		return -EINVAL;
	}
	if (setup->limit > (rate ? STAPE_TRIGGER_RATE_MAX : STAPE_TRIGGER_TIME_MAX)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "a trigger's limit is at most a day, or 10^9 a second");
		return -EINVAL;
	}
	if (rate && (setup->pid || *setup->comm)) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a rate is that of all tasks of the session");
		return -EINVAL;
	}
	return 0;
}

/* Returns the PID in the initial namespace of a task of the sender's; 0: there is no such task. */
static u32 stape_trigger_pid(u32 pid)
{
	u32 nr;

	rcu_read_lock();
	nr = pid_nr(find_vpid(pid));
	rcu_read_unlock();
	return nr;
}

static int stape_trigger_read(const struct nlattr *attr, struct stape_trigger_setup *setup,
			      struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[STAPE_A_TRIGGER_COMM + 1];
	int ret;

	ret = nla_parse_nested(attrs, STAPE_A_TRIGGER_COMM, attr, stape_trigger_policy, extack);
	if (ret)
		return ret;
	*setup = (struct stape_trigger_setup){ 0 };
	if (attrs[STAPE_A_TRIGGER_KIND])
		setup->kind = nla_get_u32(attrs[STAPE_A_TRIGGER_KIND]);
	if (attrs[STAPE_A_TRIGGER_LIMIT])
		setup->limit = nla_get_u64(attrs[STAPE_A_TRIGGER_LIMIT]);
	if (attrs[STAPE_A_TRIGGER_COMM])
		nla_strscpy(setup->comm, attrs[STAPE_A_TRIGGER_COMM], sizeof(setup->comm));
	if (attrs[STAPE_A_TRIGGER_PID]) {
		setup->pid = stape_trigger_pid(nla_get_u32(attrs[STAPE_A_TRIGGER_PID]));
		if (!setup->pid) {
			NL_SET_ERR_MSG_ATTR(extack, attrs[STAPE_A_TRIGGER_PID],
					    "there is no such process or thread");
			return -ESRCH;
		}
	}
	return stape_trigger_check(setup, attr, extack);
}

/**
 * stape_trigger_read_all() - get the triggers of a request
 * @info: the request
 * @setups: returned; room for STAPE_TRIGGERS_MAX
 * @nr: returned: how many
 *
 * Context: may sleep.
 * Return: 0; -EINVAL, -E2BIG; -ESRCH: there is no such task.
 */
int stape_trigger_read_all(struct genl_info *info, struct stape_trigger_setup *setups, u32 *nr)
{
	const struct nlattr *attr = stape_message_excess(info, BIT_ULL(STAPE_A_SESSION_TRIGGER),
							 STAPE_TRIGGERS_MAX);
	int rest, ret = 0;

	if (attr) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "more triggers than a session can have");
		return -E2BIG;
	}
	*nr = 0;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest) {
		if (!ret && nla_type(attr) == STAPE_A_SESSION_TRIGGER)
			ret = stape_trigger_read(attr, &setups[(*nr)++], info->extack);
	}
	return ret;
}

/* -- session-get, trigger-ntf ------------------------------------------------ */

static int stape_trigger_put(struct sk_buff *skb, const struct stape_trigger *trigger, u32 number)
{
	struct nlattr *nest = nla_nest_start(skb, STAPE_A_SESSION_TRIGGER);

	if (!nest || nla_put_u32(skb, STAPE_A_TRIGGER_NUMBER, number) ||
	    nla_put_u32(skb, STAPE_A_TRIGGER_KIND, trigger->setup.kind) ||
	    nla_put_u64_64bit(skb, STAPE_A_TRIGGER_LIMIT, trigger->setup.limit,
			      STAPE_A_TRIGGER_PAD) ||
	    (trigger->setup.pid && nla_put_u32(skb, STAPE_A_TRIGGER_PID, trigger->setup.pid)) ||
	    (*trigger->setup.comm &&
	     nla_put_string(skb, STAPE_A_TRIGGER_COMM, trigger->setup.comm)) ||
	    nla_put_u64_64bit(skb, STAPE_A_TRIGGER_FIRED, atomic64_read(&trigger->fired),
			      STAPE_A_TRIGGER_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * stape_trigger_put_all() - add a session's triggers to a message
 * @skb: the message
 * @triggers: the session's, or NULL
 *
 * Context: under the session's lock.
 * Return: 0 or -EMSGSIZE.
 */
int stape_trigger_put_all(struct sk_buff *skb, const struct stape_triggers *triggers)
{
	u32 i;
	int ret = 0;

	for (i = 0; triggers && !ret && i < triggers->nr; i++)
		ret = stape_trigger_put(skb, &triggers->triggers[i], i);
	return ret;
}

static int stape_trigger_fill(struct sk_buff *skb, u32 session,
			      const struct stape_trigger *trigger)
{
	const struct stape_trigger_notice *notice = &trigger->notice;
	struct nlattr *nest;

	if (nla_put_u32(skb, STAPE_A_SESSION_ID, session))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, STAPE_A_SESSION_TRIGGER);
	if (!nest || nla_put_u32(skb, STAPE_A_TRIGGER_NUMBER, notice->number) ||
	    nla_put_u32(skb, STAPE_A_TRIGGER_KIND, trigger->setup.kind) ||
	    nla_put_u64_64bit(skb, STAPE_A_TRIGGER_LIMIT, trigger->setup.limit,
			      STAPE_A_TRIGGER_PAD) ||
	    (notice->pid && nla_put_u32(skb, STAPE_A_TRIGGER_PID, notice->pid)) ||
	    nla_put_u32(skb, STAPE_A_TRIGGER_CPU, notice->cpu) ||
	    nla_put_u64_64bit(skb, STAPE_A_TRIGGER_VALUE, notice->value, STAPE_A_TRIGGER_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_TRIGGER_TIME, notice->time, STAPE_A_TRIGGER_PAD) ||
	    (notice->lasts && nla_put_flag(skb, STAPE_A_TRIGGER_LASTS)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * stape_trigger_ntf() - notify those who listen that a trigger has fired
 * @active: the session's
 * @trigger: the trigger, with its notice
 *
 * Context: may sleep; without the session's lock, but the session is not freed meanwhile.
 */
void stape_trigger_ntf(struct stape_active *active, const struct stape_trigger *trigger)
{
	struct stape_session *session = container_of(active, struct stape_session, active);
	u32 monitor = READ_ONCE(session->entry.monitor);
	struct sk_buff *skb = stape_message_ntf(STAPE_CMD_TRIGGER_NTF, monitor);

	if (skb)
		stape_message_notify(skb, stape_trigger_fill(skb, session->entry.id, trigger),
				     monitor);
}
