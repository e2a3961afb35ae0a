// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: how much CPU time a player burns, by a clock that the test controls.
 *
 * The test defines the CPU clock and the spin loop.  A turn takes TURN_NS, a call CALL_NS,
 * and nothing else moves the clock, so each burst ends at a CPU time that is known beforehand.
 */
#include <player/burn.h>
#include <player/costs.h>
#include <player/threads.h>

#include <math.h>
#include <unistd.h>

#include <schedtape/netlink.h>

#include "tap.h"

#define US		1000ull
#define MS		1000000ull
#define TURN_NS		2.0
#define CALL_NS		1.0
#define ONE		STAPE_REPLAY_SPEED_ONE

/* Each call may round off a part of a turn. */
#define NEAR_NS		100

static double clock_ns;		/* the CPU time of the calling thread */
static unsigned int reads;
static uint64_t speed;

/* If set, the parent's clock advances by the next of these between two reads. */
static const uint64_t *forks;
static pid_t parent;

uint64_t schedtape_cpu_time(void)
{
	if (forks) {
		if (getpid() != parent)
			return 0;
		if (reads & 1)
			clock_ns += *forks++;
	}
	reads++;
	return clock_ns;
}

void schedtape_spin(uint64_t turns)
{
	clock_ns += turns * TURN_NS + CALL_NS;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= NEAR_NS;
}

/* @belief: the CPU's speed as a multiple of the calibrated one. */
static struct schedtape_burner make_burner(double belief, void (*hold)(void *arg))
{
	static struct schedtape_calibration calibration;
	struct schedtape_burner burner = {
		.calibration = &calibration, .speed = &speed, .hold = hold, .scale = 1,
	};

	calibration.spins_per_ms = MS / TURN_NS / belief;
	speed = ONE;
	schedtape_burner_init(&burner, false);
	reads = 0;
	return burner;
}

/* Returns the CPU time that a burst takes. */
static double burn(struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	double before = clock_ns;

	schedtape_burn(burner, until, spare);
	return clock_ns - before;
}

static void step(struct schedtape_burner *burner, double cost)
{
	clock_ns += cost;
	schedtape_burner_stepped(burner);
}

/* The burner reads its clock when it burns as much as this. */
static void look_at_clock(struct schedtape_burner *burner, uint64_t *until)
{
	*until += 100 * US;
	schedtape_burn(burner, *until, 0);
}

TEST(length)
{
	struct schedtape_burner burner = make_burner(1, NULL);
	double used;

	used = burn(&burner, MS, 0);
	ok(near(used, MS), "a burst is as long as was asked for (%.0f ns)", used);
	burner = make_burner(2, NULL);
	used = burn(&burner, MS, 0);
	ok(used >= MS && near(used, MS), "also on a CPU twice as fast as calibrated (%.0f ns)",
	   used);
	burner = make_burner(1, NULL);
	used = burn(&burner, MS, 400 * US);
	ok(near(used, 600 * US), "a burst is shorter by the spared time (%.0f ns)", used);
	burner = make_burner(1, NULL);
	used = burn(&burner, 10 * US, 0);
	ok(near(used, 10 * US) && !reads, "a short burst reads no clock");
	used = burn(&burner, 5 * US, 0);
	ok(!used, "a target that is passed burns nothing");
}

TEST(reads)
{
	struct schedtape_burner burner = make_burner(1, NULL);
	uint64_t until = 0;
	int i;

	for (i = 0; i < 100; i++) {
		step(&burner, 0);
		schedtape_burn(&burner, until += 100, 0);
	}
	ok(reads >= 5, "short bursts read the clock every so many steps (%u times)", reads);
	reads = 0;
	for (i = 0; i < 100; i++)
		schedtape_burn(&burner, until += 10 * US, 0);
	ok(reads >= 20, "bursts in a row read the clock when they add up (%u times)", reads);
}

/* Makes steps that cost 1 us each, until the burner has learned that. */
static void learn(struct schedtape_burner *burner, uint64_t *until)
{
	int i, k;

	for (i = 0; i < 20; i++) {
		for (k = 0; k < 10; k++)
			step(burner, US);
		look_at_clock(burner, until);
	}
}

TEST(steps)
{
	struct schedtape_burner burner = make_burner(1, NULL);
	uint64_t until = 0;
	double used;

	learn(&burner, &until);
	ok(near(burner.step_cost, US), "the burner learns the cost of a step (%.0f ns)",
	   burner.step_cost);
	step(&burner, US);
	used = burn(&burner, until += 5 * US, 0);
	ok(near(used, 4 * US), "a step's cost is part of the burst (%.0f ns)", used);

	step(&burner, 50 * MS);
	until += 50 * MS;
	look_at_clock(&burner, &until);
	ok(burner.step_cost <= 30 * US,
	   "one step that took long does not make the next ones long (%.0f ns)",
	   burner.step_cost);
}

static void has_stalled(const struct schedtape_burner *burner, uint64_t until, double ns,
			const char *what)
{
	double stalled = schedtape_burner_told(burner, until).stalled;

	ok(near(stalled, ns), "%s (%.0f ns)", what, stalled);
}

