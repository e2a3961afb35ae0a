/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MISSING_H
#define _STAPE_MISSING_H

#include <linux/types.h>

/* Room for all lines. */
#define STAPE_MISSING_SIZE	1024

size_t stape_missing_text(char *text, size_t size);
void stape_missing_init(void);

#endif /* _STAPE_MISSING_H */
