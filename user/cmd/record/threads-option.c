// SPDX-License-Identifier: GPL-2.0-only
/* --threads: the threads that write a tape, as in perf record --threads. */
#include "record/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "common/select.h"

#define LIST_LEN	8192	/* of a list of CPUs: enough for every second one of thousands */

/* -- masks of CPUs --------------------------------------------------------- */

static void mask_and(unsigned char *mask, const unsigned char *other, size_t bytes)
{
	while (bytes--)
		mask[bytes] &= other[bytes];
}

static void mask_or(unsigned char *mask, const unsigned char *other, size_t bytes)
{
	while (bytes--)
		mask[bytes] |= other[bytes];
}

static bool mask_meets(const unsigned char *mask, const unsigned char *other, size_t bytes)
{
	while (bytes--)
		if (mask[bytes] & other[bytes])
			return true;
	return false;
}

static bool mask_empty(const unsigned char *mask, size_t bytes)
{
	return !mask_meets(mask, mask, bytes);
}

/* -- the machine ----------------------------------------------------------- */

/**
 * struct machine - the CPUs of this machine
 * @online: CPUs that are online now
 * @valid: possible CPUs that -C selects
 */
struct machine {
	const char *sysfs;
	size_t bytes;
	unsigned char *possible;
	unsigned char *online;
	unsigned char *valid;
};

