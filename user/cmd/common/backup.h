/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The backup of the tape, a file or a directory, whose name a new tape takes.  As in
 * perf, the previous tape becomes NAME.old.
 */
#ifndef SCHEDTAPE_BACKUP_H
#define SCHEDTAPE_BACKUP_H

#include <schedtape.h>

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

#endif /* SCHEDTAPE_BACKUP_H */
