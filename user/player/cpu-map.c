// SPDX-License-Identifier: GPL-2.0-only
#include "player/cpu-map.h"

#include <stdlib.h>

void cpu_map_complete(struct cpu_map *map)
{
	if (!map->nr && sched_getaffinity(0, sizeof(map->here), &map->here))
		CPU_ZERO(&map->here);
}

static void map_cpu(const struct cpu_map *map, uint32_t cpu, cpu_set_t *cpus)
{
	size_t i;

	if (!map->nr && cpu < CPU_SETSIZE)
		CPU_SET(cpu, cpus);
	for (i = 0; i < map->nr; i++) {
		const struct cpu_map_pair *pair = &map->pairs[i];

		if (cpu >= pair->from && cpu <= pair->from_last)
			CPU_SET(pair->to + (cpu - pair->from) % (pair->to_last - pair->to + 1),
				cpus);
	}
}

/* CPU_COUNT() would need libc. */
static bool is_empty(const cpu_set_t *cpus)
{
	cpu_set_t none;

	CPU_ZERO(&none);
	return CPU_EQUAL(cpus, &none);
}

void cpu_map_apply(const struct cpu_map *map, const unsigned char *mask, size_t bytes,
		   cpu_set_t *cpus)
{
	size_t cpu;

	CPU_ZERO(cpus);
	for (cpu = 0; cpu < 8 * bytes; cpu++)
		if (mask[cpu / 8] & 1 << cpu % 8)
			map_cpu(map, cpu, cpus);
	if (is_empty(&map->here))
		return;
	CPU_AND(cpus, cpus, &map->here);
	if (is_empty(cpus))
		*cpus = map->here;
}

void cpu_map_free(struct cpu_map *map)
{
	free(map->pairs);
	*map = (struct cpu_map){ 0 };
}
