/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chunks of a pipe that the merge has not needed yet.
 */
#ifndef SCHEDTAPE_TAPE_WAITING_H
#define SCHEDTAPE_TAPE_WAITING_H

#include "tape/cursors.h"
#include "tape/tape.h"

/**
 * struct tape_waiting - a chunk of a pipe that the merge has not needed yet
 * @record: the whole record, as it is stored
 */
struct tape_waiting {
	struct tape_waiting *next;
	struct tape_index index;
	struct tape_head head;
	unsigned char record[];
};

/*
 * tape_waiting_add() adds a chunk; tape_waiting_load() puts the cursor's first one into its memory;
 * tape_waiting_drop() removes it.
 */
int tape_waiting_add(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, const struct tape_index *index);
int tape_waiting_load(struct schedtape_tape *tape, struct tape_cursor *c, const char **why);
void tape_waiting_drop(struct schedtape_tape *tape, struct tape_cursor *c);
/* Frees the cursor's memory. */
void tape_waiting_let_go(struct schedtape_tape *tape, struct tape_cursor *c);
void tape_waiting_exit(struct schedtape_tape *tape);
/* Returns the cursor of a CPU, perhaps a new one, which moves all others.  NULL: no memory. */
struct tape_cursor *tape_waiting_cursor(struct schedtape_tape *tape, uint32_t cpu);

#endif /* SCHEDTAPE_TAPE_WAITING_H */
