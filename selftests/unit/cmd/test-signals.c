// SPDX-License-Identifier: GPL-2.0-only
/* Description: the signals that a recording ignores or takes, and that its command gets. */
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
	bool snapshot = false;
	int fd;

	signals_end_on(SIGUSR2);
	fd = signals_open();
	ok(!signals_read(fd, NULL), "in overwrite mode nothing ends a recording yet");
	raise(SIGUSR2);
	ok(signals_read(fd, NULL), "in overwrite mode SIGUSR2 ends it");
	signals_merge_on(SIGUSR1);
	fd = signals_open();
	ok(!signals_merge(), "nobody has asked for a merge");
	raise(SIGUSR1);
	ok(!signals_read(fd, &snapshot) && !snapshot && signals_merge(),
	   "a signal that asks for one ends nothing");
	ok(!signals_merge(), "and asks once");
	signals_snapshot_on(SIGUSR1);
	signals_snapshot_on(SIGUSR2);
	fd = signals_open();
	ok(!signals_read(fd, &snapshot) && !snapshot, "nobody has asked for a snapshot");
	raise(SIGUSR1);
	ok(!signals_read(fd, &snapshot) && snapshot, "SIGUSR1 asks for one, and ends nothing");
	snapshot = false;
	raise(SIGUSR2);
	ok(!signals_read(fd, &snapshot) && snapshot, "SIGUSR2 does, too");
	raise(SIGUSR2);
	raise(SIGTERM);
	ok(signals_read(fd, &snapshot), "SIGTERM ends the recording all the same");
	ok(WTERMSIG(send_to_child(SIGUSR2, true)) == SIGUSR2,
	   "the command has SIGUSR2's default action and can receive it");
	ok(WTERMSIG(send_to_child(SIGUSR1, true)) == SIGUSR1, "and SIGUSR1's");
}

static void test_hangups(void)
{
	int fd;

	signal(SIGHUP, SIG_IGN);
	signals_take_hangups();
	fd = signals_open();
	ok(!signals_hangup(), "no SIGHUP yet");
	raise(SIGHUP);
	ok(!signals_pending(), "a daemon does not end at SIGHUP");
	ok(!signals_read(fd, NULL) && signals_hangup(), "but finds it, even under nohup");
	ok(!signals_hangup(), "once");
	raise(SIGHUP);
	raise(SIGINT);
	ok(signals_pending() && signals_read(fd, NULL) && signals_hangup(), "SIGINT ends it");
	ok(!send_to_child(SIGHUP, true), "a command would ignore SIGHUP again");
}

/* A child gets @first and, when it has read that, @second.  Returns its status. */
static int die_of(int first, int second)
{
	pid_t pid;
	int fd, status = -1;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fd = signals_open();
		while (signals_read(fd, NULL))
			;
		raise(first);
		signals_read(fd, NULL);
		raise(second);
		signals_die();
		_exit(7);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_death(void)
{
	int status = die_of(SIGCHLD, SIGCHLD);

	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a process without a signal goes on");
	ok(WTERMSIG(die_of(SIGTERM, SIGINT)) == SIGTERM, "others end by the first one");
	ok(WTERMSIG(die_of(SIGCHLD, SIGINT)) == SIGINT, "or by one that was not read");
	status = die_of(SIGUSR2, SIGCHLD);
	ok(WIFEXITED(status), "SIGUSR2 ends a recording, but is no reason to die");
	signal(SIGHUP, SIG_DFL);
	ok(WTERMSIG(die_of(SIGHUP, SIGTERM)) == SIGHUP, "SIGHUP ends others");
	signal(SIGHUP, SIG_IGN);
	ok(WTERMSIG(die_of(SIGHUP, SIGTERM)) == SIGTERM, "unless it is ignored");
	signal(SIGHUP, SIG_DFL);
}

/* A child survives one SIGINT, and then gets another one or ends by itself. */
static int survive(bool again)
{
	int status = -1, survived[2];
	pid_t pid;
	char c;

	fflush(stdout);
	if (pipe(survived))
		return -1;
	pid = fork();
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		signals_survive_interrupt();
		if (signals_interrupted())
			_exit(1);
		raise(SIGINT);
		if (!signals_interrupted() || write(survived[1], "", 1) != 1)
			_exit(1);
		if (again)
			raise(SIGINT);
		else
			signals_die();
		_exit(7);
	}
	close(survived[1]);
	waitpid(pid, &status, 0);
	if (read(survived[0], &c, 1) != 1)
		status = 0;
	close(survived[0]);
	return status;
}

static void test_interrupts(void)
{
	ok(WTERMSIG(survive(true)) == SIGINT, "the second SIGINT ends a reader at once");
	ok(WTERMSIG(survive(false)) == SIGINT, "the first one when it has written all");
}

/* In a group of its own, because an orphaned group ignores SIGTSTP. */
static void stop_and_go_on(void)
{
	int fd;

	setpgid(0, 0);
	signals_take_stops();
	fd = signals_open();
	raise(SIGTSTP);
	if (signals_stop() || signals_read(fd, NULL) || !signals_stop() || signals_stop())
		_exit(1);
	signals_stop_here();
	_exit(signals_stop());
}

static void test_stops(void)
{
	pid_t pid;
	int status = -1;

	fflush(stdout);
	pid = fork();
	if (!pid)
		stop_and_go_on();
	waitpid(pid, &status, WUNTRACED);
	ok(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP, "SIGTSTP waits, then it stops");
	kill(pid, SIGCONT);
	ok(waitpid(pid, &status, 0) == pid && !status, "until SIGCONT");
}

int main(void)
{
	signal(SIGUSR2, SIG_DFL);
	signals_ignore_snapshots();
	ok(!send_to_child(SIGUSR2, false), "SIGUSR2 does not end a recording");
	ok(WTERMSIG(send_to_child(SIGUSR2, true)) == SIGUSR2,
	   "the command has SIGUSR2's default action");
	ok(WTERMSIG(send_to_child(SIGUSR1, false)) == SIGUSR1, "SIGUSR1 is not ignored");
	test_death();
	test_interrupts();
	test_stops();
	test_snapshots();
	test_hangups();
	return tap_done();
}
