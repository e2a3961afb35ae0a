// SPDX-License-Identifier: GPL-2.0-only
/* Description: the scheduler's settings as they are recorded, and which a tape may have. */
#include <json-c/json.h>

#include <machine/settings.h>

#include "fake-folder.h"
#include "tap.h"

static struct json_object *settings;

static void describe(void)
{
	json_object_put(settings);
	settings = schedtape_settings_describe(folder);
}

static struct json_object *member(const char *key, const char *name)
{
	return json_object_object_get(json_object_object_get(settings, key), name);
}

static void is(const char *name, const char *expected)
{
	const char *text = json_object_get_string(member("files", name));

	if (!ok(text && !strcmp(text, expected), "%s", name))
		printf("# %s\n", text ? text : "(none)");
}

static const char *reason_of(const char *name)
{
	const char *reason = json_object_get_string(member("not_readable", name));

	return reason ? reason : "(none)";
}

static void has_reason(const char *name, const char *expected, const char *what)
{
	if (!ok(!strcmp(reason_of(name), expected), "%s", what))
		printf("# %s\n", reason_of(name));
}

TEST(files)
{
	struct json_object *cut;
	char text[5000];

	folder_put("base_slice_ns", "2800000\n");
	folder_put("features", "PLACE_LAG NO_NEXT_BUDDY\t\n");
	folder_put("empty", "");
	folder_put("two", "1\n2\n");
	folder_put("debug", "all tasks\n");
	folder_put("fair_server/cpu0/runtime", "50000000\n");
	folder_put("fair_server/cpu10/runtime", "10\n");
	folder_put("fair_server/cpu9/runtime", "9\n");
	folder_put("domains/debug", "x\n");
	memset(text, 'x', sizeof(text));
	folder_write("long", text, 4097);
	text[4096] = '\n';
	folder_write("just", text, 4097);
	folder_write("exact", text, 4096);
	describe();
	is("base_slice_ns", "2800000");
	is("features", "PLACE_LAG NO_NEXT_BUDDY\t");
	is("empty", "");
	is("two", "1\n2");
	is("fair_server/cpu10/runtime", "10");
	is("domains/debug", "x");
	ok(!member("files", "debug"), "the dump of run queues is left out");
	ok(json_object_get_string_len(member("files", "long")) == 4096, "a long one is cut");
	ok(json_object_get_string_len(member("files", "just")) == 4096 &&
	   json_object_get_string_len(member("files", "exact")) == 4096, "others are not");
	cut = json_object_object_get(settings, "cut");
	ok(json_object_array_length(cut) == 1 &&
	   !strcmp(json_object_get_string(json_object_array_get_idx(cut, 0)), "long"),
	   "which is noted, and the end of a line is no part of a text");
	ok(!json_object_object_get(settings, "reason") &&
	   !json_object_object_get(settings, "not_readable") &&
	   !json_object_object_get(settings, "left_out"), "and nothing else");
	ok(!strcmp(json_object_get_string(json_object_object_get(settings, "path")), folder),
	   "where they were");
}

TEST(order)
{
	const char *before = "";
	int n = 0, folders = 0;

	json_object_object_foreach(json_object_object_get(settings, "files"), name, value) {
		(void)value;
		folders += !!strchr(name, '/');
		n += !strchr(name, '/') && folders;
		n += !strcmp(name, "fair_server/cpu10/runtime") &&
		     strcmp(before, "fair_server/cpu9/runtime") != 0;
		before = name;
	}
	ok(!n && folders == 4, "files of the root come first, then folders by number");
}

/* Files that would block, or lead out of the folder, are not read. */
TEST(odd)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/link", folder);
	if (symlink("/etc/passwd", path))
		perror("symlink");
	snprintf(path, sizeof(path), "%s/fifo", folder);
	mkfifo(path, 0600);
	snprintf(path, sizeof(path), "%s/loop", folder);
	if (symlink(".", path))
		perror("symlink");
	describe();
	ok(!member("files", "link") && !member("files", "fifo") && !member("files", "loop"),
	   "only regular files and folders");
	folder_put("a/b/c/d/e/f/g/h/i/j", "deep\n");
	describe();
	ok(!member("files", "a/b/c/d/e/f/g/h/i/j") && member("not_readable", "a/b/c/d/e/f/g/h/i"),
	   "not deeper than that");
	has_reason("a/b/c/d/e/f/g/h/i", "nested too deeply", "and why not");
}

