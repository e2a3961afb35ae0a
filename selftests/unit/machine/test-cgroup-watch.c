// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the watch of cgroups puts quotas and counts on the tape at the start, at the end,
 * when a quota is changed, and when a cgroup is new.  A folder plays the hierarchy.
 */
#include <errno.h>
#include <machine/cgroup-watch.h>
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

	blob_init(&blob);
	if (schedtape_writer_create(blob.path, "{}", NULL, &writer, &err))
		fail();
	schedtape_cgroup_watch_open(&watch, folder, &filter);
}

/* Ends the watch and opens the tape. */
static void end(void)
{
	schedtape_cgroup_watch_close(&watch);
	ok(!schedtape_writer_close(writer, &err), "the tape is written");
	if (schedtape_tape_open(blob.path, &tape, &err))
		fail();
	cgroups = tape_cgroups(tape, &n);
}

static void again(void)
{
	ok(!schedtape_cgroup_watch_look(&watch, false, writer, &err), "a look");
}

static void close_tape(void)
{
	schedtape_tape_close(tape);
	close(blob.fd);
}

static bool is(size_t i, const char *path, uint64_t quota)
{
	return i < n && (path ? cgroups[i].path && !strcmp(cgroups[i].path, path) :
			 !cgroups[i].path) &&
	       (quota ? cgroups[i].quota == quota && cgroups[i].period == 100000 :
		!cgroups[i].period);
}

static void test_start_and_end(void)
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
	close_tape();
}

static void test_changes(void)
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
	close_tape();
	put("tree/child", "20000 100000\n", 2);
}

static void test_new(void)
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
	close_tape();
	drop("tree/new");
	drop("late");
}

/* A cgroup gets its files with the controller. */
static void test_controller(void)
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
	close_tape();
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
	close_tape();
}

/* The queue holds 16384 events, as the kernel is by default. */
static void test_overflow(void)
{
	int i;

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
	again();
	ok(watch.entries == 6 && watch.nr == 4, "changes that were lost are found");
	schedtape_cgroup_watch_all(&watch, writer, &err);
	end();
	ok(is(4, NULL, 50000) && is(5, "/tree/new", 60000), "a quota, and a new cgroup");
	ok(n == 10, "and not the one that is gone");
	close_tape();
	drop("tree/new");
}

static void test_none(void)
{
	schedtape_cgroup_watch_open(&watch, "", NULL);
	blob_init(&blob);
	ok(!schedtape_writer_create(blob.path, "{}", NULL, &writer, &err) &&
	   !schedtape_cgroup_watch_all(&watch, writer, &err), "without cgroups");
	again();
	end();
	ok(!n, "there are no entries");
	close_tape();
}

int main(void)
{
	folder_make();
	make_folder();
	test_start_and_end();
	test_changes();
	test_new();
	test_controller();
	test_overflow();
	no_watches = true;
	test_blind("no watches");
	no_queue = true;
	test_blind("no queue");
	test_none();
	folder_remove();
	return tap_done();
}
