// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: players of the user's engine enter their process group
 * a second late. Each makes the file $ENTER_MARK before.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int setpgid(pid_t pid, pid_t group)
{
	const char *mark = getenv("ENTER_MARK");

	/* Only players enter a process group that another process leads. */
	if (!pid && group && mark) {
		close(open(mark, O_WRONLY | O_CREAT, 0600));
		sleep(1);
	}
	return syscall(SYS_setpgid, pid, group);
}
