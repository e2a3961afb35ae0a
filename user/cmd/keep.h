/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of the tape that has a new one's name, a file or a directory.  As
 * perf has it, the last one is kept as NAME.old.
 */
#ifndef SCHEDTAPE_KEEP_H
#define SCHEDTAPE_KEEP_H

#include <schedtape.h>

/* A tape's name without the slashes that a shell completes that of a directory with. */
char *keep_name(char *path);

/*
 * Makes way for a new tape.  *old: the old one's name now, to be freed, or NULL.
 * -EEXIST: what is there is a directory, and not a tape.
 */
int keep_old(const char *path, char **old, struct schedtape_error *err);
/* Removes a tape: a file, or a directory with nothing but a tape's files. */
int keep_remove(const char *path);
/* As if nothing had happened: @made: there is a new one; @old as from keep_old(). */
void keep_undo(const char *path, const char *old, bool made);

#endif /* SCHEDTAPE_KEEP_H */
