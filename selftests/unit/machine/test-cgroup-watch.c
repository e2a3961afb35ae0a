// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the watch of cgroups puts quotas and counts on the tape at the start, at the end,
 * when a quota is changed, and when a cgroup is new; and what it keeps in memory while there is no
 * tape.  A folder plays the hierarchy.
 */
#include <base/clock.h>
#include <errno.h>
#include <json-c/json.h>
#include <machine/cgroup-past.h>
#include <schedtape-tape.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <tape/cgroups.h>
#include <tape/meta.h>

#include "fake-folder.h"
#include "tap.h"
#include "tapes.h"

static struct schedtape_cgroup_watch watch;
static struct schedtape_writer *writer;
static struct schedtape_tape *tape;
static struct schedtape_error err;
static struct blob blob;
static const struct tape_cgroup *cgroups;
static size_t n;

static void put(const char *path, const char *max, unsigned int throttled)
{
	char name[128], text[128];

	snprintf(name, sizeof(name), "%s/cpu.stat", path);
	snprintf(text, sizeof(text), "usage_usec 1\nnr_periods 9\nnr_throttled %u\n"
		 "throttled_usec %u\n", throttled, throttled * 1000);
	folder_put(name, text);
	snprintf(name, sizeof(name), "%s/cpu.max", path);
	if (max)
		folder_put(name, max);
}

static void drop(const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s/%s", folder, path);
	if (system(command))
		exit(1);
}

static void make_folder(void)
{
	put(".", NULL, 0);
	put("tree", "max 100000\n", 0);
	put("tree/child", "20000 100000\n", 2);
	put("other", "50000 100000\n", 0);
}

static void fail(void)
{
	printf("Bail out! %s\n", err.text);
	exit(1);
}

static void begin(void)
{
	struct schedtape_cgroup tree = { .path = (char *)"/tree" };
	const struct schedtape_filter filter = { .cgroups = &tree, .nr_cgroups = 1 };

	if (schedtape_writer_create(blob.path, "{}", NULL, &writer, &err))
		fail();
	schedtape_cgroup_watch_open(&watch, folder, &filter);
}

/* Ends the watch and opens the tape, in place of the one before. */
static void end(void)
{
	schedtape_cgroup_watch_close(&watch);
	ok(!schedtape_writer_close(writer, &err), "the tape is written");
	schedtape_tape_close(tape);
	if (schedtape_tape_open(blob.path, &tape, &err))
		fail();
	cgroups = tape_cgroups(tape, &n);
}

static void again(void)
{
	ok(!schedtape_cgroup_watch_look(&watch, false, writer, &err), "a look");
}

static bool is(size_t i, const char *path, uint64_t quota)
{
	return i < n && (path ? cgroups[i].path && !strcmp(cgroups[i].path, path) :
			 !cgroups[i].path) &&
	       (quota ? cgroups[i].quota == quota && cgroups[i].period == 100000 :
		!cgroups[i].period);
}

TEST(start_and_end)
{
	struct stat st;
	char path[64];

	begin();
	ok(!schedtape_cgroup_watch_all(&watch, writer, &err), "the start");
	again();
	put("tree/child", "20000 100000\n", 7);
	ok(!schedtape_cgroup_watch_all(&watch, writer, &err), "the end");
	end();
	if (!ok(n == 6, "only cgroups of the recording, twice"))
		printf("# %zu\n", n);
	snprintf(path, sizeof(path), "%s/tree/child", folder);
	ok(is(0, "/", 0) && is(1, "/tree", 0) && is(2, "/tree/child", 20000), "paths and quotas");
	ok(!stat(path, &st) && cgroups[2].id == st.st_ino, "the id is the inode's number");
	ok(cgroups[2].counted && cgroups[2].throttled == 2 && cgroups[2].throttled_us == 2000 &&
	   cgroups[2].periods == 9, "the counts");
	ok(is(3, NULL, 0) && is(4, NULL, 0) && is(5, NULL, 20000), "paths come once");
	ok(cgroups[5].throttled == 7 && cgroups[5].began >= cgroups[2].time, "and the counts then");
}

