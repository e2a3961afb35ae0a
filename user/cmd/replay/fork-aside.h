/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_FORK_ASIDE_H
#define SCHEDTAPE_FORK_ASIDE_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Forks without an exit signal, so that a wait for any child is a wait for players and does
 * not return this process, which ends after them.
 */
static inline pid_t fork_aside(void)
{
	return syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
}

#endif /* SCHEDTAPE_FORK_ASIDE_H */