/* Replaces libc's function: "vanished" is removed after it is listed and before it is examined. */
int fstatat(int at, const char *restrict name, struct stat *restrict st, int flags)
{
	int fd, ret;

	if (!strcmp(name, "vanished")) {
		errno = ENOENT;
		return -1;
	}
	fd = openat(at, name, O_PATH | O_CLOEXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0));
	if (fd < 0)
		return -1;
	ret = fstat(fd, st);
	close(fd);
	return ret;
}

TEST(vanished)
{
	folder_put("vanished", "1\n");
	folder_put("some/vanished", "1\n");
	describe();
	has_reason("vanished", "No such file or directory", "a file that has gone");
	has_reason("some/vanished", "No such file or directory", "one in a folder");
	ok(json_object_object_length(json_object_object_get(settings, "not_readable")) == 3,
	   "once each");
}

TEST(not_readable)
{
	const char *reason;

	folder_put("secret", "1\n");
	json_object_put(settings);
	settings = schedtape_settings_describe("/nowhere/debug/sched");
	reason = json_object_get_string(json_object_object_get(settings, "reason"));
	ok(reason && !strcmp(reason, "No such file or directory") &&
	   !json_object_object_get(settings, "files"), "no debugfs");
	/* A process's memory file can be opened, but not be read at 0. */
	json_object_put(settings);
	settings = schedtape_settings_describe("/proc/self");
	reason = json_object_get_string(member("not_readable", "mem"));
	ok(reason && !strcmp(reason, "Input/output error"), "a file that cannot be read");
}

static size_t json_length(void)
{
	return strlen(json_object_to_json_string_ext(settings, JSON_C_TO_STRING_PLAIN));
}

/* @fill: the byte with which the files are filled. */
static void test_many(char fill, const char *what)
{
	char name[64], text[4096];
	int i;

	memset(text, fill, sizeof(text));
	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "domains/cpu%d/many", i);
		folder_write(name, text, sizeof(text));
	}
	describe();
	/* In addition to the files there are a few words. */
	if (!ok(json_length() < (1U << 19) + 512 && json_length() > 490000 &&
		json_object_get_int(json_object_object_get(settings, "left_out")) > 50,
		"more than there is room for is counted: %s", what))
		printf("# %zu bytes\n", json_length());
	is("base_slice_ns", "2800000");
}

/* Reasons use space, too. */
TEST(many_reasons)
{
	char name[256] = "a/b/c/d/e/f/g/h/";
	int i;

	memset(name + strlen(name), 'n', 200);
	for (i = 0; i < 2500; i++) {
		snprintf(name + 216, sizeof(name) - 216, "%d/x", i);
		folder_put(name, "");
	}
	describe();
	ok(json_length() < (1U << 19) + 512, "they have a bound, with their reasons");
}

/* A tape may contain anything. */
TEST(on_tape)
{
	static const char * const none[] = {
		"{}", "{\"sched_settings\":7}", "{\"sched_settings\":{}}",
		"{\"sched_settings\":{\"files\":[1]}}", "{\"sched_settings\":{\"reason\":{}}}",
	};
	struct json_object *meta;
	const char *reason;
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(*none); i++) {
		meta = json_tokener_parse(none[i]);
		ok(!schedtape_settings_files(meta, &reason) && !reason, "none: %s", none[i]);
		json_object_put(meta);
	}
	meta = json_tokener_parse("{\"sched_settings\":{\"reason\":\"why\"}}");
	ok(!schedtape_settings_files(meta, &reason) && !strcmp(reason, "why"), "none, and why");
	json_object_put(meta);
	meta = json_tokener_parse("{\"sched_settings\":{\"files\":{\"a\":\"1\"}}}");
	ok(schedtape_settings_files(meta, &reason), "some");
	json_object_put(meta);
}

int main(void)
{
	folder_make();
	tap_run();
	test_many('y', "letters");
	test_many('\1', "control characters");
	test_many('"', "quotes");
	json_object_put(settings);
	folder_remove();
	return tap_done();
}
