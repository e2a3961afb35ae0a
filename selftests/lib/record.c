// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings for tests.
 */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "time-limit.h"

static int complain(struct st_record *r, int ret)
{
	if (ret < 0)
		printf("# %s\n", r->err.text);
	return ret;
}

int st_record_open_with(struct st_record *r, struct schedtape_session_options options)
{
	int ret;

	memset(r, 0, sizeof(*r));
	options.size = sizeof(options);
	ret = schedtape_client_open(&r->client, &r->err);
	if (!ret)
		ret = schedtape_session_open(r->client, &r->session, &r->err);
	if (!ret && options.ring_bytes)
		ret = schedtape_session_set(r->session, &options, &r->err);
	return complain(r, ret);
}

int st_record_open(struct st_record *r, unsigned int ring_pages)
{
	struct schedtape_session_options options = {
		.ring_bytes = (uint64_t)ring_pages * STAPE_PAGE_SIZE,
	};

	return st_record_open_with(r, options);
}

int st_record_add(struct st_record *r, pid_t pid)
{
	uint32_t number = pid;

	return complain(r, schedtape_session_add(r->session, &number, 1, &r->err));
}

static int add(struct st_record *r, struct schedtape_filter filter)
{
	filter.size = sizeof(filter);
	return complain(r, schedtape_filter_add(r->client, schedtape_session_id(r->session),
						&filter, &r->err));
}

static int del(struct st_record *r, struct schedtape_filter filter)
{
	filter.size = sizeof(filter);
	return complain(r, schedtape_filter_del(r->client, schedtape_session_id(r->session),
						&filter, &r->err));
}

int st_record_del(struct st_record *r, pid_t pid)
{
	return del(r, (struct schedtape_filter){ .pids = &(uint32_t){ pid }, .nr_pids = 1 });
}

int st_record_add_thread(struct st_record *r, pid_t tid)
{
	return add(r, (struct schedtape_filter){ .tids = &(uint32_t){ tid }, .nr_tids = 1 });
}

int st_record_del_thread(struct st_record *r, pid_t tid)
{
	return del(r, (struct schedtape_filter){ .tids = &(uint32_t){ tid }, .nr_tids = 1 });
}

int st_record_add_cgroup(struct st_record *r, uint64_t id)
{
	struct schedtape_cgroup cgroup = { .id = id };

	return add(r, (struct schedtape_filter){ .cgroups = &cgroup, .nr_cgroups = 1 });
}

int st_record_follow_cgroup(struct st_record *r, uint64_t id)
{
	struct schedtape_cgroup cgroup = { .id = id };
	bool follow = true;

	return add(r, (struct schedtape_filter){ .cgroups = &cgroup, .nr_cgroups = 1,
						 .follow = &follow });
}

int st_record_del_cgroup(struct st_record *r, uint64_t id)
{
	struct schedtape_cgroup cgroup = { .id = id };

	return del(r, (struct schedtape_filter){ .cgroups = &cgroup, .nr_cgroups = 1 });
}

int st_record_set(struct st_record *r, const struct schedtape_filter *filter)
{
	struct schedtape_filter sized = *filter;

	sized.size = sizeof(sized);
	return complain(r, schedtape_filter_set(r->client, schedtape_session_id(r->session),
						&sized, &r->err));
}

int st_record_start(struct st_record *r)
{
	return complain(r, schedtape_session_start(r->session, &r->err));
}

int st_record_start_with(struct st_record *r, const struct st_child *w, size_t n)
{
	int ret = 0;

	while (n-- && !ret)
		ret = st_record_add(r, w++->pid);
	return ret ? ret : st_record_start(r);
}

int st_record_child(struct st_record *r, struct st_child *w, int cpu, int (*fn)(void *arg),
		    void *arg)
{
	int ret = st_child_fork(w, cpu, fn, arg);

	return ret ? ret : st_record_start_with(r, w, 1);
}

int st_record_pause(struct st_record *r)
{
	return complain(r, schedtape_session_pause(r->session, &r->err));
}

int st_record_stop(struct st_record *r)
{
	return complain(r, schedtape_session_stop(r->session, &r->err));
}

int st_record_get(struct st_record *r, struct schedtape_session_state *state)
{
	state->size = sizeof(*state);
	return complain(r, schedtape_session_get(r->session, state, &r->err));
}

uint32_t st_record_tasks(struct st_record *r)
{
	struct schedtape_session_state state = { 0 };

	return st_record_get(r, &state) ? UINT32_MAX : state.tasks;
}

bool st_record_wait_tasks(struct st_record *r, unsigned int tasks)
{
	struct schedtape_session_state state = { 0 };
	unsigned int tries = 5000 * st_patience();

	while (tries-- && !st_record_get(r, &state)) {
		if (state.tasks == tasks)
			return true;
		usleep(1000);
	}
	printf("# %u tasks in the filter, not %u\n", state.tasks, tasks);
	return false;
}

static int append(struct st_record *r, const struct schedtape_event *ev)
{
	if (r->n == r->max) {
		size_t max = r->max ? 2 * r->max : 4096;
		void *events = realloc(r->events, max * sizeof(*r->events));

		if (!events)
			return -ENOMEM;
		r->events = events;
		r->max = max;
	}
	r->events[r->n++] = *ev;
	return 0;
}

