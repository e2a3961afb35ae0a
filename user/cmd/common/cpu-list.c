// SPDX-License-Identifier: GPL-2.0-only
#include "common/cpu-list.h"

#include <stdio.h>

#include "common/select.h"

int cpu_list_mask(unsigned char *mask, size_t bytes, const char *list)
{
	struct select_numbers numbers = { 0 };
	uint32_t cpu;
	int ret;

	ret = select_numbers_parse(&numbers, list);
	for (cpu = 0; cpu < 8 * bytes && !ret; cpu++)
		if (select_numbers_has(&numbers, cpu))
			mask[cpu / 8] |= 1 << cpu % 8;
	select_numbers_free(&numbers);
	return ret;
}

char *cpu_list_text(const unsigned char *mask, size_t bytes)
{
	uint32_t cpu, end, n = 8 * bytes;
	char *list = NULL;
	size_t size;
	FILE *to = open_memstream(&list, &size);

	if (!to)
		return NULL;
	for (cpu = 0; cpu < n; cpu = end + 1) {
		for (end = cpu; end < n && cpu_list_has(mask, end); end++)
			;
		if (end == cpu)
			continue;
		fprintf(to, "%s%u", ftell(to) ? "," : "", cpu);
		if (end - cpu > 1)
			fprintf(to, "-%u", end - 1);
	}
	return fclose(to) ? NULL : list;
}

char *cpu_list_of_set(const cpu_set_t *set)
{
	unsigned char mask[CPU_SETSIZE / 8] = { 0 };
	size_t cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			mask[cpu / 8] |= 1 << cpu % 8;
	return cpu_list_text(mask, sizeof(mask));
}
