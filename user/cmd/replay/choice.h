/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The choice of tasks to replay: --only and --exclude.
 */
#ifndef SCHEDTAPE_CHOICE_H
#define SCHEDTAPE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/select-cgroups.h"

#include <schedtape.h>

/**
 * struct choice_list - "NAME" or "comm=NAME", "pid=LIST", "tgid=LIST", "cgroup=WHICH"
 */
struct choice_list {
	struct select_names comms;
	struct select_cgroups cgroups;
	struct select_numbers pids;
	struct select_numbers tgids;
};

/**
 * struct choice - the tasks of --only (empty: all), without those of --exclude
 */
struct choice {
	struct choice_list only;
	struct choice_list exclude;
};

/* Adds an argument.  Returns 0, -EINVAL (wrong form) or -ENOMEM. */
int choice_parse(struct choice_list *list, const char *text);
/* Returns true if --only or --exclude was given. */
bool choice_made(const struct choice *choice);
/* Finds the names and the cgroups on the tape.  Returns 0, or -errno after a message. */
int choice_check(struct choice *choice, struct schedtape_tape *tape, const char *path);
/* Returns true if the task is to be replayed.  @arg: a struct choice. */
bool choice_keeps(void *arg, const struct schedtape_task *task);
void choice_free(struct choice *choice);

#endif /* SCHEDTAPE_CHOICE_H */
