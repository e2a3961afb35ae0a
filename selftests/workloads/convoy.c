// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a lock convoy.  ROUNDS times a thread called "holder" keeps a lock for 20 ms of CPU
 * time and then sleeps for 2 ms; meanwhile three threads called "waiter" take the lock again and
 * again, each for 1 ms of CPU time.
 */
#include <pthread.h>
#include <stdbool.h>

#include "work.h"

#define WAITERS	3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool over;

static void *wait_for_it(void *arg)
{
	bool last;

	(void)arg;
	pthread_setname_np(pthread_self(), "waiter");
	do {
		pthread_mutex_lock(&lock);
		work_burn(1000000);
		last = over;
		pthread_mutex_unlock(&lock);
		usleep(1000);
	} while (!last);
	return NULL;
}

int main(int argc, char **argv)
{
	long i, rounds = work_arg(argc, argv, 1, 1, 1000, "ROUNDS");
	pthread_t threads[WAITERS];

	pthread_setname_np(pthread_self(), "holder");
	for (i = 0; i < WAITERS; i++)
		if (pthread_create(&threads[i], NULL, wait_for_it, NULL))
			errx(1, "cannot start a thread");
	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		work_burn(20000000);
		over = i == rounds - 1;
		pthread_mutex_unlock(&lock);
		usleep(2000);
	}
	for (i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	printf("rounds=%ld\n", rounds);
	return 0;
}
