// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays and their states.  The controller makes a replay with STAPE_IOC_REPLAY and passes
 * its file to the players that it forks.  It starts and stops the replay through netlink.  If
 * the replay ends early (by a stop, or because the controller or a player has ended), its
 * players are killed: they have no data to lose, and half a workload is no replay.
 */
#include "replay/replay.h"

#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "base/account.h"
#include "base/memory.h"
#include "base/registry.h"
#include "base/work.h"
#include "record/attach.h"
#include "replay/internal.h"

#define STAPE_REPLAY_MAX_PLAYERS	BIT(22)
#define STAPE_REPLAY_MAX_EDGES		BIT(24)

struct stape_registry stape_replays = STAPE_REGISTRY_INIT(stape_replays);

static u64 stape_replay_bytes(const struct stape_replay *replay)
{
	return (u64)replay->nr_players * (sizeof(*replay->players) + sizeof(*replay->turns)) +
	       (u64)replay->nr_edges * sizeof(*replay->edges) +
	       stape_replay_clocks_size(replay->nr_players);
}

static void stape_replay_free_memory(struct stape_replay *replay)
{
	stape_memory_free(replay->clocks);
	stape_memory_free(replay->players);
	stape_memory_free(replay->turns);
	stape_memory_free(replay->edges);
	if (replay->memory)
		stape_account_uncharge(replay->account, replay->memory);
	stape_account_put(replay->account);
	kfree_rcu(replay, rcu);
}

static void stape_replay_free(struct kref *ref)
{
	struct stape_replay *replay = container_of(ref, struct stape_replay, entry.ref);

	/* A probe may still use a player that has been removed. */
	synchronize_rcu();
	cancel_delayed_work_sync(&replay->progress);
	stape_registry_remove(&stape_replays, &replay->entry);
	stape_mm_pin_release(replay, true);
	stape_watch_disable();
	stape_attach_put();
	stape_replay_free_memory(replay);
}

/**
 * stape_replay_put() - drop a reference
 * @replay: freed with the last one
 *
 * Context: may sleep.
 */
void stape_replay_put(struct stape_replay *replay)
{
	kref_put(&replay->entry.ref, stape_replay_free);
}

/* Players that are dealt with while preemption is off. */
#define STAPE_REPLAY_BATCH	64

/* Calls @func for each player that is alive, under the replay's lock.  May sleep in between. */
static void stape_replay_each_player(struct stape_replay *replay,
				     void (*func)(struct stape_player *player))
{
	struct stape_player *player;
	u32 n, end;

	for (n = 0; n < replay->nr_players; n = end) {
		end = min(n + STAPE_REPLAY_BATCH, replay->nr_players);
		spin_lock(&replay->lock);
		for (; n < end; n++) {
			player = rcu_dereference_protected(replay->players[n],
							   lockdep_is_held(&replay->lock));
			if (player)
				func(player);
		}
		spin_unlock(&replay->lock);
		cond_resched();
	}
}

/* Returns true if no player has joined or made a step since the last call. */
static bool stape_replay_is_idle(struct stape_replay *replay)
{
	u64 steps = atomic64_read(&replay->steps);
	bool idle;

	spin_lock(&replay->lock);
	idle = replay->state == STAPE_REPLAY_RUNNING && steps == replay->seen_steps &&
	       replay->joined == replay->seen_joined;
	replay->seen_steps = steps;
	replay->seen_joined = replay->joined;
	spin_unlock(&replay->lock);
	return idle;
}

static void stape_replay_count_waiting(struct stape_player *player)
{
	u32 edge = READ_ONCE(player->edge);

	if (edge != STAPE_NO_EDGE && !atomic_read(&player->replay->edges[edge].pending))
		player->replay->seen_waiting++;
}

/*
 * Returns true if each player waits for a wake-up that has not come.  A player that goes on while
 * others are counted has made a step before it waits again.
 */
static bool stape_replay_all_wait(struct stape_replay *replay)
{
	if (!stape_replay_is_idle(replay))
		return false;
	replay->seen_waiting = 0;
	stape_replay_each_player(replay, stape_replay_count_waiting);
	return stape_replay_is_idle(replay);
}

/*
 * Programs that a tape compiles to do not deadlock, because each wake-up has happened in the
 * recording.  Other programs may: then no player goes on.  A player that was forked and has not
 * joined yet is not in the table.  With all others waiting, it joins within so many seconds.
 */
#define STAPE_REPLAY_STUCK_SECONDS	3

