/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs commands at a terminal, and looks at what they print there.
 */
#ifndef SELFTESTS_TERMINAL_H
#define SELFTESTS_TERMINAL_H

#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command, for terminal_call(). */
struct call {
	int (*command)(int argc, char **argv);
	char *argv[8];
};

static inline void terminal_call(void *arg)
{
	struct call *c = arg;
	int argc = 0;

	while (c->argv[argc])
		argc++;
	if (c->command(argc, c->argv))
		puts("FAILED");
}

static inline void terminal_read(int fd, char *to, size_t size)
{
	size_t at = 0;
	ssize_t n;

	/* At its end, a terminal's other side has EIO. */
	while (at < size - 1 && (n = read(fd, to + at, size - 1 - at)) > 0)
		at += n;
	to[at] = '\0';
	close(fd);
}

/*
 * Runs @print in another process, with standard output or standard error, @fd, on a terminal of
 * @width, or a pipe if that is 0.  What comes there is in @to.
 */
static inline void terminal_capture(int fd, unsigned short width, void (*print)(void *arg),
				    void *arg, char *to, size_t size)
{
	struct winsize window = { .ws_row = 24, .ws_col = width };
	int ends[2], nowhere;
	pid_t pid;

	fflush(stdout);
	if (width ? openpty(&ends[0], &ends[1], NULL, NULL, &window) : pipe(ends)) {
		puts("Bail out! no terminal");
		exit(1);
	}
	pid = fork();
	if (!pid) {
		nowhere = open("/dev/null", O_WRONLY);
		if (fd == STDERR_FILENO)
			dup2(nowhere, STDOUT_FILENO);
		dup2(ends[1], fd);
		print(arg);
		fflush(stdout);
		_exit(0);
	}
	close(ends[1]);
	terminal_read(ends[0], to, size);
	waitpid(pid, NULL, 0);
}

#endif /* SELFTESTS_TERMINAL_H */
