// SPDX-License-Identifier: GPL-2.0-only
#include "record/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-journal.h>

#include "base/sched-attr.h"
#include "common/color.h"
#include "common/output.h"
#include "common/signals.h"

#define PIDFILE_TRIES	10		/* other recorders may replace the file at the same time */
#define LOG_IDENTIFIER	"schedtape"	/* journalctl -t schedtape */

/* -- the lock of a PID file ------------------------------------------------ */

/*
 * The file is made and locked under a temporary name, so that a reader never finds an incomplete
 * one.  The lock is one of fcntl(2), for writing: a user who can only read the file can lock it
 * for reading, which does not count.
 */

/* Locks a file.  Returns 0; the PID of the process that has locked it for writing; -errno. */
static int lock_file(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!fcntl(fd, F_SETLK, &lock))
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return -errno;
	if (fcntl(fd, F_GETLK, &lock))
		return -errno;
	if (lock.l_type != F_WRLCK)
		return 0;
	/* A process of another PID namespace has the PID 0 here. */
	return lock.l_pid > 0 ? lock.l_pid : -EBUSY;
}

static bool has_name(int fd, const char *path)
{
	struct stat file, named;

	return !fstat(fd, &file) && !lstat(path, &named) && file.st_dev == named.st_dev &&
	       file.st_ino == named.st_ino;
}

/* -- the old PID file ------------------------------------------------------ */

/* Returns true for a file that has a number and perhaps a newline, or nothing. */
static bool is_pidfile(int fd)
{
	char text[32];
	struct stat st;
	ssize_t n;
	size_t digits;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return false;
	text[n] = '\0';
	digits = strspn(text, "0123456789");
	return (size_t)n == digits || (digits && (size_t)n == digits + 1 && text[digits] == '\n');
}

static int say_busy(const char *path, int pid)
{
	if (pid > 0)
		out_error(path, "the recorder with PID %d has this pidfile: end it, or name "
			  "another file", pid);
	else
		out_error(path, "another recorder has this pidfile: end it, or name another file");
	return -EBUSY;
}

/* Replaces the file @old.  Returns 0; -EAGAIN: it is gone; -errno after a message. */
static int replace_pidfile(int old, const char *path, const char *temporary)
{
	int ret;

	if (!is_pidfile(old)) {
		out_error(path, "this is no pidfile, so it is not replaced: name another file");
		return -EEXIST;
	}
	ret = lock_file(old);
	if (ret > 0 || ret == -EBUSY)
		return say_busy(path, ret);
	if (!ret && !has_name(old, path))
		return -EAGAIN;
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		out_error(path, "%s", strerror(-ret));
	return ret;
}

/* Gives the new file its name.  Returns as replace_pidfile() does. */
static int name_pidfile(const char *path, const char *temporary)
{
	int old, ret;

	old = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (old >= 0) {
		ret = replace_pidfile(old, path, temporary);
		close(old);
		return ret;
	}
	ret = -errno;
	if (ret == -ENOENT) {
		if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE))
			return 0;
		ret = errno == EEXIST ? -EAGAIN : -errno;
	}
	if (ret != -EAGAIN)
		out_error(path, "%s", strerror(-ret));
	return ret;
}

/* -- the new PID file ------------------------------------------------------ */

/* Makes the file, and locks it before others can open it.  Returns its descriptor or -errno. */
static int make_pidfile(const char *temporary)
{
	int fd;

	/* A process of this PID may have left it. */
	unlink(temporary);
	fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (!lock_file(fd) && dprintf(fd, "%d\n", getpid()) > 0 && !fchmod(fd, 0644))
		return fd;
	close(fd);
	unlink(temporary);
	return -EIO;
}

int pidfile_open(struct pidfile *pidfile, const char *path)
{
	int fd, ret = -ENOMEM, tries = PIDFILE_TRIES;
	char *temporary;

	if (asprintf(&temporary, "%s.%d", path, getpid()) < 0)
		return ret;
	fd = make_pidfile(temporary);
	if (fd < 0) {
		out_error(path, "cannot be written: %s", strerror(-fd));
		free(temporary);
		return fd;
	}
	do {
		ret = name_pidfile(path, temporary);
	} while (ret == -EAGAIN && --tries);
	if (ret == -EAGAIN)
		ret = say_busy(path, 0);
	if (ret) {
		unlink(temporary);
		close(fd);
	} else {
		pidfile->path = path;
		pidfile->fd = fd;
	}
	free(temporary);
	return ret;
}

