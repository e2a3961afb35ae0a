/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which scheduler ordinary tasks run under: the kernel's fair one, or one that sched_ext
 * has loaded, which may come and go at any time.
 */
#ifndef SCHEDTAPE_SCHEDULER_H
#define SCHEDTAPE_SCHEDULER_H

#include <limits.h>

#include "schedtape.h"

#define SCHEDTAPE_SCHED_EXT	"/sys/kernel/sched_ext"

/**
 * struct schedtape_watch - looks at sched_ext from time to time
 * @now: what the last look that saw a change has seen
 * @root: its folder in sysfs
 * @state_fd, @seq_fd: files there; -1: the kernel has no sched_ext
 * @began: when the last look began, ns of CLOCK_MONOTONIC; 0: none has
 */
struct schedtape_watch {
	struct schedtape_scheduler now;
	char root[PATH_MAX];
	int state_fd;
	int seq_fd;
	uint64_t began;
};

/* Opens what there is below @root, SCHEDTAPE_SCHED_EXT but in tests. */
void schedtape_watch_open(struct schedtape_watch *watch, const char *root);
void schedtape_watch_close(struct schedtape_watch *watch);

/* Returns false if nothing can ever change, because the kernel has no sched_ext. */
static inline bool schedtape_watch_lives(const struct schedtape_watch *watch)
{
	return watch->state_fd >= 0;
}

/*
 * Returns true if @watch->now is new: at the first look, and after each change.  Costs two
 * reads of short files while nothing changes.
 */
bool schedtape_watch_look(struct schedtape_watch *watch);

#endif /* SCHEDTAPE_SCHEDULER_H */
