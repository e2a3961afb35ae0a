// SPDX-License-Identifier: GPL-2.0-only
/*
 * Players: between two stretches of CPU time a player makes one step: it
 * wakes others along edges and waits, for an edge or for an instant.
 *
 * A wake-up along an edge is counted, and the counts of different edges are
 * apart: each wait takes the wake-up that it took in the recording, whoever
 * comes first this time, and none is lost or invented.
 */
#include "replay/player.h"

#include <linux/hashtable.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "base/work.h"
#include "replay/mm_pin.h"
#include "replay/rendezvous.h"

/*
 * On while there are replays: then the switch probe looks for players.  And for a
 * while after that, because the kernel's code is patched each time.
 */
DEFINE_STATIC_KEY_DEFERRED_FALSE(stape_players_key, 10 * HZ);

/* All players by task: read by the switch probe, changed under the lock. */
static DEFINE_HASHTABLE(stape_players, 14);
static DEFINE_RAW_SPINLOCK(stape_players_lock);

/* For RCU readers. */
static struct stape_player *stape_player_find(const struct task_struct *task)
{
	struct stape_player *player;

	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "a probe looks for players without RCU");
	hash_for_each_possible_rcu_notrace(stape_players, player, hash, (unsigned long)task)
		if (player->task == task)
			return player;
	return NULL;
}

/**
 * stape_player_switch() - account CPU time to players
 * @prev: switched out
 * @next: switched in
 * @sleeps: @prev does
 *
 * The same instants of the same clock that a tape has, so that a player's
 * CPU time means what the recorded task's does.  The kernel's own clock of a
 * task does not: it charges part of a wake-up to the task that was woken.
 *
 * Context: the switch probe: interrupts off, runqueue lock.
 */
void stape_player_switch(struct task_struct *prev, struct task_struct *next, bool sleeps)
{
	u64 now = ktime_get_mono_fast_ns();
	struct stape_player *player;

	player = stape_player_find(prev);
	if (player) {
		WRITE_ONCE(player->runtime, player->runtime + now - player->since);
		if (sleeps) {
			WRITE_ONCE(player->slept, true);
			stape_meet_tell(player);
		}
	}
	player = stape_player_find(next);
	if (player) {
		WRITE_ONCE(player->since, now);
		WRITE_ONCE(*player->clock, now - player->runtime);
	}
}

/**
 * stape_player_gone() - a task ends, or becomes another program
 * @task: any task
 *
 * Who has come to the end of its program is no player any more.
 *
 * Context: the probes of that.
 */
void stape_player_gone(const struct task_struct *task)
{
	struct stape_player *player;

	rcu_read_lock();
	player = stape_player_find(task);
	if (player) {
		WRITE_ONCE(player->gone, true);
		mod_delayed_work(stape_work, &player->replay->progress, 0);
	}
	rcu_read_unlock();
}

/**
 * stape_player_is_lowered() - has a task another nice value than its own just now?
 * @task: any task
 * @nice: its own, then; or NULL
 *
 * Context: any.
 */
bool stape_player_is_lowered(const struct task_struct *task, int *nice)
{
	struct stape_player *player;
	bool lowered;

	if (!stape_player_exist())
		return false;
	rcu_read_lock();
	player = stape_player_find(task);
	/* Pairs with the store of stape_meet_lower(): @nice is of then. */
	lowered = player && smp_load_acquire(&player->lowered);
	if (lowered && nice)
		*nice = READ_ONCE(player->nice);
	rcu_read_unlock();
	return lowered;
}

static bool stape_player_is_one(const struct task_struct *task)
{
	bool found;

	rcu_read_lock();
	found = stape_player_find(task);
	rcu_read_unlock();
	return found;
}

/* The calling task's time counts from here on. */
static void stape_player_hash(struct stape_player *player)
{
	unsigned long flags;

	/* No switch may come between the look at the clock and the table. */
	raw_spin_lock_irqsave(&stape_players_lock, flags);
	player->since = ktime_get_mono_fast_ns();
	WRITE_ONCE(*player->clock, player->since);
	hash_add_rcu(stape_players, &player->hash, (unsigned long)player->task);
	raw_spin_unlock_irqrestore(&stape_players_lock, flags);
}

