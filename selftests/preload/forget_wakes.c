// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: players of a replay make no wake-ups. No tape has that effect,
 * so this makes a replay that gets stuck.
 */
#include <player/player.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The file that players share must not be sealed. */
int memfd_create(const char *name, unsigned int flags)
{
	return syscall(SYS_memfd_create, name, flags & MFD_CLOEXEC);
}

static void forget(int fd)
{
	size_t bytes = lseek(fd, 0, SEEK_END), i;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *players;
	const struct schedtape_program *program;
	struct schedtape_op *ops;

	if (memory == MAP_FAILED)
		abort();
	players = (char *)PLAYER_CAST_AT;
	program = (void *)(memory + ((char *)((struct player_cast *)memory)->program - players));
	ops = (void *)(memory + ((char *)program->ops - players));
	for (i = 0; i < program->op_store.nr; i++)
		if (ops[i].kind == SCHEDTAPE_OP_WAKE)
			ops[i].kind = SCHEDTAPE_OP_NONE;
	munmap(memory, bytes);
}

/* The first argument of the players' program is the descriptor of that file. */
int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	forget(atoi(argv[1]));
	return syscall(SYS_execveat, fd, path, argv, envp, flags);
}
