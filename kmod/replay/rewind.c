// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rounds: a replay that is done begins anew, with its number and its speed.
 */
#include "replay/replay.h"

#include <linux/sched.h>
#include <linux/string.h>
#include <linux/wait_bit.h>

#include "base/work.h"

/* Edges, or turns, that are reset at a time. */
#define STAPE_REWIND_BATCH	65536

static void stape_rewind_edges(struct stape_replay *replay)
{
	u32 i;

	for (i = 0; i < replay->nr_edges; i++) {
		atomic_set(&replay->edges[i].pending, 0);
		if (!(i % STAPE_REWIND_BATCH))
			cond_resched();
	}
}

static void stape_rewind_turns(struct stape_replay *replay)
{
	u32 i, n;

	for (i = 0; i < replay->nr_players; i += n) {
		n = min_t(u32, replay->nr_players - i, STAPE_REWIND_BATCH);
		memset(&replay->turns[i], 0, n * sizeof(*replay->turns));
		cond_resched();
	}
}

/* Lets no second caller in, and no player: the state stays DONE. */
static int stape_rewind_begin(struct stape_replay *replay)
{
	int ret = 0;

	spin_lock(&replay->lock);
	if (replay->state == STAPE_REPLAY_STOPPED)
		ret = -ECANCELED;
	else if (!(replay->flags & STAPE_REPLAY_ROUNDS))
		ret = -EINVAL;
	else if (replay->state != STAPE_REPLAY_DONE || replay->rewinds)
		ret = -EBUSY;
	else
		replay->rewinds = true;
	spin_unlock(&replay->lock);
	return ret;
}

static void stape_rewind_counts(struct stape_replay *replay)
{
	lockdep_assert_held(&replay->lock);
	replay->joined = 0;
	replay->done = 0;
	replay->failed_pid = 0;
	replay->start_time = 0;
	replay->stop_time = 0;
	replay->timebase.replay_base = 0;
	replay->timebase.mono_base = 0;
	replay->notified = false;
	replay->seen_steps = 0;
	replay->seen_joined = 0;
	replay->idle_seconds = 0;
	atomic64_set(&replay->steps, 0);
	atomic64_set(&replay->timed_waits, 0);
	atomic64_set(&replay->lag_total, 0);
	atomic64_set(&replay->lag_max, 0);
}

/* @ret: 0, or an error, after which the replay stays as it is.  Returns 0 or an error. */
static int stape_rewind_finish(struct stape_replay *replay, int ret)
{
	spin_lock(&replay->lock);
	replay->rewinds = false;
	if (!ret && replay->state != STAPE_REPLAY_DONE)
		ret = -ECANCELED;
	if (!ret) {
		stape_rewind_counts(replay);
		stape_replay_publish_speed(replay, replay->timebase.speed);
		WRITE_ONCE(replay->state, STAPE_REPLAY_READY);
	}
	spin_unlock(&replay->lock);
	return ret;
}

/**
 * stape_rewind() - begin the next round of a replay
 * @replay: a replay with STAPE_REPLAY_ROUNDS whose players have all ended their programs
 *
 * A replay that is done has no players: each has removed itself in its last step.  So nothing
 * uses edges and turns until the state is READY again and players join.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: it has one round; -EBUSY: it is not done; -ECANCELED: it was stopped;
 * -ERESTARTSYS: a fatal signal.
 */
int stape_rewind(struct stape_replay *replay)
{
	int ret = stape_rewind_begin(replay);

	if (ret)
		return ret;
	/* A wake-up of this round must not come in the next one. */
	ret = wait_var_event_killable(&replay->leaving, !atomic_read(&replay->leaving));
	if (ret)
		return stape_rewind_finish(replay, ret);
	/* Notifies of the end of this round, if that is still to come. */
	flush_delayed_work(&replay->progress);
	stape_rewind_edges(replay);
	stape_rewind_turns(replay);
	return stape_rewind_finish(replay, 0);
}
