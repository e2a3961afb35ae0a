/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of CPUs, such as "0-3,6", and masks: bit n % 8 of byte n / 8 is CPU n.
 */
#ifndef SCHEDTAPE_CPU_LIST_H
#define SCHEDTAPE_CPU_LIST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool cpu_list_has(const unsigned char *mask, uint32_t cpu)
{
	return mask[cpu / 8] & 1 << cpu % 8;
}

/* Adds a list to a mask, without CPUs beyond it.  Returns 0, -EINVAL (not a list) or -ENOMEM. */
int cpu_list_mask(unsigned char *mask, size_t bytes, const char *list);
/* Returns a list such as "0-3,6", to be freed, or NULL: out of memory. */
char *cpu_list_text(const unsigned char *mask, size_t bytes);
/* The same of a set. */
char *cpu_list_of_set(const cpu_set_t *set);

#endif /* SCHEDTAPE_CPU_LIST_H */
