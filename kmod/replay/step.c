// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps: between two bursts a player makes one step: it wakes others along edges, then waits
 * for an edge or until a time.
 *
 * Wake-ups are counted per edge.  So each wait takes the wake-up that it took in the
 * recording, in whatever order the wake-ups come, and no wake-up is lost or added.
 */
#include "replay/internal.h"

#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "replay/replay.h"

static_assert(sizeof(struct stape_step) == 56);
static_assert(offsetof(struct stape_step, value) == 32);
static_assert(offsetof(struct stape_step, slack) == 40);
static_assert(offsetof(struct stape_step, nr_next) == 48);

/*
 * A player that is late sleeps nevertheless, as its task did, at first for MIN_SLEEP_NS.  If the
 * timer fires before it sleeps, it tries again with four times as much.  Each try costs CPU time
 * of the player, so its next late wait begins with a little less than was enough.
 */
#define STAPE_STEP_MIN_SLEEP_NS		10000
#define STAPE_STEP_MIN_SLEEP_MAX_NS	640000U
#define STAPE_STEP_TRIES		6

static void stape_step_on_sleep(struct stape_watch *watch)
{
	struct stape_player *player = container_of(watch, struct stape_player, watch);

	WRITE_ONCE(player->slept, true);
	stape_rendezvous_unpark_wakers(player);
}

static void stape_step_on_exit(struct stape_watch *watch)
{
	stape_player_gone(container_of(watch, struct stape_player, watch));
}

static const struct stape_watch_ops stape_step_watch_ops = {
	.on_sleep = stape_step_on_sleep,
	.on_exit = stape_step_on_exit,
};

/*
 * Waits until @turn players with that number have ended.  They ended in the recording before this
 * one began, so this seldom sleeps.  Timers end the sleeps, because a wake-up by a player would
 * be an edge.
 */
static int stape_step_wait_turn(struct stape_replay *replay, u32 number, u32 turn)
{
	int ret = 0;

	if (READ_ONCE(replay->turns[number]) >= turn)
		return 0;
	atomic_inc(&replay->waiting);
	while (!ret && READ_ONCE(replay->turns[number]) < turn) {
		schedule_timeout_interruptible(1);
		ret = stape_replay_live(replay) ? 0 : -ECANCELED;
		if (!ret && signal_pending(current))
			ret = -ERESTARTSYS;
	}
	atomic_dec(&replay->waiting);
	return ret;
}

/**
 * stape_step_join() - make the calling thread a player
 * @replay: its replay
 * @number: the player's number in the replay
 * @turn: how many players with that number end before this one joins
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no such player; -EBUSY: it has joined before, or the caller is a player
 * already; -ECANCELED: the replay has ended; -ENOMEM; -ERESTARTSYS: a signal.
 */
int stape_step_join(struct stape_replay *replay, u32 number, u32 turn)
{
	struct stape_player *player;
	int ret;

	if (number >= replay->nr_players)
		return -EINVAL;
	number = array_index_nospec(number, replay->nr_players);
	stape_leave_at_once();
	ret = stape_step_wait_turn(replay, number, turn);
	if (!ret)
		ret = stape_mm_pin(replay);
	if (ret)
		return ret;
	player = stape_player_alloc(replay, number, turn);
	if (!player)
		return -ENOMEM;
	player->watch.ops = &stape_step_watch_ops;
	player->min_sleep = STAPE_STEP_MIN_SLEEP_NS;
	stape_rendezvous_init(player);
	stape_timer_init(player);
	ret = stape_player_add(player);
	if (ret)
		stape_player_free(player);
	return ret;
}

/*
 * Wakes along the edges of a step, and takes those of the step after it.  Makes all rendezvous
 * first if the wake-ups come at the exit.  A function of its own, because the kernel clears arrays
 * on the stack, and most steps wake nobody.
 */
static noinline int stape_step_wake_edges(struct file *file, struct stape_player *self,
					  const struct stape_step *step)
{
	struct stape_replay *replay = self->replay;
	const u32 __user *from = u64_to_user_ptr(step->wakes);
	struct stape_rendezvous_budget budget;
	u32 edges[STAPE_STEP_MAX_WAKES + STAPE_STEP_MAX_NEXT];
	u32 i, n = step->nr_wakes + step->nr_next;
	bool exits;

	if (copy_from_user(edges, from, n * sizeof(*edges)))
		return -EFAULT;
	for (i = 0; i < n; i++) {
		if (edges[i] >= replay->nr_edges)
			return -EINVAL;
		edges[i] = array_index_nospec(edges[i], replay->nr_edges);
	}
	for (i = 0; i < step->nr_next; i++)
		WRITE_ONCE(self->next_edges[i], edges[step->nr_wakes + i]);
	WRITE_ONCE(self->nr_next_edges, step->nr_next);
	if (!step->nr_wakes)
		return 0;
	budget = stape_rendezvous_begin(self, step->slack);
	exits = step->wait == STAPE_WAIT_DONE && stape_leave_at_exit(file, edges, step->nr_wakes);
	for (i = 0; i < step->nr_wakes; i++) {
		stape_rendezvous(replay, self, edges[i], &budget);
		if (!exits)
			stape_player_wake(replay, edges[i]);
	}
	stape_rendezvous_end(self, &budget);
	return 0;
}

