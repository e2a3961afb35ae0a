/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_REPLAY_FILE_H
#define _STAPE_REPLAY_FILE_H

#include "replay/replay.h"

struct seq_file;

struct stape_replay *stape_replay_create(struct stape_replay_setup __user *arg, size_t size,
					 struct stape_account *account, u32 powers,
					 void (*notify)(struct stape_replay *replay));

void stape_replay_file_show(struct seq_file *seq, struct stape_replay *replay);

#endif /* _STAPE_REPLAY_FILE_H */
