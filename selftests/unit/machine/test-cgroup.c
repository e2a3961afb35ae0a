// SPDX-License-Identifier: GPL-2.0-only
/* Description: which cgroups of a tape are accepted, and how they are looked up. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include <machine/cgroup-tree.h>
#include <tape/cgroups.h>
#include <tape/meta.h>
#include "tap.h"

#define MANY	20000

static struct json_object *meta;
static const struct tape_cgroup *entries;
static size_t nr_entries;

const struct tape_cgroup *tape_cgroups(struct schedtape_tape *tape, size_t *n)
{
	(void)tape;
	*n = nr_entries;
	return entries;
}

struct json_object *tape_meta(struct schedtape_tape *tape)
{
	(void)tape;
	return meta;
}

static void begin(void)
{
	json_object_put(meta);
	meta = json_object_new_object();
	json_object_object_add(meta, "cgroups", json_object_new_array());
}

static struct json_object *add(uint64_t id, const char *path)
{
	struct json_object *entry = json_object_new_object(), *list;

	json_object_object_get_ex(meta, "cgroups", &list);
	json_object_object_add(entry, "id", json_object_new_uint64(id));
	json_object_object_add(entry, "path", json_object_new_string(path));
	json_object_array_add(list, entry);
	return entry;
}

static struct schedtape_cgroup_table read_table(void)
{
	struct schedtape_cgroup_table table;

	if (schedtape_cgroup_table_read(&table, NULL))
		abort();
	return table;
}

/* Tests whether the cgroup is found, by both of its names. */
static bool taken(const char *path)
{
	struct schedtape_cgroup_table table;
	bool by_id, by_path;

	begin();
	add(7, path);
	table = read_table();
	by_id = schedtape_cgroup_by_id(&table, 7);
	by_path = schedtape_cgroup_by_path(&table, path);
	schedtape_cgroup_table_free(&table);
	return by_id && by_path;
}

