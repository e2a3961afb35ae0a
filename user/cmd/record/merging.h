/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges the snapshots of a recorder into one tape, in a process of low priority, while the
 * recording goes on.
 */
#ifndef SCHEDTAPE_RECORD_MERGING_H
#define SCHEDTAPE_RECORD_MERGING_H

#include <sys/types.h>

#include "record/recording.h"

/**
 * struct merging - a merge that runs
 * @pid: its process; 0: none runs
 * @parts: of the recorder; those that are merged are not removed meanwhile
 * @file: the new tape, which has no name yet
 * @snapshots: how many are merged
 * @path: of the recorder
 * @quiet: say nothing of the new tape
 */
struct merging {
	pid_t pid;
	const char *path;
	bool quiet;
	struct parts *parts;
	struct parts_file file;
	size_t snapshots;
};

#define MERGING_NONE	{ .file = PARTS_NO_FILE }

/*
 * Begins to merge all snapshots that there are, unless a merge runs.  Warns if that fails.  None of
 * these is removed meanwhile.
 */
void merging_begin(struct merging *merging, const struct recorder *recorder);
/* If the process has ended, names the tape, prints its name, and removes what is too many. */
void merging_reap(struct merging *merging);
/* Waits until the process has ended.  @signals: of signals_open(); one that ends, ends the merge */
void merging_end(struct merging *merging, int signals);

#endif /* SCHEDTAPE_RECORD_MERGING_H */
