/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tracepoints that a tape has samples of.
 */
#ifndef SCHEDTAPE_TAPE_FORMATS_H
#define SCHEDTAPE_TAPE_FORMATS_H

#include <stddef.h>

struct schedtape_tape;

/* Reads a FORMATS payload.  -EBADMSG: corrupt; no format of it is kept then. */
int tape_content_formats(struct schedtape_tape *tape, const char *text, size_t bytes);
/* Removes all formats but the first @n. */
void tape_formats_forget(struct schedtape_tape *tape, size_t n);

#endif /* SCHEDTAPE_TAPE_FORMATS_H */
