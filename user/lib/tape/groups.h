/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GROUPS records: which tasks share an autogroup, or may share a core.
 */
#ifndef SCHEDTAPE_TAPE_GROUPS_H
#define SCHEDTAPE_TAPE_GROUPS_H

#include <stdbool.h>

#include <schedtape-tape.h>

#include "base/group.h"

int tape_writer_groups(struct schedtape_writer *writer, const struct schedtape_group *groups,
		       size_t n, struct schedtape_error *err);
/* Returns false if it is not known which tasks share an autogroup; of a pipe: so far. */
bool tape_has_groups(const struct schedtape_tape *tape);
/*
 * Returns the entry that was listed together with the description of a task that has this @time;
 * NULL: the task was in no autogroup then, or that is not known.  It is valid until more of the
 * tape is read.
 */
const struct schedtape_group *tape_group_find(struct schedtape_tape *tape, uint32_t pid,
					      uint64_t start_time, uint64_t time);

/* Reads a GROUPS payload.  -EBADMSG: corrupt; no entry of it is kept then. */
int tape_content_groups(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);

/* Merging may move the time of a description, but not that of the entry, by this at most, ns. */
#define TAPE_GROUPS_SLACK	1000001

#endif /* SCHEDTAPE_TAPE_GROUPS_H */
