/* SPDX-License-Identifier: GPL-2.0-only */
/* Which load of the module the sessions are taken from. */
#ifndef SCHEDTAPE_RECOVER_LOAD_H
#define SCHEDTAPE_RECOVER_LOAD_H

#include "recover/find.h"

/*
 * Sets the sessions to those of load @number, counted from 1; 0: of the latest load that has a
 * session with a ring that can be read.  Without such a load the sessions are the latest one's.
 * Returns 0; -ENOENT: there is no load @number; -ENOMEM.
 */
int load_choose(struct found *found, const struct memory *memory, size_t number,
		struct schedtape_error *err);

#endif /* SCHEDTAPE_RECOVER_LOAD_H */
