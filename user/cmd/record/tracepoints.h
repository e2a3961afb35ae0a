/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other tracepoints of the kernel that are recorded beside scheduling: those that -e names, with
 * their descriptions from tracefs.
 */
#ifndef SCHEDTAPE_TRACEPOINTS_H
#define SCHEDTAPE_TRACEPOINTS_H

#include <stdbool.h>
#include <stddef.h>

#include <schedtape.h>

/**
 * struct tracepoint_pattern - a part of an argument of -e
 * @text: "irq:*"; tracepoints_free() frees it
 * @filter: argument of the --filter behind it, or NULL
 */
struct tracepoint_pattern {
	char *text;
	const char *filter;
};

/**
 * struct tracepoints - the tracepoints to record
 * @found: those that match the @n @patterns, after tracepoints_find()
 */
struct tracepoints {
	struct tracepoint_pattern *patterns;
	size_t n;
	struct schedtape_format *found;
	size_t nr_found;
	size_t capacity;
};

/* Adds an argument of -e, "irq:*,net:netif_rx".  Returns 0, -EINVAL or -ENOMEM. */
int tracepoints_add(struct tracepoints *points, const char *text);
/* Sets the filter of the pattern that was added last.  Returns false if there is no pattern. */
bool tracepoints_filter(struct tracepoints *points, const char *filter);
/* Reads what matches from tracefs.  Returns 0, or -errno after a message. */
int tracepoints_find(struct tracepoints *points);
void tracepoints_free(struct tracepoints *points);

#endif /* SCHEDTAPE_TRACEPOINTS_H */
