// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the calls of a kernel function, with a kprobe.
 */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRACING	"/sys/kernel/tracing/"

static int write_line(const char *path, int flags, const char *line)
{
	ssize_t length = strlen(line);
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, line, length) == length ? 0 : -errno;
	close(fd);
	return ret;
}

static int set_enabled(const struct st_calls *calls, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), TRACING "events/kprobes/%s/enable", calls->name);
	return write_line(path, 0, value);
}

static int remove_probe(const struct st_calls *calls)
{
	char line[128];

	snprintf(line, sizeof(line), "-:%s", calls->name);
	return write_line(TRACING "kprobe_events", O_APPEND, line);
}

int st_calls_begin(struct st_calls *calls, const char *function)
{
	char line[128];
	int ret;

	snprintf(calls->name, sizeof(calls->name), "st_calls_%d", getpid());
	snprintf(line, sizeof(line), "p:%s %s", calls->name, function);
	ret = write_line(TRACING "kprobe_events", O_APPEND, line);
	if (ret)
		return ret;
	ret = set_enabled(calls, "1");
	if (ret)
		remove_probe(calls);
	return ret;
}

/* Reads a line "NAME HITS MISSES". */
static long read_hits(const struct st_calls *calls)
{
	FILE *file = fopen(TRACING "kprobe_profile", "re");
	long hits, found = -ENOENT;
	char name[64];

	if (!file)
		return -errno;
	while (fscanf(file, "%63s %ld %*d", name, &hits) == 2)
		if (!strcmp(name, calls->name))
			found = hits;
	fclose(file);
	return found;
}

long st_calls_end(struct st_calls *calls)
{
	long hits = read_hits(calls);

	set_enabled(calls, "0");
	remove_probe(calls);
	return hits;
}
