/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signals of this process.  A command that it runs gets them as this process got
 * them from its parent.
 */
#ifndef SCHEDTAPE_SIGNALS_H
#define SCHEDTAPE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Blocks SIGCHLD and the signals that end a command (SIGINT, SIGTERM and, unless it is
 * ignored, SIGHUP; SIGUSR2 after signals_take_snapshots()).  Returns a non-blocking
 * descriptor to read them from, or -errno.
 */
int signals_open(void);
/* Reads all signals from that descriptor.  Returns true if one of them ends a command. */
bool signals_read(int fd);
/* Returns true if a signal that ends a command is pending.  It stays to be read. */
bool signals_pending(void);
/* Ignores SIGPIPE and SIGXFSZ, so that a write fails with an error and does not kill. */
void signals_survive_writes(void);
/*
 * Ignores SIGUSR2, so that a script which asks for a snapshot, as of perf record, does not end
 * the recording.
 */
void signals_ignore_snapshots(void);
/* Blocks SIGUSR2, which then ends a command, too: for a recording in overwrite mode. */
void signals_take_snapshots(void);
/* In a child, before exec: restores all that these functions have changed. */
void signals_restore(void);

#endif /* SCHEDTAPE_SIGNALS_H */
