// SPDX-License-Identifier: GPL-2.0-only
/*
 * A waker meets its wakee.  In the recording the wakee slept when it was woken.
 * A waker that is ahead of it this time gives way: it runs behind the others on
 * this CPU, or looks on while those on other CPUs get there.  This invents no
 * sleep and no wake-up, and what it costs the waker its next bursts make up for.
 * It is no lock: for a wakee that does not come in time nobody waits, and it finds
 * the wake-up counted.
 */
#include "meet.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

#include "player.h"

/* CPU time that a waker gives even if its next bursts do not make up for it, ns. */
#define STAPE_MEET_FREE_NS	1000000

/* No burst makes up for more than that, ns. */
#define STAPE_MEET_SLACK_MAX_NS	NSEC_PER_SEC

/* Between two looks at a wakee on another CPU. */
#define STAPE_MEET_LOOK_US	2

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
 * @due: it comes after that, ns of CLOCK_MONOTONIC; 0: at any time
 */
struct stape_late {
	bool is;
	struct task_struct *task;
	u64 due;
};

/* Who is being woken on another CPU neither sleeps nor runs. */
static bool stape_meet_sleeps(const struct task_struct *task)
{
	return READ_ONCE(task->__state) & TASK_NORMAL;
}

/* It sleeps in its wait for a wake-up along that edge. */
static bool stape_meet_waits(const struct stape_player *player, u32 number)
{
	/* Pairs with the store of stape_player_wait_edge(): @slept and @next are of that wait. */
	return smp_load_acquire(&player->edge) == number && READ_ONCE(player->slept) &&
	       stape_meet_sleeps(player->task);
}

/*
 * The player itself, if it is not in the wait yet, or whoever it waits for, or gives way
 * to, directly or not.  Nobody comes if one of these waits for the caller, or for the
 * replay to go on.  Under RCU.
 */
static struct stape_late stape_meet_holder(struct stape_replay *replay,
					   struct stape_player *player, u32 number)
{
	struct stape_late late = { .is = true };
	unsigned int depth;
	u32 edge, meets, from;

