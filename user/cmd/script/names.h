/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The name that each PID has at a point of the tape, for printing events.
 */
#ifndef SCHEDTAPE_NAMES_H
#define SCHEDTAPE_NAMES_H

#include <schedtape.h>

struct names;

/*
 * Of a tape that has missed something, a name may stand behind the first event of
 * its task: such a tape is read once for that, and rewound.  -errno.
 */
int names_new(struct schedtape_tape *tape, struct names **names, struct schedtape_error *err);
void names_free(struct names *names);
/* "" if unknown. */
const char *names_get(const struct names *names, uint32_t pid);
/* What the event does to the names.  0 or -ENOMEM. */
int names_follow(struct names *names, const struct schedtape_event *ev);

#endif /* SCHEDTAPE_NAMES_H */