static int take_page(struct st_record *r, const void *data)
{
	struct schedtape_page page;
	struct schedtape_event ev;
	int ret;

	ret = schedtape_page_open(&page, data, &r->err);
	if (ret)
		return ret;
	r->pages++;
	r->lost += page.header.lost;
	if (r->each)
		r->each(data, r->arg);
	while ((ret = schedtape_page_next(&page, &ev, &r->err)) > 0) {
		if (ev.type == SCHEDTAPE_EV_IDLE) {
			/* That of a switch is no event of its own. */
			r->idles += !page.switch_pending;
			continue;
		}
		ret = append(r, &ev);
		if (ret)
			return ret;
	}
	return ret;
}

/* For a stable sort of events of one CPU and time: by index in the array. */
struct sorted {
	struct schedtape_event ev;
	size_t index;
};

static int by_time(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->ev.time != y->ev.time)
		return x->ev.time < y->ev.time ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static int sort(struct st_record *r)
{
	struct sorted *sorted = malloc((r->n + 1) * sizeof(*sorted));
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < r->n; i++)
		sorted[i] = (struct sorted){ .ev = r->events[i], .index = i };
	qsort(sorted, r->n, sizeof(*sorted), by_time);
	for (i = 0; i < r->n; i++)
		r->events[i] = sorted[i].ev;
	free(sorted);
	return 0;
}

static int take_ring(struct st_record *r, uint32_t cpu)
{
	const void *page;
	int ret = 0;

	while (!ret && schedtape_session_pages(r->session, cpu, 1, &page)) {
		ret = take_page(r, page);
		schedtape_session_consume(r->session, cpu, 1);
	}
	return ret;
}

int st_record_take(struct st_record *r)
{
	uint32_t cpu;
	int ret = take_ring(r, STAPE_CPU_NONE);

	for (cpu = 0; cpu < schedtape_session_cpus(r->session) && !ret; cpu++)
		ret = take_ring(r, cpu);
	return ret ? complain(r, ret) : sort(r);
}

int st_record_take_descriptions(struct st_record *r)
{
	int ret = take_ring(r, STAPE_CPU_NONE);

	return ret ? complain(r, ret) : 0;
}

int st_record_flush(struct st_record *r)
{
	int ret = schedtape_session_flush(r->session, &r->err);

	return ret ? complain(r, ret) : st_record_take(r);
}

int st_record_finish(struct st_record *r)
{
	struct schedtape_session_state state;
	int ret = st_record_stop(r);

	if (!ret)
		ret = st_record_take(r);
	if (!ret)
		ret = st_record_get(r, &state);
	/* Events lost after the last page are only in the session's counter. */
	if (!ret)
		r->lost = state.lost;
	return ret;
}

void st_record_close(struct st_record *r)
{
	schedtape_session_close(r->session);
	schedtape_client_close(r->client);
	free(r->events);
	memset(r, 0, sizeof(*r));
}

/* -- counts ---------------------------------------------------------------- */

static void count_switch(struct st_counts *c, const struct schedtape_event *ev, uint32_t pid,
			 uint64_t *since)
{
	if (ev->curr == pid) {
		c->out[schedtape_switch_state(ev)]++;
		if (*since)
			c->cpu_time += ev->time - *since;
		*since = 0;
	}
	if (ev->pid == pid) {
		c->in++;
		*since = ev->time;
	}
}

static void count_own(struct st_counts *c, const struct schedtape_event *ev)
{
	switch (ev->type) {
	case STAPE_EV_WAKING:
		c->waking[ev->arg & 3]++;
		if (ev->arg == STAPE_CTX_TASK && ev->curr)
			c->waking_task++;
		break;
	case STAPE_EV_WAKEUP:
		c->wakeup++;
		break;
	case STAPE_EV_WAKEUP_NEW:
		c->wakeup_new++;
		break;
	case STAPE_EV_FORK:
		c->forked++;
		break;
	case STAPE_EV_EXIT:
		c->exits++;
		break;
	case STAPE_EV_MIGRATE:
		c->migrates++;
		break;
	case STAPE_EV_EXEC:
		c->execs++;
		break;
	case STAPE_EV_RENAME:
		c->renames++;
		break;
	}
}

void st_count(const struct st_record *r, pid_t pid, struct st_counts *c)
{
	uint64_t since = 0;
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type == STAPE_EV_SWITCH)
			count_switch(c, ev, pid, &since);
		else if (ev->pid == (uint32_t)pid)
			count_own(c, ev);
		if (ev->type == STAPE_EV_FORK && ev->curr == (uint32_t)pid)
			c->forks++;
	}
}

unsigned int st_voluntary(const struct st_counts *c)
{
	unsigned int i, n = 0;

	for (i = STAPE_STATE_RUNNING + 1; i < 16; i++)
		n += c->out[i];
	return n;
}

unsigned int st_wakings(const struct st_counts *c)
{
	return c->waking[0] + c->waking[1] + c->waking[2] + c->waking[3];
}

unsigned int st_named(const struct st_record *r, pid_t pid)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->events[i].pid == (uint32_t)pid || r->events[i].curr == (uint32_t)pid)
			n++;
	return n;
}

size_t st_count_type(const struct st_record *r, unsigned int type)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->events[i].type == type;
	return n;
}

static bool describes(const struct schedtape_event *ev, pid_t pid, unsigned int why)
{
	return ev->type == STAPE_EV_TASK && schedtape_task_why(ev) == why &&
	       (!pid || ev->pid == (uint32_t)pid);
}

size_t st_count_why(const struct st_record *r, pid_t pid, unsigned int why)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += describes(&r->events[i], pid, why);
	return n;
}

size_t st_find_why(const struct st_record *r, pid_t pid, unsigned int why, size_t from)
{
	while (from < r->n && !describes(&r->events[from], pid, why))
		from++;
	return from;
}
