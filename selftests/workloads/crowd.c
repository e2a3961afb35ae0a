// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a process of THREADS threads that an unprivileged user has.  It moves to and fro
 * between the cgroups DIR and DIR2, renames itself in a loop, ends a third of its threads one after
 * the other, and then all others at once.
 */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../qemu/plugin/mark.h"
#include "clones.h"

#define MOVES	4
#define RENAMES	1000

static int leave[2];
static long ended;

/* A pipe wakes one reader, which wakes the next. */
static int run(void *arg)
{
	char one;

	if (read(leave[0], &one, 1) != 1)
		_exit(1);
	__atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
	return !arg;
}

static void move(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		err(1, "%s", path);
	close(fd);
}

/* Lets the module finish what it does later. */
static void phase(const char *on)
{
	usleep(200000);
	mark("off");
	mark(on);
}

static void end_threads(long n)
{
	long i;

	for (i = 0; i < n; i++)
		if (write(leave[1], "x", 1) != 1)
			err(1, "write");
	while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < n)
		usleep(10000);
}

static void play(long threads, char **dirs)
{
	int i;

	move(dirs[0]);
	clones_start(threads, run);
	usleep(200000);
	mark("on move");
	for (i = 0; i < MOVES; i++) {
		move(dirs[!(i % 2)]);
		usleep(200000);
	}
	phase("on rename");
	for (i = 0; i < RENAMES; i++)
		prctl(PR_SET_NAME, i % 2 ? "one" : "other");
	phase("on end");
	end_threads(threads / 3);
	phase("on kill");
	_exit(0);
}

int main(int argc, char **argv)
{
	long threads = work_arg(argc, argv, 1, 3, 1000000, "THREADS DIR DIR2");
	int status;
	pid_t pid;

	if (argc != 4)
		errx(2, "usage: crowd THREADS DIR DIR2");
	clones_allow(RLIMIT_NPROC, threads + 100);
	if (!getuid() && (setgid(65534) || setuid(65534)))
		err(1, "setuid");
	if (pipe(leave))
		err(1, "pipe");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid)
		play(threads, argv + 2);
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "the crowd failed");
	phase("off");
	printf("threads=%ld\n", threads);
	return 0;
}
