/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schedulers of a tape.
 */
#ifndef SCHEDTAPE_TAPE_SCHEDULERS_H
#define SCHEDTAPE_TAPE_SCHEDULERS_H

struct schedtape_tape;

/* Joins the SCHEDULER records, once all files are read. */
void tape_schedulers_finish(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_SCHEDULERS_H */
