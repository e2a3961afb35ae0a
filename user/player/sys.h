/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls of players.  They return their result, or -errno: without libc there is no
 * thread-local errno.
 */
#ifndef SCHEDTAPE_SYS_H
#define SCHEDTAPE_SYS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "base/sched-attr.h"
#include "player/arch.h"

static inline long sys_call(long number, long a, long b, long c, long d)
{
	return arch_call(number, a, b, c, d, 0, 0);
}

static inline __attribute__((noreturn)) void sys_exit_thread(int status)
{
	for (;;)
		sys_call(SYS_exit, status, 0, 0, 0);
}

static inline __attribute__((noreturn)) void sys_exit(int status)
{
	for (;;)
		sys_call(SYS_exit_group, status, 0, 0, 0);
}

static inline long sys_wait(int pid, struct rusage *usage)
{
	return sys_call(SYS_wait4, pid, 0, 0, (long)usage);
}

static inline int sys_pid(void)
{
	return sys_call(SYS_getpid, 0, 0, 0, 0);
}

static inline int sys_tid(void)
{
	return sys_call(SYS_gettid, 0, 0, 0, 0);
}

static inline int sys_kill(int pid, int signal)
{
	return sys_call(SYS_kill, pid, signal, 0, 0);
}

static inline int sys_tkill(int tid, int signal)
{
	return sys_call(SYS_tkill, tid, signal, 0, 0);
}

static inline long sys_ioctl(int fd, unsigned long request, const void *arg)
{
	return sys_call(SYS_ioctl, fd, request, (long)arg, 0);
}

static inline long sys_open(const char *path, int flags)
{
	return sys_call(SYS_openat, AT_FDCWD, (long)path, flags, 0);
}

static inline long sys_write(int fd, const void *data, size_t bytes)
{
	return sys_call(SYS_write, fd, (long)data, bytes, 0);
}

static inline int sys_close(int fd)
{
	return sys_call(SYS_close, fd, 0, 0, 0);
}

static inline int sys_close_range(unsigned int first, unsigned int last)
{
	return sys_call(SYS_close_range, first, last, 0, 0);
}

static inline long sys_size(int fd)
{
	return sys_call(SYS_lseek, fd, 0, SEEK_END, 0);
}

/* Returns the address, or -errno. */
static inline long sys_map(uint64_t at, uint64_t bytes, int access, int flags, int fd)
{
#ifdef ARCH_LIBC
	/* Not all machines pass its arguments in the same way. */
	void *memory = mmap((void *)at, bytes, access, flags, fd, 0);

	return memory == MAP_FAILED ? -errno : (long)memory;
#else
	return arch_call(SYS_mmap, at, bytes, access, flags, fd, 0);
#endif
}

static inline int sys_advise(const void *memory, size_t bytes, int advice)
{
	return sys_call(SYS_madvise, (long)memory, bytes, advice, 0);
}

static inline long sys_futex(uint32_t *word, int op, uint32_t value)
{
	return arch_call(SYS_futex, (long)word, op, value, 0, 0, 0);
}

static inline int sys_sleep_until(const struct timespec *time)
{
	return sys_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)time, 0);
}

static inline int sys_set_name(const char *name)
{
	return sys_call(SYS_prctl, PR_SET_NAME, (long)name, 0, 0);
}

/* Keeps processes without privileges from tracing this one, and from opening its files. */
static inline void sys_hide(void)
{
	sys_call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0);
}

static inline int sys_new_session(void)
{
	return sys_call(SYS_setsid, 0, 0, 0, 0);
}

/* The calls below are for the calling thread. */

/* Returns the number of bytes of the kernel's mask, which may be shorter than @cpus. */
static inline long sys_get_affinity(cpu_set_t *cpus)
{
	return sys_call(SYS_sched_getaffinity, 0, sizeof(*cpus), (long)cpus, 0);
}

static inline int sys_set_affinity(const cpu_set_t *cpus)
{
	return sys_call(SYS_sched_setaffinity, 0, sizeof(*cpus), (long)cpus, 0);
}

static inline int sys_get_policy(void)
{
	return sys_call(SYS_sched_getscheduler, 0, 0, 0, 0);
}

static inline int sys_set_policy(int policy, const struct sched_param *param)
{
	return sys_call(SYS_sched_setscheduler, 0, policy, (long)param, 0);
}

static inline int sys_set_attributes(const struct sched_attributes *attr)
{
	return sys_call(SYS_sched_setattr, 0, (long)attr, 0, 0);
}

static inline int sys_get_nice(void)
{
	return 20 - sys_call(SYS_getpriority, PRIO_PROCESS, 0, 0, 0);
}

static inline int sys_set_nice(int nice)
{
	return sys_call(SYS_setpriority, PRIO_PROCESS, 0, nice, 0);
}

#endif /* SCHEDTAPE_SYS_H */
