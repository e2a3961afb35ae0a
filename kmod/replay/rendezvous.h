/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_RENDEZVOUS_H
#define _STAPE_RENDEZVOUS_H

#include <linux/types.h>

struct stape_player;
struct stape_replay;

/**
 * struct stape_rendezvous_budget - how long a player may yield, in one step
 * @start: its CPU time when the step began, ns
 * @paid: the CPU time up to which its next bursts make up for its yields, ns
 * @free: CPU time that it gives even if no burst makes up for it, ns
 * @end: the end of its rendezvous at the latest, jiffies
 * @gave: it has yielded, so that CPU time beyond @paid is added to its debt
 */
struct stape_rendezvous_budget {
	u64 start;
	u64 paid;
	u64 free;
	unsigned long end;
	bool gave;
};

void stape_rendezvous_init(struct stape_player *player);
void stape_rendezvous_unpark_wakers(const struct stape_player *player);
bool stape_rendezvous_wakees_wait(const struct stape_player *player);
struct stape_rendezvous_budget stape_rendezvous_begin(struct stape_player *self, u64 slack);
void stape_rendezvous_end(struct stape_player *self, const struct stape_rendezvous_budget *budget);
void stape_rendezvous(struct stape_replay *replay, struct stape_player *self, u32 number,
		      struct stape_rendezvous_budget *budget);

#endif /* _STAPE_RENDEZVOUS_H */
