// SPDX-License-Identifier: LGPL-2.1-or-later
#include "player/costs.h"

#include <stdbool.h>
#include <time.h>

#include "machine/calibration.h"
#include "player/sys.h"
#include "player/threads.h"

/* No fork or exit costs so much: a higher value is an error of the clock. */
#define COST_NS_MAX	100000000

#define TRIES	5

#define SLEEP_NS	1000000

static uint64_t timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000ULL + tv->tv_usec * 1000ULL;
}

/* Stores the CPU time of a child at its end in memory that it shares with its parent. */
static void end_at_once(const void *arg, uint32_t number)
{
	(void)number;
	*(uint64_t *)arg = schedtape_cpu_time();
	sys_exit(0);
}

/* Makes a child with memory of its own, or one that shares ours. */
static long make_child(uint64_t *before, bool own)
{
	return own ? threads_fork(end_at_once, before, 0) : threads_spawn(end_at_once, before, 0);
}

static void take_least(uint64_t *least, uint64_t cost)
{
	if (cost < *least)
		*least = cost;
}

/* Takes the least of some tries, because a player burns too little if a cost is too high. */
static void measure(uint64_t *before, bool own, uint64_t *make, uint64_t *end)
{
	uint64_t began, made;
	struct rusage usage = { 0 };
	long pid;
	int i;

	*make = COST_NS_MAX;
	*end = COST_NS_MAX;
	for (i = 0; i < TRIES; i++) {
		began = schedtape_cpu_time();
		pid = make_child(before, own);
		made = schedtape_cpu_time() - began;
		if (pid < 0 || sys_wait(pid, &usage) != pid)
			break;
		take_least(end, timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime) -
				*before);
		take_least(make, made);
	}
	if (*make == COST_NS_MAX)
		*make = 0;
	if (*end == COST_NS_MAX)
		*end = 0;
}

static uint64_t measure_reading(void)
{
	uint64_t before = schedtape_cpu_time();

	return schedtape_cpu_time() - before;
}

/* Inserts one of @n sorted costs more. */
static void insert(uint64_t *sorted, int n, uint64_t cost)
{
	for (; n && sorted[n - 1] > cost; n--)
		sorted[n] = sorted[n - 1];
	sorted[n] = cost;
}

/*
 * Takes the median of some sleeps, because the kernel charges more or less of a wake-up to the
 * wakee.  Most steps are sleeps, and a wake-up costs less.
 */
static uint64_t measure_step(void)
{
	uint64_t reading, before, used, costs[TRIES];
	struct timespec ts;
	int i;

	for (i = 0; i < TRIES; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		ts.tv_nsec += SLEEP_NS;
		ts.tv_sec += ts.tv_nsec / 1000000000;
		ts.tv_nsec %= 1000000000;
		reading = measure_reading();
		before = schedtape_cpu_time();
		if (sys_sleep_until(&ts))
			return 0;
		used = schedtape_cpu_time() - before;
		insert(costs, i, used > reading ? used - reading : 0);
	}
	return costs[TRIES / 2];
}

void schedtape_measure_costs(struct schedtape_costs *costs)
{
	long memory = sys_map(0, sizeof(uint64_t), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1);
	uint64_t *before = (uint64_t *)memory;

	*costs = (struct schedtape_costs){ .step = measure_step() };
	if (memory < 0)
		return;
	measure(before, true, &costs->fork, &costs->exit);
	measure(before, false, &costs->spawn, &costs->leave);
}

void costs_tell(int fd)
{
	struct schedtape_costs costs;

	schedtape_measure_costs(&costs);
	sys_write(fd, &costs, sizeof(costs));
	sys_exit(0);
}
