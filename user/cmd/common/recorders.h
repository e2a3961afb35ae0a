/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorders that run and have a name: that of record --name; without it, the PID of a recorder that
 * takes snapshots.  Each listens on a Unix socket of that name.  Who connects sends an order and a
 * newline, as to --control, and gets a line: "ok", perhaps with a result behind it, or "error" with
 * the reason behind it.
 */
#ifndef SCHEDTAPE_RECORDERS_H
#define SCHEDTAPE_RECORDERS_H

#include <argp.h>
#include <schedtape.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

struct json_object;

#define RECORDERS_LINE	4352	/* the longest answer, which may have a path, with its NUL */
#define RECORDERS_NOTE	1025	/* the longest note of a snapshot, with its NUL */

/* Returns true for a path of a socket, and for a name of letters, digits, '-', '_' and '.'. */
bool recorders_valid(const char *name);
/* Returns true for a PID, which is the name of a recorder without --name. */
bool recorders_is_pid(const char *name);
/* Takes a recorder's name, its PID, or "NAME:PID" from the command line, where there may be one. */
void recorders_parse(const char **name, const char *arg, const struct argp_state *state);
/* Finds the socket of a name.  @make: makes the folder of sockets.  Returns 0 or -errno. */
int recorders_address(const char *name, bool make, struct sockaddr_un *address,
		      struct schedtape_error *err);
/*
 * Sends an order, and waits for the answer, for @seconds at most; 0: as long as it takes.  @result:
 * what is behind "ok", of RECORDERS_LINE bytes.  Returns 0; -ENOENT: there is no such recorder;
 * -ECANCELED: the answer is an error; -errno.
 */
int recorders_ask(const char *name, const char *order, unsigned int seconds, char *result,
		  struct schedtape_error *err);
/* Returns what a recorder says of itself, which the caller puts; NULL: nothing, see @err. */
struct json_object *recorders_status(const char *name, unsigned int seconds,
				     struct schedtape_error *err);
/*
 * Returns the process that listens on a socket; 0: none does; -ESRCH: it has no PID here; -errno,
 * such as -EAGAIN: it is busy.
 */
pid_t recorders_listener(const struct sockaddr_un *address);
/*
 * Finds the name of the only recorder of this user that takes snapshots, which the caller frees.
 * Returns 0; -ENOENT: there is none; -EEXIST: there are several, which @err names; -ENOMEM.
 */
int recorders_only(char **name, struct schedtape_error *err);
/*
 * Calls @each with the name and the process of each recorder in the folder of sockets, until that
 * returns false.  Removes the sockets of recorders without a name that were killed.
 */
void recorders_each(bool (*each)(void *arg, const char *name, pid_t pid), void *arg);

#endif /* SCHEDTAPE_RECORDERS_H */
