/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows a tape, and explains the waits of the selected tasks: the worst ones, those at a time, or
 * all of them together.
 */
#ifndef SCHEDTAPE_WHY_WAITS_H
#define SCHEDTAPE_WHY_WAITS_H

#include "common/selection.h"
#include "why/causes.h"
#include "why/chain.h"
#include "why/history.h"
#include "why/recorded.h"

/**
 * struct waits - what is wanted, and what was found
 * @who: the tasks that wait; they must match @selection, too
 * @selection: --cpu and --time: where and when the wait ends
 * @recorded: the quotas of cgroups, which are updated when more of them come
 * @most: how many of the worst waits are wanted
 * @at: only waits that have this time, ns of the session's clock; SPAN_NONE: any
 * @all: add all waits to @causes
 * @rest: a task's own sleep makes a wait worse, too
 * @history: what tasks and CPUs did
 * @causes: with @all
 * @chains: the @nr worst waits, the worst first
 * @nr_more: with @at: waits that are not among these
 * @chain: the one that is being made
 * @ran: with @at: the last selected task that ran then, as it was called then
 */
struct waits {
	const struct select_names *who;
	const struct selection *selection;
	struct recorded *recorded;
	size_t most;
	uint64_t at;
	bool all;
	bool rest;
	struct history history;
	struct causes causes;
	struct chain *chains;
	size_t nr;
	size_t nr_more;
	struct chain chain;
	struct link_name ran;
};

/* Callbacks of the timeline, for a struct waits. */
extern const struct schedtape_timeline_ops waits_ops;

void waits_free(struct waits *waits);

#endif /* SCHEDTAPE_WHY_WAITS_H */
