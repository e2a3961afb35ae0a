/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tape says about its recording: whether it has all tasks, which throttling it has, and the
 * quotas of cgroups.
 */
#ifndef SCHEDTAPE_WHY_RECORDED_H
#define SCHEDTAPE_WHY_RECORDED_H

#include <stdbool.h>

#include <schedtape.h>

#include "common/quotas.h"

/**
 * struct recorded - of a tape that is open
 * @all: it has all tasks, but for the recorder
 * @knows_idle: it shows when CPUs were idle
 * @throttling: enum stape_throttling
 * @quotas: those of cgroups; of a pipe, as far as they have come
 */
struct recorded {
	bool all;
	bool knows_idle;
	enum stape_throttling throttling;
	struct quotas quotas;
};

/* Returns 0 or -ENOMEM. */
int recorded_read(struct recorded *recorded, struct schedtape_tape *tape);
void recorded_free(struct recorded *recorded);

#endif /* SCHEDTAPE_WHY_RECORDED_H */
