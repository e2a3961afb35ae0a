// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: another process stops a replay just before the controller starts it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include <schedtape/netlink.h>

static void stop_replay(struct nlmsghdr *nlh)
{
	struct nlattr *id = nlmsg_find_attr(nlh, GENL_HDRLEN, STAPE_A_REPLAY_ID);
	char command[80];

	if (!id)
		return;
	/* A shell has no libnl, and could not load this. */
	unsetenv("LD_PRELOAD");
	snprintf(command, sizeof(command), "schedtape steer %u stop", nla_get_u32(id));
	if (system(command))
		fprintf(stderr, "the replay could not be stopped\n");
}

int nl_send_auto(struct nl_sock *sock, struct nl_msg *msg)
{
	int (*send)(struct nl_sock *sock, struct nl_msg *msg) = dlsym(RTLD_NEXT, "nl_send_auto");
	struct nlmsghdr *nlh = nlmsg_hdr(msg);

	if (genlmsg_valid_hdr(nlh, 0) && genlmsg_hdr(nlh)->cmd == STAPE_CMD_REPLAY_START)
		stop_replay(nlh);
	return send(sock, msg);
}
