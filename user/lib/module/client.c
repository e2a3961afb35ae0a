// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The control side: requests of the netlink family "schedtape", with libnl-3.
 * The kernel's message (extack) becomes the error's text.
 */
#include <schedtape/client.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "module/client-internal.h"
#include "module/versions.h"
#include "base/error.h"
#include "base/sized.h"

static int client_connect(struct nl_sock **sock)
{
	int on = 1, ret;

	*sock = nl_socket_alloc();
	if (!*sock)
		return -NLE_NOMEM;
	ret = genl_connect(*sock);
	if (ret)
		return ret;
	/* Messages with errors, no echo of the request, strict checks of dump requests. */
	setsockopt(nl_socket_get_fd(*sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(nl_socket_get_fd(*sock), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(nl_socket_get_fd(*sock), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return 0;
}

/* Opening the device loads the module, if the caller may open it. */
static int resolve_family(struct nl_sock *sock)
{
	int family = genl_ctrl_resolve(sock, STAPE_FAMILY_NAME), fd;

	if (family >= 0)
		return family;
	fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? genl_ctrl_resolve(sock, STAPE_FAMILY_NAME) : family;
}

int schedtape_client_open(struct schedtape_client **client, struct schedtape_error *err)
{
	struct schedtape_client *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	ret = client_connect(&c->sock);
	if (ret) {
		schedtape_client_close(c);
		return schedtape_fail(err, -EIO, "no generic netlink socket: %s",
				      nl_geterror(ret));
	}
	c->family = resolve_family(c->sock);
	if (c->family < 0) {
		schedtape_client_close(c);
		return schedtape_fail(err, -ENOENT,
				      "the module is not loaded: sudo modprobe schedtape");
	}
	*client = c;
	return 0;
}

void schedtape_client_close(struct schedtape_client *client)
{
	if (!client)
		return;
	nl_socket_free(client->sock);
	nl_socket_free(client->monitor);
	free(client);
}

/* -- requests -------------------------------------------------------------- */

struct reply {
	client_parse parse;
	void *arg;
	int ret;		/* 1: more to come, 0: done, -errno */
	char text[256];		/* the kernel's message */
};

static int reply_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *attrs[CLIENT_ATTRS];
	struct reply *reply = arg;

	if (!reply->parse || reply->ret < 0)
		return NL_OK;
	if (genlmsg_parse(nlh, 0, attrs, CLIENT_ATTRS - 1, NULL))
		reply->ret = -EBADMSG;
	else if (reply->parse(attrs, reply->arg))
		reply->parse = NULL;	/* it wants no more messages */
	return NL_OK;
}

static int reply_ack(struct nl_msg *msg, void *arg)
{
	(void)msg;
	((struct reply *)arg)->ret = 0;
	return NL_STOP;
}

/* Takes the kernel's message from the attributes at @offset of an error, or of a dump's end. */
static void reply_text(struct reply *reply, struct nlmsghdr *nlh, int offset)
{
	struct nlattr *attrs[NLMSGERR_ATTR_MAX + 1];

	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS &&
	    !nla_parse(attrs, NLMSGERR_ATTR_MAX, (void *)((char *)nlmsg_data(nlh) + offset),
		       nlmsg_datalen(nlh) - offset, NULL) && attrs[NLMSGERR_ATTR_MSG])
		nla_strlcpy(reply->text, attrs[NLMSGERR_ATTR_MSG], sizeof(reply->text));
}

/* The end of a dump has an error number if the dump has failed. */
static int reply_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct reply *reply = arg;

	reply->ret = 0;
	if (nlmsg_datalen(nlh) < (int)sizeof(int))
		return NL_STOP;
	memcpy(&reply->ret, nlmsg_data(nlh), sizeof(int));
	reply_text(reply, nlh, sizeof(int));
	return NL_STOP;
}

static int reply_error(struct sockaddr_nl *from, struct nlmsgerr *nle, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)nle - 1;
	struct reply *reply = arg;
	int offset = sizeof(*nle);

	(void)from;
	reply->ret = nle->error;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		offset += nle->msg.nlmsg_len - sizeof(nle->msg);
	reply_text(reply, nlh, offset);
	return NL_STOP;
}

