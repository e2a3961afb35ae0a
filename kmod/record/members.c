// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks are members of filters now.  A task is checked against the rules when it is forked,
 * gets a name, executes a program or moves.  Its bits are cleared when it has ended.  Probes call
 * this.  rules.c calls it for requests.
 *
 * No task is missed, because of:
 *
 *   the lock of its PID: the later of two checks sees all that the earlier one has seen (filter.h)
 *   smp_mb() in stape_members_fork() and before the walks of rules.c: a walk finds a new task, or
 *   the fork probe sees the new rule, or the parent's new bit
 *   smp_mb() in stape_members_enter(): a change of the task, or its end, is seen there, or its
 *   probe sees the new bit
 */
#include "record/members.h"

#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "base/work.h"
#include "record/encode.h"
#include "record/filter.h"
#include "record/task_info.h"
#include "record/waits.h"
#include "record/watch.h"

/* -- checks ------------------------------------------------------------------- */

/* For current the caller resyncs this CPU before current can be preempted. */
static void stape_members_leave(struct stape_active *active, struct task_struct *task,
				u32 pid)
{
	struct stape_filter *filter = &active->filter;

	if (task == current)
		stape_filter_remove(filter, pid);
	else
		stape_filter_leave(filter, pid);
	/* In the rename probe this is the old name. */
	stape_encode_task(active, task, task->comm, STAPE_TASK_LEAVES);
}

/*
 * Returns true if another CPU runs a task, or is about to: the kernel sets @on_cpu after the switch
 * probe.  A task that only waits for a CPU takes the slow way, too, until the resync.
 */
static bool stape_members_may_run(const struct task_struct *task)
{
	return task != current && (stape_on_cpu(task) || READ_ONCE(task->on_rq));
}

/*
 * Lets a task enter that the rules select, and that is no member.  @is_new: no CPU can run it yet.
 * If it is not, the caller has the session resynced.  Under the lock of the PID.  When an io_uring
 * worker starts, the runqueue lock is held as well, and the worker is queued.
 */
static void stape_members_enter(struct stape_active *active, struct task_struct *task, u32 pid,
				bool is_new)
{
	const char *comm = stape_filter_name(task, pid);
	struct stape_attributes written;

	stape_waits_enter(active->waits, pid);
	stape_encode_enter(active, task, comm, &written);
	/* As late as possible, because it may be woken while it is described. */
	if (!is_new && unlikely(stape_members_may_run(task)))
		stape_filter_enter(&active->filter, pid);
	else
		stape_filter_insert(&active->filter, pid);
	/*
	 * Read the task again after setting the bit.  (1) A change that was made before the bit
	 * was visible was not written: write it.  Pairs with stape_attribute_changed().  (2) If
	 * the task did its last switch-out before the bit was visible, the switch probe has not
	 * seen the bit: clear it.  Pairs with the full barrier between the store of TASK_DEAD and
	 * the switch probe's load of the id.
	 */
	smp_mb();
	stape_waits_entered(active->waits, pid);
	stape_encode_changes(active, task, comm, &written);
	if (READ_ONCE(task->__state) == TASK_DEAD) {
		stape_filter_remove(&active->filter, pid);
		if (!stape_task_leads_threads(task, pid))
			stape_filter_set_seed(&active->filter, pid, false);
	}
}

/**
 * stape_members_update_locked() - update a live task's bit, and write what has changed
 * @active: a session's
 * @task: the task
 * @pid: its PID.  The caller holds the PID's lock.  During an execve() @task->pid may change, so
 *	this does not read it
 *
 * A task that enters is described before its other events, a task that leaves is described
 * after them.  If the bit of another task than current has changed, the caller has the session
 * resynced: the task's id may be STAPE_FILTER_MULTI until then.
 *
 * Context: under the stape_filter_lock() of the PID.
 * Return: whether the bit has changed.
 */
