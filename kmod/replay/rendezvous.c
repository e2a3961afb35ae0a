// SPDX-License-Identifier: GPL-2.0-only
/*
 * A waker meets its wakee.  In the recording the wakee slept when it was woken.
 * A waker that is ahead of it this time gives way: it runs behind the others on
 * this CPU, or looks on while those on other CPUs get there.  This invents no
 * sleep and no wake-up, and what it costs the waker its next bursts make up for.
 * One that has nothing left to pay with, or whose wakee stands in a queue of
 * another CPU, sleeps until the wakee is there: one sleep too many, whose end is an
 * interrupt's doing, for a sleep and a wake-up along an edge that would be lost.
 * It is no lock: for a wakee that does not come in time nobody waits, and it finds
 * the wake-up counted.
 */
#include "replay/rendezvous.h"

#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

#include "replay/player.h"

/* CPU time that a waker gives even if its next bursts do not make up for it, ns. */
#define STAPE_MEET_FREE_NS	1000000

/* No burst makes up for more than that, ns. */
#define STAPE_MEET_SLACK_MAX_NS	NSEC_PER_SEC

/* Between two looks at a wakee on another CPU. */
#define STAPE_MEET_LOOK_US	2

/*
 * So long sleeps who has no CPU time to give, unless it is woken before; and the others
 * so long in case that nobody did.  Jiffies: no timer is to be set up for it.
 */
#define STAPE_MEET_DOZE		(HZ / 20 + 1)

/*
 * Nor does it wait longer than that, jiffies.  Dozens of others may each have some ms of turns
 * to do first on one CPU: a tenth of it was too little for hackbench with 80 processes.
 */
#define STAPE_MEET_WAIT		HZ
#define STAPE_MEET_WAIT_NS	NSEC_PER_SEC

/* So far does a waker look for the one who holds its wakee up. */
#define STAPE_MEET_DEPTH	16

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

/* Whom a player waits for, or gives way to; NULL: it gets on, or nobody.  Under RCU. */
static struct stape_player *stape_meet_awaited(const struct stape_replay *replay,
					       const struct stape_player *player)
{
	/* Pairs with the store of stape_player_wait_edge(). */
	u32 edge = smp_load_acquire(&player->edge);
	u32 meets = READ_ONCE(player->meets), number = STAPE_NO_PLAYER;

	if (meets != STAPE_NO_EDGE)
		number = replay->edges[meets].to;
	else if (edge != STAPE_NO_EDGE && stape_meet_sleeps(player->task))
		number = replay->edges[edge].from;
	return number == STAPE_NO_PLAYER ? NULL : rcu_dereference(replay->players[number]);
}

/*
 * The player itself, if it is not in the wait yet, or whoever it waits for, or gives way
 * to, directly or not.  Nobody comes if one of these waits for @waker, or for the
 * replay to go on.  Under RCU.
 */
static struct stape_late stape_meet_holder(struct stape_replay *replay,
					   const struct stape_player *waker,
					   struct stape_player *player, u32 number)
{
	struct stape_late late = { .is = true };
	unsigned int depth;
	u32 edge;

	for (depth = 0; player && depth < STAPE_MEET_DEPTH; depth++) {
		if (player == waker || READ_ONCE(player->held))
			return (struct stape_late){ 0 };
		if (stape_meet_waits(player, number))
			return (struct stape_late){ 0 };
		/* Pairs with the store of stape_player_wait_edge(). */
		edge = smp_load_acquire(&player->edge);
		if (READ_ONCE(player->meets) == STAPE_NO_EDGE) {
			/* Or it is about to sleep, and would not if it was woken now. */
			if (!stape_meet_sleeps(player->task) || edge == number) {
				late.task = player->task;
				return late;
			}
			if (edge == STAPE_NO_EDGE) {
				if (READ_ONCE(player->timed))
					late.due = READ_ONCE(player->due);
				return late;
			}
		}
		player = stape_meet_awaited(replay, player);
	}
	return late;
}

/* Under RCU. */
static struct stape_late stape_meet_look(struct stape_replay *replay,
					 const struct stape_player *waker, u32 number)
{
	u32 to = replay->edges[number].to;
	struct stape_player *player = rcu_dereference(replay->players[to]);

	if (player)
		return stape_meet_holder(replay, waker, player, number);
	/* Who has never joined is about to: its fork came before this wake-up. */
	return (struct stape_late){ .is = !READ_ONCE(replay->clocks[to]) };
}

/* With @task referenced. */
static struct stape_late stape_meet_late(struct stape_replay *replay,
					 const struct stape_player *self, u32 number)
{
	struct stape_late late;

	rcu_read_lock();
	late = stape_meet_look(replay, self, number);
	if (late.task)
		get_task_struct(late.task);
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
				   const struct stape_late *late)
{
	if (signal_pending(current) || time_after_eq(jiffies, meeting->end) ||
	    stape_meet_is_in_vain(late))
		return false;
	return !late->due || late->due <= ktime_get_mono_fast_ns() + STAPE_MEET_WAIT_NS;
}

/* Whom the caller gives way to runs then, or does so already. */
static bool stape_meet_helps(const struct stape_late *late)
{
	return !late->task || task_cpu(late->task) == task_cpu(current) ||
	       stape_on_cpu(late->task);
}