struct nl_msg *client_message(struct schedtape_client *client, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(CLIENT_MESSAGE_SIZE);

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, client->family, 0, flags, cmd,
				STAPE_FAMILY_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

void client_put(struct nl_msg **msg, int attr, const void *data, size_t bytes)
{
	if (!*msg || (bytes <= CLIENT_MESSAGE_SIZE && !nla_put(*msg, attr, bytes, data)))
		return;
	nlmsg_free(*msg);
	*msg = NULL;
}

/* Sends @msg, and receives the replies up to the last. */
static int request_on(struct nl_sock *sock, struct nl_msg *msg, client_parse parse,
		      void *arg, const char *what, struct schedtape_error *err)
{
	struct reply reply = { .parse = parse, .arg = arg, .ret = 1 };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	if (!cb || !msg) {
		nl_cb_put(cb);
		nlmsg_free(msg);
		return schedtape_fail(err, -ENOMEM, "%s: out of memory", what);
	}
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, reply_valid, &reply);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, reply_ack, &reply);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, reply_finish, &reply);
	nl_cb_err(cb, NL_CB_CUSTOM, reply_error, &reply);
	ret = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	while (ret >= 0 && reply.ret > 0)
		ret = nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	if (reply.ret == -EOPNOTSUPP && !reply.text[0])
		return schedtape_fail(err, -EPROTO, VERSIONS_OLD_MODULE);
	if (reply.ret < 0)
		return schedtape_fail(err, reply.ret, "%s: %s", what,
				      reply.text[0] ? reply.text : strerror(-reply.ret));
	if (ret < 0)
		return schedtape_fail(err, -EIO, "%s: netlink: %s", what, nl_geterror(ret));
	return 0;
}

int client_request(struct schedtape_client *client, struct nl_msg *msg, client_parse parse,
		   void *arg, const char *what, struct schedtape_error *err)
{
	return request_on(client->sock, msg, parse, arg, what, err);
}

int client_request_about(struct schedtape_client *client, struct nl_msg *msg, client_parse parse,
			 void *arg, const char *what, uint32_t id, struct schedtape_error *err)
{
	char name[32];

	snprintf(name, sizeof(name), "%s %u", what, id);
	return client_request(client, msg, parse, arg, name, err);
}

/* -- the module ------------------------------------------------------------ */

static void get_string(char *to, size_t size, struct nlattr *attr)
{
	if (attr)
		nla_strlcpy(to, attr, size);
}

static int parse_info(struct nlattr **attrs, void *arg)
{
	struct schedtape_module_info *info = arg;

	get_string(info->version, sizeof(info->version), attrs[STAPE_A_INFO_VERSION]);
	get_string(info->preempt, sizeof(info->preempt), attrs[STAPE_A_INFO_PREEMPT]);
	get_string(info->missing, sizeof(info->missing), attrs[STAPE_A_INFO_MISSING]);
	info->wire_version = client_u32(attrs[STAPE_A_INFO_WIRE_VERSION]);
	info->page_size = client_u32(attrs[STAPE_A_INFO_PAGE_SIZE]);
	info->cpus = client_u32(attrs[STAPE_A_INFO_CPUS]);
	info->ring_pages_max = client_u32(attrs[STAPE_A_INFO_RING_PAGES_MAX]);
	info->sessions = client_u32(attrs[STAPE_A_INFO_SESSIONS]);
	info->replays = client_u32(attrs[STAPE_A_INFO_REPLAYS]);
	info->hz = client_u32(attrs[STAPE_A_INFO_HZ]);
	info->counter_khz = client_u32(attrs[STAPE_A_INFO_COUNTER_KHZ]);
	info->memory = client_u64(attrs[STAPE_A_INFO_MEMORY]);
	info->memory_max = client_u64(attrs[STAPE_A_INFO_MEMORY_MAX]);
	info->user_memory = client_u64(attrs[STAPE_A_INFO_USER_MEMORY]);
	info->user_memory_max = client_u64(attrs[STAPE_A_INFO_USER_MEMORY_MAX]);
	info->sessions_used = client_u32(attrs[STAPE_A_INFO_SESSIONS_USED]);
	info->sessions_max = client_u32(attrs[STAPE_A_INFO_SESSIONS_MAX]);
	info->user_sessions = client_u32(attrs[STAPE_A_INFO_USER_SESSIONS]);
	info->user_sessions_max = client_u32(attrs[STAPE_A_INFO_USER_SESSIONS_MAX]);
	info->missed_calls = client_u64(attrs[STAPE_A_INFO_MISSED_CALLS]);
	info->stop_all = attrs[STAPE_A_INFO_STOP_ALL];
	info->throttling = client_u32(attrs[STAPE_A_INFO_THROTTLING]);
	return 0;
}

