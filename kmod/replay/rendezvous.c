// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rendezvous: a waker waits until its wakee sleeps, as it did in the recording.
 *
 * A waker that is ahead of its wakee yields: other tasks on this CPU run before it, or it
 * spins while tasks on other CPUs run.  This adds no sleep and no wake-up, and the waker's next
 * bursts make up for the CPU time.
 *
 * Otherwise the waker parks: it sleeps until the wakee is in its wait.  It does so if the wakee
 * is in the run queue of another CPU, or if the waker has no CPU time left to give.  In the second
 * case it still yields once first, if it is known which task has to run.  To park adds a sleep,
 * which an interrupt ends.  Without it a sleep of the wakee and a wake-up along an edge would be
 * lost.
 *
 * After 1 s at most, the waker counts the wake-up and goes on.  The wakee takes it when it
 * gets there.
 */
#include "replay/internal.h"

#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

/* CPU time that a waker gives even if its next bursts do not make up for it, ns. */
#define STAPE_RENDEZVOUS_FREE_NS	1000000

/* The most CPU time for which the next bursts make up, ns. */
#define STAPE_RENDEZVOUS_SLACK_MAX_NS	NSEC_PER_SEC

/* How long a waker spins between two checks of a wakee on another CPU. */
#define STAPE_RENDEZVOUS_SPIN_US	2

/*
 * The longest sleep of a parked waker, in jiffies: covers a wake-up that
 * stape_rendezvous_unpark_wakers() misses.  schedule_timeout() is cheap enough; precision does
 * not matter.
 */
#define STAPE_RENDEZVOUS_PARK		(HZ / 20 + 1)

/*
 * The longest rendezvous, in jiffies.  On one CPU dozens of other players may have to run for
 * some ms each before the wakee: HZ / 10 was too little for hackbench with 80 processes.
 */
#define STAPE_RENDEZVOUS_MAX		HZ
#define STAPE_RENDEZVOUS_MAX_NS		NSEC_PER_SEC

/* How many players, each waiting for the next, are followed to find what delays a wakee. */
#define STAPE_RENDEZVOUS_DEPTH		16

/**
 * struct stape_rendezvous_wakee - whether a wakee is in its wait
 * @is_late: it is not in its wait, but on its way there
 * @holder: the task that has to run until the wakee gets there, referenced; NULL: not known
 * @expires: the wakee gets there after this time of CLOCK_MONOTONIC, ns; 0: at any time
 */
struct stape_rendezvous_wakee {
	bool is_late;
	struct task_struct *holder;
	u64 expires;
};

/* Returns true if a task sleeps and is not being woken on another CPU. */
static bool stape_rendezvous_is_asleep(const struct task_struct *task)
{
	return READ_ONCE(task->__state) & TASK_NORMAL;
}

/* Returns true if the player sleeps in its wait for a wake-up along edge @number. */
static bool stape_rendezvous_is_waiting(const struct stape_player *player, u32 number)
{
	/* Pairs with stape_step_wait_edge(): @slept and @next_edges are of that wait. */
	return smp_load_acquire(&player->edge) == number && READ_ONCE(player->slept) &&
	       stape_rendezvous_is_asleep(player->watch.task);
}

/* Returns the player that a player waits for or yields to, or NULL.  Under RCU. */
static struct stape_player *stape_rendezvous_awaited(const struct stape_replay *replay,
						     const struct stape_player *player)
{
	/* Pairs with the release in stape_step_wait_edge(). */
	u32 edge = smp_load_acquire(&player->edge);
	u32 wakee_edge = READ_ONCE(player->wakee_edge), number = STAPE_NO_PLAYER;

	if (wakee_edge != STAPE_NO_EDGE)
		number = replay->edges[wakee_edge].to;
	else if (edge != STAPE_NO_EDGE && stape_rendezvous_is_asleep(player->watch.task))
		number = READ_ONCE(replay->edges[edge].from);
	return number == STAPE_NO_PLAYER ? NULL : rcu_dereference(replay->players[number]);
}

/*
 * Finds the task that keeps a wakee from its wait: the wakee itself, if it runs or is runnable,
 * or a player that it waits for or yields to, directly or not.  If one of these players waits
 * for @waker, or for the replay to go on, the wakee cannot get there and is not late.  Under RCU.
 */
static struct stape_rendezvous_wakee
stape_rendezvous_find_holder(struct stape_replay *replay, const struct stape_player *waker,
			     struct stape_player *player, u32 number)
{
	struct stape_rendezvous_wakee wakee = { .is_late = true };
	unsigned int depth;
	u32 edge;

