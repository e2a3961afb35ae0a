// SPDX-License-Identifier: GPL-2.0-only
#include "signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>

int signals_open(sigset_t *before)
{
	sigset_t ours;
	int fd;

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ours, before);
	fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
