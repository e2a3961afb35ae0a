/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which threads write a tape: record --threads, with the meaning that perf
 * record gives it.
 */
#ifndef SCHEDTAPE_STREAMS_H
#define SCHEDTAPE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/**
 * struct stream - what one thread does
 * @cpus: it streams these CPUs' rings
 * @affinity: it runs on these, those of them that are online
 */
struct stream {
	unsigned char *cpus;
	unsigned char *affinity;
};

/**
 * struct streams - all threads
 * @bytes: of every mask
 * @cpus: of all streams: others are not recorded
 * @left: CPUs that are there and to be recorded, but in no stream
 */
struct streams {
	struct stream *streams;
	size_t n;
	size_t bytes;
	unsigned char *cpus;
	unsigned char *left;
};

#define STREAMS_SYSFS	"/sys/devices/system"

/* Is it of that form, whatever CPUs there are?  @spec: as below. */
bool streams_valid(const char *spec);
/*
 * @spec: cpu, core, package or socket, numa, masks as CPUS/AFFINITY:..., or NULL,
 * as cpu
 * @sysfs: STREAMS_SYSFS, where the CPUs are described
 * @cpus, @bytes: only these are recorded; NULL: all
 */
int streams_parse(struct streams *streams, const char *spec, const char *sysfs,
		  const unsigned char *cpus, size_t bytes, struct schedtape_error *err);
void streams_free(struct streams *streams);

#endif /* SCHEDTAPE_STREAMS_H */
