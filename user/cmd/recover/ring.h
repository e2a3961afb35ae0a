/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages of a ring in a machine's memory. */
#ifndef SCHEDTAPE_RECOVER_RING_H
#define SCHEDTAPE_RECOVER_RING_H

#include <schedtape-tape.h>

#include "recover/find.h"

/**
 * struct ring_counts - what was found of a ring; times are of the session's clock
 * @cpu: for the end of the tape
 * @pages: pages with events
 * @missing: pages that have to be there, but are corrupt, or not in the dump
 * @cut: pages that were open, or are corrupt towards their end: what follows is left out
 * @begins: a page before the first one has been overwritten, or read by the recorder
 * @first: when the first page begins
 * @last: when the last page ends
 */
struct ring_counts {
	struct schedtape_cpu cpu;
	uint64_t pages;
	uint64_t missing;
	uint64_t cut;
	bool begins;
	uint64_t first;
	uint64_t last;
};

/**
 * struct ring_sink - takes the pages of a ring
 * @put: gets @n pages that follow each other.  Returns 0 or -errno
 * @arg: for @put
 */
struct ring_sink {
	int (*put)(void *arg, const void *pages, size_t n, struct schedtape_error *err);
	void *arg;
};

/*
 * Gives the pages of a ring to a sink, the oldest first, and of an open page the events up to its
 * first invalid word.  @counts: returned.  Returns 0; -ENOMEM; -EBADMSG: the ring's own pages are
 * corrupt or not in the dump, and the sink got nothing; or the sink's error.
 */
int ring_read(const struct memory *memory, const struct found_ring *ring,
	      const struct ring_sink *sink, struct ring_counts *counts,
	      struct schedtape_error *err);
/*
 * Cuts a page before its first invalid word: sets the header's @used, @events and @end, and clears
 * the rest.  @data: a page whose header is valid but for these.  @used: bytes that may be valid.
 * @end: the last event's time at most.  Returns false if no event is left.
 */
bool ring_cut_page(unsigned char *data, uint32_t used, uint64_t end);
/* Returns whether the ring's own pages are there, so that ring_read() can begin. */
bool ring_is_readable(const struct memory *memory, const struct found_ring *ring);

#endif /* SCHEDTAPE_RECOVER_RING_H */
