// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probes: one per tracepoint, however many sessions record.  They run in
 * the scheduler, under its locks: they allocate nothing, lock nothing, print
 * nothing and wake nobody.
 *
 * Each CPU writes its own ring with interrupts off.  Switches, migrations and
 * new tasks come that way; wake-ups of a task by itself, forks, exits, execs
 * and renames do not, and switch them off here.
 */
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "probe.h"

#include <linux/mutex.h>
#include <linux/tracepoint.h>

#include "player.h"
#include "session.h"
#include "task.h"

/* Probes run with preemption off, which is an RCU reader's section. */
#define for_each_active_session(session) \
	hlist_for_each_entry_rcu_notrace(session, &stape_sessions_active, active)

static u32 stape_probe_context(void)
{
	if (likely(!in_interrupt()))
		return STAPE_CTX_TASK;
	if (in_nmi())
		return STAPE_CTX_NMI;
	if (in_hardirq())
		return STAPE_CTX_HARDIRQ;
	/* Softirqs that are only disabled are no context of their own. */
	return in_serving_softirq() ? STAPE_CTX_SOFTIRQ : STAPE_CTX_TASK;
}

/*
 * A CPU goes from one task, which leaves in @state, to @next.  Written only if
 * one of the two is the filter's.
 */
static __always_inline void stape_probe_switched(struct stape_session *session,
						 struct stape_ring *ring,
						 struct task_struct *next, u32 state)
{
	u32 pid = stape_filter_has(&session->filter, next) ? next->pid : 0;
	u32 kind;

	if (!(ring->curr | pid))
		return;
	kind = pid ? STAPE_NEXT_TASK : next->pid ? STAPE_NEXT_OTHER : STAPE_NEXT_IDLE;
	stape_ring_emit(ring, STAPE_EV_SWITCH, pid, state | kind << STAPE_SWITCH_NEXT_SHIFT);
	ring->curr = pid;
	ring->curr_kind = kind;
}

/**
 * stape_probe_refresh() - judge what runs on this CPU anew
 * @data: the session, whose filter has changed
 *
 * A task that has become, or ceased to be, the filter's is written as a switch.
 *
 * Context: on_each_cpu(): interrupts off.
 */
void stape_probe_refresh(void *data)
{
	struct stape_session *session = data;
	struct stape_ring *ring = this_cpu_ptr(session->rings);

	if (stape_filter_has(&session->filter, current) != !!ring->curr)
		stape_probe_switched(session, ring, current, STAPE_STATE_RUNNING);
}

static void stape_probe_dead(struct stape_session *session, struct task_struct *task)
{
	if (stape_filter_dead(&session->filter, task))
		irq_work_queue(&session->wake);
}

static void stape_probe_switch(void *data, bool preempt, struct task_struct *prev,
			       struct task_struct *next, unsigned int prev_state)
{
	struct stape_session *session;
	u32 state;

	/*
	 * A task with a signal pending does not block, whatever prev_state was
	 * read before that was found out: then its state is back to running.
	 */
	if (preempt || !READ_ONCE(prev->__state))
		state = STAPE_STATE_RUNNING;
	else if (prev_state == TASK_INTERRUPTIBLE)
		state = STAPE_STATE_SLEEPING;
	else
		state = stape_task_state(prev_state);

	for_each_active_session(session) {
		stape_probe_switched(session, this_cpu_ptr(session->rings), next, state);
		if (unlikely(state == STAPE_STATE_DEAD))
			stape_probe_dead(session, prev);
	}
	stape_player_switch(prev, next);
}

/* An event of one task.  Not every tracepoint comes with interrupts off. */
static __always_inline void stape_probe_event(struct task_struct *task, u32 type, u64 arg)
{
	struct stape_session *session;
	unsigned long flags;

	for_each_active_session(session) {
		if (!stape_filter_has(&session->filter, task))
			continue;
		local_irq_save(flags);
		stape_ring_emit(this_cpu_ptr(session->rings), type, task->pid, arg);
		local_irq_restore(flags);
	}
}

static void stape_probe_waking(void *data, struct task_struct *task)
{
	stape_probe_event(task, STAPE_EV_WAKING, stape_probe_context());
}

static void stape_probe_wakeup(void *data, struct task_struct *task)
{
	stape_probe_event(task, STAPE_EV_WAKEUP, task_cpu(task));
}

static void stape_probe_wakeup_new(void *data, struct task_struct *task)
{
	stape_probe_event(task, STAPE_EV_WAKEUP_NEW, task_cpu(task));
}

static void stape_probe_migrate(void *data, struct task_struct *task, int cpu)
{
	stape_probe_event(task, STAPE_EV_MIGRATE, cpu);
}

static void stape_probe_exit(void *data, struct task_struct *task)
{
	stape_probe_event(task, STAPE_EV_EXIT, 0);
}

