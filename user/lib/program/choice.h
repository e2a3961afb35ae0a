/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_PROGRAM_CHOICE_H
#define SCHEDTAPE_PROGRAM_CHOICE_H

#include "program/program.h"

/*
 * Calls @options->keep for each task, with its state at the end of the tape.  *kept: the
 * results by task; unchanged if there is no @options->keep.
 */
int schedtape_program_choose(struct schedtape_tape *tape,
			     const struct schedtape_program_options *options, bool **kept,
			     uint32_t *nr_kept, struct schedtape_error *err);

#endif /* SCHEDTAPE_PROGRAM_CHOICE_H */
