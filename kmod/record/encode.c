// SPDX-License-Identifier: GPL-2.0-only
/*
 * Puts events into rings: descriptions, lent priorities, and the switch that a CPU writes when the
 * running task has entered or left a filter.
 */
#include "record/encode.h"

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "record/retprobe.h"
#include "record/task_info.h"
#include "record/watch.h"

/**
 * stape_encode_payload() - write a description of a task with a payload
 * @active: a session's
 * @type: enum stape_event_type, from 8 to 13
 * @task: the task
 * @payload: words that follow the event's word
 * @words: words in @payload
 *
 * Context: any.
 */
void stape_encode_payload(struct stape_active *active, u32 type, const struct task_struct *task,
			  const u64 *payload, u32 words)
{
	struct stape_ring *ring;
	unsigned long flags;

	ring = stape_descriptions_lock(active->descriptions, &flags);
	stape_ring_put_payload(ring, stape_ring_now(ring), type, task->pid, 0, payload, words);
	stape_descriptions_unlock(active->descriptions, flags);
}

/* Writes a PRIO.  @lent: the kernel priority that the task is about to have, or NULL. */
static void stape_encode_put_prio(struct stape_ring *ring, const struct task_struct *task,
				  const int *lent)
{
	u64 payload[1 + STAPE_DL_WORDS];
	u64 now = stape_ring_now(ring);
	unsigned int policy = READ_ONCE(task->policy);
	int prio = lent ? *lent : READ_ONCE(task->prio);
	u32 n;

	payload[0] = stape_task_prio_word(task, policy, prio, prio < READ_ONCE(task->normal_prio));
	n = 1 + stape_task_dl_words(task, policy, payload + 1);
	stape_ring_put_payload(ring, now, STAPE_EV_PRIO, task->pid, 0, payload, n);
}

/**
 * stape_encode_prio() - write a task's policy and priorities
 * @active: a session's
 * @task: the task
 *
 * Context: any; under the runqueue lock only when an io_uring worker starts.
 */
void stape_encode_prio(struct stape_active *active, const struct task_struct *task)
{
	unsigned long flags;

	stape_encode_put_prio(stape_descriptions_lock(active->descriptions, &flags), task, NULL);
	stape_descriptions_unlock(active->descriptions, flags);
}

/**
 * stape_encode_lent() - write the priority that a task is about to have because of a waiter
 * @active: a session's
 * @task: the task
 * @prio: the kernel priority
 *
 * Context: any.  A CPU that the session does not record writes nothing.
 */
void stape_encode_lent(struct stape_active *active, const struct task_struct *task, int prio)
{
	unsigned long flags;

	local_irq_save(flags);
	stape_encode_put_prio(this_cpu_ptr(active->rings), task, &prio);
	local_irq_restore(flags);
}

/**
 * stape_encode_set() - write a STAPE_EV_SET into the ring of this CPU
 * @active: a session's
 * @what: STAPE_SET_*
 * @pid: the task's PID, or 0
 * @payload: words that follow the event's word
 * @words: words in @payload
 *
 * Context: any.  A CPU that the session does not record writes nothing.
 */
void stape_encode_set(struct stape_active *active, u32 what, u32 pid, const u64 *payload, u32 words)
{
	struct stape_ring *ring;
	unsigned long flags;

	local_irq_save(flags);
	ring = this_cpu_ptr(active->rings);
	stape_ring_put_payload(ring, stape_ring_now(ring), STAPE_EV_SET, pid, what, payload, words);
	local_irq_restore(flags);
}

/**
 * stape_encode_interval() - write that an interval ends
 * @active: a session's, with rings
 * @nr: the interval's number
 * @time: returned: when, ns of CLOCK_MONOTONIC
 *
 * It is a description, so that it does not depend on the CPU, and is never overwritten.
 *
 * Context: any.
 * Return: false if the event is lost, or the ring is paused.
 */
bool stape_encode_interval(struct stape_active *active, u64 nr, u64 *time)
{
	const u64 payload[STAPE_INTERVAL_WORDS] = { [STAPE_INTERVAL_NR] = nr };
	struct stape_ring *ring;
	unsigned long flags;
	bool written;

	ring = stape_descriptions_lock(active->descriptions, &flags);
	written = stape_ring_put_payload(ring, stape_ring_now(ring), STAPE_EV_SET, 0,
					 STAPE_SET_INTERVAL, payload, STAPE_INTERVAL_WORDS);
	/* The event may have the time of the one before, if the clock has stepped back. */
	*time = ring->counter ? ktime_get_mono_fast_ns() : ring->last;
	stape_descriptions_unlock(active->descriptions, flags);
	return written;
}

