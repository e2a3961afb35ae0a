/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of restore share, the lowest first.
 */
#ifndef SCHEDTAPE_RESTORE_INTERNAL_H
#define SCHEDTAPE_RESTORE_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <json-c/json.h>

/* -- described.c: a checkpoint in the manifest ----------------------------- */

/**
 * struct described - a checkpoint
 * @images: its folder, DIR/N, as an absolute path
 * @number: N
 * @about: the member "checkpoint" of the interval's line
 * @sample: the first line of the manifest
 */
struct described {
	char images[PATH_MAX];
	uint64_t number;
	struct json_object *about;
	struct json_object *sample;
};

/*
 * Finds the checkpoint that DIR/N names; DIR alone names the only one of a sample.  Returns 0, or
 * -errno after a message.
 */
int described_find(struct described *described, const char *path);
/*
 * Warns of files that are not as they were.  Returns 0; -ENOENT after a message: one is missing, so
 * that criu would fail.
 */
int described_compare(const struct described *described);
/* Calls @each for the path of every kept file, until it returns a value other than 0. */
int described_each_kept(const struct described *described,
			int (*each)(const char *path, void *arg), void *arg);
void described_free(struct described *described);

/* -- inside.c: in the namespaces of the restored processes ----------------- */

/**
 * struct inside - how to restore
 * @scratch: an empty folder, for a file system in memory that has what the overlays get
 * @keep: folder that in the end gets what the processes have written, or NULL
 * @cgroup: folder of a cgroup for the restored processes
 * @criu: the program, or NULL
 * @ready: writing end of a pipe: gets a byte when the processes are restored and frozen, and
 *	wait to be thawed; -1: they run on at once
 * @own_pids: this process is the first one of a PID namespace
 */
struct inside {
	const struct described *described;
	const char *scratch;
	const char *keep;
	const char *cgroup;
	const char *criu;
	int ready;
	bool own_pids;
};

/*
 * Restores the processes and waits for them, in a mount namespace of its own.  Returns the exit
 * status of the first one, 128 and a signal's number if that has ended it, or CMD_FAILURE after a
 * message.
 */
int inside_run(const struct inside *inside);

#endif /* SCHEDTAPE_RESTORE_INTERNAL_H */
