/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Factor for the time limits of tests: see time-limit.c.
 */
#ifndef SELFTESTS_TIME_LIMIT_H
#define SELFTESTS_TIME_LIMIT_H

#include <stdbool.h>

/* Returns the factor by which time limits grow. */
unsigned int st_slow(void);
/* Returns true under an emulator that counts instructions, where times are exact. */
bool st_exact(void);

#endif /* SELFTESTS_TIME_LIMIT_H */
