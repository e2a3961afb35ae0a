/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_MODULE_TASKS_H
#define SCHEDTAPE_MODULE_TASKS_H

#include <schedtape/client.h>

/*
 * Gets the live tasks of any session's filter, as schedtape_session_tasks() does of an own one,
 * without their affinities.
 */
int schedtape_client_tasks(struct schedtape_client *client, uint32_t session,
			   struct schedtape_task_info **tasks, size_t *n,
			   struct schedtape_error *err);

#endif /* SCHEDTAPE_MODULE_TASKS_H */
