/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pager: what a reading command prints on a terminal goes through it, as in git.
 */
#ifndef SCHEDTAPE_COMMON_PAGER_H
#define SCHEDTAPE_COMMON_PAGER_H

#include <stdbool.h>

/* Says that the command is one whose output may go through a pager. */
void pager_allow(void);
/* Tests whether pager_allow() was called. */
bool pager_allowed(void);
/* --no-pager */
void pager_forbid(void);

/*
 * Starts a pager if it is allowed and standard output is a terminal: $SCHEDTAPE_PAGER, or else
 * $PAGER, or else less; none if that is empty or "cat".  From now on standard output, and standard
 * error if that is a terminal, too, go there.  When this process ends, pager_finish() is called.
 *
 * Returns NULL, or the command that could not be run, with the reason in errno; output then goes to
 * the terminal as without a pager.
 */
const char *pager_start(void);

/* Writes what is left to the pager, if there is one, and waits until the user has left it. */
void pager_finish(void);

/* Tests whether there is one.  Writing fails then only if the user has left it. */
bool pager_started(void);

/* Returns the descriptor of the terminal behind the pager, or that of standard output. */
int pager_output(void);

#endif /* SCHEDTAPE_COMMON_PAGER_H */
