// SPDX-License-Identifier: GPL-2.0-only
/*
 * Masks of CPUs as bytes, independent of the size and byte order of the machine's words: bit
 * n%8 of byte n/8 is CPU n.
 */
#include "control/internal.h"

/**
 * stape_cpumask_read() - read a mask of CPUs
 * @cpus: returned: the possible CPUs in the mask
 * @bytes: the mask
 * @n: length of @bytes
 *
 * Context: any.
 */
void stape_cpumask_read(cpumask_t *cpus, const u8 *bytes, unsigned int n)
{
	int cpu;

	cpumask_clear(cpus);
	for_each_possible_cpu(cpu) {
		u32 at = cpu / BITS_PER_BYTE;

		if (at < n && bytes[at] & BIT(cpu % BITS_PER_BYTE))
			cpumask_set_cpu(cpu, cpus);
	}
}

/**
 * stape_cpumask_put() - put a mask of CPUs into a message
 * @skb: the message
 * @type: the attribute's type
 * @cpus: the mask; CPUs that are not possible are left out
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if the message is full.
 */
int stape_cpumask_put(struct sk_buff *skb, int type, const struct cpumask *cpus)
{
	struct nlattr *attr = nla_reserve(skb, type, DIV_ROUND_UP(nr_cpu_ids, BITS_PER_BYTE));
	u8 *bytes;
	int cpu;

	if (!attr)
		return -EMSGSIZE;
	bytes = nla_data(attr);
	memset(bytes, 0, nla_len(attr));
	for_each_possible_cpu(cpu)
		if (cpumask_test_cpu(cpu, cpus))
			bytes[cpu / BITS_PER_BYTE] |= 1 << cpu % BITS_PER_BYTE;
	return 0;
}
