/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TASK: the tasks whose waits are explained.
 */
#ifndef SCHEDTAPE_WHY_WHO_H
#define SCHEDTAPE_WHY_WHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/**
 * struct who - TASK as it was given; all 0: every task
 * @text: "812", "redis-server", "redis*", "redis-server:812"; also "kworker/0:2", which is a name
 * @tid: the number in it
 * @name_len: length of what is before the number; without a name 0
 * @numbered: there is a number
 */
struct who {
	const char *text;
	uint32_t tid;
	size_t name_len;
	bool numbered;
};

struct who who_parse(const char *text);
/* Returns true if the task, with its present name, is meant. */
bool who_is(const struct who *who, const struct schedtape_task *task);

#endif /* SCHEDTAPE_WHY_WHO_H */
