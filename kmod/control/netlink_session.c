// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink commands for sessions.
 */
#include "control/internal.h"

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "base/account.h"
#include "record/sessions.h"
#include "record/trigger.h"

/* Not const, because up to 6.6 a policy's pointer to its range is not const. */
static struct netlink_range_validation stape_pages_range = { .max = STAPE_RING_PAGES_MAX };

const struct nla_policy stape_session_policy[STAPE_A_SESSION_ID + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy stape_session_set_policy[STAPE_A_SESSION_TRIGGER + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_SESSION_RING_PAGES] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pages_range),
	[STAPE_A_SESSION_WATERMARK] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_pages_range),
	[STAPE_A_SESSION_CLOCK] = NLA_POLICY_MAX(NLA_U32, STAPE_CLOCK_COUNTER),
	[STAPE_A_SESSION_OVERWRITE] = { .type = NLA_FLAG },
	[STAPE_A_SESSION_CPUS] = NLA_POLICY_MIN_LEN(1),
	[STAPE_A_SESSION_SYSCALLS] = { .type = NLA_FLAG },
	[STAPE_A_SESSION_TRIGGER] = NLA_POLICY_NESTED(stape_trigger_policy),
};

const struct nla_policy stape_session_mark_policy[STAPE_A_SESSION_INTERVAL + 1] = {
	[STAPE_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_SESSION_INTERVAL] = NLA_POLICY_MIN(NLA_U64, 1),
};

static int stape_session_fill_setup(struct sk_buff *skb, struct stape_session *session)
{
	if (nla_put_u32(skb, STAPE_A_SESSION_RING_PAGES, session->setup.pages) ||
	    nla_put_u32(skb, STAPE_A_SESSION_WATERMARK, session->setup.watermark) ||
	    nla_put_u32(skb, STAPE_A_SESSION_CLOCK, session->setup.counter ?
			STAPE_CLOCK_COUNTER : STAPE_CLOCK_MONO) ||
	    (session->setup.overwrite && nla_put_flag(skb, STAPE_A_SESSION_OVERWRITE)) ||
	    (session->setup.syscalls && nla_put_flag(skb, STAPE_A_SESSION_SYSCALLS)) ||
	    stape_trigger_put_all(skb, session->active.triggers))
		return -EMSGSIZE;
	return stape_cpumask_put(skb, STAPE_A_SESSION_CPUS, &session->setup.cpus);
}

/*
 * Adds the owner's PID for the receiver, which only that of a reply has: who receives a
 * notification is not current.  The owner may have ended, if a child of it still has the file.  Its
 * PID may be another's then.
 */
static int stape_session_fill_vpid(struct sk_buff *skb, struct stape_session *session)
{
	struct pid *owner = session->active.filter.owner;
	bool ended;

	rcu_read_lock();
	ended = !pid_task(owner, PIDTYPE_TGID);
	rcu_read_unlock();
	return stape_message_put_vpid(skb, STAPE_A_SESSION_OWNER_VPID, pid_nr(owner),
				      ended ? 0 : pid_vnr(owner));
}

static int stape_session_fill(struct sk_buff *skb, struct stape_session *session)
{
	struct stape_session_totals totals;

	stape_session_count(session, &totals);
	if (nla_put_u32(skb, STAPE_A_SESSION_ID, session->entry.id) ||
	    nla_put_u32(skb, STAPE_A_SESSION_STATE, session->state) ||
	    nla_put_u32(skb, STAPE_A_SESSION_OWNER, pid_nr(session->active.filter.owner)) ||
	    nla_put_u32(skb, STAPE_A_SESSION_TASKS,
			atomic_read(&session->active.filter.nr_members)) ||
	    nla_put_u32(skb, STAPE_A_SESSION_UID,
			from_kuid(&init_user_ns, session->account->uid)) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_MEMORY,
			      session->memory + stape_session_trigger_bytes(session),
			      STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_EVENTS, totals.events,
			      STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_LOST, totals.lost,
			      STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_OVERWRITTEN, totals.overwritten,
			      STAPE_A_SESSION_PAD) ||
	    nla_put_u32(skb, STAPE_A_SESSION_STOPPED_BY, session->stopped_by) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_MISSED_CALLS,
			      stape_session_missed_calls(session), STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_MISSED_WAITS,
			      stape_session_missed_waits(session), STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_START_TIME, session->start_time,
			      STAPE_A_SESSION_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_SESSION_STOP_TIME, session->stop_time,
			      STAPE_A_SESSION_PAD))
		return -EMSGSIZE;
	return stape_session_fill_setup(skb, session);
}

static int stape_session_fill_reply(struct sk_buff *skb, struct stape_session *session)
{
	return stape_session_fill(skb, session) ?: stape_session_fill_vpid(skb, session);
}

