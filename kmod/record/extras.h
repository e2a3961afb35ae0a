/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of the switch probe's slow paths.  It is on if a replay watches tasks, or if a session
 * wants system calls or has triggers.  With one key for all of them, the probe has a single nop
 * when it is off.
 */
#ifndef _STAPE_EXTRAS_H
#define _STAPE_EXTRAS_H

#include <linux/jump_label_ratelimit.h>

extern struct static_key_false_deferred stape_extras_key;

/* Returns true if the switch probe may have more to do than to write the switch. */
static __always_inline bool stape_extras_enabled(void)
{
	return static_branch_unlikely(&stape_extras_key.key);
}

void stape_extras_get(void);
void stape_extras_put(void);
void stape_extras_exit(void);

#endif /* _STAPE_EXTRAS_H */
