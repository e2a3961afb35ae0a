// SPDX-License-Identifier: GPL-2.0-only
/*
 * The start of the program that players execute.
 */
#include "player/player.h"

#include <errno.h>
#include <elf.h>
#include <unistd.h>

#include "player/costs.h"
#include "player/libc/libc.h"
#include "player/message.h"
#include "player/sys.h"
#include "player/threads.h"

static uint32_t number_of(const char *text)
{
	uint32_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = 10 * number + *text - '0';
	return number;
}

static __attribute__((noreturn)) void cannot(const char *what, long error)
{
	struct message message = { 0 };

	message_add(&message, "schedtape: a player cannot ");
	message_add(&message, what);
	message_add(&message, ": error ");
	message_add_number(&message, -error);
	message_print(&message);
	sys_exit(1);
}

static void map_at(uint64_t at, uint64_t bytes, int access, int flags, int fd)
{
	long address = sys_map(at, bytes, access, flags | MAP_FIXED_NOREPLACE, fd);

	if (address != (long)at)
		cannot("map what it plays", address < 0 ? address : -EEXIST);
}

/* A private mapping is shared as long as nobody writes.  A sealed file may allow no other. */
static const struct player_cast *map_cast(int fd)
{
	const struct player_cast *cast = (const void *)PLAYER_CAST_AT;
	long size = sys_size(fd);
	uint32_t i;

	if (size < 0)
		cannot("read its program", size);
	map_at(PLAYER_CAST_AT, size, PROT_READ, MAP_PRIVATE, fd);
	for (i = 0; i < cast->nr_maps; i++)
		map_at(cast->maps[i].at, cast->maps[i].bytes, cast->maps[i].access, MAP_SHARED,
		       cast->maps[i].fd);
	return cast;
}

static void close_others(int kept)
{
	if (kept > STDERR_FILENO + 1)
		sys_close_range(STDERR_FILENO + 1, kept - 1);
	sys_close_range(kept > STDERR_FILENO ? kept + 1 : STDERR_FILENO + 1, ~0U);
}

static void find_clock(const long *stack)
{
#ifndef ARCH_LIBC
	const long *pair = stack + 1;
	int i;

	for (i = 0; i < 2; i++)
		while (*pair++)
			;
	for (; pair[0] != AT_NULL; pair += 2)
		if (pair[0] == AT_SYSINFO_EHDR)
			libc_find_clock(pair[1]);
#else
	(void)stack;
#endif
}

void start_player(const long *stack) __attribute__((noreturn));

/*
 * @stack: what the kernel leaves there: argc, the arguments, NULL, the environment, NULL, and pairs
 * of the auxiliary vector
 */
void start_player(const long *stack)
{
	const char *const *argv = (const char *const *)(stack + 1);
	const struct player_cast *cast;
	uint32_t number;

	if (stack[0] != 3)
		cannot("be started by hand", -EINVAL);
	find_clock(stack);
	cast = map_cast(number_of(argv[1]));
	number = number_of(argv[2]);
	if (cast->hidden)
		sys_hide();
	close_others(cast->fd);
	if (threads_begin())
		cannot("map stacks", -ENOMEM);
	if (number == cast->program->nr_tasks)
		costs_tell(STDOUT_FILENO);
	player_run(cast, number);
}

#ifdef ARCH_LIBC
int main(int argc, char **argv)
{
	(void)argc;
	start_player((const long *)argv - 1);
}
#else
__asm__(".pushsection .text\n.globl _start\n" ARCH_START ".popsection");
#endif