static void stape_probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	u32 arg = same_thread_group(parent, child) ? STAPE_FORK_THREAD : 0;
	struct stape_session *session;
	unsigned long flags;

	for_each_active_session(session) {
		if (!stape_filter_fork(&session->filter, parent, child))
			continue;
		local_irq_save(flags);
		stape_ring_emit(this_cpu_ptr(session->rings), STAPE_EV_FORK, child->pid, arg);
		local_irq_restore(flags);
	}
}

static void stape_probe_exec(void *data, struct task_struct *task, pid_t old_pid,
			     struct linux_binprm *bprm)
{
	struct stape_session *session;
	u64 payload = old_pid;
	unsigned long flags;

	for_each_active_session(session) {
		struct stape_ring *ring;

		if (!stape_filter_exec(&session->filter, task, old_pid))
			continue;
		local_irq_save(flags);
		ring = this_cpu_ptr(session->rings);
		stape_ring_emit_payload(ring, STAPE_EV_EXEC, task->pid, &payload, 1);
		ring->curr = task->pid;
		ring->curr_kind = STAPE_NEXT_TASK;
		local_irq_restore(flags);
	}
}

static void stape_probe_rename(void *data, struct task_struct *task, const char *comm)
{
	u64 payload[STAPE_COMM_LEN / sizeof(u64)];
	struct stape_session *session;
	unsigned long flags;

	strscpy_pad((char *)payload, comm, sizeof(payload));
	for_each_active_session(session) {
		if (!stape_filter_has(&session->filter, task))
			continue;
		local_irq_save(flags);
		stape_ring_emit_payload(this_cpu_ptr(session->rings), STAPE_EV_RENAME, task->pid,
					payload, ARRAY_SIZE(payload));
		local_irq_restore(flags);
	}
}

/* Tracepoints that are not exported are found by their names. */
static struct stape_tracepoint {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} stape_tracepoints[] = {
	{ "sched_switch", stape_probe_switch },
	{ "sched_waking", stape_probe_waking },
	{ "sched_wakeup", stape_probe_wakeup },
	{ "sched_wakeup_new", stape_probe_wakeup_new },
	{ "sched_migrate_task", stape_probe_migrate },
	{ "sched_process_fork", stape_probe_fork },
	{ "sched_process_exit", stape_probe_exit },
	{ "sched_process_exec", stape_probe_exec },
	{ "task_rename", stape_probe_rename },
};

/* A probe whose prototype is not its tracepoint's does not compile. */
static void __maybe_unused stape_probe_check_prototypes(void)
{
	check_trace_callback_type_sched_switch(stape_probe_switch);
	check_trace_callback_type_sched_waking(stape_probe_waking);
	check_trace_callback_type_sched_wakeup(stape_probe_wakeup);
	check_trace_callback_type_sched_wakeup_new(stape_probe_wakeup_new);
	check_trace_callback_type_sched_migrate_task(stape_probe_migrate);
	check_trace_callback_type_sched_process_fork(stape_probe_fork);
	check_trace_callback_type_sched_process_exit(stape_probe_exit);
	check_trace_callback_type_sched_process_exec(stape_probe_exec);
	check_trace_callback_type_task_rename(stape_probe_rename);
}

static void stape_probe_find(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++)
		if (!strcmp(tp->name, stape_tracepoints[i].name))
			stape_tracepoints[i].tp = tp;
}

/**
 * stape_probe_init() - find the tracepoints
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT if this kernel lacks one.
 */
int stape_probe_init(void)
{
	int i;

	for_each_kernel_tracepoint(stape_probe_find, NULL);
	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++) {
		if (!stape_tracepoints[i].tp) {
			pr_err("this kernel has no tracepoint %s\n", stape_tracepoints[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

static void stape_probe_unregister(int n)
{
	while (n--)
		tracepoint_probe_unregister(stape_tracepoints[n].tp, stape_tracepoints[n].probe,
					    NULL);
	/* No probe runs after this: the module may go. */
	tracepoint_synchronize_unregister();
}

/* Protects the count and the registration; nests inside of all other locks. */
static DEFINE_MUTEX(stape_probe_lock);
static unsigned int stape_probe_users;

static int stape_probe_register(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++) {
		ret = tracepoint_probe_register(stape_tracepoints[i].tp,
						stape_tracepoints[i].probe, NULL);
		if (ret) {
			stape_probe_unregister(i);
			return ret;
		}
	}
	return 0;
}

/**
 * stape_probe_get() - hook the tracepoints, for the first user
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int stape_probe_get(void)
{
	int ret = 0;

	mutex_lock(&stape_probe_lock);
	if (!stape_probe_users)
		ret = stape_probe_register();
	if (!ret)
		stape_probe_users++;
	mutex_unlock(&stape_probe_lock);
	return ret;
}

/**
 * stape_probe_put() - unhook the tracepoints, for the last user
 *
 * Context: may sleep.
 */
void stape_probe_put(void)
{
	mutex_lock(&stape_probe_lock);
	if (!--stape_probe_users)
		stape_probe_unregister(ARRAY_SIZE(stape_tracepoints));
	mutex_unlock(&stape_probe_lock);
}