/**
 * stape_encode_affinity() - write a task's affinity
 * @active: a session's
 * @task: the task
 * @payload: returned: the words that were written; room for STAPE_AFFINITY_WORDS + 1
 *
 * Context: any.
 */
void stape_encode_affinity(struct stape_active *active, const struct task_struct *task,
			   u64 *payload)
{
	struct stape_ring *ring;
	unsigned long flags;
	u64 now;
	u32 n;

	ring = stape_descriptions_lock(active->descriptions, &flags);
	now = stape_ring_now(ring);
	n = stape_task_affinity(task, payload);
	stape_ring_put_payload(ring, now, STAPE_EV_SET, task->pid, STAPE_SET_AFFINITY, payload, n);
	stape_descriptions_unlock(active->descriptions, flags);
}

/*
 * Writes a task's description.  Under the lock of the descriptions.  @words: returned:
 * STAPE_TASK_ROOM, the last of which is that of stape_task_shared().  Returns the event's time.
 */
static u64 stape_encode_put_task(struct stape_active *active, struct task_struct *task,
				 const char *comm, u32 why, u64 *words)
{
	struct stape_ring *ring = &active->descriptions->ring;
	u64 now = stape_ring_now(ring), shared;
	u32 n = stape_task_words(task, stape_filter_parent(&active->filter, task), comm, words,
				 &shared);

	words[n] = shared;
	stape_ring_put_payload(ring, now, STAPE_EV_TASK, task->pid, why, words, n + !!shared);
	/* Each word has its place now, and those that the event leaves out are 0. */
	words[n] = 0;
	words[STAPE_TASK_ROOM - 1] = shared;
	return now;
}

/* Writes the name of a cgroup, which stays as it is: version 2 renames none.  For RCU readers. */
static void stape_encode_put_cgroup(struct stape_ring *ring, struct cgroup *cgroup)
{
	const char *name = (const char __force *)READ_ONCE(cgroup->kn->name);
	size_t n, left = strlen(name) + 1;
	u64 words[STAPE_CGROUP_WORDS];

	for (; left; left -= n, name += n) {
		memset(words, 0, sizeof(words));
		n = min(left, sizeof(words) - STAPE_CGROUP_NAME * sizeof(u64));
		words[STAPE_CGROUP_ID] = cgroup_id(cgroup);
		words[STAPE_CGROUP_PARENT] = cgroup_id(cgroup_parent(cgroup));
		memcpy(words + STAPE_CGROUP_NAME, name, n);
		stape_ring_put_payload(ring, stape_ring_now(ring), STAPE_EV_SET, 0,
				       STAPE_SET_CGROUP, words,
				       STAPE_CGROUP_NAME + DIV_ROUND_UP(n, sizeof(u64)));
	}
}

/*
 * Writes the names of a task's cgroup and of those above it that are new.  The recorder may be too
 * late to read them.  A cgroup is newer than all above it.
 */
static void stape_encode_cgroups(struct stape_active *active, struct task_struct *task)
{
	u64 first = READ_ONCE(active->cgroups.first);
	struct stape_ring *ring;
	struct cgroup *cgroup;
	unsigned long flags;

	if (likely(!first) || stape_ring_is_paused(&active->descriptions->ring))
		return;
	rcu_read_lock();
	/* The names that are noted as written are in the stream then. */
	ring = stape_descriptions_lock(active->descriptions, &flags);
	for (cgroup = task_dfl_cgroup(task); cgroup && cgroup->self.serial_nr >= first;
	     cgroup = cgroup_parent(cgroup))
		if (stape_cgroups_take_name(&active->cgroups, cgroup_id(cgroup)))
			stape_encode_put_cgroup(ring, cgroup);
	stape_descriptions_unlock(active->descriptions, flags);
	rcu_read_unlock();
}

static void stape_encode_description(struct stape_active *active, struct task_struct *task,
				     const char *comm, u32 why, u64 *words)
{
	unsigned long flags;

	stape_cgroups_add(&active->cgroups, task);
	stape_encode_cgroups(active, task);
	stape_descriptions_lock(active->descriptions, &flags);
	stape_encode_put_task(active, task, comm, why, words);
	stape_descriptions_unlock(active->descriptions, flags);
}

/**
 * stape_encode_task() - write a task's description
 * @active: a session's; nothing is written unless it has rings and records
 * @task: the task
 * @comm: its name, TASK_COMM_LEN bytes
 * @why: STAPE_TASK_ENTERS, _LEAVES, _MOVES, _FORKED or _REGROUPED
 *
 * Context: any; under the runqueue lock only when an io_uring worker starts: in a container each
 * worker is described.
 */