static void stape_player_unhash(struct stape_player *player)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&stape_players_lock, flags);
	hash_del_rcu(&player->hash);
	raw_spin_unlock_irqrestore(&stape_players_lock, flags);
}

/*
 * A player that is late sleeps nevertheless, as its task did: so many ns, or, if the
 * timer was faster than the sleep, four times as long, and again.  What a try costs is
 * CPU time of the player's: the next begins with little less than what was enough.
 */
#define STAPE_PLAYER_NAP_NS	10000
#define STAPE_PLAYER_NAP_MAX_NS	640000U
#define STAPE_PLAYER_NAPS	6

/*
 * The outside world waits until those whom it sets going can be woken, for so many ns
 * at a time.  It may be late by a small part of the time since the start, and some ms
 * at once: if that is not enough, they do not come for want of CPU time, and the load
 * is not to fall for that.
 */
#define STAPE_PLAYER_PUT_OFF_NS		250000
#define STAPE_PLAYER_PUT_OFF_START_NS	50000000
#define STAPE_PLAYER_PUT_OFF_SHIFT	5

static bool stape_player_puts_off(const struct stape_player *player, u64 now)
{
	u64 since_start = now - READ_ONCE(player->replay->start_time);

	return player->put_off < STAPE_PLAYER_PUT_OFF_START_NS +
				 (since_start >> STAPE_PLAYER_PUT_OFF_SHIFT) &&
	       !stape_meet_can_go(player);
}

static enum hrtimer_restart stape_player_timer(struct hrtimer *timer)
{
	struct stape_player *player = container_of(timer, struct stape_player, timer);
	u64 now = ktime_get_ns();

	if (stape_player_puts_off(player, now)) {
		/* Nobody else starts a timer whose callback runs: see stape_player_arm(). */
		hrtimer_forward(timer, ns_to_ktime(now), ns_to_ktime(STAPE_PLAYER_PUT_OFF_NS));
		player->put_off += ktime_to_ns(hrtimer_get_expires(timer)) - now;
		return HRTIMER_RESTART;
	}
	/* Ordered before the look at the task's state by the wake-up itself. */
	WRITE_ONCE(player->expired, true);
	wake_up_process(player->task);
	return HRTIMER_NORESTART;
}

/**
 * stape_player_arm() - let a wait's timer run
 * @replay: a running replay
 * @player: waits for an instant, or is about to
 *
 * Context: under the replay's lock.
 */
void stape_player_arm(struct stape_replay *replay, struct stape_player *player)
{
	u64 due = stape_tempo_due(&replay->tempo, player->until), now = ktime_get_ns();

	/* It may be there and be just about to start itself again. */
	hrtimer_cancel(&player->timer);
	player->late = due <= now;
	if (player->late)
		due = now + READ_ONCE(player->nap);
	WRITE_ONCE(player->due, due);
	/* Hard, on PREEMPT_RT too: the outside world is an interrupt. */
	hrtimer_start(&player->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_HARD);
}

/**
 * stape_player_disarm() - let a wait's timer stand
 * @player: waits for an instant
 *
 * Context: under the replay's lock.
 */
void stape_player_disarm(struct stape_player *player)
{
	WRITE_ONCE(player->due, U64_MAX);
	hrtimer_cancel(&player->timer);
}

/**
 * stape_player_join() - make the calling thread a player
 * @replay: its replay
 * @number: the player's number in the program
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no such player, -EBUSY: it has joined before, or the
 * caller is one already,
 * -ECANCELED: the replay has ended, -ENOMEM.
 */
