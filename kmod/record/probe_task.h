/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_TASK_H
#define _STAPE_PROBE_TASK_H

#include <linux/types.h>

struct cgroup;
struct linux_binprm;
struct task_struct;

/*
 * Tracepoints sched_process_fork, sched_process_exec, sched_process_exit, cgroup_attach_task,
 * cgroup_mkdir.
 */
void stape_probe_fork(void *data, struct task_struct *parent, struct task_struct *child);
void stape_probe_exec(void *data, struct task_struct *task, pid_t old_pid,
		      struct linux_binprm *bprm);
void stape_probe_exit(STAPE_EXIT_PROTO);
void stape_probe_cgroup(void *data, struct cgroup *cgroup, const char *path,
			struct task_struct *task, bool process);
void stape_probe_mkdir(void *data, struct cgroup *cgroup, const char *path);

#endif /* _STAPE_PROBE_TASK_H */
