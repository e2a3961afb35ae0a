/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the module's pages of schedtape/dump.h in a machine's memory. */
#ifndef SCHEDTAPE_RECOVER_FIND_H
#define SCHEDTAPE_RECOVER_FIND_H

#include <schedtape-page.h>
#include <schedtape/dump.h>

#include "recover/memory.h"

/**
 * struct found_page - a page of the module
 * @first: see struct stape_dump_ring; like @cpu 0 for a page of a session
 */
struct found_page {
	uint64_t address;
	uint64_t load;
	uint64_t loaded;
	uint32_t session;
	uint32_t kind;
	uint32_t cpu;
	uint32_t first;
};

/**
 * struct found_ring - a ring
 * @lists: the @nr_lists pages that list its pages
 */
struct found_ring {
	uint32_t cpu;
	const struct found_page *lists;
	size_t nr_lists;
};

/**
 * struct found_session - a session
 * @page: what the module says of it; its texts end with a 0
 * @rings: the descriptions last
 */
struct found_session {
	struct stape_dump_session page;
	struct found_ring *rings;
	size_t nr_rings;
};

/**
 * struct found_load - a time from the module's load on, or what a page claims to be one
 * @loaded: when the module was loaded, ns of CLOCK_REALTIME
 * @pages: the @nr_pages pages of its sessions
 */
struct found_load {
	uint64_t loaded;
	const struct found_page *pages;
	size_t nr_pages;
};

/**
 * struct found - what there is in the memory
 * @loads: the latest first
 * @load: index of the one that @sessions are of
 * @sessions: by their numbers
 * @incomplete: sessions of this load without a page of their own, or without a ring
 * @swapped: pages of a machine with the other byte order
 * @unknown: pages of another version of the module
 */
struct found {
	struct found_load *loads;
	size_t nr_loads;
	size_t load;
	struct found_session *sessions;
	size_t nr_sessions;
	size_t incomplete;
	size_t swapped;
	size_t unknown;
	/* private: */
	struct found_page *pages;
	size_t nr_pages;
	size_t room;
};

/*
 * Searches all memory for loads.  Returns 0; -ENOMEM; -EINTR: a signal is pending.  Also after an
 * error, @found has to be freed.
 */
int found_search(struct found *found, const struct memory *memory, struct schedtape_error *err);
/* Sets the sessions to those of load @load, an index.  Returns 0 or -ENOMEM. */
int found_use(struct found *found, const struct memory *memory, size_t load,
	      struct schedtape_error *err);
void found_free(struct found *found);

#endif /* SCHEDTAPE_RECOVER_FIND_H */
