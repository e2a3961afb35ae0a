/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PRIO_H
#define _STAPE_PRIO_H

#include "hook.h"

#ifdef STAPE_HOOKS
/* Of functions whose first argument is the task. */
extern const size_t stape_prio_size;
int stape_prio_enter(struct kretprobe_instance *instance, struct pt_regs *regs);
int stape_prio_return(struct kretprobe_instance *instance, struct pt_regs *regs);
#endif

#endif /* _STAPE_PRIO_H */