TEST(changes)
{
	begin();
	schedtape_cgroup_watch_all(&watch, writer, &err);
	put("tree/child", "40000 100000\n", 3);
	again();
	put("tree/child", "40000 100000\n", 4);
	again();
	put("other", "60000 100000\n", 0);
	again();
	put("tree/child", "max 100000\n", 5);
	again();
	folder_put("tree/child/cpu.weight", "7\n");
	again();
	end();
	ok(n == 5, "a quota that is the same is no change, nor is one of another cgroup");
	ok(is(3, NULL, 40000) && cgroups[3].throttled == 3, "a change");
	ok(is(4, NULL, 0) && cgroups[4].throttled == 5, "a quota that is removed");
	put("tree/child", "20000 100000\n", 2);
}

TEST(new)
{
	begin();
	schedtape_cgroup_watch_all(&watch, writer, &err);
	put("tree/new/deep", "70000 100000\n", 0);
	put("tree/new", "max 100000\n", 0);
	put("late", "max 100000\n", 0);
	again();
	put("tree/new/deep", "80000 100000\n", 1);
	again();
	drop("tree/new/deep");
	again();
	ok(watch.nr == 4, "one that was removed is not watched");
	ok(!schedtape_cgroup_watch_all(&watch, writer, &err), "the end");
	end();
	ok(is(3, "/tree/new", 0) && is(4, "/tree/new/deep", 70000), "new cgroups");
	ok(is(5, NULL, 80000) && cgroups[5].id == cgroups[4].id, "a change of one");
	ok(n == 10 && is(6, NULL, 0), "one that was removed is not there at the end");
	drop("tree/new");
	drop("late");
}

/* A cgroup gets its files with the controller. */
TEST(controller)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/tree/child/cpu.max", folder);
	unlink(path);
	begin();
	schedtape_cgroup_watch_all(&watch, writer, &err);
	put("tree/child", "20000 100000\n", 2);
	again();
	end();
	ok(is(2, "/tree/child", 0) && is(3, NULL, 20000), "a controller that is enabled later");
}

/* Removed before its quota could be read: cpu.stat is gone first, then the folder. */
TEST(short_life)
{
	begin();
	schedtape_cgroup_watch_all(&watch, writer, &err);
	folder_put("tree/short/cpu.weight", "7\n");
	again();
	ok(watch.nr == 4 && watch.entries == 3, "one without counts");
	drop("tree/short");
	again();
	again();
	ok(watch.nr == 3 && watch.entries == 4 && !watch.nr_gone, "is on the tape when it is gone");
	end();
	ok(is(3, "/tree/short", 0) && !cgroups[3].counted, "with its path");
}

/* What META of a later tape says of them. */
TEST(describe)
{
	struct json_object *list;
	const char *text;

	begin();
	put("tree/gone", "max 100000\n", 0);
	again();
	drop("tree/gone");
	put("tree/late", "max 100000\n", 0);
	put("tree/child", "20000 100000\n", 2);
	folder_put("tree/child/cpu.weight", "300\n");
	list = schedtape_cgroup_watch_describe(&watch);
	text = json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	ok(strstr(text, "\"path\":\"/tree/child\",\"weight\":300,\"max\":\"20000 100000\"}"),
	   "a cgroup has the weight of now");
	ok(json_object_array_length(list) == 4 && strstr(text, "late") && !strstr(text, "gone"),
	   "one that is new is there, and none that was removed");
	json_object_put(list);
	*watch.mount = '\0';
	ok(!schedtape_cgroup_watch_describe(&watch),
	   "no cgroup is described if there is no hierarchy");
	schedtape_cgroup_watch_close(&watch);
	schedtape_writer_close(writer, &err);
	folder_put("tree/child/cpu.weight", "100\n");
	drop("tree/late");
}

/* -- in memory --------------------------------------------------------------- */

static uint64_t now(void)
{
	uint64_t time = schedtape_now();

	/* Whatever follows is later. */
	while (schedtape_now() == time)
		;
	return time;
}

static void write_past(uint64_t from, uint64_t until)
{
	if (from)
		schedtape_cgroup_past_forget(&watch, from);
	schedtape_cgroup_watch_renew(&watch);
	ok(!schedtape_cgroup_watch_all(&watch, writer, &err) &&
	   !schedtape_cgroup_past_write(&watch, until, writer, &err), "a tape of what there was");
	end();
}

