// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lanes of a timeline: one for each CPU.
 */
#include <errno.h>
#include <stdlib.h>

#include "timeline/timeline.h"

/* Makes lanes up to that of @cpu. */
struct lane *timeline_lane_new(struct schedtape_timeline *tl, uint32_t cpu)
{
	uint32_t n = tl->nr_lanes ? tl->nr_lanes : 16;
	struct lane *lanes;

	if (cpu >= TIMELINE_MAX_CPUS) {
		timeline_fail(tl, -EBADMSG, "impossible number of a CPU");
		return NULL;
	}
	while (n <= cpu)
		n *= 2;
	lanes = realloc(tl->lanes, n * sizeof(*lanes));
	if (!lanes) {
		timeline_fail(tl, -ENOMEM, "not enough memory for all CPUs");
		return NULL;
	}
	tl->lanes = lanes;
	for (; tl->nr_lanes < n; tl->nr_lanes++)
		lanes[tl->nr_lanes] = (struct lane){
			.task = SCHEDTAPE_NONE,
			.ghost = SCHEDTAPE_NONE,
			.since = tl->start,
			.last = tl->start,
			.blind = true,
		};
	return &lanes[cpu];
}

/* Looks for @cpu in the list of those that were recorded. */
bool timeline_lists(const struct schedtape_timeline *tl, uint32_t cpu)
{
	unsigned long first, last;
	const char *at = tl->recorded;
	char *end;

	while (*at >= '0' && *at <= '9') {
		first = strtoul(at, &end, 10);
		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		if (cpu >= first && cpu <= last)
			return true;
		at = *end == ',' ? end + 1 : end;
	}
	return false;
}
