// SPDX-License-Identifier: GPL-2.0-only
#include "common/criu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/signals.h"
#include "machine/cgroup-files.h"

/* Exit statuses that are not criu's */
#define NOT_STARTED	127
#define NOT_ENTERED	126

#define FIRST_STREAM	100	/* descriptor, above those that are open here */

void criu_add(struct criu *criu, const char *format, ...)
{
	va_list args;

	if (criu->n == CRIU_WORDS) {
		criu->broken = true;
		return;
	}
	va_start(args, format);
	if (vasprintf(&criu->words[criu->n], format, args) < 0) {
		criu->words[criu->n] = NULL;
		criu->broken = true;
	} else {
		criu->n++;
	}
	va_end(args);
}

void criu_add_stream(struct criu *criu, int stream, const char *name)
{
	if (criu->nr_streams == CRIU_STREAMS) {
		criu->broken = true;
		return;
	}
	criu_add(criu, "--inherit-fd");
	criu_add(criu, "fd[%zu]:%s", FIRST_STREAM + criu->nr_streams, name);
	/* criu takes each descriptor away, so two streams must not share one. */
	criu->streams[criu->nr_streams++] = stream;
}

void criu_begin(struct criu *criu, const char *program, const char *action, const char *images,
		const char *work)
{
	memset(criu, 0, sizeof(*criu));
	criu->terminal = -1;
	criu->kept = -1;
	if (asprintf(&criu->log, "%s/log", work) < 0) {
		criu->log = NULL;
		criu->broken = true;
	}
	criu_add(criu, "%s", program ? program : "criu");
	criu_add(criu, "%s", action);
	criu_add(criu, "--images-dir");
	criu_add(criu, "%s", images);
	criu_add(criu, "--work-dir");
	criu_add(criu, "%s", work);
	criu_add(criu, "--log-file");
	criu_add(criu, "log");
	criu_add(criu, "-v2");
	criu_add(criu, "--shell-job");
	criu_add(criu, "--file-locks");
	/* The caller has made the cgroup.  criu would make those of the dumped tasks again. */
	criu_add(criu, "--manage-cgroups=ignore");
}

void criu_end(struct criu *criu)
{
	while (criu->n)
		free(criu->words[--criu->n]);
	free(criu->log);
	criu->log = NULL;
}

/* -- why it failed --------------------------------------------------------- */

/* Returns the text of an error in a line of the log, or NULL: "(00.1) Error (FILE:LINE): TEXT". */
static const char *error_text(const char *line)
{
	const char *error = strstr(line, "Error ("), *text;

	if (!error)
		return NULL;
	text = strstr(error, "): ");
	return text ? text + strlen("): ") : error;
}

/* Lines that also a run without a failure has, or that only say that it has failed. */
static bool says_nothing(const char *line)
{
	return strstr(line, "FAILED.") || strstr(line, "failed with -1") ||
	       strstr(line, "exited, status=") || strstr(line, "Can't setup RLIMIT_NOFILE") ||
	       strstr(line, "Unable to create tun");
}

/* Copies the first error that explains something; those behind it follow from it. */
static void find_reason(struct criu *criu, FILE *log)
{
	bool found = false;
	char line[1024];
	const char *text;

	while (!found && fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		text = error_text(line);
		if (!text)
			continue;
		snprintf(criu->reason, sizeof(criu->reason), "%s", text);
		found = !says_nothing(line);
	}
}

/* @early: what it wrote before it had a log */
static void explain(struct criu *criu, int early, int status)
{
	FILE *file = fopen(criu->log, "re");

	*criu->reason = '\0';
	if (file) {
		find_reason(criu, file);
		fclose(file);
	}
	if (*criu->reason || early < 0)
		goto out;
	lseek(early, 0, SEEK_SET);
	file = fdopen(dup(early), "re");
	if (file) {
		find_reason(criu, file);
		fclose(file);
	}
out:
	if (*criu->reason)
		return;
	if (WIFSIGNALED(status))
		snprintf(criu->reason, sizeof(criu->reason), "signal %d ended it",
			 WTERMSIG(status));
	else
		snprintf(criu->reason, sizeof(criu->reason), "exit status %d", WEXITSTATUS(status));
}

/* -- running it ------------------------------------------------------------ */

static void __attribute__((noreturn)) child_main(struct criu *criu, int early)
{
	int null = open("/dev/null", O_RDWR), i;

	signals_restore();
	if (criu->in_session)
		setpgid(0, 0);
	else
		setsid();
	for (i = 0; i < (int)criu->nr_streams; i++)
		dup2(criu->streams[i], FIRST_STREAM + i);
	dup2(criu->terminal >= 0 ? criu->terminal : null, STDIN_FILENO);
	for (i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
		dup2(early >= 0 ? early : null, i);
	if (criu->cgroup && schedtape_cgroup_write(criu->cgroup, "cgroup.procs", "0"))
		_exit(NOT_ENTERED);
	if (criu->kept >= 0)
		fcntl(criu->kept, F_SETFD, 0);
	execvp(criu->words[0], criu->words);
	_exit(NOT_STARTED);
}

static void close_streams(const struct criu *criu)
{
	size_t i;

	for (i = 0; i < criu->nr_streams; i++)
		if (criu->streams[i] > STDERR_FILENO)
			close(criu->streams[i]);
}

int criu_run(struct criu *criu)
{
	int early = memfd_create("criu", MFD_CLOEXEC), status = 0;
	pid_t pid;

	*criu->reason = '\0';
	if (criu->broken)
		return -ENOMEM;
	pid = fork();
	if (!pid)
		child_main(criu, early);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	close_streams(criu);
	if (pid > 0 && status)
		explain(criu, early, status);
	if (early >= 0)
		close(early);
	if (pid < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)
		return -ENOENT;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ENTERED)
		snprintf(criu->reason, sizeof(criu->reason), "cannot enter the cgroup %s",
			 criu->cgroup);
	return status ? -EIO : 0;
}

int criu_version(const char *program, char *version, size_t size)
{
	char *const words[] = { (char *)(program ? program : "criu"), "--version", NULL };
	static const char key[] = "Version: ";
	char line[128] = "";
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		signals_restore();
		dup2(ends[1], STDOUT_FILENO);
		execvp(words[0], words);
		_exit(NOT_STARTED);
	}
	close(ends[1]);
	n = pid > 0 ? read(ends[0], line, sizeof(line) - 1) : 0;
	close(ends[0]);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n <= 0 || strncmp(line, key, strlen(key)))
		return -ENOENT;
	line[strcspn(line, "\n")] = '\0';
	snprintf(version, size, "%s", line + strlen(key));
	return 0;
}