/* So many seconds more while a process is on its way to its exit, where it wakes others. */
#define STAPE_REPLAY_LEAVE_SECONDS	10

static void stape_replay_check_stuck(struct stape_replay *replay)
{
	bool all_wait = stape_replay_all_wait(replay);
	u32 most = STAPE_REPLAY_STUCK_SECONDS;

	if (atomic_read(&replay->leaving))
		most += STAPE_REPLAY_LEAVE_SECONDS;
	spin_lock(&replay->lock);
	if (!all_wait || !replay->seen_waiting ||
	    replay->seen_waiting != replay->joined - replay->done)
		replay->idle_seconds = 0;
	else if (++replay->idle_seconds >= most)
		stape_replay_finish(replay, STAPE_REPLAY_STUCK);
	spin_unlock(&replay->lock);
}

/**
 * stape_replay_kill() - kill the players, after stape_replay_finish()
 * @replay: any replay; nothing happens if its players are to live
 *
 * @kills is set once and for all: no round follows in which players could join during the walk.
 *
 * Context: may sleep, without the replay's lock.
 */
void stape_replay_kill(struct stape_replay *replay)
{
	if (READ_ONCE(replay->kills))
		stape_replay_each_player(replay, stape_player_kill);
}

static void stape_replay_reap_player(struct stape_player *player)
{
	struct stape_replay *replay = player->replay;

	if (!READ_ONCE(player->gone))
		return;
	if (stape_replay_live(replay))
		replay->failed_pid = task_pid_nr(player->watch.task);
	stape_player_remove(player);
	stape_replay_finish(replay, STAPE_REPLAY_BROKEN);
}

/**
 * stape_replay_reap() - remove players that have ended before their programs' end
 * @replay: any replay
 *
 * @progress calls this soon after a player has ended, a request for the state at once.
 *
 * Context: may sleep, without the replay's lock.
 */
void stape_replay_reap(struct stape_replay *replay)
{
	if (atomic_read(&replay->gone))
		stape_replay_each_player(replay, stape_replay_reap_player);
	stape_replay_kill(replay);
}

/**
 * stape_replay_remove_players() - end a replay when the players' file is released
 * @replay: any replay
 *
 * No player can step any more, so players that are left cannot reach their programs' ends.
 *
 * Context: may sleep, without the replay's lock.
 */
void stape_replay_remove_players(struct stape_replay *replay)
{
	spin_lock(&replay->lock);
	if (replay->joined != replay->done)
		stape_replay_finish(replay, STAPE_REPLAY_BROKEN);
	spin_unlock(&replay->lock);
	stape_replay_kill(replay);
	stape_replay_each_player(replay, stape_player_remove);
}

static void stape_replay_progress(struct work_struct *work)
{
	struct stape_replay *replay = container_of(to_delayed_work(work), struct stape_replay,
						   progress);
	bool live, pinned, notify;

	stape_replay_reap(replay);
	stape_replay_check_stuck(replay);
	pinned = stape_mm_pin_release(replay, false);
	spin_lock(&replay->lock);
	live = stape_replay_live(replay);
	notify = !replay->notified;
	replay->notified = !live;
	spin_unlock(&replay->lock);
	if (notify)
		replay->notify(replay);
	if (live || pinned)
		queue_delayed_work(stape_work, &replay->progress, HZ);
}

/**
 * stape_replay_clocks_size() - get the size of the words that players map, in bytes
 * @nr_players: of the replay: a word for each, and one for the speed
 *
 * Context: any.
 */
u64 stape_replay_clocks_size(u32 nr_players)
{
	return PAGE_ALIGN((nr_players + 1ULL) * sizeof(u64));
}

/**
 * stape_replay_publish_speed() - write the word behind the players' clocks
 * @replay: any replay
 * @speed: the speed, or 0: the players wait until it goes on
 *
 * Context: under the replay's lock, if others know the replay.
 */
void stape_replay_publish_speed(struct stape_replay *replay, u32 speed)
{
	WRITE_ONCE(replay->clocks[replay->nr_players], speed);
}

