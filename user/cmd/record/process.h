/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of a recording: the recorder's own, which may go into the background, with a PID
 * file and a log; and the command that it starts.
 */
#ifndef SCHEDTAPE_RECORD_PROCESS_H
#define SCHEDTAPE_RECORD_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* -- --pidfile: a file with the PID, locked as long as the recorder runs --- */

/**
 * struct pidfile - the file
 * @path: its name
 * @fd: descriptor that holds the lock; -1: there is no file
 */
struct pidfile {
	const char *path;
	int fd;
};

#define PIDFILE_CLOSED	{ .fd = -1 }

/*
 * Writes the PID of this process.  Replaces the pidfile of a process that has ended, but no file
 * that is something else.  Returns 0, or -errno after a message; -EBUSY: its process still runs
 */
int pidfile_open(struct pidfile *pidfile, const char *path);
/* Removes the file, unless another one has its name now. */
void pidfile_close(struct pidfile *pidfile);

/* -- --log: where the messages of a daemon go ------------------------------ */

/**
 * struct log - the log
 * @path: of the file; NULL: the journal, or nothing
 * @fd: of the open log until log_take_over(), then -1
 * @journal: it is the journal
 */
struct log {
	const char *path;
	int fd;
	bool journal;
};

#define LOG_CLOSED	{ .fd = -1 }

/* If standard error is the journal already, as in a service, gives messages their levels. */
void log_use_journal(void);
/*
 * Opens the log.  @name: of a file, or "journal"; NULL: the journal; if there is none, nothing is
 * logged, and a warning says so.  Returns 0, or -errno after a message.
 */
int log_open(struct log *log, const char *name);
/* Makes the log the standard error.  Each line in a file begins with the time. */
void log_take_over(struct log *log);
/* Opens it again, because the file may have been renamed, or the journal started again. */
void log_reopen(struct log *log);
void log_close(struct log *log);

/* -- --daemon: a recorder in the background -------------------------------- */

/*
 * The process that was called waits until its child, the recorder, has begun or failed; so messages
 * until then are on the caller's standard error, and the exit status is that of the start.
 */

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

/* -- the command ----------------------------------------------------------- */

/**
 * struct child - a command
 * @pid: 0: there is no command
 * @go: writing end of a pipe: a byte makes the child call exec
 * @gone: that byte was written
 * @error: reading end of a pipe: errno of a failed exec; a successful exec closes it
 * @status: as waitpid() returns it, once it has @ended
 */
struct child {
	pid_t pid;
	int go;
	int error;
	int status;
	bool ended;
	bool gone;
};

/*
 * Forks a child that waits for child_go() before it executes @command.  Returns 0 or -errno.
 * @to_stderr: its standard output is the standard error
 */
int child_fork(struct child *child, char **command, bool to_stderr);
/* Makes the child execute its command.  Returns 0 or -errno of the exec. */
int child_go(struct child *child);
/* Sets @ended and @status if the child has ended.  Does not wait. */
void child_reap(struct child *child);
/*
 * Sends SIGTERM to the command.  A child that still waits for child_go() ends by itself, and is
 * reaped.
 */
void child_end(struct child *child);

#endif /* SCHEDTAPE_RECORD_PROCESS_H */
