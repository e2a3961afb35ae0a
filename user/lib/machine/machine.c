// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Describes the machine on the tape: all that a replay or a report on another machine
 * needs to know.
 */
#include "machine/machine.h"

#include <errno.h>
#include <json-c/json.h>
#include <schedtape/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/first-line.h"
#include "machine/cgroup-tree.h"
#include "machine/cgroup-watch.h"
#include "machine/settings.h"
#include "tape/meta.h"

static void add_string(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

static int topology_id(int cpu, const char *what)
{
	char path[128], line[32];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
	return first_line_read(path, line, sizeof(line)) ? atoi(line) : -1;
}

/* A CPU's folder links to that of its node. */
static int topology_node(int cpu)
{
	char path[128];
	int node;

	for (node = 0; node < 1024; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
		if (!access(path, F_OK))
			return node;
	}
	return 0;
}

static struct json_object *describe_topology(void)
{
	struct json_object *list = json_object_new_array(), *entry;
	int cpu, n = sysconf(_SC_NPROCESSORS_CONF);

	for (cpu = 0; cpu < n; cpu++) {
		int package = topology_id(cpu, "physical_package_id");
		int core = topology_id(cpu, "core_id");

		if (core < 0)
			continue;	/* offline */
		entry = json_object_new_object();
		json_object_object_add(entry, "cpu", json_object_new_int(cpu));
		json_object_object_add(entry, "package", json_object_new_int(package));
		json_object_object_add(entry, "core", json_object_new_int(core));
		json_object_object_add(entry, "node", json_object_new_int(topology_node(cpu)));
		json_object_array_add(list, entry);
	}
	return list;
}

/* Adds the "model name" of /proc/cpuinfo.  Not all architectures have one. */
static void add_cpu_model(struct json_object *meta)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], *value;

	while (file && fgets(line, sizeof(line), file)) {
		value = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		add_string(meta, "cpu_model", value + 2);
		break;
	}
	if (file)
		fclose(file);
}

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static struct json_object *describe_clock(uint32_t id)
{
	struct json_object *clock = json_object_new_object();

	add_string(clock, "name", id == STAPE_CLOCK_COUNTER ? "tsc" : "mono");
	json_object_object_add(clock, "monotonic", json_object_new_uint64(now(CLOCK_MONOTONIC)));
	json_object_object_add(clock, "boottime", json_object_new_uint64(now(CLOCK_BOOTTIME)));
	json_object_object_add(clock, "realtime", json_object_new_uint64(now(CLOCK_REALTIME)));
	return clock;
}

static struct json_object *describe_ids(const uint32_t *ids, size_t n)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_uint64(ids[i]));
	return list;
}

static struct json_object *describe_cgroups(const struct schedtape_cgroup *cgroups, size_t n)
{
	struct json_object *list = json_object_new_array(), *entry;
	size_t i;

	for (i = 0; i < n; i++) {
		entry = json_object_new_object();
		json_object_object_add(entry, "id", json_object_new_uint64(cgroups[i].id));
		if (cgroups[i].path)
			add_string(entry, "path", cgroups[i].path);
		json_object_array_add(list, entry);
	}
	return list;
}

static struct json_object *describe_strings(const char *const *strings, size_t n)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_string(strings[i]));
	return list;
}

static void add_bool(struct json_object *to, const char *key, bool value)
{
	json_object_object_add(to, key, json_object_new_boolean(value));
}

static struct json_object *describe_filter(const struct schedtape_filter *filter,
					   const char *cpus)
{
	static const struct schedtape_filter empty;
	struct json_object *object = json_object_new_object();

	if (!filter)
		filter = &empty;
	json_object_object_add(object, "pids", describe_ids(filter->pids, filter->nr_pids));
	json_object_object_add(object, "tids", describe_ids(filter->tids, filter->nr_tids));
	json_object_object_add(object, "cgroups",
			       describe_cgroups(filter->cgroups, filter->nr_cgroups));
	add_bool(object, "all", filter->all);
	add_bool(object, "kthreads", filter->kthreads);
	add_bool(object, "no_inherit", filter->no_inherit);
	json_object_object_add(object, "exclude_comm",
			       describe_strings(filter->exclude_comm, filter->nr_exclude_comm));
	if (cpus)
		add_string(object, "cpus", cpus);
	return object;
}