bool stape_members_update_locked(struct stape_active *active, struct task_struct *task, u32 pid)
{
	bool match = stape_filter_match(&active->filter, task, pid);

	if (match == test_bit(pid, active->filter.members))
		return false;
	if (match) {
		/* Its exit probe may have run already, so nothing would remove it. */
		if (stape_task_flags(task) & PF_EXITING || READ_ONCE(task->__state) == TASK_DEAD)
			return false;
		stape_members_enter(active, task, pid, false);
	} else {
		/* It is a member until its last switch. */
		if (stape_task_is_exiting(task, pid))
			return false;
		stape_members_leave(active, task, pid);
	}
	return true;
}

/* Writes what has changed of a member. */
static void stape_members_encode(struct stape_active *active, struct task_struct *task, u32 pid,
				 u32 type, const char *comm)
{
	u64 name[STAPE_COMM_LEN / sizeof(u64)];

	if (type == STAPE_EV_TASK) {
		stape_encode_task(active, task, stape_filter_name(task, pid), STAPE_TASK_MOVES);
	} else if (type == STAPE_EV_RENAME) {
		memcpy(name, comm, sizeof(name));
		stape_encode_payload(active, type, task, name, ARRAY_SIZE(name));
	}
}

/**
 * stape_members_update() - take the PID's lock, and update a live task's bit
 * @active: a session's
 * @task: the task
 * @type: what is written if the task is a member and stays one.  STAPE_EV_TASK: it was moved to
 *	another cgroup or autogroup; STAPE_EV_RENAME: it gets another name; 0: nothing
 * @comm: of STAPE_EV_RENAME: the name, TASK_COMM_LEN bytes
 *
 * A task that enters or leaves is described with its name and its cgroup.
 *
 * Context: any without the runqueue lock.
 * Return: whether the bit has changed.
 */
bool stape_members_update(struct stape_active *active, struct task_struct *task, u32 type,
			  const char *comm)
{
	unsigned long flags;
	u32 pid = stape_filter_lock_task(task, &flags);
	bool changed;

	if (type == STAPE_EV_RENAME)
		stape_filter_note_name(task, pid, comm);
	changed = stape_filter_may_match(&active->filter, pid) &&
		  stape_members_update_locked(active, task, pid);
	if (!changed && test_bit(pid, active->filter.members))
		stape_members_encode(active, task, pid, type, comm);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
	return changed;
}

/* -- what probes report --------------------------------------------------------- */

/**
 * stape_members_check() - check a task against the rules, or write what has changed of it
 * @active: a session's
 * @task: any task
 * @type: as of stape_members_update()
 * @comm: as of stape_members_update()
 *
 * If current leaves, ring->curr of its CPU names it until the resync, and a switch away from
 * it in between would not be written.  So preemption is off from the check to the resync.
 * Other CPUs may run @task or threads of current's process.  They are resynced later, because a
 * probe must not wait for other CPUs.
 *
 * Context: any without the runqueue lock.
 */
void stape_members_check(struct stape_active *active, struct task_struct *task, u32 type,
			 const char *comm)
{
	preempt_disable();
	if (stape_members_update(active, task, type, comm)) {
		stape_encode_resync_current(active);
		if (task != current || !thread_group_empty(current))
			stape_active_resync_soon(active);
	}
	preempt_enable();
}

/**
 * stape_members_rename() - check a task by the name that it is about to get
 * @task: the task
 * @comm: the name, TASK_COMM_LEN bytes
 *
 * Context: the rename probe.
 */
void stape_members_rename(struct task_struct *task, const char *comm)
{
	struct stape_active *active;
	unsigned long flags;
	u32 pid;

	/* For sessions that are not in the list yet. */
	pid = stape_filter_lock_task(task, &flags);
	stape_filter_note_name(task, pid, comm);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
	for_each_active(active)
		stape_members_check(active, task, STAPE_EV_RENAME, comm);
}

/* Under the lock of the child's PID. */
static __always_inline void stape_members_fork_locked(struct stape_active *active,
						      struct task_struct *parent,
						      struct task_struct *child, u32 pid)
{
	struct stape_filter *filter = &active->filter;
	const struct stape_filter_rules *rules = stape_filter_rules(filter);

