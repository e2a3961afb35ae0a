/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each PID is at the current position of the tape, for commands that look at its events one
 * after the other.
 */
#ifndef SCHEDTAPE_IDENTITIES_H
#define SCHEDTAPE_IDENTITIES_H

#include <schedtape.h>

/**
 * struct identity - a task
 * @comm: its name; "": not known
 * @cgroup: id of its cgroup; 0: not known
 * @tgid: PID of its process; 0: not known
 */
struct identity {
	char comm[STAPE_COMM_LEN];
	uint64_t cgroup;
	uint32_t tgid;
};

struct identities;

/*
 * Makes the table.  If events are missing, the identity of a task may come after its first event,
 * so such a tape is read once for it, and rewound.  Returns 0 or -errno.
 */
int identities_new(struct schedtape_tape *tape, struct identities **identities,
		   struct schedtape_error *err);
void identities_free(struct identities *identities);
/* Returns an empty identity if nothing is known of the task.  It is valid until the next event. */
const struct identity *identities_get(const struct identities *identities, uint32_t pid);
/* Changes the identities as the event does.  Returns 0 or -ENOMEM. */
int identities_follow(struct identities *identities, const struct schedtape_event *ev);

#endif /* SCHEDTAPE_IDENTITIES_H */
