/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each PID is at the current position of the tape, for commands that look at its events one
 * after the other.
 */
#ifndef SCHEDTAPE_IDENTITIES_H
#define SCHEDTAPE_IDENTITIES_H

#include <schedtape.h>

#include "base/text.h"

#define IDENTITY_NO_PRIO	INT32_MAX
#define IDENTITY_NO_POLICY	UINT8_MAX

/**
 * struct identity - a task
 * @comm: its name; "": not known
 * @name: @comm as it may be printed, see base/text.h
 * @name_len: bytes of @name
 * @quoted: JSON needs a backslash in @name
 * @boosted: a waiter lends it its priority
 * @policy: SCHED_*; IDENTITY_NO_POLICY: not known
 * @cgroup: id of its cgroup; 0: not known
 * @start_time: when it was created, ns of CLOCK_MONOTONIC; 0: not known
 * @tgid: PID of its process; 0: not known
 * @prio: the kernel's effective priority; IDENTITY_NO_PRIO: not known
 * @cpu: where it is; STAPE_CPU_NONE: not known
 */
struct identity {
	char comm[STAPE_COMM_LEN];
	char name[TEXT_NAME_LEN];
	uint8_t name_len;
	bool quoted;
	bool boosted;
	uint8_t policy;
	uint64_t cgroup;
	uint64_t start_time;
	uint32_t tgid;
	int32_t prio;
	uint32_t cpu;
};

struct identities;

/* Returns a name for what a CPU runs besides recorded tasks, which has no identity on a tape. */
static inline const char *identities_kind(unsigned int kind)
{
	return kind == STAPE_NEXT_IDLE ? "idle" : "other";
}

/*
 * Makes the table.  If events are missing, the identity of a task may come after its first event,
 * so such a tape is read once for it, and rewound, but not a pipe.  Returns 0 or -errno.
 */
int identities_new(struct schedtape_tape *tape, struct identities **identities,
		   struct schedtape_error *err);
void identities_free(struct identities *identities);
/* Returns an empty identity if nothing is known of the task.  It is valid until the next event. */
const struct identity *identities_get(const struct identities *identities, uint32_t pid);
/*
 * Takes the tape's descriptions of tasks from before @time; identities_follow() does so, too.
 * Returns 0 or -ENOMEM.
 */
int identities_reach(struct identities *identities, uint64_t time);
/* Changes the identities as the event does.  Returns 0 or -ENOMEM. */
int identities_follow(struct identities *identities, const struct schedtape_event *ev);

#endif /* SCHEDTAPE_IDENTITIES_H */
