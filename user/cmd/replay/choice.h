/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks of a tape are to be replayed: --only and --exclude.
 */
#ifndef SCHEDTAPE_CHOICE_H
#define SCHEDTAPE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/select.h"

#include <schedtape.h>

/**
 * struct choice_list - "GLOB", "pid=LIST", "tgid=LIST", "cgroup=WHICH"
 * @globs: of names
 * @cgroups: paths or ids
 * @ids: of these, by choice_check()
 */
struct choice_list {
	const char **globs;
	size_t nr_globs;
	const char **cgroups;
	uint64_t *ids;
	size_t nr_cgroups;
	struct select_numbers pids;
	struct select_numbers tgids;
};

/**
 * struct choice - all that --only names (nothing: all), less what --exclude does
 * @tape: whose tasks they are
 */
struct choice {
	struct choice_list only;
	struct choice_list exclude;
	struct schedtape_tape *tape;
};

/* @text must outlive the list.  0, -EINVAL (not of that form) or -ENOMEM. */
int choice_parse(struct choice_list *list, const char *text);
bool choice_made(const struct choice *choice);
/* Looks up the cgroups that it names.  -ENOENT, and says which is not known; -ENOMEM. */
int choice_check(struct choice *choice);
/* @arg: a struct choice. */
bool choice_keeps(void *arg, const struct schedtape_task *task);
void choice_free(struct choice *choice);

#endif /* SCHEDTAPE_CHOICE_H */
