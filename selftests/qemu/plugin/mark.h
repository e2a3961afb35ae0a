/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives orders to the plugin in the emulator, see main.c: a nop with a certain displacement, the
 * order's address and its length.  It does nothing without the plugin.
 */
#ifndef PLUGIN_MARK_H
#define PLUGIN_MARK_H

#include <stdio.h>
#include <string.h>

/* Gives the order @text, which has to be in memory, not only in a file that is mapped. */
static inline void mark_text(const char *text, size_t length)
{
#ifdef __x86_64__
	asm volatile("nopl 0x53545031(%%rax)" : : "D"(text), "S"(length) : "memory");
#else
	(void)text;
	(void)length;
#endif
}

/* Gives a short order. */
static inline void mark(const char *order)
{
	char text[128];

	mark_text(text, snprintf(text, sizeof(text), "%s", order));
}

#endif /* PLUGIN_MARK_H */