/* Reads the line of a file in @sysfs.  Returns NULL if it cannot be read. */
static char *machine_line(const char *sysfs, char line[LIST_LEN], const char *format, uint32_t n)
{
	char path[512];
	FILE *file;
	bool ok;
	int used;

	used = snprintf(path, sizeof(path), "%s/", sysfs);
	snprintf(path + used, sizeof(path) - used, format, n);
	file = fopen(path, "re");
	ok = file && fgets(line, LIST_LEN, file);
	if (file)
		fclose(file);
	if (!ok)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void machine_exit(struct machine *machine)
{
	free(machine->possible);
	free(machine->online);
	free(machine->valid);
}

static int machine_init(struct machine *machine, const unsigned char *cpus, size_t bytes)
{
	struct select_numbers possible = { 0 };
	char line[LIST_LEN];
	int ret;

	if (!machine_line(machine->sysfs, line, "cpu/possible", 0))
		return -EIO;
	ret = select_numbers_parse(&possible, line);
	if (!ret)
		machine->bytes = possible.ranges[possible.nr - 1].last / 8 + 1;
	select_numbers_free(&possible);
	if (ret)
		return ret;
	machine->possible = calloc(1, machine->bytes);
	machine->online = calloc(1, machine->bytes);
	machine->valid = calloc(1, machine->bytes);
	if (!machine->possible || !machine->online || !machine->valid)
		return -ENOMEM;
	ret = cpu_list_mask(machine->possible, machine->bytes, line);
	memcpy(machine->valid, machine->possible, machine->bytes);
	if (cpus) {
		memset(machine->valid, 0, machine->bytes);
		memcpy(machine->valid, cpus, bytes < machine->bytes ? bytes : machine->bytes);
		mask_and(machine->valid, machine->possible, machine->bytes);
	}
	if (!ret && !machine_line(machine->sysfs, line, "cpu/online", 0))
		ret = -EIO;
	return ret ? ret : cpu_list_mask(machine->online, machine->bytes, line);
}

/* -- the streams of --threads ---------------------------------------------- */

static int stream_new(struct streams *streams, struct stream **stream)
{
	struct stream *all;

	all = reallocarray(streams->streams, streams->n + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	streams->streams = all;
	*stream = &all[streams->n];
	(*stream)->cpus = calloc(1, streams->bytes);
	(*stream)->affinity = calloc(1, streams->bytes);
	streams->n++;
	return (*stream)->cpus && (*stream)->affinity ? 0 : -ENOMEM;
}

static bool met_before(const struct streams *streams, const unsigned char *affinity)
{
	size_t i;

	for (i = 0; i + 1 < streams->n; i++)
		if (mask_meets(streams->streams[i].affinity, affinity, streams->bytes))
			return true;
	return false;
}

/*
 * Adds a stream with two masks.  As in perf, CPUs that do not exist are left out, no mask may be
 * empty then, and no CPU may be in two masks.
 */
static int stream_add(struct streams *streams, const struct machine *machine, const char *cpus,
		      const char *affinity, struct schedtape_error *err)
{
	struct stream *stream;

	if (stream_new(streams, &stream))
		return schedtape_fail(err, -ENOMEM, "out of memory");
	if (cpu_list_mask(stream->cpus, streams->bytes, cpus))
		return schedtape_fail(err, -EINVAL, "\"%s\": not a list of CPUs", cpus);
	if (cpu_list_mask(stream->affinity, streams->bytes, affinity))
		return schedtape_fail(err, -EINVAL, "affinity \"%s\": not a list of CPUs",
				      affinity);
	mask_and(stream->cpus, machine->valid, streams->bytes);
	mask_and(stream->affinity, machine->valid, streams->bytes);
	if (mask_empty(stream->cpus, streams->bytes))
		return schedtape_fail(err, -EINVAL, "\"%s\": none of these CPUs is there and to "
				      "be recorded", cpus);
	if (mask_empty(stream->affinity, streams->bytes))
		return schedtape_fail(err, -EINVAL, "affinity \"%s\": none of these CPUs is there "
				      "and to be recorded", affinity);
	if (mask_meets(stream->cpus, streams->cpus, streams->bytes))
		return schedtape_fail(err, -EINVAL, "\"%s\": has a CPU of a mask before it", cpus);
	if (met_before(streams, stream->affinity))
		return schedtape_fail(err, -EINVAL, "affinity \"%s\": has a CPU of one before it",
				      affinity);
	mask_or(streams->cpus, stream->cpus, streams->bytes);
	return 0;
}

/* -- the layouts of --threads ---------------------------------------------- */

/* Adds a stream for a group of CPUs, unless no CPU is left of it or a stream already has it. */
static int group_add(struct streams *streams, const struct machine *machine, const char *list,
		     struct schedtape_error *err)
{
	unsigned char *mask = calloc(1, streams->bytes);
	char *text = NULL;
	int ret = 0;

	if (!mask)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	if (cpu_list_mask(mask, streams->bytes, list)) {
		ret = schedtape_fail(err, -EIO, "%s: says \"%s\" of CPUs", machine->sysfs, list);
		goto out;
	}
	mask_and(mask, machine->valid, streams->bytes);
	mask_and(mask, machine->online, streams->bytes);
	if (mask_empty(mask, streams->bytes) || mask_meets(mask, streams->cpus, streams->bytes))
		goto out;
	text = cpu_list_text(mask, streams->bytes);
	ret = text ? stream_add(streams, machine, text, text, err) :
		schedtape_fail(err, -ENOMEM, "out of memory");
out:
	free(text);
	free(mask);
	return ret;
}

/* @file: lists the CPUs of a CPU's group; NULL: each CPU is one. */
static int add_siblings(struct streams *streams, const struct machine *machine,
			const char *file, struct schedtape_error *err)
{
	char line[LIST_LEN], self[16], *list;
	uint32_t cpu;
	int ret = 0;

	for (cpu = 0; cpu < 8 * streams->bytes && !ret; cpu++) {
		if (!cpu_list_has(machine->online, cpu))
			continue;
		snprintf(self, sizeof(self), "%u", cpu);
		list = file ? machine_line(machine->sysfs, line, file, cpu) : NULL;
		ret = group_add(streams, machine, list ? list : self, err);
	}
	return ret;
}

/* Adds a stream for each node.  A kernel without NUMA has no nodes: all CPUs are one. */
static int add_nodes(struct streams *streams, const struct machine *machine,
		     struct schedtape_error *err)
{
	struct select_numbers nodes = { 0 };
	char line[LIST_LEN], *list;
	size_t i;
	uint32_t node;
	int ret = 0;

	if (machine_line(machine->sysfs, line, "node/online", 0))
		ret = select_numbers_parse(&nodes, line);
	for (i = 0; i < nodes.nr && !ret; i++) {
		for (node = nodes.ranges[i].first; node <= nodes.ranges[i].last && !ret; node++) {
			list = machine_line(machine->sysfs, line, "node/node%u/cpulist", node);
			/* A node may have memory only. */
			if (list && *list)
				ret = group_add(streams, machine, list, err);
		}
	}
	if (!ret && !streams->n && machine_line(machine->sysfs, line, "cpu/online", 0))
		ret = group_add(streams, machine, line, err);
	select_numbers_free(&nodes);
	return ret;
}

/*
 * Cuts the next pair of masks off "0,2-4/2-4:1,5-7/5-7".  Returns 1, 0 at the end, or -EINVAL.
 */
static int next_mask(char **spec, char **cpus, char **affinity)
{
	do {
		*cpus = strsep(spec, ":");
	} while (*cpus && !**cpus);
	if (!*cpus)
		return 0;
	*affinity = strchr(*cpus, '/');
	if (!*affinity)
		return -EINVAL;
	*(*affinity)++ = '\0';
	return 1;
}

static int add_masks(struct streams *streams, const struct machine *machine, const char *spec,
		     struct schedtape_error *err)
{
	char *copy = strdup(spec), *rest = copy, *cpus, *affinity;
	int ret = copy ? 1 : -ENOMEM;

	while (ret > 0) {
		ret = next_mask(&rest, &cpus, &affinity);
		if (ret < 0)
			schedtape_fail(err, ret, "\"%s\": a mask is CPUS/AFFINITY", spec);
		else if (ret > 0 && stream_add(streams, machine, cpus, affinity, err))
			ret = -EINVAL;
	}
	free(copy);
	return ret;
}

/*
 * Adds offline CPUs to the first stream, because the session records them when they come online.
 * Not for LAYOUT_MASKS, whose user chose the CPUs.
 */
static int add_offline(struct streams *streams, const struct machine *machine,
		       struct schedtape_error *err)
{
	char *all;
	size_t i;
	int ret;

	for (i = 0; i < streams->bytes && streams->n; i++)
		streams->streams[0].cpus[i] |= machine->valid[i] & ~machine->online[i];
	if (streams->n) {
		mask_or(streams->cpus, streams->streams[0].cpus, streams->bytes);
		return 0;
	}
	/* All CPUs are offline. */
	all = cpu_list_text(machine->valid, streams->bytes);
	ret = all ? stream_add(streams, machine, all, all, err) :
		schedtape_fail(err, -ENOMEM, "out of memory");
	free(all);
	return ret;
}

enum layout {
	LAYOUT_CPU,
	LAYOUT_CORE,
	LAYOUT_PACKAGE,
	LAYOUT_NUMA,
	LAYOUT_MASKS,
};

static enum layout parse_layout(const char *spec)
{
	static const struct {
		const char *name;
		enum layout layout;
	} names[] = {
		{ "", LAYOUT_CPU },
		{ "cpu", LAYOUT_CPU },
		{ "core", LAYOUT_CORE },
		{ "package", LAYOUT_PACKAGE },
		{ "socket", LAYOUT_PACKAGE },
		{ "numa", LAYOUT_NUMA },
	};
	size_t i;

	for (i = 0; spec && i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(spec, names[i].name))
			return names[i].layout;
	return spec ? LAYOUT_MASKS : LAYOUT_CPU;
}

static bool list_valid(const char *list)
{
	struct select_numbers numbers = { 0 };
	bool valid = !select_numbers_parse(&numbers, list);

	select_numbers_free(&numbers);
	return valid;
}

bool streams_valid(const char *spec)
{
	char *copy, *rest, *cpus, *affinity;
	size_t masks = 0;
	bool valid;
	int ret;

	if (parse_layout(spec) != LAYOUT_MASKS)
		return true;
	copy = strdup(spec);
	rest = copy;
	valid = copy;
	while (valid && (ret = next_mask(&rest, &cpus, &affinity))) {
		valid = ret > 0 && list_valid(cpus) && list_valid(affinity);
		masks++;
	}
	free(copy);
	return valid && masks;
}

static int add_all(struct streams *streams, const struct machine *machine, const char *spec,
		   struct schedtape_error *err)
{
	int ret = 0;

	switch (parse_layout(spec)) {
	case LAYOUT_CPU:
		ret = add_siblings(streams, machine, NULL, err);
		break;
	case LAYOUT_CORE:
		ret = add_siblings(streams, machine, "cpu/cpu%u/topology/core_cpus_list",
				   err);
		break;
	case LAYOUT_PACKAGE:
		ret = add_siblings(streams, machine, "cpu/cpu%u/topology/package_cpus_list",
				   err);
		break;
	case LAYOUT_NUMA:
		ret = add_nodes(streams, machine, err);
		break;
	case LAYOUT_MASKS:
		return add_masks(streams, machine, spec, err);
	}
	return ret ? ret : add_offline(streams, machine, err);
}

int streams_parse(struct streams *streams, const char *spec, const char *sysfs,
		  const unsigned char *cpus, size_t bytes, struct schedtape_error *err)
{
	struct machine machine = { .sysfs = sysfs };
	size_t i;
	int ret;

	memset(streams, 0, sizeof(*streams));
	/* The message of failures that set no other. */
	schedtape_fail(err, -ENOMEM, "out of memory");
	ret = machine_init(&machine, cpus, bytes);
	if (ret) {
		schedtape_fail(err, ret, "%s/cpu: %s", sysfs, strerror(-ret));
		goto out;
	}
	ret = -ENOMEM;
	streams->bytes = machine.bytes;
	streams->cpus = calloc(1, streams->bytes);
	streams->left = calloc(1, streams->bytes);
	if (!streams->cpus || !streams->left)
		goto out;
	ret = add_all(streams, &machine, spec, err);
	if (!ret && !streams->n)
		ret = schedtape_fail(err, -EINVAL, "\"%s\": no mask in it", spec);
	for (i = 0; i < streams->bytes && !ret; i++)
		streams->left[i] = machine.valid[i] & machine.online[i] & ~streams->cpus[i];
out:
	machine_exit(&machine);
	if (ret)
		streams_free(streams);
	return ret;
}

void streams_free(struct streams *streams)
{
	size_t i;

	for (i = 0; i < streams->n; i++) {
		free(streams->streams[i].cpus);
		free(streams->streams[i].affinity);
	}
	free(streams->streams);
	free(streams->cpus);
	free(streams->left);
	memset(streams, 0, sizeof(*streams));
}
