/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SELFTEST_H
#define _STAPE_SELFTEST_H

int stape_selftest_init(void);

#endif /* _STAPE_SELFTEST_H */
