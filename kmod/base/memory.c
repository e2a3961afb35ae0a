// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory whose size a request decides: rings, filters, replays.
 *
 * vmalloc() is not enough.  On recent kernels (7.3 has it) a vmalloc() that fails gives back
 * what it already has in a work item.  Until that runs, the caller's memory cgroup is full,
 * and the next page that one of its processes touches has the OOM killer choose one of them.
 * So the pages are allocated here, and are freed before this returns NULL.
 */
#include "base/memory.h"

#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

static void stape_memory_put(struct page **pages, unsigned long nr)
{
	while (nr--)
		__free_page(pages[nr]);
	kvfree(pages);
}

/* Allocates @nr pages, or none. */
static struct page **stape_memory_get(unsigned long nr, int node)
{
	struct page **pages;
	unsigned long i;

	pages = kvmalloc_array(nr, sizeof(*pages), STAPE_GFP_LARGE);
	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i] = fatal_signal_pending(current) ? NULL :
			   alloc_pages_node(node, STAPE_GFP_LARGE, 0);
		if (!pages[i]) {
			stape_memory_put(pages, i);
			return NULL;
		}
		cond_resched();
	}
	return pages;
}

/**
 * stape_memory_alloc() - allocate an array whose length a request decides
 * @count: elements; 0 is taken as 1
 * @size: bytes of an element
 * @node: NUMA node that the memory should be on; NUMA_NO_NODE: that of the
 *	CPU that the caller runs on, whatever its memory policy says.  Another node is taken if
 *	this one has too little, or if the caller's cpuset forbids it
 *
 * The memory is zeroed, begins at a page, and is charged to the caller's memory cgroup.
 * vmalloc_to_page() finds its pages.
 *
 * Context: may sleep.
 * Return: the memory, for stape_memory_free(), or NULL: there is too little memory, or the
 * caller is being killed.
 */
void *stape_memory_alloc(u64 count, size_t size, int node)
{
	struct page **pages;
	unsigned long nr;
	void *memory;
	u64 bytes;

	/* A request for more than the machine has fails at once. */
	if (check_mul_overflow(max_t(u64, count, 1), (u64)size, &bytes) ||
	    bytes >> PAGE_SHIFT >= totalram_pages())
		return NULL;
	nr = PAGE_ALIGN(bytes) >> PAGE_SHIFT;
	/* All CPUs of a node may be offline, and the node with them. */
	if (node != NUMA_NO_NODE && !node_online(node))
		node = NUMA_NO_NODE;
	pages = stape_memory_get(nr, node);
	if (!pages)
		return NULL;
	/* The area owns the pages and their array: vfree() frees both. */
	memory = vmap(pages, nr, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (!memory)
		stape_memory_put(pages, nr);
	else
		/* vmap() does not do that.  Two pointers: vm_struct's and the caller's. */
		kmemleak_alloc(memory, nr << PAGE_SHIFT, 2, GFP_KERNEL);
	return memory;
}

/**
 * stape_memory_free() - free memory
 * @memory: from stape_memory_alloc(), or NULL
 *
 * Context: may sleep.
 */
void stape_memory_free(const void *memory)
{
	vfree(memory);
}
