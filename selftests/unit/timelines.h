/* SPDX-License-Identifier: GPL-2.0-only */
/* One fake tape after the other, and its timeline. */
#ifndef SELFTESTS_TIMELINES_H
#define SELFTESTS_TIMELINES_H

#include "fake-tape.h"
#include "tap.h"

static struct schedtape_tape *tape;
static struct schedtape_timeline *tl;

/* Begins another tape; the one before is freed, with its timeline. */
static inline void fake_begin(uint64_t start, uint64_t stop)
{
	if (tape)
		fake_done(tape, tl);
	tl = NULL;
	tape = fake_new(start, stop);
}

#endif
