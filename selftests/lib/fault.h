/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults that the kernel injects into the calling thread: its n-th allocation from now on
 * fails, or its n-th copy from or to user space, where the kernel supports that.
 */
#ifndef SELFTESTS_FAULT_H
#define SELFTESTS_FAULT_H

#include <stdbool.h>

/* Returns NULL, or why this kernel cannot inject faults. */
const char *st_fault_begin(void);
void st_fault_end(void);
bool st_fault_arm(unsigned int nth);
/* Disarms.  Returns how many calls were still to come, the failing one included; 0: it failed. */
unsigned int st_fault_left(void);

#endif /* SELFTESTS_FAULT_H */
