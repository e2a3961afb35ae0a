// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the code of a process that is to play is mapped before it plays.
 */
#include <player/restart.h>

#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define PRESENT	(1ULL << 63)	/* in /proc/PID/pagemap */

/**
 * struct code - pages of libc's code
 * @mapped: those that this process has in its page tables
 */
struct code {
	int pagemap;
	size_t pages;
	size_t mapped;
};

static int count(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), address, end;
	struct code *code = arg;
	uint64_t entry;
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum && strstr(info->dlpi_name, "/libc.so"); i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		address = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & -page;
		end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
		for (; address < end; address += page, code->pages++) {
			if (pread(code->pagemap, &entry, sizeof(entry),
				  address / page * sizeof(entry)) != sizeof(entry))
				abort();
			code->mapped += !!(entry & PRESENT);
		}
	}
	return 0;
}

static struct code look(void)
{
	struct code code = { .pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) };

	dl_iterate_phdr(count, &code);
	close(code.pagemap);
	return code;
}

static int as_player(void)
{
	struct code before = look(), after;

	restart_as_player();
	after = look();
	ok(before.mapped < before.pages, "a fork has %zu of %zu pages of libc's code",
	   before.mapped, before.pages);
	ok(after.mapped == after.pages, "a player has %zu of %zu", after.mapped, after.pages);
	return tap_done();
}

int main(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		exit(as_player());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
