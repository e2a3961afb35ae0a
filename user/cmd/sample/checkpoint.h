/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checkpoints of a workload: criu's images, and what they need.  DIR/N has the images, and below
 * DIR/N/files the files that the workload writes, each at its path.  At an interval's end:
 *
 *	checkpoint_stop(), and the tape is paused;
 *	checkpoint_take();
 *	the tape goes on, and checkpoint_go().
 */
#ifndef SCHEDTAPE_SAMPLE_CHECKPOINT_H
#define SCHEDTAPE_SAMPLE_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <json-c/json.h>
#include <schedtape.h>

#include "common/criu.h"
#include "sample/closed-files.h"
#include "sample/freezer.h"

struct workload;

/**
 * struct checkpoints - the checkpoints of a workload
 * @dir: of the sample
 * @workload: the cgroup with the workload in it, and with nothing else
 * @root: process whose descendants all others are
 * @criu: the program; NULL: the one in the path
 * @version: of it; "": unknown
 * @keep_files: copy the files that the workload has open for writing, and those of @closed
 * @incremental: after the first one, write only the memory that has changed since the last one
 * @last: the last checkpoint that was written; 0: there is none
 * @freezer: what stops the workload
 * @closed: the files that it has written and closed
 */
struct checkpoints {
	const char *dir;
	const struct workload *workload;
	pid_t root;
	const char *criu;
	char version[CRIU_VERSION_LEN];
	bool keep_files;
	bool incremental;
	uint64_t last;
	struct freezer freezer;
	struct closed_files closed;
};

/*
 * Returns 0 if checkpoints can be written, and watches which files the workload closes; -errno
 * after setting @err: no criu, or not root.
 */
int checkpoint_open(struct checkpoints *checkpoints, struct schedtape_error *err);
void checkpoint_close(struct checkpoints *checkpoints);
/* Stops the workload, whole and at once.  Returns 0, or -errno after setting @err. */
int checkpoint_stop(struct checkpoints *checkpoints, struct schedtape_error *err);
/*
 * Writes the stopped workload to DIR/N.  Returns 0, and in @about the member "checkpoint" of the
 * interval in the manifest, but for what checkpoint_go() adds.  -errno after setting @err: nothing
 * is left in DIR/N, and the workload is as it was.
 */
int checkpoint_take(struct checkpoints *checkpoints, uint64_t number, struct json_object **about,
		    struct schedtape_error *err);
/*
 * Lets the workload go on.  @about: gets the length of the pause, and what need not be read in it:
 * the checkpoint's size, and how many timers became due; NULL: there is no checkpoint
 */
void checkpoint_go(struct checkpoints *checkpoints, struct json_object *about);

#endif /* SCHEDTAPE_SAMPLE_CHECKPOINT_H */
