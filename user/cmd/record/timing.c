// SPDX-License-Identifier: GPL-2.0-only
#include "record/timing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/units.h"

#define NEVER	UINT64_MAX

uint64_t timing_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

int timing_until(uint64_t due, int most)
{
	uint64_t now = timing_now();

	if (due <= now)
		return 0;
	return due - now < (uint64_t)most ? (int)(due - now) : most;
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

bool timing_parse_duration(struct timing *timing, const char *text)
{
	return units_time(text, 1e3, &timing->duration);
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
	uint64_t due = next_edge(timing);

	if (end(timing) < due)
		due = end(timing);
	return timing_until(due, most);
}

void timing_free(struct timing *timing)
{
	select_numbers_free(&timing->periods);
	memset(&timing->periods, 0, sizeof(timing->periods));
}
