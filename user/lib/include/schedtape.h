/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: tapes, the module's client, and the programs that tapes
 * compile to.
 *
 * Functions return 0 (or a count) or -errno, and put the reason in words into
 * the struct schedtape_error that they take (which may be NULL).  Objects are
 * opaque, and the caller that creates an object frees it.  There is no global state.
 * Only one thread at a time may use an object.
 */
#ifndef SCHEDTAPE_H
#define SCHEDTAPE_H

#include <schedtape-page.h>
#include <schedtape-tape.h>
#include <schedtape-timeline.h>

#endif /* SCHEDTAPE_H */
