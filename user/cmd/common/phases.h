/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The phases of a tape: intervals that are alike, and one of them that stands for all.  And the
 * options that say how they are found.
 */
#ifndef SCHEDTAPE_PHASES_H
#define SCHEDTAPE_PHASES_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/sampled.h"
#include "common/selection.h"
#include "common/time-ranges.h"
#include "common/vectors.h"

struct json_object;

#define PHASES_MOST	52
/* Returns the letter of a phase: in the order of ASCII, so that a table can be sorted by it. */
const char *phases_letter(uint32_t phase);
/* Returns it as JSON: null for SCHEDTAPE_NONE. */
struct json_object *phases_letter_json(uint32_t phase);

/**
 * struct phases_options - the input of phases_argp; all 0 at first
 * @length: --interval, ns; 0: not given
 * @k: -k; 0: not given
 * @max_k: --max-k; 0: not given
 * @counts: --counts
 * @time: --time: one range, or none
 */
struct phases_options {
	uint64_t length;
	uint32_t k;
	uint32_t max_k;
	bool counts;
	struct time_ranges time;
};

extern const struct argp phases_argp;

/**
 * struct phase - intervals that are alike
 * @nr: how many
 * @weight: the sum of their weights
 * @nearest: the interval that stands for them
 * @distance: the square of its distance from their centre
 */
struct phase {
	uint32_t nr;
	uint64_t weight;
	uint32_t nearest;
	double distance;
};

/**
 * struct phases - all phases of a tape; all 0 at first
 * @vectors: the intervals
 * @length: of each, ns; 0: they are those of a sample
 * @first: of a sample: index of the first of its ends that is after the first interval's begin
 * @phases: @nr of them, by when they first come
 * @weight: of all intervals
 */
struct phases {
	struct vectors vectors;
	uint64_t length;
	size_t first;
	struct phase phases[PHASES_MOST];
	uint32_t nr;
	uint64_t weight;
};

/*
 * Finds the phases of the selected tasks.  Reads the ends of the sample's intervals, unless
 * --interval is given.  @timeline: receives the tape's timeline, which the caller frees.
 * Returns 0, or -errno after a message.
 */
int phases_find(struct phases *phases, struct phases_options *options,
		struct selection *selection, struct sampled *sample,
		struct schedtape_timeline **timeline);
void phases_free(struct phases *phases);

#endif /* SCHEDTAPE_PHASES_H */
