// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for what makes a task what it is: its birth and its end, its name,
 * its cgroup, its priority and affinity.
 *
 * Not all of them are called with interrupts off, so they switch interrupts off to write.
 * Those of fork, exec, exit and rename can be preempted on recent kernels, so each of them
 * is an RCU reader: see probe.c.
 */
#include "record/probe_task.h"

#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "record/filter.h"
#include "record/probe_sched.h"
#include "record/retprobe.h"
#include "record/session.h"
#include "record/task_info.h"
#include "replay/player.h"

/*
 * What of a task may change at any time is looked at behind the clock: of two who tell of
 * it, who has the later time has seen more.
 */

static void stape_life_write(struct stape_session *session, u32 type,
			     const struct task_struct *task, const u64 *payload, u32 words)
{
	struct stape_ring *ring;
	unsigned long flags;

	local_irq_save(flags);
	ring = this_cpu_ptr(session->rings);
	stape_ring_put_payload(ring, stape_ring_now(ring), type, task->pid, 0, payload, words);
	local_irq_restore(flags);
}

/* @lent: the kernel priority that it is about to have; NULL: as it is. */
static void stape_life_write_prio(struct stape_session *session, const struct task_struct *task,
				  const int *lent)
{
	u64 payload[1 + STAPE_DL_WORDS];
	struct stape_ring *ring;
	unsigned long flags;
	unsigned int policy;
	int prio;
	u64 now;
	u32 n;

	local_irq_save(flags);
	ring = this_cpu_ptr(session->rings);
	now = stape_ring_now(ring);
	policy = READ_ONCE(task->policy);
	prio = lent ? *lent : READ_ONCE(task->prio);
	payload[0] = stape_task_prio_word(task, policy, prio, prio < READ_ONCE(task->normal_prio));
	n = 1 + stape_task_dl_words(task, policy, payload + 1);
	stape_ring_put_payload(ring, now, STAPE_EV_PRIO, task->pid, 0, payload, n);
	local_irq_restore(flags);
}

/* @payload: STAPE_AFFINITY_WORDS + 1, returned: what has been told */
static void stape_life_write_affinity(struct stape_session *session,
				      const struct task_struct *task, u64 *payload)
{
	struct stape_ring *ring;
	unsigned long flags;
	u64 now;
	u32 n;

	local_irq_save(flags);
	ring = this_cpu_ptr(session->rings);
	now = stape_ring_now(ring);
	n = stape_task_affinity(task, payload);
	stape_ring_put_payload(ring, now, STAPE_EV_SET, task->pid, STAPE_SET_AFFINITY, payload, n);
	local_irq_restore(flags);
}

/* @words: STAPE_TASK_WORDS + STAPE_DL_WORDS, returned.  Interrupts are off. */
static void stape_life_write_task(struct stape_session *session, struct task_struct *task,
				  const char *comm, u32 why, u64 *words)
{
	struct stape_ring *ring = this_cpu_ptr(session->rings);
	u64 now = stape_ring_now(ring);
	u32 n = stape_task_words(&session->filter, task, comm, words);

	stape_ring_put_payload(ring, now, STAPE_EV_TASK, task->pid, why, words, n);
}

/**
 * stape_life_describe() - put a task's description into the stream
 * @session: any session; nothing is written unless it records
 * @task: the task
 * @comm: its name, TASK_COMM_LEN bytes
 * @why: STAPE_TASK_ENTERS, _LEAVES, _EXITS or _MOVES
 *
 * Context: interrupts off.
 */
void stape_life_describe(struct stape_session *session, struct task_struct *task,
			 const char *comm, u32 why)
{
	u64 words[STAPE_TASK_WORDS + STAPE_DL_WORDS];

	if (session->rings)
		stape_life_write_task(session, task, comm, why, words);
}

/* Of a PRIO's word what belongs to the task itself. */
#define STAPE_LIFE_OWN_PRIO	(0xffULL << STAPE_PRIO_POLICY_SHIFT |	\
				 0xffULL << STAPE_PRIO_NICE_SHIFT |	\
				 0xffULL << STAPE_PRIO_RT_SHIFT)

static void stape_life_look(struct stape_life_seen *seen, struct task_struct *task)
{
	unsigned int policy = READ_ONCE(task->policy);

	memset(seen, 0, sizeof(*seen));
	seen->prio = stape_task_prio_word(task, policy, 0, false) & STAPE_LIFE_OWN_PRIO;
	stape_task_dl_words(task, policy, seen->dl);
	stape_task_affinity(task, seen->affinity);
	seen->cgroup = stape_task_cgroup(task);
}

