/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MEMORY_H
#define _STAPE_MEMORY_H

#include <linux/gfp.h>
#include <linux/numa.h>
#include <linux/types.h>

/*
 * For memory whose size a request decides.  It is charged to the caller's memory cgroup.  If
 * there is too little, the allocation fails: the OOM killer does not run, and nothing is logged.
 */
#define STAPE_GFP_LARGE \
	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN | __GFP_ZERO)

void *stape_memory_alloc(u64 count, size_t size, int node);
void stape_memory_free(const void *memory);

#endif /* _STAPE_MEMORY_H */
