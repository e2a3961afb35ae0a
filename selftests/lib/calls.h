/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the calls of a kernel function, with a kprobe.
 */
#ifndef SELFTESTS_CALLS_H
#define SELFTESTS_CALLS_H

#include <stdbool.h>

/**
 * struct st_calls - counts the calls of a kernel function
 * @name: of the probe, which only this process has
 */
struct st_calls {
	char name[32];
};

/* Begins to count. */
bool st_calls_begin(struct st_calls *calls, const char *function);
/* Returns the number of calls, and ends counting; -errno. */
long st_calls_end(struct st_calls *calls);

#endif /* SELFTESTS_CALLS_H */
