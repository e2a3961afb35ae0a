/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks to record: options that record and filter have in common.
 */
#ifndef SCHEDTAPE_TARGETS_H
#define SCHEDTAPE_TARGETS_H

#include <argp.h>
#include <stdbool.h>

#include <schedtape/client.h>

/**
 * struct targets - the targets that the options name
 * @filter: the targets; targets_free() frees its lists
 * @flags_given: an option of filter-set was given
 * @no_follow: no cgroup is followed
 */
struct targets {
	struct schedtape_filter filter;
	bool flags_given;
	bool no_follow;
};

/* A child of a command's argp; its input is a struct targets. */
extern const struct argp targets_argp;

/* Returns true if the options name processes, threads or cgroups. */
bool targets_named(const struct targets *targets);
/* Makes them the targets of a session, which has none so far.  Returns 0 or -errno. */
int targets_set(const struct targets *targets, struct schedtape_client *client, uint32_t session,
		struct schedtape_error *err);
void targets_free(struct targets *targets);

#endif /* SCHEDTAPE_TARGETS_H */
