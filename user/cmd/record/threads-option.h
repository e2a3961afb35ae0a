/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that write a tape: record --threads, as in perf record.
 */
#ifndef SCHEDTAPE_STREAMS_H
#define SCHEDTAPE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/**
 * struct stream - the work of one thread
 * @cpus: CPUs whose rings the thread drains
 * @affinity: CPUs that the thread runs on, if they are online
 */
struct stream {
	unsigned char *cpus;
	unsigned char *affinity;
};

/**
 * struct streams - all threads
 * @bytes: size of every mask
 * @cpus: CPUs of all streams; other CPUs are not recorded
 * @left: online CPUs that -C selects and that are in no stream
 */
struct streams {
	struct stream *streams;
	size_t n;
	size_t bytes;
	unsigned char *cpus;
	unsigned char *left;
};

#define STREAMS_SYSFS	"/sys/devices/system"

/* Checks only the form of @spec, see below, not whether its CPUs exist. */
bool streams_valid(const char *spec);
/*
 * @spec: cpu, core, package or socket, numa, or masks CPUS/AFFINITY:...; NULL: cpu
 * @sysfs: STREAMS_SYSFS, the folder that describes the CPUs
 * @cpus, @bytes: mask of the CPUs to record; NULL: all
 */
int streams_parse(struct streams *streams, const char *spec, const char *sysfs,
		  const unsigned char *cpus, size_t bytes, struct schedtape_error *err);
void streams_free(struct streams *streams);

#endif /* SCHEDTAPE_STREAMS_H */
