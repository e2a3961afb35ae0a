// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink requests as a test spells them.
 */
#include "request.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "time-limit.h"

#define HEADER (NLMSG_HDRLEN + GENL_HDRLEN)

int st_socket(void)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), on = 1;
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };

	if (sock < 0 || bind(sock, (void *)&address, sizeof(address)))
		return -errno;
	setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(sock, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(sock, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return sock;
}

void st_request_init(struct st_request *q, uint8_t cmd)
{
	memset(q, 0, sizeof(*q));
	q->sock = -1;
	q->cmd = cmd;
}

void st_request_add(struct st_request *q, uint16_t type, const void *data, size_t length)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + length, .nla_type = type };

	memcpy(q->attrs + q->used, &attr, sizeof(attr));
	if (length)
		memcpy(q->attrs + q->used + NLA_HDRLEN, data, length);
	q->used += NLA_ALIGN(NLA_HDRLEN + length);
}

void st_request_add_u32(struct st_request *q, uint16_t type, uint32_t value)
{
	st_request_add(q, type, &value, sizeof(value));
}

void st_request_add_u64(struct st_request *q, uint16_t type, uint64_t value)
{
	st_request_add(q, type, &value, sizeof(value));
}

uint32_t st_attr_u32(const struct nlattr *attr)
{
	uint32_t value = 0;

	if (attr)
		memcpy(&value, (const char *)attr + NLA_HDRLEN, sizeof(value));
	return value;
}

uint64_t st_attr_u64(const struct nlattr *attr)
{
	uint64_t value = 0;

	if (attr)
		memcpy(&value, (const char *)attr + NLA_HDRLEN, sizeof(value));
	return value;
}

static void parse(struct nlattr **attrs, void *data, size_t length)
{
	struct nlattr *attr = data;

	memset(attrs, 0, ST_REQUEST_TYPES * sizeof(*attrs));
	while (length >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= length) {
		unsigned int type = attr->nla_type & NLA_TYPE_MASK;
		size_t step = NLA_ALIGN(attr->nla_len);

		if (type < ST_REQUEST_TYPES)
			attrs[type] = attr;
		if (step >= length)
			break;
		length -= step;
		attr = (void *)((char *)attr + step);
	}
}

/* Parses the kernel's extended ACK after @payload bytes of the message. */
static void parse_words(struct st_request *q, struct nlmsghdr *nlh, size_t payload)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	parse(attrs, (char *)nlh + NLMSG_HDRLEN + payload,
	      nlh->nlmsg_len - NLMSG_HDRLEN - payload);
	if (attrs[NLMSGERR_ATTR_MSG])
		snprintf(q->text, sizeof(q->text), "%s",
			 (char *)attrs[NLMSGERR_ATTR_MSG] + NLA_HDRLEN);
	if (attrs[NLMSGERR_ATTR_OFFS])
		q->offset = (long)st_attr_u32(attrs[NLMSGERR_ATTR_OFFS]) - HEADER;
	q->missing = st_attr_u32(attrs[NLMSGERR_ATTR_MISS_TYPE]);
}

/* Returns true at the end of the answer. */
static bool take_message(struct st_request *q, struct nlmsghdr *nlh)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int *error = NLMSG_DATA(nlh);

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		q->ret = *error;
		parse_words(q, nlh, sizeof(struct nlmsgerr));
		return true;
	}
	if (nlh->nlmsg_type == NLMSG_DONE) {
		q->ret = nlh->nlmsg_len >= NLMSG_HDRLEN + sizeof(int) ? *error : 0;
		parse_words(q, nlh, sizeof(int));
		return true;
	}
	q->replies++;
	if (q->each) {
		parse(attrs, (char *)nlh + HEADER, nlh->nlmsg_len - HEADER);
		q->each(attrs, q->arg);
	}
	return false;
}

static int receive(struct st_request *q, int sock)
{
	static char buffer[65536] __attribute__((aligned(8)));
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct nlmsghdr *nlh;
	ssize_t n;

	for (;;) {
		n = poll(&p, 1, 20000 * st_patience());
		if (!n)
			return -ETIMEDOUT;
		if (n < 0)
			return -errno;
		n = recv(sock, buffer, sizeof(buffer), 0);
		if (n < 0)
			return -errno;
		q->parts++;
		for (nlh = (void *)buffer; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n))
			if (take_message(q, nlh))
				return q->ret;
	}
}

