/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_LACK_H
#define _STAPE_LACK_H

#include <linux/types.h>

/* Room for all lines. */
#define STAPE_LACK_SIZE	512

size_t stape_lack_text(char *text, size_t size);
void stape_lack_init(void);

#endif /* _STAPE_LACK_H */
