// SPDX-License-Identifier: GPL-2.0-only
/*
 * There is no lock, because a player of a realtime policy would wait forever for a player that
 * it has preempted.
 */
#include "player/threads.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "player/sys.h"

/* A player needs less than 4 KiB, as no call is recursive.  No guard page follows. */
#define STACK_BYTES	16384
#define SLOTS		64

/* What threads and brief processes share with their parent. */
#define SHARED	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_CHILD_CLEARTID)

/**
 * struct block - stacks that are mapped together
 * @next: NULL: this is the last block
 * @taken: by stack: not 0: in use.  The kernel stores 0 when the thread no longer uses it
 */
struct block {
	struct block *next;
	int taken[SLOTS];
	char stacks[SLOTS][STACK_BYTES] __attribute__((aligned(4096)));
};

/* struct start - what a new thread runs, at the end of its stack */
struct start {
	void (*run)(const void *arg, uint32_t number);
	const void *arg;
	uint32_t number;
} __attribute__((aligned(16)));

/* All blocks of this memory.  A block is never removed. */
static struct block *blocks;

static struct block *map_block(void)
{
	long memory = sys_map(0, sizeof(struct block), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1);
	struct block *block;

	if (memory < 0)
		return NULL;
	/* A huge page would make a player clear 2 MB within a burst.  An error does no harm. */
	block = (struct block *)memory;
	sys_advise(block, sizeof(*block), MADV_NOHUGEPAGE);
	/* Map this page now, so that forks have it. */
	block->next = NULL;
	return block;
}

int threads_begin(void)
{
	blocks = map_block();
	return blocks ? 0 : -ENOMEM;
}

static bool take(int *taken)
{
	int none = 0;

	return !__atomic_load_n(taken, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(taken, &none, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Adds a block, and takes its first stack. */
static struct block *add_block(void)
{
	struct block *block = map_block();

	if (!block)
		return NULL;
	block->taken[0] = 1;
	block->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&blocks, &block->next, block, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return block;
}

/* Takes a stack.  Returns its block, or NULL. */
static struct block *find_stack(size_t *slot)
{
	struct block *block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);

	for (; block; block = block->next)
		for (*slot = 0; *slot < SLOTS; ++*slot)
			if (take(&block->taken[*slot]))
				return block;
	*slot = 0;
	return add_block();
}

static void begin(struct start *start)
{
	start->run(start->arg, start->number);
	sys_exit_thread(0);
}

static long start_with(unsigned long flags, void (*run)(const void *arg, uint32_t number),
		       const void *arg, uint32_t number)
{
	struct start *start;
	struct block *block;
	size_t slot;
	void **top;
	long ret;

	block = find_stack(&slot);
	if (!block)
		return -ENOMEM;
	start = (struct start *)(block->stacks[slot] + STACK_BYTES) - 1;
	*start = (struct start){ run, arg, number };
	top = (void **)start;
	top[-1] = (void *)begin;
	top[-2] = start;
	ret = arch_clone(flags, top, &block->taken[slot]);
	/* A process with memory of its own does not use this stack in ours. */
	if (ret < 0 || !(flags & CLONE_VM))
		__atomic_store_n(&block->taken[slot], 0, __ATOMIC_RELEASE);
	return ret;
}

int thread_start(void (*run)(const void *arg, uint32_t number), const void *arg, uint32_t number)
{
	long ret = start_with(SHARED | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, run, arg,
			      number);

	return ret < 0 ? ret : 0;
}

long threads_spawn(void (*run)(const void *arg, uint32_t number), const void *arg,
		   uint32_t number)
{
	return start_with(SHARED | SIGCHLD, run, arg, number);
}

long threads_fork(void (*run)(const void *arg, uint32_t number), const void *arg, uint32_t number)
{
	return start_with(SIGCHLD, run, arg, number);
}

void threads_forget(void)
{
	struct block *block;
	int taken;
	size_t i;

	for (block = blocks; block; block = block->next) {
		for (i = 0; i < SLOTS; i++) {
			taken = (char *)&block >= block->stacks[i] &&
				(char *)&block < block->stacks[i] + STACK_BYTES;
			/* A store copies the page. */
			if (block->taken[i] != taken)
				block->taken[i] = taken;
		}
	}
}