	for (depth = 0; player && depth < STAPE_RENDEZVOUS_DEPTH; depth++) {
		if (player == waker || READ_ONCE(player->held))
			return (struct stape_rendezvous_wakee){ 0 };
		if (stape_rendezvous_is_waiting(player, number))
			return (struct stape_rendezvous_wakee){ 0 };
		/* Pairs with the release in stape_step_wait_edge(). */
		edge = smp_load_acquire(&player->edge);
		if (READ_ONCE(player->wakee_edge) == STAPE_NO_EDGE) {
			/* It runs, or it is about to sleep, which a wake-up now would prevent. */
			if (!stape_rendezvous_is_asleep(player->watch.task) || edge == number) {
				wakee.holder = player->watch.task;
				return wakee;
			}
			if (edge == STAPE_NO_EDGE) {
				if (READ_ONCE(player->timed))
					wakee.expires = READ_ONCE(player->expires);
				return wakee;
			}
		}
		player = stape_rendezvous_awaited(replay, player);
	}
	return wakee;
}

/* Checks the wakee of edge @number.  Under RCU, which keeps @holder. */
static struct stape_rendezvous_wakee
stape_rendezvous_check(struct stape_replay *replay, const struct stape_player *waker, u32 number)
{
	u32 to = replay->edges[number].to;
	struct stape_player *player = rcu_dereference(replay->players[to]);

	if (player)
		return stape_rendezvous_find_holder(replay, waker, player, number);
	/*
	 * A player that has not joined yet does so soon: its fork came before this wake-up.  Where
	 * numbers are used again, this wake-up is for the next player of the number.
	 */
	return (struct stape_rendezvous_wakee){
		.is_late = replay->nr_turns > replay->nr_players || !READ_ONCE(replay->turns[to]),
	};
}

/* Checks the wakee of edge @number, and takes a reference on @holder. */
static struct stape_rendezvous_wakee
stape_rendezvous_check_get(struct stape_replay *replay, const struct stape_player *self,
			   u32 number)
{
	struct stape_rendezvous_wakee wakee;

	rcu_read_lock();
	wakee = stape_rendezvous_check(replay, self, number);
	if (wakee.holder)
		get_task_struct(wakee.holder);
	rcu_read_unlock();
	return wakee;
}

/* How many players stape_rendezvous_wakees_wait() checks. */
#define STAPE_RENDEZVOUS_AHEAD		16

/**
 * stape_rendezvous_wakees_wait() - check whether a player's next wakees are in their waits
 * @player: in a wait
 *
 * The next wakees of these players are checked, too, because a player that is woken wakes
 * others soon.
 *
 * Context: any.
 */
bool stape_rendezvous_wakees_wait(const struct stape_player *player)
{
	const struct stape_replay *replay = player->replay;
	const struct stape_player *wakers[STAPE_RENDEZVOUS_AHEAD] = { player };
	const struct stape_player *wakee;
	u32 at, i, number, n = 1;
	bool wait = true;

	rcu_read_lock();
	for (at = 0; at < n && wait; at++) {
		for (i = 0; i < READ_ONCE(wakers[at]->nr_next_edges) && wait; i++) {
			number = READ_ONCE(wakers[at]->next_edges[i]);
			wakee = rcu_dereference(replay->players[replay->edges[number].to]);
			/* A player that has not joined yet, or is done, may never wait. */
			if (!wakee)
				continue;
			wait = stape_rendezvous_is_waiting(wakee, number);
			if (n < ARRAY_SIZE(wakers))
				wakers[n++] = wakee;
		}
	}
	rcu_read_unlock();
	return wait;
}

static unsigned long stape_rendezvous_switches(void)
{
	return READ_ONCE(current->nvcsw) + READ_ONCE(current->nivcsw);
}

/* Yields to @task, or to any task if @task is NULL. */
static void stape_rendezvous_yield(struct task_struct *task)
{
	unsigned long switches = stape_rendezvous_switches();

	/*
	 * yield() is right here, because the wakee may wait for any other player.  The
	 * caller's budget limits the number of calls.
	 */
	if (!task || yield_to(task, true) <= 0)
		yield();
	/* No other task ran.  Spin, because each try takes locks of the holder's CPU. */
	if (stape_rendezvous_switches() == switches)
		udelay(STAPE_RENDEZVOUS_SPIN_US);
}

/*
 * Gives the caller the nice value 19.  The players that the wakee waits for may have to run
 * many times.  The caller has had little CPU time so far, so the scheduler would choose it
 * between any two of them.  With the lowest weight, the little time that the caller runs counts
 * for so much that all of them run first.
 */
