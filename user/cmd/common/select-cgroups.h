/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that select cgroups of a tape: paths, patterns, lists of these, or "id:N".
 */
#ifndef SCHEDTAPE_SELECT_CGROUPS_H
#define SCHEDTAPE_SELECT_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/select.h"

/**
 * struct select_cgroups - the options; all 0: none
 * @names: paths, as they were given
 * @ids: @nr_ids cgroups that these select, in order, set by select_cgroups_find()
 */
struct select_cgroups {
	struct select_names names;
	uint64_t *ids;
	size_t nr_ids;
};

/* Adds an argument.  Returns 0; -EINVAL: it is empty; or -ENOMEM. */
int select_cgroups_parse(struct select_cgroups *cgroups, const char *text);
/*
 * Finds the cgroups on a tape.  Returns 0, or -errno after a message: the tape has no such cgroup.
 * @below: select the cgroups below them, too; @path: of the tape; @option: for messages, "--cgroup"
 */
int select_cgroups_find(struct select_cgroups *cgroups, struct schedtape_tape *tape, bool below,
			const char *path, const char *option);
/* Returns true if the cgroup of that id is selected. */
bool select_cgroups_has(const struct select_cgroups *cgroups, uint64_t id);
void select_cgroups_free(struct select_cgroups *cgroups);

#endif /* SCHEDTAPE_SELECT_CGROUPS_H */