void pidfile_close(struct pidfile *pidfile)
{
	if (pidfile->fd < 0)
		return;
	if (has_name(pidfile->fd, pidfile->path))
		unlink(pidfile->path);
	close(pidfile->fd);
	pidfile->fd = -1;
}

/* -- lines with the time, in a log ----------------------------------------- */

static bool write_all(const char *text, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(STDERR_FILENO, text, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text += n;
		size -= n;
	}
	return true;
}

/* Writes what is a line, or several of them, to standard error, with the time before it. */
static ssize_t put_line(void *unused, const char *text, size_t size)
{
	time_t now = time(NULL);
	char *line, when[32];
	struct tm utc;
	int n;

	(void)unused;
	if (!gmtime_r(&now, &utc))
		return 0;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	n = asprintf(&line, "%s %.*s", when, (int)size, text);
	if (n < 0)
		return 0;
	/* In one piece, because other processes may write to the file, too. */
	n = write_all(line, n);
	free(line);
	return n ? (ssize_t)size : 0;
}

/* Makes stderr a stream whose lines get the time.  Its descriptor remains the same. */
static void add_times(void)
{
	FILE *lines = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = put_line });

	if (!lines)
		return;
	setvbuf(lines, NULL, _IOLBF, BUFSIZ);
	stderr = lines;
}

/* -- the log --------------------------------------------------------------- */

void log_use_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	if (stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	    !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode)
		out_show_levels();
}

/* Returns a descriptor, or -errno. */
static int connect_log(const struct log *log)
{
	int fd;

	if (log->journal)
		return sd_journal_stream_fd(LOG_IDENTIFIER, LOG_INFO, true);
	fd = open(log->path ? log->path : "/dev/null",
		  O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC, 0640);
	return fd < 0 ? -errno : fd;
}

int log_open(struct log *log, const char *name)
{
	log->journal = !name || !strcmp(name, "journal");
	log->path = log->journal ? NULL : name;
	log->fd = connect_log(log);
	if (log->fd < 0 && !name) {
		out_warning(NULL, "--daemon: there is no journal here, so messages are lost from "
			    "now on: give --log FILE");
		log->journal = false;
		log->fd = connect_log(log);
	}
	if (log->fd < 0)
		out_error(NULL, "--log %s: %s", name ? name : "/dev/null", strerror(-log->fd));
	return log->fd < 0 ? log->fd : 0;
}

void log_take_over(struct log *log)
{
	fflush(stderr);
	dup2(log->fd, STDERR_FILENO);
	log_close(log);
	/* Colours were for the caller's terminal. */
	color_begin();
	if (log->journal)
		out_show_levels();
	else
		add_times();
}

void log_reopen(struct log *log)
{
	int fd = connect_log(log);

	if (fd < 0) {
		out_warning(NULL, "--log: cannot be opened again: %s", strerror(-fd));
		return;
	}
	dup2(fd, STDERR_FILENO);
	close(fd);
}

