/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of the tape that has a new one's name, a file or a directory.  As
 * perf has it, the last one is kept as NAME.old.
 */
#ifndef SCHEDTAPE_KEEP_H
#define SCHEDTAPE_KEEP_H

#include <schedtape.h>

/* A tape's name without the slashes that a shell completes that of a directory with. */
char *keep_name(char *path);

/*
 * -EEXIST: @output, or what was there before and is kept, would take the place of
 * @input or get among its files.
 */
int keep_refuse(const char *input, const char *output, struct schedtape_error *err);

/**
 * struct keep - what was there, until it is known that there is a new tape
 * @path: of the new one; NULL: nothing is to be done
 * @old: what the last one is called now, or NULL
 * @older: what the one is called now that @old took the place of, or NULL
 */
struct keep {
	const char *path;
	char *old;
	char *older;
};

/*
 * Makes way for a new tape; @path has to stay.  -EEXIST: what is there is a
 * directory, and not a tape.
 */
int keep_old(const char *path, struct keep *keep, struct schedtape_error *err);
/* There is a new one. */
void keep_done(struct keep *keep);
/* There is none: as if nothing had happened. */
void keep_undo(struct keep *keep);

#endif /* SCHEDTAPE_KEEP_H */
