/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_SIGNALS_H
#define SCHEDTAPE_SIGNALS_H

#include <signal.h>

/*
 * Blocks what ends a command (SIGINT, SIGTERM, SIGHUP) and SIGCHLD, and returns
 * a descriptor to read them from without blocking, or -errno.  @before: the
 * mask as it was, or NULL.
 */
int signals_open(sigset_t *before);

#endif /* SCHEDTAPE_SIGNALS_H */
