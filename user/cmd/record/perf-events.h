/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records other tracepoints with perf events of the same tasks, in rings of their own, and moves
 * their samples to the tape.
 */
#ifndef SCHEDTAPE_PERF_EVENTS_H
#define SCHEDTAPE_PERF_EVENTS_H

#include <schedtape/client.h>
#include <schedtape.h>

#include "record/tracepoints.h"

struct perf_events;

/**
 * struct perf_events_options - which events
 * @points: the tracepoints, which the caller keeps
 * @filter: their tasks
 * @child: PID of the command, if its tasks are recorded; otherwise 0
 * @cpus: bit n%8 of byte n/8: CPU n is recorded; NULL: all
 */
struct perf_events_options {
	const struct tracepoints *points;
	const struct schedtape_filter *filter;
	uint32_t child;
	const unsigned char *cpus;
	size_t cpus_bytes;
};

/**
 * struct perf_events_counts - what has been recorded so far
 */
struct perf_events_counts {
	uint64_t samples;
	uint64_t lost;
};

/* Returns true if another cgroup of the filter has the events of this one, too, as one above it. */
bool perf_events_within_another(const struct schedtape_filter *filter, size_t number);
/* Opens the events, which record nothing yet.  Returns 0, or -errno after a message. */
int perf_events_open(const struct perf_events_options *options, struct perf_events **events);
/* Switches them on or off. */
void perf_events_enable(const struct perf_events *events, bool on);
/* Returns a descriptor that is readable when a ring is filling up. */
int perf_events_fd(const struct perf_events *events);
/* Writes which tracepoints the tape has. */
int perf_events_describe(const struct perf_events *events, struct schedtape_writer *writer,
			 struct schedtape_error *err);
/* Moves all samples to the tape. */
int perf_events_drain(struct perf_events *events, struct schedtape_writer *writer,
		      struct schedtape_error *err);
/*
 * The same when they are switched off, and writes what was lost behind the last samples, of which
 * the rings say nothing.
 */
int perf_events_end(struct perf_events *events, struct schedtape_writer *writer,
		    struct schedtape_error *err);
struct perf_events_counts perf_events_count(const struct perf_events *events);
void perf_events_close(struct perf_events *events);

#endif /* SCHEDTAPE_PERF_EVENTS_H */
