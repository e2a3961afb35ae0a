/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_KEEP_H
#define _STAPE_KEEP_H

#include <linux/types.h>

struct stape_replay;

int stape_keep(struct stape_replay *replay);
bool stape_keep_release(struct stape_replay *replay, bool all);

#endif /* _STAPE_KEEP_H */
