/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_TIMER_H
#define _STAPE_TIMER_H

struct stape_player;

void stape_timer_init(struct stape_player *player);
void stape_timer_arm(struct stape_player *player);
void stape_timer_disarm(struct stape_player *player);

#endif /* _STAPE_TIMER_H */
