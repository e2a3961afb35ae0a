// SPDX-License-Identifier: GPL-2.0-only
#include "replay/cpus-option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Maps recorded CPU n to the n-th CPU of the list, which repeats. */
static int parse_list(struct cpu_map *map, const char *text)
{
	struct cpu_map_pair all = { .from_last = UINT32_MAX };

	if (parse_range(text, strlen(text), &all.to, &all.to_last))
		return -EINVAL;
	return add_pair(map, &all);
}

int cpus_option_parse(struct cpu_map *map, const char *text)
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

char *cpus_option_usable(void)
{
	cpu_set_t usable;

	return sched_getaffinity(0, sizeof(usable), &usable) ? NULL : cpu_list_of_set(&usable);
}
