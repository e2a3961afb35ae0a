/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_PROGRAM_CHOICE_H
#define SCHEDTAPE_PROGRAM_CHOICE_H

#include "program/program.h"

/*
 * Asks @options->keep of each task, by all that the tape says of it.  *kept: by task;
 * NULL: nothing was to be asked.
 */
int schedtape_program_choose(struct schedtape_tape *tape,
			     const struct schedtape_program_options *options, bool **kept,
			     uint32_t *nr_kept, struct schedtape_error *err);

#endif /* SCHEDTAPE_PROGRAM_CHOICE_H */
