/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this process has from its parent: signals, standard streams, the limit of open files.  A
 * command that it runs gets them as they were.
 */
#ifndef SCHEDTAPE_SIGNALS_H
#define SCHEDTAPE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- signals --------------------------------------------------------------- */

/*
 * Blocks SIGCHLD and the signals that end a command (SIGINT, SIGTERM and, unless it is
 * ignored, SIGHUP), and those of signals_snapshot_on(), signals_merge_on() and
 * signals_end_on().  Returns a non-blocking descriptor to read them from, or -errno.
 */
int signals_open(void);
/*
 * Reads all signals from that descriptor.  Returns true if one of them ends a command.  @snapshot:
 * set if one of them asks for a snapshot; may be NULL if none does
 */
bool signals_read(int fd, bool *snapshot);
/* Returns true if a signal that ends a command is pending.  It stays to be read. */
bool signals_pending(void);
/*
 * Ends this process by the first SIGINT, SIGTERM or SIGHUP that has asked for the command's end, so
 * that a shell ends its loop, too, or by SIGPIPE.  Returns if none has come.  main() calls it when
 * a command that has not failed, or whose input was interrupted, has written all.
 */
void signals_die(void);
/*
 * Lets this process survive the first SIGINT, unless it is ignored, because what it reads ends by
 * the same Ctrl-C.  The next one does what it did before.
 */
void signals_survive_interrupt(void);
/* Returns true if the SIGINT has come that signals_survive_interrupt() lets it survive. */
bool signals_interrupted(void);
/* Ignores SIGXFSZ, so that a write beyond the limit of a file's size fails with an error. */
void signals_survive_limits(void);
/* Ignores SIGPIPE and SIGXFSZ, so that a write fails with an error and does not kill. */
void signals_survive_writes(void);
/*
 * Makes signals_die() end this process by SIGPIPE, unless that was ignored: nobody reads the
 * output of the command any more.
 */
void signals_take_broken_pipe(void);
/*
 * Ignores SIGUSR2, so that a script which asks for a snapshot, as of perf record, does not end
 * the recording.
 */
void signals_ignore_snapshots(void);
/* Blocks @signal, SIGUSR1 or SIGUSR2, which then asks for a snapshot. */
void signals_snapshot_on(int signal);

/**
 * struct asker - the process that has asked for something
 * @pid: its PID; 0: it has none here
 * @uid: its user
 */
struct asker {
	uint32_t pid;
	uint32_t uid;
};

/* Returns the sender of the last one of these. */
struct asker signals_asker(void);
/* Blocks @signal, which then asks for a merge of the snapshots. */
void signals_merge_on(int signal);
/* Then returns true if signals_read() has read one since the last call. */
bool signals_merge(void);
/* Blocks it, and it ends a command. */
void signals_end_on(int signal);
/* From now on SIGHUP ends nothing.  To be called before signals_open(). */
void signals_take_hangups(void);
/* Then returns true if signals_read() has read one since the last call. */
bool signals_hangup(void);
/* From now on SIGTSTP, unless it is ignored, waits for the command: see signals_open(). */
void signals_take_stops(void);
/* Then returns true if signals_read() has read one since the last call. */
bool signals_stop(void);
/* Stops this process as SIGTSTP does, until SIGCONT. */
void signals_stop_here(void);
/* In a child, before exec: restores all that these functions have changed. */
void signals_restore(void);

/* -- standard streams ------------------------------------------------------ */

/*
 * Opens /dev/null for each that the parent has closed, so that no later open() returns its
 * descriptor.
 */
void standard_open_missing(void);
/* Returns true for a descriptor that standard_open_missing() has opened. */
bool standard_was_missing(int fd);

/* -- open files ------------------------------------------------------------ */

#define FILES_LIMIT_MOST	((size_t)-1)	/* as many as the hard limit allows */

/* Raises RLIMIT_NOFILE to @files, as far as the hard limit allows. */
void files_limit_raise(size_t files);
/* In a child, before exec: restores what RLIMIT_NOFILE was first. */
void files_limit_restore(void);

#endif /* SCHEDTAPE_SIGNALS_H */