static int send_request(struct st_request *q, int sock)
{
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
		unsigned char attrs[sizeof(q->attrs)];
	} message = {
		.nlh = {
			.nlmsg_len = HEADER + q->used,
			.nlmsg_type = q->family,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | q->flags,
			.nlmsg_seq = 1,
		},
		.genl = { .cmd = q->cmd, .version = 1, .reserved = q->reserved },
	};

	memcpy(message.attrs, q->attrs, q->used);
	return send(sock, &message, HEADER + q->used, 0) < 0 ? -errno : 0;
}

int st_request(struct st_request *q)
{
	int sock = q->sock < 0 ? st_socket() : q->sock;

	q->offset = -1;
	q->ret = -EIO;
	if (sock < 0)
		return sock;
	if (!q->family)
		q->family = st_family(sock, NULL);
	if (q->family)
		q->ret = send_request(q, sock);
	if (!q->ret)
		q->ret = receive(q, sock);
	if (q->sock < 0)
		close(sock);
	return q->ret;
}

bool st_request_says(const struct st_request *q, const char *words)
{
	if (strstr(q->text, words))
		return true;
	printf("# the kernel said '%s'\n", q->text);
	return false;
}

int st_request_u32(uint8_t cmd, uint16_t type, uint32_t value, uint16_t type2, uint32_t value2)
{
	struct st_request q;

	st_request_init(&q, cmd);
	st_request_add_u32(&q, type, value);
	if (type2)
		st_request_add_u32(&q, type2, value2);
	return st_request(&q);
}

/* -- the family ------------------------------------------------------------- */

struct family {
	uint16_t id;
	uint32_t group;
};

static void take_group(struct family *family, struct nlattr *group)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];

	parse(attrs, (char *)group + NLA_HDRLEN, group->nla_len - NLA_HDRLEN);
	if (attrs[CTRL_ATTR_MCAST_GRP_NAME] &&
	    !strcmp((char *)attrs[CTRL_ATTR_MCAST_GRP_NAME] + NLA_HDRLEN, STAPE_MCGRP_MONITOR))
		family->group = st_attr_u32(attrs[CTRL_ATTR_MCAST_GRP_ID]);
}

static void take_family(struct nlattr **attrs, void *arg)
{
	struct nlattr *groups[ST_REQUEST_TYPES], *all = attrs[CTRL_ATTR_MCAST_GROUPS];
	struct family *family = arg;
	int i;

	if (attrs[CTRL_ATTR_FAMILY_ID])
		memcpy(&family->id, (char *)attrs[CTRL_ATTR_FAMILY_ID] + NLA_HDRLEN, 2);
	if (!all)
		return;
	parse(groups, (char *)all + NLA_HDRLEN, all->nla_len - NLA_HDRLEN);
	for (i = 0; i < ST_REQUEST_TYPES; i++)
		if (groups[i])
			take_group(family, groups[i]);
}

uint16_t st_family(int sock, uint32_t *group)
{
	struct family family = { 0 };
	struct st_request q;

	st_request_init(&q, CTRL_CMD_GETFAMILY);
	q.sock = sock;
	q.family = GENL_ID_CTRL;
	q.each = take_family;
	q.arg = &family;
	st_request_add(&q, CTRL_ATTR_FAMILY_NAME, STAPE_FAMILY_NAME, sizeof(STAPE_FAMILY_NAME));
	st_request(&q);
	if (group)
		*group = family.group;
	return family.id;
}

int st_monitor(void)
{
	int sock = st_socket();
	uint32_t group = 0;
	int ret = -ENOENT;

	if (sock < 0)
		return sock;
	if (st_family(sock, &group) && group)
		ret = setsockopt(sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
				 sizeof(group)) ? -errno : 0;
	if (!ret)
		return sock;
	close(sock);
	return ret;
}

int st_notified(int sock, int timeout, struct nlattr **attrs)
{
	static char buffer[65536] __attribute__((aligned(8)));
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct nlmsghdr *nlh = (void *)buffer;
	ssize_t n;

	if (poll(&p, 1, timeout) != 1)
		return -ETIMEDOUT;
	n = recv(sock, buffer, sizeof(buffer), 0);
	if (n < HEADER)
		return -EIO;
	parse(attrs, buffer + HEADER, nlh->nlmsg_len - HEADER);
	return ((struct genlmsghdr *)NLMSG_DATA(nlh))->cmd;
}