static int stape_step_wake_all(struct file *file, struct stape_player *self,
			       const struct stape_step *step)
{
	if (step->nr_wakes > STAPE_STEP_MAX_WAKES || step->nr_next > STAPE_STEP_MAX_NEXT)
		return -E2BIG;
	if (step->nr_wakes || step->nr_next)
		return stape_step_wake_edges(file, self, step);
	WRITE_ONCE(self->nr_next_edges, 0);
	return 0;
}

static bool stape_step_is_ready(struct stape_replay *replay, struct stape_player *player)
{
	if (player->held)
		return READ_ONCE(replay->state) != STAPE_REPLAY_PAUSED;
	if (player->edge == STAPE_NO_EDGE)
		/* Pairs with the release in stape_timer_fire(): @due is read after this. */
		return smp_load_acquire(&player->expired);
	return atomic_dec_if_positive(&replay->edges[player->edge].pending) >= 0;
}

/* A blocked wait may be long, and must not keep the machine from being suspended. */
#define STAPE_STEP_STATE_BLOCKED	(TASK_KILLABLE | TASK_FREEZABLE)

static bool stape_step_is_signalled(unsigned int state)
{
	return state & TASK_WAKEKILL ? fatal_signal_pending(current) : signal_pending(current);
}

/* Sleeps in @state: TASK_INTERRUPTIBLE, or STAPE_STEP_STATE_BLOCKED, which ps shows as D. */
static int stape_step_wait(struct stape_replay *replay, struct stape_player *player,
			   unsigned int state)
{
	int ret = 0;

	atomic_inc(&replay->waiting);
	for (;;) {
		/* Pairs with stape_player_wake(), between its count and its load of @edge. */
		set_current_state(state);
		if (stape_step_is_ready(replay, player))
			break;
		ret = stape_replay_live(replay) ? 0 : -ECANCELED;
		if (!ret && stape_step_is_signalled(state))
			ret = -ERESTARTSYS;
		if (ret)
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	atomic_dec(&replay->waiting);
	return ret;
}

static int stape_step_wait_edge(struct stape_replay *replay, struct stape_player *player,
				u64 value, unsigned int state)
{
	u32 number = array_index_nospec(lower_32_bits(value), replay->nr_edges);
	struct stape_edge *edge = &replay->edges[number];
	u32 from = upper_32_bits(value);
	int ret;

	if (from && edge->from != from - 1)
		WRITE_ONCE(edge->from, array_index_nospec(from - 1, replay->nr_players));
	WRITE_ONCE(player->slept, false);
	/* Pairs with the acquire in stape_rendezvous_find_holder(). */
	smp_store_release(&player->edge, number);
	ret = stape_step_wait(replay, player, state);
	WRITE_ONCE(player->edge, STAPE_NO_EDGE);
	return ret;
}

static void stape_step_count_lag(struct stape_replay *replay, struct stape_player *player,
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
 * Waits until @player->until, or for @player->min_sleep if that time has passed.  Returns in
 * *@slept whether the player slept, and in *@lag by how many ns the wait ended late.
 */
static int stape_step_wait_once(struct stape_replay *replay, struct stape_player *player,
				unsigned int state, bool *slept, s64 *lag)
{
	int ret;

	spin_lock(&replay->lock);
	WRITE_ONCE(player->expired, false);
	WRITE_ONCE(player->expires, U64_MAX);
	/* Before the start, and in a pause, stape_replay_start() arms the timer later. */
	WRITE_ONCE(player->timed, true);
	if (replay->state == STAPE_REPLAY_RUNNING)
		stape_timer_arm(player);
	spin_unlock(&replay->lock);

	/* Outside of the locks, because on PREEMPT_RT taking them may sleep. */
	WRITE_ONCE(player->slept, false);
	ret = stape_step_wait(replay, player, state);
	*slept = READ_ONCE(player->slept);
	*lag = (*slept ? READ_ONCE(player->watch.since) : ktime_get_ns()) - player->due;
	/*
	 * The timer has fired, and will not be started again: see stape_replay_rearm_player().  Its
	 * callback has woken the player already, and does not do so in the next wait.
	 */
	if (likely(*slept && READ_ONCE(player->expired))) {
		WRITE_ONCE(player->timed, false);
		return ret;
	}
	spin_lock(&replay->lock);
	WRITE_ONCE(player->timed, false);
	spin_unlock(&replay->lock);
	hrtimer_cancel(&player->timer);
	return ret;
}

static int stape_step_wait_timed(struct stape_replay *replay, struct stape_player *player,
				 unsigned int state)
{
	u32 sleep = player->min_sleep - (player->min_sleep - STAPE_STEP_MIN_SLEEP_NS) / 16;
	bool slept = false;
	int ret = 0, i;
	s64 lag = 0;

	for (i = 0; i < STAPE_STEP_TRIES && !ret && !slept; i++) {
		if (i && player->missed)
			sleep = min(4 * sleep, STAPE_STEP_MIN_SLEEP_MAX_NS);
		WRITE_ONCE(player->min_sleep, sleep);
		ret = stape_step_wait_once(replay, player, state, &slept, &lag);
	}
	if (!ret)
		stape_step_count_lag(replay, player, lag);
	return ret;
}

static void stape_step_finish(struct stape_replay *replay, struct stape_player *player)
{
	spin_lock(&replay->lock);
	stape_player_remove(player);
	WRITE_ONCE(replay->turns[player->number], player->turn + 1);
	if (++replay->done == replay->nr_turns)
		stape_replay_finish(replay, STAPE_REPLAY_DONE);
	spin_unlock(&replay->lock);
}

static bool stape_step_is_valid(const struct stape_replay *replay,
				const struct stape_step *step)
{
	u64 edge;

	if (step->flags & ~STAPE_STEP_BLOCKED || step->reserved)
		return false;
	switch (step->wait) {
	case STAPE_WAIT_NONE:
	case STAPE_WAIT_DONE:
		return !step->value && !step->flags;
	case STAPE_WAIT_EDGE:
		edge = lower_32_bits(step->value);
		if (edge >= replay->nr_edges || upper_32_bits(step->value) > replay->nr_players)
			return false;
		edge = array_index_nospec(edge, replay->nr_edges);
		return replay->edges[edge].to == step->player;
	case STAPE_WAIT_UNTIL:
	case STAPE_WAIT_FOR:
		return step->value <= KTIME_MAX / 4;
	}
	return false;
}

/* Returns the end of a wait that begins now, ns of the replay's time. */
static u64 stape_step_until(struct stape_replay *replay, const struct stape_step *step)
{
	if (step->wait != STAPE_WAIT_FOR)
		return step->value;
	return stape_replay_time(replay) + step->value;
}

/**
 * stape_step() - wake others, then wait
 * @file: the players' file of the caller's replay
 * @step: what to do
 *
 * Context: may sleep.
 * Return: 0; -ESRCH: the caller is not that player, -EINVAL, -E2BIG, -EFAULT:
 * the step is wrong, and nothing was done; -ECANCELED: the replay has ended;
 * -ERESTARTSYS: a signal; the step goes on when the caller repeats it.
 */
int stape_step(struct file *file, const struct stape_step *step)
{
	struct stape_replay *replay = file->private_data;
	struct stape_player *player = stape_player_self(replay, step->player);
	unsigned int state;
	int ret;

	if (!player)
		return -ESRCH;
	if (!stape_step_is_valid(replay, step))
		return -EINVAL;
	if (!stape_replay_live(replay))
		return -ECANCELED;
	if (step->index == player->steps) {
		ret = stape_step_wake_all(file, player, step);
		if (ret)
			return ret;
		WRITE_ONCE(player->steps, player->steps + 1);
		player->until = stape_step_until(replay, step);
		atomic64_inc(&replay->steps);
	} else if (step->index + 1 != player->steps) {
		return -EINVAL;
	}

	state = step->flags & STAPE_STEP_BLOCKED ? STAPE_STEP_STATE_BLOCKED : TASK_INTERRUPTIBLE;
	switch (step->wait) {
	case STAPE_WAIT_EDGE:
		return stape_step_wait_edge(replay, player, step->value, state);
	case STAPE_WAIT_UNTIL:
	case STAPE_WAIT_FOR:
		return stape_step_wait_timed(replay, player, state);
	case STAPE_WAIT_DONE:
		stape_step_finish(replay, player);
		break;
	}
	return 0;
}

/**
 * stape_step_hold() - wait until the replay goes on
 * @replay: the caller's replay
 * @number: the caller's number in the replay
 *
 * Context: may sleep.
 * Return: 0; -ESRCH: the caller is not that player; -ECANCELED: the replay has
 * ended; -ERESTARTSYS: a signal.
 */
int stape_step_hold(struct stape_replay *replay, u32 number)
{
	struct stape_player *player = stape_player_self(replay, number);
	int ret;

	if (!player)
		return -ESRCH;
	WRITE_ONCE(player->held, true);
	ret = stape_step_wait(replay, player, TASK_INTERRUPTIBLE);
	WRITE_ONCE(player->held, false);
	return ret;
}
