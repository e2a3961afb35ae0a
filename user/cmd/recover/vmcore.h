/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_RECOVER_VMCORE_H
#define SCHEDTAPE_RECOVER_VMCORE_H

#include <schedtape-page.h>

#include "recover/memory.h"

struct vmcore;

/*
 * Opens a dump of a machine's memory: ELF, as /proc/vmcore, or compressed, as by makedumpfile.
 * -ENOTSUP: a flattened dump, or one of Xen; -EINVAL: libkdumpfile does not know the format, or
 * the file has no size
 */
int vmcore_open(const char *path, struct vmcore **vmcore, struct schedtape_error *err);
/* Returns its memory, for as long as the dump is open. */
const struct memory *vmcore_memory(const struct vmcore *vmcore);
/* Returns what libkdumpfile calls its format. */
const char *vmcore_format(const struct vmcore *vmcore);
void vmcore_close(struct vmcore *vmcore);

#endif /* SCHEDTAPE_RECOVER_VMCORE_H */
