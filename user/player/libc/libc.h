/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few functions of a C library that the program of players needs.
 */
#ifndef SCHEDTAPE_LIBC_H
#define SCHEDTAPE_LIBC_H

#include <stdint.h>

/* Lets clock_gettime() use the library at this address that the kernel maps into each process. */
void libc_find_clock(uintptr_t library);

#endif /* SCHEDTAPE_LIBC_H */
