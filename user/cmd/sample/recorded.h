/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording of a cgroup, which sample and restore make.
 */
#ifndef SCHEDTAPE_SAMPLE_RECORDED_H
#define SCHEDTAPE_SAMPLE_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtape/client.h>

struct recorder;

/**
 * struct recorded_options - what to record
 * @cgroup: folder of the cgroup
 * @tape: where to
 * @command: for the tape's META, or NULL
 * @id: of the sample, for META
 * @interval: the one that is restored, for META; 0: none is
 */
struct recorded_options {
	const char *cgroup;
	const char *tape;
	char **command;
	const char *id;
	uint64_t interval;
	bool quiet;
};

/**
 * struct recorded - what a recorder needs as long as it records
 */
struct recorded {
	struct schedtape_client *client;
	struct schedtape_filter filter;
	struct schedtape_cgroup cgroup;
};

/* Opens a recorder, which does not record yet.  Returns 0, or -errno after a message. */
int recorded_open(struct recorded *recorded, struct recorder *recorder,
		  const struct recorded_options *what);
/* After recorder_close(). */
void recorded_free(struct recorded *recorded);

#endif /* SCHEDTAPE_SAMPLE_RECORDED_H */
