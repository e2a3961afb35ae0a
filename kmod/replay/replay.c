// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays: the edges and players of one program.  The controller makes one
 * with STAPE_IOC_REPLAY and hands its file down to the players it forks; it
 * starts and stops it through netlink.  Whatever ends it early (the stop, the
 * controller's death, a player's death), kills its players: a player has
 * nothing to lose, and half a workload is no replay.
 */
#include "replay/replay.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "base/memory.h"
#include "base/work.h"
#include "control/netlink.h"
#include "record/probe_sched.h"
#include "replay/mm_pin.h"
#include "replay/player.h"

#define STAPE_REPLAY_MAX_PLAYERS	BIT(22)
#define STAPE_REPLAY_MAX_EDGES		BIT(24)

static_assert(sizeof(struct stape_step) == 56);
static_assert(offsetof(struct stape_step, value) == 32);
static_assert(offsetof(struct stape_step, slack) == 40);
static_assert(offsetof(struct stape_step, nr_next) == 48);

/* Protects the list; nests inside of stape_sessions_lock. */
DEFINE_MUTEX(stape_replays_lock);
LIST_HEAD(stape_replays);

static u32 stape_replay_last_id;

static void stape_replay_free_memory(struct stape_replay *replay)
{
	stape_memory_free(replay->clocks);
	stape_memory_free(replay->players);
	stape_memory_free(replay->edges);
	kfree(replay);
}

static void stape_replay_free(struct kref *ref)
{
	struct stape_replay *replay = container_of(ref, struct stape_replay, ref);

	mutex_lock(&stape_replays_lock);
	list_del(&replay->all);
	mutex_unlock(&stape_replays_lock);
	/* A probe may have found a player that is out by now. */
	synchronize_rcu();
	cancel_delayed_work_sync(&replay->progress);
	stape_keep_release(replay, true);
	static_branch_slow_dec_deferred(&stape_players_key);
	stape_probe_put();
	stape_replay_free_memory(replay);
}

static void stape_replay_put(struct stape_replay *replay)
{
	kref_put(&replay->ref, stape_replay_free);
}

/* Each player waits for a wake-up that has not come, and nobody else is on the way. */
static bool stape_replay_all_wait(struct stape_replay *replay)
{
	struct stape_player *player;
	u32 edge;

	list_for_each_entry(player, &replay->alive, alive) {
		edge = READ_ONCE(player->edge);
		if (edge == STAPE_NO_EDGE || atomic_read(&replay->edges[edge].pending))
			return false;
	}
	return !list_empty(&replay->alive);
}

/*
 * A program that a tape compiles to has no deadlock: who is waited for has done
 * it before, in the recording.  One that was made otherwise may have: then it is
 * seen that nobody goes on.  Who was forked and has not joined yet is unknown here;
 * in so many seconds, with all others waiting, it joins.
 */
#define STAPE_REPLAY_STILL	3

static void stape_replay_look(struct stape_replay *replay)
{
	u64 steps = atomic64_read(&replay->steps);

	spin_lock(&replay->lock);
	if (replay->state != STAPE_REPLAY_RUNNING || steps != replay->seen_steps ||
	    replay->joined != replay->seen_joined || !stape_replay_all_wait(replay))
		replay->still = 0;
	else if (++replay->still == STAPE_REPLAY_STILL)
		stape_replay_finish(replay, STAPE_REPLAY_STUCK);
	replay->seen_steps = steps;
	replay->seen_joined = replay->joined;
	spin_unlock(&replay->lock);
}

/**
 * stape_replay_bury() - take out players that have died before their programs' end
 * @replay: any replay
 *
 * The work does it soon; who asks for the state sees it at once.
 *
 * Context: may sleep, without the replay's lock.
 */
void stape_replay_bury(struct stape_replay *replay)
{
	struct stape_player *player, *next;

	spin_lock(&replay->lock);
	list_for_each_entry_safe(player, next, &replay->alive, alive) {
		if (!READ_ONCE(player->gone))
			continue;
		if (stape_replay_live(replay))
			replay->failed_pid = task_pid_nr(player->task);
		stape_player_remove(replay, player);
		stape_replay_finish(replay, STAPE_REPLAY_BROKEN);
	}
	spin_unlock(&replay->lock);
}

static void stape_replay_progress(struct work_struct *work)
{
	struct stape_replay *replay = container_of(to_delayed_work(work), struct stape_replay,
						   progress);
	bool live, kept;

	stape_replay_bury(replay);
	stape_replay_look(replay);
	kept = stape_keep_release(replay, false);
	live = stape_replay_live(replay);
	if (!replay->told)
		stape_netlink_replay_ntf(replay);
	replay->told = !live;
	if (live || kept)
		queue_delayed_work(stape_work, &replay->progress, HZ);
}