/* Charges and allocates what players need.  What it has done at an error is undone later. */
static int stape_replay_alloc_memory(struct stape_replay *replay, u32 powers)
{
	u64 bytes = stape_replay_bytes(replay);
	int ret;

	ret = stape_account_charge(replay->account, bytes, powers, NULL);
	if (ret)
		return ret;
	replay->memory = bytes;
	replay->players = stape_memory_alloc(replay->nr_players, sizeof(*replay->players),
					     NUMA_NO_NODE);
	replay->turns = stape_memory_alloc(replay->nr_players, sizeof(*replay->turns),
					   NUMA_NO_NODE);
	replay->edges = stape_memory_alloc(replay->nr_edges, sizeof(*replay->edges), NUMA_NO_NODE);
	replay->clocks = stape_memory_alloc(stape_replay_clocks_size(replay->nr_players), 1,
					    NUMA_NO_NODE);
	return replay->players && replay->turns && replay->edges && replay->clocks ? 0 : -ENOMEM;
}

/**
 * stape_replay_alloc() - make a replay whose edges have no players yet
 * @setup: the caller's; only @nr_players, @nr_edges, @flags and @turns are used
 * @account: the user's, to which its memory is charged
 * @powers: of the caller: STAPE_ACCOUNT_EXEMPT
 * @notify: called from process context, every second and at the end
 *
 * Context: may sleep.
 * Return: the replay, with one reference, or an ERR_PTR().
 */
struct stape_replay *stape_replay_alloc(const struct stape_replay_setup *setup,
					struct stape_account *account, u32 powers,
					void (*notify)(struct stape_replay *replay))
{
	struct stape_replay *replay;
	int ret;

	if (!setup->nr_players || setup->nr_players > STAPE_REPLAY_MAX_PLAYERS ||
	    setup->nr_edges > STAPE_REPLAY_MAX_EDGES ||
	    setup->flags & ~STAPE_REPLAY_ROUNDS || setup->reserved)
		return ERR_PTR(-EINVAL);
	if ((setup->turns && setup->turns < setup->nr_players) || setup->turns > U32_MAX)
		return ERR_PTR(-EINVAL);
	replay = kzalloc(sizeof(*replay), GFP_KERNEL_ACCOUNT);
	if (!replay)
		return ERR_PTR(-ENOMEM);
	replay->nr_players = setup->nr_players;
	replay->nr_turns = setup->turns ?: setup->nr_players;
	replay->nr_edges = setup->nr_edges;
	replay->flags = setup->flags;
	replay->account = stape_account_ref(account);
	ret = stape_replay_alloc_memory(replay, powers);
	if (ret)
		goto err_memory;
	/* Before the probes are switched on, because this patches their code. */
	stape_watch_enable();
	ret = stape_attach_get();
	if (ret)
		goto err_probe;
	spin_lock_init(&replay->lock);
	INIT_LIST_HEAD(&replay->pins);
	INIT_DELAYED_WORK(&replay->progress, stape_replay_progress);
	replay->notify = notify;
	replay->timebase.speed = STAPE_REPLAY_SPEED_ONE;
	stape_replay_publish_speed(replay, replay->timebase.speed);
	replay->owner = task_tgid_nr(current);
	ret = stape_registry_add(&stape_replays, &replay->entry);
	if (ret)
		goto err_id;
	/* In the registry before this; pairs with the barrier in stape_stop_all_set(). */
	smp_mb();
	if (!stape_stop_all_is_set())
		return replay;
	stape_replay_put(replay);
	return ERR_PTR(-EPERM);

err_id:
	stape_attach_put();
err_probe:
	stape_watch_disable();
err_memory:
	stape_replay_free_memory(replay);
	return ERR_PTR(ret);
}

/* Returns the replay's time.  Under its lock. */
static u64 stape_replay_now(const struct stape_replay *replay, u64 now)
{
	if (replay->state != STAPE_REPLAY_RUNNING)
		return replay->timebase.replay_base;
	return stape_timebase_to_replay(&replay->timebase, now);
}

/* Stops the replay's time at @now.  Called before the state changes. */
static void stape_replay_freeze_time(struct stape_replay *replay, u64 now)
{
	replay->timebase.replay_base = stape_replay_now(replay, now);
	replay->timebase.mono_base = now;
}

/*
 * How long the notification of a replay's end waits for the exit of the last player, in jiffies:
 * at least one tick.  At once, worker and controller would run before that exit, and the last
 * task would end later than on the tape.
 */
#define STAPE_REPLAY_LAST_EXIT	2

/**
 * stape_replay_finish() - put a replay into a final state
 * @replay: any replay
 * @state: enum stape_replay_state beyond RUNNING
 *
 * Only the first call changes the state.  A replay that is stuck keeps its players, so that
 * they can be inspected, until the next call.
 *
 * Context: under the replay's lock.  The caller calls stape_replay_kill() when it has dropped the
 * lock, unless no player is alive.
 */
