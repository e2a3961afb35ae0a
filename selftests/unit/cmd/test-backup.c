// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: an old tape is renamed for a new one, and nothing else that only has a tape's
 * names is.  An empty directory keeps its name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <common/destination.h>

#include "tap.h"

#define TAPE	"SCHEDTAP and what comes then"

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file)) {
		printf("Bail out! %s\n", path);
		exit(1);
	}
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* A directory that is not a tape keeps its name, and its file. */
static void stays(const char *file, const char *what)
{
	struct schedtape_error err = { "" };
	struct backup backup;

	ok(backup_old("t", &backup, &err) == -EEXIST && !backup.old &&
	   strstr(err.text, "not a tape") && is_there(file) && !is_there("t.old"),
	   "%s is left alone: %s", what, err.text);
	backup_undo(&backup);
	ok(is_there(file), "%s is still there after an undo", file);
}

TEST(others)
{
	mkdir("t", 0700);
	put("t/data", "my data, for years");
	stays("t/data", "a folder with a file \"data\"");
	put("t/data", "SCHED");
	stays("t/data", "one with less than a tape's beginning");
	put("t/data", TAPE);
	put("t/data.1", "my data, too");
	stays("t/data.1", "a tape with something else beside it");
	unlink("t/data.1");
	put("t/notes", "");
	stays("t/notes", "one with another name in it");
	unlink("t/notes");
	symlink("/dev/null", "t/data.2");
	stays("t/data.2", "one with a link");
	unlink("t/data.2");
	mkfifo("t/data.3", 0600);
	stays("t/data.3", "one with a pipe");
	unlink("t/data.3");
	mkdir("t/data.4", 0700);
	stays("t/data.4", "one with a folder");
	rmdir("t/data.4");
}

TEST(tape)
{
	struct schedtape_error err = { "" };
	struct backup backup;

	put("t/data.0", "");
	ok(!backup_old("t", &backup, &err) && backup.old && !strcmp(backup.old, "t.old") &&
	   is_there("t.old/data.0") && !is_there("t"), "a tape becomes the old one");
	mkdir("t", 0700);
	put("t/data", "");
	backup_undo(&backup);
	ok(is_there("t/data.0") && !is_there("t.old"), "and comes back, if there is no new one");

	mkdir("t.old", 0700);
	ok(backup_old("t", &backup, &err) == -EEXIST && !backup.old && is_there("t/data") &&
	   is_there("t.old"), "no tape takes the place of an empty folder: %s", err.text);
	put("t.old/data", "mine");
	ok(backup_old("t", &backup, &err) == -EEXIST && !backup.old && is_there("t.old/data") &&
	   is_there("t/data") && strstr(err.text, "not a tape"),
	   "nor takes it the place of something else: %s", err.text);
	put("t.old/data", TAPE);
	ok(!backup_old("t", &backup, &err) && is_there("t.old/data.0") && backup.older &&
	   is_there(backup.older), "but that of a tape");
	backup_done(&backup);
	ok(is_there("t.old/data.0"), "which goes when there is a new one");
	ok(!unlink("t.old/data.0") && !unlink("t.old/data") && !rmdir("t.old"),
	   "and nothing else is left");
}

static bool refused(const char *input, const char *output)
{
	struct schedtape_error err = { "" };
	int ret = backup_refuse(input, output, &err);

	return ret == -EEXIST && strstr(err.text, output) && strstr(err.text, "that is read");
}

/* An empty directory, made by somebody or left by a killed recorder, becomes the tape. */
TEST(empty)
{
	struct schedtape_error err = { "" };
	struct backup backup;

	mkdir("t", 0700);
	ok(!backup_old("t", &backup, &err) && !backup.old && is_there("t") && !is_there("t.old"),
	   "an empty folder keeps its name");
	put("t/data", TAPE);
	put("t/data.0", "");
	backup_undo(&backup);
	ok(is_there("t") && !is_there("t/data") && !is_there("t/data.0"),
	   "a failed recording leaves it empty");
	ok(!backup_old("t", &backup, &err), "and another one may use it");
	put("t/data", TAPE);
	backup_done(&backup);
	ok(is_there("t/data"), "and its tape stays");
	unlink("t/data");
	ok(!rmdir("t"), "with nothing beside it");
}

/* A recording that fails leaves an empty directory, which is removed. */
TEST(failed)
{
	struct schedtape_error err = { "" };
	struct backup backup;

	ok(!backup_old("t", &backup, &err) && !mkdir("t", 0700), "a new tape is a directory");
	backup_undo(&backup);
	ok(!is_there("t"), "which goes if nothing was written");
}

TEST(input)
{
	struct schedtape_error err = { "" };

	put("t", TAPE);
	put("t.old", TAPE);
	put("u", TAPE);
	ok(refused("t", "t") && refused("./t", "t"), "no output is written over its input");
	ok(refused("t.old", "t"), "nor may its place be that of the last one");
	ok(!backup_refuse("t", "u", &err) && !backup_refuse("t", "-", &err) &&
	   !backup_refuse("t", "t.old", &err) && !backup_refuse("none", "t", &err),
	   "anything else may be there");
	if (!freopen("t.old", "r", stdin))
		exit(1);
	ok(refused("-", "t") && !backup_refuse("-", "u", &err), "standard input is a file, too");
	unlink("t");
	unlink("t.old");
	unlink("u");

	mkdir("t", 0700);
	put("t/data", TAPE);
	ok(refused("t", "t/new") && refused("t/data", "t"), "or a directory, with files");
	rename("t", "t.old");
	ok(refused("t.old/data", "t"), "or one that is kept");
	unlink("t.old/data");
	rmdir("t.old");
}

int main(void)
{
	char dir[] = "/tmp/schedtape-backup-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	tap_run();
	return rmdir(dir) || tap_done();
}
