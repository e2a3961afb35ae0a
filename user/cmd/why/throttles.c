// SPDX-License-Identifier: GPL-2.0-only
#include "why/throttles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

#define MOST_PLACES	65536		/* 256 cgroups on 256 CPUs */
#define MOST_BOUTS	(1U << 20)	/* 16 MB */

static int compare(const struct throttles_place *place, uint64_t cgroup, uint32_t cpu)
{
	if (place->cgroup != cgroup)
		return place->cgroup < cgroup ? -1 : 1;
	return place->cpu < cpu ? -1 : place->cpu > cpu;
}

/* Returns the number of the first place that is not before that of a cgroup on a CPU. */
static size_t search(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu)
{
	size_t low = 0, high = throttles->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare(&throttles->places[middle], cgroup, cpu) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has(const struct throttles *throttles, size_t at, uint64_t cgroup, uint32_t cpu)
{
	return at < throttles->nr && !compare(&throttles->places[at], cgroup, cpu);
}

static void know_since(struct throttles *throttles, uint64_t time)
{
	if (time > throttles->known_since)
		throttles->known_since = time;
}

/* Returns the place of a cgroup on a CPU, and makes it if needed.  NULL: no memory. */
static struct throttles_place *get(struct throttles *throttles, uint64_t cgroup, uint32_t cpu)
{
	size_t at = search(throttles, cgroup, cpu);
	struct throttles_place *places;

	if (has(throttles, at, cgroup, cpu))
		return &throttles->places[at];
	places = schedtape_list_grow(throttles->places, throttles->nr, &throttles->room,
				     sizeof(*places));
	if (!places)
		return NULL;
	throttles->places = places;
	memmove(&places[at + 1], &places[at], (throttles->nr - at) * sizeof(*places));
	throttles->nr++;
	places[at] = (struct throttles_place){ .cgroup = cgroup, .cpu = cpu };
	return &places[at];
}

/* Forgets the older half of the bouts of each place. */
static void forget(struct throttles *throttles)
{
	struct throttles_place *place;
	size_t i, half;

	throttles->nr_bouts = 0;
	for (i = 0; i < throttles->nr; i++) {
		place = &throttles->places[i];
		half = (place->nr + 1) / 2;
		if (half)
			know_since(throttles, place->bouts[half - 1].end);
		place->nr -= half;
		memmove(place->bouts, place->bouts + half, place->nr * sizeof(*place->bouts));
		throttles->nr_bouts += place->nr;
	}
}

/* Returns since when a cgroup is throttled that has been since @place->since, or since a loss. */
static uint64_t since_when(const struct throttles *throttles, const struct throttles_place *place)
{
	return place->since > throttles->lost_until ? place->since : throttles->lost_until;
}

/*
 * The cgroup is throttled no longer, so it was until now.  Unless the tape has the begin, that is
 * before the tape's begin, or in or before the last loss.  If the kernel has not kept to an end
 * that it had begun, this is another one of the same bout.
 */
static int end(struct throttles *throttles, struct throttles_place *place, uint64_t time)
{
	uint64_t since = since_when(throttles, place);
	struct bout *last = place->nr ? &place->bouts[place->nr - 1] : NULL, *bouts;

	if (!place->since && last && last->end >= throttles->lost_until) {
		last->end = time;
		return 0;
	}
	place->since = 0;
	bouts = schedtape_list_grow(place->bouts, place->nr, &place->room, sizeof(*bouts));
	if (!bouts)
		return -ENOMEM;
	place->bouts = bouts;
	bouts[place->nr++] = (struct bout){ since, time };
	if (++throttles->nr_bouts >= MOST_BOUTS)
		forget(throttles);
	return 0;
}

static void lose(struct throttles *throttles, const struct schedtape_event *ev)
{
	if (ev->lost_last > throttles->lost_until)
		throttles->lost_until = ev->lost_last;
	know_since(throttles, ev->lost_last);
}

int throttles_event(struct throttles *throttles, const struct schedtape_event *ev)
{
	struct throttles_place *place;

	if (schedtape_event_is_gap(ev))
		lose(throttles, ev);
	if (!schedtape_event_is_throttling(ev))
		return 0;
	if (throttles->nr == MOST_PLACES) {
		know_since(throttles, ev->time);
		return 0;
	}
	place = get(throttles, ev->cgroup, ev->task_cpu);
	if (!place)
		return -ENOMEM;
	if (ev->type == SCHEDTAPE_EV_UNTHROTTLE)
		return end(throttles, place, ev->time);
	place->since = ev->time;
	return 0;
}

bool throttles_find(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		    uint64_t begin, uint64_t end, struct bout *bout)
{
	size_t at = search(throttles, cgroup, cpu), low = 0, high, middle;
	const struct throttles_place *place;

	if (!has(throttles, at, cgroup, cpu))
		return false;
	place = &throttles->places[at];
	high = place->nr;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (place->bouts[middle].begin < end)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || place->bouts[low - 1].end <= begin)
		return false;
	*bout = place->bouts[low - 1];
	return true;
}

bool throttles_lasts(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		     struct bout *bout)
{
	size_t at = search(throttles, cgroup, cpu);

	if (!has(throttles, at, cgroup, cpu) || !throttles->places[at].since)
		return false;
	*bout = (struct bout){ since_when(throttles, &throttles->places[at]), UINT64_MAX };
	return true;
}

bool throttles_has(const struct throttles *throttles, uint64_t cgroup)
{
	size_t at = search(throttles, cgroup, 0);

	return at < throttles->nr && throttles->places[at].cgroup == cgroup;
}

void throttles_free(struct throttles *throttles)
{
	size_t i;

	for (i = 0; i < throttles->nr; i++)
		free(throttles->places[i].bouts);
	free(throttles->places);
}