	/* The last task with this PID may be dead, and may still be a member. */
	if (unlikely(test_bit(pid, filter->members)))
		stape_filter_drop_member(filter, pid);
	stape_filter_set_seed(filter, pid,
			      test_bit(parent->pid, filter->seeds) && !rules->flags.no_inherit);
	if (!stape_filter_match(filter, child, pid))
		return;
	if (unlikely(!stape_filter_has(filter, parent))) {
		stape_members_enter(active, child, pid, true);
		return;
	}
	stape_encode_fork(active, parent, child);
	stape_filter_add_member(filter, pid);
	smp_mb__after_atomic();	/* as in stape_members_enter(); after the count of members */
	stape_encode_forked(active, parent, child);
}

static __always_inline void stape_members_fork_one(struct stape_active *active,
						   struct task_struct *parent,
						   struct task_struct *child, u32 pid)
{
	raw_spinlock_t *lock = stape_filter_lock(pid);
	unsigned long flags;

	if (!stape_filter_may_match(&active->filter, parent->pid) &&
	    !stape_filter_may_match(&active->filter, pid))
		return;
	local_irq_save(flags);
	raw_spin_lock(lock);
	stape_members_fork_locked(active, parent, child, pid);
	raw_spin_unlock(lock);
	local_irq_restore(flags);
}

/**
 * stape_members_fork() - make a child a member if its parent is one, or check it
 * @data: not used
 * @parent: the task that forked
 * @child: the new task, not woken yet
 *
 * The fork is written before any CPU can write that the child leaves.
 *
 * Context: tracepoint sched_process_fork; or an io_uring worker is woken for the first time.
 */
void stape_members_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct stape_active *active;

	preempt_disable();	/* makes this an RCU reader */
	/*
	 * The child is linked before this reads bits and rules; pairs with the barriers in
	 * stape_rules_seed_process() and stape_rules_update_all(), which come before they walk.
	 */
	smp_mb();
	for_each_active(active)
		stape_members_fork_one(active, parent, child, child->pid);
	preempt_enable();
}

/**
 * stape_members_exec() - follow a task through execve()
 * @active: a session's
 * @task: the task
 * @old_pid: its PID before; a thread takes over its leader's PID
 *
 * Context: the exec probe.
 * Return: whether the task was recorded before.
 */
bool stape_members_exec(struct stape_active *active, struct task_struct *task, u32 old_pid)
{
	struct stape_filter *filter = &active->filter;
	unsigned long flags;
	bool had;

	if (!stape_filter_may_match(filter, old_pid) && !stape_filter_may_match(filter, task->pid))
		return false;
	raw_spin_lock_irqsave(stape_filter_lock(task->pid), flags);
	had = test_bit(old_pid, filter->members) || stape_filter_has(filter, task);
	if (old_pid != task->pid) {
		if (test_bit(old_pid, filter->seeds))
			stape_filter_set_seed(filter, task->pid, true);
		if (test_bit(old_pid, filter->members)) {
			stape_waits_enter(active->waits, task->pid);
			stape_filter_insert(filter, task->pid);
			stape_waits_entered(active->waits, task->pid);
		} else if (!had && test_bit(task->pid, filter->seeds)) {
			/* The leader's end may have cleared the bit in @members. */
			stape_members_update_locked(active, task, task->pid);
		}
	}
	raw_spin_unlock_irqrestore(stape_filter_lock(task->pid), flags);
	/* After that, because the filter must not look empty in between. */
	if (old_pid != task->pid)
		stape_members_end(active, NULL, old_pid, STAPE_END_EXIT);
	return had;
}

/**
 * stape_members_move() - follow a task, or a process, to another cgroup
 * @active: a session's
 * @cgroup: to which it was moved; hierarchies of version 1 use the same tracepoint
 * @task: the task, or the leader of the process
 * @process: all threads of its process were moved
 *
 * Interrupts are off here, and a process may have any number of threads.  So the others are checked
 * later, from process context: they enter or leave up to a tick after the move.
 *
 * Context: RCU reader, under a spinlock of the kernel's.
 */
void stape_members_move(struct stape_active *active, struct cgroup *cgroup,
			struct task_struct *task, bool process)
{
	struct stape_filter *filter = &active->filter;

	/* The kernel moves no task that exits, but names such a leader, too. */
	if (cgroup->root != task_dfl_cgroup(task)->root ||
	    (!stape_filter_rules(filter)->nr_cgroups && !atomic_read(&filter->nr_members)))
		return;
	stape_members_check(active, task, STAPE_EV_TASK, NULL);
	if (process && !thread_group_empty(task))
		stape_active_moved(active, task->tgid);
}

