// SPDX-License-Identifier: GPL-2.0-only
#include "why/causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Gets the number of a task's name.  Returns 0 or -ENOMEM. */
static int number_name(struct causes *causes, const struct schedtape_task *tasks, uint32_t index,
		       uint32_t *number)
{
	uint32_t words[STAPE_COMM_LEN / sizeof(uint32_t)], first, second;
	char (*texts)[STAPE_COMM_LEN];
	const char *comm;

	*number = SCHEDTAPE_NONE;
	if (index == SCHEDTAPE_NONE)
		return 0;
	comm = schedtape_task_at(tasks, index)->comm;
	memcpy(words, comm, sizeof(words));
	if (schedtape_edges_number(&causes->halves, words[0], words[1], &first) ||
	    schedtape_edges_number(&causes->halves, words[2], words[3], &second) ||
	    schedtape_edges_number(&causes->names, first, second, number))
		return -ENOMEM;
	if (*number < causes->nr_texts)
		return 0;
	texts = reallocarray(causes->texts, *number + 1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	memcpy(texts[*number], comm, sizeof(*texts));
	causes->texts = texts;
	causes->nr_texts = *number + 1;
	return 0;
}

/* Returns the cause of a link; NULL: no memory. */
static struct cause *find(struct causes *causes, const struct chain *chain,
			  const struct link *link, const struct schedtape_task *tasks)
{
	struct cause cause = { .kind = link->kind, .syscall = SCHEDTAPE_SYSCALL_UNKNOWN }, *list;
	uint32_t number, with;

	cause.rest = causes->apart && chain_is_rest(chain, link);
	if (!causes->apart)
		cause.syscall = link->syscall;
	if (number_name(causes, tasks, link->task, &cause.task) ||
	    number_name(causes, tasks, link->other, &cause.other))
		return NULL;
	/* A task that sleeps does not wait for another one's CPU. */
	with = cause.other;
	if (cause.syscall != SCHEDTAPE_SYSCALL_UNKNOWN &&
	    schedtape_edges_number(&causes->calls, cause.syscall >> 32, cause.syscall, &with))
		return NULL;
	if (schedtape_edges_number(&causes->pairs,
				   (cause.task * LINK_NR_KINDS + link->kind) * 2 + cause.rest,
				   with, &number))
		return NULL;
	if (number < causes->nr)
		return &causes->list[number];
	list = reallocarray(causes->list, number + 1, sizeof(*list));
	if (!list)
		return NULL;
	list[number] = cause;
	causes->list = list;
	causes->nr = number + 1;
	return &list[number];
}

/* Adds what the cause took of the present wait.  Returns 0 or -ENOMEM. */
static int end_wait(struct cause *cause, uint64_t end)
{
	int rc;

	if (!cause->waits.nr || cause->present > cause->waits.worst)
		cause->worst_end = end;
	rc = schedtape_histogram_add(&cause->waits, cause->present);
	cause->present = 0;
	return rc;
}

int causes_add(struct causes *causes, const struct chain *chain,
	       const struct schedtape_task *tasks)
{
	struct cause *cause;
	size_t i;
	int rc = 0;

	/* Links of different tasks may be of one cause. */
	for (i = 0; i < chain->nr; i++) {
		cause = find(causes, chain, &chain->links[i], tasks);
		if (!cause)
			return -ENOMEM;
		cause->present += chain->links[i].time;
	}
	for (i = 0; i < chain->nr && !rc; i++) {
		cause = find(causes, chain, &chain->links[i], tasks);
		if (cause && cause->present)
			rc = end_wait(cause, chain->end);
	}
	causes->nr_waits++;
	return rc;
}

const char *causes_name(const struct causes *causes, uint32_t number)
{
	return number == SCHEDTAPE_NONE ? NULL : causes->texts[number];
}

void causes_free(struct causes *causes)
{
	size_t i;

	for (i = 0; i < causes->nr; i++)
		schedtape_histogram_free(&causes->list[i].waits);
	free(causes->list);
	free(causes->texts);
	schedtape_edges_free(&causes->halves);
	schedtape_edges_free(&causes->names);
	schedtape_edges_free(&causes->calls);
	schedtape_edges_free(&causes->pairs);
}
