/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each PID is at the current position of the tape, for commands that look at its events one
 * after the other.
 */
#ifndef SCHEDTAPE_IDENTITIES_H
#define SCHEDTAPE_IDENTITIES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <schedtape.h>

#include "base/text.h"

#define IDENTITY_NO_PRIO	INT32_MAX
#define IDENTITY_NO_POLICY	UINT8_MAX

/**
 * struct identity - a task
 * @comm: its name; "": not known
 * @name: @comm as it may be printed, see base/text.h
 * @name_len: bytes of @name
 * @policy: SCHED_*; IDENTITY_NO_POLICY: not known
 * @quoted: JSON needs a backslash in @name
 * @boosted: a waiter lends it its priority
 * @current: an event has named it, and it has not ended; this member and the next three are for
 *	identities.c
 * @unseen: it had ended when it was described, and no event has named it yet
 * @joined: its first event was that it entered the filter
 * @left: it has left the filter
 * @cgroup: id of its cgroup; 0: not known
 * @start_time: when it was created, ns of CLOCK_MONOTONIC; 0: not known
 * @tgid: PID of its process; 0: not known
 * @ns_pid: its PID in its own PID namespace; 0: not described, so that it is the same
 * @prio: the kernel's effective priority; IDENTITY_NO_PRIO: not known
 * @cpu: where it is; STAPE_CPU_NONE: not known
 * @number: for the caller of identities_find(); 0: it has not set it yet
 */
struct identity {
	char comm[STAPE_COMM_LEN];
	char name[TEXT_NAME_LEN];
	uint8_t name_len;
	uint8_t policy;
	bool quoted : 1;
	bool boosted : 1;
	bool current : 1;
	bool unseen : 1;
	bool joined : 1;
	bool left : 1;
	uint64_t cgroup;
	uint64_t start_time;
	uint32_t tgid;
	uint32_t ns_pid;
	int32_t prio;
	uint32_t cpu;
	uint32_t number;
};

struct identities;

/* Returns a name for what a CPU runs besides recorded tasks, which has no identity on a tape. */
static inline const char *identities_kind(unsigned int kind)
{
	return kind == STAPE_NEXT_IDLE ? "idle" : "other";
}

/* Returns the kernel's priority of a task that no waiter boosts. */
static inline int32_t identities_prio(uint32_t policy, int32_t nice, uint32_t rt_priority)
{
	if (policy == SCHED_DEADLINE)
		return -1;
	return rt_priority ? 99 - (int32_t)rt_priority : 120 + nice;
}

/*
 * Makes the table.  If events are missing, the identity of a task may come after its first event,
 * so such a tape is read once for it, and rewound, but not a pipe.  Returns 0 or -errno.
 */
int identities_new(struct schedtape_tape *tape, struct identities **identities,
		   struct schedtape_error *err);
void identities_free(struct identities *identities);
/*
 * Returns an empty identity if nothing is known of the task; if it has ended, its last one.  It is
 * valid until the next event.
 */
const struct identity *identities_get(const struct identities *identities, uint32_t pid);
/*
 * Returns the task that has a PID, whose @number the caller may set; it may be a new one.  NULL: no
 * memory.  @pid: of the last event, not 0
 */
struct identity *identities_find(struct identities *identities, uint32_t pid);
/* Returns @ns_pid of the task that leads the process of a PID; 0 also if that is not known. */
uint32_t identities_ns_tgid(const struct identities *identities, uint32_t pid);
/* Returns the task that leads the process of a PID that identities_find() has found. */
struct identity *identities_leader(const struct identities *identities, uint32_t pid);
/* Returns true if the last task of a PID, if there is one, has no @number and has not ended. */
bool identities_is_new(const struct identities *identities, uint32_t pid);
/* Sets a function that is called when a task is over. */
void identities_watch(struct identities *identities,
		      void (*over)(void *arg, uint32_t pid, const struct identity *task),
		      void *arg);
/*
 * Takes the tape's descriptions of tasks from before @time; identities_follow() does so, too.
 * Returns 0 or -ENOMEM.
 */
int identities_reach(struct identities *identities, uint64_t time);
/* Changes the identities as the event does.  Returns 0 or -ENOMEM. */
int identities_follow(struct identities *identities, const struct schedtape_event *ev);
/* Takes all descriptions, and ends all tasks.  Returns 0 or -ENOMEM. */
int identities_end(struct identities *identities);

#endif /* SCHEDTAPE_IDENTITIES_H */
