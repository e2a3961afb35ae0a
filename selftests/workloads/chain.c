// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a producer makes ITEMS items, one every PERIOD ms (0: as soon as the last one
 * is through); they go from thread to thread: producer, stage, consumer.  Each thread is woken
 * only by the one before it, by futex; with PERIOD 0 the producer is woken by the consumer.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "work.h"

struct link {
	uint32_t items;		/* sent so far: the futex */
	uint32_t taken;
	long slept;		/* waits that a wake-up ended */
};

static struct link links[3];	/* to the stage, the consumer, the producer */
static long items, period;

static long futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void send(struct link *link)
{
	__atomic_add_fetch(&link->items, 1, __ATOMIC_SEQ_CST);
	futex(&link->items, FUTEX_WAKE, 1);
}

static void receive(struct link *link)
{
	while (__atomic_load_n(&link->items, __ATOMIC_SEQ_CST) == link->taken)
		if (!futex(&link->items, FUTEX_WAIT, link->taken))
			link->slept++;
	link->taken++;
}

static void *stage_main(void *arg)
{
	long i;

	for (i = 0; i < items; i++) {
		receive(&links[0]);
		work_burn(50000);
		send(&links[1]);
	}
	return arg;
}

static void *consumer_main(void *arg)
{
	long i;

	for (i = 0; i < items; i++) {
		receive(&links[1]);
		work_burn(50000);
		if (!period)
			send(&links[2]);
	}
	return arg;
}

static void produce(void)
{
	struct timespec t = { period / 1000, period % 1000 * 1000000 };
	long i;

	for (i = 0; i < items; i++) {
		work_burn(50000);
		send(&links[0]);
		if (period)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		else
			receive(&links[2]);
	}
}

int main(int argc, char **argv)
{
	pthread_t stage, consumer;

	items = work_arg(argc, argv, 1, 1, INT_MAX, "ITEMS [PERIOD_MS]");
	if (argc > 2)
		period = work_arg(argc, argv, 2, 0, 1000000, "ITEMS [PERIOD_MS]");
	if (pthread_create(&stage, NULL, stage_main, NULL) ||
	    pthread_create(&consumer, NULL, consumer_main, NULL))
		errx(1, "cannot make a thread");
	produce();
	pthread_join(stage, NULL);
	pthread_join(consumer, NULL);
	printf("items=%ld\nstage_woken=%ld\nconsumer_woken=%ld\nproducer_woken=%ld\n", items,
	       links[0].slept, links[1].slept, links[2].slept);
	return 0;
}
