/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_PROGRAM_STORE_H
#define SCHEDTAPE_PROGRAM_STORE_H

#include "program/program.h"

/**
 * struct schedtape_op_tail - where the operations of a task end; all 0: it has none
 * @first, @last: the first and the last one, in the program's
 * @link: the last place of the last one's block
 * @size: places of that block
 */
struct schedtape_op_tail {
	uint64_t first;
	uint64_t last;
	uint64_t link;
	uint32_t size;
};

/*
 * All of them: -errno.  What is there of the same kind may move.
 */
int schedtape_program_add_task(struct schedtape_program *program,
			       const struct schedtape_program_task *task);
int schedtape_program_add_op(struct schedtape_program *program, struct schedtape_op_tail *tail,
			     const struct schedtape_op *op);
int schedtape_program_add_root(struct schedtape_program *program, uint32_t number);
int schedtape_program_add_edge(struct schedtape_program *program, uint32_t waker,
			       uint32_t wakee);
/* *index: of the one that has it, which may be new. */
int schedtape_program_add_cgroup(struct schedtape_program *program, uint64_t id,
				 uint32_t *index);
int schedtape_program_add_deadline(struct schedtape_program *program,
				   const struct schedtape_deadline *dl, uint32_t *index);
int schedtape_program_add_affinity(struct schedtape_program *program,
				   const unsigned char *affinity, uint32_t *index);
int schedtape_program_add_name(struct schedtape_program *program, const char *name);

/* Takes a task's last operation back; another has to follow at once. */
static inline void schedtape_program_drop_op(struct schedtape_op_tail *tail)
{
	tail->last--;
}

/* Nothing is added or changed any more. */
void schedtape_program_close(struct schedtape_program *program);

#endif /* SCHEDTAPE_PROGRAM_STORE_H */
