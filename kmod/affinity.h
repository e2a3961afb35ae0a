/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_AFFINITY_H
#define _STAPE_AFFINITY_H

#include "hook.h"

#ifdef STAPE_HOOKS
/* Of sched_setaffinity(). */
extern const size_t stape_affinity_size;
int stape_affinity_enter(struct kretprobe_instance *instance, struct pt_regs *regs);
int stape_affinity_return(struct kretprobe_instance *instance, struct pt_regs *regs);
#endif

#endif /* _STAPE_AFFINITY_H */
