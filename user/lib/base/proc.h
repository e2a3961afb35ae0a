/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_PROC_H
#define SCHEDTAPE_PROC_H

#include <stdbool.h>

/*
 * Returns true if /proc/PID is the process that has this PID in the caller's PID namespace.  In a
 * new namespace without a /proc of its own, it is another one.
 */
bool proc_is_own(void);

#endif /* SCHEDTAPE_PROC_H */
