/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GROUPS records: which tasks share an autogroup, or may share a core.
 */
#ifndef SCHEDTAPE_TAPE_GROUPS_H
#define SCHEDTAPE_TAPE_GROUPS_H

#include <schedtape-tape.h>

#include "base/group.h"

int tape_writer_groups(struct schedtape_writer *writer, const struct schedtape_group *groups,
		       size_t n, struct schedtape_error *err);
/* Returns the last entry of a task, or NULL.  It is valid until more of the tape is read. */
const struct schedtape_group *tape_group_find(struct schedtape_tape *tape, uint32_t pid,
					      uint64_t start_time);

#endif /* SCHEDTAPE_TAPE_GROUPS_H */
