/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of a recording.
 */
#ifndef SCHEDTAPE_TAPE_END_H
#define SCHEDTAPE_TAPE_END_H

#include <stdint.h>

struct schedtape_cpu;
struct schedtape_tape;

/* Makes one end, in ns, from all end records, and from chunks for what these lack. */
int tape_end_finish(struct schedtape_tape *tape);
/* Sorts the CPUs of the end records, and removes all but the first of a number. */
void tape_end_sort(struct schedtape_tape *tape);
/* Finds a CPU of the end records, once they are sorted.  NULL: none has it. */
struct schedtape_cpu *tape_end_find(const struct schedtape_tape *tape, uint32_t cpu);
/* Sets the begin of the recording before its end is known. */
void tape_end_begin(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_END_H */
