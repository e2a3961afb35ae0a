// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a recording is on at the times that -D and --duration give, by a clock that the
 * test controls.
 */
#include <string.h>
#include <time.h>

#include "record/orders.h"
#include "tap.h"

static uint64_t clock_ms = 1000;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = (struct timespec) { clock_ms / 1000, clock_ms % 1000 * 1000000 };
	return 0;
}

static void sleep_ms(int ms)
{
	clock_ms += ms;
}

TEST(delay_forms)
{
	static const char * const good[] = {
		"0", "500", "-1", "0-10", "10-20,30-40", "1-2,3-4,5-6",
	};
	static const char * const bad[] = {
		"", "-", "-2", "x", "1x", "10,20", "20-10", "10-20,15-30", "10-20,", "10-20,30",
		"1.5", "10-20,20-30",
	};
	struct timing timing;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		memset(&timing, 0, sizeof(timing));
		ok(timing_parse_delay(&timing, good[i]), "-D %s", good[i]);
		timing_free(&timing);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&timing, 0, sizeof(timing));
		ok(!timing_parse_delay(&timing, bad[i]), "not -D %s", bad[i]);
		timing_free(&timing);
	}
}

TEST(duration_forms)
{
	static const char * const bad[] = {
		"", "0", "-1", "x", "1x", "nan", "inf", "1e99", "0.0009",
		"s", "1 s", "1S", "1sec", "1D", "0.9ms", "999us", "0s", "inf s",
	};
	static const struct {
		const char *text;
		uint64_t ms;
	} units[] = {
		{ "5s", 5000 }, { "0.25s", 250 }, { "40ms", 40 }, { "1500us", 1 },
		{ "7000000ns", 7 }, { "7000us", 7 }, { "50000us", 50 }, { "4007ms", 4007 },
		{ "2m", 120000 }, { "1.5h", 5400000 }, { "1d", 86400000 },
	};
	struct timing timing = { .duration = 0 };
	size_t i;

	ok(timing_parse_duration(&timing, "2") && timing.duration == 2000, "--duration 2");
	ok(timing_parse_duration(&timing, "0.25") && timing.duration == 250, "--duration 0.25");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!timing_parse_duration(&timing, bad[i]), "not --duration %s", bad[i]);
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		ok(timing_parse_duration(&timing, units[i].text) && timing.duration == units[i].ms,
		   "--duration %s", units[i].text);
}

TEST(always_on)
{
	struct timing timing = { .open_end = false };

	ok(!timing_delayed(&timing), "nothing said: on from the beginning");
	timing_begin(&timing);
	timing_started(&timing);
	ok(timing_next(&timing) == ORDER_NONE, "and nothing is ever due");
	ok(timing_wait(&timing, 1000) == 1000, "nor waited for");
}

TEST(one_delay)
{
	struct timing timing = { .open_end = false };

	timing_parse_delay(&timing, "-1");
	ok(timing_delayed(&timing), "-D -1 begins later");
	timing_begin(&timing);
	ok(timing_next(&timing) == ORDER_NONE && timing_wait(&timing, 1000) == 1000,
	   "and time alone begins nothing");
	timing_parse_delay(&timing, "30");
	ok(timing_delayed(&timing), "-D 30 begins later");
	timing_begin(&timing);
	ok(timing_next(&timing) == ORDER_NONE, "nothing is due yet");
	ok(timing_wait(&timing, 1000) == 30, "it will be in 30 ms");
	sleep_ms(35);
	ok(!timing_wait(&timing, 1000), "now it is");
	ok(timing_next(&timing) == ORDER_ENABLE, "to begin");
	ok(timing_next(&timing) == ORDER_NONE && timing_wait(&timing, 1000) == 1000,
	   "once, and that was all");
	timing_free(&timing);
}

TEST(periods)
{
	static const enum order orders[] = { ORDER_DISABLE, ORDER_ENABLE, ORDER_STOP };
	struct timing timing = { .open_end = false };
	size_t i;

	timing_parse_delay(&timing, "0-20,40-60");
	ok(!timing_delayed(&timing), "a period from the beginning on");
	timing_begin(&timing);
	for (i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		ok(timing_next(&timing) == ORDER_NONE, "nothing is due within a period");
		sleep_ms(timing_wait(&timing, 1000));
		ok(timing_next(&timing) == orders[i], "edge %zu", i + 1);
	}
	timing_free(&timing);

	timing_parse_delay(&timing, "0-20");
	timing.started = 0;
	timing_started(&timing);
	sleep_ms(25);
	timing_begin(&timing);
	ok(timing_next(&timing) == ORDER_STOP, "periods count from the start, if that came first");
	timing_free(&timing);
}

TEST(duration)
{
	struct timing timing = { .open_end = false };

	timing_parse_duration(&timing, "0.02");
	timing_begin(&timing);
	sleep_ms(25);
	ok(timing_next(&timing) == ORDER_NONE, "a duration counts from the start on");
	timing_started(&timing);
	ok(timing_wait(&timing, 1000) == 20, "from then on it runs");
	sleep_ms(25);
	timing_started(&timing);
	ok(timing_next(&timing) == ORDER_STOP, "a second start does not prolong it");
}

TEST_MAIN
