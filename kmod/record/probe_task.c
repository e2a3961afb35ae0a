// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for a task's lifecycle: its execve(), its names, its moves between cgroups; and for new
 * cgroups.  Those of forks and exits are stape_members_fork() and stape_members_exit().
 *
 * Interrupts may be on in them, so they switch interrupts off to write.  Those of fork, exec
 * and exit can be preempted on recent kernels, so each of them is an RCU reader: see attach.c.
 * Those of fork and exit switch preemption off for that, which takes fewer instructions than
 * rcu_read_lock().  They do nothing that could sleep on PREEMPT_RT.
 */
#include "record/probes.h"

#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "record/encode.h"
#include "record/members.h"
#include "record/watch.h"

static void stape_probe_exec_one(struct stape_active *active, struct task_struct *task,
				 u64 old_pid)
{
	unsigned long flags;

	/* No resync may come in between, because it would find that the task has left. */
	local_irq_save(flags);
	if (stape_members_exec(active, task, old_pid)) {
		stape_encode_payload(active, STAPE_EV_EXEC, task, &old_pid, 1);
		/* If it has another PID now, this CPU writes a switch to that. */
		stape_encode_resync(active);
	}
	local_irq_restore(flags);
	/* A kernel thread may have become a user task. */
	stape_members_check(active, task, 0, NULL);
}

void stape_probe_exec(void *data, struct task_struct *task, pid_t old_pid,
		      struct linux_binprm *bprm)
{
	struct stape_active *active;

	if (stape_watch_enabled())
		stape_watch_gone(task);
	rcu_read_lock();
	for_each_active(active)
		stape_probe_exec_one(active, task, old_pid);
	rcu_read_unlock();
}

void stape_probe_rename(void *data, struct task_struct *task, const char *comm)
{
	char name[TASK_COMM_LEN];

	strscpy_pad(name, comm, sizeof(name));
	rcu_read_lock();
	stape_members_rename(task, name);
	rcu_read_unlock();
}

void stape_probe_cgroup(void *data, struct cgroup *cgroup, const char *path,
			struct task_struct *task, bool process)
{
	struct stape_active *active;

	rcu_read_lock();
	for_each_active(active)
		stape_members_move(active, cgroup, task, process);
	rcu_read_unlock();
}

void stape_probe_mkdir(void *data, struct cgroup *cgroup, const char *path)
{
	struct stape_active *active;

	/* After the end of the cgroup that had the path; pairs with stape_rules_add_cgroup(). */
	smp_mb();
	rcu_read_lock();
	for_each_active(active) {
		if (!READ_ONCE(active->cgroups.first))
			WRITE_ONCE(active->cgroups.first, cgroup->self.serial_nr);
		stape_filter_follow(&active->filter, cgroup, path);
	}
	rcu_read_unlock();
}
