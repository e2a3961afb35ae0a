/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_SCHED_H
#define _STAPE_PROBE_SCHED_H

#include <linux/types.h>

struct task_struct;

/* Tracepoints sched_switch, sched_waking, sched_wakeup, sched_wakeup_new, sched_migrate_task. */
void stape_probe_switch(void *data, bool preempt, struct task_struct *prev,
			struct task_struct *next, unsigned int prev_state);
void stape_probe_waking(void *data, struct task_struct *task);
void stape_probe_wakeup(void *data, struct task_struct *task);
void stape_probe_wakeup_new(void *data, struct task_struct *task);
void stape_probe_migrate(void *data, struct task_struct *task, int cpu);

#endif /* _STAPE_PROBE_SCHED_H */
