/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_MACHINE_AUTOGROUPS_H
#define SCHEDTAPE_MACHINE_AUTOGROUPS_H

#include <stddef.h>

#include "base/group.h"

/* Reads the nice values of the autogroups that tasks are in.  Sorts the tasks. */
void schedtape_autogroups_read(struct schedtape_group *groups, size_t n);

#endif /* SCHEDTAPE_MACHINE_AUTOGROUPS_H */
