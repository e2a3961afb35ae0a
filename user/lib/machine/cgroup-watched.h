/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cgroup that is watched, its files, and records of such cgroups.
 */
#ifndef SCHEDTAPE_CGROUP_WATCHED_H
#define SCHEDTAPE_CGROUP_WATCHED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tape/json.h>

struct schedtape_error;
struct schedtape_writer;

/* Entries of a record; few, so that its times are close. */
#define SCHEDTAPE_CGROUP_RECORD	256

/**
 * struct schedtape_cgroup_look - a cgroup, as it was between two times
 * @began, @time: before and after its files were read, ns of CLOCK_MONOTONIC
 * @max: its quota, as in cpu.max; "": none
 * @stat: cpu.stat, as JSON
 * @quiet: the quota is that of the look before
 */
struct schedtape_cgroup_look {
	uint64_t began;
	uint64_t time;
	char max[SCHEDTAPE_QUOTA_LEN];
	char *stat;
	bool quiet;
};

/**
 * struct schedtape_cgroup_watched - a cgroup that is watched
 * @id: the kernel's id
 * @path: below the root of the hierarchy
 * @max: its quota on the tape, as in cpu.max; "": none
 * @wd: of inotify; -1: it has no more watches
 * @named: its path is on the tape
 * @changed: its quota may be another one than @max, or that of the last look
 * @looks: in memory: @nr_looks, by time
 * @quiet: how many of them are quiet
 * @removed: if it is gone: when that was noticed, ns of CLOCK_MONOTONIC
 */
struct schedtape_cgroup_watched {
	uint64_t id;
	char *path;
	char max[SCHEDTAPE_QUOTA_LEN];
	int wd;
	bool named;
	bool changed;
	struct schedtape_cgroup_look *looks;
	size_t nr_looks;
	size_t quiet;
	uint64_t removed;
};

void schedtape_cgroup_free(struct schedtape_cgroup_watched *cgroup);

/* Names a cgroup's file.  @mount: where the hierarchy is.  Returns false: the name is too long. */
bool schedtape_cgroup_file(const char *mount, const char *path, const char *name,
			   char file[PATH_MAX]);
/* Reads cpu.max.  "": there is no quota. */
void schedtape_cgroup_read_quota(const char *mount, const char *path,
				 char max[SCHEDTAPE_QUOTA_LEN]);
/*
 * Describes a cgroup for META: settings that differ from those of a new cgroup, and the weight,
 * which shows that the cpu controller is enabled.  @folder: where its files are.
 */
struct json_object *schedtape_cgroup_describe(const char *folder, const char *path, uint64_t id);
/* Returns the lines of cpu.stat, "nr_throttled 3"; NULL: the cgroup is gone. */
struct json_object *schedtape_cgroup_read_counts(const char *mount, const char *path);

/**
 * struct schedtape_cgroup_record - a record that is being made
 * @entries: counts the entries that are on the tape
 * @list: the record's entries; NULL as long as none has been added
 * @began, @time: before the first cgroup was read, and after the last; @time may be 0: now
 */
struct schedtape_cgroup_record {
	struct schedtape_writer *writer;
	size_t *entries;
	struct json_object *list;
	uint64_t began;
	uint64_t time;
};

/*
 * Adds a cgroup, and writes the record if it is full.  @stat: taken over; NULL: not known.  Returns
 * 0 or -errno.
 */
int schedtape_cgroup_record_add(struct schedtape_cgroup_record *record,
				struct schedtape_cgroup_watched *cgroup, const char *max,
				struct json_object *stat, struct schedtape_error *err);
/* Writes the record, if it has entries.  Returns 0 or -errno. */
int schedtape_cgroup_record_put(struct schedtape_cgroup_record *record,
				struct schedtape_error *err);

#endif /* SCHEDTAPE_CGROUP_WATCHED_H */
