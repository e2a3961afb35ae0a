/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults that the kernel injects into the calling thread: its n-th allocation from now
 * on fails, or copy from or to user space, where the kernel lets these fail, too.
 */
#ifndef SELFTESTS_FAULT_H
#define SELFTESTS_FAULT_H

#include <stdbool.h>

/* Return: NULL, or why this kernel cannot. */
const char *st_fault_begin(void);
void st_fault_end(void);
bool st_fault_arm(unsigned int nth);
/* Disarms.  Return: how many were still to come, that which fails included; 0: it has. */
unsigned int st_fault_left(void);

#endif /* SELFTESTS_FAULT_H */
