// SPDX-License-Identifier: GPL-2.0-only
/*
 * Player objects, from the time a thread joins to its end.
 */
#include "replay/internal.h"

#include <linux/nospec.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "base/work.h"

/**
 * stape_player_alloc() - make a player for the calling thread
 * @replay: its replay
 * @number: its number, below @nr_players
 * @turn: how many players with that number have to have ended
 *
 * Context: may sleep.
 * Return: the player, or NULL.
 */
struct stape_player *stape_player_alloc(struct stape_replay *replay, u32 number, u32 turn)
{
	struct stape_player *player = kzalloc(sizeof(*player), GFP_KERNEL_ACCOUNT);

	if (!player)
		return NULL;
	player->replay = replay;
	player->watch.task = get_task_struct(current);
	player->watch.clock = &replay->clocks[number];
	player->exec_id = READ_ONCE(current->self_exec_id);
	player->number = number;
	player->turn = turn;
	player->edge = STAPE_NO_EDGE;
	return player;
}

/**
 * stape_player_free() - free a player that no probe and no waker can find
 * @player: the player
 *
 * Context: any.
 */
void stape_player_free(struct stape_player *player)
{
	put_task_struct(player->watch.task);
	kfree(player);
}

/**
 * stape_player_add() - add the calling thread's player to its replay
 * @player: from stape_player_alloc(), ready for probes and wakers
 *
 * Each turn of a number joins once, and each thread has one number.  No more players join than
 * there are turns, so that none is left when all have ended.
 *
 * Context: process.
 * Return: 0; -ECANCELED: the replay has ended; -EBUSY: it is not the number's turn, or another
 * thread has it, or the thread is a player already.
 */
int stape_player_add(struct stape_player *player)
{
	struct stape_replay *replay = player->replay;
	u32 number = player->number;
	int ret = 0;

	spin_lock(&replay->lock);
	if (!stape_replay_live(replay)) {
		ret = -ECANCELED;
	} else if (replay->joined == replay->nr_turns || replay->turns[number] != player->turn ||
		   rcu_access_pointer(replay->players[number]) || stape_watch_is_watched(current)) {
		ret = -EBUSY;
	} else {
		rcu_assign_pointer(replay->players[number], player);
		replay->joined++;
		stape_watch_add(&player->watch);
	}
	spin_unlock(&replay->lock);
	return ret;
}

static void stape_player_free_rcu(struct rcu_head *rcu)
{
	stape_player_free(container_of(rcu, struct stape_player, rcu));
}

/**
 * stape_player_remove() - take a player out of its replay
 * @player: not in a wait
 *
 * Context: under the replay's lock.
 */
void stape_player_remove(struct stape_player *player)
{
	struct stape_replay *replay = player->replay;

	lockdep_assert_held(&replay->lock);
	RCU_INIT_POINTER(replay->players[player->number], NULL);
	stape_watch_remove(&player->watch);
	if (READ_ONCE(player->gone))
		atomic_dec(&replay->gone);
	call_rcu(&player->rcu, stape_player_free_rcu);
}

/**
 * stape_player_self() - get the calling thread's player
 * @replay: the caller's replay
 * @number: the caller's number in the replay
 *
 * Context: process.
 * Return: the player, which is not removed while its thread is in this call; NULL: the caller
 * is not that player.
 */
struct stape_player *stape_player_self(struct stape_replay *replay, u32 number)
{
	struct stape_player *player = NULL;

	if (number >= replay->nr_players)
		return NULL;
	number = array_index_nospec(number, replay->nr_players);
	rcu_read_lock();
	player = rcu_dereference(replay->players[number]);
	/* After an execve() the thread may call this while its player is being removed. */
	if (player && (player->watch.task != current || READ_ONCE(player->gone)))
		player = NULL;
	rcu_read_unlock();
	return player;
}

/**
 * stape_player_wake() - wake along an edge
 * @replay: the replay
 * @number: the edge
 *
 * Context: any; the caller is the waker.
 */
void stape_player_wake(struct stape_replay *replay, u32 number)
{
	struct stape_edge *edge = &replay->edges[number];
	struct stape_player *player;

	/*
	 * A player that wakes for ever must not wrap the counter.  A full barrier, unless the
	 * counter is full; pairs with set_current_state() in stape_step_wait().
	 */
	atomic_add_unless(&edge->pending, 1, INT_MAX);
	rcu_read_lock();
	player = rcu_dereference(replay->players[edge->to]);
	/* A player that waits for something else must not be woken. */
	if (player && READ_ONCE(player->edge) == number)
		wake_up_process(player->watch.task);
	rcu_read_unlock();
}

/**
 * stape_player_gone() - note that a player's thread ends or has executed a program
 * @player: the player; the replay removes it soon
 *
 * Context: RCU reader, in a probe, in the player's thread.
 */
void stape_player_gone(struct stape_player *player)
{
	/* A thread that has executed a program may end before it is removed. */
	if (!player->gone) {
		WRITE_ONCE(player->gone, true);
		atomic_inc(&player->replay->gone);
	}
	mod_delayed_work(stape_work, &player->replay->progress, 0);
}

/**
 * stape_player_kill() - kill a player's process
 * @player: the player
 *
 * A thread that has executed a program since it joined is not killed, because the controller
 * may not have the right to kill that program.  It cannot do so between the check and the signal,
 * because it needs the lock for that.  If it has the lock, it is executing a program.
 *
 * Context: under the replay's lock.
 */
void stape_player_kill(struct stape_player *player)
{
	struct task_struct *task = player->watch.task;

	if (!down_read_trylock(&task->signal->exec_update_lock))
		return;
	if (READ_ONCE(task->self_exec_id) == player->exec_id)
		send_sig(SIGKILL, task, 1);
	up_read(&task->signal->exec_update_lock);
}
