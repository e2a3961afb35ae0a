// SPDX-License-Identifier: GPL-2.0-only
/*
 * A waker meets its wakee.  In the recording the wakee slept when it was woken.
 * A waker that is ahead of it this time gives way: it runs behind the others on
 * this CPU, or looks on while those on other CPUs get there.  This invents no
 * sleep and no wake-up, and what it costs the waker its next burst makes up for.
 * It is no lock: for a wakee in a wait for an instant, or for one that does not
 * come in time, nobody waits, and it finds the wake-up counted.
 */
#include "meet.h"

#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

#include "player.h"

/*
 * CPU time that a waker gives, ns: more while it makes others run, because then
 * nobody else loses it.
 */
#define STAPE_MEET_YIELD_NS	1000000
#define STAPE_MEET_LOOK_NS	50000

/*
 * Nor does it wait longer than that, jiffies.  Dozens of others may each have some ms of turns
 * to do first on one CPU: a tenth of it was too little for hackbench with 80 processes.
 */
#define STAPE_MEET_WAIT	HZ

/* So far does a waker look for the one who holds its wakee up. */
#define STAPE_MEET_DEPTH	8

/**
 * struct stape_late - a wakee that is not in its wait
 * @is: there is one, and it is on its way
 * @task: who is to run for that; NULL: nobody knows.  Referenced
 */
struct stape_late {
	bool is;
	struct task_struct *task;
};

/*
 * The player itself, if it is not in the wait yet, or whoever it waits for, directly or
 * not.  Nobody comes soon if one of these waits for an instant, or for the caller.
 * Under RCU.
 */
static struct stape_late stape_meet_holder(struct stape_replay *replay,
					   struct stape_player *player, u32 number)
{
	struct stape_late late = { .is = true };
	unsigned int depth;
	u32 edge, from;

	for (depth = 0; player && depth < STAPE_MEET_DEPTH; depth++) {
		if (player->task == current)
			return (struct stape_late){ 0 };
		edge = READ_ONCE(player->edge);
		if (task_is_running(player->task)) {
			late.task = get_task_struct(player->task);
			return late;
		}
		if (edge == STAPE_NO_EDGE || edge == number)
			return (struct stape_late){ 0 };
		from = replay->edges[edge].from;
		if (from == STAPE_NO_PLAYER)
			break;
		player = rcu_dereference(replay->players[from]);
	}
	return late;
}

static struct stape_late stape_meet_late(struct stape_replay *replay, u32 number)
{
	u32 to = replay->edges[number].to;
	struct stape_late late = { 0 };
	struct stape_player *player;

	rcu_read_lock();
	player = rcu_dereference(replay->players[to]);
	if (player)
		late = stape_meet_holder(replay, player, number);
	else
		/* Who has never joined is about to: its fork came before this wake-up. */
		late.is = !READ_ONCE(replay->clocks[to]);
	rcu_read_unlock();
	return late;
}

/* The caller's own CPU time since it joined. */
static u64 stape_meet_runtime(const struct stape_player *self)
{
	return READ_ONCE(self->runtime) + ktime_get_mono_fast_ns() - READ_ONCE(self->since);
}

static unsigned long stape_meet_switches(void)
{
	return READ_ONCE(current->nvcsw) + READ_ONCE(current->nivcsw);
}

/* Lets @task run, or NULL, anybody.  Return: somebody has run. */
static bool stape_meet_give_way(struct task_struct *task)
{
	unsigned long switches = stape_meet_switches();

	/*
	 * yield() is what is meant: any other player may be the one that the
	 * wakee waits for.  The caller's limits see to it that this ends.
	 */
	if (!task)
		yield();
	else if (yield_to(task, true) <= 0)
		cpu_relax();
	return stape_meet_switches() != switches;
}

/*
 * Those that the wakee waits for may need many turns, and between any two of them the
 * caller, who has had too little CPU time so far, would be next.  With next to no weight
 * the time that it needs to see that counts for so much that it comes behind them all.
 */
static void stape_meet_lower(struct stape_player *self, const struct stape_late *late)
{
	int nice = task_nice(current);

	if (self->lowered || nice == MAX_NICE)
		return;
	if (current->policy != SCHED_NORMAL && current->policy != SCHED_BATCH)
		return;
	if (late->task && task_cpu(late->task) != task_cpu(current))
		return;
	WRITE_ONCE(self->nice, nice);
	WRITE_ONCE(self->lowered, true);
	set_user_nice(current, MAX_NICE);
}

static void stape_meet_raise(struct stape_player *self)
{
	if (!self->lowered)
		return;
	/* Somebody else may have changed it meanwhile. */
	if (task_nice(current) == MAX_NICE)
		set_user_nice(current, self->nice);
	WRITE_ONCE(self->lowered, false);
}

/**
 * stape_meet() - let the wakee get to its wait
 * @replay: a running replay
 * @self: the caller's
 * @number: the edge along which it is about to wake
 *
 * Context: a player, in a step; may sleep.
 */
void stape_meet(struct stape_replay *replay, struct stape_player *self, u32 number)
{
	u64 start = stape_meet_runtime(self), switched = start, now = start;
	unsigned long end = jiffies + STAPE_MEET_WAIT;
	struct stape_late late;
	u32 rounds;

	/* Who yields a deadline gives up all that is left of its period. */
	if (current->policy == SCHED_DEADLINE)
		return;
	for (rounds = 0; !signal_pending(current) && now - start < STAPE_MEET_YIELD_NS &&
	     now - switched < STAPE_MEET_LOOK_NS && time_before(jiffies, end); rounds++) {
		late = stape_meet_late(replay, number);
		if (!late.is)
			break;
		if (rounds)
			stape_meet_lower(self, &late);
		now = stape_meet_runtime(self);
		if (stape_meet_give_way(late.task))
			switched = now;
		if (late.task)
			put_task_struct(late.task);
	}
	stape_meet_raise(self);
}
