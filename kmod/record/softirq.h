/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SOFTIRQ_H
#define _STAPE_SOFTIRQ_H

#include <linux/types.h>

/* Tracepoints softirq_raise, softirq_entry. */
void stape_softirq_raise(void *data, unsigned int vec);
void stape_softirq_entry(void *data, unsigned int vec);

bool stape_softirq_by_current(void);

#endif /* _STAPE_SOFTIRQ_H */
