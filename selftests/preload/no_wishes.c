// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: the kernel has neither slices of tasks nor utilization clamps.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	long (*real)(long number, ...) = dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_sched_setattr) {
		errno = EOPNOTSUPP;
		return -1;
	}
	/* Kernels before 6.12 return no slice. */
	return number == SYS_sched_getattr ? 0 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
