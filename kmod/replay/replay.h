/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_REPLAY_H
#define _STAPE_REPLAY_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <schedtape/device.h>
#include <schedtape/netlink.h>

#include "replay/timebase.h"

struct stape_player;

#define STAPE_NO_PLAYER		U32_MAX

/**
 * struct stape_edge - one waker-wakee pair
 * @pending: wake-ups along it that no wait has taken yet
 * @to: the player that it wakes
 * @from: the player that wakes; STAPE_NO_PLAYER: nobody has told
 */
struct stape_edge {
	atomic_t pending;
	u32 to;
	u32 from;
};

/**
 * struct stape_replay - one replay, from STAPE_IOC_REPLAY to its files' end
 * @ref: one of the session, one of the players' file
 * @all: in stape_replays
 * @id: number in the netlink family, never used again
 * @owner: PID of the process that made it
 * @nr_players: players of the program
 * @nr_edges: edges of the program
 * @edges: the edges
 * @players: those alive, by number; read under RCU
 * @clocks: by number: CLOCK_MONOTONIC minus the CPU time of a running player,
 *	mapped by the players; one more: the speed, 0: paused
 * @lock: protects @state, @tempo, @alive, @joined, @done, @failed_pid and the
 *	stores to @players; interrupts stay on, no interrupt takes it
 * @alive: the same players, as a list
 * @state: enum stape_replay_state
 * @joined: players that have joined so far
 * @done: players that have ended their program
 * @failed_pid: the player that died too early
 * @tempo: of @state's first change to RUNNING on
 * @start_time: ns of CLOCK_MONOTONIC, the same
 * @stop_time: ns of CLOCK_MONOTONIC
 * @waiting: players in a wait
 * @steps: steps of all players
 * @timed_waits: waits for an instant that have ended
 * @lag_total: ns by which they ended late
 * @lag_max: ns, the worst of them
 * @progress: looks after the replay every second and tells the netlink group,
 *	and at the end
 * @seen_steps, @seen_joined: when @progress looked last
 * @still: times that it has seen nobody go on
 * @told: it has told of the end
 */
struct stape_replay {
	struct kref ref;
	struct list_head all;
	u32 id;
	u32 owner;
	u32 nr_players;
	u32 nr_edges;
	struct stape_edge *edges;
	struct stape_player __rcu **players;
	u64 *clocks;

	spinlock_t lock;	/* see above */
	struct list_head alive;
	u32 state;
	u32 joined;
	u32 done;
	u32 failed_pid;
	struct stape_tempo tempo;
	u64 start_time;
	u64 stop_time;

	atomic_t waiting;
	atomic64_t steps;
	atomic64_t timed_waits;
	atomic64_t lag_total;
	atomic64_t lag_max;
	struct delayed_work progress;
	u64 seen_steps;
	u32 seen_joined;
	u32 still;
	bool told;
};

struct netlink_ext_ack;

extern struct mutex stape_replays_lock;
extern struct list_head stape_replays;

struct stape_replay *stape_replay_create(struct stape_replay_setup __user *arg);
void stape_replay_abandon(struct stape_replay *replay);
struct stape_replay *stape_replay_find(u32 id);
int stape_replay_start(struct stape_replay *replay, u64 delay, struct netlink_ext_ack *extack);
int stape_replay_pause(struct stape_replay *replay, struct netlink_ext_ack *extack);
int stape_replay_set_speed(struct stape_replay *replay, u32 speed,
			   struct netlink_ext_ack *extack);
u64 stape_replay_time(struct stape_replay *replay);
int stape_replay_stop(struct stape_replay *replay, struct netlink_ext_ack *extack);
void stape_replay_finish(struct stape_replay *replay, u32 state);
void stape_replay_bury(struct stape_replay *replay);
void stape_replay_exit(void);

/* Players may join and step. */
static inline bool stape_replay_live(const struct stape_replay *replay)
{
	u32 state = READ_ONCE(replay->state);

	return state <= STAPE_REPLAY_RUNNING || state == STAPE_REPLAY_PAUSED;
}

/* The word behind the players' clocks. */
static inline void stape_replay_show_speed(struct stape_replay *replay, u32 speed)
{
	WRITE_ONCE(replay->clocks[replay->nr_players], speed);
}

#endif /* _STAPE_REPLAY_H */
