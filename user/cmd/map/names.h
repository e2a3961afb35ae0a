/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of two characters for tasks: A0 to Z0, A1 to Z1 and so on up to Z9, as perf sched map has
 * them, and then Aa to ZZ.  After ZZ they are used again.
 */
#ifndef SCHEDTAPE_MAP_NAMES_H
#define SCHEDTAPE_MAP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#define NAMES_MOST	(26 * (10 + 26 + 26))

/**
 * struct name - of a task
 * @comm: the name of the task when its legend was last due
 * @number: of its name; it has that name as long as it is its owner
 * @due: its legend is due: which task the name is of
 */
struct name {
	char comm[STAPE_COMM_LEN];
	uint16_t number;
	bool due;
};

/**
 * struct names - the names of all tasks
 * @owners: by number of a name: number of the task that has it, plus 1; 0: none
 * @next: number of the next name
 * @tasks: by number of the task, @nr of them
 */
struct names {
	uint32_t owners[NAMES_MOST];
	uint32_t next;
	struct name *tasks;
	size_t nr;
};

/*
 * Returns the name of a task, which may be a new one; NULL: no memory.  Its legend is due if the
 * name is new, or @comm has changed.  The name is valid until the next call.
 */
struct name *names_get(struct names *names, uint32_t task, const char comm[STAPE_COMM_LEN]);
/* Writes the two characters of a name. */
void names_write(const struct name *name, char text[2]);
void names_free(struct names *names);

#endif /* SCHEDTAPE_MAP_NAMES_H */
