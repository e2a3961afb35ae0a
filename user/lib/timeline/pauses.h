/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a session was paused, of the pauses of all its CPUs.
 */
#ifndef SCHEDTAPE_PAUSES_H
#define SCHEDTAPE_PAUSES_H

#include <schedtape.h>

/**
 * struct schedtape_pauses - pauses, by time; all 0: none
 */
struct schedtape_pauses {
	struct schedtape_range *pauses;
	size_t nr;
};

/*
 * Adds the SCHEDTAPE_EV_PAUSED of a CPU: the time that it has in common with those of other CPUs,
 * which begin and end a pause in turn.  Returns 0 or -ENOMEM.
 */
int schedtape_pauses_add(struct schedtape_pauses *pauses, const struct schedtape_event *ev);
void schedtape_pauses_free(struct schedtape_pauses *pauses);

#endif /* SCHEDTAPE_PAUSES_H */