static void stape_rendezvous_lower(struct stape_player *self,
				   const struct stape_rendezvous_wakee *wakee)
{
	int nice = task_nice(current);

	if (self->watch.niced || nice == MAX_NICE)
		return;
	if (current->policy != SCHED_NORMAL && current->policy != SCHED_BATCH)
		return;
	if (wakee->holder && task_cpu(wakee->holder) != task_cpu(current))
		return;
	WRITE_ONCE(self->watch.nice, nice);
	/* Pairs with the acquire in stape_watch_is_niced(). */
	smp_store_release(&self->watch.niced, true);
	smp_wmb();	/* before the priority; pairs with stape_task_nice() */
	set_user_nice(current, MAX_NICE);
}

static void stape_rendezvous_restore(struct stape_player *self)
{
	if (!self->watch.niced)
		return;
	/* Another task may have changed the nice value meanwhile: then keep that. */
	if (task_nice(current) == MAX_NICE)
		set_user_nice(current, self->watch.nice);
	/* After the priority; pairs with stape_task_nice(). */
	smp_store_release(&self->watch.niced, false);
}

/* Returns true if a yield is in vain: a real-time task cannot yield to a lower priority. */
static bool stape_rendezvous_is_in_vain(const struct stape_rendezvous_wakee *wakee)
{
	if (!rt_task(current))
		return false;
	return !wakee->holder || (task_cpu(wakee->holder) == task_cpu(current) &&
				  READ_ONCE(wakee->holder->prio) > current->prio);
}

static bool stape_rendezvous_is_worth_it(const struct stape_rendezvous_budget *budget,
					 const struct stape_rendezvous_wakee *wakee)
{
	if (signal_pending(current) || time_after_eq(jiffies, budget->end) ||
	    stape_rendezvous_is_in_vain(wakee))
		return false;
	return !wakee->expires ||
	       wakee->expires <= ktime_get_mono_fast_ns() + STAPE_RENDEZVOUS_MAX_NS;
}

/* Returns true if the holder may run when the caller yields, or runs already. */
static bool stape_rendezvous_yield_helps(const struct stape_rendezvous_wakee *wakee)
{
	return !wakee->holder || task_cpu(wakee->holder) == task_cpu(current) ||
	       stape_on_cpu(wakee->holder);
}

/* Returns true if the caller has CPU time to give until the wakee is in its wait. */
static bool stape_rendezvous_can_pay(const struct stape_rendezvous_budget *budget,
				     const struct stape_player *self,
				     const struct stape_rendezvous_wakee *wakee)
{
	u64 now = stape_watch_runtime(&self->watch), spent = now - budget->start, left = 0;

	if (spent < budget->free)
		left = budget->free - spent;
	if (budget->paid > now + left && !rt_task(current))
		left = budget->paid - now;
	return left && wakee->expires <= ktime_get_mono_fast_ns() + left;
}

static void stape_rendezvous_set_parked(struct stape_player *self, bool parked)
{
	raw_spin_lock_irq(&self->park_lock);
	WRITE_ONCE(self->parked, parked);
	atomic_add(parked ? 1 : -1, &self->replay->parked);
	raw_spin_unlock_irq(&self->park_lock);
}

/* Sleeps until the wakee is in its wait, or cannot get there. */
static void stape_rendezvous_park(struct stape_replay *replay, struct stape_player *self,
				  u32 number)
{
	struct stape_rendezvous_wakee wakee;

	stape_rendezvous_set_parked(self, true);
	/* Pairs with the barrier in stape_rendezvous_unpark_wakers(). */
	set_current_state(TASK_INTERRUPTIBLE);
	wakee = stape_rendezvous_check_get(replay, self, number);
	if (wakee.is_late)
		schedule_timeout(STAPE_RENDEZVOUS_PARK);
	__set_current_state(TASK_RUNNING);
	if (wakee.holder)
		put_task_struct(wakee.holder);
	stape_rendezvous_set_parked(self, false);
	/* @unpark is not queued any more.  Wait for it, because the player may be freed next. */
	irq_work_sync(&self->unpark);
}

/* Wakes a parked waker from an interrupt, because a wake-up by a player would be an edge. */
static void stape_rendezvous_unpark_work(struct irq_work *work)
{
	wake_up_process(container_of(work, struct stape_player, unpark)->watch.task);
}

/* Wakes @waker if its wakee is in its wait now, or cannot get there.  Under RCU. */
static void stape_rendezvous_unpark(struct stape_replay *replay, struct stape_player *waker)
{
	u32 number = READ_ONCE(waker->wakee_edge);

	if (number == STAPE_NO_EDGE || stape_rendezvous_check(replay, waker, number).is_late)
		return;
	raw_spin_lock(&waker->park_lock);
	if (waker->parked)
		irq_work_queue(&waker->unpark);
	raw_spin_unlock(&waker->park_lock);
}

