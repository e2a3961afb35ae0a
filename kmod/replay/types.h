/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects that the files in replay/ share: replays, their edges and their players.
 */
#ifndef _STAPE_REPLAY_TYPES_H
#define _STAPE_REPLAY_TYPES_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <schedtape/device.h>
#include <schedtape/netlink.h>

#include "base/registry.h"
#include "record/watch.h"

#define STAPE_NO_EDGE		U32_MAX
#define STAPE_NO_PLAYER		U32_MAX

/**
 * struct stape_timebase - maps CLOCK_MONOTONIC to a replay's time
 * @mono_base: ns of CLOCK_MONOTONIC
 * @replay_base: the replay's time at @mono_base, ns
 * @speed: how fast the replay's time passes, in millionths of CLOCK_MONOTONIC
 *
 * A replay's time is 0 at its start, and does not pass while the replay is paused.
 */
struct stape_timebase {
	u64 mono_base;
	u64 replay_base;
	u32 speed;
};

/**
 * struct stape_edge - one pair of a waker and a wakee
 * @pending: wake-ups along this edge that no wait has taken yet
 * @to: the player that it wakes
 * @from: the player that wakes; STAPE_NO_PLAYER: the controller has not given it.  A wait may
 *	change it: read without a lock, as a hint
 */
struct stape_edge {
	atomic_t pending;
	u32 to;
	u32 from;
};

/**
 * struct stape_player - the kernel's side of one player thread
 * @watch: watches the thread, references it, and counts its CPU time
 * @rcu: frees it when no waker reads it any more
 * @replay: its replay, which outlives it
 * @exec_id: self_exec_id of the thread when it joined.  A thread that has executed a program
 *	since then is no player
 * @gone: the thread ends, or has executed a program
 * @number: its number in the replay
 * @turn: players that have had its number before
 * @edge: the edge that it waits for; STAPE_NO_EDGE: none
 * @wakee_edge: the edge along which it is about to wake; STAPE_NO_EDGE: none
 * @next_edges: edges along which it wakes after its wait, @nr_next_edges of them
 * @steps: steps whose wake-ups are done
 * @timer: ends a timed wait
 * @expired: @timer has fired
 * @timed: it is in a timed wait
 * @held: it waits until the replay goes on
 * @parked: it sleeps in a rendezvous until its wakee waits; changed under @park_lock
 * @park_lock: taken inside the runqueue locks
 * @unpark: wakes it when it is parked
 * @slept: it has slept since its last wait began, see stape_watch_switch()
 * @until: when its timed wait ends, ns of the replay's time
 * @due: the same, ns of CLOCK_MONOTONIC, when @timer was started
 * @min_sleep: length of a timed wait whose end has passed before it begins, ns
 * @debt: CPU time that it gave to others and that no burst has made up for yet, ns
 * @missed: the end of its timed wait had passed when @timer was started
 * @expires: when @timer fires first, ns of CLOCK_MONOTONIC; U64_MAX: the replay does not run
 * @deferred: by how much its timers have been deferred so far, see timer.c, ns
 * @timed_waits: timed waits that have ended
 * @lag_total, @lag_max: ns by which they ended late
 *
 * Other tasks read @gone, @edge, @wakee_edge, @next_edges, @nr_next_edges, @timed, @held,
 * @parked, @slept, @expires and @watch's @niced and @nice without a lock.
 */
struct stape_player {
	struct stape_watch watch;
	struct rcu_head rcu;
	struct stape_replay *replay;
	u64 exec_id;
	bool gone;
	u32 number;
	u32 turn;
	u32 edge;
	u32 wakee_edge;
	u32 next_edges[STAPE_STEP_MAX_NEXT];
	u32 nr_next_edges;
	u64 steps;
	struct hrtimer timer;
	bool expired;
	bool timed;
	bool held;
	bool parked;
	raw_spinlock_t park_lock;	/* see above */
	struct irq_work unpark;
	bool slept;
	u64 until;
	u64 due;
	u32 min_sleep;
	u64 debt;
	bool missed;
	u64 expires;
	u64 deferred;
	u64 timed_waits;
	u64 lag_total;
	u64 lag_max;
};

