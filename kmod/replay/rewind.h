/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_REWIND_H
#define _STAPE_REWIND_H

struct stape_replay;

int stape_rewind(struct stape_replay *replay);

#endif /* _STAPE_REWIND_H */
