// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The triggers of a session, and the notifications that they have fired.
 */
#include <schedtape/client.h>

#include <errno.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>

#include "module/client-internal.h"
#include "base/error.h"

/* Adds one, unless there is no room in the message. */
static bool put_trigger(struct nl_msg *msg, const struct schedtape_trigger *trigger)
{
	struct nlattr *nest = nla_nest_start(msg, STAPE_A_SESSION_TRIGGER | NLA_F_NESTED);

	if (!nest || nla_put_u32(msg, STAPE_A_TRIGGER_KIND, trigger->kind) ||
	    nla_put_u64(msg, STAPE_A_TRIGGER_LIMIT, trigger->limit) ||
	    (trigger->pid && nla_put_u32(msg, STAPE_A_TRIGGER_PID, trigger->pid)) ||
	    (trigger->comm && nla_put_string(msg, STAPE_A_TRIGGER_COMM, trigger->comm)))
		return false;
	nla_nest_end(msg, nest);
	return true;
}

void client_put_triggers(struct nl_msg **msg, const struct schedtape_trigger *triggers, size_t n)
{
	size_t i;

	for (i = 0; i < n && *msg; i++) {
		if (put_trigger(*msg, &triggers[i]))
			continue;
		nlmsg_free(*msg);
		*msg = NULL;
	}
}

/* -- states ---------------------------------------------------------------- */

struct each_trigger {
	int (*each)(const struct schedtape_trigger_state *state, void *arg);
	void *arg;
};

static int parse_trigger(struct nlattr *nest, uint32_t session, const struct each_trigger *each)
{
	struct schedtape_trigger_state state = { .size = sizeof(state), .session = session };
	struct nlattr *attrs[STAPE_A_TRIGGER_MAX + 1];

	if (nla_parse_nested(attrs, STAPE_A_TRIGGER_MAX, nest, NULL))
		return 0;
	state.number = client_u32(attrs[STAPE_A_TRIGGER_NUMBER]);
	state.kind = client_u32(attrs[STAPE_A_TRIGGER_KIND]);
	state.pid = client_u32(attrs[STAPE_A_TRIGGER_PID]);
	state.limit = client_u64(attrs[STAPE_A_TRIGGER_LIMIT]);
	state.fired = client_u64(attrs[STAPE_A_TRIGGER_FIRED]);
	state.value = client_u64(attrs[STAPE_A_TRIGGER_VALUE]);
	state.time = client_u64(attrs[STAPE_A_TRIGGER_TIME]);
	state.cpu = client_u32(attrs[STAPE_A_TRIGGER_CPU]);
	state.lasts = attrs[STAPE_A_TRIGGER_LASTS];
	if (attrs[STAPE_A_TRIGGER_COMM])
		state.comm = nla_get_string(attrs[STAPE_A_TRIGGER_COMM]);
	return each->each(&state, each->arg);
}

/* The session's id is in front of all triggers, of which attrs has the last. */
static int parse_triggers(struct nlattr **attrs, void *arg)
{
	struct nlattr *attr = attrs[STAPE_A_SESSION_ID], *last = attrs[STAPE_A_SESSION_TRIGGER];
	uint32_t session = client_u32(attr);
	int ret = 0;

	for (; attr && attr <= last && !ret;
	     attr = (struct nlattr *)((char *)attr + NLA_ALIGN(attr->nla_len)))
		if (nla_type(attr) == STAPE_A_SESSION_TRIGGER)
			ret = parse_trigger(attr, session, arg);
	return 1;
}

int schedtape_session_triggers(struct schedtape_session *session,
			       int (*each)(const struct schedtape_trigger_state *state, void *arg),
			       void *arg, struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(session->client, STAPE_CMD_SESSION_GET, 0);
	struct each_trigger call = { each, arg };

	client_put_u32(&msg, STAPE_A_SESSION_ID, session->info.id);
	return client_request_about(session->client, msg, parse_triggers, &call, "session",
				    session->info.id, err);
}

/* -- notifications --------------------------------------------------------- */

static int monitor_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *attrs[CLIENT_ATTRS];

	if (genlmsg_hdr(nlh)->cmd == STAPE_CMD_TRIGGER_NTF &&
	    !genlmsg_parse(nlh, 0, attrs, CLIENT_ATTRS - 1, NULL))
		parse_triggers(attrs, arg);
	return NL_OK;
}

int schedtape_session_monitor(struct schedtape_session *session, struct schedtape_error *err)
{
	static const struct client_noun sessions = {
		STAPE_CMD_SESSION_MONITOR, STAPE_A_SESSION_ID,
	};

	return client_monitor(session->client, &session->monitor, &sessions, session->info.id,
			      err);
}

int schedtape_session_monitor_read(struct schedtape_session *session,
				   int (*each)(const struct schedtape_trigger_state *state,
					       void *arg),
				   void *arg, struct schedtape_error *err)
{
	struct each_trigger call = { each, arg };

	return client_notified(session->monitor, monitor_valid, &call, err);
}