void log_close(struct log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

/* -- the background -------------------------------------------------------- */

/* Waits until the recorder has begun, or ended without that.  Returns the caller's exit status. */
static int wait_for_recorder(pid_t pid, int from_recorder)
{
	int status = 0;
	ssize_t n;
	char c;

	do {
		n = read(from_recorder, &c, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	if (waitpid(pid, &status, 0) != pid)
		return CMD_FAILURE;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	out_error(NULL, "--daemon: the recorder was killed by signal %d before it began",
		  WTERMSIG(status));
	return CMD_FAILURE;
}

/* Closes what the caller has open, so that nobody waits for the end of a pipe or for a lock. */
static void close_files(int but)
{
	if (but > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, but - 1, 0);
	close_range(but + 1, ~0U, 0);
}

int daemon_start(struct daemon *daemon, const struct daemon_options *options)
{
	int fds[2], ret;
	pid_t pid;

	daemon->options = options;
	log_use_journal();
	if (!options->background)
		return 0;
	if (pipe2(fds, O_CLOEXEC)) {
		ret = -errno;
		out_error(NULL, "--daemon: %s", strerror(-ret));
		return ret;
	}
	pid = fork();
	if (pid > 0) {
		close(fds[1]);
		exit(wait_for_recorder(pid, fds[0]));
	}
	ret = pid < 0 ? -errno : 0;
	close(fds[0]);
	daemon->caller = fds[1];
	if (ret) {
		out_error(NULL, "--daemon: %s", strerror(-ret));
		return ret;
	}
	if (!options->keep_files)
		close_files(fds[1]);
	signals_take_hangups();
	return 0;
}

int daemon_open(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	int ret = 0;

	if (options->pidfile)
		ret = pidfile_open(&daemon->pidfile, options->pidfile);
	if (!ret && options->background)
		ret = log_open(&daemon->log, options->log);
	return ret;
}

int daemon_begun(struct daemon *daemon)
{
	int null;

	if (!daemon->options->background)
		return 0;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0) {
		out_error("/dev/null", "%s", strerror(errno));
		return -EIO;
	}
	/*
	 * Not before: until now, Ctrl-C ends the caller and this process.  The working directory
	 * stays, because paths may be relative.
	 */
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
	log_take_over(&daemon->log);
	/* SIGPIPE is ignored: see signals_survive_writes(). */
	if (write(daemon->caller, "", 1) != 1) {
		out_error(NULL, "--daemon: the process that waited for the start was killed: "
			  "nothing is recorded");
		return -EPIPE;
	}
	close(daemon->caller);
	daemon->caller = -1;
	return 0;
}

void daemon_reopen(struct daemon *daemon)
{
	log_reopen(&daemon->log);
}

void daemon_close(struct daemon *daemon)
{
	pidfile_close(&daemon->pidfile);
	log_close(&daemon->log);
	if (daemon->caller >= 0)
		close(daemon->caller);
	daemon->caller = -1;
}

/* -- the command ----------------------------------------------------------- */

/* With SCHED_RESET_ON_FORK this process has lost what the recorder was started with. */
static void keep_priority(const struct sched_attributes *before)
{
	if (before->flags & SCHED_ATTR_RESET_ON_FORK)
		sched_attr_set(before);
}

static void child_main(char **command, bool to_stderr, const struct sched_attributes *before,
		       int go, int error)
{
	int code, fd;
	char c;

	/* Without a byte the recorder has failed before child_go(). */
	if (read(go, &c, 1) != 1)
		_exit(1);
	signals_restore();
	keep_priority(before);
	if (to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (standard_was_missing(fd))
			close(fd);
	execvp(command[0], command);
	code = errno;
	if (write(error, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* Returns the state of a process from /proc, or 0 if that cannot be read. */
static char state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* The child has this program's name, so the first ")" ends it. */
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

/*
 * Waits until the child sleeps, for 100 ms at most, so that the recording begins with its
 * wake-up.  If the child was still running then, its replay would have one wake-up more, because
 * its player has to wait for the start.
 */
static void wait_until_asleep(pid_t pid)
{
	int tries;
	char state;

	for (tries = 0; tries < 100; tries++) {
		state = state_of(pid);
		if (state != 'R' && state != 'D')
			break;
		usleep(1000);
	}
}

int child_fork(struct child *child, char **command, bool to_stderr)
{
	struct sched_attributes before = { 0 };
	int go[2], error[2];

	sched_attr_get(&before);
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		close(error[0]);
		child_main(command, to_stderr, &before, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	child->go = go[1];
	child->error = error[0];
	if (child->pid < 0)
		return -errno;
	wait_until_asleep(child->pid);
	return 0;
}

int child_go(struct child *child)
{
	int code = 0;

	if (write(child->go, "", 1) != 1)
		return -errno;
	child->gone = true;
	if (read(child->error, &code, sizeof(code)) != sizeof(code))
		code = 0;
	return -code;
}

void child_reap(struct child *child)
{
	if (child->pid > 0 && !child->ended)
		child->ended = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
}

void child_end(struct child *child)
{
	if (child->pid <= 0)
		return;
	close(child->go);
	close(child->error);
	if (!child->gone && !child->ended)
		child->ended = waitpid(child->pid, &child->status, 0) == child->pid;
	if (!child->ended)
		kill(child->pid, SIGTERM);
}
