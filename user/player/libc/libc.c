// SPDX-License-Identifier: GPL-2.0-only
#include "player/libc/libc.h"

#include <elf.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "player/sys.h"

/* -- what the compiler calls ----------------------------------------------- */

/* Flags in the Makefile keep these loops from becoming calls of the functions. */

void *memcpy(void *to, const void *from, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	if (to <= from)
		return memcpy(to, from, bytes);
	while (bytes--)
		((char *)to)[bytes] = ((const char *)from)[bytes];
	return to;
}

void *memset(void *memory, int value, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		((char *)memory)[i] = value;
	return memory;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const unsigned char *x = a, *y = b;
	size_t i;

	for (i = 0; i < bytes; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

/* -- what the engine calls, and tests define ------------------------------- */

int sched_yield(void)
{
	return sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

int sched_getscheduler(pid_t pid)
{
	return sys_call(SYS_sched_getscheduler, pid, 0, 0, 0);
}

/* -- the clock ------------------------------------------------------------- */

/* The kernel's function, which needs no system call for some clocks; NULL: it has none. */
static int (*vdso_clock)(clockid_t clock, struct timespec *time);

int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (vdso_clock && clock == CLOCK_MONOTONIC)
		return vdso_clock(clock, time);
	return sys_call(SYS_clock_gettime, clock, (long)time, 0, 0);
}

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The kernel maps its library as one piece.  The names follow the table of symbols. */
void libc_find_clock(uintptr_t library)
{
	const Elf64_Ehdr *header = (const void *)library;
	const Elf64_Phdr *part = (const void *)(library + header->e_phoff);
	const Elf64_Dyn *entry = NULL;
	const Elf64_Sym *symbol = NULL, *end;
	const char *names = NULL;
	uintptr_t base = library;
	size_t i;

	for (i = 0; i < header->e_phnum; i++) {
		if (part[i].p_type == PT_LOAD)
			base = library + part[i].p_offset - part[i].p_vaddr;
		if (part[i].p_type == PT_DYNAMIC)
			entry = (const void *)(library + part[i].p_offset);
	}
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbol = (const void *)(base + entry->d_un.d_ptr);
		if (entry->d_tag == DT_STRTAB)
			names = (const void *)(base + entry->d_un.d_ptr);
	}
	if (!symbol || !names)
		return;
	for (end = (const void *)names; symbol + 1 <= end; symbol++)
		if (symbol->st_shndx != SHN_UNDEF &&
		    equal(names + symbol->st_name, ARCH_VDSO_CLOCK))
			vdso_clock = (void *)(base + symbol->st_value);
}
