// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape status: is the module there, which one, what can it do?
 */
#include <string.h>

#include <schedtape/client.h>
#include <schedtape/version.h>

#include "main.h"
#include "common/options.h"
#include "common/output.h"

/* The next of the lines at *@at, in place; NULL: there is none. */
static char *next_line(char **at)
{
	char *line = strsep(at, "\n");

	return line && *line ? line : NULL;
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

static void print_text(const struct schedtape_module_info *info)
{
	printf("module           : %s\n", info->version);
	printf("controller       : %s\n", SCHEDTAPE_VERSION);
	printf("wire format      : %u\n", info->wire_version);
	printf("possible CPUs    : %u\n", info->cpus);
	printf("largest ring     : %u MB per CPU\n",
	       (unsigned int)((uint64_t)info->ring_pages_max * info->page_size >> 20));
	printf("rings            : %.1f of %.1f MB\n", info->ring_memory / 1e6,
	       info->ring_memory_max / 1e6);
	if (info->counter_khz)
		printf("clocks           : mono, tsc (%u.%03u MHz)\n", info->counter_khz / 1000,
		       info->counter_khz % 1000);
	else
		printf("clocks           : mono\n");
	printf("kernel           : HZ %u, preemption %s\n", info->hz, info->preempt);
	printf("sessions         : %u\n", info->sessions);
	printf("replays          : %u\n", info->replays);
	print_missing(info);
}

static void print_json(const struct schedtape_module_info *info)
{
	struct json_object *root = json_object_new_object();

	json_object_object_add(root, "module", json_object_new_string(info->version));
	json_object_object_add(root, "controller", json_object_new_string(SCHEDTAPE_VERSION));
	out_json_add_count(root, "wire_version", info->wire_version);
	out_json_add_count(root, "page_size", info->page_size);
	out_json_add_count(root, "cpus", info->cpus);
	out_json_add_count(root, "ring_pages_max", info->ring_pages_max);
	out_json_add_count(root, "ring_memory_bytes", info->ring_memory);
	out_json_add_count(root, "ring_memory_max_bytes", info->ring_memory_max);
	out_json_add_count(root, "counter_khz", info->counter_khz);
	out_json_add_count(root, "hz", info->hz);
	json_object_object_add(root, "preempt", json_object_new_string(info->preempt));
	out_json_add_count(root, "sessions", info->sessions);
	out_json_add_count(root, "replays", info->replays);
	add_missing(root, info);
	out_json(root, true);
}

int cmd_status(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_json_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = cmd_parse_child,
		.doc = "Shows the module that is loaded, and its limits.",
		.children = children,
	};
	struct schedtape_module_info info;
	struct schedtape_client *client;
	struct schedtape_error err;
	bool json = false;
	int ret;

	cmd_parse(&argp, argc, argv, 0, &json);
	ret = schedtape_client_open(&client, &err);
	if (!ret) {
		ret = schedtape_client_info(client, &info, &err);
		schedtape_client_close(client);
	}
	if (ret) {
		out_error(NULL, "%s", err.text);
		return CMD_FAILURE;
	}
	if (json)
		print_json(&info);
	else
		print_text(&info);
	return out_finish(0);
}
