// SPDX-License-Identifier: GPL-2.0-only
#include "sample/checkpoint.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "common/criu.h"
#include "common/output.h"
#include "sample/due-timers.h"
#include "sample/internal.h"
#include "sample/open-files.h"
#include "sample/process-tree.h"

#define MARGIN		(1 << 20)	/* bytes of the smaller images, for each process */

static int check(struct checkpoints *checkpoints, struct schedtape_error *err)
{
	const char *program = checkpoints->criu ? checkpoints->criu : "criu";
	struct criu criu;
	int ret;

	if (geteuid())
		return schedtape_fail(err, -EPERM, "only root can take checkpoints; with "
				      "--no-checkpoint the rest works, and \"schedtape replay "
				      "--time\" replays intervals");
	/* It also notes what the kernel can do, which would make the first pause seconds longer. */
	criu_begin(&criu, program, "check", checkpoints->dir, checkpoints->dir);
	ret = criu_run(&criu);
	/* What went wrong is in criu.reason, and the directory shall be empty for the next try. */
	unlink(criu.log);
	criu_end(&criu);
	if (ret == -ENOENT)
		return schedtape_fail(err, ret, "there is no program \"%s\": install the package "
				      "criu, or use --no-checkpoint", program);
	if (ret)
		return schedtape_fail(err, ret, "criu cannot work here: %s; with --no-checkpoint "
				      "the rest works", ret == -EIO ? criu.reason : strerror(-ret));
	/* Here, because a start of criu would make each pause longer. */
	criu_version(program, checkpoints->version, sizeof(checkpoints->version));
	return 0;
}

int checkpoint_open(struct checkpoints *checkpoints, struct schedtape_error *err)
{
	int ret = check(checkpoints, err);

	if (!ret && checkpoints->keep_files) {
		ret = closed_files_open(&checkpoints->closed, checkpoints->workload->path);
		if (ret)
			schedtape_fail(err, ret, "files that the workload writes cannot be "
				       "watched: %s; --files=none keeps none", strerror(-ret));
	}
	return ret;
}

void checkpoint_close(struct checkpoints *checkpoints)
{
	closed_files_free(&checkpoints->closed);
}

int checkpoint_stop(struct checkpoints *checkpoints, struct schedtape_error *err)
{
	return freezer_freeze(&checkpoints->freezer, checkpoints->workload->path, err);
}

/* Returns the size of all files in a folder. */
static uint64_t size_of(const char *folder)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	uint64_t bytes = 0;
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_F)
			bytes += entry->fts_statp->st_size;
	if (tree)
		fts_close(tree);
	return bytes;
}

void checkpoint_go(struct checkpoints *checkpoints, struct json_object *about)
{
	uint64_t pause = freezer_thaw(&checkpoints->freezer);
	char folder[PATH_MAX];

	if (!about)
		return;
	snprintf(folder, sizeof(folder), "%s/%" PRIu64, checkpoints->dir, checkpoints->last);
	out_json_add_count(about, "bytes", size_of(folder));
	out_json_add_count(about, "pause_ns", pause);
	out_json_add_count(about, "timers_due", due_timers(folder, pause));
}

/* -- space ----------------------------------------------------------------- */

/* criu would fail in the middle, and the tape needs the space, too. */
static int check_space(const char *folder, const struct process_tree *processes,
		       const struct open_files *files, bool keep, struct schedtape_error *err)
{
	uint64_t needed = processes->memory + processes->n * MARGIN + (keep ? files->kept : 0);
	struct statvfs fs;
	uint64_t free;

	if (statvfs(folder, &fs))
		return 0;
	free = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (free >= needed)
		return 0;
	return schedtape_fail(err, -ENOSPC, "a checkpoint needs up to %.1f MB, and %.1f MB are "
			      "free in %s", needed / 1e6, free / 1e6, folder);
}

