// SPDX-License-Identifier: GPL-2.0-only
/* Description: which cgroups of a tape are accepted, and how they are looked up. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include <machine/cgroup-tree.h>
#include <tape/meta.h>
#include "tap.h"

#define MANY	20000

static struct json_object *meta;

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

static void test_paths(void)
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

static void test_limits(void)
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

static void test_entries(void)
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
	table = read_table();
	state = schedtape_cgroup_by_path(&table, "/a/b");
	ok(table.nr == 1 && state && state->id == 9 && state->weighs && state->weight == 300 &&
	   !strcmp(state->max, "20000 100000") && !state->cpus && !state->idle,
	   "an entry that is no cgroup is left out, and no other");
	schedtape_cgroup_table_free(&table);

	json_object_object_add(meta, "cgroups", json_object_new_string("/a"));
	table = read_table();
	ok(!table.nr && !schedtape_cgroup_by_id(&table, 9) &&
	   !schedtape_cgroup_by_path(&table, "/a"), "a tape without any");
	schedtape_cgroup_table_free(&table);
}

static void test_many(void)
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

int main(void)
{
	test_paths();
	test_limits();
	test_entries();
	test_many();
	json_object_put(meta);
	return tap_done();
}
