/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a command writes its tape or page: what -o FILE names, and the previous tape of that name.
 */
#ifndef SCHEDTAPE_DESTINATION_H
#define SCHEDTAPE_DESTINATION_H

#include <argp.h>
#include <stdbool.h>

#include <json-c/json.h>
#include <schedtape.h>

/*
 * Returns the path that @name stands for, which the caller frees, or NULL after setting @err:
 * nothing can be written there.  Slashes at the end are removed, and symbolic links followed, so
 * that the link stays when its target is renamed.  "-" is standard output, also if @name is
 * /dev/stdout or another name of the same pipe; "/dev/fd/N" is another open descriptor.
 */
char *destination_find(const char *name, struct schedtape_error *err);
/* Sets *path, which is NULL or of an earlier option, to that.  An error ends the process. */
void destination_option(char **path, const char *name, const struct argp_state *state);
/* Returns true for descriptors, pipes and devices: they are neither renamed nor read again. */
bool destination_is_stream(const char *path);
/*
 * Creates a tape as tape_writer_create() does.  Opens a FIFO when a process reads it.  Returns 0 or
 * -errno; -EINTR: a signal that ends the command has come before, see signals_pending()
 */
int destination_create(const char *path, struct json_object *meta,
		       const struct schedtape_writer_options *options,
		       struct schedtape_writer **writer, struct schedtape_error *err);

/* -- the previous tape ----------------------------------------------------- */

/*
 * The previous tape, a file or a directory, is renamed when a new one takes its name: to NAME.old,
 * as in perf.
 */

/*
 * Returns -EEXIST if @output, or the backup of the previous tape of that name, would replace
 * @input or its directory, or be inside @input.
 */
int backup_refuse(const char *input, const char *output, struct schedtape_error *err);

/**
 * struct backup - the previous tape, until the new one is complete
 * @path: path of the new tape; NULL: there is nothing to do
 * @old: name that the previous tape has now, or NULL
 * @older: temporary name of the tape that had the name @old before, or NULL
 * @was_empty: @path was an empty directory, which stays where it is
 */
struct backup {
	const char *path;
	char *old;
	char *older;
	bool was_empty;
};

/*
 * Renames the previous tape.  @path is of destination_find(), and must outlive @backup.  An empty
 * directory keeps its name, because it may be a mount point, and a new tape with several files
 * fills it: a recorder that is killed early leaves one.  Returns 0 or -errno; -EEXIST: @path is a
 * directory that has other files than a tape's.
 */
int backup_old(const char *path, struct backup *backup, struct schedtape_error *err);
/* The new tape is complete: removes @older. */
void backup_done(struct backup *backup);
/* The same, and the caller has renamed @old: @older becomes NAME.old again. */
void backup_moved(struct backup *backup);
/* The same, but the new tape replaces the previous one: @older becomes NAME.old again. */
void backup_drop(struct backup *backup);
/* Recording failed: restores the previous tape. */
void backup_undo(struct backup *backup);

#endif /* SCHEDTAPE_DESTINATION_H */
