/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_REPLAY_SLEPT_H
#define SCHEDTAPE_REPLAY_SLEPT_H

#include <stdint.h>

/* Returns for how long the machine has slept (suspend, hibernation) since it was started, ns. */
uint64_t slept_so_far(void);
/* Returns for how long it has slept since @before was returned; less than 1 ms is 0. */
uint64_t slept_since(uint64_t before);

#endif /* SCHEDTAPE_REPLAY_SLEPT_H */
