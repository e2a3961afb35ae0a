// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a load with known numbers for MS ms, in one process of eight threads: four
 * periodic tasks (2 ms every 10, 1 ms every 20, two of each), a chain of three tasks with 0.25
 * ms each every 5 ms, each woken by the one before it by futex, and a hog that uses a quarter
 * of MS, and that the timers of the others interrupt.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "work.h"

#define LINK_NS	250000

static uint64_t begin, length;
static uint32_t items[2];	/* sent to the stage and to the consumer: futexes */

static void sleep_until(uint64_t time)
{
	struct timespec t = { time / 1000000000, time % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* @arg: period in ms; the work is a tenth of it, but a fifth of 10 ms. */
static void *periodic(void *arg)
{
	uint64_t period = (uintptr_t)arg * 1000000, at;

	for (at = begin + period; at < begin + length; at += period) {
		sleep_until(at);
		work_burn(period == 10000000 ? 2000000 : 1000000);
	}
	return NULL;
}

static void send(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void receive(uint32_t *word, uint32_t taken)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == taken)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, taken, NULL, NULL, 0);
}

static void *produce(void *arg)
{
	uint64_t at;

	for (at = begin + 5000000; at < begin + length; at += 5000000) {
		sleep_until(at);
		work_burn(LINK_NS);
		send(&items[0]);
	}
	return arg;
}

static uint32_t nr_items(void)
{
	return (length - 1) / 5000000;
}

static void *stage(void *arg)
{
	uint32_t i;

	for (i = 0; i < nr_items(); i++) {
		receive(&items[0], i);
		work_burn(LINK_NS);
		send(&items[1]);
	}
	return arg;
}

static void *consume(void *arg)
{
	uint32_t i;

	for (i = 0; i < nr_items(); i++) {
		receive(&items[1], i);
		work_burn(LINK_NS);
	}
	return arg;
}

int main(int argc, char **argv)
{
	static const struct {
		void *(*run)(void *arg);
		uintptr_t arg;
	} threads[] = {
		{ consume, 0 }, { stage, 0 }, { produce, 0 },
		{ periodic, 10 }, { periodic, 20 }, { periodic, 10 }, { periodic, 20 },
	};
	pthread_t ids[sizeof(threads) / sizeof(*threads)];
	size_t i;

	length = work_arg(argc, argv, 1, 20, 1000000, "MS") * 1000000ull;
	begin = work_clock(CLOCK_MONOTONIC);
	for (i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		if (pthread_create(&ids[i], NULL, threads[i].run, (void *)threads[i].arg))
			errx(1, "cannot make a thread");
	work_burn(length / 4);
	for (i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		pthread_join(ids[i], NULL);
	printf("items=%u\ncpu_ns=%llu\n", nr_items(),
	       (unsigned long long)work_clock(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
