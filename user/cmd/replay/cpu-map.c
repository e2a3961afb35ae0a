// SPDX-License-Identifier: GPL-2.0-only
#include "replay/cpu-map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu-list.h"
#include "common/select.h"

/* "4" or "0-3". */
static int parse_range(const char *text, size_t len, uint32_t *first, uint32_t *last)
{
	struct select_numbers set = { 0 };
	char *copy = strndup(text, len);
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = select_numbers_parse(&set, copy);
	if (!ret && set.nr != 1)
		ret = -EINVAL;
	if (!ret) {
		*first = set.ranges[0].first;
		*last = set.ranges[0].last;
	}
	select_numbers_free(&set);
	free(copy);
	return ret;
}

static int add_pair(struct cpu_map *map, const struct cpu_map_pair *pair)
{
	struct cpu_map_pair *pairs = realloc(map->pairs, (map->nr + 1) * sizeof(*pairs));
	cpu_set_t usable;
	uint32_t cpu;

	if (!pairs)
		return -ENOMEM;
	map->pairs = pairs;
	map->pairs[map->nr++] = *pair;
	if (sched_getaffinity(0, sizeof(usable), &usable))
		return -errno;
	for (cpu = pair->to; cpu <= pair->to_last; cpu++) {
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &usable))
			return -ENODEV;
		CPU_SET(cpu, &map->here);
	}
	return 0;
}

static int parse_pair(struct cpu_map *map, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	struct cpu_map_pair pair = { 0 };
	int ret;

	if (!colon)
		return -EINVAL;
	ret = parse_range(text, colon - text, &pair.from, &pair.from_last);
	if (!ret)
		ret = parse_range(colon + 1, text + len - colon - 1, &pair.to, &pair.to_last);
	return ret ? ret : add_pair(map, &pair);
}

/* Recorded CPU n is the n-th of the list, which begins again at its end. */
static int parse_list(struct cpu_map *map, const char *text)
{
	struct cpu_map_pair all = { .from_last = UINT32_MAX };

	if (parse_range(text, strlen(text), &all.to, &all.to_last))
		return -EINVAL;
	return add_pair(map, &all);
}

int cpu_map_parse(struct cpu_map *map, const char *text)
{
	size_t len;
	int ret;

	cpu_map_free(map);
	if (!strchr(text, ':'))
		return parse_list(map, text);
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		ret = parse_pair(map, text, len);
		if (ret || !text[len])
			return ret;
	}
}

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

void cpu_map_apply(const struct cpu_map *map, const unsigned char *mask, size_t bytes,
		   cpu_set_t *cpus)
{
	size_t cpu;

	CPU_ZERO(cpus);
	for (cpu = 0; cpu < 8 * bytes; cpu++)
		if (cpu_list_has(mask, cpu))
			map_cpu(map, cpu, cpus);
	if (!CPU_COUNT(&map->here))
		return;
	CPU_AND(cpus, cpus, &map->here);
	if (!CPU_COUNT(cpus))
		*cpus = map->here;
}

void cpu_map_free(struct cpu_map *map)
{
	free(map->pairs);
	*map = (struct cpu_map){ 0 };
}
