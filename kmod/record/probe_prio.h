/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_PRIO_H
#define _STAPE_PROBE_PRIO_H

#include "record/retprobe.h"

struct task_struct;

/* Tracepoint sched_pi_setprio. */
void stape_probe_boost(void *data, struct task_struct *task, struct task_struct *waiter);

#ifdef STAPE_RETPROBES
/* For functions whose first argument is the task. */
extern const struct stape_retprobe_ops stape_prio_ops;
#endif

#endif /* _STAPE_PROBE_PRIO_H */
