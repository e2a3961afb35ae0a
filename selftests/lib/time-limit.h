/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Factors for the loads and the time limits of tests: see time-limit.c.
 */
#ifndef SELFTESTS_TIME_LIMIT_H
#define SELFTESTS_TIME_LIMIT_H

#include <stdbool.h>

/* Returns the factor by which loads grow. */
unsigned int st_slow(void);
/* Returns the factor by which limits grow that only end a hang. */
unsigned int st_patience(void);
/* Returns true under an emulator that counts instructions, where times are exact. */
bool st_exact(void);

#endif /* SELFTESTS_TIME_LIMIT_H */
