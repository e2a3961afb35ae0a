/* SPDX-License-Identifier: GPL-2.0-only */
/* The tape of a session that ended with its machine. */
#ifndef SCHEDTAPE_RECOVER_TAPE_H
#define SCHEDTAPE_RECOVER_TAPE_H

#include <schedtape-tape.h>

#include "recover/find.h"

/**
 * struct crash_tape - what a tape has; times are ns of CLOCK_MONOTONIC
 * @session: the session's number
 * @bytes: size of the tape
 * @cpus: CPUs with events
 * @pages: pages with events
 * @missing: pages that are corrupt, or not in the dump
 * @bad_rings: rings of which nothing could be read
 * @events: descriptions of tasks included
 * @first: from when on all CPUs are complete
 * @last: the last event of all CPUs
 * @real: @last, ns of CLOCK_REALTIME
 * @whole: it begins with the recording
 */
struct crash_tape {
	uint32_t session;
	uint64_t bytes;
	uint32_t cpus;
	uint64_t pages;
	uint64_t missing;
	uint64_t bad_rings;
	uint64_t events;
	uint64_t lost;
	uint64_t first;
	uint64_t last;
	uint64_t real;
	bool whole;
};

/*
 * Writes a session's tape.  @path: "-": standard output.  Returns 0; -ENOTSUP: a module of another
 * version; -EBADMSG: what describes the session is corrupt; -ENODATA: there are no events; -EINTR:
 * a signal is pending.
 */
int crash_tape_write(const struct memory *memory, const struct found_session *session,
		     const char *path, struct crash_tape *tape, struct schedtape_error *err);

#endif /* SCHEDTAPE_RECOVER_TAPE_H */
