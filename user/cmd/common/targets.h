/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whom to record: the options that record and filter have in common.
 */
#ifndef SCHEDTAPE_TARGETS_H
#define SCHEDTAPE_TARGETS_H

#include <argp.h>
#include <stdbool.h>

#include <schedtape/client.h>

/**
 * struct targets - what the options name
 * @filter: all of it, for schedtape_filter_free()
 * @flags_given: an option of filter-set
 */
struct targets {
	struct schedtape_filter filter;
	bool flags_given;
};

/* A child of a command's argp; its input is a struct targets. */
extern const struct argp targets_argp;

/* Are there processes, threads or cgroups in it? */
bool targets_named(const struct targets *targets);

#endif /* SCHEDTAPE_TARGETS_H */
