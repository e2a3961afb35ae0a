// SPDX-License-Identifier: GPL-2.0-only
/* Description: when cgroups were throttled, by the events of a tape with losses, and for long. */
#include "tap.h"
#include "why/internal.h"

static void put(struct throttles *throttles, unsigned int type, uint64_t time, uint64_t cgroup,
		uint32_t cpu)
{
	const struct schedtape_event ev = {
		.type = type, .time = time, .cgroup = cgroup, .task_cpu = cpu,
	};

	throttles_event(throttles, &ev);
}

static void lose(struct throttles *throttles, uint64_t first, uint64_t last)
{
	const struct schedtape_event ev = {
		.type = SCHEDTAPE_EV_LOST, .time = last, .lost = 1, .lost_first = first,
		.lost_last = last,
	};

	throttles_event(throttles, &ev);
}

static bool is(const struct throttles *throttles, uint64_t begin, uint64_t end)
{
	struct bout bout;

	if (!throttles_find(throttles, 7, 3, 0, UINT64_MAX, &bout))
		return !end;
	if (bout.begin != begin || bout.end != end)
		printf("# from %llu to %llu\n", (unsigned long long)bout.begin,
		       (unsigned long long)bout.end);
	return bout.begin == begin && bout.end == end;
}

TEST(losses)
{
	struct throttles throttles = { 0 };
	struct bout bout;

	put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, 100, 7, 3);
	ok(is(&throttles, 0, 100), "it was throttled before the tape began");
	put(&throttles, SCHEDTAPE_EV_THROTTLE, 200, 7, 3);
	ok(is(&throttles, 0, 100), "a bout that lasts");
	ok(throttles_lasts(&throttles, 7, 3, &bout) && bout.begin == 200 &&
	   bout.end == UINT64_MAX, "is not among those that have ended");
	put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, 250, 7, 3);
	put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, 300, 7, 3);
	ok(is(&throttles, 200, 300) && !throttles_lasts(&throttles, 7, 3, &bout),
	   "of several ends the last one counts");
	lose(&throttles, 350, 400);
	ok(throttles.known_since == 400, "a loss");
	put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, 500, 7, 3);
	ok(is(&throttles, 400, 500), "the end of a bout that began in the loss, or before");
	put(&throttles, SCHEDTAPE_EV_THROTTLE, 600, 7, 3);
	lose(&throttles, 550, 650);
	put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, 700, 7, 3);
	ok(is(&throttles, 650, 700), "another one may have begun in the loss");
	put(&throttles, SCHEDTAPE_EV_THROTTLE, 800, 7, 3);
	lose(&throttles, 810, 820);
	ok(throttles_lasts(&throttles, 7, 3, &bout) && bout.begin == 820,
	   "one that lasts may have begun in a loss, too");
	ok(!throttles_find(&throttles, 7, 2, 0, UINT64_MAX, &bout), "another CPU");
	ok(!throttles_find(&throttles, 6, 3, 0, UINT64_MAX, &bout), "another cgroup");
	ok(throttles_has(&throttles, 7) && !throttles_has(&throttles, 6) &&
	   !throttles_has(&throttles, 8), "which cgroups there are");
	throttles_free(&throttles);
}

/* Two million bouts of two places, and one of a third. */
TEST(many)
{
	struct throttles throttles = { 0 };
	struct bout bout;
	uint64_t time;

	put(&throttles, SCHEDTAPE_EV_THROTTLE, 1, 9, 0);
	put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, 2, 9, 0);
	for (time = 10; time < 10000000; time += 10) {
		put(&throttles, SCHEDTAPE_EV_THROTTLE, time, 7, 3);
		put(&throttles, SCHEDTAPE_EV_THROTTLE, time + 1, 8, 1);
		put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, time + 2, 7, 3);
		put(&throttles, SCHEDTAPE_EV_UNTHROTTLE, time + 3, 8, 1);
	}
	ok(throttles.nr_bouts < 1U << 20 && throttles.nr_bouts > 1U << 18,
	   "old ones are forgotten");
	ok(is(&throttles, time - 10, time - 8), "not the newest");
	ok(throttles.known_since > 1000000 && throttles.known_since < time - 1000000 &&
	   throttles_find(&throttles, 7, 3, throttles.known_since, throttles.known_since + 20,
			  &bout),
	   "it is known since when they are here");
	throttles_free(&throttles);
}

TEST_MAIN
