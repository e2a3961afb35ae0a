// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what the sampler of sched_ext sees of schedulers that come and go, and its
 * result on a kernel without sched_ext.
 */
#include <machine/scheduler.h>

#include "fake-folder.h"
#include "tap.h"

static struct schedtape_watch watch = { .state_fd = -1, .seq_fd = -1 };

/* Writes the files as the kernel has them; @ops NULL: without a scheduler. */
static void put(const char *state, const char *seq, const char *ops)
{
	char path[512];

	folder_put("sched_ext/state", state);
	folder_put("sched_ext/enable_seq", seq);
	folder_put("sched_ext/switch_all", ops ? "1\n" : "0\n");
	folder_put("sched_ext/nr_rejected", "0\n");
	snprintf(path, sizeof(path), "%s/sched_ext/root/ops", folder);
	if (ops)
		folder_put("sched_ext/root/ops", ops);
	else
		unlink(path);
}

static void begin(void)
{
	char root[512];

	schedtape_watch_close(&watch);
	snprintf(root, sizeof(root), "%s/sched_ext", folder);
	schedtape_watch_open(&watch, root);
}

static void sees(const char *state, uint64_t seq, const char *ops, const char *what)
{
	uint64_t before = watch.began;
	bool seen = schedtape_watch_look(&watch);

	if (!ok(seen && !strcmp(watch.now.state, state) && watch.now.enable_seq == seq &&
		!strcmp(watch.now.ops, ops), "%s", what))
		printf("# %s: state %s, enable_seq %llu, ops %s\n", seen ? "seen" : "not seen",
		       watch.now.state, (unsigned long long)watch.now.enable_seq, watch.now.ops);
	ok(watch.now.after == before && watch.now.time > before, "with its times");
}

static void sees_nothing(const char *what)
{
	ok(!schedtape_watch_look(&watch), "%s", what);
}

TEST(none)
{
	begin();
	ok(!schedtape_watch_lives(&watch), "without the folder there is nothing to look at");
	sees("none", 0, "", "a kernel without sched_ext");
	sees_nothing("which stays so");
	schedtape_watch_open(&watch, "/nowhere/kernel/sched_ext");
	sees("unknown", 0, "", "a sysfs that is not mounted");
}

TEST(changes)
{
	put("disabled\n", "3\n", NULL);
	begin();
	ok(schedtape_watch_lives(&watch), "a kernel with it");
	sees("disabled", 3, "", "no scheduler at first");
	sees_nothing("no change");
	put("enabling\n", "3\n", "simple\n");
	sees("enabling", 3, "simple", "one that goes on");
	put("enabled\n", "3\n", "simple\n");
	sees_nothing("one that is not counted yet has not gone on");
	put("enabled\n", "4\n", "simple\n");
	sees("enabled", 4, "simple", "one that has");
	ok(watch.now.switch_all, "for all tasks");
	sees_nothing("no change");
	put("enabled\n", "5\n", "simple\n");
	sees("enabled", 5, "simple", "the same once more");
	put("enabled\n", "6\n", "other\n");
	sees("enabled", 6, "other", "another one");
	put("disabling\n", "6\n", "other\n");
	sees("disabling", 6, "other", "one that goes off");
	put("disabled\n", "6\n", NULL);
	sees("disabled", 6, "", "and has gone");
	ok(!watch.now.switch_all, "a scheduler that is off has no tasks");
	put("disabled\n", "8\n", NULL);
	sees("disabled", 8, "", "two that came and went between two looks");
}

/* Each scheduler has a folder of its own. */
static void put_new_folder(void)
{
	char path[512], old[512];
	static int n;

	snprintf(path, sizeof(path), "%s/sched_ext/root", folder);
	snprintf(old, sizeof(old), "%s/old%d", folder, n++);
	if (rename(path, old))
		perror("Bail out! rename");
}

/* The first look comes before the kernel has counted the scheduler. */
TEST(first_uncounted)
{
	put("enabled\n", "3\n", "simple\n");
	begin();
	sees("enabled", 3, "simple", "the first look");
	put("enabled\n", "4\n", "simple\n");
	ok(schedtape_watch_look(&watch) && !watch.now.after && watch.now.enable_seq == 4,
	   "its count comes later, and is no change");
	sees_nothing("once");
	put_new_folder();
	put("enabled\n", "5\n", "simple\n");
	sees("enabled", 5, "simple", "the same scheduler once more");

	put("enabled\n", "3\n", "simple\n");
	begin();
	sees("enabled", 3, "simple", "another first look");
	put_new_folder();
	put("enabled\n", "4\n", "simple\n");
	sees("enabled", 4, "simple", "the same scheduler once more");
}

/* A failed look does not make the scheduler a different one. */
TEST(unknown)
{
	put("enabled\n", "5\n", "simple\n");
	begin();
	sees("enabled", 5, "simple", "a scheduler");
	folder_put("sched_ext/state", "");
	sees("unknown", 5, "simple", "a state that cannot be read");
	put("enabled\n", "5\n", "simple\n");
	sees("enabled", 5, "simple", "which is the same as before");
	sees_nothing("no change");
	folder_put("sched_ext/enable_seq", "");
	sees("unknown", 5, "simple", "a number that cannot be read");
	put("disabled\n", "5\n", NULL);
	sees("disabled", 5, "", "off");
	folder_put("sched_ext/state", "");
	sees("unknown", 5, "", "again");
	put("enabled\n", "5\n", "simple\n");
	sees("enabling", 5, "simple", "on, and not counted yet");
	put("enabled\n", "6\n", "simple\n");
	sees("enabled", 6, "simple", "and counted");
}

TEST(rejected)
{
	put("enabled\n", "5\n", "simple\n");
	begin();
	sees("enabled", 5, "simple", "a scheduler");
	folder_put("sched_ext/nr_rejected", "7\n");
	sees_nothing("it rejects tasks");
	ok(schedtape_watch_end(&watch) && watch.now.nr_rejected == 7 && watch.now.after &&
	   watch.now.enable_seq == 5, "which the last look sees");
	ok(!schedtape_watch_end(&watch), "once");
	put("disabled\n", "5\n", NULL);
	ok(schedtape_watch_end(&watch) && !strcmp(watch.now.state, "disabled"),
	   "the last look sees a change, too");
}

TEST(from_start)
{
	put("enabled\n", "9\n", "simple\n");
	folder_put("sched_ext/switch_all", "0\n");
	folder_put("sched_ext/nr_rejected", "12\n");
	begin();
	sees("enabled", 9, "simple", "one that is on from the start");
	ok(!watch.now.switch_all && watch.now.nr_rejected == 12, "partially");
	put("a state that is longer than any\n", "9\n", NULL);
	sees("a state that is", 9, "", "a state of a later kernel");
}

int main(void)
{
	char text[600];

	folder_make();
	tap_run();
	memset(text, 'x', sizeof(text));
	folder_write("sched_ext/root/ops", text, sizeof(text));
	folder_put("sched_ext/enable_seq", "10\n");
	ok(schedtape_watch_look(&watch) && strlen(watch.now.ops) == sizeof(watch.now.ops) - 1,
	   "a name that is too long is cut");
	schedtape_watch_close(&watch);
	folder_remove();
	return tap_done();
}
