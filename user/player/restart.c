// SPDX-License-Identifier: GPL-2.0-only
#include "player/restart.h"

#include <json-c/json.h>
#include <limits.h>
#include <link.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

/* One function of each library that players do not need. */
static const uintptr_t unneeded[] = {
	(uintptr_t)genl_connect,
	(uintptr_t)nl_socket_alloc,
	(uintptr_t)ZSTD_isError,
	(uintptr_t)XXH64_reset,
	(uintptr_t)json_object_get,
};

static bool is_in(const struct dl_phdr_info *info, uintptr_t address)
{
	size_t i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
		    info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/* Each new thread copies the thread-local data of every library. */
static bool has_thread_data(const struct dl_phdr_info *info)
{
	size_t i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_phdr[i].p_filesz)
			return true;
	return false;
}

static void leave_out(const struct dl_phdr_info *info)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), begin, end;
	size_t i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		end = begin + info->dlpi_phdr[i].p_memsz;
		begin &= -page;
		end = (end + page - 1) & -page;
		/* An error only makes forks more expensive. */
		madvise((void *)begin, end - begin, MADV_DONTFORK);
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	size_t i;

	(void)size;
	/* The first one is schedtape itself.  With static linking it has these functions. */
	if (!*(bool *)arg) {
		*(bool *)arg = true;
		return 0;
	}
	for (i = 0; i < sizeof(unneeded) / sizeof(*unneeded); i++)
		if (is_in(info, unneeded[i]) && !has_thread_data(info))
			leave_out(info);
	return 0;
}

/* A variable of the dynamic linker.  Both ignore it in secure-execution mode. */
#define BIND_NOW	"LD_BIND_NOW"

static bool all_is_bound(void)
{
	const char *value = secure_getenv(BIND_NOW);

	return value && *value;
}

void restart_bound(char **argv)
{
	char program[PATH_MAX];
	ssize_t length;

	if (all_is_bound() || getauxval(AT_SECURE))
		return;
	/* Execute the real path, because execve() takes the task's name from it. */
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (length < 0 || setenv(BIND_NOW, "1", true))
		return;
	program[length] = '\0';
	execv(program, argv);
	unsetenv(BIND_NOW);
}

void restart_drop_libraries(void)
{
	bool program_seen = false;

	if (!all_is_bound())
		return;
	dl_iterate_phdr(look_at, &program_seen);
}

void restart_load_code(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512], shared;

	while (maps && fgets(line, sizeof(line), maps))
		/*
		 * Kernels before 5.14 reject this, and so do mappings without a file. Leave
		 * out shared mappings: they are not code, and may be too large for memory.
		 */
		if (strchr(line, '/') &&
		    sscanf(line, "%lx-%lx %*3c%c", &from, &to, &shared) == 3 && shared == 'p')
			madvise((void *)from, to - from, MADV_POPULATE_READ);
	if (maps)
		fclose(maps);
}

void restart_measure_costs(struct schedtape_costs *costs)
{
	struct schedtape_costs *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	*costs = (struct schedtape_costs){ 0 };
	if (shared == MAP_FAILED)
		return;
	pid = fork();
	if (!pid) {
		restart_drop_libraries();
		schedtape_measure_costs(shared);
		_exit(0);
	}
	/* If waitpid() fails, the child may still be measuring. */
	if (pid > 0 && waitpid(pid, NULL, 0) == pid)
		*costs = *shared;
	munmap(shared, sizeof(*shared));
}
