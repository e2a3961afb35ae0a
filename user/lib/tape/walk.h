/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Goes over the records of a file.
 */
#ifndef SCHEDTAPE_TAPE_WALK_H
#define SCHEDTAPE_TAPE_WALK_H

#include "tape/bytes.h"

struct schedtape_tape;

/*
 * Adds a file and its content.  @name: within the directory; NULL: the file is all of the tape.
 * -ESTALE: it belongs to another recording, and nothing of it was kept.
 */
int tape_walk_file(struct schedtape_tape *tape, const char *path, const char *name,
		   struct schedtape_error *err);
/*
 * Adds the next record of a file.  tape_walk_file() does so with all records, except those of a
 * pipe.  1: go on; 0: the file has ended; -errno.
 */
int tape_walk_next(struct schedtape_tape *tape, struct tape_file *file,
		   struct schedtape_error *err);

#endif /* SCHEDTAPE_TAPE_WALK_H */
