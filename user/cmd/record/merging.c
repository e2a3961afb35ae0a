// SPDX-License-Identifier: GPL-2.0-only
/* A merge of snapshots into one tape, by a process of its own. */
#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "common/output.h"
#include "common/signals.h"

#define LOWEST_NICE	19
/* Of ioprio_set(2), which has no header. */
#define IO_OF_PROCESS	1
#define IO_IDLE		(3 << 13)

static const char * const merge_command[] = { "schedtape", "merge", "-q", "-o", "-", "--" };

#define MERGE_WORDS	(sizeof(merge_command) / sizeof(*merge_command))

/* Returns the command line, which the caller frees, or NULL.  Some snapshots may be gone. */
static char **merge_command_line(struct merging *merging, const struct parts *parts)
{
	char **words = calloc(MERGE_WORDS + parts->nr + 1, sizeof(*words));
	size_t i;

	if (!words)
		return NULL;
	for (i = 0; i < MERGE_WORDS; i++)
		words[i] = (char *)merge_command[i];
	merging->snapshots = 0;
	for (i = 0; i < parts->nr; i++)
		if (!access(parts->kept[i].path, F_OK))
			words[MERGE_WORDS + merging->snapshots++] = parts->kept[i].path;
	return words;
}

static void set_lowest_priority(void)
{
	const struct sched_param param = { 0 };

	streamers_leave();
	sched_setscheduler(0, SCHED_BATCH, &param);
	setpriority(PRIO_PROCESS, 0, LOWEST_NICE);
	syscall(SYS_ioprio_set, IO_OF_PROCESS, 0, IO_IDLE);
}

/*
 * A program of its own does not have the session's file open, which would let the session live on
 * when the recorder is killed.
 */
static void merge_main(const struct merging *merging, char **words)
{
	int null = open("/dev/null", O_RDONLY);

	signals_restore();
	set_lowest_priority();
	/* Ctrl-C is for the recorder. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, STDIN_FILENO);
	dup2(merging->file.fd, STDOUT_FILENO);
	execv("/proc/self/exe", words);
	out_error(NULL, "snapshots: cannot be merged: /proc/self/exe: %s", strerror(errno));
	_exit(CMD_FAILURE);
}

static int start_merge(struct merging *merging, char **words, struct schedtape_error *err)
{
	int ret = parts_create(&merging->file, merging->path, err);

	if (ret)
		return ret;
	merging->pid = fork();
	if (!merging->pid)
		merge_main(merging, words);
	if (merging->pid > 0) {
		parts_pin(merging->parts, true);
		return 0;
	}
	ret = -errno;
	merging->pid = 0;
	parts_drop(&merging->file);
	return schedtape_fail(err, ret, "fork: %s", strerror(-ret));
}

void merging_begin(struct merging *merging, const struct recorder *recorder)
{
	struct schedtape_error err;
	char **words;

	if (merging->pid) {
		out_warning(NULL, "the snapshots are still being merged: SIGUSR2 is ignored");
		return;
	}
	merging->path = recorder->path;
	merging->quiet = recorder->quiet;
	merging->parts = recorder->parts;
	words = merge_command_line(merging, recorder->parts);
	if (!words)
		out_warning(NULL, "snapshots: cannot be merged: out of memory");
	else if (!merging->snapshots)
		out_warning(NULL, "there are no snapshots to be merged");
	else if (start_merge(merging, words, &err))
		out_warning(NULL, "snapshots: cannot be merged: %s", err.text);
	free(words);
}

/* Prints the name of the new tape, over the line that shows the progress. */
static void say_merged(const struct merging *merging, const char *name)
{
	struct stat st;

	if (merging->quiet || stat(name, &st))
		return;
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	fprintf(stderr, "[ %s: merged %zu snapshot%s into %s, %.3f MB ]\n", out_command(),
		merging->snapshots, merging->snapshots == 1 ? "" : "s", name, st.st_size / 1e6);
}

static void end_merge(struct merging *merging, int status)
{
	struct schedtape_error err;
	char *name;

	merging->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		name = parts_name_merged(merging->path, &merging->file, &err);
		if (name)
			say_merged(merging, name);
		else
			out_warning(NULL, "%s", err.text);
		free(name);
	} else if (WIFSIGNALED(status)) {
		out_warning(NULL, "the snapshots were not merged: the process got signal %d",
			    WTERMSIG(status));
	}
	parts_drop(&merging->file);
	parts_pin(merging->parts, false);
	parts_prune(merging->parts);
}

void merging_reap(struct merging *merging)
{
	int status;

	if (merging->pid && waitpid(merging->pid, &status, WNOHANG) == merging->pid)
		end_merge(merging, status);
}

void merging_end(struct merging *merging, int signals)
{
	struct pollfd fd = { .fd = signals, .events = POLLIN };

	for (merging_reap(merging); merging->pid; merging_reap(merging)) {
		poll(&fd, 1, -1);
		if (signals_read(signals, NULL))
			kill(merging->pid, SIGTERM);
	}
}
