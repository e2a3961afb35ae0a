/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of the system calls of a tape's machine.
 */
#ifndef SCHEDTAPE_SYSCALLS_H
#define SCHEDTAPE_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtape.h>

/* Numbers below this are looked up once.  No architecture here has so many system calls. */
#define SYSCALLS_KNOWN	600

/* What a task sleeps in that is in no system call: in a page fault, say. */
#define SYSCALLS_NONE	"no system call"

/* Room for "set_mempolicy_home_node (32 bit)". */
#define SYSCALLS_NAME	64

/**
 * struct syscalls - the system calls of a machine
 * @arch: by whether they are the 32-bit ones: the architecture as libseccomp has it, 0: unknown
 * @recorded: the tape tells in which ones tasks sleep
 * @names: those that were looked up, by @arch; libseccomp allocates them
 */
struct syscalls {
	uint32_t arch[2];
	bool recorded;
	char *names[2][SYSCALLS_KNOWN];
};

void syscalls_init(struct syscalls *syscalls, struct schedtape_tape *tape);
/* Prints a warning if the tape has no system calls.  Returns true if it has. */
bool syscalls_check(const struct syscalls *syscalls, const char *path);
/*
 * Returns "futex", "nanosleep (32 bit)", "syscall 999" or SYSCALLS_NONE.  @call: as
 * schedtape_switch_syscall() returns it, but not SCHEDTAPE_SYSCALL_UNKNOWN.
 */
const char *syscalls_name(struct syscalls *syscalls, uint64_t call, char buffer[SYSCALLS_NAME]);
void syscalls_free(struct syscalls *syscalls);

#endif /* SCHEDTAPE_SYSCALLS_H */
