/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_CPUMASK_H
#define _STAPE_CPUMASK_H

#include <linux/cpumask.h>
#include <net/netlink.h>

void stape_cpumask_read(cpumask_t *cpus, const u8 *bytes, unsigned int n);
int stape_cpumask_put(struct sk_buff *skb, int type, const struct cpumask *cpus);

#endif /* _STAPE_CPUMASK_H */
