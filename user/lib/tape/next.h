/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of a tape without a copy of each, for commands that read millions of them.
 */
#ifndef SCHEDTAPE_TAPE_NEXT_H
#define SCHEDTAPE_TAPE_NEXT_H

#include <errno.h>

#include <schedtape-tape.h>

/*
 * As schedtape_tape_next(), without a copy of the event.  @brief: set to its brief, which is valid
 * until the next call.  If it is detailed, it is that of a struct schedtape_event.
 */
int tape_next_brief(struct schedtape_tape *tape, const struct schedtape_brief **brief,
		    struct schedtape_error *err);

/* Returns the event whose brief tape_next_brief() has returned, if it is detailed. */
static inline const struct schedtape_event *tape_details(const struct schedtape_brief *brief)
{
	return (const struct schedtape_event *)brief;
}

/* Returns the event of any brief.  @ev: memory for it, in which all is 0 behind the brief */
static inline const struct schedtape_event *tape_event(struct schedtape_event *ev,
						       const struct schedtape_brief *brief)
{
	if (brief->detailed)
		return tape_details(brief);
	ev->brief = *brief;
	return ev;
}

/* As tape_next_brief(), but sets @ev to the event. */
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

#endif /* SCHEDTAPE_TAPE_NEXT_H */