/* The replay's time, under its lock. */
static u64 stape_replay_now(const struct stape_replay *replay, u64 now)
{
	if (replay->state != STAPE_REPLAY_RUNNING)
		return replay->tempo.base;
	return stape_tempo_at(&replay->tempo, now);
}

/* It goes no further: called before the state says so. */
static void stape_replay_stand(struct stape_replay *replay, u64 now)
{
	replay->tempo.base = stape_replay_now(replay, now);
	replay->tempo.base_time = now;
}

/**
 * stape_replay_finish() - put a replay into a final state
 * @replay: any replay
 * @state: enum stape_replay_state beyond RUNNING
 *
 * All but the first call do nothing; but one that is stuck, whose players are to
 * be looked at, keeps them until the next.
 *
 * Context: under the replay's lock.
 */
void stape_replay_finish(struct stape_replay *replay, u32 state)
{
	struct stape_player *player;

	lockdep_assert_held(&replay->lock);
	if (stape_replay_live(replay)) {
		/* The common instant may be still to come. */
		replay->stop_time = max(ktime_get_ns(), replay->start_time);
		stape_replay_stand(replay, replay->stop_time);
		WRITE_ONCE(replay->state, state);
	} else if (replay->state != STAPE_REPLAY_STUCK) {
		return;
	}
	if (state == STAPE_REPLAY_STUCK)
		return;
	list_for_each_entry(player, &replay->alive, alive)
		stape_player_kill(player);
	mod_delayed_work(stape_work, &replay->progress, 0);
}

static int stape_replay_release(struct inode *inode, struct file *file)
{
	struct stape_replay *replay = file->private_data;
	struct stape_player *player, *next;

	/* Nobody can step any more, so nobody's program comes to its end. */
	spin_lock(&replay->lock);
	if (!list_empty(&replay->alive))
		stape_replay_finish(replay, STAPE_REPLAY_BROKEN);
	list_for_each_entry_safe(player, next, &replay->alive, alive)
		stape_player_remove(replay, player);
	spin_unlock(&replay->lock);
	stape_replay_put(replay);
	return 0;
}

static long stape_replay_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct stape_replay *replay = file->private_data;
	struct stape_step step;
	u32 number;

	switch (cmd) {
	case STAPE_IOC_JOIN:
		if (get_user(number, (u32 __user *)arg))
			return -EFAULT;
		return stape_player_join(replay, number);
	case STAPE_IOC_STEP:
		if (copy_from_user(&step, (void __user *)arg, sizeof(step)))
			return -EFAULT;
		return stape_player_step(replay, &step);
	case STAPE_IOC_HOLD:
		if (get_user(number, (u32 __user *)arg))
			return -EFAULT;
		return stape_player_hold(replay, number);
	}
	return -ENOTTY;
}

/* Bytes: a word for each player, and one for the speed. */
static u64 stape_replay_clocks_size(u32 nr_players)
{
	return PAGE_ALIGN((nr_players + 1ULL) * sizeof(u64));
}

static vm_fault_t stape_replay_fault(struct vm_fault *vmf)
{
	struct stape_replay *replay = vmf->vma->vm_private_data;
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;

	if (offset >= stape_replay_clocks_size(replay->nr_players))
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page((void *)replay->clocks + offset);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct stape_replay_vm_ops = {
	.fault = stape_replay_fault,
};

/* The mapping holds the file, the file the replay; forks inherit it. */
static int stape_replay_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_private_data = file->private_data;
	vma->vm_ops = &stape_replay_vm_ops;
	return 0;
}

