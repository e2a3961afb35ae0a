// SPDX-License-Identifier: GPL-2.0-only
#include "record/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-journal.h>

#include "common/color.h"
#include "common/output.h"

#define IDENTIFIER	"schedtape"	/* journalctl -t schedtape */

/* -- lines with the time --------------------------------------------------- */

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
static ssize_t put(void *unused, const char *text, size_t size)
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
	FILE *lines = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = put });

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
		return sd_journal_stream_fd(IDENTIFIER, LOG_INFO, true);
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
