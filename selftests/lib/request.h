/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink requests as a test spells them, wrong ones above all: nothing here checks the
 * attributes.
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
 * struct st_request - a request and the kernel's answer
 * @sock: socket to use; below 0: st_request() opens one for the request
 * @family: id of the family; 0: found by name
 * @cmd, @flags: of the message; @flags beyond NLM_F_REQUEST and NLM_F_ACK
 * @attrs, @used: attributes as they are sent
 * @ret: 0 or -errno, from the kernel
 * @text: the kernel's error message
 * @offset: of the attribute that the kernel rejects, in the attributes; -1: none
 * @missing: type of the attribute that the kernel misses; 0: none
 * @replies: number of messages before the end; @parts: number of reads for them
 * @each: called for each message with its attributes, by type
 */
struct st_request {
	int sock;
	uint16_t family;
	uint8_t cmd;
	uint8_t reserved;
	uint16_t flags;
	size_t used;
	unsigned char attrs[16384];

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
/* Returns 0 if the family does not exist, because the module is not loaded. */
uint16_t st_family(int sock, uint32_t *group);
void st_request_init(struct st_request *q, uint8_t cmd);
/* Adds an attribute of any type, any length (of the payload) and any content. */
void st_request_add(struct st_request *q, uint16_t type, const void *data, size_t length);
void st_request_add_u32(struct st_request *q, uint16_t type, uint32_t value);
void st_request_add_u64(struct st_request *q, uint16_t type, uint64_t value);
/* Sends the request and reads the answer into @q->ret; -EIO if none came. */
int st_request(struct st_request *q);
/* Tests whether the kernel's error message contains these words, and prints it if not. */
bool st_request_says(const struct st_request *q, const char *words);
/* Sends a request with one or two (@type2 not 0) u32 attributes. */
int st_request_u32(uint8_t cmd, uint16_t type, uint32_t value, uint16_t type2, uint32_t value2);

/* Waits up to @timeout ms for a notification of the family.  Returns its command, or -errno. */
int st_notified(int sock, int timeout, struct nlattr **attrs);
/* Returns a socket that receives the family's group "monitor". */
int st_monitor(void);

uint32_t st_attr_u32(const struct nlattr *attr);
uint64_t st_attr_u64(const struct nlattr *attr);

#endif /* SELFTESTS_REQUEST_H */
