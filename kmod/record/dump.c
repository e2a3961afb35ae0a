// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describes a session to a reader of a crash dump, in the pages of schedtape/dump.h.  Probes write
 * nothing of it.
 */
#include "record/dump.h"

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <schedtape/dump.h>
#include <schedtape/netlink.h>

#include "base/memory.h"

static_assert(sizeof(struct stape_dump_header) == 56);
static_assert(sizeof(struct stape_dump_session) == 464);
static_assert(sizeof(struct stape_dump_ring) <= STAPE_PAGE_SIZE);
static_assert(STAPE_DUMP_TEXT > __NEW_UTS_LEN);

/* Of this life of the module: see struct stape_dump_header. */
static u64 stape_dump_load;
static u64 stape_dump_loaded;

/**
 * struct stape_dump - a session's pages for a crash dump
 * @lock: serialises stape_dump_sample()
 * @nr_pages: entries of @pages
 * @session: the first of the pages
 * @pages: all of them, each of STAPE_PAGE_SIZE bytes
 */
struct stape_dump {
	spinlock_t lock;	/* see above */
	u32 nr_pages;
	struct stape_dump_session *session;
	void *pages;
};

/**
 * stape_dump_init() - draw the number of this life of the module
 *
 * Context: before the first session.
 */
void stape_dump_init(void)
{
	stape_dump_load = get_random_u64();
	stape_dump_loaded = ktime_get_real_ns();
}

/* Returns how many pages list those of a ring of @pages. */
static u32 stape_dump_lists(u32 pages)
{
	return DIV_ROUND_UP(pages, STAPE_DUMP_LISTED);
}

static u32 stape_dump_pages(const struct stape_ring_setup *setup)
{
	return 1 + stape_dump_lists(stape_descriptions_pages(setup)) +
	       cpumask_weight(&setup->cpus) * stape_dump_lists(setup->pages);
}

/**
 * stape_dump_bytes() - get the memory that stape_dump_create() takes
 * @setup: settings of the session's rings
 *
 * Context: any.
 */
u64 stape_dump_bytes(const struct stape_ring_setup *setup)
{
	return sizeof(struct stape_dump) + (u64)stape_dump_pages(setup) * STAPE_PAGE_SIZE;
}

/* Returns the physical address of what vmalloc(), alloc_percpu() or kmalloc() has allocated. */
static u64 stape_dump_address(const void *memory)
{
	if (is_vmalloc_addr(memory))
		return PFN_PHYS(vmalloc_to_pfn(memory)) + offset_in_page(memory);
	return virt_to_phys((void *)memory);
}

static void *stape_dump_page(const struct stape_dump *dump, u32 i)
{
	return dump->pages + (size_t)i * STAPE_PAGE_SIZE;
}

static void stape_dump_begin_page(void *page, u32 kind, u32 session)
{
	*(struct stape_dump_header *)page = (struct stape_dump_header){
		.version = STAPE_DUMP_VERSION,
		.kind = kind,
		.address = stape_dump_address(page),
		.load = stape_dump_load,
		.loaded = stape_dump_loaded,
		.session = session,
	};
}

static void stape_dump_describe(struct stape_dump *dump, const struct stape_ring_setup *setup)
{
	struct stape_dump_session *page = dump->session;

	page->wire_version = STAPE_WIRE_VERSION;
	page->nr_cpus = nr_cpu_ids;
	page->clock = setup->counter ? STAPE_CLOCK_COUNTER : STAPE_CLOCK_MONO;
	page->flags = (setup->overwrite ? STAPE_DUMP_OVERWRITE : 0) |
		      (setup->syscalls ? STAPE_DUMP_SYSCALLS : 0);
	page->hz = HZ;
	strscpy(page->release, init_utsname()->release, sizeof(page->release));
	strscpy(page->kernel_version, init_utsname()->version, sizeof(page->kernel_version));
	strscpy(page->machine, init_utsname()->machine, sizeof(page->machine));
}

