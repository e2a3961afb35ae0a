// SPDX-License-Identifier: GPL-2.0-only
#include "common/syscalls.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common/output.h"
#include "tape/meta.h"

/* A number of x32 has this bit. */
#define X32_BIT	0x40000000

/* Machines with 64 bits as uname() names them, and their architectures. */
static const struct machine {
	const char *name;
	uint32_t arch[2];
} machines[] = {
	{ "x86_64", { SCMP_ARCH_X86_64, SCMP_ARCH_X86 } },
	{ "aarch64", { SCMP_ARCH_AARCH64, SCMP_ARCH_ARM } },
	{ "s390x", { SCMP_ARCH_S390X, SCMP_ARCH_S390 } },
	{ "ppc64", { SCMP_ARCH_PPC64, SCMP_ARCH_PPC } },
	{ "ppc64le", { SCMP_ARCH_PPC64LE, 0 } },
	{ "riscv64", { SCMP_ARCH_RISCV64, 0 } },
};

void syscalls_init(struct syscalls *syscalls, struct schedtape_tape *tape)
{
	struct json_object *object;
	const char *name = "";
	size_t i;

	memset(syscalls, 0, sizeof(*syscalls));
	if (json_object_object_get_ex(tape_meta(tape), "syscalls", &object))
		syscalls->recorded = json_object_get_boolean(object);
	if (json_object_object_get_ex(tape_meta(tape), "arch", &object) &&
	    json_object_is_type(object, json_type_string))
		name = json_object_get_string(object);
	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (!strcmp(name, machines[i].name))
			memcpy(syscalls->arch, machines[i].arch, sizeof(syscalls->arch));
}

bool syscalls_check(const struct syscalls *syscalls, const char *path)
{
	if (!syscalls->recorded)
		out_warning(path, "has no system calls: \"schedtape record --syscalls\" notes them");
	return syscalls->recorded;
}

static char *look_up(uint32_t arch, uint32_t number)
{
	if (arch == SCMP_ARCH_X86_64 && number & X32_BIT)
		arch = SCMP_ARCH_X32;
	return arch ? seccomp_syscall_resolve_num_arch(arch, number) : NULL;
}

const char *syscalls_name(struct syscalls *syscalls, uint64_t call, char buffer[SYSCALLS_NAME])
{
	bool is_32 = call & SCHEDTAPE_SYSCALL_32;
	uint32_t number = call;
	char *looked_up = NULL;
	const char *name;

	if (number == STAPE_SYSCALL_NONE)
		return SYSCALLS_NONE;
	if (number < SYSCALLS_KNOWN) {
		if (!syscalls->names[is_32][number])
			syscalls->names[is_32][number] = look_up(syscalls->arch[is_32], number);
		name = syscalls->names[is_32][number];
	} else {
		looked_up = look_up(syscalls->arch[is_32], number);
		name = looked_up;
	}
	if (name)
		snprintf(buffer, SYSCALLS_NAME, "%.40s%s", name, is_32 ? " (32 bit)" : "");
	else
		snprintf(buffer, SYSCALLS_NAME, "syscall %u%s", number, is_32 ? " (32 bit)" : "");
	free(looked_up);
	return buffer;
}

void syscalls_free(struct syscalls *syscalls)
{
	size_t i;

	for (i = 0; i < SYSCALLS_KNOWN; i++) {
		free(syscalls->names[0][i]);
		free(syscalls->names[1][i]);
	}
}
