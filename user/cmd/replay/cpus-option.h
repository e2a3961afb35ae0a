/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay --cpus
 */
#ifndef SCHEDTAPE_CPUS_OPTION_H
#define SCHEDTAPE_CPUS_OPTION_H

#include "player/cpu-map.h"

/*
 * Parses "0-3:0-1,4:2", or "0-1" for all recorded CPUs.  Returns 0, -EINVAL (wrong form),
 * -ENODEV (this process may not use a CPU) or -ENOMEM.
 */
int cpus_option_parse(struct cpu_map *map, const char *text);
/* Returns the CPUs that this process may use, such as "0-3,6", to be freed, or NULL. */
char *cpus_option_usable(void);

#endif /* SCHEDTAPE_CPUS_OPTION_H */
