// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: COUNT short bursts, with TURNS of a loop in each, between sleeps of a kind: "sleep",
 * for a moment each; "futex", in turn with another thread; "pipe", until another thread, which
 * sleeps meanwhile, has written.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#include "work.h"

static const char usage[] = "sleep|futex|pipe TURNS COUNT";
static long turns, count;
static uint32_t words[2];
static int ends[2];

static void work(void)
{
	long left = turns;

	while (left--)
		__asm__ __volatile__("");
}

static void doze(void)
{
	const struct timespec t = { .tv_nsec = 100000 };

	nanosleep(&t, NULL);
}

static void sleep_often(void)
{
	long i;

	for (i = 0; i < count; i++) {
		work();
		doze();
	}
}

static void futex(uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void take_turns(long mine)
{
	uint32_t *my = &words[mine], *other = &words[!mine];
	long i;

	for (i = 0; i < count; i++) {
		while (!__atomic_load_n(my, __ATOMIC_SEQ_CST))
			futex(my, FUTEX_WAIT, 0);
		__atomic_store_n(my, 0, __ATOMIC_SEQ_CST);
		work();
		__atomic_store_n(other, 1, __ATOMIC_SEQ_CST);
		futex(other, FUTEX_WAKE, 1);
	}
}

static void *write_often(void *arg)
{
	long i;

	for (i = 0; i < count; i++) {
		doze();
		if (write(ends[1], "", 1) != 1)
			err(1, "write");
	}
	return arg;
}

static void read_often(void)
{
	char byte;
	long i;

	for (i = 0; i < count; i++) {
		work();
		if (read(ends[0], &byte, 1) != 1)
			err(1, "read");
	}
}

static void *take_second_turns(void *arg)
{
	take_turns(1);
	return arg;
}

/* Runs @first here and @second in another thread. */
static void run_both(void (*first)(void), void *(*second)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, second, NULL))
		errx(1, "no thread");
	first();
	pthread_join(thread, NULL);
}

static void take_first_turns(void)
{
	words[0] = 1;
	take_turns(0);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	turns = work_arg(argc, argv, 2, 0, LONG_MAX, usage);
	count = work_arg(argc, argv, 3, 1, LONG_MAX, usage);
	if (!strcmp(kind, "sleep"))
		sleep_often();
	else if (!strcmp(kind, "futex"))
		run_both(take_first_turns, take_second_turns);
	else if (!strcmp(kind, "pipe") && !pipe(ends))
		run_both(read_often, write_often);
	else
		errx(2, "usage: %s %s", argv[0], usage);
	printf("bursts=%ld\n", count);
	return 0;
}
