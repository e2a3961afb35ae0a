/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_STEP_H
#define _STAPE_STEP_H

#include <linux/types.h>

struct stape_replay;
struct stape_step;

int stape_step_join(struct stape_replay *replay, u32 number);
int stape_step(struct stape_replay *replay, const struct stape_step *step);
int stape_step_hold(struct stape_replay *replay, u32 number);

#endif /* _STAPE_STEP_H */