int stape_player_join(struct stape_replay *replay, u32 number)
{
	struct stape_player *player;
	int ret;

	if (number >= replay->nr_players)
		return -EINVAL;
	number = array_index_nospec(number, replay->nr_players);
	ret = stape_keep(replay);
	if (ret)
		return ret;
	player = kzalloc(sizeof(*player), GFP_KERNEL_ACCOUNT);
	if (!player)
		return -ENOMEM;
	player->replay = replay;
	player->task = get_task_struct(current);
	player->exec_id = READ_ONCE(current->self_exec_id);
	player->number = number;
	player->edge = STAPE_NO_EDGE;
	stape_meet_init(player);
	player->nap = STAPE_PLAYER_NAP_NS;
	player->clock = &replay->clocks[number];
	hrtimer_setup(&player->timer, stape_player_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);

	spin_lock(&replay->lock);
	ret = -ECANCELED;
	if (!stape_replay_live(replay))
		goto err_unlock;
	/* Each number once, and each thread one number. */
	ret = -EBUSY;
	if (READ_ONCE(replay->clocks[number]) || stape_player_is_one(current))
		goto err_unlock;
	rcu_assign_pointer(replay->players[number], player);
	list_add_tail(&player->alive, &replay->alive);
	replay->joined++;
	stape_player_hash(player);
	spin_unlock(&replay->lock);
	return 0;

err_unlock:
	spin_unlock(&replay->lock);
	put_task_struct(player->task);
	kfree(player);
	return ret;
}

static void stape_player_free(struct rcu_head *rcu)
{
	struct stape_player *player = container_of(rcu, struct stape_player, rcu);

	put_task_struct(player->task);
	kfree(player);
}

/**
 * stape_player_kill() - end a player's process
 * @player: the player
 *
 * What it has executed since it joined may be more than who started the replay
 * may kill.
 *
 * Context: under the replay's lock.
 */
void stape_player_kill(const struct stape_player *player)
{
	if (READ_ONCE(player->task->self_exec_id) == player->exec_id)
		send_sig(SIGKILL, player->task, 1);
}

/**
 * stape_player_remove() - take a player out of its replay
 * @replay: the replay
 * @player: not in a wait
 *
 * Context: under the replay's lock.
 */
void stape_player_remove(struct stape_replay *replay, struct stape_player *player)
{
	lockdep_assert_held(&replay->lock);
	RCU_INIT_POINTER(replay->players[player->number], NULL);
	list_del(&player->alive);
	stape_player_unhash(player);
	call_rcu(&player->rcu, stape_player_free);
}

static void stape_player_wake(struct stape_replay *replay, struct stape_player *self, u32 number,
			      struct stape_meeting *meeting)
{
	struct stape_edge *edge = &replay->edges[number];
	struct stape_player *player;

	stape_meet(replay, self, number, meeting);
	atomic_inc(&edge->pending);
	/* Pairs with set_current_state() in stape_player_wait(). */
	smp_mb__after_atomic();
	rcu_read_lock();
	player = rcu_dereference(replay->players[edge->to]);
	/* Who waits for something else is not to be disturbed. */
	if (player && READ_ONCE(player->edge) == number)
		wake_up_process(player->task);
	rcu_read_unlock();
}

static int stape_player_wake_all(struct stape_replay *replay, struct stape_player *self,
				 const struct stape_step *step)
{
	const u32 __user *from = u64_to_user_ptr(step->wakes);
	struct stape_meeting meeting;
	u32 edges[STAPE_STEP_MAX_WAKES + STAPE_STEP_MAX_NEXT];
	u32 i, n;

	if (step->nr_wakes > STAPE_STEP_MAX_WAKES || step->nr_next > STAPE_STEP_MAX_NEXT)
		return -E2BIG;
	n = step->nr_wakes + step->nr_next;
	if (copy_from_user(edges, from, n * sizeof(*edges)))
		return -EFAULT;
	for (i = 0; i < n; i++)
		if (edges[i] >= replay->nr_edges)
			return -EINVAL;
	for (i = 0; i < step->nr_next; i++)
		WRITE_ONCE(self->next[i], array_index_nospec(edges[step->nr_wakes + i],
							     replay->nr_edges));
	WRITE_ONCE(self->nr_next, step->nr_next);
	meeting = stape_meet_begin(self, step->slack);
	for (i = 0; i < step->nr_wakes; i++)
		stape_player_wake(replay, self, array_index_nospec(edges[i], replay->nr_edges),
				  &meeting);
	stape_meet_end(self, &meeting);
	return 0;
}

static bool stape_player_ready(struct stape_replay *replay, struct stape_player *player)
{
	if (player->held)
		return READ_ONCE(replay->state) != STAPE_REPLAY_PAUSED;
	if (player->edge == STAPE_NO_EDGE)
		return READ_ONCE(player->expired);
	return atomic_dec_if_positive(&replay->edges[player->edge].pending) >= 0;
}

