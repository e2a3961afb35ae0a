/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where players may run.
 */
#ifndef SCHEDTAPE_CPU_MAP_H
#define SCHEDTAPE_CPU_MAP_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct cpu_map - recorded CPUs and those here that stand for them
 * @pairs: the n-th of @from is the n-th of @to, which begins again if it is shorter
 * @here: all CPUs that stand for any; none: nobody knows
 */
struct cpu_map {
	struct cpu_map_pair {
		uint32_t from, from_last;
		uint32_t to, to_last;
	} *pairs;
	size_t nr;
	cpu_set_t here;
};

/* Without a map a CPU stands for itself, if this process may use it now. */
void cpu_map_complete(struct cpu_map *map);
/*
 * Those that stand for the CPUs of a mask, bit n%8 of byte n/8 being CPU n.  Of none: all
 * that stand for any.
 */
void cpu_map_apply(const struct cpu_map *map, const unsigned char *mask, size_t bytes,
		   cpu_set_t *cpus);
void cpu_map_free(struct cpu_map *map);

#endif /* SCHEDTAPE_CPU_MAP_H */
