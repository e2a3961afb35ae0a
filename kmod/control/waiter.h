/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_STREAM_H
#define _STAPE_STREAM_H

#include <linux/compiler_types.h>

struct file;
struct stape_session;

long stape_stream_create(struct stape_session *session, struct file *file, void __user *arg);
void stape_streams_wake(struct stape_session *session);

#endif /* _STAPE_STREAM_H */
