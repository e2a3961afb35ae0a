/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watches the scheduler of ordinary tasks: the kernel's fair one, or one that sched_ext
 * has loaded, which may come and go at any time.
 */
#ifndef SCHEDTAPE_SCHEDULER_H
#define SCHEDTAPE_SCHEDULER_H

#include <limits.h>
#include <sys/types.h>

#include <schedtape.h>

#define SCHEDTAPE_SCHED_EXT	"/sys/kernel/sched_ext"

/**
 * struct schedtape_watch - looks at sched_ext from time to time
 * @now: result of the last look that saw a change
 * @root: sched_ext's folder in sysfs
 * @state_fd, @seq_fd: files there; -1: the kernel has no sched_ext
 * @began: when the last look began, ns of CLOCK_MONOTONIC; 0: there was no look yet
 * @folder: inode of the scheduler's own folder at the time of @now; 0: it had none
 * @counted: enable_seq of @now already counts a scheduler that was seen enabled
 */
struct schedtape_watch {
	struct schedtape_scheduler now;
	char root[PATH_MAX];
	int state_fd;
	int seq_fd;
	uint64_t began;
	ino_t folder;
	bool counted;
};

/* Opens the files below @root.  @root: SCHEDTAPE_SCHED_EXT, except in tests. */
void schedtape_watch_open(struct schedtape_watch *watch, const char *root);
void schedtape_watch_close(struct schedtape_watch *watch);

/* Returns false if nothing can ever change, because the kernel has no sched_ext. */
static inline bool schedtape_watch_lives(const struct schedtape_watch *watch)
{
	return watch->state_fd >= 0;
}

/*
 * Returns true if @watch->now is new: at the first look, and after each change.  Costs two
 * reads of short files while nothing changes.  If a later look sets @after to 0, its result
 * replaces that of the first one.
 */
bool schedtape_watch_look(struct schedtape_watch *watch);

/* The last look.  Also returns true if the scheduler has rejected more tasks. */
bool schedtape_watch_end(struct schedtape_watch *watch);

#endif /* SCHEDTAPE_SCHEDULER_H */
