// SPDX-License-Identifier: GPL-2.0-only
#include "record/timing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEVER	UINT64_MAX

uint64_t timing_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

/* Returns true if periods are not empty and follow each other. */
static bool in_order(const struct select_numbers *periods)
{
	uint32_t before = 0;
	size_t i;

	for (i = 0; i < periods->nr; i++) {
		if (periods->ranges[i].first >= periods->ranges[i].last ||
		    (i && periods->ranges[i].first <= before))
			return false;
		before = periods->ranges[i].last;
	}
	return true;
}

bool timing_parse_delay(struct timing *timing, const char *text)
{
	timing_free(timing);
	timing->off = !strcmp(text, "-1");
	if (timing->off)
		return true;
	timing->open_end = !strchr(text, '-');
	if (select_numbers_parse(&timing->periods, text))
		return false;
	return timing->open_end ? timing->periods.nr == 1 : in_order(&timing->periods);
}

/* Returns the milliseconds of a unit, 0: there is no such unit. */
static double parse_unit(const char *text)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {
		{ "", 1e3 }, { "ns", 1 / 1e6 }, { "us", 1 / 1e3 }, { "ms", 1 }, { "s", 1e3 },
		{ "m", 60e3 }, { "h", 3600e3 },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(text, units[i].name))
			return units[i].ms;
	return 0;
}

bool timing_parse_duration(struct timing *timing, const char *text)
{
	char *end;
	double ms;

	errno = 0;
	ms = strtod(text, &end);
	ms *= parse_unit(end);
	if (errno || end == text || !(ms >= 1 && ms <= 1e12))
		return false;
	timing->duration = ms;
	return true;
}

bool timing_delayed(const struct timing *timing)
{
	return timing->off || (timing->periods.nr && timing->periods.ranges[0].first);
}

void timing_begin(struct timing *timing)
{
	timing->begun = timing->started ? timing->started : timing_now();
	/* A recording that is on from the beginning needs no order for that edge. */
	timing->edge = !timing_delayed(timing);
}

void timing_started(struct timing *timing)
{
	if (!timing->started)
		timing->started = timing_now();
}

static uint64_t next_edge(const struct timing *timing)
{
	size_t period = timing->edge / 2;

	if (period >= timing->periods.nr)
		return NEVER;
	if (!(timing->edge & 1))
		return timing->begun + timing->periods.ranges[period].first;
	if (timing->open_end)
		return NEVER;
	return timing->begun + timing->periods.ranges[period].last;
}

static uint64_t end(const struct timing *timing)
{
	return timing->duration && timing->started ? timing->started + timing->duration : NEVER;
}

enum order timing_next(struct timing *timing)
{
	uint64_t now = timing_now();

	if (now >= end(timing))
		return ORDER_STOP;
	if (now < next_edge(timing))
		return ORDER_NONE;
	timing->edge++;
	if (timing->edge & 1)
		return ORDER_ENABLE;
	return timing->edge == 2 * timing->periods.nr ? ORDER_STOP : ORDER_DISABLE;
}

int timing_wait(const struct timing *timing, int most)
{
	uint64_t due = next_edge(timing), now = timing_now();

	if (end(timing) < due)
		due = end(timing);
	if (due <= now)
		return 0;
	return due - now < (uint64_t)most ? (int)(due - now) : most;
}

void timing_free(struct timing *timing)
{
	select_numbers_free(&timing->periods);
	memset(&timing->periods, 0, sizeof(timing->periods));
}
