/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MM_PIN_H
#define _STAPE_MM_PIN_H

#include <linux/types.h>

struct stape_replay;

int stape_mm_pin(struct stape_replay *replay);
bool stape_mm_pin_release(struct stape_replay *replay, bool all);

#endif /* _STAPE_MM_PIN_H */