	for (depth = 0; player && depth < STAPE_MEET_DEPTH; depth++) {
		if (player->task == current || READ_ONCE(player->held))
			return (struct stape_late){ 0 };
		if (stape_meet_waits(player, number))
			return (struct stape_late){ 0 };
		/* Pairs with the store of stape_player_wait_edge(). */
		edge = smp_load_acquire(&player->edge);
		meets = READ_ONCE(player->meets);
		if (meets != STAPE_NO_EDGE) {
			player = rcu_dereference(replay->players[replay->edges[meets].to]);
			continue;
		}
		/* Or it is about to sleep, and would not if it was woken now. */
		if (!stape_meet_sleeps(player->task) || edge == number) {
			late.task = get_task_struct(player->task);
			return late;
		}
		if (edge == STAPE_NO_EDGE) {
			if (READ_ONCE(player->timed))
				late.due = READ_ONCE(player->due);
			return late;
		}
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

/* How many players stape_meet_can_go() looks at. */
#define STAPE_MEET_AHEAD	16

/**
 * stape_meet_can_go() - would a player find those in their waits whom it wakes next?
 * @player: in a wait
 *
 * And would these find theirs: who is told of one wake-up does the next soon.
 *
 * Context: any.
 */
bool stape_meet_can_go(const struct stape_player *player)
{
	const struct stape_replay *replay = player->replay;
	const struct stape_player *goes[STAPE_MEET_AHEAD] = { player };
	const struct stape_player *wakee;
	u32 at, i, number, n = 1;
	bool can = true;

	rcu_read_lock();
	for (at = 0; at < n && can; at++) {
		for (i = 0; i < READ_ONCE(goes[at]->nr_next) && can; i++) {
			number = READ_ONCE(goes[at]->next[i]);
			wakee = rcu_dereference(replay->players[replay->edges[number].to]);
			/* Who has not come yet, or is done, may never come. */
			if (!wakee)
				continue;
			can = stape_meet_waits(wakee, number);
			if (n < ARRAY_SIZE(goes))
				goes[n++] = wakee;
		}
	}
	rcu_read_unlock();
	return can;
}

/* The caller's own CPU time since it joined. */
static u64 stape_meet_runtime(const struct stape_player *self)
{
	u64 runtime;

	/* A switch in between would count what others have used. */
	preempt_disable();
	runtime = READ_ONCE(self->runtime) + ktime_get_mono_fast_ns() - READ_ONCE(self->since);
	preempt_enable();
	return runtime;
}

static unsigned long stape_meet_switches(void)
{
	return READ_ONCE(current->nvcsw) + READ_ONCE(current->nivcsw);
}

/* Lets @task run, or NULL, anybody. */
static void stape_meet_give_way(struct task_struct *task)
{
	unsigned long switches = stape_meet_switches();

	/*
	 * yield() is what is meant: any other player may be the one that the
	 * wakee waits for.  The caller's limits see to it that this ends.
	 */
	if (!task || yield_to(task, true) <= 0)
		yield();
	/* Each try takes locks of the CPU that is waited for. */
	if (stape_meet_switches() == switches)
		udelay(STAPE_MEET_LOOK_US);
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
	/* Pairs with the load of stape_player_is_lowered(). */
	smp_store_release(&self->lowered, true);
	smp_wmb();	/* before the priority; pairs with stape_task_nice() */
	set_user_nice(current, MAX_NICE);
}

static void stape_meet_raise(struct stape_player *self)
{
	if (!self->lowered)
		return;
	/* Somebody else may have changed it meanwhile. */
	if (task_nice(current) == MAX_NICE)
		set_user_nice(current, self->nice);
	/* Behind the priority; pairs with stape_task_nice(). */
	smp_store_release(&self->lowered, false);
}

/* A realtime task lets only those of its priority run on its CPU. */
static bool stape_meet_is_in_vain(const struct stape_late *late)
{
	if (!rt_task(current))
		return false;
	return !late->task || (task_cpu(late->task) == task_cpu(current) &&
			       READ_ONCE(late->task->prio) > current->prio);
}

static bool stape_meet_is_worth_it(const struct stape_meeting *meeting,
				   const struct stape_player *self,
				   const struct stape_late *late)
{
	u64 now = stape_meet_runtime(self), spent = now - meeting->start, left = 0;

	if (signal_pending(current) || time_after_eq(jiffies, meeting->end) ||
	    stape_meet_is_in_vain(late))
		return false;
	if (spent < STAPE_MEET_FREE_NS)
		left = STAPE_MEET_FREE_NS - spent;
	if (meeting->paid > now + left && !rt_task(current))
		left = meeting->paid - now;
	return left && late->due <= ktime_get_mono_fast_ns() + left;
}

/**
 * stape_meet_begin() - the caller is about to wake others
 * @self: the caller's
 * @slack: CPU time that its next bursts make up for, ns
 *
 * Context: a player, in a step.
 * Return: what stape_meet() needs to know, for all of them.
 */
struct stape_meeting stape_meet_begin(const struct stape_player *self, u64 slack)
{
	u64 now = stape_meet_runtime(self);

	return (struct stape_meeting){
		.start = now,
		.paid = now + min_t(u64, slack, STAPE_MEET_SLACK_MAX_NS),
		.end = jiffies + STAPE_MEET_WAIT,
	};
}

/* One look, and one turn for others.  Return: it is worth another. */
static bool stape_meet_once(struct stape_replay *replay, struct stape_player *self, u32 number,
			    const struct stape_meeting *meeting, bool first)
{
	struct stape_late late = stape_meet_late(replay, number);
	bool worth_it = late.is && stape_meet_is_worth_it(meeting, self, &late);

	if (worth_it && !first)
		stape_meet_lower(self, &late);
	if (worth_it)
		stape_meet_give_way(late.task);
	if (late.task)
		put_task_struct(late.task);
	return worth_it;
}

/**
 * stape_meet() - let the wakee get to its wait
 * @replay: a running replay
 * @self: the caller's
 * @number: the edge along which it is about to wake
 * @meeting: of stape_meet_begin()
 *
 * Context: a player, in a step; may sleep.
 */
void stape_meet(struct stape_replay *replay, struct stape_player *self, u32 number,
		const struct stape_meeting *meeting)
{
	bool first = true;

	/* Who yields a deadline gives up all that is left of its period. */
	if (current->policy == SCHED_DEADLINE)
		return;
	WRITE_ONCE(self->meets, number);
	while (stape_meet_once(replay, self, number, meeting, first))
		first = false;
	WRITE_ONCE(self->meets, STAPE_NO_EDGE);
	stape_meet_raise(self);
}
