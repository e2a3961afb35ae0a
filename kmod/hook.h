/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_HOOK_H
#define _STAPE_HOOK_H

#include <linux/kprobes.h>

/* Functions can be probed where they return, and asked for their arguments. */
#if defined(CONFIG_KRETPROBES) && defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
#define STAPE_HOOKS
#endif

int stape_hook(void);
void stape_unhook(void);

#endif /* _STAPE_HOOK_H */
