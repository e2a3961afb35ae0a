/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedtape estimate: estimate.c finds which tape is what, and multiplies; measure.c measures
 * tapes.
 */
#ifndef SCHEDTAPE_ESTIMATE_INTERNAL_H
#define SCHEDTAPE_ESTIMATE_INTERNAL_H

#include <stdint.h>

#include <schedtape.h>

#include "base/histogram.h"
#include "common/sampled.h"
#include "tape/part.h"

struct interval;

/**
 * struct measure - what happened in a time
 * @time: how long it took, ns
 * @cpu_time: CPU time of all tasks, ns
 * @switches: how often a task came off a CPU
 * @latencies: from a wake-up until the task got a CPU, ns
 */
struct measure {
	double time;
	double cpu_time;
	double switches;
	struct schedtape_histogram latencies;
};

/**
 * struct in_part - a task of the run in the time of a part
 * @cpu_time: its CPU time, ns
 * @edges: enum edge
 */
struct in_part {
	uint64_t cpu_time;
	unsigned char edges;
};

/**
 * struct part - the tape of a replay of a part of the run
 * @sample: the tape
 * @played: which part
 * @interval: the interval that it is of; NULL: it is of the whole run
 * @factor: by which the estimate multiplies what it shows
 * @tasks: by index of the run's tasks, in room for @room_tasks
 * @lost: events are missing
 */
struct part {
	struct sampled sample;
	struct tape_part played;
	const struct interval *interval;
	double factor;
	struct in_part *tasks;
	size_t room_tasks;
	struct measure measure;
	bool lost;
};

/**
 * struct run - the tape of the whole run
 * @sample: the tape, which may be in the directory of a sample
 * @start, @stop: the time of it that counts
 * @measure: what happened then
 * @parts: @nr_parts tapes of replays
 */
struct run {
	struct sampled sample;
	uint64_t start;
	uint64_t stop;
	struct measure measure;
	struct part *parts;
	size_t nr_parts;
	bool lost;
};

/*
 * Reads the run's tape: measures it, and finds what its tasks did at the edges of the parts.
 * Returns 0 or -errno.
 */
int measure_run(struct run *run, struct schedtape_error *err);
/*
 * Measures the tape of a part, without what there is only because a replay begins and ends.
 * @timeline: of the run.  Returns 0 or -errno.
 */
int measure_part(struct part *part, const struct schedtape_timeline *timeline,
		 struct schedtape_error *err);
void measure_free(struct measure *measure);

#endif /* SCHEDTAPE_ESTIMATE_INTERNAL_H */
