// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of all sessions' rings, and its limit.
 */
#include "record/ring_memory.h"

#include <linux/mm.h>
#include <linux/moduleparam.h>

static unsigned int stape_ring_memory_max_mb;
module_param_named(ring_memory_max, stape_ring_memory_max_mb, uint, 0644);
MODULE_PARM_DESC(ring_memory_max, "MB in the rings of all sessions; 0: a quarter of the memory");

/* Bytes in rings; changed under stape_sessions_lock. */
static u64 stape_ring_memory;

/**
 * stape_ring_memory_max() - get the limit of all sessions' rings together, in bytes
 *
 * Context: any.
 */
u64 stape_ring_memory_max(void)
{
	u64 mb = READ_ONCE(stape_ring_memory_max_mb);

	return mb ? mb << 20 : (u64)totalram_pages() * PAGE_SIZE / 4;
}

/**
 * stape_ring_memory_used() - get the size of all sessions' rings together, in bytes
 *
 * Context: any.
 */
u64 stape_ring_memory_used(void)
{
	return READ_ONCE(stape_ring_memory);
}

/**
 * stape_ring_memory_charge() - count the bytes of a session's rings
 * @bytes: bytes to add; negative: to subtract
 *
 * Context: under stape_sessions_lock.
 */
void stape_ring_memory_charge(s64 bytes)
{
	WRITE_ONCE(stape_ring_memory, stape_ring_memory + bytes);
}