int schedtape_client_info(struct schedtape_client *client, struct schedtape_module_info *info,
			  struct schedtape_error *err)
{
	struct schedtape_module_info own = { .size = sizeof(own) };
	int ret;

	ret = client_request(client, client_message(client, STAPE_CMD_INFO_GET, 0), parse_info,
			     &own, "module", err);
	return ret ? ret : sized_put(info, &own, sizeof(own), "the module's state", err);
}

static uint32_t count_bits(struct nlattr *attr)
{
	const unsigned char *bytes = attr ? nla_data(attr) : NULL;
	uint32_t bits = 0;
	int i;

	for (i = 0; bytes && i < nla_len(attr); i++)
		bits += __builtin_popcount(bytes[i]);
	return bits;
}

void client_parse_session(struct nlattr **attrs, struct schedtape_session_state *state)
{
	state->id = client_u32(attrs[STAPE_A_SESSION_ID]);
	state->state = client_u32(attrs[STAPE_A_SESSION_STATE]);
	state->owner = client_u32(attrs[STAPE_A_SESSION_OWNER]);
	state->ring_pages = client_u32(attrs[STAPE_A_SESSION_RING_PAGES]);
	state->watermark = client_u32(attrs[STAPE_A_SESSION_WATERMARK]);
	state->tasks = client_u32(attrs[STAPE_A_SESSION_TASKS]);
	state->clock = client_u32(attrs[STAPE_A_SESSION_CLOCK]);
	state->cpus = count_bits(attrs[STAPE_A_SESSION_CPUS]);
	state->overwrite = attrs[STAPE_A_SESSION_OVERWRITE];
	state->overwritten = client_u64(attrs[STAPE_A_SESSION_OVERWRITTEN]);
	state->events = client_u64(attrs[STAPE_A_SESSION_EVENTS]);
	state->lost = client_u64(attrs[STAPE_A_SESSION_LOST]);
	state->start_time = client_u64(attrs[STAPE_A_SESSION_START_TIME]);
	state->stop_time = client_u64(attrs[STAPE_A_SESSION_STOP_TIME]);
	state->memory = client_u64(attrs[STAPE_A_SESSION_MEMORY]);
	state->uid = client_u32(attrs[STAPE_A_SESSION_UID]);
	state->stopped_by = client_u32(attrs[STAPE_A_SESSION_STOPPED_BY]);
	state->missed_calls = client_u64(attrs[STAPE_A_SESSION_MISSED_CALLS]);
	state->syscalls = attrs[STAPE_A_SESSION_SYSCALLS];
	state->owner_vpid = client_vpid(attrs[STAPE_A_SESSION_OWNER_VPID], state->owner);
	state->missed_waits = client_u64(attrs[STAPE_A_SESSION_MISSED_WAITS]);
}

static void parse_replay(struct nlattr **attrs, struct schedtape_replay_state *state)
{
	state->id = client_u32(attrs[STAPE_A_REPLAY_ID]);
	state->state = client_u32(attrs[STAPE_A_REPLAY_STATE]);
	state->players = client_u32(attrs[STAPE_A_REPLAY_PLAYERS]);
	state->joined = client_u32(attrs[STAPE_A_REPLAY_JOINED]);
	state->waiting = client_u32(attrs[STAPE_A_REPLAY_WAITING]);
	state->done = client_u32(attrs[STAPE_A_REPLAY_DONE]);
	state->failed_pid = client_u32(attrs[STAPE_A_REPLAY_FAILED_PID]);
	state->speed = client_u32(attrs[STAPE_A_REPLAY_SPEED]);
	state->time = client_u64(attrs[STAPE_A_REPLAY_TIME]);
	state->steps = client_u64(attrs[STAPE_A_REPLAY_STEPS]);
	state->timed_waits = client_u64(attrs[STAPE_A_REPLAY_TIMED_WAITS]);
	state->lag_max = client_u64(attrs[STAPE_A_REPLAY_LAG_MAX]);
	state->lag_total = client_u64(attrs[STAPE_A_REPLAY_LAG_TOTAL]);
	state->start_time = client_u64(attrs[STAPE_A_REPLAY_START_TIME]);
	state->stop_time = client_u64(attrs[STAPE_A_REPLAY_STOP_TIME]);
	state->memory = client_u64(attrs[STAPE_A_REPLAY_MEMORY]);
	state->uid = client_u32(attrs[STAPE_A_REPLAY_UID]);
	state->stopped_by = client_u32(attrs[STAPE_A_REPLAY_STOPPED_BY]);
}

struct each_session {
	int (*each)(const struct schedtape_session_state *state, void *arg);
	void *arg;
};

