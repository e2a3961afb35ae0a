/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PLAYER_H
#define _STAPE_PLAYER_H

#include <linux/types.h>

struct stape_player;
struct stape_replay;

struct stape_player *stape_player_alloc(struct stape_replay *replay, u32 number);
void stape_player_free(struct stape_player *player);
int stape_player_add(struct stape_player *player);
void stape_player_remove(struct stape_player *player);
struct stape_player *stape_player_self(struct stape_replay *replay, u32 number);
void stape_player_gone(struct stape_player *player);
void stape_player_kill(struct stape_player *player);

#endif /* _STAPE_PLAYER_H */