/* -- ends ---------------------------------------------------------------------- */

/*
 * Tasks that have switched out for the last time.  The switch probe runs under the runqueue lock,
 * so it only remembers them.  They are removed from the filters at the CPU's next tick, which
 * costs no interrupt of their own, or sooner if there are many.  If no session records the CPU, a
 * CPU that is recorded is interrupted then, and also if this one may have no tick.
 *
 * If a PID is used again before that, the fork probe clears its bit.
 */

static void stape_members_wake_if_over(struct stape_active *active)
{
	if (stape_filter_is_over(&active->filter))
		stape_wake_queue(&active->waiter.wake);
}

/**
 * stape_members_end() - clear the bits of a task that ends
 * @active: a session's; its readers are woken if it has no task any more
 * @task: the task; it may have been freed, and is only compared
 * @pid: its PID, which may belong to another task by now
 * @how: how far it has ended
 *
 * This is called after the task's last switch; when it exits in a pause; and for a leader when its
 * last thread exits, because the bits of a leader stay while its threads run.  If the leader has
 * not switched out by then, the call after its switch finds no thread: see
 * stape_members_reap_leader().
 *
 * Context: interrupts off, no runqueue lock, but see stape_members_add_dead().
 */
void stape_members_end(struct stape_active *active, const struct task_struct *task, u32 pid,
		       enum stape_end how)
{
	struct stape_filter *filter = &active->filter;
	const struct task_struct *user;
	bool dead;

	if (!test_bit(pid, filter->seeds) && !test_bit(pid, filter->members))
		return;
	raw_spin_lock(stape_filter_lock(pid));
	user = stape_task_find(pid);
	dead = !user || READ_ONCE(user->__state) == TASK_DEAD;
	/* Another task has the PID, perhaps at the same address.  Its fork has set the bits. */
	if (user && (user != task || (how >= STAPE_END_SWITCHED && !dead)))
		goto out;
	if (how == STAPE_END_UNSEEN && test_bit(pid, filter->members))
		stape_encode_ended(active, pid);
	if (user && stape_task_leads_threads(user, pid))
		goto out;
	/* After the last switch the seed may be that of a thread that is taking over a PID. */
	if (how < STAPE_END_SWITCHED)
		stape_filter_set_seed(filter, pid, false);
	if (test_bit(pid, filter->members) &&
	    (how != STAPE_END_EXIT || !user)) {
		stape_filter_drop_member(filter, pid);
		/* The last of the other members asks, when it has gone. */
		if (how >= STAPE_END_SWITCHED && atomic_read(&filter->nr_members))
			goto out;
	}
	stape_members_wake_if_over(active);
out:
	raw_spin_unlock(stape_filter_lock(pid));
}

/*
 * @task is current.  If it is a member, it stays one until its last switch.  Interrupts are off, so
 * this CPU's ring is not resumed meanwhile.
 */
static void stape_members_exit_one(struct stape_active *active, struct task_struct *task)
{
	struct stape_filter *filter = &active->filter;
	u32 pid = task->pid;

	if (stape_filter_has(filter, task)) {
		if (stape_ring_is_paused(&active->descriptions->ring)) {
			stape_ring_forget_curr(this_cpu_ptr(active->rings));
			stape_members_end(active, task, pid, STAPE_END_PAUSE);
			return;
		}
		/* It may have entered just now, and this CPU may not have been resynced yet. */
		if (unlikely(stape_ring_curr_pid(this_cpu_ptr(active->rings)) != pid))
			stape_encode_resync(active);
		stape_encode_exit(active, task);
	}
	/*
	 * The seed of a leader that leaves threads behind stays, because one of them may take over
	 * the PID in an execve().  stape_members_end() clears it when the last of them exits.
	 */
	if (!test_bit(pid, filter->seeds) || stape_task_leads_threads(task, pid))
		return;
	raw_spin_lock(stape_filter_lock(pid));
	stape_filter_set_seed(filter, pid, false);
	/* The filter of a member is over after its last switch at the earliest. */
	if (unlikely(!test_bit(pid, filter->members)))
		stape_members_wake_if_over(active);
	raw_spin_unlock(stape_filter_lock(pid));
}