static const struct file_operations stape_replay_fops = {
	.owner = THIS_MODULE,
	.release = stape_replay_release,
	.mmap = stape_replay_mmap,
	.unlocked_ioctl = stape_replay_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* @from: NULL: not told. */
static int stape_replay_load_edges(struct stape_replay *replay, const u32 __user *to,
				   const u32 __user *from)
{
	struct stape_edge *edge;
	u32 i;

	for (i = 0; i < replay->nr_edges; i++) {
		edge = &replay->edges[i];
		edge->from = STAPE_NO_PLAYER;
		if (get_user(edge->to, to + i) || (from && get_user(edge->from, from + i)))
			return -EFAULT;
		if (edge->to >= replay->nr_players || (from && edge->from >= replay->nr_players))
			return -EINVAL;
		cond_resched();
	}
	return 0;
}

static struct stape_replay *stape_replay_alloc(const struct stape_replay_setup *setup)
{
	struct stape_replay *replay;
	int ret;

	if (!setup->nr_players || setup->nr_players > STAPE_REPLAY_MAX_PLAYERS ||
	    setup->nr_edges > STAPE_REPLAY_MAX_EDGES)
		return ERR_PTR(-EINVAL);
	replay = kzalloc(sizeof(*replay), GFP_KERNEL_ACCOUNT);
	if (!replay)
		return ERR_PTR(-ENOMEM);
	replay->nr_players = setup->nr_players;
	replay->nr_edges = setup->nr_edges;
	replay->players = stape_memory_alloc(setup->nr_players, sizeof(*replay->players));
	replay->edges = stape_memory_alloc(setup->nr_edges, sizeof(*replay->edges));
	replay->clocks = stape_memory_alloc(stape_replay_clocks_size(setup->nr_players), 1);
	ret = -ENOMEM;
	if (!replay->players || !replay->edges || !replay->clocks)
		goto err_memory;
	/* Before the probe that has it runs, if none does yet: it is code that is patched. */
	static_branch_deferred_inc(&stape_players_key);
	ret = stape_probe_get();
	if (ret)
		goto err_probe;
	kref_init(&replay->ref);
	spin_lock_init(&replay->lock);
	INIT_LIST_HEAD(&replay->alive);
	INIT_DELAYED_WORK(&replay->progress, stape_replay_progress);
	replay->tempo.speed = STAPE_REPLAY_SPEED_ONE;
	stape_replay_show_speed(replay, replay->tempo.speed);
	replay->owner = task_tgid_nr(current);
	mutex_lock(&stape_replays_lock);
	replay->id = ++stape_replay_last_id;
	list_add_tail(&replay->all, &stape_replays);
	mutex_unlock(&stape_replays_lock);
	return replay;

err_probe:
	static_branch_slow_dec_deferred(&stape_players_key);
err_memory:
	stape_replay_free_memory(replay);
	return ERR_PTR(ret);
}

/**
 * stape_replay_create() - make a replay and the file for its players
 * @arg: the caller's setup, its @fd and @id are filled in
 *
 * Context: may sleep.
 * Return: the replay, with a reference for the session, or an ERR_PTR().
 */
struct stape_replay *stape_replay_create(struct stape_replay_setup __user *arg)
{
	struct stape_replay_setup setup;
	struct stape_replay *replay;
	struct file *file;
	int ret, fd;

	if (copy_from_user(&setup, arg, sizeof(setup)))
		return ERR_PTR(-EFAULT);
	replay = stape_replay_alloc(&setup);
	if (IS_ERR(replay))
		return replay;
	ret = stape_replay_load_edges(replay, u64_to_user_ptr(setup.edges),
				      u64_to_user_ptr(setup.wakers));
	if (ret)
		goto err_put;
	fd = get_unused_fd_flags(O_CLOEXEC);
	ret = fd;
	if (fd < 0)
		goto err_put;
	file = anon_inode_getfile("[schedtape-replay]", &stape_replay_fops, replay,
				  O_RDWR | O_CLOEXEC);
	ret = PTR_ERR_OR_ZERO(file);
	if (ret)
		goto err_fd;
	kref_get(&replay->ref);		/* the file's */
	setup.fd = fd;
	setup.id = replay->id;
	if (copy_to_user(arg, &setup, sizeof(setup))) {
		ret = -EFAULT;
		goto err_file;
	}
	fd_install(fd, file);
	return replay;

err_file:
	fput(file);
err_fd:
	put_unused_fd(fd);
err_put:
	stape_replay_put(replay);
	return ERR_PTR(ret);
}

/**
 * stape_replay_abandon() - the session's file goes, and the replay with it
 * @replay: the session's; its reference is given up
 *
 * Context: may sleep.
 */
void stape_replay_abandon(struct stape_replay *replay)
{
	spin_lock(&replay->lock);
	stape_replay_finish(replay, STAPE_REPLAY_STOPPED);
	spin_unlock(&replay->lock);
	/* What is kept maps its file, and perhaps that of another one, which maps ours. */
	stape_keep_release(replay, true);
	stape_replay_put(replay);
}

/**
 * stape_replay_find() - a replay by its number
 * @id: number in the netlink family
 *
 * Context: under stape_replays_lock, which keeps the replay alive.
 * Return: the replay, or NULL.
 */
struct stape_replay *stape_replay_find(u32 id)
{
	struct stape_replay *replay;

	lockdep_assert_held(&stape_replays_lock);
	list_for_each_entry(replay, &stape_replays, all)
		if (replay->id == id)
			return replay;
	return NULL;
}

/* Those who wait for an instant wait for it by the tempo of now. */
static void stape_replay_rearm(struct stape_replay *replay)
{
	struct stape_player *player;

	lockdep_assert_held(&replay->lock);
	/* Between the state and the look at @held: pairs with set_current_state() of a wait. */
	smp_mb();
	list_for_each_entry(player, &replay->alive, alive) {
		if (player->timed && replay->state == STAPE_REPLAY_RUNNING)
			stape_player_arm(replay, player);
		else if (player->timed)
			stape_player_disarm(player);
		/* Who is held goes on; others look and wait on. */
		else if (READ_ONCE(player->held))
			wake_up_process(player->task);
	}
}

/**
 * stape_replay_time() - how much of its own time has passed
 * @replay: any replay
 *
 * Context: any, without the replay's lock.
 * Return: ns; 0 before the start.
 */
u64 stape_replay_time(struct stape_replay *replay)
{
	u64 time;

	spin_lock(&replay->lock);
	time = stape_replay_now(replay, ktime_get_ns());
	spin_unlock(&replay->lock);
	return time;
}

/**
 * stape_replay_start() - set the common instant, and let the timers run
 * @replay: a replay that has not started, or is paused
 * @delay: ns from now on
 * @extack: why not
 *
 * Context: under stape_replays_lock.
 * Return: 0, or -EINVAL.
 */
int stape_replay_start(struct stape_replay *replay, u64 delay, struct netlink_ext_ack *extack)
{
	u64 now = ktime_get_ns();
	int ret = 0;

	spin_lock(&replay->lock);
	if (replay->state != STAPE_REPLAY_READY && replay->state != STAPE_REPLAY_PAUSED) {
		NL_SET_ERR_MSG(extack, "the replay has started before");
		ret = -EINVAL;
		goto out;
	}
	replay->tempo.base_time = now + delay;
	/* Who was paused before the common instant gets another one. */
	if (!replay->tempo.base)
		WRITE_ONCE(replay->start_time, replay->tempo.base_time);
	if (replay->state == STAPE_REPLAY_READY)
		queue_delayed_work(stape_work, &replay->progress, HZ);
	WRITE_ONCE(replay->state, STAPE_REPLAY_RUNNING);
	stape_replay_show_speed(replay, replay->tempo.speed);
	stape_replay_rearm(replay);
out:
	spin_unlock(&replay->lock);
	return ret;
}

/**
 * stape_replay_pause() - let the replay's time stand, until stape_replay_start()
 * @replay: any replay
 * @extack: why not
 *
 * Its players stop at the end of what they do: a few us of CPU time.
 *
 * Context: under stape_replays_lock.
 * Return: 0, or -EINVAL.
 */
int stape_replay_pause(struct stape_replay *replay, struct netlink_ext_ack *extack)
{
	int ret = 0;

	spin_lock(&replay->lock);
	if (replay->state != STAPE_REPLAY_RUNNING) {
		NL_SET_ERR_MSG(extack, "the replay does not run");
		ret = -EINVAL;
		goto out;
	}
	stape_replay_stand(replay, ktime_get_ns());
	WRITE_ONCE(replay->state, STAPE_REPLAY_PAUSED);
	stape_replay_show_speed(replay, 0);
	stape_replay_rearm(replay);
out:
	spin_unlock(&replay->lock);
	return ret;
}

/**
 * stape_replay_set_speed() - let the replay's time go faster or slower
 * @replay: any replay
 * @speed: millionths of the recorded speed, within the limits
 * @extack: why not
 *
 * Context: under stape_replays_lock.
 * Return: 0, or -EALREADY.
 */
int stape_replay_set_speed(struct stape_replay *replay, u32 speed, struct netlink_ext_ack *extack)
{
	u64 now = ktime_get_ns();
	int ret = 0;

	spin_lock(&replay->lock);
	if (!stape_replay_live(replay)) {
		NL_SET_ERR_MSG(extack, "the replay has ended before");
		ret = -EALREADY;
		goto out;
	}
	/* Between a start and its common instant, that stays. */
	now = max(now, replay->tempo.base_time);
	stape_replay_stand(replay, now);
	replay->tempo.speed = speed;
	if (replay->state != STAPE_REPLAY_PAUSED)
		stape_replay_show_speed(replay, speed);
	if (replay->state == STAPE_REPLAY_RUNNING)
		stape_replay_rearm(replay);
out:
	spin_unlock(&replay->lock);
	return ret;
}

/**
 * stape_replay_stop() - end a replay before its time
 * @replay: any replay
 * @extack: why not
 *
 * Context: under stape_replays_lock.
 * Return: 0, or -EALREADY.
 */
int stape_replay_stop(struct stape_replay *replay, struct netlink_ext_ack *extack)
{
	int ret = 0;

	spin_lock(&replay->lock);
	if (!stape_replay_live(replay)) {
		NL_SET_ERR_MSG(extack, "the replay has ended before");
		ret = -EALREADY;
	}
	stape_replay_finish(replay, STAPE_REPLAY_STOPPED);
	spin_unlock(&replay->lock);
	return ret;
}

/**
 * stape_replay_exit() - wait for what replays have left to RCU
 *
 * Context: module exit; may sleep.
 */
void stape_replay_exit(void)
{
	rcu_barrier();
	static_key_deferred_flush(&stape_players_key);
}
