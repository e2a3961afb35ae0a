/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_PROGRAM_ENTRIES_H
#define SCHEDTAPE_PROGRAM_ENTRIES_H

#include "program/program.h"

/**
 * struct schedtape_op_tail - end of a task's operations; all 0: it has none
 * @first, @last: indices of its first and its last operation in the program's @ops
 * @link: the last place of the last operation's block
 * @size: number of places of that block
 */
struct schedtape_op_tail {
	uint64_t first;
	uint64_t last;
	uint64_t link;
	uint32_t size;
};

/*
 * These add an entry and return 0 or -errno.  They may move the array of such entries.
 */
int schedtape_program_add_task(struct schedtape_program *program,
			       const struct schedtape_program_task *task);
int schedtape_program_add_op(struct schedtape_program *program, struct schedtape_op_tail *tail,
			     const struct schedtape_op *op);
int schedtape_program_add_root(struct schedtape_program *program, uint32_t number);
int schedtape_program_add_player(struct schedtape_program *program, uint32_t task);
int schedtape_program_add_edge(struct schedtape_program *program, uint32_t waker,
			       uint32_t wakee);
/* These three add no entry if an equal one exists.  *index: that of the entry. */
int schedtape_program_add_cgroup(struct schedtape_program *program, uint64_t id,
				 uint32_t *index);
int schedtape_program_add_more(struct schedtape_program *program,
			       const union schedtape_more *more, uint32_t *index);
int schedtape_program_add_affinity(struct schedtape_program *program,
				   const unsigned char *affinity, uint32_t *index);
int schedtape_program_add_name(struct schedtape_program *program, const char *name);

/* Removes a task's last operation.  The caller must add another one at once. */
static inline void schedtape_program_drop_op(struct schedtape_op_tail *tail)
{
	tail->last--;
}

/* Makes the program read-only. */
void schedtape_program_close(struct schedtape_program *program);

#endif /* SCHEDTAPE_PROGRAM_ENTRIES_H */
