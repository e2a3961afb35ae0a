// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: when one of the tapes of --switch-output ends, the names of these tapes, and which
 * of them are kept, by clocks that the test controls.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "fake-folder.h"
#include "record/internal.h"
#include "tap.h"

static struct timespec mono = { .tv_sec = 1 };
/* 2026-11-27 12:45:01.999999 UTC */
static const struct timespec real = { .tv_sec = 1795783501, .tv_nsec = 999999400 };

int clock_gettime(clockid_t id, struct timespec *ts)
{
	*ts = id == CLOCK_REALTIME ? real : mono;
	return 0;
}

TEST(forms)
{
	static const char * const bad[] = {
		"", "10", "0s", "0K", "-1s", "1x", "signal ", "Signal", "K", "s", "1.5K", "1KB",
		"1 s", "99999999999999999999K", "1e99s", "0.1ms",
	};
	struct parts parts = { .nr = 0 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!parts_parse(&parts, bad[i]), "not --switch-output=%s", bad[i]);
	ok(parts_parse(&parts, "signal") && parts.end == PARTS_SIGNAL, "signal");
	ok(parts_parse(&parts, "10M") && parts.end == PARTS_SIZE && parts.bytes == 10 << 20,
	   "10M is a size");
	ok(parts_parse(&parts, "10m") && parts.end == PARTS_TIME && parts.ms == 600000,
	   "10m is a time");
	ok(parts_parse(&parts, "1.5d") && parts.ms == 129600000, "1.5d");
}

TEST(due)
{
	struct parts parts = { .end = PARTS_SIGNAL };

	parts_begin(&parts);
	mono.tv_sec += 1000000;
	ok(!parts_due(&parts, UINT64_MAX), "only a signal ends such a tape");
	ok(parts_wait(&parts, 700) == 700, "which nothing waits for");
	parts_parse(&parts, "1K");
	ok(!parts_due(&parts, 1023) && parts_due(&parts, 1024), "a size is reached");
	parts_parse(&parts, "2s");
	parts_begin(&parts);
	ok(!parts_due(&parts, UINT64_MAX) && parts_wait(&parts, 5000) == 2000, "2 s are left");
	mono.tv_sec += 1;
	ok(parts_wait(&parts, 5000) == 1000 && parts_wait(&parts, 300) == 300, "1 s is left");
	mono.tv_sec += 1;
	ok(parts_due(&parts, 0) && !parts_wait(&parts, 5000), "it is over");
	mono.tv_sec += 100;
	ok(parts_due(&parts, 0) && !parts_wait(&parts, 5000), "and stays so");
}

/* Ends a tape with this text. */
static int end_tape(struct parts *parts, const char *text)
{
	struct schedtape_error err;
	char path[64];

	folder_put("t", text);
	snprintf(path, sizeof(path), "%s/t", folder);
	if (parts_name(parts, path, strlen(text), &err))
		return -1;
	parts_prune(parts);
	return 0;
}

static bool is_there(const char *time)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/t.%s", folder, time);
	return !access(path, F_OK);
}

TEST(names)
{
	struct parts parts = { .nr = 0 };
	char path[64];

	folder_make();
	ok(!end_tape(&parts, "one") && is_there("20261127T124501.999999Z"), "named by the time");
	ok(strstr(parts_last(&parts), "/t.20261127T124501.999999Z"), "and so it says");
	ok(!end_tape(&parts, "two") && is_there("20261127T124502.000000Z"),
	   "the next microsecond, if there is such a tape");
	ok(!end_tape(&parts, "three") && is_there("20261127T124502.000001Z"), "and so on");
	snprintf(path, sizeof(path), "%s/t", folder);
	ok(access(path, F_OK) && parts.nr == 3, "three tapes are kept");
	parts_free(&parts);
	ok(!parts.nr, "none is known any more");
	folder_remove();
}

/* How many files there are whose names begin so. */
static unsigned int count_files(const char *begin)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned int n = 0;

	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, begin, strlen(begin));
	closedir(dir);
	return n;
}

