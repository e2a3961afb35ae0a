// SPDX-License-Identifier: GPL-2.0-only
/*
 * There is no lock, because a player of a realtime policy would wait forever for a player that
 * it has preempted.
 */
#include "player/threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/* glibc wants that much on arm64, and no guard page follows: a player needs 16 KiB. */
#define STACK_BYTES	131072
#define SLOTS		32

enum slot_state {
	SLOT_FREE,
	SLOT_TAKEN,
	SLOT_LEFT,	/* its thread is about to end, or has ended; to be joined */
};

/**
 * struct slot - a stack and its thread
 * @state: enum slot_state; the thread that sets SLOT_TAKEN owns the other members
 */
struct slot {
	int state;
	pthread_t thread;
	void (*run)(const void *arg, uint32_t number);
	const void *arg;
	uint32_t number;
	char *stack;
};

/**
 * struct block - slots that are mapped together
 * @next: NULL: this is the last block
 */
struct block {
	struct block *next;
	struct slot slots[SLOTS];
	char stacks[SLOTS][STACK_BYTES] __attribute__((aligned(4096)));
};

/* All blocks of this process.  A block is never removed. */
static struct block *blocks;

/* It returns: pthread_exit() would load libgcc to unwind the stack. */
static void *thread_main(void *arg)
{
	struct slot *slot = arg;

	/* Set here, because pthread_create() may not have stored it yet. */
	slot->thread = pthread_self();
	slot->run(slot->arg, slot->number);
	__atomic_store_n(&slot->state, SLOT_LEFT, __ATOMIC_RELEASE);
	return NULL;
}

static bool take(struct slot *slot, int from)
{
	return __atomic_compare_exchange_n(&slot->state, &from, SLOT_TAKEN, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Takes a slot, if its last thread no longer uses its stack. */
static bool take_if_empty(struct slot *slot)
{
	int state = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);

	if (state == SLOT_TAKEN || !take(slot, state))
		return false;
	if (state == SLOT_FREE || !pthread_tryjoin_np(slot->thread, NULL))
		return true;
	__atomic_store_n(&slot->state, SLOT_LEFT, __ATOMIC_RELEASE);
	return false;
}

static struct slot *find_slot(void)
{
	struct block *block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);
	size_t i;

	for (; block; block = block->next)
		for (i = 0; i < SLOTS; i++)
			if (take_if_empty(&block->slots[i]))
				return &block->slots[i];
	return NULL;
}

/* Adds a block, and takes its first slot. */
static struct slot *add_block(void)
{
	struct block *block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	size_t i;

	if (block == MAP_FAILED)
		return NULL;
	/* A huge page would make a player clear 2 MB within a burst.  An error does no harm. */
	madvise(block, sizeof(*block), MADV_NOHUGEPAGE);
	for (i = 0; i < SLOTS; i++)
		block->slots[i].stack = block->stacks[i];
	block->slots[0].state = SLOT_TAKEN;
	block->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&blocks, &block->next, block, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return &block->slots[0];
}

int thread_start(void (*run)(const void *arg, uint32_t number), const void *arg,
		 uint32_t number)
{
	struct slot *slot = find_slot();
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	if (!slot)
		slot = add_block();
	if (!slot)
		return -ENOMEM;
	slot->run = run;
	slot->arg = arg;
	slot->number = number;
	pthread_attr_init(&attr);
	error = pthread_attr_setstack(&attr, slot->stack, STACK_BYTES);
	if (!error)
		error = pthread_create(&thread, &attr, thread_main, slot);
	pthread_attr_destroy(&attr);
	if (error)
		__atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_RELEASE);
	return -error;
}

void thread_forget(void)
{
	blocks = NULL;
}
