// SPDX-License-Identifier: GPL-2.0-only
#include "common/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Characters for which a command needs a shell. */
#define SHELL_CHARS	" \t\n|&;<>()$`\\\"'*?[#~=%"

static bool allowed, forbidden;

/* The pager, 0: there is none. */
static pid_t pager;

/* Standard output and standard error as they were; -1: not changed */
static int terminal = -1, messages = -1;

void pager_allow(void)
{
	allowed = true;
}

bool pager_allowed(void)
{
	return allowed;
}

void pager_forbid(void)
{
	forbidden = true;
}

int pager_output(void)
{
	return terminal >= 0 ? terminal : STDOUT_FILENO;
}

bool pager_started(void)
{
	return pager;
}

static const char *from_environment(void)
{
	const char *command = getenv("SCHEDTAPE_PAGER");

	return command ? command : getenv("PAGER");
}

/* Returns the command, or NULL: no pager. */
static const char *choose(void)
{
	const char *command = from_environment(), *type = getenv("TERM");

	if (command)
		return *command && strcmp(command, "cat") ? command : NULL;
	/* less stops and warns on a terminal that cannot do anything. */
	return type && strcmp(type, "dumb") ? "less" : NULL;
}

static void wait_for_pager(void)
{
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

/* The pager sees the end of its input when no descriptor of it is left. */
void pager_finish(void)
{
	if (!pager)
		return;
	fflush(stdout);
	dup2(terminal, STDOUT_FILENO);
	if (messages >= 0)
		dup2(messages, STDERR_FILENO);
	wait_for_pager();
}

/*
 * The pager has the signal as well, and goes on if it is SIGINT.  The shell must not read from the
 * terminal until the user has left the pager.
 */
static void handle_signal(int number)
{
	close(STDOUT_FILENO);
	if (messages >= 0)
		close(STDERR_FILENO);
	if (pager)
		wait_for_pager();
	signal(number, SIG_DFL);
	raise(number);
}

static void set_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = handle_signal }, before;
	size_t i;

	for (i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(ending[i], &action, NULL);
	/* When the user has left the pager, output fails with EPIPE. */
	signal(SIGPIPE, SIG_IGN);
}

/* Starts the command, which reads from @data.  Returns 0 or an error number. */
static int start(const char *command, int data)
{
	char *shell[] = { "/bin/sh", "-c", (char *)command, NULL };
	char *alone[] = { (char *)command, NULL };
	char **words = strpbrk(command, SHELL_CHARS) ? shell : alone;
	posix_spawn_file_actions_t input;
	pid_t pid;
	int error;

	/* For the pager.  Commands that use one start nothing else. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	error = posix_spawn_file_actions_init(&input);
	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&input, data, STDIN_FILENO);
	if (!error)
		error = posix_spawnp(&pid, words[0], &input, NULL, words, environ);
	if (!error)
		pager = pid;
	posix_spawn_file_actions_destroy(&input);
	return error;
}

/* Lets the output go to the pager. */
static void connect_to(int data)
{
	terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (isatty(STDERR_FILENO)) {
		messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		dup2(data, STDERR_FILENO);
	}
	dup2(data, STDOUT_FILENO);
	atexit(pager_finish);
	set_signals();
}

const char *pager_start(void)
{
	const char *command;
	int data[2], error;

	if (!allowed || forbidden || !isatty(STDOUT_FILENO))
		return NULL;
	command = choose();
	if (!command)
		return NULL;
	error = pipe2(data, O_CLOEXEC) ? errno : 0;
	if (!error) {
		error = start(command, data[0]);
		if (!error)
			connect_to(data[1]);
		close(data[0]);
		close(data[1]);
	}
	errno = error;
	/* Nobody has asked for less. */
	return error && from_environment() ? command : NULL;
}