/**
 * stape_life_correct() - tell of a task what is other than what is known
 * @session: any session; nothing is written unless it records
 * @task: the task
 * @comm: its name, TASK_COMM_LEN bytes
 * @known: what whoever reads the stream knows; NULL: that is not known
 *
 * Context: interrupts off.
 */
void stape_life_correct(struct stape_session *session, struct task_struct *task,
			const char *comm, const struct stape_life_seen *known)
{
	u64 affinity[STAPE_AFFINITY_WORDS + 1];
	struct stape_life_seen seen;

	if (!session->rings)
		return;
	stape_life_look(&seen, task);
	if (!known || seen.cgroup != known->cgroup)
		stape_life_describe(session, task, comm, STAPE_TASK_MOVES);
	else if (seen.prio != known->prio || memcmp(seen.dl, known->dl, sizeof(seen.dl)))
		stape_life_write_prio(session, task, NULL);
	if (!known || memcmp(seen.affinity, known->affinity, sizeof(seen.affinity)))
		stape_life_write_affinity(session, task, affinity);
}

/*
 * How many tasks have entered by the name that they have in task->comm.  Written under
 * stape_filter_lock.
 */
static unsigned int stape_life_entries;

/**
 * stape_life_count_entries() - count tasks that have entered by the name that they have
 *
 * Context: any.
 * Return: the count, for stape_life_named().
 */
unsigned int stape_life_count_entries(void)
{
	return READ_ONCE(stape_life_entries);
}

/**
 * stape_life_enter() - put a task that enters into the stream
 * @session: any session; nothing is written unless it records
 * @task: the task
 * @comm: its name, TASK_COMM_LEN bytes
 * @told: returned: what has been told of it
 *
 * Context: under stape_filter_lock.
 */
void stape_life_enter(struct stape_session *session, struct task_struct *task, const char *comm,
		      struct stape_life_seen *told)
{
	u64 words[STAPE_TASK_WORDS + STAPE_DL_WORDS] = { 0 };

	if (comm == task->comm) {
		WRITE_ONCE(stape_life_entries, stape_life_entries + 1);
		smp_mb();	/* count before the name; pairs with stape_life_named() */
	}
	stape_life_look(told, task);
	if (!session->rings)
		return;
	stape_life_write_task(session, task, comm, STAPE_TASK_ENTERS, words);
	told->prio = words[STAPE_TASK_PRIO] & STAPE_LIFE_OWN_PRIO;
	memcpy(told->dl, words + STAPE_TASK_WORDS, sizeof(told->dl));
	told->cgroup = words[STAPE_TASK_CGROUP];
	memset(told->affinity, 0, sizeof(told->affinity));
	stape_life_write_affinity(session, task, told->affinity);
}

/*
 * A task, and perhaps others of its process, has entered or left a filter: the
 * CPUs that they run on have to look who they are.  This is no place to wait
 * for other CPUs.
 */
static void stape_life_changed(struct stape_session *session, const struct task_struct *task)
{
	stape_probe_refresh_current(session);
	if (task != current || !thread_group_empty(current))
		stape_session_refresh_soon(session);
}

/*
 * Judges a task by a name.  If current leaves, its CPU still takes it for recorded until the
 * refresh, and a switch from it in between would not be written: so preemption is off from
 * the judgement to the refresh.  Return: whether the task has entered or left.
 */
static bool stape_life_judge(struct stape_session *session, struct task_struct *task,
			     const char *comm)
{
	bool changed;

	preempt_disable();
	changed = stape_filter_rename(&session->filter, task, comm);
	if (changed)
		stape_life_changed(session, task);
	preempt_enable();
	return changed;
}

/**
 * stape_life_describe_fork() - put a child that inherits into the stream
 * @session: an active session
 * @parent: the task that forked, on this CPU
 * @child: the new task
 *
 * Context: interrupts off.
 */
void stape_life_describe_fork(struct stape_session *session, struct task_struct *parent,
			      struct task_struct *child)
{
	u32 arg = same_thread_group(parent, child) ? STAPE_FORK_THREAD : 0;

	/* It may have entered just now, and this CPU not been asked yet. */
	stape_probe_refresh(session);
	stape_ring_emit(this_cpu_ptr(session->rings),
			stape_ring_word(STAPE_EV_FORK, child->pid << STAPE_PID_SHIFT | arg));
}

