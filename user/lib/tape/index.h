/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the chunks and the other records of a tape are.
 */
#ifndef SCHEDTAPE_TAPE_INDEX_H
#define SCHEDTAPE_TAPE_INDEX_H

#include "tape/records.h"

struct schedtape_tape;

/*
 * Adds a chunk.  @damaged: its checksum is wrong, so its header may be wrong as well.  -EBADMSG:
 * its header is impossible, for the reason @why.
 */
int tape_index_chunk(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, bool damaged, const char **why);
/* Adds a record of another type.  -ENOMEM. */
int tape_index_other(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head);
void tape_index_sort(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_INDEX_H */
