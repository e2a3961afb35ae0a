// SPDX-License-Identifier: GPL-2.0-only
#include "player/restart.h"

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Libraries that players do not need: those of the program, and those that these need.  All others
 * are kept, so a name that is missing here only makes forks more expensive.
 */
static const char *const unneeded[] = {
	"libnl-3", "libnl-genl-3", "libzstd", "libxxhash", "libjson-c", "libseccomp",
	"libncursesw", "libtinfo",
	"libsystemd", "libcap", "libgcrypt", "libgpg-error", "liblz4", "liblzma",
	"libbpf", "libelf", "libz",
	"libkdumpfile", "libaddrxlat", "liblzo2", "libsnappy", "libstdc++", "libgcc_s",
	"libtraceevent",
};

static bool is_unneeded(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t i, length;

	for (i = 0; i < sizeof(unneeded) / sizeof(*unneeded); i++) {
		length = strlen(unneeded[i]);
		if (!strncmp(name, unneeded[i], length) && !strncmp(name + length, ".so", 3))
			return true;
	}
	return false;
}

/* A library that is loaded before all others may take functions' places and need any library. */
static bool is_preloaded(void)
{
	return getenv("LD_PRELOAD") || !access("/etc/ld.so.preload", F_OK);
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

/* One call for all segments: the headers that describe them are in the first one. */
static void unmap(const struct dl_phdr_info *info)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), begin = UINTPTR_MAX, end = 0, from, to;
	size_t i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		to = from + info->dlpi_phdr[i].p_memsz;
		begin = from < begin ? from : begin;
		end = to > end ? to : end;
	}
	/* An error only makes forks more expensive. */
	if (end)
		munmap((void *)(begin & -page), ((end + page - 1) & -page) - (begin & -page));
}

/* An error only makes players map these pages later. */
static void map_code(const struct dl_phdr_info *info)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), begin, end;
	size_t i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		begin = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & -page;
		end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
		madvise((void *)begin, end - begin, MADV_POPULATE_READ);
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *drops)
{
	(void)size;
	if (*(const bool *)drops && is_unneeded(info->dlpi_name) && !has_thread_data(info))
		unmap(info);
	else
		map_code(info);
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

void restart_as_player(void)
{
	bool drops = all_is_bound() && !is_preloaded();

	dl_iterate_phdr(look_at, &drops);
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
		restart_as_player();
		schedtape_measure_costs(shared);
		_exit(0);
	}
	/* If waitpid() fails, the child may still be measuring. */
	if (pid > 0 && waitpid(pid, NULL, 0) == pid)
		*costs = *shared;
	munmap(shared, sizeof(*shared));
}
