/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Standard streams that the caller of the program has closed.
 */
#ifndef SCHEDTAPE_STANDARD_H
#define SCHEDTAPE_STANDARD_H

#include <stdbool.h>

/* Opens /dev/null for each of them, so that no later open() returns its descriptor. */
void standard_open_missing(void);
/* Returns true for a descriptor that standard_open_missing() has opened. */
bool standard_was_missing(int fd);

#endif /* SCHEDTAPE_STANDARD_H */
