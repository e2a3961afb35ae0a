/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_RULES_H
#define _STAPE_RULES_H

#include <schedtape/netlink.h>

struct stape_active;
struct stape_filter_flags;
struct task_struct;

int stape_rules_interrupted(void);
int stape_rules_add_task(struct stape_active *active, struct task_struct *task, bool process);
int stape_rules_del_task(struct stape_active *active, struct task_struct *task, bool process);
int stape_rules_add_cgroup(struct stape_active *active, u64 id, bool follow);
int stape_rules_del_cgroup(struct stape_active *active, u64 id);
void stape_rules_update_all(struct stape_active *active);
int stape_rules_set(struct stape_active *active, const struct stape_filter_flags *flags,
		    char (*patterns)[STAPE_PATTERN_LEN], u32 nr_patterns);
void stape_rules_update_moved(struct stape_active *active);

#endif /* _STAPE_RULES_H */
