/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies records of a tape unchanged, for those who make one tape of another, or of several.
 */
#ifndef SCHEDTAPE_TAPE_COPY_H
#define SCHEDTAPE_TAPE_COPY_H

#include "tape/records.h"
#include "tape/tape.h"
#include "tape/write.h"

/*
 * Returns the indices of the tape's chunks by time, so that a reader of the copy seldom jumps in
 * the file.  The caller frees them.  NULL: no memory.
 */
size_t *tape_copy_order(const struct schedtape_tape *tape);
/*
 * Reads a chunk into the tape's decoder, and checks it.  -EBADMSG: it is corrupt; with @recover
 * that has been noted.
 */
int tape_copy_read(struct schedtape_tape *tape, struct tape_index *index, bool recover,
		   struct tape_head *head, struct schedtape_error *err);
/* Writes the record in the decoder. */
int tape_copy_record(const struct schedtape_tape *tape, const struct tape_head *head,
		     struct schedtape_writer *writer, struct schedtape_error *err);
/* Copies a record of another type.  With @recover, a corrupt one is left out, and noted. */
int tape_copy_other(struct schedtape_tape *tape, const struct tape_other *other, bool recover,
		    struct schedtape_writer *writer, struct schedtape_error *err);
/*
 * Returns a copy of META for a tape of a single file, with the damage of this one as "recovered".
 * The caller puts it.  NULL: an error.
 */
struct json_object *tape_copy_meta(const struct schedtape_tape *tape, struct schedtape_error *err);
/* Copies the header of the tape's first file, with the version @minor if its own is less. */
int tape_copy_header(const struct schedtape_tape *tape, uint16_t minor,
		     struct schedtape_writer *writer, struct schedtape_error *err);

#endif /* SCHEDTAPE_TAPE_COPY_H */
