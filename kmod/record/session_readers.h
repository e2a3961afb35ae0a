/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSION_READERS_H
#define _STAPE_SESSION_READERS_H

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "base/work.h"
#include "record/session.h"

/**
 * struct stape_readers - which rings some readers read
 * @cpus: those of these CPUs
 * @descriptions: that of the descriptions
 */
struct stape_readers {
	const struct cpumask *cpus;
	bool descriptions;
};

/* Readers of all rings. */
#define STAPE_READERS_ALL	((struct stape_readers){ cpu_possible_mask, true })

/**
 * struct stape_waiter - readers that wait for some of a session's rings
 * @list: entry in the session's @waiters
 * @cpus: the CPUs whose rings they read
 * @descriptions: they read the ring of the descriptions
 * @wait: the readers
 * @wake: wakes them from probes
 */
struct stape_waiter {
	struct list_head list;
	cpumask_t cpus;
	bool descriptions;
	wait_queue_head_t wait;
	struct stape_wake wake;
};

void stape_session_init_readers(struct stape_session *session,
				void (*notify)(struct stape_session *session));
void stape_session_wake_readers(struct stape_session *session);
int stape_session_add_waiter(struct stape_session *session, struct stape_waiter *waiter);
void stape_session_remove_waiter(struct stape_session *session, struct stape_waiter *waiter);
__poll_t stape_session_poll(struct stape_session *session, const struct stape_readers *readers);
bool stape_session_readable(struct stape_session *session, const struct stape_readers *readers,
			    u32 pages);

#endif /* _STAPE_SESSION_READERS_H */
