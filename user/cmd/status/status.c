// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape status: the module, its limits, and whether this user can record.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <schedtape/client.h>
#include <schedtape/version.h>

#include <machine/machine.h>

#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/rights.h"
#include "module/versions.h"

/* Cuts the next line off *@at, in place.  Returns NULL at the end. */
static char *next_line(char **at)
{
	char *line = strsep(at, "\n");

	return line && *line ? line : NULL;
}

/*
 * Adds a line if an administrator has switched all kprobes off.  The module cannot know it: the
 * kernel registers its return probes nevertheless.  Only root can read the file.
 */
static void add_disarmed(struct schedtape_module_info *info)
{
	static const char name[] = "/sys/kernel/debug/kprobes/enabled";
	size_t used = strlen(info->missing);
	FILE *file = fopen(name, "re");

	if (!file)
		return;
	if (fgetc(file) == '0')
		snprintf(info->missing + used, sizeof(info->missing) - used,
			 "kprobes, which are switched off in %s: changes of policy, priority, nice value and affinity and throttling of cgroups are not recorded\n",
			 name);
	fclose(file);
}

static void print_missing(const struct schedtape_module_info *info)
{
	char lines[sizeof(info->missing)], *at = lines, *line;

	memcpy(lines, info->missing, sizeof(lines));
	while ((line = next_line(&at)))
		printf("missing          : %s\n", line);
}

static void add_missing(struct json_object *root, const struct schedtape_module_info *info)
{
	char lines[sizeof(info->missing)], *at = lines, *line;
	struct json_object *array = json_object_new_array();

	memcpy(lines, info->missing, sizeof(lines));
	while ((line = next_line(&at)))
		json_object_array_add(array, json_object_new_string(line));
	json_object_object_add(root, "missing", array);
}

/* -- text ------------------------------------------------------------------ */

static void print_limits(const struct schedtape_module_info *info)
{
	printf("wire format      : %u\n", info->wire_version);
	printf("possible CPUs    : %u\n", info->cpus);
	printf("largest ring     : %u MB per CPU\n",
	       (unsigned int)((uint64_t)info->ring_pages_max * info->page_size >> 20));
	printf("memory           : %.1f of %.1f MB; of this user: %.1f of %.1f MB\n",
	       info->memory / 1e6, info->memory_max / 1e6, info->user_memory / 1e6,
	       info->user_memory_max / 1e6);
	if (info->counter_khz)
		printf("clocks           : mono, tsc (%u.%03u MHz)\n", info->counter_khz / 1000,
		       info->counter_khz % 1000);
	else
		printf("clocks           : mono\n");
	printf("kernel           : HZ %u, preemption %s\n", info->hz, info->preempt);
	printf("sessions         : %u of %u; of this user: %u of %u\n", info->sessions_used,
	       info->sessions_max, info->user_sessions, info->user_sessions_max);
	printf("replays          : %u\n", info->replays);
	if (info->missed_calls)
		printf("missed calls     : %" PRIu64 "\n", info->missed_calls);
	print_missing(info);
}

/* @info: NULL if the module did not answer; @why_not: why this user cannot record, or NULL */
static void print_text(const struct schedtape_module_info *info, bool loaded, const char *why_not)
{
	printf("controller       : %s\n", SCHEDTAPE_VERSION);
	printf("module           : %s\n", info ? info->version : loaded ? "loaded" : "not loaded");
	printf("can record       : %s%s\n", why_not ? "no: " : "yes", why_not ? why_not : "");
	if (info)
		print_limits(info);
}

/* -- JSON ------------------------------------------------------------------ */

static struct json_object *text_or_null(const char *text)
{
	return text ? json_object_new_string(text) : NULL;
}

