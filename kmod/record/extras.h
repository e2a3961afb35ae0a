/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the switch probe has more to do than to write the switch.  One key for all such cases
 * costs the usual one a single nop.
 */
#ifndef _STAPE_EXTRAS_H
#define _STAPE_EXTRAS_H

#include <linux/jump_label_ratelimit.h>

extern struct static_key_false_deferred stape_extras_key;

/* Returns true if tasks may be watched, or if a session may want system calls. */
static __always_inline bool stape_extras_enabled(void)
{
	return static_branch_unlikely(&stape_extras_key.key);
}

void stape_extras_get(void);
void stape_extras_put(void);
void stape_extras_exit(void);

#endif /* _STAPE_EXTRAS_H */
