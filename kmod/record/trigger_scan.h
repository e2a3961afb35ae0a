/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_TRIGGER_SCAN_H
#define _STAPE_TRIGGER_SCAN_H

struct work_struct;

/* Works of struct stape_triggers. */
void stape_trigger_scan(struct work_struct *work);
void stape_trigger_count(struct work_struct *work);

#endif /* _STAPE_TRIGGER_SCAN_H */
