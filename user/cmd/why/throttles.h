/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When which cgroups were throttled on which CPUs, by the events of a tape.
 */
#ifndef SCHEDTAPE_WHY_THROTTLES_H
#define SCHEDTAPE_WHY_THROTTLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/**
 * struct bout - a time during which a cgroup was throttled on a CPU, ns of the session's clock
 */
struct bout {
	uint64_t begin;
	uint64_t end;
};

/**
 * struct throttles_place - the bouts of a cgroup on a CPU
 * @since: it is throttled since then; 0: it is not, or that is not known
 * @bouts: the last @nr that have ended, in order of time
 */
struct throttles_place {
	uint64_t cgroup;
	uint32_t cpu;
	uint64_t since;
	struct bout *bouts;
	size_t nr;
	size_t room;
};

/**
 * struct throttles - all of them; all 0: none
 * @places: by cgroup and CPU
 * @nr_bouts: of all places
 * @known_since: of waits that began later, all bouts are here; before, events are lost, or bouts
 *	were forgotten
 * @lost_until: the last loss of events ended then
 */
struct throttles {
	struct throttles_place *places;
	size_t nr;
	size_t room;
	size_t nr_bouts;
	uint64_t known_since;
	uint64_t lost_until;
};

/* Takes any event of a tape.  Returns 0 or -ENOMEM. */
int throttles_event(struct throttles *throttles, const struct schedtape_event *ev);
/*
 * Finds the last bout of a cgroup on a CPU that has ended, had begun before @end and lasted after
 * @begin.  Returns false if no bout has.
 */
bool throttles_find(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		    uint64_t begin, uint64_t end, struct bout *bout);
/*
 * Returns true if a cgroup is still throttled on a CPU, and sets @bout's begin to the time since
 * when, its end to UINT64_MAX.
 */
bool throttles_lasts(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		     struct bout *bout);
/* Returns true if the cgroup was throttled on any CPU. */
bool throttles_has(const struct throttles *throttles, uint64_t cgroup);
void throttles_free(struct throttles *throttles);

#endif /* SCHEDTAPE_WHY_THROTTLES_H */
