/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is true of every recording.
 */
#ifndef SELFTESTS_INVARIANTS_H
#define SELFTESTS_INVARIANTS_H

#include "record.h"

/*
 * What is true of every recording without losses: nobody is named but @roots,
 * whom they forked, and who has entered and not left; nobody runs on two CPUs,
 * runs before it is woken, is woken without a waker, or does anything after its
 * end.  NULL, or what is wrong.
 */
const char *st_check(const struct st_record *r, const pid_t *roots, size_t n);
/* Somebody in the stream who is neither one of @pids nor forked by one; 0: nobody. */
uint32_t st_foreign(const struct st_record *r, const pid_t *pids, size_t n);

#endif /* SELFTESTS_INVARIANTS_H */
