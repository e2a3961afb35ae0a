/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many samples of other tracepoints a tape has, and how a recorder writes them.
 */
#ifndef SCHEDTAPE_TAPE_SAMPLES_H
#define SCHEDTAPE_TAPE_SAMPLES_H

#include <schedtape-tape.h>

/**
 * struct tape_sample_counts - what the SAMPLES records of a tape have
 * @samples: includes those that only say what was lost
 * @dropped: samples that the recorder did not write, because the session did not record their tasks
 */
struct tape_sample_counts {
	uint64_t samples;
	uint64_t lost;
	uint64_t dropped;
};

/*
 * Adds up what the heads of the SAMPLES records say, without reading the samples.  A record whose
 * head is damaged is left out; readers of the samples note it.  Returns 0 or -errno.
 */
int tape_count_samples(const struct schedtape_tape *tape, struct tape_sample_counts *counts);
/*
 * As schedtape_writer_samples(), also with no samples.  @dropped: how many of this CPU, since the
 * record before, are not written
 */
int tape_writer_samples(struct schedtape_writer *writer, uint32_t cpu,
			const struct schedtape_sample *samples, size_t n, uint64_t dropped,
			struct schedtape_error *err);

#endif /* SCHEDTAPE_TAPE_SAMPLES_H */
