// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what -o FILE leads to: links are followed, an open descriptor is known by each of
 * its names, and what no tape can be written to is refused; a signal ends the wait for a FIFO's
 * reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <common/destination.h>
#include <common/signals.h>
#include <schedtape-tape.h>

#include "tap.h"

static struct schedtape_error err;

static bool leads_to(const char *name, const char *expected)
{
	char *path = destination_find(name, &err);
	bool right = path && !strcmp(path, expected);

	if (!right)
		printf("# %s: %s\n", name, path ? path : err.text);
	free(path);
	return right;
}

/* The error names the file and has this text. */
static bool refused(const char *name, const char *text)
{
	char *path = destination_find(name, &err);
	bool right = !path && !strncmp(err.text, name, strlen(name)) && strstr(err.text, text);

	if (!right)
		printf("# %s: %s\n", name, path ? path : err.text);
	free(path);
	return right;
}

static void put(const char *path)
{
	close(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

TEST(links)
{
	ok(leads_to("t", "t") && leads_to("/", "/") && leads_to("none/t", "none/t"),
	   "a name that is no link stays as it is, also without a file");
	mkdir("d", 0700);
	ok(leads_to("d//", "d"), "slashes at the end are removed");
	symlink("d", "e");
	ok(leads_to("e/", "d"), "a link to a directory is followed");
	ok(leads_to("e/t", "e/t"), "but not one in the middle of a path");
	symlink("../t", "d/link");
	symlink("d/link", "link");
	ok(leads_to("link", "d/../t"), "links to a file that does not exist are followed");
	put("t");
	ok(leads_to("link", "d/../t"), "as if it did");
	symlink("/dev/null", "null");
	ok(leads_to("null", "/dev/null"), "and a link to a device");
	symlink("loop", "loop");
	ok(refused("loop", "symbolic links"), "links that form a loop are refused: %s", err.text);
	ok(refused("t/u", "name another"), "so is what is in no directory: %s", err.text);
}

/* The old tape is renamed where it is. */
TEST(backup)
{
	char *path = destination_find("link", &err);
	struct backup backup;
	struct stat st;

	ok(path && !backup_old(path, &backup, &err) && backup.old &&
	   !strcmp(backup.old, "d/../t.old") && access("t", F_OK) && !access("t.old", F_OK) &&
	   !lstat("link", &st) && S_ISLNK(st.st_mode),
	   "the tape behind a link becomes the old one");
	backup_undo(&backup);
	ok(!access("t", F_OK) && !lstat("link", &st) && S_ISLNK(st.st_mode), "and comes back");
	free(path);
}

/* In a folder such as /tmp, the kernel does not follow the links of other users, either. */
TEST(trap)
{
	if (geteuid()) {
		ok(true, "# SKIP a link of another user: needs root");
		return;
	}
	mkdir("tmp", 0700);
	chmod("tmp", 01777);
	chown("tmp", 1, 1);
	symlink("/etc/trap", "tmp/t");
	ok(leads_to("tmp/t", "/etc/trap"), "a link of this user in a folder for all");
	lchown("tmp/t", 2, 2);
	ok(refused("tmp/t", "ermission denied"), "but not of another one: %s", err.text);
	chmod("tmp", 0755);
	ok(leads_to("tmp/t", "/etc/trap"), "in other folders it is followed");
	unlink("tmp/t");
	rmdir("tmp");
}

TEST(descriptors)
{
	int fd = open("t", O_WRONLY | O_CLOEXEC), to = fcntl(fd, F_DUPFD, 20), in;
	char name[64], other[64];

	snprintf(name, sizeof(name), "/dev/fd/%d", to);
	ok(leads_to(name, name) && destination_is_stream(name), "a descriptor: %s", name);
	ok(fcntl(to, F_GETFD) & FD_CLOEXEC, "which a command does not get");
	snprintf(other, sizeof(other), "/proc/self/fd/%d", to);
	ok(leads_to(other, name), "by another name");
	symlink(other, "fd");
	ok(leads_to("fd", name), "by a link");
	snprintf(other, sizeof(other), "/proc/%d/fd/%d", getpid(), to);
	ok(leads_to(other, name), "by the PID");
	in = open("t", O_RDONLY | O_CLOEXEC);
	snprintf(other, sizeof(other), "/dev/fd/%d", in);
	ok(refused(other, "not open for writing"), "not one for reading: %s", err.text);
	close(in);
	ok(refused(other, "is not open;"), "nor one that is not open: %s", err.text);
	ok(refused("/dev/fd/1000000", "is not open;"), "nor one that cannot be");
	ok(!destination_is_stream("/dev/fd/") && !destination_is_stream("/dev/fd/1x") &&
	   !destination_is_stream("/dev/fd/99999999999"), "anything else there is a file");
	close(to);
	close(fd);
}

/* find(NAME, FILE, FILE): the same, with these as standard output and standard error */
static char *find(const char *name, const char *out, const char *error)
{
	int stdout_fd = dup(STDOUT_FILENO), stderr_fd = dup(STDERR_FILENO);
	int out_fd = open(out, O_RDWR), error_fd = open(error, O_RDWR);
	char *path;

	dup2(out_fd, STDOUT_FILENO);
	dup2(error_fd, STDERR_FILENO);
	path = destination_find(name, &err);
	dup2(stdout_fd, STDOUT_FILENO);
	dup2(stderr_fd, STDERR_FILENO);
	close(stdout_fd);
	close(stderr_fd);
	close(out_fd);
	close(error_fd);
	return path;
}

static bool is_stdout(const char *name, const char *out, const char *error)
{
	char *path = find(name, out, error);
	bool is = path && !strcmp(path, "-");

	if (!path)
		printf("# %s\n", err.text);
	free(path);
	return is;
}

static bool mixes(const char *name, const char *out, const char *error)
{
	char *path = find(name, out, error);
	bool does = !path && strstr(err.text, "2> FILE");

	free(path);
	return does;
}

TEST(standard_output)
{
	static const char * const names[] = {
		"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "one",
	};
	size_t i;

	symlink("/dev/stdout", "one");
	put("log");
	mkfifo("pipe", 0600);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		ok(is_stdout(names[i], "t", "log") && is_stdout(names[i], "pipe", "log") &&
		   is_stdout(names[i], "/dev/null", "/dev/null") && mixes(names[i], "t", "t"),
		   "%s is standard output, which is not standard error: %s", names[i], err.text);
	ok(is_stdout("pipe", "pipe", "log"), "a pipe is standard output, too");
	ok(!is_stdout("t", "t", "t"), "but not a file, which gets another name");
	ok(mixes("/dev/stderr", "t", "log") && mixes("pipe", "t", "pipe"),
	   "no tape has messages in it: %s", err.text);
}

TEST(streams)
{
	ok(leads_to("pipe", "pipe") && destination_is_stream("pipe") &&
	   leads_to("/dev/null", "/dev/null") && destination_is_stream("/dev/null"),
	   "pipes and devices are streams");
	ok(!destination_is_stream("t") && !destination_is_stream("d") &&
	   !destination_is_stream("none"), "files, directories and what does not exist are not");
	if (mknod("block", S_IFBLK | 0600, makedev(7, 0)))
		ok(true, "# SKIP a block device: needs root");
	else
		ok(refused("block", "block device"), "a block device is refused: %s", err.text);
}

/* A tape goes into an open file where that is, and the rest of the file stays. */
TEST(writer)
{
	int fd = open("t", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct schedtape_writer *writer;
	char path[32], text[16] = "";

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	ok(write(fd, "before", 6) == 6 &&
	   !schedtape_writer_create(path, "{}", NULL, &writer, &err) &&
	   !schedtape_writer_close(writer, &err) && pread(fd, text, 14, 0) == 14 &&
	   !memcmp(text, "beforeSCHEDTAP", 14), "a tape in an open file");
	ok(lseek(fd, 0, SEEK_CUR) > 14, "whose end is behind the tape");
	close(fd);
}

/* As a command that waits for signals with a descriptor. */
TEST(fifo)
{
	struct json_object *meta = json_object_new_object();
	struct schedtape_writer *writer;
	int signals = signals_open(), reader;
	char text[8];

	raise(SIGTERM);
	ok(!mkfifo("fifo", 0600) &&
	   destination_create("fifo", meta, NULL, &writer, &err) == -EINTR &&
	   !strcmp(err.text, "fifo: no process has opened it to read the tape"),
	   "a signal ends the wait for a FIFO's reader");
	ok(signals_read(signals, NULL), "and can be read");
	reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ok(!destination_create("fifo", meta, NULL, &writer, &err) &&
	   !schedtape_writer_close(writer, &err) && read(reader, text, 8) == 8 &&
	   !memcmp(text, "SCHEDTAP", 8), "with a reader it gets the tape");
	close(reader);
	json_object_put(meta);
	close(signals);
}

int main(void)
{
	static const char * const files[] = {
		"t", "e", "d/link", "link", "null", "loop", "fd", "one", "log", "pipe", "block",
		"fifo",
	};
	char dir[] = "/tmp/schedtape-destination-XXXXXX";
	size_t i;

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	tap_run();
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(files[i]);
	rmdir("d");
	return rmdir(dir) || tap_done();
}
