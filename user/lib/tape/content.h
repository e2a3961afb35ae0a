/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes in the payloads of records: META, TASKS, PLAYERS, CLOCK, SCHEDULER, PROGRESS, END.
 */
#ifndef SCHEDTAPE_TAPE_CONTENT_H
#define SCHEDTAPE_TAPE_CONTENT_H

#include "tape/bytes.h"

struct schedtape_tape;

/* These return 0; -EBADMSG: the payload is corrupt; -ENOMEM. */
int tape_content_meta(struct schedtape_tape *tape, struct tape_file *file, const char *text,
		      size_t bytes);
int tape_content_tasks(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_players(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_clock(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_scheduler(struct schedtape_tape *tape, const char *text, size_t bytes);
int tape_content_end(struct schedtape_tape *tape, const char *text, size_t bytes);
/* @offset: of the record */
int tape_content_progress(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes,
			  uint64_t offset);
/* Returns true if an earlier tape of the recording has the pages before this one's. */
bool tape_is_later_part(const struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_CONTENT_H */
