/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Idle time of a CPU that ran tasks which are not on the tape.
 */
#ifndef SCHEDTAPE_IDLE_TIME_H
#define SCHEDTAPE_IDLE_TIME_H

#include <stdbool.h>

#include <schedtape.h>

/* Returns true if the filter had all tasks, also if it left some out by their names. */
bool idle_time_has_filter_all(struct schedtape_tape *tape);
/*
 * Returns true if the tape shows when CPUs were idle, perhaps afterwards.  Otherwise a CPU that
 * runs no task of the tape may become idle, or busy, at any time.
 */
bool idle_time_is_known(struct schedtape_tape *tape);

/* The tape has idle time in steps, ns. */
#define IDLE_TIME_STEP	1024

/**
 * struct idle_time - a time that a SCHEDTAPE_EV_IDLE explains, which ends with it
 * @since: the CPU has done from here on what the event says
 * @known: @idle is known
 * @idle: how long it was idle before that
 */
struct idle_time {
	uint64_t since;
	bool known;
	uint64_t idle;
};

/* @from: when the time began: the CPU's event or loss before that which says what it does */
static inline struct idle_time idle_time_of(const struct schedtape_event *ev, uint64_t from)
{
	struct idle_time time = { .since = ev->idle.since, .known = ev->idle.time != UINT64_MAX };
	uint64_t span;

	if (time.since < from)
		time.since = from;
	if (time.since > ev->time)
		time.since = ev->time;
	time.idle = ev->idle.time;
	span = ev->idle.kind == STAPE_NEXT_IDLE ? ev->time - time.since : 0;
	time.idle = time.idle > span ? time.idle - span : 0;
	if (time.idle > time.since - from)
		time.idle = time.since - from;
	/* One of the two only. */
	if (time.idle <= IDLE_TIME_STEP)
		time.idle = 0;
	else if (time.since - from - time.idle <= IDLE_TIME_STEP)
		time.idle = time.since - from;
	return time;
}

#endif /* SCHEDTAPE_IDLE_TIME_H */
