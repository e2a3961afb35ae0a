// SPDX-License-Identifier: GPL-2.0-only
/* Description: the streams of record --threads, on simulated machines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <record/internal.h>

#include "common/select.h"
#include "tap.h"

static char sysfs[] = "/tmp/schedtape-test-XXXXXX";
static struct schedtape_error err;

static void put(const char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a file below @sysfs, and makes its folders. */
static void put(const char *text, const char *format, ...)
{
	char path[512], *at;
	va_list args;
	FILE *file;
	int used;

	used = snprintf(path, sizeof(path), "%s/", sysfs);
	va_start(args, format);
	vsnprintf(path + used, sizeof(path) - used, format, args);
	va_end(args);
	for (at = path + used; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(path, 0700);
	}
	file = fopen(path, "w");
	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* Two packages of two cores of two threads: 0,4 1,5 | 2,6 3,7; 8 to 9 are offline. */
static void make_machine(bool nodes)
{
	static const char * const cores[] = { "0,4", "1,5", "2,6", "3,7" };
	static const char * const packages[] = { "0-1,4-5", "2-3,6-7" };
	unsigned int cpu;

	put("0-9", "cpu/possible");
	put("0-7", "cpu/online");
	for (cpu = 0; cpu < 8; cpu++) {
		put(cores[cpu % 4], "cpu/cpu%u/topology/core_cpus_list", cpu);
		put(packages[cpu % 4 / 2], "cpu/cpu%u/topology/package_cpus_list", cpu);
	}
	if (!nodes)
		return;
	put("0,2-3", "node/online");
	put("0-1,4-5", "node/node0/cpulist");
	put("", "node/node2/cpulist");
	put("2-3,6-7", "node/node3/cpulist");
}

/* Returns the streams as "0/0 1-2/1 left 3", or the error. */
static const char *parse(const char *spec, const unsigned char *cpus)
{
	static char text[1024];
	struct streams streams;
	char *list, *affinity;
	size_t i, used = 0;

	if (streams_parse(&streams, spec, sysfs, cpus, cpus ? 2 : 0, &err))
		return err.text;
	for (i = 0; i < streams.n; i++) {
		list = cpu_list_text(streams.streams[i].cpus, streams.bytes);
		affinity = cpu_list_text(streams.streams[i].affinity, streams.bytes);
		used += snprintf(text + used, sizeof(text) - used, "%s%s/%s", i ? " " : "", list,
				 affinity);
		free(list);
		free(affinity);
	}
	list = cpu_list_text(streams.left, streams.bytes);
	if (*list)
		snprintf(text + used, sizeof(text) - used, " left %s", list);
	free(list);
	streams_free(&streams);
	return text;
}

static void check(const char *spec, const unsigned char *cpus, const char *want)
{
	const char *got = parse(spec, cpus);

	ok(strstr(got, want) && (*want == '"' || !strcmp(got, want)), "%s: %s",
	   spec ? spec : "nothing", got);
	ok(!spec || streams_valid(spec), "%s is of the right form", spec ? spec : "nothing");
}

static void test_layouts(void)
{
	const unsigned char some[] = { 0x16, 0x02 };	/* 1, 2, 4, 9 */
	const unsigned char offline[] = { 0x00, 0x02 };

	/* A CPU that comes online later has to belong to a stream. */
	check(NULL, NULL, "0,8-9/0 1/1 2/2 3/3 4/4 5/5 6/6 7/7");
	check("", NULL, "0,8-9/0 1/1 2/2 3/3 4/4 5/5 6/6 7/7");
	check("cpu", NULL, "0,8-9/0 1/1 2/2 3/3 4/4 5/5 6/6 7/7");
	check("core", NULL, "0,4,8-9/0,4 1,5/1,5 2,6/2,6 3,7/3,7");
	check("package", NULL, "0-1,4-5,8-9/0-1,4-5 2-3,6-7/2-3,6-7");
	check("socket", NULL, "0-1,4-5,8-9/0-1,4-5 2-3,6-7/2-3,6-7");
	check("NUMA", NULL, "0-1,4-5,8-9/0-1,4-5 2-3,6-7/2-3,6-7");
	check("cpu", some, "1,9/1 2/2 4/4");
	check("core", some, "4,9/4 1/1 2/2");
	check("numa", some, "1,4,9/1,4 2/2");
	/* Also if all other CPUs are left out. */
	check("core", offline, "9/9");
	check("numa", offline, "9/9");
}

static void test_masks(void)
{
	const unsigned char some[] = { 0x16, 0x02 };

	check("0,2-4/2-4:1,5-7/5-7", NULL, "0,2-4/2-4 1,5-7/5-7");
	check("0/1:1/0", NULL, "0/1 1/0 left 2-7");
	check("0-7/0", NULL, "0-7/0");
	check("8,0/0", NULL, "0,8/0 left 1-7");
	check(":0-7/0:", NULL, "0-7/0");
	check("0-3/0-3:4-7/4-7", some, "1-2/1-2 4/4");
	check("0-1/0,4000:2-4000/2", NULL, "0-1/0 2-9/2");
	/* The same as perf's checks, in other words. */
	check("0/0:0/1", NULL, "\"0\": has a CPU of a mask before it");
	check("0/0:1/0", NULL, "\"0\": has a CPU of one before it");
	check("0/0:1-3/1-3:7,3/7", NULL, "\"7,3\"");
	check("4000/0", NULL, "\"4000\": none of these CPUs is there");
	check("0/4000", NULL, "\"4000\": none of these CPUs is there");
	check("0/8", NULL, "0/8 left 1-7");
	check("1/1:3/3", some, "\"3\": none of these CPUs is there");
	check("1/3", some, "\"3\": none of these CPUs is there");
}

static void test_forms(void)
{
	static const char * const wrong[] = {
		"foo", "corex", "0", "0,1", "0/", "/0", "/", ":", "0/0/0", "0/0:1", "1-0/0",
		"0/a", "a/0", "-1/0", "0 /0", "cpu:0/0",
	};
	struct streams streams;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ok(!streams_valid(wrong[i]), "\"%s\" is not of the right form", wrong[i]);
		ok(streams_parse(&streams, wrong[i], sysfs, NULL, 0, &err) && !streams.n,
		   "nor does it become anything: %s", err.text);
	}
}

static void remove_machine(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s/*", sysfs);
	if (system(command))
		exit(1);
}

/* A kernel without NUMA, and folders without files. */
static void test_less(void)
{
	struct streams streams;

	remove_machine();
	make_machine(false);
	check("numa", NULL, "0-9/0-7");
	remove_machine();
	ok(streams_parse(&streams, "cpu", sysfs, NULL, 0, &err) == -EIO &&
	   strstr(err.text, sysfs), "nothing to go by: %s", err.text);
	put("0", "cpu/possible");
	put("0", "cpu/online");
	check("core", NULL, "0/0");
}

int main(void)
{
	if (!mkdtemp(sysfs))
		return 1;
	make_machine(true);
	test_layouts();
	test_masks();
	test_forms();
	test_less();
	remove_machine();
	rmdir(sysfs);
	return tap_done();
}
