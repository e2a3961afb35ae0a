/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules that every recording obeys.
 */
#ifndef SELFTESTS_INVARIANTS_H
#define SELFTESTS_INVARIANTS_H

#include "record.h"

/*
 * Checks the rules of a recording without losses. The stream names no task but @roots, their
 * descendants, and tasks that have entered and not left. No task runs on two CPUs, runs before
 * it is woken, is woken without a waker, or does anything after its end. Returns NULL, or the
 * rule that is broken, which it has printed.
 */
const char *st_check(const struct st_record *r, const pid_t *roots, size_t n);
/* Returns a task of the stream that is neither in @pids nor a descendant of one; 0: none. */
uint32_t st_foreign(const struct st_record *r, const pid_t *pids, size_t n);

#endif /* SELFTESTS_INVARIANTS_H */
