/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_WAITER_H
#define _STAPE_WAITER_H

#include <linux/compiler_types.h>

struct file;
struct stape_session;

long stape_waiter_create(struct stape_session *session, struct file *file, void __user *arg,
			 size_t size);

#endif /* _STAPE_WAITER_H */
