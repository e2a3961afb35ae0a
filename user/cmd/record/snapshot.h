/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot: a tape of what the rings have, while the session goes on and overwrites them.
 *
 * Nothing is stopped for it.  The pages are copied while the session may overwrite them, from the
 * oldest on; the module's head shows which copies are whole (schedtape_session_copy()).  What comes
 * after the snapshot stays in the rings, and so does what the snapshot has: the next one reaches as
 * far back as the rings do then.
 */
#ifndef SCHEDTAPE_SNAPSHOT_H
#define SCHEDTAPE_SNAPSHOT_H

#include "record/recording.h"

/*
 * Writes a snapshot, and names it after the tape and the time.  Returns its name; NULL, after a
 * message: it could not be written.  To be called between recorder_start() and recorder_stop() of a
 * recorder with @past and @parts.
 */
const char *snapshot_take(struct recorder *recorder, const struct cause *cause);

#endif /* SCHEDTAPE_SNAPSHOT_H */
