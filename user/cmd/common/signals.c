// SPDX-License-Identifier: GPL-2.0-only
#include "common/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Signals whose action may be changed, and the action before that. */
static struct {
	int signal;
	bool changed;
	struct sigaction before;
} actions[] = {
	{ .signal = SIGPIPE }, { .signal = SIGXFSZ }, { .signal = SIGCHLD }, { .signal = SIGUSR2 },
};

static struct {
	bool changed;
	sigset_t before;
} mask;

/* SIGUSR2 ends the command. */
static bool snapshots;

static void change(int signal, void (*handler)(int signal))
{
	struct sigaction action = { .sa_handler = handler };
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (actions[i].signal == signal && !actions[i].changed)
			actions[i].changed = !sigaction(signal, &action, &actions[i].before);
}

void signals_survive_writes(void)
{
	change(SIGPIPE, SIG_IGN);
	change(SIGXFSZ, SIG_IGN);
}

void signals_ignore_snapshots(void)
{
	change(SIGUSR2, SIG_IGN);
}

static void save_mask(void)
{
	if (!mask.changed)
		mask.changed = !sigprocmask(SIG_SETMASK, NULL, &mask.before);
}

void signals_take_snapshots(void)
{
	sigset_t ours;

	/* An ignored signal would not become pending. */
	change(SIGUSR2, SIG_DFL);
	save_mask();
	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR2);
	sigprocmask(SIG_BLOCK, &ours, NULL);
	snapshots = true;
}

/* nohup(1) ignores SIGHUP.  If it were blocked here, signalfd would return it all the same. */
static bool hangup_ignored(void)
{
	struct sigaction action;

	return !sigaction(SIGHUP, NULL, &action) && action.sa_handler == SIG_IGN;
}

int signals_open(void)
{
	sigset_t ours;
	int fd;

	/* If SIGCHLD were ignored, children would be reaped without a wait for them. */
	change(SIGCHLD, SIG_DFL);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGCHLD);
	if (!hangup_ignored())
		sigaddset(&ours, SIGHUP);
	if (snapshots)
		sigaddset(&ours, SIGUSR2);
	save_mask();
	sigprocmask(SIG_BLOCK, &ours, NULL);
	fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

bool signals_read(int fd)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		ends |= info.ssi_signo != SIGCHLD;
	return ends;
}

bool signals_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
		sigismember(&pending, SIGHUP));
}

void signals_restore(void)
{
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (actions[i].changed)
			sigaction(actions[i].signal, &actions[i].before, NULL);
	if (mask.changed)
		sigprocmask(SIG_SETMASK, &mask.before, NULL);
}
