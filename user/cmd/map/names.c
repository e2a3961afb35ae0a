// SPDX-License-Identifier: GPL-2.0-only
#include "map/names.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for a task.  Returns false: no memory. */
static bool have_room(struct names *names, uint32_t task)
{
	size_t room = names->nr ? names->nr : 64;
	struct name *tasks;

	if (task < names->nr)
		return true;
	while (room <= task)
		room *= 2;
	tasks = reallocarray(names->tasks, room, sizeof(*tasks));
	if (!tasks)
		return false;
	memset(tasks + names->nr, 0, (room - names->nr) * sizeof(*tasks));
	names->tasks = tasks;
	names->nr = room;
	return true;
}

struct name *names_get(struct names *names, uint32_t task, const char comm[STAPE_COMM_LEN])
{
	struct name *name;

	if (!have_room(names, task))
		return NULL;
	name = &names->tasks[task];
	if (names->owners[name->number] != task + 1) {
		name->number = names->next;
		names->next = (names->next + 1) % NAMES_MOST;
		names->owners[name->number] = task + 1;
	} else if (!memcmp(name->comm, comm, STAPE_COMM_LEN)) {
		return name;
	}
	memcpy(name->comm, comm, STAPE_COMM_LEN);
	name->due = true;
	return name;
}

void names_write(const struct name *name, char text[2])
{
	static const char second[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	text[0] = 'A' + name->number % 26;
	text[1] = second[name->number / 26];
}

void names_free(struct names *names)
{
	free(names->tasks);
}
