// SPDX-License-Identifier: GPL-2.0-only
/*
 * A replay's time, and the timers of timed waits.  They stand for external wake-ups, so they fire
 * in a hard interrupt.
 */
#include "replay/internal.h"

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

/* The longest time for a timer.  Longer times are cut to it, so that sums do not overflow. */
#define STAPE_TIMEBASE_MAX	(KTIME_MAX / 4)

static u64 stape_timebase_scale(u64 ns, u32 mul, u32 div)
{
	if (div_u64(ns, div) >= div_u64(STAPE_TIMEBASE_MAX, mul))
		return STAPE_TIMEBASE_MAX;
	return mul_u64_u64_div_u64(ns, mul, div);
}

/**
 * stape_timebase_to_replay() - convert a time of CLOCK_MONOTONIC to the replay's time
 * @timebase: of a replay that runs
 * @mono: ns of CLOCK_MONOTONIC
 *
 * Context: any.
 * Return: ns of the replay's time.
 */
u64 stape_timebase_to_replay(const struct stape_timebase *timebase, u64 mono)
{
	if (mono <= timebase->mono_base)
		return timebase->replay_base;
	return timebase->replay_base +
	       stape_timebase_scale(mono - timebase->mono_base, timebase->speed,
				    STAPE_REPLAY_SPEED_ONE);
}

/**
 * stape_timebase_to_mono() - convert a replay's time to CLOCK_MONOTONIC
 * @timebase: of a replay that runs
 * @time: ns of the replay's time
 *
 * Context: any.
 * Return: ns of CLOCK_MONOTONIC.
 */
u64 stape_timebase_to_mono(const struct stape_timebase *timebase, u64 time)
{
	u64 since;

	if (time >= timebase->replay_base)
		return timebase->mono_base +
		       stape_timebase_scale(time - timebase->replay_base, STAPE_REPLAY_SPEED_ONE,
					    timebase->speed);
	since = stape_timebase_scale(timebase->replay_base - time, STAPE_REPLAY_SPEED_ONE,
				     timebase->speed);
	return timebase->mono_base - min(since, timebase->mono_base);
}

/*
 * A timer is deferred until the players that its player wakes next are in their waits.  In all, a
 * player's timers are deferred by at most 50 ms plus 1/32 of the time since the start.  If that
 * is not enough, those players lack CPU time, and deferring more would make the load smaller
 * than recorded.
 *
 * A deferred timer looks again after STAPE_TIMER_DEFER_NS.  Two looks of a replay have
 * STAPE_TIMER_LOOK_NS in between, so the number of interrupts does not grow with the number of
 * players.  A timer that had to be deferred by more than STAPE_TIMER_DEFER_MAX_NS fires, because
 * its player would sleep for too long after its wakees have come to their waits.
 */
#define STAPE_TIMER_DEFER_NS		250000
#define STAPE_TIMER_DEFER_MAX_NS	8000000
#define STAPE_TIMER_LOOK_NS		50000
#define STAPE_TIMER_DEFER_START_NS	50000000
#define STAPE_TIMER_DEFER_SHIFT		5

/* Returns by how much a timer may be deferred now, ns. */
static u64 stape_timer_defer_max(const struct stape_player *player, u64 now)
{
	u64 since_start = now - READ_ONCE(player->replay->start_time);
	u64 all = STAPE_TIMER_DEFER_START_NS + (since_start >> STAPE_TIMER_DEFER_SHIFT);

	if (player->deferred >= all)
		return 0;
	return min_t(u64, all - player->deferred, STAPE_TIMER_DEFER_MAX_NS);
}

/*
 * Sets a timer again, from its callback, if its wakees are late.  It looks after all other deferred
 * timers of the replay.  Returns whether it has been set.
 */
static bool stape_timer_defer(struct stape_player *player)
{
	u64 now = ktime_get_ns(), until = now + stape_timer_defer_max(player, now), look;
	s64 last = atomic64_read(&player->replay->last_look);

	if (until < now + STAPE_TIMER_DEFER_NS || stape_rendezvous_wakees_wait(player))
		return false;
	do {
		look = max_t(u64, now + STAPE_TIMER_DEFER_NS, last + STAPE_TIMER_LOOK_NS);
		if (look > until)
			return false;
	} while (!atomic64_try_cmpxchg(&player->replay->last_look, &last, look));
	player->deferred += look - now;
	/* While the callback runs, no other code starts the timer: see stape_timer_disarm(). */
	hrtimer_set_expires(&player->timer, ns_to_ktime(look));
	return true;
}

static enum hrtimer_restart stape_timer_fire(struct hrtimer *timer)
{
	struct stape_player *player = container_of(timer, struct stape_player, timer);

	if (stape_timer_defer(player))
		return HRTIMER_RESTART;
	/*
	 * wake_up_process() orders this store before its load of the task's state.  The release
	 * pairs with stape_step_is_ready().
	 */
	smp_store_release(&player->expired, true);
	wake_up_process(player->watch.task);
	return HRTIMER_NORESTART;
}

/**
 * stape_timer_init() - prepare a player's timer
 * @player: no other task can find it yet
 *
 * Context: any.
 */
void stape_timer_init(struct stape_player *player)
{
	hrtimer_setup(&player->timer, stape_timer_fire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
}

/**
 * stape_timer_arm() - start the timer of a timed wait
 * @player: in a timed wait, or about to begin one; its replay runs
 *
 * The timer is not active, and its callback does not run, or is about to end.
 *
 * Context: under the replay's lock.
 */
void stape_timer_arm(struct stape_player *player)
{
	const struct stape_timebase *timebase = &player->replay->timebase;
	u64 expires, now = ktime_get_ns();

	player->due = stape_timebase_to_mono(timebase, player->until);
	player->missed = player->due <= now;
	expires = player->due;
	if (player->missed)
		expires = now + READ_ONCE(player->min_sleep);
	WRITE_ONCE(player->expires, expires);
	/* Hard, on PREEMPT_RT too, because an external wake-up comes from an interrupt. */
	hrtimer_start(&player->timer, ns_to_ktime(expires), HRTIMER_MODE_ABS_HARD);
}

/**
 * stape_timer_disarm() - stop the timer of a timed wait
 * @player: in a timed wait
 *
 * Context: under the replay's lock.
 */
void stape_timer_disarm(struct stape_player *player)
{
	WRITE_ONCE(player->expires, U64_MAX);
	/* Waits for the callback, which may be about to restart the timer. */
	hrtimer_cancel(&player->timer);
}
