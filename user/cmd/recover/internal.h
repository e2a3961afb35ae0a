/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of recover --vmcore share, the lowest first. */
#ifndef SCHEDTAPE_RECOVER_INTERNAL_H
#define SCHEDTAPE_RECOVER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape-page.h>
#include <schedtape-tape.h>
#include <schedtape/dump.h>
#include <schedtape/event.h>

struct vmcore;

/* -- the memory of a crashed machine: nothing in it can be trusted --------- */

/**
 * struct memory - memory by its physical addresses
 * @read: copies @bytes from @address on.  Returns false if not all of them are there
 * @next: moves @address, a multiple of STAPE_PAGE_SIZE, up to the next page of that size that may
 *	be there.  Returns false if there is none
 * @arg: for these
 */
struct memory {
	bool (*read)(void *arg, uint64_t address, void *to, size_t bytes);
	bool (*next)(void *arg, uint64_t *address);
	void *arg;
};

static inline bool memory_read(const struct memory *memory, uint64_t address, void *to,
			       size_t bytes)
{
	return memory->read(memory->arg, address, to, bytes);
}

/* -- vmcore.c: a dump in a file, by libkdumpfile --------------------------- */

/*
 * Opens a dump of a machine's memory: ELF, as /proc/vmcore, or compressed, as by makedumpfile.
 * -ENOTSUP: a flattened dump, or one of Xen; -EINVAL: libkdumpfile does not know the format, or
 * the file has no size
 */
int vmcore_open(const char *path, struct vmcore **vmcore, struct schedtape_error *err);
/* Returns its memory, for as long as the dump is open. */
const struct memory *vmcore_memory(const struct vmcore *vmcore);
/* Returns what libkdumpfile calls its format. */
const char *vmcore_format(const struct vmcore *vmcore);
void vmcore_close(struct vmcore *vmcore);

/* -- what there is in the memory, by the pages of schedtape/dump.h --------- */

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

/* -- ring.c: the pages of a ring ------------------------------------------- */

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
/* Returns whether the ring's own pages are there, so that ring_read() can begin. */
bool ring_is_readable(const struct memory *memory, const struct found_ring *ring);

/* -- find.c: finds the sessions of a load of the module -------------------- */

/*
 * Searches all memory for loads.  Returns 0; -ENOMEM; -EINTR: a signal is pending.  Also after an
 * error, @found has to be freed.
 */
int found_search(struct found *found, const struct memory *memory, struct schedtape_error *err);
/*
 * Sets the sessions to those of load @number, counted from 1; 0: of the latest load that has a
 * session with a ring that can be read.  Without such a load the sessions are the latest one's.
 * Returns 0; -ENOENT: there is no load @number; -ENOMEM.
 */
int found_choose(struct found *found, const struct memory *memory, size_t number,
		 struct schedtape_error *err);
void found_free(struct found *found);

/* -- crash-tape.c: the tape of a session that ended with its machine ------- */

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

/**
 * struct crash_options - schedtape recover --vmcore
 * @vmcore: name of the dump
 * @output: name of the tape; NULL: the dump's and ".recovered"
 * @one: make the tape of @session only
 * @load: which load of the module, counted from 1, the latest first; 0: see found_choose()
 */
struct crash_options {
	const char *vmcore;
	const char *output;
	bool one;
	uint32_t session;
	uint32_t load;
	bool quiet;
	bool json;
};

/*
 * Makes "vmcore.recovered", or with @several sessions "vmcore.recovered.3".  That is in the working
 * directory if the dump is in /proc or /dev.  Returns it, to be freed; NULL: no memory.
 */
char *crash_tape_name(const struct crash_options *options, bool several, uint32_t session);

#endif /* SCHEDTAPE_RECOVER_INTERNAL_H */
