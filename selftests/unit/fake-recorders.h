/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers in place of recorders that have a name: one, of the process 1. */
#ifndef SELFTESTS_FAKE_RECORDERS_H
#define SELFTESTS_FAKE_RECORDERS_H

#include <errno.h>
#include <string.h>

#include <json-c/json.h>

#include "common/recorders.h"

bool recorders_valid(const char *name)
{
	return *name;
}

int recorders_address(const char *name, bool make, struct sockaddr_un *address,
		      struct schedtape_error *err)
{
	(void)name;
	(void)make;
	(void)address;
	(void)err;
	return -ENOENT;
}

bool recorders_is_pid(const char *name)
{
	return *name && !name[strspn(name, "0123456789")];
}

pid_t recorders_listener(const struct sockaddr_un *address)
{
	(void)address;
	return 0;
}

int recorders_only(char **name, struct schedtape_error *err)
{
	(void)name;
	(void)err;
	return -ENOENT;
}

int recorders_ask(const char *name, const char *order, unsigned int seconds, char *result,
		  struct schedtape_error *err)
{
	(void)name;
	(void)order;
	(void)seconds;
	(void)result;
	(void)err;
	return -ENOENT;
}

void recorders_parse(const char **name, const char *arg, const struct argp_state *state)
{
	(void)state;
	*name = arg;
}

struct json_object *recorders_status(const char *name, unsigned int seconds,
				     struct schedtape_error *err)
{
	(void)seconds;
	(void)err;
	if (strcmp(name, "web"))
		return NULL;
	return json_tokener_parse("{\"session\":1234567,\"keeps_ns\":12345678901,"
				  "\"ended_count\":34,\"snapshot_count\":12,"
				  "\"last_trigger\":{\"name\":\"late\",\"time_ns\":1}}");
}

void recorders_each(bool (*each)(void *arg, const char *name, pid_t pid), void *arg)
{
	each(arg, "web", 1);
}

#endif /* SELFTESTS_FAKE_RECORDERS_H */
