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

/* Not in the wait yet, but on its way, or waiting for another player. */
static bool stape_meet_comes(const struct stape_player *player, u32 number)
{
	u32 edge = READ_ONCE(player->edge);

	if (task_is_running(player->task))
		return true;
	return edge != number && edge != STAPE_NO_EDGE;
}

/**
 * struct stape_late - a wakee that is not in its wait
 * @is: there is one
 * @task: who has it run; NULL: it has not joined yet.  Referenced
 */
struct stape_late {
	bool is;
	struct task_struct *task;
};

static struct stape_late stape_meet_late(struct stape_replay *replay, u32 number)
{
	u32 to = replay->edges[number].to;
	struct stape_late late = { 0 };
	struct stape_player *player;

	rcu_read_lock();
	player = rcu_dereference(replay->players[to]);
	if (player) {
		late.is = stape_meet_comes(player, number);
		if (late.is)
			late.task = get_task_struct(player->task);
	} else {
		/* Who has never joined is about to: its fork came before this wake-up. */
		late.is = !READ_ONCE(replay->clocks[to]);
	}
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

/* Lets the wakee run, or those whom the wakee waits for.  Return: it did. */
static bool stape_meet_give_way(struct task_struct *wakee)
{
	unsigned long switches = stape_meet_switches();

	/*
	 * yield() is what is meant: any other player may be the one that the
	 * wakee waits for.  The caller's limits see to it that this ends.
	 */
	if (!wakee || !task_is_running(wakee))
		yield();
	else if (yield_to(wakee, true) <= 0)
		cpu_relax();
	return stape_meet_switches() != switches;
}

/**
 * stape_meet() - let the wakee get to its wait
 * @replay: a running replay
 * @self: the caller's
 * @number: the edge along which it is about to wake
 *
 * Context: a player, in a step.
 */
void stape_meet(struct stape_replay *replay, const struct stape_player *self, u32 number)
{
	u64 start = stape_meet_runtime(self), switched = start, now = start;
	struct stape_late late;

	/* Who yields a deadline gives up all that is left of its period. */
	if (current->policy == SCHED_DEADLINE)
		return;
	while (!signal_pending(current) && now - start < STAPE_MEET_YIELD_NS &&
	       now - switched < STAPE_MEET_LOOK_NS) {
		late = stape_meet_late(replay, number);
		if (!late.is)
			break;
		now = stape_meet_runtime(self);
		if (stape_meet_give_way(late.task))
			switched = now;
		if (late.task)
			put_task_struct(late.task);
	}
}
