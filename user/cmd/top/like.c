// SPDX-License-Identifier: GPL-2.0-only
#include "top/like.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/output.h"
#include "common/rights.h"
#include "module/tasks.h"
#include "module/versions.h"

#define LOOK_NS	1000000000	/* between two looks at the model */

/**
 * struct members - the tasks of a filter
 * @tasks: @n of them, by PID
 */
struct members {
	struct client_task *tasks;
	size_t n;
};

static int by_pid(const void *left, const void *right)
{
	const struct client_task *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int get_members(struct like *like, uint32_t session, struct members *members,
		       struct schedtape_error *err)
{
	int ret;

	ret = client_tasks(like->client, session, &members->tasks, &members->n, err);
	if (!ret)
		qsort(members->tasks, members->n, sizeof(*members->tasks), by_pid);
	return ret;
}

static bool has(const struct members *members, const struct client_task *task)
{
	return bsearch(task, members->tasks, members->n, sizeof(*task), by_pid);
}

typedef int (*change_fn)(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err);

/*
 * Adds or removes the tasks that are only in @of.  Leaves out threads of this process, which the
 * module refuses, and tasks that have no PID here.  A task may have ended meanwhile.
 */
static int change(struct like *like, const struct members *of, const struct members *without,
		  change_fn call, struct schedtape_error *err)
{
	struct schedtape_filter filter = { .size = sizeof(filter), .nr_tids = 1 };
	size_t i, hidden = 0;
	int ret = 0;

	for (i = 0; i < of->n && !ret; i++) {
		if (of->tasks[i].tgid == like->self || has(without, &of->tasks[i]))
			continue;
		if (!of->tasks[i].vpid) {
			/* In the initial namespace, it has just ended. */
			hidden += call == schedtape_filter_add &&
				  like->self != (uint32_t)getpid();
			continue;
		}
		filter.tids = &of->tasks[i].vpid;
		ret = call(like->client, like->session, &filter, err);
		if (ret == -ESRCH || ret == -ENOENT)
			ret = 0;
	}
	if (hidden && !like->hidden)
		out_warning(NULL, "session %u: %zu of its tasks have no PID in this PID namespace, "
			    "and are left out", like->model, hidden);
	like->hidden |= hidden;
	return ret;
}

/* Reads the own tasks first, so that one that is forked meanwhile is not taken as too many. */
static int look(struct like *like, struct schedtape_error *err)
{
	struct members own = { NULL, 0 }, model = { NULL, 0 };
	int ret;

	like->looked = schedtape_now();
	ret = get_members(like, like->session, &own, err);
	if (!ret)
		ret = get_members(like, like->model, &model, err);
	if (!ret)
		ret = change(like, &model, &own, schedtape_filter_add, err);
	if (!ret)
		ret = change(like, &own, &model, schedtape_filter_del, err);
	free(own.tasks);
	free(model.tasks);
	return ret;
}

/* Finds this process' PID in the initial namespace.  Older modules do not translate PIDs. */
static int find_self(struct like *like, struct schedtape_session *session)
{
	struct schedtape_session_state state = { .size = sizeof(state) };
	struct schedtape_error err;
	int ret;

	ret = schedtape_session_get(session, &state, &err);
	if (ret)
		return rights_say(ret, &err);
	like->self = state.owner;
	if (state.owner_vpid == (uint32_t)getpid())
		return 0;
	out_error(NULL, "--like: " VERSIONS_OLD_MODULE);
	return -ENOTSUP;
}

int like_begin(struct like *like, struct schedtape_client *client,
	       struct schedtape_session *session, uint32_t model)
{
	/* The model's filter has kernel threads, or else there are none to add. */
	struct schedtape_filter filter = { .size = sizeof(filter), .kthreads = true };
	struct schedtape_error err;
	int ret;

	*like = (struct like){
		.client = client, .model = model, .session = schedtape_session_id(session),
	};
	ret = find_self(like, session);
	if (ret)
		return ret;
	ret = schedtape_filter_set(client, like->session, &filter, &err);
	if (!ret)
		ret = look(like, &err);
	return rights_say(ret, &err);
}

int like_follow(struct like *like)
{
	struct schedtape_error err;
	int ret;

	if (!like->model || like->gone || schedtape_now() < like->looked + LOOK_NS)
		return 0;
	ret = look(like, &err);
	if (ret != -ENOENT)
		return rights_say(ret, &err);
	like->gone = true;
	out_warning(NULL, "session %u has ended: these are the tasks that it had last",
		    like->model);
	return 0;
}
