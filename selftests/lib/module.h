/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads and unloads the module.
 */
#ifndef SELFTESTS_MODULE_H
#define SELFTESTS_MODULE_H

/* @path: of schedtape.ko.  Returns 0, or an error of finit_module(). */
int st_module_load(const char *path);
/* Does not wait for the module's users.  Returns 0, or an error of delete_module(). */
int st_module_unload(void);

#endif /* SELFTESTS_MODULE_H */
