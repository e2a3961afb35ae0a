/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many samples of other tracepoints a tape has.
 */
#ifndef SCHEDTAPE_TAPE_SAMPLES_H
#define SCHEDTAPE_TAPE_SAMPLES_H

#include <schedtape-tape.h>

/*
 * Adds up what the heads of the SAMPLES records say, without reading the samples.  A record whose
 * head is damaged is left out; readers of the samples note it.  @samples: includes those that only
 * say what was lost.  Returns 0 or -errno.
 */
int tape_count_samples(const struct schedtape_tape *tape, uint64_t *samples, uint64_t *lost);

#endif /* SCHEDTAPE_TAPE_SAMPLES_H */
