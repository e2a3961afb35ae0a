/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_H
#define _STAPE_PROBE_H

#include <linux/types.h>

struct stape_ring;
struct stape_session;
struct task_struct;

int stape_probe_init(void);
int stape_probe_get(void);
void stape_probe_put(void);
void stape_probe_switched(struct stape_session *session, struct stape_ring *ring,
			  struct task_struct *next, u32 state);

#endif /* _STAPE_PROBE_H */