TEST(files)
{
	struct parts_file file = PARTS_NO_FILE;
	struct parts parts = { .nr = 0 };
	struct schedtape_error err;
	char path[64], name[80];
	char *merged;

	folder_make();
	snprintf(path, sizeof(path), "%s/t", folder);
	parts_drop(&file);
	ok(!parts_create(&file, path, &err) && write(file.fd, "one", 3) == 3, "a file");
	ok(!count_files("t.20"), "without its name");
	ok(!parts_keep(&parts, path, NULL, &file, 3, &err) && is_there("20261127T124501.999999Z"),
	   "has it when it is complete");
	parts_drop(&file);
	ok(file.fd < 0 && is_there("20261127T124501.999999Z"), "and keeps it");
	parts_create(&file, path, &err);
	ok(!parts_keep(&parts, path, NULL, &file, 3, &err) && is_there("20261127T124502.000000Z"),
	   "the next one has another name");
	parts_drop(&file);
	parts_create(&file, path, &err);
	parts_drop(&file);
	ok(count_files("t") == 2, "one that is dropped is gone");
	parts_create(&file, path, &err);
	merged = parts_name_merged(path, &file, &err);
	parts_drop(&file);
	ok(merged && is_there("merged.20261127T124501.999999Z") && parts.nr == 2,
	   "a merged tape has another name, and is not one of those that are kept");
	unlink(merged);
	free(merged);
	parts_create(&file, path, &err);
	ok(!parts_keep(&parts, path, "late", &file, 3, &err) &&
	   is_there("late.20261127T124501.999999Z"), "that of a trigger has the trigger's name");
	parts_drop(&file);
	/* As on a file system that makes no files without names. */
	snprintf(name, sizeof(name), "%s.new", path);
	file = (struct parts_file){ .fd = open(name, O_WRONLY | O_CREAT, 0600),
				    .path = strdup(name) };
	ok(!parts_keep(&parts, path, NULL, &file, 3, &err) && is_there("20261127T124502.000001Z") &&
	   count_files("t") == 4, "a file with a name is renamed");
	parts_drop(&file);
	ok(count_files("t") == 4, "and stays");
	ok(parts_create(&file, "/none/t", &err) == -ENOENT &&
	   strstr(err.text, "/none/t: No such file"), "%s", err.text);
	parts_free(&parts);
	folder_remove();
}

/* Makes FILE.old and perhaps FILE.old.older, as backup_old() leaves them. */
static void make_old(struct backup *backup, const char *older)
{
	struct timespec times[2] = { real, real };
	char path[64];

	memset(backup, 0, sizeof(*backup));
	folder_put("t.old", "killed");
	snprintf(path, sizeof(path), "%s/t.old", folder);
	utimensat(AT_FDCWD, path, times, 0);
	backup->old = strdup(path);
	if (!older)
		return;
	folder_put("t.old.older", older);
	snprintf(path, sizeof(path), "%s/t.old.older", folder);
	backup->older = strdup(path);
}

TEST(old)
{
	struct backup backup = { NULL };
	char path[64];

	folder_make();
	snprintf(path, sizeof(path), "%s/t", folder);
	parts_keep_old(path, &backup);
	make_old(&backup, NULL);
	parts_keep_old(path, &backup);
	ok(is_there("20261127T124501.999999Z") && !is_there("old") && !backup.old,
	   "the tape of a recorder that was killed has the time of its last change");
	make_old(&backup, "older");
	parts_keep_old(path, &backup);
	ok(is_there("20261127T124502.000000Z") && is_there("old") && !is_there("old.older") &&
	   !backup.old && !backup.older, "another one as well, and the one before keeps its name");
	folder_remove();
}

TEST(missing)
{
	struct parts parts = { .nr = 0 };
	struct schedtape_error err;

	ok(parts_name(&parts, "/none/t", 1, &err) == -ENOENT && !parts.nr &&
	   strstr(err.text, "/none/t: cannot be renamed: No such file"), "%s", err.text);
	parts_free(&parts);
}

TEST(limits)
{
	struct parts parts = { .max_files = 2 };

	folder_make();
	end_tape(&parts, "one");
	end_tape(&parts, "two");
	ok(parts.nr == 2, "two are kept");
	end_tape(&parts, "three");
	ok(parts.nr == 2 && !is_there("20261127T124501.999999Z") &&
	   is_there("20261127T124502.000000Z"), "then the oldest one is removed");
	/* The name of the first is free again. */
	end_tape(&parts, "four");
	ok(parts.nr == 2 && is_there("20261127T124501.999999Z") &&
	   !is_there("20261127T124502.000000Z"), "by age, not by name");
	parts.max_files = 0;
	parts.max_bytes = 9;
	end_tape(&parts, "five");
	ok(parts.nr == 2 && parts.kept[0].bytes == 4, "two take no more than 9 bytes");
	end_tape(&parts, "a long one");
	ok(parts.nr == 1 && parts.kept[0].bytes == 10, "the last one stays, however long it is");
	unlink(parts_last(&parts));
	end_tape(&parts, "another one");
	ok(parts.nr == 1, "one that its user has removed is forgotten");
	parts_pin(&parts, true);
	end_tape(&parts, "a very long one");
	ok(parts.nr == 2 && parts.kept[0].bytes == 11, "one that is read stays");
	end_tape(&parts, "the next one");
	ok(parts.nr == 2 && parts.kept[0].bytes == 11 && parts.kept[1].bytes == 12,
	   "but none that has come since, except the last one");
	parts_pin(&parts, false);
	parts_prune(&parts);
	ok(parts.nr == 1 && parts.kept[0].bytes == 12, "until it is not read any more");
	parts_free(&parts);
	folder_remove();
}

TEST_MAIN
