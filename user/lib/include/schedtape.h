/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: tapes, the module's client, and the programs that tapes
 * compile to.
 *
 * Functions return 0 (or a count) or -errno, and put the reason in words into
 * the struct schedtape_error that they take (which may be NULL).  Objects are
 * opaque and belong to whoever made them; nothing here keeps global state.
 * One object may be used by one thread at a time.
 */
#ifndef SCHEDTAPE_H
#define SCHEDTAPE_H

#include <schedtape-page.h>
#include <schedtape-tape.h>
#include <schedtape-timeline.h>

#endif /* SCHEDTAPE_H */