static void remove_tree(const char *folder)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_accpath);
		else if (entry->fts_info != FTS_D)
			unlink(entry->fts_accpath);
	if (tree)
		fts_close(tree);
}

/* -- one checkpoint -------------------------------------------------------- */

static int dump(struct checkpoints *checkpoints, const char *folder, struct schedtape_error *err)
{
	struct criu criu;
	int ret;

	criu_begin(&criu, checkpoints->criu, "dump", folder, folder);
	criu.kept = checkpoints->freezer.guard;
	criu_add(&criu, "--tree");
	criu_add(&criu, "%d", checkpoints->root);
	criu_add(&criu, "--leave-running");
	/* criu thaws what it has seized, and freezes it again: without this it would hang. */
	criu_add(&criu, "--freeze-cgroup");
	criu_add(&criu, "%s", checkpoints->workload->path);
	criu_add(&criu, "--ghost-limit");
	criu_add(&criu, "1G");
	if (checkpoints->incremental)
		criu_add(&criu, "--track-mem");
	if (checkpoints->incremental && checkpoints->last) {
		criu_add(&criu, "--prev-images-dir");
		criu_add(&criu, "../%" PRIu64, checkpoints->last);
	}
	ret = criu_run(&criu);
	if (ret)
		schedtape_fail(err, ret, "criu: %s", ret == -EIO ? criu.reason : strerror(-ret));
	criu_end(&criu);
	return ret;
}

static void describe(const struct checkpoints *checkpoints, const struct open_files *files,
		     const struct process_tree *processes, struct json_object *about)
{
	if (*checkpoints->version)
		json_object_object_add(about, "criu", json_object_new_string(checkpoints->version));
	out_json_add_count(about, "pid", checkpoints->root);
	out_json_add_count(about, "last_pid", processes->last_pid);
	if (checkpoints->incremental && checkpoints->last)
		out_json_add_count(about, "previous", checkpoints->last);
	open_files_describe(files, checkpoints->keep_files, about);
}

int checkpoint_take(struct checkpoints *checkpoints, uint64_t number, struct json_object **about,
		    struct schedtape_error *err)
{
	char folder[PATH_MAX], copies[PATH_MAX + 16], last[PATH_MAX + 32];
	struct process_tree processes = { 0 };
	struct open_files files = { 0 };
	int ret;

	*about = NULL;
	snprintf(folder, sizeof(folder), "%s/%" PRIu64, checkpoints->dir, number);
	snprintf(copies, sizeof(copies), "%s/files", folder);
	snprintf(last, sizeof(last), "%s/%" PRIu64 "/files", checkpoints->dir, checkpoints->last);
	ret = process_tree_find(&processes, checkpoints->workload, checkpoints->root, err);
	if (ret)
		goto out;
	ret = closed_files_read(&checkpoints->closed);
	if (!ret)
		ret = open_files_find(&files, &processes, &checkpoints->closed);
	if (ret) {
		schedtape_fail(err, ret, "open files of the workload: %s", strerror(-ret));
		goto out;
	}
	ret = check_space(checkpoints->dir, &processes, &files, checkpoints->keep_files, err);
	if (ret)
		goto out;
	if (mkdir(folder, 0700)) {
		ret = schedtape_fail(err, -errno, "%s: %s", folder, strerror(errno));
		goto out;
	}
	ret = dump(checkpoints, folder, err);
	/* The workload was stopped: criu has written these. */
	closed_files_skip(&checkpoints->closed);
	if (!ret && checkpoints->keep_files)
		ret = open_files_keep(&files, copies, last, err);
	if (ret) {
		remove_tree(folder);
		/* The kernel notes changes of memory since this dump: make the next one whole. */
		checkpoints->last = 0;
		goto out;
	}
	*about = json_object_new_object();
	describe(checkpoints, &files, &processes, *about);
	checkpoints->last = number;
out:
	open_files_free(&files);
	process_tree_free(&processes);
	return ret;
}
