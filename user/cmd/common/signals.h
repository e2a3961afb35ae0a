/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signals of this process, which a command that it runs is to find as it has
 * found them itself.
 */
#ifndef SCHEDTAPE_SIGNALS_H
#define SCHEDTAPE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Blocks what ends a command (SIGINT, SIGTERM and, unless it is ignored, SIGHUP)
 * and SIGCHLD, and returns a descriptor to read them from without blocking, or
 * -errno.
 */
int signals_open(void);
/* Reads all that have come from that descriptor.  Was there one that ends a command? */
bool signals_read(int fd);
/* Has one come since then that ends a command?  It stays there to be read. */
bool signals_pending(void);
/* From now on a write that fails says so, and does not kill. */
void signals_survive_writes(void);
/* In a child, before it executes something else: as all of it was before. */
void signals_restore(void);

#endif /* SCHEDTAPE_SIGNALS_H */
