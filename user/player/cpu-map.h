/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps the CPUs of a recording to those that players use.
 */
#ifndef SCHEDTAPE_CPU_MAP_H
#define SCHEDTAPE_CPU_MAP_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct cpu_map - recorded CPUs and the CPUs of this machine that replace them
 * @pairs: the n-th CPU of @from becomes the n-th of @to, which is repeated if it is shorter
 * @here: all CPUs that players may use; empty: not known
 */
struct cpu_map {
	struct cpu_map_pair {
		uint32_t from, from_last;
		uint32_t to, to_last;
	} *pairs;
	size_t nr;
	cpu_set_t here;
};

/* Without pairs, maps each CPU that this process may use now to itself. */
void cpu_map_complete(struct cpu_map *map);
/*
 * Maps the CPUs of @mask, where bit n%8 of byte n/8 is CPU n.  If the result would be empty,
 * sets all CPUs of @here.
 */
void cpu_map_apply(const struct cpu_map *map, const unsigned char *mask, size_t bytes,
		   cpu_set_t *cpus);
void cpu_map_free(struct cpu_map *map);

#endif /* SCHEDTAPE_CPU_MAP_H */
