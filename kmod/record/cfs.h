/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_CFS_H
#define _STAPE_CFS_H

#include <linux/types.h>

/* This kernel has quotas of cgroups. */
#if defined(CONFIG_CFS_BANDWIDTH) && defined(CONFIG_CGROUP_SCHED)
#define STAPE_CFS_QUOTAS
#endif

int stape_cfs_init(void);
bool stape_cfs_is_known(void);
bool stape_cfs_find(const void *queue, u64 *cgroup, u32 *cpu);
void stape_cfs_exit(void);

#endif /* _STAPE_CFS_H */