TEST(told)
{
	struct schedtape_burner burner = make_burner(1, NULL);
	double began = clock_ns;
	struct schedtape_told told;
	uint64_t until = 0;

	burner.usual_cost = US;
	learn(&burner, &until);
	step(&burner, 3 * US);
	look_at_clock(&burner, &until);
	told = schedtape_burner_told(&burner, until);
	ok(told.steps == 201 && near(told.steps_ns, 203 * US),
	   "%llu steps have cost %.0f ns", (unsigned long long)told.steps, told.steps_ns);
	has_stalled(&burner, until, 0, "a step that costs more is no stall");
	step(&burner, 50 * MS);
	look_at_clock(&burner, &until);
	has_stalled(&burner, until, 49900 * US, "what no burst makes up for is a stall");
	told = schedtape_burner_told(&burner, until);
	ok(told.steps == 201, "and says nothing of what steps cost");
	ok(near(told.used, clock_ns - began), "it has used %.0f ns", told.used);
	schedtape_burn(&burner, until += 20 * MS, 0);
	has_stalled(&burner, until, 29900 * US, "a burst makes up for a part of it");
	schedtape_burn(&burner, until += 30 * MS, 0);
	step(&burner, 5 * MS);
	schedtape_burner_odd(&burner);
	look_at_clock(&burner, &until);
	has_stalled(&burner, until, 0, "then for all; a costly fork is no stall");
	burner.usual_cost = 0;
	step(&burner, 50 * MS);
	look_at_clock(&burner, &until);
	has_stalled(&burner, until, 0, "without the cost of a step no stalls are found");
}

/* The CPU is twice as fast as calibrated: spins take half of the time that is added up for them. */
TEST(negative_cost)
{
	struct schedtape_burner burner = make_burner(2, NULL);
	uint64_t until = 0, left;
	int i;

	for (i = 0; i < 10; i++) {
		step(&burner, 0);
		schedtape_burn(&burner, until += 2 * US, 0);
	}
	look_at_clock(&burner, &until);
	left = schedtape_burner_left(&burner, until + 5 * US);
	step(&burner, 0);
	ok(schedtape_burner_left(&burner, until + 5 * US) <= left,
	   "a step never gives CPU time back");
}

/* -- speed ----------------------------------------------------------------- */

TEST(speed)
{
	struct schedtape_burner burner = make_burner(1, NULL);
	double used;

	burn(&burner, 10 * MS, 0);
	speed = 2 * ONE;
	used = burn(&burner, 20 * MS, 0);
	ok(near(used, 5 * MS), "a new speed does not change the CPU time so far (%.0f ns)", used);
	speed = ONE / 2;
	used = burn(&burner, 21 * MS, 0);
	ok(near(used, 2 * MS), "so does the next one (%.0f ns)", used);
}

static unsigned int holds;

static void hold_three_times(void *arg)
{
	*(double *)arg = clock_ns;
	if (++holds == 3)
		speed = ONE;
}

TEST(pause)
{
	struct schedtape_burner burner = make_burner(1, hold_three_times);
	double held_at = 0, before, used;

	burner.arg = &held_at;
	burn(&burner, MS, 0);
	speed = 0;
	before = clock_ns;
	used = burn(&burner, 2 * MS, 0);
	ok(holds == 3, "a player calls hold() as long as the replay is paused");
	ok(held_at == before && near(used, MS), "it burns all of the burst after that");
}

TEST(birth)
{
	struct schedtape_burner burner = make_burner(1, NULL);
	double used;

	clock_ns = 5 * MS;
	schedtape_burner_init(&burner, true);
	used = burn(&burner, 7 * MS, 0);
	ok(near(used, 2 * MS), "from birth, the CPU time so far is part of the target");
	clock_ns = 5 * MS;
	schedtape_burner_init(&burner, false);
	used = burn(&burner, 7 * MS, 0);
	ok(near(used, 7 * MS), "else it is not");
}

/* -- costs ----------------------------------------------------------------- */

TEST(costs)
{
	/* Five readings and sleeps, five processes, then five that share the memory. */
	static const uint64_t costs_ns[] = {
		1000, 9000, 1000, 7000, 1000, 6500, 1000, 8000, 1000, 6600,
		50000, 30000, 20000, 40000, 60000, 9000, 8000, 3000, 4000, 7000,
	};
	struct schedtape_costs costs;

	clock_ns = 0;
	reads = 0;
	parent = getpid();
	forks = costs_ns;
	schedtape_measure_costs(&costs);
	forks = NULL;
	ok(costs.step == 6000, "the median of sleeps' costs counts, less a reading (%llu ns)",
	   (unsigned long long)costs.step);
	ok(costs.fork == 20000, "the least of several forks' costs counts (%llu ns)",
	   (unsigned long long)costs.fork);
	ok(costs.spawn == 3000, "also of processes that share the memory (%llu ns)",
	   (unsigned long long)costs.spawn);
}

int main(void)
{
	if (threads_begin())
		return 1;
	tap_run();
	return tap_done();
}