/**
 * stape_life_forked() - tell what a child has not of its parent
 * @session: an active session
 * @parent: the task that forked
 * @child: the new task, whose bit is set: who changes it now tells of that
 *
 * clone3() can put it elsewhere, SCHED_RESET_ON_FORK takes its policy, and what others
 * have changed of its parent since the copy it does not have.  Nor does whoever reads the
 * stream know what of its parent has changed and is still to be told.
 *
 * Context: interrupts off.
 */
void stape_life_forked(struct stape_session *session, struct task_struct *parent,
		       struct task_struct *child)
{
	struct stape_life_seen inherited;

	stape_life_look(&inherited, parent);
	stape_life_correct(session, child, child->comm, stape_hook_busy() ? NULL : &inherited);
}

void stape_life_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct stape_session *session;

	rcu_read_lock();
	for_each_active_session(session)
		stape_filter_fork(&session->filter, parent, child);
	rcu_read_unlock();
}

void stape_life_exec(void *data, struct task_struct *task, pid_t old_pid,
		     struct linux_binprm *bprm)
{
	struct stape_session *session;
	u64 payload = old_pid;
	unsigned long flags;

	if (stape_player_exist())
		stape_player_gone(task);
	rcu_read_lock();
	for_each_active_session(session) {
		struct stape_ring *ring;

		/* No refresh may come in between and find that it has left. */
		local_irq_save(flags);
		if (stape_filter_exec(&session->filter, task, old_pid)) {
			ring = this_cpu_ptr(session->rings);
			stape_ring_put_payload(ring, stape_ring_now(ring), STAPE_EV_EXEC, task->pid,
					       0, &payload, 1);
			ring->curr = task->pid << STAPE_PID_SHIFT |
				     STAPE_NEXT_TASK << STAPE_SWITCH_NEXT_SHIFT;
		}
		local_irq_restore(flags);
		/* A kernel thread may have become a program. */
		stape_life_judge(session, task, task->comm);
	}
	rcu_read_unlock();
}

/*
 * Who ends in a pause has ended: nobody could say who that was whose last switch comes
 * behind it, since the kernel may list it no longer by then.
 */
static void stape_life_end_unseen(struct stape_session *session, struct task_struct *task)
{
	stape_ring_forget_curr(this_cpu_ptr(session->rings));
	if (stape_filter_forget(&session->filter, task))
		irq_work_queue(&session->wake);
}

static void stape_life_end(struct stape_session *session, struct task_struct *task)
{
	struct stape_ring *ring;
	unsigned long flags;

	local_irq_save(flags);
	ring = this_cpu_ptr(session->rings);
	if (stape_ring_is_paused(ring)) {
		stape_life_end_unseen(session, task);
	} else {
		stape_probe_refresh(session);	/* as in a fork */
		stape_life_describe(session, task, task->comm, STAPE_TASK_EXITS);
		stape_ring_put_payload(ring, stape_ring_now(ring), STAPE_EV_EXIT, task->pid, 0,
				       NULL, 0);
	}
	local_irq_restore(flags);
}

void stape_life_exit(STAPE_EXIT_PROTO)
{
	struct stape_session *session;

	if (stape_player_exist())
		stape_player_gone(task);
	rcu_read_lock();
	for_each_active_session(session) {
		if (stape_filter_has(&session->filter, task))
			stape_life_end(session, task);
		if (stape_filter_exit(&session->filter, task))
			irq_work_queue(&session->wake);
	}
	rcu_read_unlock();
}

void stape_life_rename(void *data, struct task_struct *task, const char *comm)
{
	u64 payload[STAPE_COMM_LEN / sizeof(u64)];
	struct stape_session *session;

	strscpy_pad((char *)payload, comm, sizeof(payload));
	rcu_read_lock();
	for_each_active_session(session) {
		bool had = stape_filter_has(&session->filter, task);

		/* What enters is described with its new name, what leaves with its old one. */
		if (!stape_life_judge(session, task, (char *)payload) && had)
			stape_life_write(session, STAPE_EV_RENAME, task, payload,
					 ARRAY_SIZE(payload));
	}
	rcu_read_unlock();
}

/**
 * stape_life_named() - a task's name has been stored
 * @task: the task
 * @entries: stape_life_count_entries() from before task_rename
 *
 * Judges the task by that name, see name.c.  If a task has entered since @entries was taken,
 * it may have been @task, described by its old name: then the new name is written again.
 *
 * Context: RCU reader, preemption off.
 */
