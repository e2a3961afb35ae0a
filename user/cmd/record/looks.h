/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks at what may change while a recording runs, and has no events: the scheduler of ordinary
 * tasks, and the quotas of cgroups.
 */
#ifndef SCHEDTAPE_LOOKS_H
#define SCHEDTAPE_LOOKS_H

#include "record/recording.h"

#define LOOKS_MS	1000	/* between two looks */

/* @filter: NULL: only a command is recorded */
void looks_open(struct recorder *recorder, const struct schedtape_filter *filter);
/* Writes what is there before the session starts, so that each later change is found. */
int looks_begin(struct recorder *recorder, struct schedtape_error *err);
/* Writes what has changed since the last look. */
int looks_again(struct recorder *recorder, struct schedtape_error *err);
/* The last look, after the session has stopped. */
int looks_end(struct recorder *recorder, struct schedtape_error *err);
/* Returns true if something may change that no descriptor reports. */
bool looks_needed(const struct recorder *recorder);
void looks_close(struct recorder *recorder);

#endif /* SCHEDTAPE_LOOKS_H */