int stape_session_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply = stape_message_reply(info);

	if (!reply)
		return -ENOMEM;
	return stape_message_send(reply, stape_session_fill_reply(reply, info->user_ptr[0]), info);
}

/* Other users' sessions are left out, and those that end meanwhile.  Drops the reference. */
static int stape_session_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
				  struct stape_session *session)
{
	void *header;
	int ret;

	if (!stape_message_owns(cb->skb, session->account)) {
		stape_session_put(session);
		return 0;
	}
	ret = stape_session_acquire(session);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	header = stape_message_dump(skb, cb, STAPE_CMD_SESSION_GET);
	ret = !header ? -EMSGSIZE :
	      stape_message_dumped(skb, header, stape_session_fill_reply(skb, session));
	stape_session_release(session);
	return ret;
}

int stape_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct stape_session *session;
	int ret = 0;
	u32 id;

	while (!ret && (session = stape_session_find_after(cb->args[0]))) {
		id = session->entry.id;
		ret = stape_session_dump_one(skb, cb, session);
		if (!ret)
			cb->args[0] = id;
	}
	return ret == -EINTR ? ret : skb->len;
}

static u32 stape_attr_u32(struct genl_info *info, int attr, u32 value)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : value;
}

static int stape_session_setup(struct genl_info *info, struct stape_ring_setup *setup)
{
	const struct nlattr *cpus = info->attrs[STAPE_A_SESSION_CPUS];

	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_RING_PAGES)) {
		NL_SET_ERR_MSG(info->extack, "the pages of a ring are missing");
		return -EINVAL;
	}
	setup->pages = nla_get_u32(info->attrs[STAPE_A_SESSION_RING_PAGES]);
	setup->watermark = stape_attr_u32(info, STAPE_A_SESSION_WATERMARK, 0);
	setup->counter = stape_attr_u32(info, STAPE_A_SESSION_CLOCK, STAPE_CLOCK_MONO) ==
			 STAPE_CLOCK_COUNTER;
	setup->overwrite = nla_get_flag(info->attrs[STAPE_A_SESSION_OVERWRITE]);
	setup->syscalls = nla_get_flag(info->attrs[STAPE_A_SESSION_SYSCALLS]);
	if (cpus)
		stape_cpumask_read(&setup->cpus, nla_data(cpus), nla_len(cpus));
	else
		cpumask_copy(&setup->cpus, cpu_possible_mask);
	return 0;
}

int stape_session_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_trigger_setup triggers[STAPE_TRIGGERS_MAX];
	struct stape_ring_setup *setup;
	u32 nr_triggers;
	int ret;

	/* The mask of CPUs in it is too large for the stack. */
	setup = kzalloc(sizeof(*setup), GFP_KERNEL);
	if (!setup)
		return -ENOMEM;
	ret = stape_session_setup(info, setup);
	if (!ret)
		ret = stape_trigger_read_all(info, triggers, &nr_triggers);
	if (!ret)
		ret = stape_session_set(info->user_ptr[0], setup, triggers, nr_triggers,
					stape_message_powers(skb), info->extack);
	kfree(setup);
	return ret;
}

int stape_session_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_session_start(info->user_ptr[0], info->extack);
}

int stape_session_pause_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_session_pause(info->user_ptr[0], info->extack);
}

int stape_session_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_session_stop(info->user_ptr[0], info->extack);
}

int stape_session_mark_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	u64 time;
	int ret;

	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_INTERVAL)) {
		NL_SET_ERR_MSG(info->extack, "the interval's number is missing");
		return -EINVAL;
	}
	/* First, so that a mark that was written has a reply. */
	reply = stape_message_reply(info);
	if (!reply)
		return -ENOMEM;
	ret = stape_session_mark(info->user_ptr[0],
				 nla_get_u64(info->attrs[STAPE_A_SESSION_INTERVAL]), &time,
				 info->extack);
	if (!ret)
		ret = nla_put_u64_64bit(reply, STAPE_A_SESSION_INTERVAL_TIME, time,
					STAPE_A_SESSION_PAD);
	return stape_message_send(reply, ret, info);
}

int stape_session_monitor_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_session_set_monitor(info->user_ptr[0], info->snd_portid, info->extack);
}

/* Notifies those who listen of a session's state.  Under its lock. */
static void stape_netlink_session_ntf(struct stape_session *session)
{
	u32 monitor = READ_ONCE(session->entry.monitor);
	struct sk_buff *skb = stape_message_ntf(STAPE_CMD_SESSION_NTF, monitor);

	if (skb)
		stape_message_notify(skb, stape_session_fill(skb, session), monitor);
}

const struct stape_session_ops stape_netlink_session_ops = {
	.notify = stape_netlink_session_ntf,
	.notify_trigger = stape_trigger_ntf,
};
