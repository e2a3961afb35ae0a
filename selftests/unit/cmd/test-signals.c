// SPDX-License-Identifier: GPL-2.0-only
/* Description: the signals that a recording ignores, and that its command does not ignore. */
#include <sys/wait.h>
#include <unistd.h>

#include "common/signals.h"
#include "tap.h"

/* Sends this signal to a child.  Returns its wait status. */
static int send_to_child(int signal, bool restored)
{
	pid_t pid;
	int status = -1;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (restored)
			signals_restore();
		raise(signal);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_snapshots(void)
{
	int fd;

	signals_take_snapshots();
	fd = signals_open();
	ok(!signals_read(fd), "in overwrite mode nothing ends a recording yet");
	raise(SIGUSR2);
	ok(signals_read(fd), "in overwrite mode SIGUSR2 ends it");
	ok(WTERMSIG(send_to_child(SIGUSR2, true)) == SIGUSR2,
	   "the command has SIGUSR2's default action and can receive it");
}

int main(void)
{
	signal(SIGUSR2, SIG_DFL);
	signals_ignore_snapshots();
	ok(!send_to_child(SIGUSR2, false), "SIGUSR2 does not end a recording");
	ok(WTERMSIG(send_to_child(SIGUSR2, true)) == SIGUSR2,
	   "the command has SIGUSR2's default action");
	ok(WTERMSIG(send_to_child(SIGUSR1, false)) == SIGUSR1, "SIGUSR1 is not ignored");
	test_snapshots();
	return tap_done();
}
