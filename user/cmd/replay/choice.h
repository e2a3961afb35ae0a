/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The choice of tasks to replay: --only and --exclude.
 */
#ifndef SCHEDTAPE_CHOICE_H
#define SCHEDTAPE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/select.h"

#include <schedtape.h>

/**
 * struct choice_list - "GLOB" or "comm=GLOB", "pid=LIST", "tgid=LIST", "cgroup=WHICH"
 * @globs: patterns of names
 * @cgroups: paths or ids, as text
 * @ids: ids of @cgroups, set by choice_check()
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
 * struct choice - the tasks of --only (empty: all), without those of --exclude
 * @tape: the tape to replay
 */
struct choice {
	struct choice_list only;
	struct choice_list exclude;
	struct schedtape_tape *tape;
};

/* @text must outlive the list.  Returns 0, -EINVAL (wrong form) or -ENOMEM. */
int choice_parse(struct choice_list *list, const char *text);
/* Returns true if --only or --exclude was given. */
bool choice_made(const struct choice *choice);
/* Looks up the cgroups.  Returns 0; -ENOENT, after a message: one is unknown; or -ENOMEM. */
int choice_check(struct choice *choice);
/* Returns true if the task is to be replayed.  @arg: a struct choice. */
bool choice_keeps(void *arg, const struct schedtape_task *task);
void choice_free(struct choice *choice);

#endif /* SCHEDTAPE_CHOICE_H */