TEST(past)
{
	uint64_t window, moment;

	begin();
	schedtape_cgroup_past_look(&watch, true, true);
	put("tree/child", "30000 100000\n", 3);
	schedtape_cgroup_past_look(&watch, false, false);
	put("tree/gone", "max 100000\n", 0);
	folder_put("tree/short/cpu.weight", "7\n");
	schedtape_cgroup_past_look(&watch, false, false);
	window = now();
	put("tree/child", "40000 100000\n", 4);
	schedtape_cgroup_past_look(&watch, false, false);
	drop("tree/gone");
	drop("tree/short");
	schedtape_cgroup_past_look(&watch, false, false);
	moment = now();
	put("tree/child", "50000 100000\n", 5);
	schedtape_cgroup_past_look(&watch, false, false);
	write_past(window, moment);
	if (!ok(n == 9, "all at the end, and what there was before"))
		printf("# %zu\n", n);
	ok(is(0, "/", 0) && is(1, "/tree", 0) && is(2, "/tree/child", 50000), "those of the end");
	ok(is(3, NULL, 0) && is(4, NULL, 0) && is(5, NULL, 30000) && cgroups[5].throttled == 3,
	   "the last quota before the window, and none before that");
	ok(is(6, "/tree/gone", 0) && cgroups[6].counted, "one that was removed");
	ok(is(7, NULL, 40000) && cgroups[7].throttled == 4 && cgroups[7].began > window,
	   "a change, and none that came later");
	ok(is(8, "/tree/short", 0) && !cgroups[8].counted && cgroups[8].id,
	   "one that was removed before its files could be read");
	put("tree/child", "20000 100000\n", 2);
}

TEST(forget)
{
	int i;

	begin();
	schedtape_cgroup_past_look(&watch, true, true);
	for (i = 0; i < 300; i++) {
		put("tree/child", "20000 100000\n", i);
		schedtape_cgroup_past_look(&watch, false, true);
	}
	ok(watch.nr_looks > 10 && watch.nr_looks < 40, "counts are thinned out: %zu",
	   watch.nr_looks);
	put("tree/gone", "max 100000\n", 0);
	schedtape_cgroup_past_look(&watch, false, false);
	drop("tree/gone");
	schedtape_cgroup_past_look(&watch, false, false);
	schedtape_cgroup_past_forget(&watch, now());
	ok(watch.nr_looks == 4 && watch.nr_gone == 1, "a look at each remains, also at one gone");
	schedtape_cgroup_past_forget(&watch, now() + 2000000000);
	ok(watch.nr_looks == 3 && !watch.nr_gone, "which is forgotten later");
	write_past(0, UINT64_MAX);
	ok(n == 6, "the last looks are on the tape");
}

TEST(changes_forgotten)
{
	char max[32];
	int i;

	begin();
	watch.most_looks = 100;
	for (i = 0; i < 300; i++) {
		snprintf(max, sizeof(max), "%d 100000\n", 10000 + i);
		put("tree/child", max, i);
		schedtape_cgroup_past_look(&watch, false, false);
	}
	ok(watch.nr_looks > 10 && watch.nr_looks <= 100, "too many changes: %zu are kept",
	   watch.nr_looks);
	write_past(0, UINT64_MAX);
	ok(cgroups[n - 1].quota == 10299, "the last ones");
	put("tree/child", "20000 100000\n", 2);
}

/* Returns true if the tape has an entry behind the first @from. */
static bool has_entry(size_t from, const char *path, uint64_t quota)
{
	while (from < n)
		if (is(from++, path, quota))
			return true;
	return false;
}

/* The entries of a snapshot are as of its end: the next one needs what was between them. */
TEST(two_snapshots)
{
	size_t first;

	begin();
	schedtape_cgroup_past_look(&watch, true, true);
	put("tree/child", "40000 100000\n", 3);
	put("tree/new", "60000 100000\n", 0);
	ok(!schedtape_cgroup_watch_all(&watch, writer, &err), "a snapshot finds changes");
	first = watch.entries;
	schedtape_cgroup_past_look(&watch, false, false);
	put("tree/child", "50000 100000\n", 4);
	drop("tree/new");
	schedtape_cgroup_past_look(&watch, false, false);
	write_past(0, UINT64_MAX);
	ok(has_entry(first, NULL, 40000), "the next one has the quota until the next change");
	ok(has_entry(first, "/tree/new", 60000), "and that of a new cgroup that is gone");
	put("tree/child", "20000 100000\n", 2);
}

