/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --log: where the messages of a daemon go, the journal or a file.
 */
#ifndef SCHEDTAPE_LOG_H
#define SCHEDTAPE_LOG_H

#include <stdbool.h>

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

#endif /* SCHEDTAPE_LOG_H */
