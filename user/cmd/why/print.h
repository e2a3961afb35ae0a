/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints chains, and the table of causes.
 */
#ifndef SCHEDTAPE_WHY_PRINT_H
#define SCHEDTAPE_WHY_PRINT_H

#include "common/sheet.h"
#include "common/syscalls.h"
#include "common/time-text.h"
#include "why/causes.h"
#include "why/chain.h"
#include "why/recorded.h"

/* The columns of the causes. */
extern const struct sheet_column why_columns[];

/**
 * struct printer - how chains are printed
 * @syscalls: their names
 * @times: how times are printed
 * @top: lines of one chain, or links in JSON
 */
struct printer {
	struct syscalls *syscalls;
	struct time_text *times;
	size_t top;
};

/*
 * Prints a wait, and its links one a line.  If there are more than @top, the chain is merged first,
 * see chain_merge(), and only @top lines are printed.
 */
void why_print_wait(const struct printer *printer, struct chain *chain);
/* Prints a critical path in the same way. */
void why_print_path(const struct printer *printer, struct chain *chain);
/* Prints notes on what links mean.  @kinds: those that the chains have, a bit for each. */
void why_print_notes(unsigned int kinds, const struct history *history);
/* Adds a chain to a list of JSON.  It is merged and cut in the same way. */
void why_json_chain(const struct printer *printer, struct chain *chain);
/* Fills the table of causes, without sleeps that are kept apart.  Returns 0 or -ENOMEM. */
int why_fill(struct sheet *sheet, const struct causes *causes, struct syscalls *syscalls);
/* Returns the kinds of the chain's links, a bit for each. */
unsigned int why_kinds(const struct chain *chain);

#endif /* SCHEDTAPE_WHY_PRINT_H */
