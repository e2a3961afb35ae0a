/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --like: gives a session the tasks that another one's filter has, and follows that.  The module
 * tells the tasks of a filter, not its rules.
 */
#ifndef SCHEDTAPE_TOP_LIKE_H
#define SCHEDTAPE_TOP_LIKE_H

#include <stdbool.h>

#include <schedtape/client.h>

/**
 * struct like - a session and its model
 * @model: the other session; 0: there is none
 * @session: the session
 * @self: PID of this process in the initial PID namespace
 * @looked: when the model's tasks were last read, ns
 * @gone: the model has ended: the tasks stay as they are
 * @hidden: a warning has said that some of its tasks have no PID here
 */
struct like {
	struct schedtape_client *client;
	uint32_t model;
	uint32_t session;
	uint32_t self;
	uint64_t looked;
	bool gone;
	bool hidden;
};

/* Sets the filter of a session that has none.  Returns 0, or -errno after a message. */
int like_begin(struct like *like, struct schedtape_client *client,
	       struct schedtape_session *session, uint32_t model);
/* To be called often: once a second, adds and removes what differs.  The same. */
int like_follow(struct like *like);

#endif /* SCHEDTAPE_TOP_LIKE_H */
