/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of tasks in options, and the tasks that a tape has.
 */
#ifndef SCHEDTAPE_SELECT_TASKS_H
#define SCHEDTAPE_SELECT_TASKS_H

#include <schedtape.h>

#include "common/select.h"

/*
 * Finds out which arguments are names that tasks of the tape have at any time, and warns of those
 * that could also be a list or a pattern.  The events of a pipe cannot be read beforehand, so there
 * only names count that tasks have when the recording begins; an argument that is none of these
 * selects what it can mean in any way.  Rewinds the tape.  Returns 0, or -errno after a message.
 * @path: of the tape
 */
int select_tasks_find(struct select_names *names, struct schedtape_tape *tape, const char *path);

/* Finds the same of the last names of tasks: those that a report prints. */
void select_tasks_last(struct select_names *names, const struct schedtape_task *tasks, size_t n,
		       const char *path);

#endif /* SCHEDTAPE_SELECT_TASKS_H */
