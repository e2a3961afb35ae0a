// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a storm of messages, as hackbench makes it: in each of GROUPS
 * groups, PAIRS senders send MESSAGES messages to each of PAIRS receivers,
 * through a pipe per receiver.
 */
#include <sys/wait.h>

#include "work.h"

enum { SIZE = 100 };

static void receive(int fd, long messages)
{
	char buffer[SIZE];
	size_t got = 0;
	ssize_t n;

	while (got < (size_t)messages * SIZE) {
		n = read(fd, buffer, sizeof(buffer));
		if (n <= 0)
			err(1, "read");
		got += n;
	}
}

static void send(int (*pipes)[2], long pairs, long messages)
{
	static const char buffer[SIZE];
	long i, j;

	for (i = 0; i < messages; i++)
		for (j = 0; j < pairs; j++)
			if (write(pipes[j][1], buffer, SIZE) != SIZE)
				err(1, "write");
}

static void start_group(long pairs, long messages)
{
	int (*pipes)[2] = calloc(pairs, sizeof(*pipes));
	pid_t pid;
	long i;

	if (!pipes)
		err(1, "memory");
	for (i = 0; i < pairs; i++)
		if (pipe(pipes[i]))
			err(1, "pipe");
	for (i = 0; i < 2 * pairs; i++) {
		pid = work_fork();
		if (pid)
			continue;
		if (i < pairs)
			receive(pipes[i][0], pairs * messages);
		else
			send(pipes, pairs, messages);
		_exit(0);
	}
	for (i = 0; i < pairs; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	free(pipes);
}

int main(int argc, char **argv)
{
	static const char usage[] = "GROUPS PAIRS MESSAGES";
	long groups = work_arg(argc, argv, 1, 1, 1000, usage);
	long pairs = work_arg(argc, argv, 2, 1, 1000, usage);
	long messages = work_arg(argc, argv, 3, 1, INT_MAX, usage), i;
	int status;

	for (i = 0; i < groups; i++)
		start_group(pairs, messages);
	for (i = 0; i < groups * 2 * pairs; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a process failed");
	printf("processes=%ld\nmessages=%ld\n", groups * 2 * pairs,
	       groups * pairs * pairs * messages);
	return 0;
}
