/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MEET_H
#define _STAPE_MEET_H

#include <linux/types.h>

struct stape_player;
struct stape_replay;

/**
 * struct stape_meeting - how long a player gives way, in one step
 * @start: its CPU time when that began, ns
 * @paid: up to that CPU time its next bursts make up for it, ns
 * @free: so much it gives even if they do not, ns
 * @end: in no case longer, jiffies
 * @gave: the player has given way in it, so that it owes what it ran beyond @paid
 */
struct stape_meeting {
	u64 start;
	u64 paid;
	u64 free;
	unsigned long end;
	bool gave;
};

void stape_meet_init(struct stape_player *player);
void stape_meet_tell(const struct stape_player *player);
bool stape_meet_can_go(const struct stape_player *player);
struct stape_meeting stape_meet_begin(struct stape_player *self, u64 slack);
void stape_meet_end(struct stape_player *self, const struct stape_meeting *meeting);
void stape_meet(struct stape_replay *replay, struct stape_player *self, u32 number,
		struct stape_meeting *meeting);

#endif /* _STAPE_MEET_H */
