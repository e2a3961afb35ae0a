/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --pidfile: a file with the recorder's PID, which it locks as long as it runs.
 */
#ifndef SCHEDTAPE_PIDFILE_H
#define SCHEDTAPE_PIDFILE_H

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

#endif /* SCHEDTAPE_PIDFILE_H */
