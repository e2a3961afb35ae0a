// SPDX-License-Identifier: LGPL-2.1-or-later
#include "player/burn.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <schedtape/netlink.h>

/* The most CPU time and steps between two readings of the clock. */
#define TRUST_NS	30000
#define TRUST_STEPS	16

/* The burner spins at most this long without reading clock and speed, even if a pause begins. */
#define SPIN_NS		20000

/* No fork or exit costs so much: a higher value is an error of the clock. */
#define COST_NS_MAX	100000000

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

static void spin_ns(const struct schedtape_burner *burner, double ns)
{
	schedtape_spin(ns * burner->calibration->spins_per_ms / 1e6);
}

static void look(struct schedtape_burner *burner)
{
	int64_t now = burner_time(burner);
	double error = now - (burner->known + burner->since);

	/* Correct the estimate by half of the error of each step, so that it converges soon. */
	if (burner->unread)
		burner->step_cost += error / burner->unread / 2;
	if (burner->step_cost < 0)
		burner->step_cost = 0;
	/* A step in which the player yielded is no measure for the next one. */
	if (burner->step_cost > TRUST_NS)
		burner->step_cost = TRUST_NS;
	burner->known = now;
	burner->since = 0;
	burner->unread = 0;
}

static void set_rate(struct schedtape_burner *burner, uint64_t speed)
{
	burner->rated = speed;
	burner->rate = burner->scale * STAPE_REPLAY_SPEED_ONE / speed;
}

void schedtape_burner_init(struct schedtape_burner *burner, bool from_birth)
{
	burner->known = burner_time(burner);
	burner->base = burner->known - (from_birth ? (int64_t)schedtape_cpu_time() : 0);
	burner->origin = 0;
	burner->since = 0;
	burner->step_cost = 0;
	burner->unread = 0;
	set_rate(burner, *burner->speed ? *burner->speed : STAPE_REPLAY_SPEED_ONE);
}

/* Follows a change of the replay's speed; waits while the replay is paused. */
static void follow(struct schedtape_burner *burner)
{
	uint64_t speed = *burner->speed;
	double done;

	while (!speed) {
		burner->hold(burner->arg);
		speed = *burner->speed;
	}
	look(burner);
	done = burner->origin + (burner->known - burner->base) / burner->rate;
	burner->base = burner->known;
	burner->origin = done;
	set_rate(burner, speed);
}

/* Returns the CPU time from the current estimate to a target, ns. */
static double left_to(const struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	return burner->base + (until - burner->origin) * burner->rate - spare -
	       burner->known - burner->since;
}

uint64_t schedtape_burner_left(const struct schedtape_burner *burner, uint64_t until)
{
	double left = left_to(burner, until, 0);

	return left > 0 ? left : 0;
}

/*
 * Spins for short times and reads the clock in between.  The clock counts this thread's
 * CPU time whatever the CPU's frequency is, and whichever tasks preempt the thread.
 */
static void burn_by_clock(struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	double left;

	for (;; look(burner)) {
		if (*burner->speed != burner->rated)
			follow(burner);
		left = left_to(burner, until, spare);
		if (left <= 0)
			return;
		spin_ns(burner, left < SPIN_NS ? left : SPIN_NS);
	}
}

void schedtape_burn(struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	double left;

	if (*burner->speed != burner->rated)
		follow(burner);
	left = left_to(burner, until, spare);
	if (burner->unread < TRUST_STEPS && left <= 0)
		return;
	if (burner->unread < TRUST_STEPS && burner->since + left < TRUST_NS) {
		spin_ns(burner, left);
		burner->since += left;
		return;
	}
	look(burner);
	burn_by_clock(burner, until, spare);
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

/* Memory that a child shares with us, for its result. */
struct child {
	uint64_t before;	/* its CPU time at its end */
	char stack[16384] __attribute__((aligned(16)));
};

static int end_at_once(void *arg)
{
	struct child *child = arg;

	child->before = schedtape_cpu_time();
	_exit(0);
}

/* Makes a child with memory of its own, or one that shares ours. */
static pid_t make_child(struct child *child, bool own)
{
	pid_t pid;

	if (!own)
		return clone(end_at_once, child->stack + sizeof(child->stack),
			     CLONE_VM | SIGCHLD, child);
	pid = fork();
	if (!pid)
		end_at_once(child);
	return pid;
}

static void take_least(uint64_t *least, uint64_t cost)
{
	if (cost < *least)
		*least = cost;
}

/* Takes the least of some tries, because a player burns too little if a cost is too high. */
static void measure(struct child *child, bool own, uint64_t *make, uint64_t *end)
{
	uint64_t began, made;
	struct rusage usage;
	pid_t pid;
	int i;

	*make = COST_NS_MAX;
	*end = COST_NS_MAX;
	for (i = 0; i < 5; i++) {
		began = schedtape_cpu_time();
		pid = make_child(child, own);
		made = schedtape_cpu_time() - began;
		if (pid < 0 || wait4(pid, NULL, 0, &usage) != pid)
			break;
		take_least(end, timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime) -
				child->before);
		take_least(make, made);
	}
	if (*make == COST_NS_MAX)
		*make = 0;
	if (*end == COST_NS_MAX)
		*end = 0;
}

void schedtape_measure_costs(struct schedtape_costs *costs)
{
	struct child *child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t unused;

	*costs = (struct schedtape_costs){ 0 };
	if (child == MAP_FAILED)
		return;
	measure(child, true, &costs->fork, &costs->exit);
	measure(child, false, &unused, &costs->leave);
	munmap(child, sizeof(*child));
}
