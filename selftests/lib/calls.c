// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the calls of a kernel function, with a kprobe.
 */
#include "calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "caps.h"

#define TRACING	"/sys/kernel/tracing/"

static bool set_enabled(const struct st_calls *calls, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), TRACING "events/kprobes/%s/enable", calls->name);
	return st_write_file(path, value);
}

static void remove_probe(const struct st_calls *calls)
{
	char line[128];

	snprintf(line, sizeof(line), "-:%s", calls->name);
	st_write_file(TRACING "kprobe_events", line);
}

bool st_calls_begin(struct st_calls *calls, const char *function)
{
	char line[128];

	snprintf(calls->name, sizeof(calls->name), "st_calls_%d", getpid());
	snprintf(line, sizeof(line), "p:%s %s", calls->name, function);
	if (!st_write_file(TRACING "kprobe_events", line))
		return false;
	if (set_enabled(calls, "1"))
		return true;
	remove_probe(calls);
	return false;
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
