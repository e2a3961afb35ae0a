/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module itself: it comes and goes.
 */
#ifndef SELFTESTS_MODULE_H
#define SELFTESTS_MODULE_H

/* @path: of schedtape.ko.  Return: 0, or an error of finit_module(). */
int st_module_load(const char *path);
/* Does not wait for its users.  Return: 0, or an error of delete_module(). */
int st_module_unload(void);

#endif /* SELFTESTS_MODULE_H */