void stape_replay_finish(struct stape_replay *replay, u32 state)
{
	lockdep_assert_held(&replay->lock);
	if (stape_replay_live(replay)) {
		/* The start time may be still to come. */
		replay->stop_time = max(ktime_get_ns(), replay->start_time);
		stape_replay_freeze_time(replay, replay->stop_time);
		WRITE_ONCE(replay->state, state);
	} else if (replay->state != STAPE_REPLAY_STUCK) {
		return;
	}
	if (state == STAPE_REPLAY_STUCK)
		return;
	/* A replay that is done has no players, and players of the next round must live. */
	if (state != STAPE_REPLAY_DONE)
		WRITE_ONCE(replay->kills, true);
	mod_delayed_work(stape_work, &replay->progress,
			 state == STAPE_REPLAY_DONE ? STAPE_REPLAY_LAST_EXIT : 0);
}

/**
 * stape_replay_abandon() - end a replay whose session's file is released
 * @replay: the session's replay; the session's reference is dropped
 *
 * Context: may sleep.
 */
void stape_replay_abandon(struct stape_replay *replay)
{
	spin_lock(&replay->lock);
	stape_replay_finish(replay, STAPE_REPLAY_STOPPED);
	spin_unlock(&replay->lock);
	stape_replay_kill(replay);
	/* Notifies of the end, if that is still to come. */
	flush_delayed_work(&replay->progress);
	/*
	 * A pinned mm maps the replay's file.  It may also map the file of another replay, whose
	 * pinned mm maps this one's: without this, neither would be freed.
	 */
	stape_mm_pin_release(replay, true);
	stape_replay_put(replay);
}

/**
 * stape_replay_find() - find a replay by its number
 * @id: number in the netlink family
 *
 * Context: any.
 * Return: the replay, with a reference for stape_replay_put(); or NULL.
 */
struct stape_replay *stape_replay_find(u32 id)
{
	struct stape_entry *entry = stape_registry_find(&stape_replays, id);

	return entry ? container_of(entry, struct stape_replay, entry) : NULL;
}

/**
 * stape_replay_find_after() - find the next replay
 * @id: number of the last one, or 0
 *
 * Context: any.
 * Return: the replay with the lowest number above @id, as from stape_replay_find(); or NULL.
 */
struct stape_replay *stape_replay_find_after(u32 id)
{
	struct stape_entry *entry = stape_registry_find_after(&stape_replays, id);

	return entry ? container_of(entry, struct stape_replay, entry) : NULL;
}

static void stape_replay_rearm_player(struct stape_player *player)
{
	if (READ_ONCE(player->timed)) {
		stape_timer_disarm(player);
		/* If the timer has expired meanwhile, the wait is over. */
		if (player->replay->state == STAPE_REPLAY_RUNNING && !READ_ONCE(player->expired))
			stape_timer_arm(player);
	} else if (READ_ONCE(player->held)) {
		/* It goes on if the replay does. */
		wake_up_process(player->watch.task);
	}
}

/*
 * Adapts timed waits to the present state and timebase, after a change.  A wait that begins
 * meanwhile is right already.  If two changes come at a time, each adapts all waits to the later
 * one.
 */
static void stape_replay_rearm(struct stape_replay *replay)
{
	/* The state is stored before @held is loaded; pairs with stape_step_wait(). */
	smp_mb();
	stape_replay_each_player(replay, stape_replay_rearm_player);
}

/* Returns true between two rounds, or after the last one.  Under the replay's lock. */
static bool stape_replay_between_rounds(const struct stape_replay *replay)
{
	return replay->flags & STAPE_REPLAY_ROUNDS && replay->state == STAPE_REPLAY_DONE;
}

/**
 * stape_replay_time() - get the replay's time
 * @replay: any replay
 *
 * Context: any, without the replay's lock.
 * Return: ns; 0 before the start.
 */
u64 stape_replay_time(struct stape_replay *replay)
{
	u64 time;

	spin_lock(&replay->lock);
	time = stape_replay_now(replay, ktime_get_ns());
	spin_unlock(&replay->lock);
	return time;
}

/**
 * stape_replay_start() - set the start time, and start the timers
 * @replay: a replay that has not started, or is paused
 * @delay: ns from now on
 * @extack: returned: the reason, if this fails
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL.
 */
