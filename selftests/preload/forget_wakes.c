// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: players of a replay make no wake-ups. No tape has that effect,
 * so this makes a replay that gets stuck.
 */
#include <schedtape/device.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...)
{
	struct stape_step step;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == STAPE_IOC_STEP) {
		step = *(const struct stape_step *)arg;
		step.nr_wakes = 0;
		step.nr_next = 0;
		arg = &step;
	}
	return syscall(SYS_ioctl, fd, request, arg);
}
