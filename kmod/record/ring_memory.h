/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_RING_MEMORY_H
#define _STAPE_RING_MEMORY_H

#include <linux/types.h>

u64 stape_ring_memory_max(void);
u64 stape_ring_memory_used(void);
void stape_ring_memory_charge(s64 bytes);

#endif /* _STAPE_RING_MEMORY_H */
