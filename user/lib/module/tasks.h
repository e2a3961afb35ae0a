/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_MODULE_TASKS_H
#define SCHEDTAPE_MODULE_TASKS_H

#include <schedtape/client.h>

#include "base/group.h"

/*
 * As schedtape_session_tasks(), with those that are in an autogroup or have a core-scheduling
 * cookie; the caller frees both arrays, also on failure.
 */
int schedtape_session_groups(struct schedtape_session *session, struct schedtape_task_info **tasks,
			     size_t *n, struct schedtape_group **groups, size_t *nr_groups,
			     struct schedtape_error *err);

/**
 * struct client_task - a live task in a filter
 * @pid: its PID in the initial PID namespace
 * @tgid: PID of its process there
 * @vpid: its PID in the caller's namespace; 0: it has none there
 */
struct client_task {
	uint32_t pid;
	uint32_t tgid;
	uint32_t vpid;
};

/* Gets the live tasks of any session's filter.  The caller frees *tasks. */
int client_tasks(struct schedtape_client *client, uint32_t session, struct client_task **tasks,
		 size_t *n, struct schedtape_error *err);

#endif /* SCHEDTAPE_MODULE_TASKS_H */
