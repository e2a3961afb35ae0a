/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_KEEP_H
#define _STAPE_KEEP_H

#include <linux/types.h>

struct stape_kept;
struct stape_replay;

struct stape_kept *stape_keep_prepare(void);
void stape_keep(struct stape_replay *replay, struct stape_kept *kept);
bool stape_keep_release(struct stape_replay *replay);
void stape_keep_release_all(struct stape_replay *replay);

#endif /* _STAPE_KEEP_H */
