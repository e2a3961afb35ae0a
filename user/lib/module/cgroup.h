/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_CGROUP_H
#define SCHEDTAPE_CGROUP_H

#include <schedtape/client.h>

/* Finds where the cgroup2 hierarchy is mounted; -ENODEV: it is not mounted. */
int schedtape_cgroup_mount(char *path, size_t size, struct schedtape_error *err);
#endif /* SCHEDTAPE_CGROUP_H */
