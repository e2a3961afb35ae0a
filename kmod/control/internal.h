/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that only the files of this folder share.
 */
#ifndef _STAPE_CONTROL_INTERNAL_H
#define _STAPE_CONTROL_INTERNAL_H

#include <linux/cpumask.h>
#include <linux/types.h>
#include <net/netlink.h>
#include <schedtape/netlink.h>

struct file;
struct genl_family;
struct genl_info;
struct stape_account;
struct stape_active;
struct stape_replay;
struct stape_session;
struct stape_session_ops;
struct stape_trigger;
struct stape_trigger_setup;
struct stape_triggers;

/*
 * The commands of the family: their policies and handlers, for the table in netlink.c, which also
 * says what object a handler finds in info->user_ptr[0].
 */

/* netlink_session.c */
extern const struct nla_policy stape_session_policy[STAPE_A_SESSION_ID + 1];
extern const struct nla_policy stape_session_set_policy[STAPE_A_SESSION_TRIGGER + 1];
extern const struct nla_policy stape_session_mark_policy[STAPE_A_SESSION_INTERVAL + 1];
int stape_session_get_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int stape_session_set_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_start_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_pause_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_stop_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_mark_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_monitor_doit(struct sk_buff *skb, struct genl_info *info);
extern const struct stape_session_ops stape_netlink_session_ops;

/* netlink_filter.c */
extern const struct nla_policy stape_filter_add_policy[STAPE_A_SESSION_FOLLOW + 1];
extern const struct nla_policy stape_filter_del_policy[STAPE_A_SESSION_CGROUP + 1];
extern const struct nla_policy stape_filter_set_policy[STAPE_A_SESSION_EXCLUDE_COMM + 1];
int stape_filter_change_doit(struct sk_buff *skb, struct genl_info *info);
int stape_filter_set_doit(struct sk_buff *skb, struct genl_info *info);

/* netlink_task.c */
extern const struct nla_policy stape_task_policy[STAPE_A_TASK_SESSION + 1];
int stape_task_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_replay.c */
extern const struct nla_policy stape_replay_policy[STAPE_A_REPLAY_ID + 1];
extern const struct nla_policy stape_replay_set_policy[STAPE_A_REPLAY_SPEED + 1];
extern const struct nla_policy stape_replay_start_policy[STAPE_A_REPLAY_DELAY + 1];
int stape_replay_get_doit(struct sk_buff *skb, struct genl_info *info);
int stape_replay_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int stape_replay_set_doit(struct sk_buff *skb, struct genl_info *info);
int stape_replay_pause_doit(struct sk_buff *skb, struct genl_info *info);
int stape_replay_start_doit(struct sk_buff *skb, struct genl_info *info);
int stape_replay_stop_doit(struct sk_buff *skb, struct genl_info *info);
int stape_replay_monitor_doit(struct sk_buff *skb, struct genl_info *info);
void stape_netlink_replay_ntf(struct stape_replay *replay);

/* netlink_player.c */
extern const struct nla_policy stape_player_policy[STAPE_A_PLAYER_REPLAY + 1];
int stape_player_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_trigger.c */
/* Not an array of unknown size, because NLA_POLICY_NESTED() counts its entries. */
extern const struct nla_policy stape_trigger_policy[STAPE_A_TRIGGER_COMM + 1];

int stape_trigger_read_all(struct genl_info *info, struct stape_trigger_setup *setups, u32 *nr);
int stape_trigger_put_all(struct sk_buff *skb, const struct stape_triggers *triggers);
void stape_trigger_ntf(struct stape_active *active, const struct stape_trigger *trigger);

/* lookup.c */
struct stape_session *stape_lookup_session(struct sk_buff *skb, struct nlattr **attrs,
					   struct netlink_ext_ack *extack);
struct stape_replay *stape_lookup_replay(struct sk_buff *skb, struct nlattr **attrs,
					 struct netlink_ext_ack *extack);

/* message.c */
extern struct genl_family stape_family;

int stape_message_permit(struct sk_buff *skb, struct netlink_ext_ack *extack);
u32 stape_message_powers(struct sk_buff *skb);
bool stape_message_owns(struct sk_buff *skb, const struct stape_account *account);
const struct nlattr *stape_message_excess(struct genl_info *info, u64 types, u32 max);
struct sk_buff *stape_message_reply(struct genl_info *info);
int stape_message_send(struct sk_buff *skb, int ret, struct genl_info *info);
void *stape_message_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int stape_message_dumped(struct sk_buff *skb, void *header, int ret);
struct sk_buff *stape_message_ntf(u8 cmd, u32 monitor);
void stape_message_notify(struct sk_buff *skb, int ret, u32 monitor);

/* Adds the PID that a task has for the receiver, which is current, unless it is the same one. */
static inline int stape_message_put_vpid(struct sk_buff *skb, int attr, u32 pid, u32 vpid)
{
	return pid == vpid ? 0 : nla_put_u32(skb, attr, vpid);
}

/* cpumask.c */
void stape_cpumask_read(cpumask_t *cpus, const u8 *bytes, unsigned int n);
int stape_cpumask_put(struct sk_buff *skb, int type, const struct cpumask *cpus);

/* waiter.c */
long stape_waiter_create(struct stape_session *session, struct file *file, void __user *arg,
			 size_t size);

/* missing.c */
/* Room for all lines. */
#define STAPE_MISSING_SIZE	1024

size_t stape_missing_text(char *text, size_t size);

#endif /* _STAPE_CONTROL_INTERNAL_H */
