/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of the family: their policies and handlers, for the table in netlink.c, which also
 * says what object a handler finds in info->user_ptr[0].
 */
#ifndef _STAPE_COMMANDS_H
#define _STAPE_COMMANDS_H

#include <net/netlink.h>
#include <schedtape/netlink.h>

struct genl_info;
struct netlink_callback;
struct stape_replay;
struct stape_session;
struct stape_session_ops;

/* netlink_session.c */
extern const struct nla_policy stape_session_policy[STAPE_A_SESSION_ID + 1];
extern const struct nla_policy stape_session_set_policy[STAPE_A_SESSION_TRIGGER + 1];
int stape_session_get_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int stape_session_set_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_start_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_pause_doit(struct sk_buff *skb, struct genl_info *info);
int stape_session_stop_doit(struct sk_buff *skb, struct genl_info *info);
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

#endif /* _STAPE_COMMANDS_H */
