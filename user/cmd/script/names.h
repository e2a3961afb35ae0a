/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The name of each PID at the current position of the tape, for printing events.
 */
#ifndef SCHEDTAPE_NAMES_H
#define SCHEDTAPE_NAMES_H

#include <schedtape.h>

struct names;

/*
 * Makes the table of names.  If events are missing, a name may come after the first event of its
 * task, so such a tape is read once for its names, and rewound.  Returns 0 or -errno.
 */
int names_new(struct schedtape_tape *tape, struct names **names, struct schedtape_error *err);
void names_free(struct names *names);
/* Returns "" if the name is unknown. */
const char *names_get(const struct names *names, uint32_t pid);
/* Changes the names as the event does.  Returns 0 or -ENOMEM. */
int names_follow(struct names *names, const struct schedtape_event *ev);

#endif /* SCHEDTAPE_NAMES_H */
