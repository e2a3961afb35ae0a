/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by client.c, session.c, triggers.c and filter.c. */
#ifndef SCHEDTAPE_CLIENT_INTERNAL_H
#define SCHEDTAPE_CLIENT_INTERNAL_H

#include <netlink/attr.h>
#include <netlink/msg.h>

#include <schedtape/client.h>

struct ring;

struct schedtape_client {
	struct nl_sock *sock;
	struct nl_sock *monitor;
	int family;
};

/* More than the largest set of attributes in the family. */
#define CLIENT_ATTRS		64
#define CLIENT_MESSAGE_SIZE	65536

/* Called for each reply message, until it returns a value other than 0. */
typedef int (*client_parse)(struct nlattr **attrs, void *arg);

struct schedtape_session {
	struct schedtape_client *client;
	struct nl_sock *monitor;
	int fd;
	struct stape_session_info info;
	struct ring *rings;		/* by CPU, then the descriptions; no consumer: no ring */
};

struct nl_msg *client_message(struct schedtape_client *client, int cmd, int flags);
/* Adds an attribute.  If there is no room, frees *msg and sets it to NULL; *msg may be NULL. */
void client_put(struct nl_msg **msg, int attr, const void *data, size_t bytes);
/* Sends and frees @msg (NULL: fails with -ENOMEM), and waits for the last reply. */
int client_request(struct schedtape_client *client, struct nl_msg *msg, client_parse parse,
		   void *arg, const char *what, struct schedtape_error *err);
/* The same for a request about "@what @id", such as "replay 3", which errors name. */
int client_request_about(struct schedtape_client *client, struct nl_msg *msg, client_parse parse,
			 void *arg, const char *what, uint32_t id, struct schedtape_error *err);

/**
 * struct client_noun - what notifications are about
 * @cmd: asks for those of one
 * @attr: its id in that request
 */
struct client_noun {
	int cmd;
	int attr;
};

/*
 * Opens a socket for notifications of one session or replay, or with @id 0 of all.  If it is open
 * already, it stays as it is.  Returns a descriptor to poll, or -errno.
 */
int client_monitor(struct schedtape_client *client, struct nl_sock **monitor,
		   const struct client_noun *noun, uint32_t id, struct schedtape_error *err);
/* Calls @valid for each message that has arrived at a socket that does not block. */
int client_notified(struct nl_sock *monitor, int (*valid)(struct nl_msg *msg, void *arg), void *arg,
		    struct schedtape_error *err);
void client_parse_session(struct nlattr **attrs, struct schedtape_session_state *state);

static inline void client_put_u8(struct nl_msg **msg, int attr, uint8_t value)
{
	client_put(msg, attr, &value, sizeof(value));
}

static inline void client_put_u32(struct nl_msg **msg, int attr, uint32_t value)
{
	client_put(msg, attr, &value, sizeof(value));
}

static inline void client_put_u64(struct nl_msg **msg, int attr, uint64_t value)
{
	client_put(msg, attr, &value, sizeof(value));
}

/* These return 0 for an attribute that is missing, as from a module older than this library. */
static inline uint32_t client_u32(struct nlattr *attr)
{
	return attr && nla_len(attr) >= 4 ? nla_get_u32(attr) : 0;
}

static inline uint64_t client_u64(struct nlattr *attr)
{
	return attr && nla_len(attr) >= 8 ? nla_get_u64(attr) : 0;
}

/* Returns a task's PID in the caller's namespace.  The module sends it only if it is not @pid. */
static inline uint32_t client_vpid(struct nlattr *vpid, uint32_t pid)
{
	return vpid ? client_u32(vpid) : pid;
}

/* triggers.c */
void client_put_triggers(struct nl_msg **msg, const struct schedtape_trigger *triggers, size_t n);

#endif /* SCHEDTAPE_CLIENT_INTERNAL_H */
