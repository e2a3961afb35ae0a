/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of a file in replay/ that its other files call.
 */
#ifndef _STAPE_REPLAY_INTERNAL_H
#define _STAPE_REPLAY_INTERNAL_H

#include "replay/types.h"

struct file;

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

/* step.c */
int stape_step_join(struct stape_replay *replay, u32 number, u32 turn);
int stape_step(struct file *file, const struct stape_step *step);
int stape_step_hold(struct stape_replay *replay, u32 number);

/* leave.c */
bool stape_leave_at_exit(struct file *file, const u32 *edges, u32 nr_edges);
void stape_leave_at_once(void);

/* rendezvous.c */
void stape_rendezvous_init(struct stape_player *player);
void stape_rendezvous_unpark_wakers(const struct stape_player *player);
bool stape_rendezvous_wakees_wait(const struct stape_player *player);
struct stape_rendezvous_budget stape_rendezvous_begin(struct stape_player *self, u64 slack);
void stape_rendezvous_end(struct stape_player *self, const struct stape_rendezvous_budget *budget);
void stape_rendezvous(struct stape_replay *replay, struct stape_player *self, u32 number,
		      struct stape_rendezvous_budget *budget);

/* timer.c */
u64 stape_timebase_to_replay(const struct stape_timebase *timebase, u64 mono);
u64 stape_timebase_to_mono(const struct stape_timebase *timebase, u64 time);
void stape_timer_init(struct stape_player *player);
void stape_timer_arm(struct stape_player *player);
void stape_timer_disarm(struct stape_player *player);

/* player.c */
struct stape_player *stape_player_alloc(struct stape_replay *replay, u32 number, u32 turn);
void stape_player_free(struct stape_player *player);
int stape_player_add(struct stape_player *player);
void stape_player_remove(struct stape_player *player);
struct stape_player *stape_player_self(struct stape_replay *replay, u32 number);
void stape_player_wake(struct stape_replay *replay, u32 number);
void stape_player_gone(struct stape_player *player);
void stape_player_kill(struct stape_player *player);

/* mm_pin.c */
int stape_mm_pin(struct stape_replay *replay);
bool stape_mm_pin_release(struct stape_replay *replay, bool all);

#endif /* _STAPE_REPLAY_INTERNAL_H */
