/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long things may take here: see time-limit.c.
 */
#ifndef SELFTESTS_TIME_LIMIT_H
#define SELFTESTS_TIME_LIMIT_H

#include <stdbool.h>

/* How many times longer than usual things may take here. */
unsigned int st_slow(void);
/* Under an emulator that counts instructions, times are exact. */
bool st_exact(void);

#endif /* SELFTESTS_TIME_LIMIT_H */
