/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads and unloads the module, and asks what it has.
 */
#ifndef SELFTESTS_MODULE_H
#define SELFTESTS_MODULE_H

#include <schedtape/client.h>

/* @path: of schedtape.ko.  Returns 0, or an error of finit_module(). */
int st_module_load(const char *path);
/* Does not wait for the module's users.  Returns 0, or an error of delete_module(). */
int st_module_unload(void);
/* Returns the number of lines of a kernel's file that have this text, or -1. */
int st_count_lines(const char *path, const char *text);
/* By a client of its own.  Returns 0, or the library's error. */
int st_module_info(struct schedtape_module_info *info);

#endif /* SELFTESTS_MODULE_H */
