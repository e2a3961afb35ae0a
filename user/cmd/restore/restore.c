// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape restore: lets a workload go on from a checkpoint that sample has taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/signals.h"
#include "module/cgroup.h"
#include "restore/internal.h"

#define OPT_SAME_PIDS	1
#define OPT_KEEP	2
#define OPT_CRIU	3

#define REMOVE_TRIES	250
#define REMOVE_PAUSE_US	20000

/**
 * struct restore_options - options of restore
 * @checkpoint: DIR/N
 * @keep: --keep: folder for what the workload writes, or NULL
 */
struct restore_options {
	const char *checkpoint;
	const char *keep;
	const char *criu;
	bool same_pids;
};

/**
 * struct restored - the restored processes
 * @first: the process that restores them and waits for them
 * @scratch: a folder
 * @cgroup: their cgroup's folder
 */
struct restored {
	pid_t first;
	char scratch[PATH_MAX];
	char cgroup[PATH_MAX];
};

static const struct argp_option options[] = {
	{ "same-pids", OPT_SAME_PIDS, NULL, 0,
	  "Restore it outside of a PID namespace of its own: its PIDs must be free", 0 },
	{ "keep", OPT_KEEP, "FOLDER", 0,
	  "Copy the files that it writes to FOLDER at its end; otherwise they are lost", 0 },
	{ "criu", OPT_CRIU, "PROGRAM", 0, "Run this criu, instead of the one in the path", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct restore_options *opts = state->input;

	switch (key) {
	case OPT_SAME_PIDS:
		opts->same_pids = true;
		break;
	case OPT_KEEP:
		opts->keep = arg;
		break;
	case OPT_CRIU:
		opts->criu = arg;
		break;
	case ARGP_KEY_ARG:
		if (opts->checkpoint)
			argp_error(state, "one checkpoint at a time");
		opts->checkpoint = arg;
		break;
	case ARGP_KEY_END:
		if (!opts->checkpoint)
			argp_error(state, "no checkpoint: DIR/N is needed");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- the cgroup ------------------------------------------------------------ */

/* Makes a cgroup below that of this process.  Returns 0, or -errno after a message. */
static int make_cgroup(struct restored *restored)
{
	char mount[PATH_MAX], own[PATH_MAX] = "", line[PATH_MAX];
	struct schedtape_error err;
	FILE *file;
	int ret = schedtape_cgroup_mount(mount, sizeof(mount), &err);

	if (out_failed(ret, &err))
		return ret;
	file = fopen("/proc/self/cgroup", "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "0::", 3))
			snprintf(own, sizeof(own), "%s", line + 3);
	}
	if (file)
		fclose(file);
	if (snprintf(restored->cgroup, sizeof(restored->cgroup), "%s%s/schedtape-restore-%d", mount,
		     strcmp(own, "/") ? own : "", getpid()) >= (int)sizeof(restored->cgroup))
		return -ENAMETOOLONG;
	if (!mkdir(restored->cgroup, 0755))
		return 0;
	out_error(restored->cgroup, "a cgroup cannot be made: %s", strerror(errno));
	*restored->cgroup = '\0';
	return -errno;
}

static void kill_all(const struct restored *restored)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.kill", restored->cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "1", 1) != 1)
		out_warning(path, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* A process that has ended leaves the cgroup a little later. */
static void remove_cgroup(const struct restored *restored)
{
	int tries;

	for (tries = 0; tries < REMOVE_TRIES && rmdir(restored->cgroup) && errno == EBUSY; tries++)
		usleep(REMOVE_PAUSE_US);
}

/* -- the restored processes ------------------------------------------------ */

/* Starts the process that restores them.  Returns 0, or -errno after a message. */
static int start(struct restored *restored, const struct restore_options *opts,
		 const struct described *described)
{
	struct inside inside = {
		.described = described,
		.scratch = restored->scratch,
		.keep = opts->keep,
		.cgroup = restored->cgroup,
		.criu = opts->criu,
		.own_pids = !opts->same_pids,
	};

	if (inside.own_pids && unshare(CLONE_NEWPID)) {
		out_error(NULL, "no PID namespace: %s", strerror(errno));
		return -errno;
	}
	restored->first = fork();
	if (!restored->first)
		_exit(inside_run(&inside));
	if (restored->first > 0)
		return 0;
	out_error(NULL, "no process: %s", strerror(errno));
	return -errno;
}

/* Waits for their end, and ends them at a signal.  Returns an exit status. */
static int wait_for_end(const struct restored *restored, int signals)
{
	struct pollfd event = { .fd = signals, .events = POLLIN };
	bool killed = false;
	int status;

	while (!waitpid(restored->first, &status, WNOHANG)) {
		poll(&event, 1, -1);
		if (!signals_read(signals, NULL) || killed)
			continue;
		killed = true;
		kill_all(restored);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILURE;
}

static int run_on(const struct restore_options *opts, const struct described *described)
{
	struct restored restored = { .first = 0, .scratch = "/run/schedtape-restore.XXXXXX" };
	int status = CMD_FAILURE, signals;

	if (!mkdtemp(restored.scratch)) {
		out_error(restored.scratch, "%s", strerror(errno));
		return status;
	}
	signals = signals_open();
	if (signals >= 0 && !make_cgroup(&restored)) {
		if (!start(&restored, opts, described))
			status = wait_for_end(&restored, signals);
		remove_cgroup(&restored);
	}
	if (signals >= 0)
		close(signals);
	rmdir(restored.scratch);
	return status;
}

int cmd_restore(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.args_doc = "DIR[/N]",
		.doc = "Lets a workload go on from a checkpoint of \"schedtape sample\", "
		       "with its files as they were, in namespaces of its own.",
		.parser = parse,
	};
	struct restore_options opts = { 0 };
	struct described described;
	int status = CMD_FAILURE;

	cmd_parse(&argp, argc, argv, 0, &opts);
	if (described_find(&described, opts.checkpoint))
		return status;
	if (geteuid())
		out_error(NULL, "only root can restore processes; without it \"schedtape replay "
			  "--time\" replays an interval of the tape");
	else if (!described_compare(&described))
		status = run_on(&opts, &described);
	described_free(&described);
	return status;
}
