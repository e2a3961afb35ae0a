/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_STOP_ALL_H
#define _STAPE_STOP_ALL_H

#include <linux/types.h>

extern bool stape_stop_all;

#define STAPE_STOP_ALL_TEXT	"an administrator has switched the module off: see stop_all"

/*
 * Returns true if an administrator has stopped all sessions and replays: none may start.  A session
 * asks under its lock, a replay when it is in its registry, so control/stop_all.c finds each of
 * them that has got false.
 */
static inline bool stape_stop_all_is_set(void)
{
	return READ_ONCE(stape_stop_all);
}

#endif /* _STAPE_STOP_ALL_H */
