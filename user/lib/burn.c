// SPDX-License-Identifier: LGPL-2.1-or-later
#include "burn.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS		9
#define ROUND_NS	2000000

uint64_t schedtape_cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__attribute__((noinline)) void schedtape_spin(uint64_t turns)
{
	while (turns--)
		__asm__ __volatile__("");
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Spins per ms, measured over at least ROUND_NS / 2 of CPU time. */
static double calibrate_round(uint64_t *turns)
{
	uint64_t start, used;

	for (;;) {
		start = schedtape_cpu_time();
		schedtape_spin(*turns);
		used = schedtape_cpu_time() - start;
		if (used >= ROUND_NS / 2)
			return *turns * 1e6 / used;
		*turns *= 2;
	}
}

void schedtape_calibrate(struct schedtape_calibration *calibration)
{
	uint64_t turns = 100000;
	double rounds[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++)
		rounds[i] = calibrate_round(&turns);
	qsort(rounds, ROUNDS, sizeof(*rounds), compare_doubles);
	calibration->spins_per_ms = rounds[ROUNDS / 2];
	calibration->spread = (rounds[ROUNDS - 1] - rounds[0]) / rounds[ROUNDS / 2];
}

/* Between two looks at the clock: CPU time and steps at most. */
#define TRUST_NS	30000
#define TRUST_STEPS	16

/* What no exit costs: a clock that went wrong. */
#define EXIT_NS_MAX	100000000

/* The module moves the word only while the player is switched out. */
static int64_t word_time(const volatile uint64_t *word)
{
	struct timespec ts;
	uint64_t before;

	do {
		before = *word;
		clock_gettime(CLOCK_MONOTONIC, &ts);
	} while (*word != before);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec - before;
}

static int64_t burner_time(const struct schedtape_burner *burner)
{
	return burner->word ? word_time(burner->word) : (int64_t)schedtape_cpu_time();
}

void schedtape_burner_init(struct schedtape_burner *burner,
			   const struct schedtape_calibration *calibration,
			   const volatile uint64_t *word, bool from_birth)
{
	burner->calibration = calibration;
	burner->word = word;
	burner->known = burner_time(burner);
	burner->base = burner->known - (from_birth ? (int64_t)schedtape_cpu_time() : 0);
	burner->since = 0;
	burner->step_cost = 0;
	burner->unread = 0;
}

static void spin_ns(const struct schedtape_burner *burner, double ns)
{
	schedtape_spin(ns * burner->calibration->spins_per_ms / 1e6);
}

static void look(struct schedtape_burner *burner)
{
	int64_t now = burner_time(burner);
	double error = now - (burner->known + burner->since);

	/* Half of what the steps cost more or less than thought: it settles soon. */
	if (burner->unread)
		burner->step_cost += error / burner->unread / 2;
	if (burner->step_cost < 0)
		burner->step_cost = 0;
	burner->known = now;
	burner->since = 0;
	burner->unread = 0;
}

void schedtape_burn(struct schedtape_burner *burner, uint64_t until)
{
	int64_t target = until + burner->base;
	double left = target - (burner->known + burner->since);

	if (burner->unread < TRUST_STEPS && left <= 0)
		return;
	if (burner->unread < TRUST_STEPS && burner->since + left < TRUST_NS) {
		spin_ns(burner, left);
		burner->since += left;
		return;
	}
	/*
	 * A CPU slower than the calibration's needs another turn; a preemption
	 * needs none, because the clock counts this thread's time only.
	 */
	for (look(burner); burner->known < target; look(burner))
		spin_ns(burner, target - burner->known);
}

void schedtape_burner_stepped(struct schedtape_burner *burner)
{
	burner->since += burner->step_cost;
	burner->unread++;
}

static uint64_t timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000ULL + tv->tv_usec * 1000ULL;
}

uint64_t schedtape_measure_exit(void)
{
	uint64_t used, least = UINT64_MAX, *before;
	struct rusage usage;
	pid_t pid;
	int i;

	before = mmap(NULL, sizeof(*before), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (before == MAP_FAILED)
		return 0;
	for (i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			*before = schedtape_cpu_time();
			_exit(0);
		}
		if (pid < 0 || wait4(pid, NULL, 0, &usage) != pid)
			break;
		used = timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime) - *before;
		if (used < least)
			least = used;
	}
	munmap(before, sizeof(*before));
	return least < EXIT_NS_MAX ? least : 0;
}
