// SPDX-License-Identifier: GPL-2.0-only
/*
 * No lock: a player of a realtime policy would wait for ever for one that it has
 * preempted.
 */
#include "player/threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/* glibc wants that much on arm64, and no guard page follows: a player needs 16 KiB. */
#define STACK_BYTES	131072
#define SEATS		32

enum seat_state {
	SEAT_FREE,
	SEAT_TAKEN,
	SEAT_LEFT,	/* its thread is about to end, or has ended; to be joined */
};

/**
 * struct seat - a stack and its thread
 * @state: enum seat_state; who takes it owns the rest
 */
struct seat {
	int state;
	pthread_t thread;
	void (*run)(const void *arg, uint32_t number);
	const void *arg;
	uint32_t number;
	char *stack;
};

/**
 * struct row - seats that were mapped together
 * @next: NULL: the last
 */
struct row {
	struct row *next;
	struct seat seats[SEATS];
	char stacks[SEATS][STACK_BYTES] __attribute__((aligned(4096)));
};

/* This process's; a row once in it stays. */
static struct row *rows;

/* It returns: pthread_exit() would load libgcc to unwind the stack. */
static void *thread_main(void *arg)
{
	struct seat *seat = arg;

	/* Here, because pthread_create() need not have told it yet. */
	seat->thread = pthread_self();
	seat->run(seat->arg, seat->number);
	__atomic_store_n(&seat->state, SEAT_LEFT, __ATOMIC_RELEASE);
	return NULL;
}

static bool take(struct seat *seat, int from)
{
	return __atomic_compare_exchange_n(&seat->state, &from, SEAT_TAKEN, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Takes a seat, if its last thread is off it. */
static bool take_if_empty(struct seat *seat)
{
	int state = __atomic_load_n(&seat->state, __ATOMIC_RELAXED);

	if (state == SEAT_TAKEN || !take(seat, state))
		return false;
	if (state == SEAT_FREE || !pthread_tryjoin_np(seat->thread, NULL))
		return true;
	__atomic_store_n(&seat->state, SEAT_LEFT, __ATOMIC_RELEASE);
	return false;
}

static struct seat *find_seat(void)
{
	struct row *row = __atomic_load_n(&rows, __ATOMIC_ACQUIRE);
	size_t i;

	for (; row; row = row->next)
		for (i = 0; i < SEATS; i++)
			if (take_if_empty(&row->seats[i]))
				return &row->seats[i];
	return NULL;
}

/* A new row, whose first seat is taken. */
static struct seat *add_row(void)
{
	struct row *row = mmap(NULL, sizeof(*row), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	size_t i;

	if (row == MAP_FAILED)
		return NULL;
	/* Nobody is to clear 2 MB within a burst.  If it cannot be, so be it. */
	madvise(row, sizeof(*row), MADV_NOHUGEPAGE);
	for (i = 0; i < SEATS; i++)
		row->seats[i].stack = row->stacks[i];
	row->seats[0].state = SEAT_TAKEN;
	row->next = __atomic_load_n(&rows, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&rows, &row->next, row, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return &row->seats[0];
}

int thread_start(void (*run)(const void *arg, uint32_t number), const void *arg,
		 uint32_t number)
{
	struct seat *seat = find_seat();
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	if (!seat)
		seat = add_row();
	if (!seat)
		return -ENOMEM;
	seat->run = run;
	seat->arg = arg;
	seat->number = number;
	pthread_attr_init(&attr);
	error = pthread_attr_setstack(&attr, seat->stack, STACK_BYTES);
	if (!error)
		error = pthread_create(&thread, &attr, thread_main, seat);
	pthread_attr_destroy(&attr);
	if (error)
		__atomic_store_n(&seat->state, SEAT_FREE, __ATOMIC_RELEASE);
	return -error;
}

void thread_forget(void)
{
	rows = NULL;
}