/* When this many wait, an interrupt removes them. */
#define STAPE_MEMBERS_DEAD_MANY	16
/* The interrupt comes before the list is full, unless the kernel polls for irq_work. */
#define STAPE_MEMBERS_DEAD_MAX	32

/**
 * struct stape_dead_task - a task that has switched out for the last time
 * @task: it may have been freed, and is only compared
 * @pid: its PID, which may belong to another task if its parent has reaped it
 */
struct stape_dead_task {
	const struct task_struct *task;
	u32 pid;
};

/**
 * struct stape_members_list - those of a CPU
 * @tasks: the tasks, from @first to @end, both modulo STAPE_MEMBERS_DEAD_MAX
 * @first: stored under @lock
 * @end: stored by the CPU, interrupts off
 * @cpu: the CPU
 * @lock: held by the CPU that removes them, before the locks of their PIDs
 * @tick: removes them from the filters at the next tick
 * @now: does so in an interrupt
 */
struct stape_members_list {
	struct stape_dead_task tasks[STAPE_MEMBERS_DEAD_MAX];
	u32 first;
	u32 end;
	int cpu;
	raw_spinlock_t lock;	/* see above */
	struct irq_work tick;
	struct stape_wake now;
};

static DEFINE_PER_CPU(struct stape_members_list, stape_members_lists);

/* Interrupts are off, which makes this an RCU reader.  @cpu: where @task has switched out */
static void stape_members_reap_one(const struct task_struct *task, u32 pid, int cpu)
{
	const struct task_struct *user = NULL;
	struct stape_active *active;

	/* Another CPU may still switch away from it, and waits for nothing. */
	if (cpu != smp_processor_id())
		user = stape_task_find(pid);
	if (user == task && READ_ONCE(user->__state) == TASK_DEAD)
		while (stape_on_cpu(user))
			cpu_relax();
	for_each_active(active)
		stape_members_end(active, task, pid,
				  per_cpu_ptr(active->rings, cpu)->mem ? STAPE_END_SWITCHED :
									 STAPE_END_UNSEEN);
}

static void stape_members_reap(struct stape_members_list *list)
{
	const struct stape_dead_task *dead;

	raw_spin_lock(&list->lock);
	/* Pairs with the release in stape_members_add_dead(): the entry is complete. */
	while (list->first != smp_load_acquire(&list->end)) {
		dead = &list->tasks[list->first % STAPE_MEMBERS_DEAD_MAX];
		stape_members_reap_one(dead->task, dead->pid, list->cpu);
		/* The entry is free; pairs with the comparison in stape_members_add_dead(). */
		smp_store_release(&list->first, list->first + 1);
		smp_mb();	/* before the look at @end; pairs with stape_members_add_dead() */
	}
	raw_spin_unlock(&list->lock);
}

static void stape_members_reap_tick(struct irq_work *tick)
{
	stape_members_reap(container_of(tick, struct stape_members_list, tick));
}

static void stape_members_reap_now(struct stape_wake *now)
{
	stape_members_reap(container_of(now, struct stape_members_list, now));
}

/*
 * Current is a last thread.  If its leader has switched out for the last time, or is about to,
 * waits for that, removes what is in the list of the CPU that the leader has left, perhaps the
 * leader itself, and returns true.  If that list was full, the leader was looked at while threads
 * ran.
 *
 * Otherwise the leader is removed after its last switch, and then its threads have gone: current
 * has decremented signal->live, a full barrier, before it looks at the leader's state.  This pairs
 * with smp_mb__after_spinlock() in __schedule(), after TASK_DEAD and before the look at
 * signal->live.
 */
static bool stape_members_reap_leader(const struct task_struct *leader)
{
	unsigned long flags;

	if (READ_ONCE(leader->__state) != TASK_DEAD)
		return false;
	/* Interrupts are on, because they may be on there, too. */
	while (stape_on_cpu(leader))
		cpu_relax();
	/* on_cpu before the list; pairs with smp_store_release() in finish_task() */
	smp_rmb();
	local_irq_save(flags);
	stape_members_reap(per_cpu_ptr(&stape_members_lists, task_cpu(leader)));
	local_irq_restore(flags);
	return true;
}

