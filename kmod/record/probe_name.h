/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_NAME_H
#define _STAPE_PROBE_NAME_H

#include "record/retprobe.h"

struct task_struct;

/* Tracepoint task_rename. */
void stape_probe_rename(void *data, struct task_struct *task, const char *comm);

#ifdef STAPE_RETPROBES
/* __set_task_comm() */
extern const struct stape_retprobe_ops stape_name_ops;
#endif

#endif /* _STAPE_PROBE_NAME_H */