void stape_life_named(struct task_struct *task, unsigned int entries)
{
	u64 payload[STAPE_COMM_LEN / sizeof(u64)];
	struct stape_session *session;
	bool entered;

	/*
	 * The name is stored before rules and the count of entries are read.  Pairs with the
	 * barriers in stape_filter_judge_all() and stape_life_enter(): either they see the
	 * new name, or this sees their rule or their count.
	 */
	smp_mb();
	entered = stape_life_count_entries() != entries;
	/* Another thread may store yet another name, and comes here after that. */
	data_race(strscpy_pad((char *)payload, task->comm, sizeof(payload)));
	for_each_active_session(session) {
		if (READ_ONCE(session->filter.nr_patterns) &&
		    stape_life_judge(session, task, task->comm))
			continue;
		if (entered && stape_filter_has(&session->filter, task))
			stape_life_write(session, STAPE_EV_RENAME, task, payload,
					 ARRAY_SIZE(payload));
	}
}

static void stape_life_moved(struct stape_session *session, struct task_struct *task)
{
	unsigned long flags;

	if (!stape_filter_has(&session->filter, task))
		return;
	local_irq_save(flags);
	stape_life_describe(session, task, task->comm, STAPE_TASK_MOVES);
	local_irq_restore(flags);
}

/* For current, which moves itself: as stape_life_judge(). */
static bool stape_life_move_current(struct stape_session *session)
{
	bool changed;

	preempt_disable();
	changed = stape_filter_move(&session->filter, current, false);
	if (changed)
		stape_life_changed(session, current);
	preempt_enable();
	return changed;
}

/* For RCU readers: @session, and @task's threads. */
static void stape_life_move_in(struct stape_session *session, struct cgroup *cgroup,
			       struct task_struct *task, bool process)
{
	struct task_struct *thread;
	bool changed = false;

	/* A task that enters is described with its cgroup. */
	if (task == current || (process && same_thread_group(task, current)))
		changed = stape_life_move_current(session);
	if (stape_filter_move(&session->filter, task, process)) {
		stape_life_changed(session, task);
		changed = true;
	}
	if (changed)
		return;
	/* Hierarchies of version 1 have the same tracepoint. */
	if (cgroup != task_dfl_cgroup(task))
		return;
	stape_life_moved(session, task);
	if (!process)
		return;
	for_each_thread(task, thread)
		if (thread != task)
			stape_life_moved(session, thread);
}

void stape_life_move(void *data, struct cgroup *cgroup, const char *path,
		     struct task_struct *task, bool process)
{
	struct stape_session *session;

	rcu_read_lock();
	for_each_active_session(session) {
		stape_life_move_in(session, cgroup, task, process);
		if (READ_ONCE(session->filter.stale))
			stape_session_refresh_soon(session);
	}
	rcu_read_unlock();
}

/* Tells what a task's priority is from now on.  For RCU readers. */
static void stape_life_tell_prio(struct task_struct *task, const int *lent)
{
	struct stape_session *session;

	if (!stape_filter_slot(task->pid))
		return;
	for_each_active_session(session)
		if (stape_filter_has(&session->filter, task))
			stape_life_write_prio(session, task, lent);
}

/* sched_pi_setprio comes before the change, under the runqueue lock. */
void stape_life_boost(void *data, struct task_struct *task, struct task_struct *waiter)
{
	int prio = waiter ? min(READ_ONCE(waiter->prio), task->normal_prio) : task->normal_prio;

	stape_life_tell_prio(task, &prio);
}

/**
 * stape_life_prio() - a task's policy, nice value or priority has changed
 * @task: the task
 *
 * Context: RCU reader: the handlers of return probes run with preemption off.
 */
void stape_life_prio(struct task_struct *task)
{
	/* A player that gives way does nothing else: what it changes of itself is that. */
	if (task == current && stape_player_is_lowered(task, NULL))
		return;
	/* The change before the look at its slot; pairs with stape_filter_judge(). */
	smp_mb();
	stape_life_tell_prio(task, NULL);
}

/**
 * stape_life_affinity() - a task's affinity has been set
 * @task: the task
 *
 * Context: RCU reader.
 */
void stape_life_affinity(struct task_struct *task)
{
	u64 affinity[STAPE_AFFINITY_WORDS + 1];
	struct stape_session *session;

	smp_mb();	/* as in stape_life_prio() */
	if (!stape_filter_slot(task->pid))
		return;
	for_each_active_session(session)
		if (stape_filter_has(&session->filter, task))
			stape_life_write_affinity(session, task, affinity);
}
