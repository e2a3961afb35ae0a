// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: players with the name $LIMIT_AS may not fork. A fork fails with the
 * error $LIMIT_TO, or kills the player if that is 0. Or they have $LIMIT_KIB of memory at most.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void forbid_forks(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, error ? SECCOMP_RET_ERRNO | error :
			 SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(99);
}

static void limit_memory(long kib)
{
	const struct rlimit limit = { kib * 1024, kib * 1024 };

	if (setrlimit(RLIMIT_AS, &limit))
		_exit(99);
}

/* A player's process executes its program as the task. */
int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	const char *name = getenv("LIMIT_AS"), *error = getenv("LIMIT_TO");
	const char *kib = getenv("LIMIT_KIB");

	if (name && !strcmp(argv[0], name)) {
		if (error)
			forbid_forks(atoi(error));
		if (kib)
			limit_memory(atol(kib));
	}
	return syscall(SYS_execveat, fd, path, argv, envp, flags);
}