void stape_encode_task(struct stape_active *active, struct task_struct *task, const char *comm,
		       u32 why)
{
	u64 words[STAPE_TASK_ROOM];

	if (active->rings)
		stape_encode_description(active, task, comm, why, words);
}

static __always_inline void stape_encode_put_exit(struct stape_ring *ring, u64 now, u32 pid,
						  u32 arg)
{
	u32 low = pid << STAPE_PID_SHIFT | arg << STAPE_EXIT_SHIFT;

	stape_ring_put(ring, stape_ring_word(STAPE_EV_EXIT, low), now);
}

/**
 * stape_encode_exit() - write that a task exits, and describe it for the last time
 * @active: a session's
 * @task: current
 *
 * Both events have the same time.
 *
 * Context: interrupts off, no runqueue lock.
 */
void stape_encode_exit(struct stape_active *active, struct task_struct *task)
{
	u64 words[STAPE_TASK_ROOM];
	struct stape_ring *ring;
	u64 now;

	stape_encode_cgroups(active, task);
	ring = stape_descriptions_lock_irq_off(active->descriptions);
	now = stape_encode_put_task(active, task, task->comm, STAPE_TASK_EXITS, words);
	stape_encode_put_exit(ring, now, task->pid, STAPE_EXIT_BEGINS);
	stape_descriptions_unlock_irq_off(active->descriptions);
}

/**
 * stape_encode_ended() - write the end of a task whose last switch is in no ring
 * @active: a session's
 * @pid: the task's PID
 *
 * Context: interrupts off, no runqueue lock.
 */
void stape_encode_ended(struct stape_active *active, u32 pid)
{
	struct stape_ring *ring = stape_descriptions_lock_irq_off(active->descriptions);

	stape_encode_put_exit(ring, stape_ring_now(ring), pid, STAPE_EXIT_ENDED);
	stape_descriptions_unlock_irq_off(active->descriptions);
}

/* The part of a PRIO's word that is not lent by other tasks. */
#define STAPE_ENCODE_OWN_PRIO	(0xffULL << STAPE_PRIO_POLICY_SHIFT |	\
				 0xffULL << STAPE_PRIO_NICE_SHIFT |	\
				 0xffULL << STAPE_PRIO_RT_SHIFT)

static void stape_encode_read(struct stape_attributes *attributes, struct task_struct *task)
{
	unsigned int policy = READ_ONCE(task->policy);

	memset(attributes, 0, sizeof(*attributes));
	attributes->prio = stape_task_prio_word(task, policy, 0, false) & STAPE_ENCODE_OWN_PRIO;
	stape_task_dl_words(task, policy, attributes->dl);
	stape_task_affinity(task, attributes->affinity);
	attributes->cgroup = stape_task_cgroup(task);
	attributes->shared = stape_task_shared(task);
}

/**
 * stape_encode_changes() - write the attributes of a task that are not in the stream yet
 * @active: a session's; nothing is written unless it has rings and records
 * @task: the task
 * @comm: its name, TASK_COMM_LEN bytes
 * @known: the attributes that are in the stream; NULL: write all
 *
 * Context: any; under the runqueue lock only when an io_uring worker starts.
 */
void stape_encode_changes(struct stape_active *active, struct task_struct *task,
			  const char *comm, const struct stape_attributes *known)
{
	u64 affinity[STAPE_AFFINITY_WORDS + 1];
	struct stape_attributes now;

	if (!active->rings)
		return;
	stape_encode_read(&now, task);
	if (!known || now.cgroup != known->cgroup)
		stape_encode_task(active, task, comm, STAPE_TASK_MOVES);
	else if (now.shared != known->shared)
		stape_encode_task(active, task, comm, STAPE_TASK_REGROUPED);
	else if (now.prio != known->prio || memcmp(now.dl, known->dl, sizeof(now.dl)))
		stape_encode_prio(active, task);
	if (!known || memcmp(now.affinity, known->affinity, sizeof(now.affinity)))
		stape_encode_affinity(active, task, affinity);
}

/**
 * stape_encode_enter() - write a task that enters
 * @active: a session's; nothing is written unless it has rings and records
 * @task: the task
 * @comm: its name, TASK_COMM_LEN bytes
 * @written: returned: the attributes that are in the stream now
 *
 * Context: under the stape_filter_lock() of its PID.
 */
void stape_encode_enter(struct stape_active *active, struct task_struct *task, const char *comm,
			struct stape_attributes *written)
{
	u64 words[STAPE_TASK_ROOM] = { 0 };