/* Has the caller CPU time to give until the wakee comes? */
static bool stape_meet_can_pay(const struct stape_meeting *meeting,
			       const struct stape_player *self,
			       const struct stape_late *late)
{
	u64 now = stape_meet_runtime(self), spent = now - meeting->start, left = 0;

	if (spent < meeting->free)
		left = meeting->free - spent;
	if (meeting->paid > now + left && !rt_task(current))
		left = meeting->paid - now;
	return left && late->due <= ktime_get_mono_fast_ns() + left;
}

static void stape_meet_set_dozes(struct stape_player *self, bool dozes)
{
	raw_spin_lock_irq(&self->doze_lock);
	WRITE_ONCE(self->dozes, dozes);
	raw_spin_unlock_irq(&self->doze_lock);
}

/* Until the wakee is there, or cannot come: see stape_meet_tell(). */
static void stape_meet_doze(struct stape_replay *replay, struct stape_player *self, u32 number)
{
	struct stape_late late;

	stape_meet_set_dozes(self, true);
	/* Full barrier: pairs with that of stape_meet_tell(). */
	set_current_state(TASK_INTERRUPTIBLE);
	late = stape_meet_late(replay, self, number);
	if (late.is)
		schedule_timeout(STAPE_MEET_DOZE);
	__set_current_state(TASK_RUNNING);
	if (late.task)
		put_task_struct(late.task);
	stape_meet_set_dozes(self, false);
	/* Nobody queues it from here on, and the player may go. */
	irq_work_sync(&self->doze_end);
}

/* An interrupt, like the outside world: a wake-up by a player would be another edge. */
static void stape_meet_doze_end(struct irq_work *work)
{
	wake_up_process(container_of(work, struct stape_player, doze_end)->task);
}

/* If @waker sleeps for somebody who is there now, or who waits for it.  Under RCU. */
static void stape_meet_wake(struct stape_replay *replay, struct stape_player *waker)
{
	u32 number = READ_ONCE(waker->meets);

	if (number == STAPE_NO_EDGE || stape_meet_look(replay, waker, number).is)
		return;
	raw_spin_lock(&waker->doze_lock);
	if (waker->dozes)
		irq_work_queue(&waker->doze_end);
	raw_spin_unlock(&waker->doze_lock);
}

/**
 * stape_meet_tell() - a player sleeps: wake those who sleep until it does
 * @player: it is being switched out
 *
 * They are those that it waits for itself, directly or not: it is the wakee of one of
 * them, or one of them waits for itself by now.
 *
 * Context: the switch probe: interrupts off, runqueue lock.
 */
void stape_meet_tell(const struct stape_player *player)
{
	struct stape_replay *replay = player->replay;
	unsigned int depth;

	/* Between @slept and @dozes; pairs with set_current_state() in stape_meet_doze(). */
	smp_mb();
	rcu_read_lock();
	for (depth = 0; player && depth < STAPE_MEET_DEPTH; depth++) {
		struct stape_player *next = stape_meet_awaited(replay, player);

		if (next && READ_ONCE(next->dozes))
			stape_meet_wake(replay, next);
		player = next;
	}
	rcu_read_unlock();
}

/**
 * stape_meet_init() - prepare a player for meetings
 * @player: nobody else knows it yet
 *
 * Context: any.
 */
void stape_meet_init(struct stape_player *player)
{
	player->meets = STAPE_NO_EDGE;
	raw_spin_lock_init(&player->doze_lock);
	player->doze_end = IRQ_WORK_INIT_HARD(stape_meet_doze_end);
}

/**
 * stape_meet_begin() - the caller is about to wake others
 * @self: the caller's
 * @slack: CPU time that its next bursts make up for, ns
 *
 * Context: a player, in a step.
 * Return: what stape_meet() needs to know, for all of them.
 */
struct stape_meeting stape_meet_begin(struct stape_player *self, u64 slack)
{
	u64 now = stape_meet_runtime(self);

	/* Its bursts have made up for all that it gave. */
	if (slack)
		self->owed = 0;
	return (struct stape_meeting){
		.start = now,
		.paid = now + min_t(u64, slack, STAPE_MEET_SLACK_MAX_NS),
		.free = STAPE_MEET_FREE_NS - min_t(u64, self->owed, STAPE_MEET_FREE_NS),
		.end = jiffies + STAPE_MEET_WAIT,
	};
}

/**
 * stape_meet_end() - the caller has woken all
 * @self: the caller's
 * @meeting: of stape_meet_begin()
 *
 * Context: as of stape_meet_begin().
 */
void stape_meet_end(struct stape_player *self, const struct stape_meeting *meeting)
{
	u64 now;

	if (!meeting->gave)
		return;
	now = stape_meet_runtime(self);
	if (now > meeting->paid)
		self->owed += now - meeting->paid;
}

/* One look, and one turn for others.  Return: it is worth another. */
static bool stape_meet_once(struct stape_replay *replay, struct stape_player *self, u32 number,
			    struct stape_meeting *meeting, bool first)
{
	struct stape_late late = stape_meet_late(replay, self, number);
	bool worth_it = late.is && stape_meet_is_worth_it(meeting, &late);

	if (worth_it && !first)
		stape_meet_lower(self, &late);
	if (worth_it && stape_meet_helps(&late) && stape_meet_can_pay(meeting, self, &late)) {
		stape_meet_give_way(late.task);
		meeting->gave = true;
	} else if (worth_it) {
		stape_meet_doze(replay, self, number);
	}
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
		struct stape_meeting *meeting)
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