/* Such a wait may be long, and does not keep the machine from being suspended. */
#define STAPE_PLAYER_BLOCKED	(TASK_KILLABLE | TASK_FREEZABLE)

static bool stape_player_signalled(unsigned int state)
{
	return state & TASK_WAKEKILL ? fatal_signal_pending(current) : signal_pending(current);
}

/* @state: TASK_INTERRUPTIBLE, or STAPE_PLAYER_BLOCKED for a wait that is seen as D. */
static int stape_player_wait(struct stape_replay *replay, struct stape_player *player,
			     unsigned int state)
{
	int ret = 0;

	atomic_inc(&replay->waiting);
	for (;;) {
		/* Full barrier: pairs with the wakers' between count and look. */
		set_current_state(state);
		if (stape_player_ready(replay, player))
			break;
		ret = stape_replay_live(replay) ? 0 : -ECANCELED;
		if (!ret && stape_player_signalled(state))
			ret = -ERESTARTSYS;
		if (ret)
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	atomic_dec(&replay->waiting);
	return ret;
}

static int stape_player_wait_edge(struct stape_replay *replay, struct stape_player *player,
				  u64 edge, unsigned int state)
{
	int ret;

	WRITE_ONCE(player->slept, false);
	/* Pairs with the load of stape_meet_holder(). */
	smp_store_release(&player->edge, edge);
	ret = stape_player_wait(replay, player, state);
	WRITE_ONCE(player->edge, STAPE_NO_EDGE);
	return ret;
}

static void stape_player_count_lag(struct stape_replay *replay, struct stape_player *player,
				   s64 lag)
{
	s64 max = atomic64_read(&replay->lag_max);

	lag = max_t(s64, lag, 0);
	WRITE_ONCE(player->timed_waits, player->timed_waits + 1);
	WRITE_ONCE(player->lag_total, player->lag_total + lag);
	WRITE_ONCE(player->lag_max, max_t(u64, player->lag_max, lag));
	atomic64_inc(&replay->timed_waits);
	atomic64_add(lag, &replay->lag_total);
	while (lag > max && !atomic64_try_cmpxchg(&replay->lag_max, &max, lag))
		;
}

/*
 * Until @player->until, or if that has passed, for a nap.  *@slept: long enough to sleep;
 * *@lag: by how much it ended late, ns.
 */
static int stape_player_wait_once(struct stape_replay *replay, struct stape_player *player,
				  unsigned int state, bool *slept, s64 *lag)
{
	int ret;

	player->expired = false;
	spin_lock(&replay->lock);
	WRITE_ONCE(player->due, U64_MAX);
	/* Before the start, and in a pause, stape_replay_start() arms it. */
	WRITE_ONCE(player->timed, true);
	if (replay->state == STAPE_REPLAY_RUNNING)
		stape_player_arm(replay, player);
	spin_unlock(&replay->lock);

	/* On PREEMPT_RT the lock may have been a sleep, before and behind the wait. */
	WRITE_ONCE(player->slept, false);
	ret = stape_player_wait(replay, player, state);
	*slept = READ_ONCE(player->slept);

	spin_lock(&replay->lock);
	WRITE_ONCE(player->timed, false);
	*lag = ktime_get_ns() - stape_tempo_due(&replay->tempo, player->until);
	spin_unlock(&replay->lock);
	hrtimer_cancel(&player->timer);
	return ret;
}

static int stape_player_wait_timed(struct stape_replay *replay, struct stape_player *player,
				   unsigned int state)
{
	u32 nap = player->nap - (player->nap - STAPE_PLAYER_NAP_NS) / 16;
	bool slept = false;
	int ret = 0, i;
	s64 lag = 0;

	for (i = 0; i < STAPE_PLAYER_NAPS && !ret && !slept; i++) {
		if (i && player->late)
			nap = min(4 * nap, STAPE_PLAYER_NAP_MAX_NS);
		WRITE_ONCE(player->nap, nap);
		ret = stape_player_wait_once(replay, player, state, &slept, &lag);
	}
	if (!ret)
		stape_player_count_lag(replay, player, lag);
	return ret;
}

static void stape_player_done(struct stape_replay *replay, struct stape_player *player)
{
	spin_lock(&replay->lock);
	stape_player_remove(replay, player);
	if (++replay->done == replay->nr_players)
		stape_replay_finish(replay, STAPE_REPLAY_DONE);
	spin_unlock(&replay->lock);
}

/* The caller's player: it cannot go while its own thread is here. */
static struct stape_player *stape_player_self(struct stape_replay *replay, u32 number)
{
	struct stape_player *player = NULL;

	if (number >= replay->nr_players)
		return NULL;
	number = array_index_nospec(number, replay->nr_players);
	rcu_read_lock();
	player = rcu_dereference(replay->players[number]);
	/* What it has executed may come here, too, and be buried at the same time. */
	if (player && (player->task != current || READ_ONCE(player->gone)))
		player = NULL;
	rcu_read_unlock();
	return player;
}

static bool stape_player_step_is_valid(const struct stape_replay *replay,
				       const struct stape_step *step)
{
	if (step->flags & ~STAPE_STEP_BLOCKED || step->reserved)
		return false;
	switch (step->wait) {
	case STAPE_WAIT_NONE:
	case STAPE_WAIT_DONE:
		return !step->value && !step->flags;
	case STAPE_WAIT_EDGE:
		return step->value < replay->nr_edges &&
		       replay->edges[step->value].to == step->player;
	case STAPE_WAIT_UNTIL:
	case STAPE_WAIT_FOR:
		return step->value <= KTIME_MAX / 4;
	}
	return false;
}

/* The end of a wait that begins now, ns of the replay's time. */
static u64 stape_player_until(struct stape_replay *replay, const struct stape_step *step)
{
	if (step->wait != STAPE_WAIT_FOR)
		return step->value;
	return stape_replay_time(replay) + step->value;
}

/**
 * stape_player_step() - wake others, then wait
 * @replay: the caller's
 * @step: what to do
 *
 * Context: may sleep.
 * Return: 0; -ESRCH: the caller is not that player, -EINVAL, -E2BIG, -EFAULT:
 * the step is wrong, and nothing was done; -ECANCELED: the replay has ended;
 * -ERESTARTSYS: a signal, the step goes on when it is repeated.
 */
int stape_player_step(struct stape_replay *replay, const struct stape_step *step)
{
	struct stape_player *player = stape_player_self(replay, step->player);
	unsigned int state;
	int ret;

	if (!player)
		return -ESRCH;
	if (!stape_player_step_is_valid(replay, step))
		return -EINVAL;
	if (!stape_replay_live(replay))
		return -ECANCELED;
	if (step->index == player->steps) {
		ret = stape_player_wake_all(replay, player, step);
		if (ret)
			return ret;
		WRITE_ONCE(player->steps, player->steps + 1);
		player->until = stape_player_until(replay, step);
		atomic64_inc(&replay->steps);
	} else if (step->index + 1 != player->steps) {
		return -EINVAL;
	}

	state = step->flags & STAPE_STEP_BLOCKED ? STAPE_PLAYER_BLOCKED : TASK_INTERRUPTIBLE;
	switch (step->wait) {
	case STAPE_WAIT_EDGE:
		return stape_player_wait_edge(replay, player,
					      array_index_nospec(step->value, replay->nr_edges),
					      state);
	case STAPE_WAIT_UNTIL:
	case STAPE_WAIT_FOR:
		return stape_player_wait_timed(replay, player, state);
	case STAPE_WAIT_DONE:
		stape_player_done(replay, player);
		break;
	}
	return 0;
}

/**
 * stape_player_hold() - wait until the replay goes on
 * @replay: the caller's
 * @number: its number
 *
 * Context: may sleep.
 * Return: 0; -ESRCH: the caller is not that player; -ECANCELED: the replay has
 * ended; -ERESTARTSYS: a signal.
 */
int stape_player_hold(struct stape_replay *replay, u32 number)
{
	struct stape_player *player = stape_player_self(replay, number);
	int ret;

	if (!player)
		return -ESRCH;
	WRITE_ONCE(player->held, true);
	ret = stape_player_wait(replay, player, TASK_INTERRUPTIBLE);
	WRITE_ONCE(player->held, false);
	return ret;
}
