/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PROBE_H
#define _STAPE_PROBE_H

struct stape_session;

int stape_probe_init(void);
int stape_probe_get(void);
void stape_probe_put(void);
void stape_probe_refresh(void *data);
void stape_probe_refresh_current(struct stape_session *session);

#endif /* _STAPE_PROBE_H */