/* -- cgroups that tasks are in ----------------------------------------------- */

static const char *found_path;
static unsigned int nr_finds;

int schedtape_cgroup_find(const char *name, struct schedtape_cgroup *cgroup,
			  struct schedtape_error *error)
{
	(void)name;
	(void)error;
	nr_finds++;
	*cgroup = (struct schedtape_cgroup){ 0 };
	cgroup->path = found_path ? strdup(found_path) : NULL;
	return 0;
}

static uint64_t id_of(const char *path)
{
	char name[128];
	struct stat st;

	snprintf(name, sizeof(name), "%s/%s", folder, path);
	return stat(name, &st) ? 0 : st.st_ino;
}

TEST(meet)
{
	uint64_t id;

	begin();
	schedtape_cgroup_past_look(&watch, true, true);
	found_path = "/other";
	schedtape_cgroup_watch_meet(&watch, id_of("other"));
	schedtape_cgroup_watch_meet(&watch, id_of("other"));
	ok(watch.nr == 4 && nr_finds == 1, "a cgroup outside of the filter is found, once");
	put("tree/new", "max 100000\n", 0);
	schedtape_cgroup_watch_meet(&watch, id_of("tree/new"));
	ok(watch.nr == 5 && nr_finds == 1, "one that inotify tells of need not be found");
	found_path = "/other/short";
	schedtape_cgroup_watch_meet(&watch, UINT64_MAX);
	ok(watch.places.in.n == 1, "the path of one that has gone is not kept");
	found_path = NULL;
	nr_finds = 0;
	/* Ids of cgroups may be multiples, because their files have some, too. */
	for (id = 1; id <= 200; id++)
		schedtape_cgroup_watch_meet(&watch, (id > 100 ? id - 100 : id) << 6);
	ok(nr_finds < 150, "few are looked for again: %u of 100", nr_finds - 100);
	schedtape_cgroup_watch_close(&watch);
	schedtape_writer_close(writer, &err);
	drop("tree/new");
}

/* A recorder with a tape meets no cgroups, so it has to keep the paths that it began with. */
TEST(made_again)
{
	begin();
	schedtape_cgroup_paths_add(&watch.places.in, "/job");
	schedtape_cgroup_watch_all(&watch, writer, &err);
	put("job", "max 100000\n", 0);
	again();
	drop("job");
	again();
	put("job", "30000 100000\n", 0);
	again();
	drop("job");
	end();
	ok(is(3, "/job", 0) && is(4, "/job", 30000), "a cgroup of a task that is made again");
}

/* -- without inotify --------------------------------------------------------- */

static bool no_queue, no_watches;

