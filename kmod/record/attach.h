/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_ATTACH_H
#define _STAPE_ATTACH_H

#include <linux/types.h>

struct tracepoint;

int stape_attach_init(void);
void stape_attach_exit(void);
void stape_attach_try(void);
struct tracepoint *stape_attach_tracepoint(const char *name);
u64 stape_attach_missed_calls(void);
size_t stape_attach_missing(char *text, size_t size);
u32 stape_attach_throttling(void);
int stape_attach_get(void);
void stape_attach_put(void);

#endif /* _STAPE_ATTACH_H */