TEST(paths)
{
	static const char * const good[] = {
		"/", "/a", "/a/b", "/...", "/..a/a..", "/.a/a.", "/user.slice/a b.scope",
		"/cgroup.procs/x",
	};
	static const char * const bad[] = {
		"", "a", "a/b", ".", "..", "./a", "../a", "//", "//a", "/a/", "/a//b", "/.", "/..",
		"/./a", "/../a", "/a/.", "/a/..", "/a/./b", "/a/../b", "/a/../../b", "/a/b/../",
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(taken(good[i]), "'%s' is a path", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!taken(bad[i]), "'%s' is none", bad[i]);
}

TEST(limits)
{
	char deep[2 * (SCHEDTAPE_CGROUP_PARTS + 1) + 1], *name = malloc(4096);
	size_t i;

	if (!name)
		abort();
	for (i = 0; i <= SCHEDTAPE_CGROUP_PARTS; i++)
		memcpy(deep + 2 * i, "/a", 3);
	ok(!taken(deep), "a path of %d parts is none", SCHEDTAPE_CGROUP_PARTS + 1);
	deep[2 * SCHEDTAPE_CGROUP_PARTS] = '\0';
	ok(taken(deep), "one of %d is", SCHEDTAPE_CGROUP_PARTS);
	memset(name, 'a', 4095);
	name[0] = '/';
	name[4095] = '\0';
	ok(!taken(name), "a path leaves room for the mount point before it");
	free(name);
}

static bool has_no_quota(const struct schedtape_cgroup_table *table, uint64_t id)
{
	const struct schedtape_cgroup_state *state = schedtape_cgroup_by_id(table, id);

	return state && !state->quota && !state->period;
}

TEST(entries)
{
	const struct schedtape_cgroup_state *state;
	struct schedtape_cgroup_table table;
	struct json_object *list, *entry;

	begin();
	json_object_object_get_ex(meta, "cgroups", &list);
	json_object_array_add(list, json_object_new_int(3));
	json_object_array_add(list, json_object_new_object());
	add(1, "/..");
	entry = add(9, "/a/b");
	json_object_object_add(entry, "weight", json_object_new_int(300));
	json_object_object_add(entry, "max", json_object_new_string("20000 100000"));
	json_object_object_add(entry, "uclamp_min", json_object_new_string("20.50"));
	json_object_object_add(entry, "uclamp_max", json_object_new_string("0\n"));
	json_object_object_add(add(3, "/null"), "max", NULL);
	json_object_object_add(add(4, "/minus"), "max", json_object_new_string("-5 7"));
	table = read_table();
	ok(has_no_quota(&table, 3) && has_no_quota(&table, 4),
	   "a quota that is null or negative counts as none");
	state = schedtape_cgroup_by_path(&table, "/a/b");
	ok(table.nr == 3 && state && state->id == 9 && state->weighs && state->weight == 300 &&
	   state->quota == 20000 && state->period == 100000 && !state->newer && !state->cpus &&
	   !state->idle,
	   "an entry that is no cgroup is left out, and no other");
	ok(state && state->clamp_min && !strcmp(state->clamp_min, "20.50") && !state->clamp_max,
	   "a utilization clamp is taken only if it is one");
	schedtape_cgroup_table_free(&table);

	json_object_object_add(meta, "cgroups", json_object_new_string("/a"));
	table = read_table();
	ok(!table.nr && !schedtape_cgroup_by_id(&table, 9) &&
	   !schedtape_cgroup_by_path(&table, "/a"), "a tape without any");
	schedtape_cgroup_table_free(&table);
}

TEST(newer)
{
	static const struct tape_cgroup later[] = {
		{ .time = 1, .id = 9, .path = (char *)"/a", .quota = 1, .period = 2 },
		{ .time = 2, .id = 8, .path = (char *)"/a/job" },
		{ .time = 3, .id = 5, .path = (char *)"/a/../b" },
		{ .time = 4, .id = 8, .quota = 30000, .period = 100000 },
		{ .time = 5, .id = 7, .path = (char *)"/a/job", .quota = 50, .period = 100 },
		{ .time = 6, .id = 8, .path = (char *)"/a/job", .quota = 20, .period = 100 },
		{ .time = 7, .id = 6, .quota = 4, .period = 5 },
	};
	const struct schedtape_cgroup_state *old, *first, *second;
	struct schedtape_cgroup_table table;

	begin();
	add(9, "/a");
	entries = later;
	nr_entries = sizeof(later) / sizeof(*later);
	table = read_table();
	old = schedtape_cgroup_by_id(&table, 9);
	first = schedtape_cgroup_by_id(&table, 8);
	second = schedtape_cgroup_by_id(&table, 7);
	ok(table.nr == 3 && old && first && second, "cgroups that are newer than META, each once");
	ok(old && !old->newer && !old->period, "what META says of a cgroup counts");
	ok(first && first->newer && !strcmp(first->path, "/a/job") && first->quota == 20 &&
	   first->period == 100, "a newer one has the last of its quotas");
	ok(second && !strcmp(second->path, "/a/job") && second->quota == 50 &&
	   schedtape_cgroup_by_path(&table, "/a/job"), "another one had the same path");
	schedtape_cgroup_table_free(&table);
	nr_entries = 0;
}

TEST(many)
{
	const struct schedtape_cgroup_state *state;
	struct schedtape_cgroup_table table;
	unsigned int i, found = 0;
	char path[32];

	begin();
	for (i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/a/%u", i);
		add((i * 7919ULL) % MANY << 32, path);
	}
	table = read_table();
	for (i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/a/%u", i);
		state = schedtape_cgroup_by_id(&table, (i * 7919ULL) % MANY << 32);
		found += state && !strcmp(state->path, path) &&
			 schedtape_cgroup_by_path(&table, path) == state;
	}
	ok(found == MANY, "each of %d is found", MANY);
	ok(!schedtape_cgroup_by_id(&table, 5) && !schedtape_cgroup_by_path(&table, "/a"),
	   "and no other one");
	schedtape_cgroup_table_free(&table);
}

TEST_MAIN