static int parse_each_session(struct nlattr **attrs, void *arg)
{
	struct each_session *each = arg;
	struct schedtape_session_state state = { .size = sizeof(state) };

	client_parse_session(attrs, &state);
	return each->each(&state, each->arg);
}

int schedtape_client_sessions(struct schedtape_client *client,
			      int (*each)(const struct schedtape_session_state *state, void *arg),
			      void *arg, struct schedtape_error *err)
{
	struct each_session dump = { each, arg };

	return client_request(client, client_message(client, STAPE_CMD_SESSION_GET, NLM_F_DUMP),
			      parse_each_session, &dump, "sessions", err);
}

/* -- replays --------------------------------------------------------------- */

struct each_replay {
	int (*each)(const struct schedtape_replay_state *state, void *arg);
	void *arg;
};

static int parse_each_replay(struct nlattr **attrs, void *arg)
{
	struct each_replay *each = arg;
	struct schedtape_replay_state state = { .size = sizeof(state) };

	parse_replay(attrs, &state);
	return each->each(&state, each->arg);
}

int schedtape_client_replays(struct schedtape_client *client,
			     int (*each)(const struct schedtape_replay_state *state, void *arg),
			     void *arg, struct schedtape_error *err)
{
	struct each_replay dump = { each, arg };

	return client_request(client, client_message(client, STAPE_CMD_REPLAY_GET, NLM_F_DUMP),
			      parse_each_replay, &dump, "replays", err);
}

static int request_replay(struct schedtape_client *client, int cmd, uint32_t id,
			  client_parse parse, void *arg, struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, cmd, 0);

	client_put_u32(&msg, STAPE_A_REPLAY_ID, id);
	return client_request_about(client, msg, parse, arg, "replay", id, err);
}

static int parse_one_replay(struct nlattr **attrs, void *arg)
{
	parse_replay(attrs, arg);
	return 0;
}

int schedtape_replay_get(struct schedtape_client *client, uint32_t id,
			 struct schedtape_replay_state *state, struct schedtape_error *err)
{
	struct schedtape_replay_state own = { .size = sizeof(own) };
	int ret;

	ret = request_replay(client, STAPE_CMD_REPLAY_GET, id, parse_one_replay, &own, err);
	return ret ? ret : sized_put(state, &own, sizeof(own), "the replay's state", err);
}

int schedtape_replay_start(struct schedtape_client *client, uint32_t id, uint64_t delay,
			   struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, STAPE_CMD_REPLAY_START, 0);

	client_put_u32(&msg, STAPE_A_REPLAY_ID, id);
	client_put_u64(&msg, STAPE_A_REPLAY_DELAY, delay);
	return client_request_about(client, msg, NULL, NULL, "replay", id, err);
}

int schedtape_replay_set_speed(struct schedtape_client *client, uint32_t id, uint32_t speed,
			       struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, STAPE_CMD_REPLAY_SET, 0);

	client_put_u32(&msg, STAPE_A_REPLAY_ID, id);
	client_put_u32(&msg, STAPE_A_REPLAY_SPEED, speed);
	return client_request_about(client, msg, NULL, NULL, "replay", id, err);
}

int schedtape_replay_pause(struct schedtape_client *client, uint32_t id,
			   struct schedtape_error *err)
{
	return request_replay(client, STAPE_CMD_REPLAY_PAUSE, id, NULL, NULL, err);
}

struct each_player {
	int (*each)(const struct schedtape_player_state *state, void *arg);
	void *arg;
};

static int parse_each_player(struct nlattr **attrs, void *arg)
{
	struct schedtape_player_state state = {
		.size = sizeof(state),
		.number = client_u32(attrs[STAPE_A_PLAYER_NUMBER]),
		.pid = client_u32(attrs[STAPE_A_PLAYER_PID]),
		.state = client_u32(attrs[STAPE_A_PLAYER_STATE]),
		.edge = client_u32(attrs[STAPE_A_PLAYER_EDGE]),
		.steps = client_u64(attrs[STAPE_A_PLAYER_STEPS]),
		.cpu_time = client_u64(attrs[STAPE_A_PLAYER_CPU_TIME]),
		.timed_waits = client_u64(attrs[STAPE_A_PLAYER_TIMED_WAITS]),
		.lag_total = client_u64(attrs[STAPE_A_PLAYER_LAG_TOTAL]),
		.lag_max = client_u64(attrs[STAPE_A_PLAYER_LAG_MAX]),
		.vpid = client_vpid(attrs[STAPE_A_PLAYER_VPID],
				    client_u32(attrs[STAPE_A_PLAYER_PID])),
		.turn = client_u32(attrs[STAPE_A_PLAYER_TURN]),
	};
	struct each_player *each = arg;

	return each->each(&state, each->arg);
}