/**
 * stape_rendezvous_unpark_wakers() - wake the wakers that have parked until a player sleeps
 * @player: the player, which sleeps and is being switched out
 *
 * Walks the chain from a player to the player that it waits for.  A parked waker on that
 * chain either waits for @player, or @player closes a cycle: it is woken in both cases.
 *
 * Context: the switch probe: interrupts off, runqueue lock.
 */
void stape_rendezvous_unpark_wakers(const struct stape_player *player)
{
	struct stape_replay *replay = player->replay;
	unsigned int depth;

	/* @slept is stored before @parked is loaded; pairs with stape_rendezvous_park(). */
	smp_mb();
	if (likely(!atomic_read(&replay->parked)))
		return;
	rcu_read_lock();
	for (depth = 0; player && depth < STAPE_RENDEZVOUS_DEPTH; depth++) {
		struct stape_player *next = stape_rendezvous_awaited(replay, player);

		if (next && READ_ONCE(next->parked))
			stape_rendezvous_unpark(replay, next);
		player = next;
	}
	rcu_read_unlock();
}

/**
 * stape_rendezvous_init() - prepare a player for rendezvous
 * @player: no other task can find it yet
 *
 * Context: any.
 */
void stape_rendezvous_init(struct stape_player *player)
{
	player->wakee_edge = STAPE_NO_EDGE;
	raw_spin_lock_init(&player->park_lock);
	player->unpark = IRQ_WORK_INIT_HARD(stape_rendezvous_unpark_work);
}

/**
 * stape_rendezvous_begin() - begin a step that wakes others
 * @self: the caller's player
 * @slack: CPU time that its next bursts make up for, ns
 *
 * Context: a player, in a step.
 * Return: the budget for all rendezvous of the step.
 */
struct stape_rendezvous_budget stape_rendezvous_begin(struct stape_player *self, u64 slack)
{
	u64 now = stape_watch_runtime(&self->watch);

	/* The player's bursts have made up for all CPU time that it gave before. */
	if (slack)
		self->debt = 0;
	return (struct stape_rendezvous_budget){
		.start = now,
		.paid = now + min_t(u64, slack, STAPE_RENDEZVOUS_SLACK_MAX_NS),
		.free = STAPE_RENDEZVOUS_FREE_NS - min_t(u64, self->debt, STAPE_RENDEZVOUS_FREE_NS),
		.end = jiffies + STAPE_RENDEZVOUS_MAX,
	};
}

/**
 * stape_rendezvous_end() - add the CPU time that a step's rendezvous have cost to the debt
 * @self: the caller's player
 * @budget: from stape_rendezvous_begin()
 *
 * Context: as stape_rendezvous_begin().
 */
void stape_rendezvous_end(struct stape_player *self, const struct stape_rendezvous_budget *budget)
{
	u64 now;

	if (!budget->gave)
		return;
	now = stape_watch_runtime(&self->watch);
	if (now > budget->paid)
		self->debt += now - budget->paid;
}

/* Checks the wakee, and lets other tasks run once.  Returns whether to try again. */
static bool stape_rendezvous_try(struct stape_replay *replay, struct stape_player *self,
				 u32 number, struct stape_rendezvous_budget *budget, bool first)
{
	struct stape_rendezvous_wakee wakee = stape_rendezvous_check_get(replay, self, number);
	bool worth_it = wakee.is_late && stape_rendezvous_is_worth_it(budget, &wakee);

	if (worth_it && !first)
		stape_rendezvous_lower(self, &wakee);
	/* To yield once to the task that has to run costs less than to sleep until it has. */
	if (worth_it && stape_rendezvous_yield_helps(&wakee) &&
	    ((first && wakee.holder) || stape_rendezvous_can_pay(budget, self, &wakee))) {
		stape_rendezvous_yield(wakee.holder);
		budget->gave = true;
	} else if (worth_it) {
		stape_rendezvous_park(replay, self, number);
	}
	if (wakee.holder)
		put_task_struct(wakee.holder);
	return worth_it;
}

/**
 * stape_rendezvous() - wait until the wakee is in its wait
 * @replay: a running replay
 * @self: the caller's player
 * @number: the edge along which it is about to wake
 * @budget: from stape_rendezvous_begin()
 *
 * Context: a player, in a step; may sleep.
 */
void stape_rendezvous(struct stape_replay *replay, struct stape_player *self, u32 number,
		      struct stape_rendezvous_budget *budget)
{
	bool first = true;

	/* A deadline task that yields gives up all that is left of its period. */
	if (current->policy == SCHED_DEADLINE)
		return;
	WRITE_ONCE(self->wakee_edge, number);
	while (stape_rendezvous_try(replay, self, number, budget, first))
		first = false;
	WRITE_ONCE(self->wakee_edge, STAPE_NO_EDGE);
	stape_rendezvous_restore(self);
}
