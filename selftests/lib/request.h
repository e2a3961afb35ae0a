/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink requests word for word, the wrong ones above all: nothing here
 * checks what it is given.
 */
#ifndef SELFTESTS_REQUEST_H
#define SELFTESTS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <schedtape/netlink.h>

/**
 * struct st_request - a request, and what the kernel answered
 * @sock: socket to use; below 0: one is opened for the request
 * @family: 0: found by name
 * @cmd, @flags: of the message; @flags beyond NLM_F_REQUEST and NLM_F_ACK
 * @attrs, @used: attributes as they go out
 * @ret: 0 or -errno, of the kernel
 * @text: its words
 * @offset: of the attribute that it complains of, in the attributes; -1: none
 * @missing: type of the attribute that it misses; 0: none
 * @replies: messages that came before the end; @parts: reads that they took
 * @each: called for every one with its attributes, by type
 */
struct st_request {
	int sock;
	uint16_t family;
	uint8_t cmd;
	uint8_t reserved;
	uint16_t flags;
	size_t used;
	unsigned char attrs[8192];

	int ret;
	char text[256];
	long offset;
	unsigned int missing;
	unsigned int replies;
	unsigned int parts;
	void (*each)(struct nlattr **attrs, void *arg);
	void *arg;
};

#define ST_REQUEST_TYPES 32

int st_socket(void);
/* 0: there is none, the module is not loaded. */
uint16_t st_family(int sock, uint32_t *group);
void st_request_init(struct st_request *q, uint8_t cmd);
/* Any type, any length (of the payload), any content. */
void st_request_add(struct st_request *q, uint16_t type, const void *data, size_t length);
void st_request_add_u32(struct st_request *q, uint16_t type, uint32_t value);
void st_request_add_u64(struct st_request *q, uint16_t type, uint64_t value);
/* Sends and takes the answer: @q->ret, or -EIO if none came. */
int st_request(struct st_request *q);
/* With one or two (@type2 not 0) u32 attributes. */
int st_request_u32(uint8_t cmd, uint16_t type, uint32_t value, uint16_t type2, uint32_t value2);

/* A notification of the family within @timeout ms: its command, or -errno. */
int st_notified(int sock, int timeout, struct nlattr **attrs);
/* A socket that hears the family's group "monitor". */
int st_monitor(void);

uint32_t st_attr_u32(const struct nlattr *attr);
uint64_t st_attr_u64(const struct nlattr *attr);

#endif /* SELFTESTS_REQUEST_H */
