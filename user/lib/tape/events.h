/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of a tape without a copy of each, for commands that read millions of them; and what
 * those say that describe a task.
 */
#ifndef SCHEDTAPE_TAPE_EVENTS_H
#define SCHEDTAPE_TAPE_EVENTS_H

#include <errno.h>

#include <schedtape-tape.h>

/* As schedtape_tape_next().  @ev: set to the event, which is valid until the next call. */
int tape_next_event(struct schedtape_tape *tape, const struct schedtape_event **ev,
		    struct schedtape_error *err);

/* As tape_next_event(), but skips corrupt pages, which another pass through the tape reports. */
static inline int tape_next_sound(struct schedtape_tape *tape, const struct schedtape_event **ev,
				  struct schedtape_error *err)
{
	int ret;

	do {
		ret = tape_next_event(tape, ev, err);
	} while (ret == -EBADMSG);
	return ret;
}

/*
 * As schedtape_tape_rewind(), but only descriptions of tasks follow, until it is rewound again.  An
 * old tape, which has them among the other events, has all its events then.
 */
int tape_rewind_descriptions(struct schedtape_tape *tape, struct schedtape_error *err);

/* Returns what a STAPE_EV_TASK says, without an affinity, as if it had been listed then. */
struct schedtape_task_info tape_described(const struct schedtape_event *ev);

#endif /* SCHEDTAPE_TAPE_EVENTS_H */