int inotify_init1(int flags)
{
	errno = EMFILE;
	return no_queue ? -1 : (int)syscall(SYS_inotify_init1, flags);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	errno = ENOSPC;
	return no_watches ? -1 : (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}

/* Some looks read all quotas. */
static void test_blind(const char *what)
{
	put("tree/child", "20000 100000\n", 2);
	begin();
	schedtape_cgroup_watch_all(&watch, writer, &err);
	put("tree/child", "40000 100000\n", 3);
	again();
	ok(watch.blind && watch.entries == 3, "%s: it does not know of the change", what);
	ok(!schedtape_cgroup_watch_look(&watch, true, writer, &err) && watch.entries == 4,
	   "and has to look at all");
	ok(!schedtape_cgroup_watch_look(&watch, true, writer, &err) && watch.entries == 4,
	   "which finds each change once");
	end();
	ok(is(3, NULL, 40000), "the change");
	begin();
	schedtape_cgroup_past_look(&watch, true, true);
	drop("tree/child");
	schedtape_cgroup_past_look(&watch, true, false);
	ok(watch.nr == 2 && watch.nr_gone == 1, "and finds which ones are gone");
	schedtape_cgroup_watch_close(&watch);
	schedtape_writer_close(writer, &err);
}

/* Its folder was removed before it got a watch. */
TEST(no_longer_blind)
{
	begin();
	schedtape_cgroup_past_look(&watch, true, true);
	no_watches = true;
	put("tree/short", "max 100000\n", 0);
	schedtape_cgroup_past_look(&watch, false, false);
	no_watches = false;
	ok(watch.blind, "a cgroup has no watch");
	drop("tree/short");
	schedtape_cgroup_past_look(&watch, true, false);
	ok(!watch.blind && watch.nr == 3, "when it is gone, no looks at all cgroups are needed");
	schedtape_cgroup_watch_close(&watch);
	schedtape_writer_close(writer, &err);
}

/* The queue holds 16384 events, as the kernel is by default. */
TEST(overflow)
{
	char path[64], old[64];
	int i;

	snprintf(path, sizeof(path), "%s/tree/again", folder);
	snprintf(old, sizeof(old), "%s/old", folder);
	put("tree/again", "max 100000\n", 0);
	put("tree/gone", "max 100000\n", 0);
	begin();
	schedtape_cgroup_watch_all(&watch, writer, &err);
	for (i = 0; i < 10000; i++) {
		folder_put("tree/child/cpu.weight", "7\n");
		folder_put("tree/child/cpu.idle", "0\n");
	}
	put("tree/child", "50000 100000\n", 3);
	put("tree/new", "60000 100000\n", 0);
	drop("tree/gone");
	/* Another inode, while the old one is there. */
	ok(!rename(path, old), "a cgroup goes");
	put("tree/again", "70000 100000\n", 0);
	drop("old");
	again();
	ok(watch.entries == 8 && watch.nr == 5, "changes that were lost are found");
	schedtape_cgroup_watch_all(&watch, writer, &err);
	end();
	ok(has_entry(5, NULL, 50000) && has_entry(5, "/tree/new", 60000),
	   "a quota, and a new cgroup");
	ok(has_entry(5, "/tree/again", 70000), "also one that has the path of another one");
	ok(n == 13, "and not those that are gone");
	drop("tree/again");
	drop("tree/new");
}

TEST(none)
{
	schedtape_cgroup_watch_open(&watch, "", NULL);
	ok(!schedtape_writer_create(blob.path, "{}", NULL, &writer, &err) &&
	   !schedtape_cgroup_watch_all(&watch, writer, &err), "without cgroups");
	again();
	end();
	ok(!n, "there are no entries");
}

/* Cgroups that the module has named, and that have gone before a look. */
TEST(named)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "%s/tree", folder);
	begin();
	schedtape_cgroup_watch_all(&watch, writer, &err);
	ok(!stat(path, &st), "the cgroup above them");
	schedtape_cgroup_watch_made(&watch, 1ULL << 40 | 2, 1ULL << 40 | 1, "leaf");
	schedtape_cgroup_watch_made(&watch, 1ULL << 40 | 1, st.st_ino, "branch");
	schedtape_cgroup_watch_made(&watch, 1ULL << 40 | 3, 1ULL << 40 | 4, "lost");
	schedtape_cgroup_watch_made(&watch, st.st_ino, 1, "wrong");
	again();
	schedtape_cgroup_watch_made(&watch, 1ULL << 40 | 2, 1ULL << 40 | 1, "leaf");
	again();
	end();
	ok(n == 5 && is(3, "/tree/branch/leaf", 0) && is(4, "/tree/branch", 0) &&
	   cgroups[3].id == (1ULL << 40 | 2), "their paths are on the tape, once");

	begin();
	schedtape_cgroup_past_look(&watch, true, true);
	schedtape_cgroup_watch_made(&watch, 1ULL << 40 | 1, st.st_ino, "branch");
	schedtape_cgroup_past_look(&watch, true, false);
	write_past(0, UINT64_MAX);
	if (!ok(n == 7 && has_entry(0, "/tree/branch", 0), "from memory, too"))
		printf("# %zu\n", n);
	nr_finds = 0;
}

int main(void)
{
	blob_init(&blob);
	folder_make();
	make_folder();
	tap_run();
	no_watches = true;
	test_blind("no watches");
	no_queue = true;
	test_blind("no queue");
	folder_remove();
	return tap_done();
}
