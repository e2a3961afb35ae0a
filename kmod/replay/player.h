/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PLAYER_H
#define _STAPE_PLAYER_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "replay/replay.h"

/**
 * struct stape_player - the kernel's side of one player thread
 * @hash: in the table of all players, by @task
 * @alive: in the replay's list
 * @rcu: frees it behind wakers that still look at it
 * @replay: its replay, which outlives it
 * @task: the thread; referenced
 * @exec_id: of @task when it joined: another program is no player
 * @gone: @task ends, or is another program
 * @number: its number in the program
 * @edge: the edge that it waits for, STAPE_NO_EDGE: none
 * @meets: the edge along which it is about to wake, or the same
 * @next: edges along which it wakes after its wait, @nr_next of them
 * @steps: steps whose wake-ups are done
 * @timer: ends a wait for an instant
 * @expired: @timer has fired
 * @timed: waits for an instant
 * @held: waits until the replay goes on
 * @dozes: sleeps until its wakee is there; changed under @doze_lock
 * @doze_lock: inside the runqueue locks
 * @doze_end: wakes it from that
 * @lowered: it has next to no weight just now, see stape_meet()
 * @nice: what its nice value is but for @lowered
 * @slept: since its last wait began, see stape_player_switch()
 * @until: the instant, ns of the replay's time
 * @nap: a wait's length, if its instant has passed, ns
 * @owed: CPU time that it gave to others, and that no burst has made up for yet, ns
 * @late: it had when @timer was started
 * @due: when @timer is to fire first, ns of CLOCK_MONOTONIC; U64_MAX: the replay does not run
 * @put_off: for how long its waits have been, see stape_player_timer(), ns
 * @clock: the player's word in the replay's @clocks
 * @runtime: CPU time since it joined, up to its last switch-out, ns
 * @since: when it was switched in last
 * @timed_waits: waits for an instant that have ended
 * @lag_total, @lag_max: ns by which they ended late
 *
 * @runtime and @since belong to the switch probe of the CPU that runs @task.  Others look
 * at @gone, @edge, @meets, @next, @nr_next, @timed, @held, @lowered, @dozes, @nice, @slept and
 * @due without a lock.
 */
struct stape_player {
	struct hlist_node hash;
	struct list_head alive;
	struct rcu_head rcu;
	struct stape_replay *replay;
	struct task_struct *task;
	u64 exec_id;
	bool gone;
	u32 number;
	u32 edge;
	u32 meets;
	u32 next[STAPE_STEP_MAX_NEXT];
	u32 nr_next;
	u64 steps;
	struct hrtimer timer;
	bool expired;
	bool timed;
	bool held;
	bool lowered;
	bool slept;
	bool dozes;
	raw_spinlock_t doze_lock;
	struct irq_work doze_end;
	bool late;
	int nice;
	u64 until;
	u32 nap;
	u64 owed;
	u64 due;
	u64 put_off;
	u64 runtime;
	u64 since;
	u64 *clock;
	u64 timed_waits;
	u64 lag_total;
	u64 lag_max;
};

#define STAPE_NO_EDGE	U32_MAX

extern struct static_key_false_deferred stape_players_key;

void stape_player_switch(struct task_struct *prev, struct task_struct *next, bool sleeps);

/* There are replays: switches have to be told to stape_player_switch(). */
static __always_inline bool stape_player_exist(void)
{
	return static_branch_unlikely(&stape_players_key.key);
}

void stape_player_gone(const struct task_struct *task);
bool stape_player_is_lowered(const struct task_struct *task, int *nice);
int stape_player_join(struct stape_replay *replay, u32 number);
int stape_player_step(struct stape_replay *replay, const struct stape_step *step);
int stape_player_hold(struct stape_replay *replay, u32 number);
void stape_player_arm(struct stape_replay *replay, struct stape_player *player);
void stape_player_disarm(struct stape_player *player);
void stape_player_kill(const struct stape_player *player);
void stape_player_remove(struct stape_replay *replay, struct stape_player *player);

#endif /* _STAPE_PLAYER_H */
