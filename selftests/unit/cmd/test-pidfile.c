// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the pidfile of a recorder: which files it replaces, which locks count, and when the
 * file is removed.
 */
#include <signal.h>
#include <sys/wait.h>

#include "fake-folder.h"
#include "record/process.h"
#include "tap.h"

static char path[64];

/* Returns true if the file has this text. */
static bool has(const char *expected)
{
	char text[64] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return !strcmp(text, expected);
}

static bool has_pid(pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d\n", pid);
	return has(text);
}

/* Opens the pidfile, and closes it at once. */
static int try_open(void)
{
	struct pidfile pidfile = PIDFILE_CLOSED;
	int ret = pidfile_open(&pidfile, path);

	pidfile_close(&pidfile);
	return ret;
}

static bool is_gone(void)
{
	return access(path, F_OK);
}

TEST(alone)
{
	struct pidfile pidfile = PIDFILE_CLOSED;
	mode_t before = umask(0077);
	struct stat st;

	ok(!pidfile_open(&pidfile, path) && has_pid(getpid()), "it has the PID");
	ok(!stat(path, &st) && (st.st_mode & 0777) == 0644 && st.st_nlink == 1,
	   "others can read it, whatever the umask is");
	umask(before);
	pidfile_close(&pidfile);
	ok(is_gone(), "it is removed");
	pidfile_close(&pidfile);
	ok(!pidfile_open(&pidfile, path) && !unlink(path), "somebody removes it");
	folder_put("pid", "1\n");
	pidfile_close(&pidfile);
	ok(has("1\n"), "another file of that name stays");
}

TEST(old)
{
	static const char * const stale[] = { "", "1", "1\n", "4194304\n" };
	static const char * const others[] = { "\n", "1\n\n", "1 ", "-1\n", "a", "1\n2\n" };
	size_t i;

	for (i = 0; i < sizeof(stale) / sizeof(*stale); i++) {
		folder_put("pid", stale[i]);
		ok(!try_open() && is_gone(), "a pidfile without a lock is replaced");
	}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		folder_put("pid", others[i]);
		ok(try_open() == -EEXIST && has(others[i]), "a file that is no pidfile stays");
		unlink(path);
	}
	ok(!mkdir(path, 0700) && try_open() == -EISDIR && !rmdir(path), "nor is a folder replaced");
	ok(!symlink("/tmp", path) && try_open() == -ELOOP && !unlink(path), "nor a link");
}

/* Forks a child that locks the file as @type, or has it as a recorder if that is F_UNLCK. */
static pid_t fork_holder(int type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
	struct pidfile pidfile = PIDFILE_CLOSED;
	int fds[2], fd;
	pid_t pid;
	char c;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid) {
		if (type == F_UNLCK && pidfile_open(&pidfile, path))
			_exit(1);
		fd = type == F_UNLCK ? -1 : open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && fcntl(fd, F_SETLK, &lock))
			_exit(1);
		if (write(fds[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(fds[1]);
	if (read(fds[0], &c, 1) != 1)
		pid = -1;
	close(fds[0]);
	return pid;
}

static void end_holder(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(holders)
{
	pid_t pid = fork_holder(F_UNLCK);

	ok(pid > 0 && has_pid(pid), "another recorder has the file");
	ok(try_open() == -EBUSY && has_pid(pid), "it keeps it as long as it runs");
	end_holder(pid);
	ok(has_pid(pid), "it was killed");
	pid = fork_holder(F_WRLCK);
	ok(pid > 0 && try_open() == -EBUSY, "a lock for writing counts");
	end_holder(pid);
	pid = fork_holder(F_RDLCK);
	ok(pid > 0 && !try_open() && is_gone(),
	   "one for reading does not, because any user may have it");
	end_holder(pid);
}

int main(void)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/pid", folder);
	/* Messages are not looked at. */
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	tap_run();
	ok(!rmdir(folder), "no temporary file is left");
	snprintf(path, sizeof(path), "/none/pid");
	ok(try_open() == -ENOENT, "no folder");
	return tap_done();
}
