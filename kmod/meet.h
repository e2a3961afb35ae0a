/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MEET_H
#define _STAPE_MEET_H

#include <linux/types.h>

struct stape_player;
struct stape_replay;

void stape_meet(struct stape_replay *replay, struct stape_player *self, u32 number);

#endif /* _STAPE_MEET_H */