int schedtape_replay_players(struct schedtape_client *client, uint32_t id,
			     int (*each)(const struct schedtape_player_state *state, void *arg),
			     void *arg, struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, STAPE_CMD_PLAYER_GET, NLM_F_DUMP);
	struct each_player dump = { each, arg };

	client_put_u32(&msg, STAPE_A_PLAYER_REPLAY, id);
	return client_request_about(client, msg, parse_each_player, &dump, "replay", id, err);
}

int schedtape_replay_stop(struct schedtape_client *client, uint32_t id,
			  struct schedtape_error *err)
{
	return request_replay(client, STAPE_CMD_REPLAY_STOP, id, NULL, NULL, err);
}

/* -- notifications --------------------------------------------------------- */

static int monitor_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *attrs[CLIENT_ATTRS];
	struct each_replay *each = arg;

	if (genlmsg_hdr(nlh)->cmd == STAPE_CMD_REPLAY_NTF &&
	    !genlmsg_parse(nlh, 0, attrs, CLIENT_ATTRS - 1, NULL))
		parse_each_replay(attrs, each);
	return NL_OK;
}

/* Accepts any sequence number, because notifications do not reply to a request. */
static int monitor_seq(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

int client_notified(struct nl_sock *monitor, int (*valid)(struct nl_msg *msg, void *arg), void *arg,
		    struct schedtape_error *err)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	if (!cb)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, valid, arg);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, monitor_seq, NULL);
	do {
		ret = nl_recvmsgs(monitor, cb);
	} while (ret == 0);
	nl_cb_put(cb);
	/* -NLE_NOMEM: some were lost.  Callers that need the state also request it. */
	if (ret != -NLE_AGAIN && ret != -NLE_NOMEM)
		return schedtape_fail(err, -EIO, "notifications: %s", nl_geterror(ret));
	return 0;
}

static int monitor_all(struct schedtape_client *client, struct nl_sock *monitor,
		       struct schedtape_error *err)
{
	int ret = genl_ctrl_resolve_grp(client->sock, STAPE_FAMILY_NAME, STAPE_MCGRP_MONITOR);

	if (ret >= 0)
		ret = nl_socket_add_membership(monitor, ret);
	if (ret == -NLE_PERM)
		return schedtape_fail(err, -EPERM,
				      "notifications of all replays need CAP_SYS_ADMIN");
	return ret ? schedtape_fail(err, -EIO, "no notifications: %s", nl_geterror(ret)) : 0;
}

/* The first notification may come before the reply, and has no sequence number. */
static int monitor_one(struct schedtape_client *client, struct nl_sock *monitor,
		       const struct client_noun *noun, uint32_t id, struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, noun->cmd, 0);

	nl_socket_disable_seq_check(monitor);
	client_put_u32(&msg, noun->attr, id);
	return request_on(monitor, msg, NULL, NULL, "notifications", err);
}

int client_monitor(struct schedtape_client *client, struct nl_sock **monitor,
		   const struct client_noun *noun, uint32_t id, struct schedtape_error *err)
{
	int ret;

	if (*monitor)
		return nl_socket_get_fd(*monitor);
	ret = client_connect(monitor);
	if (ret)
		ret = schedtape_fail(err, -EIO, "no notifications: %s", nl_geterror(ret));
	else
		ret = id ? monitor_one(client, *monitor, noun, id, err) :
			   monitor_all(client, *monitor, err);
	if (ret) {
		nl_socket_free(*monitor);
		*monitor = NULL;
		return ret;
	}
	nl_socket_set_nonblocking(*monitor);
	return nl_socket_get_fd(*monitor);
}

int schedtape_client_monitor(struct schedtape_client *client, uint32_t replay,
			     struct schedtape_error *err)
{
	static const struct client_noun replays = { STAPE_CMD_REPLAY_MONITOR, STAPE_A_REPLAY_ID };

	return client_monitor(client, &client->monitor, &replays, replay, err);
}

int schedtape_client_monitor_read(struct schedtape_client *client,
				  int (*each)(const struct schedtape_replay_state *state,
					      void *arg),
				  void *arg, struct schedtape_error *err)
{
	struct each_replay call = { each, arg };

	return client_notified(client->monitor, monitor_valid, &call, err);
}