/* Current is a last thread: its leader ends.  A function of its own, because most exits are not. */
static noinline void stape_members_exit_leader(const s8 *ids, const struct task_struct *task)
{
	enum stape_end how = STAPE_END_EXIT;
	struct stape_active *active;
	unsigned long flags;

	if (stape_filter_id(ids, task->tgid) && stape_members_reap_leader(task->group_leader))
		how = STAPE_END_GONE;
	for_each_active(active) {
		local_irq_save(flags);
		stape_members_end(active, task->group_leader, task->tgid, how);
		local_irq_restore(flags);
	}
}

/* Tracepoint sched_process_exit: writes that current exits, and lets it be no seed any more. */
void stape_members_exit(STAPE_EXIT_PROTO)
{
	struct stape_active *active;
	unsigned long flags;

	if (stape_watch_enabled())
		stape_watch_gone(task);
	preempt_disable();	/* makes this an RCU reader */
	for_each_active(active) {
		local_irq_save(flags);
		stape_members_exit_one(active, task);
		local_irq_restore(flags);
	}
	/* All threads exit by now.  More than one may find that. */
	if (unlikely(task->pid != task->tgid && !atomic_read(&task->signal->live)))
		stape_members_exit_leader(data, task);
	preempt_enable();
}

/**
 * stape_members_init() - make the lists
 *
 * Context: module init.
 */
void stape_members_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stape_members_list *list = per_cpu_ptr(&stape_members_lists, cpu);

		list->cpu = cpu;
		raw_spin_lock_init(&list->lock);
		stape_wake_init(&list->now, stape_members_reap_now, true);
		list->tick = IRQ_WORK_INIT_LAZY(stape_members_reap_tick);
		/*
		 * There a thread of the CPU runs all irq_work that is not hard.  It is parked while
		 * the CPU goes offline, and waits for tasks of a higher priority.
		 */
		if (IS_ENABLED(CONFIG_PREEMPT_RT))
			list->tick = IRQ_WORK_INIT_HARD(stape_members_reap_tick);
	}
}

/* Returns true if no session records this CPU, and @tick would interrupt it. */
static bool stape_members_spare_cpu(void)
{
	return stape_cpu_is_left_out() &&
	       (IS_ENABLED(CONFIG_PREEMPT_RT) ||
		!housekeeping_test_cpu(smp_processor_id(), HK_TYPE_TICK));
}

/**
 * stape_members_add_dead() - note that a task has switched out for the last time
 * @task: the task
 *
 * Context: the switch probe: interrupts off, runqueue lock.
 */
void stape_members_add_dead(const struct task_struct *task)
{
	struct stape_members_list *list = this_cpu_ptr(&stape_members_lists);
	u32 end = list->end, nr;

	/* The entry is stored after this, and so when the release of @first has made it free. */
	if (unlikely(end - READ_ONCE(list->first) == STAPE_MEMBERS_DEAD_MAX)) {
		stape_members_reap_one(task, task->pid, list->cpu);
		return;
	}
	list->tasks[end++ % STAPE_MEMBERS_DEAD_MAX] = (struct stape_dead_task){ task, task->pid };
	/* Pairs with the acquire in stape_members_reap(): the entry is complete. */
	smp_store_release(&list->end, end);
	/* If another CPU still removes older ones, it sees @end, or this sees that it is done. */
	smp_mb();	/* pairs with stape_members_reap() */
	nr = end - READ_ONCE(list->first);
	if (nr == STAPE_MEMBERS_DEAD_MANY || (nr == 1 && stape_members_spare_cpu()))
		stape_wake_queue(&list->now);
	else if (nr == 1)
		irq_work_queue(&list->tick);
}

/**
 * stape_members_sync() - wait until nothing is left to be removed
 *
 * Context: may sleep; no switch probe runs any more.
 */
void stape_members_sync(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		irq_work_sync(per_cpu_ptr(&stape_members_lists.tick, cpu));
		stape_wake_cancel(per_cpu_ptr(&stape_members_lists.now, cpu));
	}
}
