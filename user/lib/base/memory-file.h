/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_MEMORY_FILE_H
#define SCHEDTAPE_MEMORY_FILE_H

#include <stdbool.h>

/*
 * Makes a file in memory that ends with its last descriptor, which exec() closes, and that can be
 * sealed.  @program: it may be executed.  Returns its descriptor or -errno.
 */
int memory_file_make(const char *name, bool program);

#endif /* SCHEDTAPE_MEMORY_FILE_H */