int stape_replay_start(struct stape_replay *replay, u64 delay, struct netlink_ext_ack *extack)
{
	u64 now = ktime_get_ns();
	int ret = 0;

	spin_lock(&replay->lock);
	if (replay->state != STAPE_REPLAY_READY && replay->state != STAPE_REPLAY_PAUSED) {
		NL_SET_ERR_MSG(extack, "the replay has started before");
		ret = -EINVAL;
		goto out;
	}
	replay->timebase.mono_base = now + delay;
	/* A replay that was paused before its start time gets another one. */
	if (!replay->timebase.replay_base)
		WRITE_ONCE(replay->start_time, replay->timebase.mono_base);
	if (replay->state == STAPE_REPLAY_READY)
		queue_delayed_work(stape_work, &replay->progress, HZ);
	WRITE_ONCE(replay->state, STAPE_REPLAY_RUNNING);
	stape_replay_publish_speed(replay, replay->timebase.speed);
out:
	spin_unlock(&replay->lock);
	if (!ret)
		stape_replay_rearm(replay);
	return ret;
}

/**
 * stape_replay_pause() - stop the replay's time, until stape_replay_start()
 * @replay: any replay
 * @extack: returned: the reason, if this fails
 *
 * Its players stop within a few us of CPU time.
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL.
 */
int stape_replay_pause(struct stape_replay *replay, struct netlink_ext_ack *extack)
{
	int ret = 0;

	spin_lock(&replay->lock);
	if (replay->state != STAPE_REPLAY_RUNNING) {
		NL_SET_ERR_MSG(extack, "the replay does not run");
		ret = -EINVAL;
		goto out;
	}
	stape_replay_freeze_time(replay, ktime_get_ns());
	WRITE_ONCE(replay->state, STAPE_REPLAY_PAUSED);
	stape_replay_publish_speed(replay, 0);
out:
	spin_unlock(&replay->lock);
	if (!ret)
		stape_replay_rearm(replay);
	return ret;
}

/**
 * stape_replay_set_speed() - let the replay's time pass faster or slower
 * @replay: any replay
 * @speed: millionths of the recorded speed, within the limits
 * @extack: returned: the reason, if this fails
 *
 * Context: may sleep.
 * Return: 0, or -EALREADY.
 */
int stape_replay_set_speed(struct stape_replay *replay, u32 speed, struct netlink_ext_ack *extack)
{
	u64 now = ktime_get_ns();
	int ret = 0;

	spin_lock(&replay->lock);
	if (stape_replay_between_rounds(replay)) {
		replay->timebase.speed = speed;
		goto out;
	}
	if (!stape_replay_live(replay)) {
		NL_SET_ERR_MSG(extack, "the replay has ended before");
		ret = -EALREADY;
		goto out;
	}
	/* A start time that is still to come does not change. */
	now = max(now, replay->timebase.mono_base);
	stape_replay_freeze_time(replay, now);
	replay->timebase.speed = speed;
	if (replay->state != STAPE_REPLAY_PAUSED)
		stape_replay_publish_speed(replay, speed);
out:
	spin_unlock(&replay->lock);
	if (!ret)
		stape_replay_rearm(replay);
	return ret;
}

/**
 * stape_replay_stop() - end a replay before the ends of its programs
 * @replay: any replay
 * @stopped_by: enum stape_stopped_by
 * @extack: returned: the reason, if this fails; may be NULL
 *
 * Between two rounds there are no players to kill: stape_rewind() fails then.
 *
 * Context: may sleep.
 * Return: 0, or -EALREADY.
 */
int stape_replay_stop(struct stape_replay *replay, u32 stopped_by,
		      struct netlink_ext_ack *extack)
{
	int ret = 0;

	spin_lock(&replay->lock);
	if (stape_replay_between_rounds(replay)) {
		WRITE_ONCE(replay->state, STAPE_REPLAY_STOPPED);
		replay->notified = false;
		mod_delayed_work(stape_work, &replay->progress, 0);
	} else if (!stape_replay_live(replay)) {
		NL_SET_ERR_MSG(extack, "the replay has ended before");
		ret = -EALREADY;
	}
	if (!ret)
		replay->stopped_by = stopped_by;
	stape_replay_finish(replay, STAPE_REPLAY_STOPPED);
	spin_unlock(&replay->lock);
	stape_replay_kill(replay);
	return ret;
}

/**
 * stape_replay_exit() - wait until all players have been freed, and all wake-ups at exits made
 *
 * Context: module exit; may sleep.
 */
void stape_replay_exit(void)
{
	/* stape_leave_wake() drops its reference before it returns, as an RCU reader. */
	synchronize_rcu();
	rcu_barrier();
}