static void add_limits(struct json_object *root, const struct schedtape_module_info *info)
{
	out_json_add_count(root, "wire_version", info->wire_version);
	out_json_add_count(root, "page_size_bytes", info->page_size);
	out_json_add_count(root, "cpu_count", info->cpus);
	out_json_add_count(root, "ring_pages_max", info->ring_pages_max);
	out_json_add_count(root, "memory_bytes", info->memory);
	out_json_add_count(root, "memory_max_bytes", info->memory_max);
	out_json_add_count(root, "user_memory_bytes", info->user_memory);
	out_json_add_count(root, "user_memory_max_bytes", info->user_memory_max);
	out_json_add_count(root, "counter_khz", info->counter_khz);
	out_json_add_count(root, "hz", info->hz);
	json_object_object_add(root, "preempt", json_object_new_string(info->preempt));
	out_json_add_count(root, "session_count", info->sessions_used);
	out_json_add_count(root, "session_max", info->sessions_max);
	out_json_add_count(root, "user_session_count", info->user_sessions);
	out_json_add_count(root, "user_session_max", info->user_sessions_max);
	out_json_add_count(root, "replay_count", info->replays);
	out_json_add_count(root, "missed_calls", info->missed_calls);
	out_json_add_bool(root, "stop_all", info->stop_all);
	json_object_object_add(root, "throttling",
			       json_object_new_string(schedtape_throttling_name(info->throttling)));
	add_missing(root, info);
}

/*
 * JSON of status:
 * @controller: Version of schedtape.
 * @module: Version of the module; null if it did not answer.
 * @loaded: The module is loaded.
 * @can_record: This user can record here.
 * @obstacle: What keeps this user from recording and what helps, or null.
 * @wire_version: Version of the events' format. This and the next ones only if the module answered.
 * @page_size_bytes: Size of a page.
 * @cpu_count: CPUs that the machine can ever have.
 * @ring_pages_max: Pages of a ring at most.
 * @memory_bytes: Memory of the sessions and replays of all users now.
 * @memory_max_bytes: Limit for that.
 * @user_memory_bytes: Memory of the sessions and replays of this user now.
 * @user_memory_max_bytes: Limit for that.
 * @counter_khz: Rate of the CPU's counter, 0: it is not fit as a clock.
 * @hz: The kernel's tick.
 * @preempt: Its mode of preemption.
 * @session_count: Sessions with rings, of all users.
 * @session_max: Limit for that.
 * @user_session_count: Sessions with rings, of this user.
 * @user_session_max: Limit for that.
 * @replay_count: Replays.
 * @missed_calls: As of sessions, since the module was loaded.
 * @stop_all: An administrator lets nothing start.
 * @throttling: Which throttling by quotas of cgroups is recorded: "none"; "cgroups", of which a CPU
 *	runs no task meanwhile; or "tasks", which it runs until they return to user space.
 * @missing: A list of texts, one for each thing that this kernel lacks.
 */
static void print_json(const struct schedtape_module_info *info, bool loaded, const char *why_not)
{
	struct json_object *root = out_json_new("status");

	json_object_object_add(root, "controller", json_object_new_string(SCHEDTAPE_VERSION));
	json_object_object_add(root, "module", text_or_null(info ? info->version : NULL));
	out_json_add_bool(root, "loaded", loaded);
	out_json_add_bool(root, "can_record", !why_not);
	json_object_object_add(root, "obstacle", text_or_null(why_not));
	if (info)
		add_limits(root, info);
	out_json(root, true);
}

int cmd_status(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_json_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = cmd_parse_child,
		.doc = "Shows whether this user can record here, the module and its limits.",
		.children = children,
	};
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_client *client;
	struct schedtape_error err, other;
	bool json = false, loaded;
	const char *why_not;
	int ret;

	cmd_parse(&argp, argc, argv, 0, &json);
	ret = schedtape_client_open(&client, &err);
	loaded = ret != -ENOENT;
	if (!ret) {
		ret = schedtape_client_info(client, &info, &err);
		schedtape_client_close(client);
		add_disarmed(&info);
	}
	why_not = rights_obstacle(loaded);
	if (!ret && !why_not && versions_check(info.wire_version, &other))
		why_not = other.text;
	if (!ret && !why_not && info.stop_all)
		why_not = VERSIONS_STOP_ALL;
	if (json)
		print_json(ret ? NULL : &info, loaded, why_not);
	else
		print_text(ret ? NULL : &info, loaded, why_not);
	rights_say(ret, &err);
	return out_finish(ret ? CMD_FAILURE : 0);
}
