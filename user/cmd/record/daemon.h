/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --daemon: a recorder in the background.  The process that was called waits until its
 * child, the recorder, has begun or failed; so messages until then are on the caller's standard
 * error, and the exit status is that of the start.
 */
#ifndef SCHEDTAPE_DAEMON_H
#define SCHEDTAPE_DAEMON_H

#include <stdbool.h>

#include "record/log.h"
#include "record/pidfile.h"

/**
 * struct daemon_options - how to run
 * @background: --daemon
 * @keep_files: leave open files as they are, because --control has one of them
 * @pidfile: argument of --pidfile, or NULL
 * @log: argument of --log, or NULL
 */
struct daemon_options {
	bool background;
	bool keep_files;
	const char *pidfile;
	const char *log;
};

/**
 * struct daemon - a recorder, in the background or not
 * @caller: writing end of a pipe to the process that waits; -1: none does
 */
struct daemon {
	const struct daemon_options *options;
	int caller;
	struct pidfile pidfile;
	struct log log;
};

#define DAEMON_CLOSED	{ .caller = -1, .pidfile = PIDFILE_CLOSED, .log = LOG_CLOSED }

/*
 * With --daemon, goes on in a child: the calling process waits for daemon_begun() there, and ends.
 * To be called before anything is opened.  Returns 0, or -errno after a message.
 */
int daemon_start(struct daemon *daemon, const struct daemon_options *options);
/* Opens the pidfile and the log.  Returns 0, or -errno after a message. */
int daemon_open(struct daemon *daemon);
/*
 * The recording has begun: with --daemon, leaves the caller's terminal and session, and lets the
 * caller go on.  Returns 0; -errno: the caller was killed
 */
int daemon_begun(struct daemon *daemon);
/* After SIGHUP: opens the log again. */
void daemon_reopen(struct daemon *daemon);
void daemon_close(struct daemon *daemon);

#endif /* SCHEDTAPE_DAEMON_H */
