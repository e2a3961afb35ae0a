// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's priorities of tasks: --prio and --show-prio.
 */
#include <errno.h>
#include <string.h>

#include "base/list.h"
#include "timehist/internal.h"

#define DEADLINE	(-1)	/* of all tasks of SCHED_DEADLINE */
#define MOST		139

/* "-1,0-99,120"; select_numbers_parse() has no negative numbers. */
int prio_parse(struct timehist *th, const char *text)
{
	struct select_numbers *prios = &th->prios;
	int ret;

	th->prio = true;
	if (!strncmp(text, "-1", 2) && (!text[2] || text[2] == ',')) {
		th->prio_deadline = true;
		if (!text[2])
			return 0;
		text += 3;
	}
	ret = select_numbers_parse(prios, text);
	return ret ? ret : prios->ranges[prios->nr - 1].last > MOST ? -EINVAL : 0;
}

int32_t prio_now(const struct timehist *th, uint32_t pid)
{
	return identities_get(th->identities, pid)->prio;
}

bool prio_selects(const struct timehist *th, uint32_t pid)
{
	int32_t prio;

	if (!th->prio)
		return true;
	prio = prio_now(th, pid);
	if (prio == DEADLINE || prio == IDENTITY_NO_PRIO)
		return prio == DEADLINE && th->prio_deadline;
	return th->prios.nr && select_numbers_has(&th->prios, prio);
}

int prio_began(struct timehist *th, const struct schedtape_task *task,
	       const struct schedtape_run *run)
{
	struct prio_begun *begun;

	begun = schedtape_list_reach(th->begun, run->cpu, &th->nr_begun, sizeof(*begun));
	if (!begun)
		return -ENOMEM;
	th->begun = begun;
	begun[run->cpu].time = run->begin;
	begun[run->cpu].prio = prio_now(th, task->pid);
	return 0;
}

int32_t prio_begin(const struct timehist *th, const struct schedtape_run *run)
{
	if (run->cpu >= th->nr_begun || th->begun[run->cpu].time != run->begin)
		return IDENTITY_NO_PRIO;
	return th->begun[run->cpu].prio;
}

/* "120", or "120->98" if it changed during the run; "-": not known */
void prio_text(struct timehist *th, const struct schedtape_task *task,
	       const struct schedtape_run *run)
{
	int32_t prio = prio_now(th, task->pid), begin = prio_begin(th, run);

	if (prio == IDENTITY_NO_PRIO) {
		lines_char(&th->lines, '-');
		return;
	}
	if (begin != IDENTITY_NO_PRIO && begin != prio) {
		lines_signed(&th->lines, begin);
		lines_put(&th->lines, "->");
	}
	lines_signed(&th->lines, prio);
}

static void put_json(struct lines *lines, const char *key, int32_t prio)
{
	lines_put(lines, key);
	if (prio == IDENTITY_NO_PRIO)
		lines_put(lines, "null");
	else
		lines_signed(lines, prio);
}

void prio_json(struct timehist *th, const struct schedtape_task *task,
	       const struct schedtape_run *run)
{
	put_json(&th->lines, ",\"prio\":", prio_now(th, task->pid));
	put_json(&th->lines, ",\"begin_prio\":", prio_begin(th, run));
}
