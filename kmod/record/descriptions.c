// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of a session's descriptions, which all CPUs share.
 */
#include "record/descriptions.h"

#include "base/memory.h"

/**
 * stape_descriptions_pages() - get the number of pages of the ring
 * @setup: settings of the session's rings
 *
 * Context: any.
 */
u32 stape_descriptions_pages(const struct stape_ring_setup *setup)
{
	return min_t(u32, setup->pages, STAPE_DESCRIPTIONS_PAGES_MAX);
}

/**
 * stape_descriptions_create() - make the ring
 * @setup: settings of the session's rings; it has the same clock
 *
 * The ring begins paused.  The memory is charged to the caller's memory cgroup.
 *
 * Context: may sleep.
 * Return: the ring, or NULL: there is too little memory.
 */
struct stape_descriptions *stape_descriptions_create(const struct stape_ring_setup *setup)
{
	struct stape_descriptions *descriptions;

	/* A page, because kmalloc() does not promise the alignment of a struct stape_ring. */
	descriptions = stape_memory_alloc(1, sizeof(*descriptions), NUMA_NO_NODE);
	if (!descriptions)
		return NULL;
	raw_spin_lock_init(&descriptions->lock);
	if (!stape_ring_init_shared(&descriptions->ring, stape_descriptions_pages(setup), setup))
		return descriptions;
	stape_descriptions_destroy(descriptions);
	return NULL;
}

/**
 * stape_descriptions_destroy() - free the ring
 * @descriptions: from stape_descriptions_create(), or NULL; no probe uses it any more
 *
 * Context: may sleep.
 */
void stape_descriptions_destroy(struct stape_descriptions *descriptions)
{
	if (descriptions)
		stape_ring_destroy(&descriptions->ring);
	stape_memory_free(descriptions);
}

/**
 * stape_descriptions_call() - flush, pause or finish the ring
 * @descriptions: any
 * @func: stape_ring_flush(), stape_ring_pause() or stape_ring_finish()
 *
 * Context: any without the lock of another ring of descriptions.
 */
void stape_descriptions_call(struct stape_descriptions *descriptions,
			     void (*func)(struct stape_ring *ring))
{
	unsigned long flags;

	func(stape_descriptions_lock(descriptions, &flags));
	stape_descriptions_unlock(descriptions, flags);
}
