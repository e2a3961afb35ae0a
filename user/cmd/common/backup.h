/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The backup of the tape, a file or a directory, whose name a new tape takes.  As in
 * perf, the previous tape becomes NAME.old.
 */
#ifndef SCHEDTAPE_BACKUP_H
#define SCHEDTAPE_BACKUP_H

#include <schedtape.h>

/* A tape's name without the slashes that a shell completes that of a directory with. */
char *backup_name(char *path);

/*
 * -EEXIST: @output, or what was there before and is kept, would take the place of
 * @input or get among its files.
 */
int backup_refuse(const char *input, const char *output, struct schedtape_error *err);

/**
 * struct backup - the previous tape, until the new one is complete
 * @path: of the new tape; NULL: there is nothing to do
 * @old: name that the previous tape has now, or NULL
 * @older: temporary name of the tape that had the name @old before, or NULL
 */
struct backup {
	const char *path;
	char *old;
	char *older;
};

/*
 * Makes way for a new tape; @path has to stay.  -EEXIST: what is there is a
 * directory, and not a tape.
 */
int backup_old(const char *path, struct backup *backup, struct schedtape_error *err);
/* The new tape is complete: removes @older. */
void backup_done(struct backup *backup);
/* Recording failed: restores the previous tape. */
void backup_undo(struct backup *backup);

#endif /* SCHEDTAPE_BACKUP_H */