/* Lists the pages of a ring from page @i of the dump on.  Returns the next page of the dump. */
static u32 stape_dump_list(struct stape_dump *dump, u32 i, u32 session, u32 cpu,
			   const struct stape_ring *ring)
{
	u32 pages = ring->mask + 1, first, n;
	struct stape_dump_ring *page;

	for (first = 0; first < pages; first += STAPE_DUMP_LISTED) {
		page = stape_dump_page(dump, i++);
		stape_dump_begin_page(page, STAPE_DUMP_RING, session);
		page->cpu = cpu;
		page->pages = pages;
		page->first = first;
		page->listed = min_t(u32, pages - first, STAPE_DUMP_LISTED);
		page->producer = stape_dump_address(ring->producer);
		page->position = stape_dump_address(&ring->pos);
		for (n = 0; n < page->listed; n++)
			page->addresses[n] = stape_dump_address(ring->data +
							(size_t)(first + n) * STAPE_PAGE_SIZE);
		cond_resched();
	}
	return i;
}

/* Makes the pages valid, or invalid. */
static void stape_dump_mark(struct stape_dump *dump, bool valid)
{
	struct stape_dump_header *header;
	u32 i;

	for (i = 0; i < dump->nr_pages; i++) {
		header = stape_dump_page(dump, i);
		WRITE_ONCE(header->magic[0], valid ? STAPE_DUMP_MAGIC_0 : 0);
		WRITE_ONCE(header->magic[1], valid ? STAPE_DUMP_MAGIC_1 : 0);
	}
}

/**
 * stape_dump_create() - describe a session for the reader of a crash dump
 * @session: its number
 * @setup: settings of its rings
 * @rings: of its CPUs
 * @descriptions: its descriptions
 *
 * The memory is charged to the caller's memory cgroup.
 *
 * Context: may sleep.
 * Return: the description, or NULL: there is too little memory.
 */
struct stape_dump *stape_dump_create(u32 session, const struct stape_ring_setup *setup,
				     struct stape_ring __percpu *rings,
				     struct stape_descriptions *descriptions)
{
	struct stape_clock_sample sample;
	struct stape_dump *dump;
	int cpu;
	u32 i;

	dump = kzalloc(sizeof(*dump), GFP_KERNEL_ACCOUNT);
	if (!dump)
		return NULL;
	spin_lock_init(&dump->lock);
	dump->nr_pages = stape_dump_pages(setup);
	dump->pages = stape_memory_alloc(dump->nr_pages, STAPE_PAGE_SIZE, NUMA_NO_NODE);
	if (!dump->pages) {
		kfree(dump);
		return NULL;
	}
	dump->session = dump->pages;
	stape_dump_begin_page(dump->session, STAPE_DUMP_SESSION, session);
	stape_dump_describe(dump, setup);
	i = stape_dump_list(dump, 1, session, STAPE_CPU_NONE, &descriptions->ring);
	for_each_cpu(cpu, &setup->cpus)
		i = stape_dump_list(dump, i, session, cpu, per_cpu_ptr(rings, cpu));
	stape_clock_sample(setup->counter, &sample);
	stape_dump_sample(dump, &sample);
	stape_dump_mark(dump, true);
	return dump;
}

/**
 * stape_dump_destroy() - remove the description
 * @dump: from stape_dump_create(), or NULL
 *
 * The pages are made invalid, because the memory keeps its contents until it is used again.
 *
 * Context: may sleep.  Before the rings' memory is freed.
 */
void stape_dump_destroy(struct stape_dump *dump)
{
	if (!dump)
		return;
	stape_dump_mark(dump, false);
	stape_memory_free(dump->pages);
	kfree(dump);
}

/**
 * stape_dump_start() - note that recording has started
 * @dump: the session's
 * @start_time: ns of CLOCK_MONOTONIC
 *
 * Context: under the session's lock.
 */
void stape_dump_start(struct stape_dump *dump, u64 start_time)
{
	WRITE_ONCE(dump->session->start_time, start_time);
}

/**
 * stape_dump_sample() - keep a sample of the clocks
 * @dump: the session's
 * @sample: of the session's clock
 *
 * Context: process context.
 */
void stape_dump_sample(struct stape_dump *dump, const struct stape_clock_sample *sample)
{
	struct stape_dump_session *page = dump->session;

	spin_lock(&dump->lock);
	page->samples[page->nr_samples % STAPE_DUMP_SAMPLES] = *sample;
	/* After the sample, because the machine may crash in between. */
	smp_wmb();
	WRITE_ONCE(page->nr_samples, page->nr_samples + 1);
	spin_unlock(&dump->lock);
}
