// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests that change a session's filter.
 */
#include <schedtape/client.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "module/client-internal.h"
#include "base/error.h"
#include "base/sized.h"

static int get_filter(struct schedtape_filter *own, const struct schedtape_filter *filter,
		      struct schedtape_error *err)
{
	return sized_get(own, sizeof(*own), filter, "the filter", err);
}

int schedtape_filter_set(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err)
{
	struct schedtape_filter own;
	struct nl_msg *msg;
	size_t i;
	int ret;

	ret = get_filter(&own, filter, err);
	if (ret)
		return ret;
	for (i = 0; i < own.nr_exclude_comm; i++)
		if (strlen(own.exclude_comm[i]) >= STAPE_PATTERN_LEN)
			return schedtape_fail(err, -EINVAL,
					      "pattern \"%.16s...\": longer than %d characters",
					      own.exclude_comm[i], STAPE_PATTERN_LEN - 1);
	msg = client_message(client, STAPE_CMD_FILTER_SET, 0);
	client_put_u32(&msg, STAPE_A_SESSION_ID, session);
	client_put_u8(&msg, STAPE_A_SESSION_ALL, own.all);
	client_put_u8(&msg, STAPE_A_SESSION_KTHREADS, own.kthreads);
	client_put_u8(&msg, STAPE_A_SESSION_NO_INHERIT, own.no_inherit);
	for (i = 0; i < own.nr_exclude_comm; i++)
		client_put(&msg, STAPE_A_SESSION_EXCLUDE_COMM, own.exclude_comm[i],
			   strlen(own.exclude_comm[i]) + 1);
	return client_request_about(client, msg, NULL, NULL, "session", session, err);
}

/* The module looks for the session first.  Without one, the message must not name a task. */
static int name_session(int ret, uint32_t session, struct schedtape_error *err)
{
	if (ret == -ENOENT && err && strstr(err->text, "no such session"))
		schedtape_fail(err, ret, "session %u: there is no such session", session);
	return ret;
}

static int change_id(struct schedtape_client *client, int cmd, uint32_t session, int attr,
		     uint32_t id, const char *what, struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, cmd, 0);

	client_put_u32(&msg, STAPE_A_SESSION_ID, session);
	client_put_u32(&msg, attr, id);
	return client_request_about(client, msg, NULL, NULL, what, id, err);
}

static int change_cgroup(struct schedtape_client *client, int cmd, uint32_t session,
			 const struct schedtape_cgroup *cgroup, bool follow,
			 struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, cmd, 0);
	char name[64];

	client_put_u32(&msg, STAPE_A_SESSION_ID, session);
	client_put_u64(&msg, STAPE_A_SESSION_CGROUP, cgroup->id);
	if (follow)
		client_put(&msg, STAPE_A_SESSION_FOLLOW, NULL, 0);
	snprintf(name, sizeof(name), "cgroup id:%" PRIu64, cgroup->id);
	return client_request(client, msg, NULL, NULL, cgroup->path ? cgroup->path : name, err);
}

/* Sends one request for each, so that the error names the one that failed. */
static int change(struct schedtape_client *client, int cmd, uint32_t session,
		  const struct schedtape_filter *filter, struct schedtape_error *err)
{
	struct schedtape_filter own;
	size_t i;
	int ret = get_filter(&own, filter, err);

	for (i = 0; i < own.nr_pids && !ret; i++)
		ret = change_id(client, cmd, session, STAPE_A_SESSION_PID, own.pids[i],
				"PID", err);
	for (i = 0; i < own.nr_tids && !ret; i++)
		ret = change_id(client, cmd, session, STAPE_A_SESSION_TID, own.tids[i],
				"TID", err);
	for (i = 0; i < own.nr_cgroups && !ret; i++)
		ret = change_cgroup(client, cmd, session, &own.cgroups[i],
				    cmd == STAPE_CMD_FILTER_ADD && own.follow && own.follow[i],
				    err);
	return name_session(ret, session, err);
}

int schedtape_filter_add(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err)
{
	return change(client, STAPE_CMD_FILTER_ADD, session, filter, err);
}

int schedtape_filter_del(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err)
{
	return change(client, STAPE_CMD_FILTER_DEL, session, filter, err);
}