static struct json_object *describe_calibration(const struct schedtape_calibration *calibration)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "spins_per_ms",
			       json_object_new_double(calibration->spins_per_ms));
	json_object_object_add(object, "spread", json_object_new_double(calibration->spread));
	return object;
}

static struct json_object *describe_command(char *const *command)
{
	size_t n = 0;

	while (command[n])
		n++;
	return describe_strings((const char *const *)command, n);
}

const char *schedtape_throttling_name(uint32_t throttling)
{
	return throttling == STAPE_THROTTLING_CGROUPS ? "cgroups" :
	       throttling == STAPE_THROTTLING_TASKS ? "tasks" : "none";
}

/* Adds what may change while a recording runs.  @cgroups: NULL: there is no hierarchy. */
static void add_changing(struct json_object *meta, struct json_object *cgroups)
{
	if (cgroups)
		json_object_object_add(meta, "cgroups", cgroups);
	json_object_object_add(meta, "sched_settings",
			       schedtape_settings_describe(SCHEDTAPE_SETTINGS));
}

struct json_object *schedtape_machine_describe(const struct schedtape_module_info *module,
					       const struct schedtape_calibration *calibration,
					       const struct schedtape_recording *recording)
{
	struct json_object *meta = json_object_new_object();
	struct utsname uts;
	char online[256];

	if (!meta)
		return NULL;
	uname(&uts);
	add_string(meta, "version", SCHEDTAPE_VERSION);
	add_string(meta, "arch", uts.machine);
	add_string(meta, "release", uts.release);
	add_string(meta, "kernel_version", uts.version);
	json_object_object_add(meta, "hz", json_object_new_uint64(module->hz));
	add_string(meta, "preempt", module->preempt);
	json_object_object_add(meta, "cpus", json_object_new_uint64(module->cpus));
	if (first_line_read("/sys/devices/system/cpu/online", online, sizeof(online)))
		add_string(meta, "online", online);
	add_cpu_model(meta);
	json_object_object_add(meta, "topology", describe_topology());
	json_object_object_add(meta, "clock", describe_clock(recording->clock));
	json_object_object_add(meta, "calibration", describe_calibration(calibration));
	if (recording->command)
		json_object_object_add(meta, "command", describe_command(recording->command));
	json_object_object_add(meta, "filter",
			       describe_filter(recording->filter, recording->cpus));
	add_changing(meta, schedtape_cgroups_describe(recording->filter));
	add_bool(meta, "overwrite", recording->overwrite);
	add_bool(meta, "syscalls", recording->syscalls);
	/* On other CPUs than those of the recording it may end or begin, too. */
	if (!recording->cpus)
		add_string(meta, "throttling", schedtape_throttling_name(module->throttling));
	return meta;
}

void schedtape_machine_renew(struct json_object *meta, struct schedtape_cgroup_watch *watch)
{
	add_changing(meta, schedtape_cgroup_watch_describe(watch));
}

int schedtape_machine_calibration(struct schedtape_tape *tape,
				  struct schedtape_calibration *calibration,
				  struct schedtape_error *err)
{
	struct json_object *object, *value;

	*calibration = (struct schedtape_calibration){ 0 };
	if (json_object_object_get_ex(tape_meta(tape), "calibration", &object)) {
		if (json_object_object_get_ex(object, "spins_per_ms", &value))
			calibration->spins_per_ms = json_object_get_double(value);
		if (json_object_object_get_ex(object, "spread", &value))
			calibration->spread = json_object_get_double(value);
	}
	/* Reject impossible values: from below a CPU of 1 MHz to above any CPU. */
	if (calibration->spins_per_ms >= 1 && calibration->spins_per_ms <= 1e9)
		return 0;
	return schedtape_fail(err, -ENODATA, "the tape does not say how fast its machine was");
}