	stape_encode_read(written, task);
	if (!active->rings)
		return;
	stape_encode_description(active, task, comm, STAPE_TASK_ENTERS, words);
	written->prio = words[STAPE_TASK_PRIO] & STAPE_ENCODE_OWN_PRIO;
	memcpy(written->dl, words + STAPE_TASK_WORDS, sizeof(written->dl));
	written->cgroup = words[STAPE_TASK_CGROUP];
	written->shared = words[STAPE_TASK_ROOM - 1];
	memset(written->affinity, 0, sizeof(written->affinity));
	stape_encode_affinity(active, task, written->affinity);
}

/*
 * Returns STAPE_FORK_*.  Threads that the kernel makes for a process are in its thread group, see
 * stape_probe_wakeup_new().  All other children are made by current, which is @parent.  They are
 * its own or, with CLONE_PARENT, those of its parent.  That may have ended since then, but current
 * does not get its children.  The pointer is only compared: to follow it takes rcu_read_lock().
 *
 * Context: any.
 */
static u32 stape_encode_relation(struct task_struct *parent, struct task_struct *child)
{
	if (same_thread_group(parent, child))
		return STAPE_FORK_THREAD;
	return rcu_access_pointer(child->real_parent) == parent ? 0 : STAPE_FORK_SIBLING;
}

/**
 * stape_encode_fork() - write the fork of a child that becomes a member with it
 * @active: a session's
 * @parent: the task that forked: current, or if the kernel makes a thread for a process, perhaps
 *	the leader of that
 * @child: the new task
 *
 * Context: interrupts off.  When an io_uring worker starts, the runqueue lock is held.
 */
void stape_encode_fork(struct stape_active *active, struct task_struct *parent,
		       struct task_struct *child)
{
	u32 low = (u32)child->pid << STAPE_PID_SHIFT | stape_encode_relation(parent, child);
	u64 word = stape_ring_word(STAPE_EV_FORK, low);
	struct stape_ring *ring = stape_descriptions_lock_irq_off(active->descriptions);

	BUILD_BUG_ON(STAPE_FORK_PARENT_SHIFT != STAPE_ARG_BITS);
	stape_ring_put_long(ring, word, parent->pid, stape_ring_now(ring));
	stape_descriptions_unlock_irq_off(active->descriptions);
}

/**
 * stape_encode_differences() - write what a reader cannot know of a child by its parent
 * @active: a session's
 * @parent: the task that forked
 * @child: the new task
 * @all: write all of them
 *
 * Context: under the stape_filter_lock() of the child's PID.  When an io_uring worker starts, the
 * runqueue lock is held.
 */
void stape_encode_differences(struct stape_active *active, struct task_struct *parent,
			      struct task_struct *child, bool all)
{
	const char *comm = stape_filter_name(child, child->pid);
	struct stape_attributes inherited;
	u64 affinity[STAPE_AFFINITY_WORDS + 1];

	if (stape_encode_is_nested(child)) {
		stape_encode_task(active, child, comm, STAPE_TASK_FORKED);
		/* It has all but this. */
		if (all || !stape_encode_same_cpus(&child->cpus_mask, &parent->cpus_mask))
			stape_encode_affinity(active, child, affinity);
		return;
	}
	stape_encode_read(&inherited, parent);
	stape_encode_changes(active, child, comm, all ? NULL : &inherited);
}

/**
 * stape_encode_resync() - write a switch if ring->curr does not match current
 * @active: a session's
 *
 * If current has entered or left the filter since the last switch, a switch to current, or to
 * another task, is written.  PIDs are compared, not only membership, because another member
 * may have left, run unrecorded, and entered again in between.
 *
 * Context: interrupts off.
 */
void stape_encode_resync(struct stape_active *active)
{
	struct stape_ring *ring = this_cpu_ptr(active->rings);
	bool recorded = stape_filter_has(&active->filter, current);
	u64 now = stape_ring_now(ring);
	u32 low;

	if (stape_ring_curr_pid(ring) == (recorded ? current->pid : 0))
		return;
	low = stape_encode_switch_low(recorded, current->pid, STAPE_STATE_RUNNING);
	stape_ring_put_switch(ring, stape_ring_word(STAPE_EV_SWITCH, low), now);
	WRITE_ONCE(ring->running_since, now);
}

/**
 * stape_encode_resync_current() - stape_encode_resync() where interrupts may be on
 * @active: a session's
 *
 * Context: any.
 */
void stape_encode_resync_current(struct stape_active *active)
{
	unsigned long flags;

	local_irq_save(flags);
	stape_encode_resync(active);
	local_irq_restore(flags);
}
