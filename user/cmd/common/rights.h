/* SPDX-License-Identifier: GPL-2.0-only */
/* The rights that the module asks for, and messages about missing ones. */
#ifndef SCHEDTAPE_RIGHTS_H
#define SCHEDTAPE_RIGHTS_H

#include <stdbool.h>

#include <schedtape/client.h>

/* Returns why this user cannot record, with the command that helps, or NULL. */
const char *rights_obstacle(bool loaded);

/*
 * Prints the error of a request to the module: @ret is its result and @err its text.  If this
 * user lacks the right, prints instead which right that is and the command that gives it.
 * Returns @ret; 0 prints nothing.
 */
int rights_say(int ret, const struct schedtape_error *err);

#endif /* SCHEDTAPE_RIGHTS_H */
