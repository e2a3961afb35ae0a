/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the module's fuzzers: repeatable random numbers, a table of outcomes, and the
 * number of inputs.
 *
 * FUZZ_INPUTS (default 5000) and FUZZ_SEED (default: from the clock) are environment variables.
 */
#ifndef SELFTESTS_FUZZ_H
#define SELFTESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

/**
 * struct st_fuzz - a run, in memory that threads and children share
 * @inputs: number so far; @wanted: the number at which the run ends
 * @seed: of the run
 * @wrong: number of results that no input may have
 * @outcomes: number by kind of input and errno
 */
#define ST_FUZZ_KINDS	32
#define ST_FUZZ_ERRNOS	160

struct st_fuzz {
	uint64_t inputs;
	uint64_t wanted;
	uint64_t seed;
	uint64_t wrong;
	uint64_t outcomes[ST_FUZZ_KINDS][ST_FUZZ_ERRNOS];
};

/* Exits if there is no memory. */
struct st_fuzz *st_fuzz_begin(void);
struct st_random st_random(const struct st_fuzz *fuzz, uint64_t who);

bool st_fuzz_more(const struct st_fuzz *fuzz);
/*
 * Counts an input. @ret: 0 or more, or -errno. @allowed: the errnos that it may have, ending
 * with 0; any other one is reported and fails the run.
 */
void st_fuzz_count(struct st_fuzz *fuzz, unsigned int kind, const char *name, long ret,
		   const int *allowed);
/* Prints the table and the TAP result.  Returns the exit status. */
int st_fuzz_end(struct st_fuzz *fuzz, const char *name, const char *const *kinds,
		unsigned int nr_kinds);

#endif /* SELFTESTS_FUZZ_H */
