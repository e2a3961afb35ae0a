// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: players with the name $DIE_AS are killed by the signal $DIE_OF
 * before they join their replay, or exit if that is 0.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each player sets its name first. */
int prctl(int option, ...)
{
	const char *name = getenv("DIE_AS"), *signal = getenv("DIE_OF");
	unsigned long arg[4];
	va_list args;
	int i;

	va_start(args, option);
	for (i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_NAME && name && signal && !strcmp((const char *)arg[0], name)) {
		kill(getpid(), atoi(signal));
		_exit(0);
	}
	return syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
}
