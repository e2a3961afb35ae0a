/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes that attach.c switches on: those of tracepoints, and the handlers of return probes.
 */
#ifndef _STAPE_PROBES_H
#define _STAPE_PROBES_H

#include "record/retprobe.h"

struct cgroup;
struct linux_binprm;
struct task_struct;

/* Tracepoints sched_switch, sched_waking, sched_wakeup, sched_wakeup_new, sched_migrate_task. */
void stape_probe_switch(void *data, bool preempt, struct task_struct *prev,
			struct task_struct *next, unsigned int prev_state);
void stape_probe_waking(void *data, struct task_struct *task);
void stape_probe_wakeup(void *data, struct task_struct *task);
void stape_probe_wakeup_new(void *data, struct task_struct *task);
void stape_probe_migrate(void *data, struct task_struct *task, int cpu);

/* Tracepoints sched_process_exec, task_rename, cgroup_attach_task, cgroup_mkdir. */
void stape_probe_exec(void *data, struct task_struct *task, pid_t old_pid,
		      struct linux_binprm *bprm);
void stape_probe_rename(void *data, struct task_struct *task, const char *comm);
void stape_probe_cgroup(void *data, struct cgroup *cgroup, const char *path,
			struct task_struct *task, bool process);
void stape_probe_mkdir(void *data, struct cgroup *cgroup, const char *path);

/* Tracepoint sched_pi_setprio. */
void stape_probe_boost(void *data, struct task_struct *task, struct task_struct *waiter);

/* Tracepoints softirq_raise, softirq_entry. */
void stape_softirq_raise(void *data, unsigned int vec);
void stape_softirq_entry(void *data, unsigned int vec);

/* Returns whether current alone has raised the softirq that it serves. */
bool stape_softirq_by_current(void);

#ifdef STAPE_RETPROBES
extern const struct stape_retprobe_ops stape_prio_ops;		/* the first argument is the task */
extern const struct stape_retprobe_ops stape_affinity_ops;	/* sched_setaffinity() */
extern const struct stape_retprobe_ops stape_group_ops;		/* setsid() */
extern const struct stape_retprobe_ops stape_throttle_ops;
extern const struct stape_retprobe_ops stape_unthrottle_ops;
#endif

#endif /* _STAPE_PROBES_H */