/**
 * struct stape_replay - one replay, from STAPE_IOC_REPLAY until its files are released
 * @entry: in stape_replays; references: one for the session, one for the players' file, and one
 *	of each request
 * @rcu: frees it, because a request may be looking at @entry
 * @account: its user's
 * @memory: bytes charged to @account
 * @owner: PID of the process that made it
 * @flags: STAPE_REPLAY_ROUNDS
 * @nr_players: numbers of players that the controller has announced
 * @nr_turns: players that there are in all, if numbers are used again
 * @nr_edges: entries of @edges
 * @edges: the edges
 * @players: players that are alive, by number; read under RCU
 * @turns: by number: players that have ended their program
 * @clocks: the @clock of each player's @watch by number, mapped by the players.  One more word
 *	has the speed, 0 while the replay is paused
 * @lock: protects @state, @stopped_by, @timebase, @joined, @done, @kills, @rewinds, @failed_pid,
 *	@notified and the stores to @players and @turns; interrupts stay on, because no interrupt
 *	takes it
 * @state: enum stape_replay_state
 * @stopped_by: enum stape_stopped_by
 * @joined: players that have joined so far
 * @done: players that have ended their program
 * @kills: it has ended too early: players that are left are killed, and no round follows
 * @rewinds: a call of stape_rewind() resets it
 * @failed_pid: PID of the player that ended too early
 * @timebase: maps times, from the first change of @state to RUNNING on
 * @start_time: ns of CLOCK_MONOTONIC, from the first change of @state to RUNNING on
 * @stop_time: ns of CLOCK_MONOTONIC
 * @last_look: when the last of the deferred timers looks again, see timer.c, ns of CLOCK_MONOTONIC
 * @pins: pins of its players' mms, @nr_pins of them; under the lock of mm_pin.c
 * @gone: players that are @gone and have not been removed yet
 * @leaving: processes that have ended their programs, and will wake others when they exit
 * @waiting: players in a wait
 * @parked: players that are @parked
 * @steps: steps of all players
 * @timed_waits: timed waits that have ended
 * @lag_total: ns by which they ended late
 * @lag_max: ns, the largest of them
 * @notify: notifies the netlink group of the replay's state, from process context
 * @progress: checks the replay, and calls @notify, every second and at the end
 * @seen_steps, @seen_joined: @steps and @joined when @progress ran last
 * @seen_waiting: players that @progress has found in a wait for a wake-up that has not come
 * @idle_seconds: how often in a row @progress has found that no player went on
 * @notified: the netlink group has been notified of the end
 */
struct stape_replay {
	struct stape_entry entry;
	struct rcu_head rcu;
	struct stape_account *account;
	u64 memory;
	u32 owner;
	u32 flags;
	u32 nr_players;
	u32 nr_turns;
	u32 nr_edges;
	struct stape_edge *edges;
	struct stape_player __rcu **players;
	u32 *turns;
	u64 *clocks;

	spinlock_t lock;	/* see above */
	u32 state;
	u32 stopped_by;
	u32 joined;
	u32 done;
	bool kills;
	bool rewinds;
	u32 failed_pid;
	struct stape_timebase timebase;
	u64 start_time;
	u64 stop_time;

	atomic64_t last_look;
	struct list_head pins;
	u32 nr_pins;
	atomic_t gone;
	atomic_t leaving;
	atomic_t waiting;
	atomic_t parked;
	atomic64_t steps;
	atomic64_t timed_waits;
	atomic64_t lag_total;
	atomic64_t lag_max;
	void (*notify)(struct stape_replay *replay);
	struct delayed_work progress;
	u64 seen_steps;
	u32 seen_joined;
	u32 seen_waiting;
	u32 idle_seconds;
	bool notified;
};

/* Returns true while players may join and step. */
static inline bool stape_replay_live(const struct stape_replay *replay)
{
	u32 state = READ_ONCE(replay->state);

	return state <= STAPE_REPLAY_RUNNING || state == STAPE_REPLAY_PAUSED;
}

#endif /* _STAPE_REPLAY_TYPES_H */
