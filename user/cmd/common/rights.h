/* SPDX-License-Identifier: GPL-2.0-only */
/* The rights that the module asks for, and messages about missing ones. */
#ifndef SCHEDTAPE_RIGHTS_H
#define SCHEDTAPE_RIGHTS_H

#include <stdbool.h>

#include <schedtape/client.h>

/* Returns why the module does not build for a kernel, from the log of kmod/dkms-try, or NULL. */
const char *rights_excluded(const char *log);

/*
 * Returns why a kernel of this release has no module, with the command that helps.
 * @installed: modprobe(8) finds the module for this kernel
 * @excluded: why the module does not build for it, or NULL
 */
const char *rights_no_module(const char *release, bool installed, const char *excluded);

/* Returns why this user cannot record, with the command that helps, or NULL. */
const char *rights_obstacle(bool loaded);

/*
 * Returns the same before there was any request, which would load the module.  If opening the
 * device can load it, this is not an obstacle.
 */
const char *rights_before(void);

/*
 * Prints the error of a request to the module: @ret is its result and @err its text.  If this
 * user lacks the right, or there is no module, prints instead the cause and the command that
 * helps, in the words of rights_obstacle().
 * Returns @ret; 0 prints nothing.
 */
int rights_say(int ret, const struct schedtape_error *err);

/*
 * Prints that perf events are not permitted, and the command that helps.  The session has needed
 * CAP_PERFMON as well, which is not always enough.  @what: the option that asks for them
 */
void rights_say_perf(const char *what);

#endif /* SCHEDTAPE_RIGHTS_H */
