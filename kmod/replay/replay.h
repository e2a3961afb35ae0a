/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_REPLAY_H
#define _STAPE_REPLAY_H

#include "replay/types.h"

struct netlink_ext_ack;

extern struct stape_registry stape_replays;

struct stape_replay *stape_replay_alloc(const struct stape_replay_setup *setup,
					struct stape_account *account, u32 powers,
					void (*notify)(struct stape_replay *replay));
void stape_replay_put(struct stape_replay *replay);
void stape_replay_abandon(struct stape_replay *replay);
u64 stape_replay_clocks_size(u32 nr_players);
void stape_replay_publish_speed(struct stape_replay *replay, u32 speed);
struct stape_replay *stape_replay_find(u32 id);
struct stape_replay *stape_replay_find_after(u32 id);
int stape_replay_start(struct stape_replay *replay, u64 delay, struct netlink_ext_ack *extack);
int stape_replay_pause(struct stape_replay *replay, struct netlink_ext_ack *extack);
int stape_replay_set_speed(struct stape_replay *replay, u32 speed,
			   struct netlink_ext_ack *extack);
u64 stape_replay_time(struct stape_replay *replay);
int stape_replay_stop(struct stape_replay *replay, u32 stopped_by,
		      struct netlink_ext_ack *extack);
void stape_replay_finish(struct stape_replay *replay, u32 state);
void stape_replay_kill(struct stape_replay *replay);
void stape_replay_reap(struct stape_replay *replay);
void stape_replay_remove_players(struct stape_replay *replay);
void stape_replay_exit(void);

/* file.c */
struct stape_replay *stape_replay_create(struct stape_replay_setup __user *arg, size_t size,
					 struct stape_account *account, u32 powers,
					 void (*notify)(struct stape_replay *replay));

/* rewind.c */
int stape_rewind(struct stape_replay *replay);

#endif /* _STAPE_REPLAY_H */
