/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The number of files that this process may have open.
 */
#ifndef SCHEDTAPE_FILES_LIMIT_H
#define SCHEDTAPE_FILES_LIMIT_H

#include <stddef.h>

#define FILES_LIMIT_MOST	((size_t)-1)	/* as many as the hard limit allows */

/* Raises RLIMIT_NOFILE to @files, as far as the hard limit allows. */
void files_limit_raise(size_t files);
/* In a child, before exec: restores what RLIMIT_NOFILE was first. */
void files_limit_restore(void);

#endif /* SCHEDTAPE_FILES_LIMIT_H */
