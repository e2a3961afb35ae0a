// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of the guest's kernel and of its modules, as /proc/kallsyms lists them.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

struct symbol *symbols;
size_t nr_symbols;

static int compare(const void *a, const void *b)
{
	const struct symbol *s = a, *t = b;

	return s->addr < t->addr ? -1 : s->addr > t->addr;
}

static void add(uint64_t addr, const char *name, bool ours)
{
	if (!(nr_symbols & (nr_symbols + 1)))
		symbols = realloc(symbols, 2 * (nr_symbols + 1) * sizeof(*symbols));
	if (!symbols)
		abort();
	symbols[nr_symbols++] = (struct symbol){
		.addr = addr, .name = strdup(name), .ours = ours,
	};
}

/* Replaces the symbols by those of @text: lines of /proc/kallsyms. */
void symbols_read(char *text)
{
	char *line, *rest = text, name[512], module[64], type;
	unsigned long long addr;
	int n;

	/* Names are kept, because a report may still need them. */
	nr_symbols = 0;
	symbols = NULL;
	while ((line = strsep(&rest, "\n"))) {
		n = sscanf(line, "%llx %c %511s [%63[^]]]", &addr, &type, name, module);
		if (n >= 3 && strchr("tTwW", type))
			add(addr, name, n == 4 && !strcmp(module, "schedtape"));
	}
	qsort(symbols, nr_symbols, sizeof(*symbols), compare);
}

/* Returns the function that has the instruction at @addr, or NULL. */
const struct symbol *symbols_find(uint64_t addr)
{
	size_t low = 0, high = nr_symbols, middle;

	if (!nr_symbols || !(addr >> 63))
		return NULL;
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (symbols[middle].addr <= addr)
			low = middle;
		else
			high = middle;
	}
	return symbols[low].addr <= addr ? &symbols[low] : NULL;
}
