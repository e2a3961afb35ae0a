// SPDX-License-Identifier: GPL-2.0-only
#include "map/others.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/list.h"
#include "common/idle-time.h"
#include "tape/events.h"
#include "tape/meta.h"

char others_kind(unsigned int kind)
{
	return kind == STAPE_NEXT_IDLE ? OTHERS_IDLE :
	       kind == STAPE_NEXT_OTHER ? OTHERS_BUSY : OTHERS_UNKNOWN;
}

/* Returns a CPU; NULL: no memory. */
static struct others_cpu *cpu_of(struct others *others, uint32_t cpu)
{
	static const struct others_cpu unknown = { .sign = OTHERS_UNKNOWN };
	struct others_cpu *cpus;

	cpus = schedtape_list_reach_with(others->cpus, cpu, &others->nr, sizeof(*cpus), &unknown);
	if (!cpus)
		return NULL;
	others->cpus = cpus;
	return &cpus[cpu];
}

/* Adds a part, unless the last event says the same.  Returns 0 or -ENOMEM. */
static int add(struct others_cpu *cpu, uint64_t from, uint64_t to, char sign)
{
	struct others_part *parts;

	if (sign == cpu->sign || from >= to)
		return 0;
	parts = schedtape_list_grow(cpu->parts, cpu->nr, &cpu->room, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	cpu->parts = parts;
	parts[cpu->nr++] = (struct others_part){ .from = from, .to = to, .sign = sign };
	return 0;
}

/* No event says what the CPU did until now. */
static int leave_open(struct others_cpu *cpu, uint64_t until)
{
	return cpu->sign == OTHERS_IDLE || cpu->sign == OTHERS_BUSY ?
		       add(cpu, cpu->from, until, OTHERS_UNSURE) : 0;
}

/* An event says what the CPU did since @from. */
static int explain(struct others_cpu *cpu, const struct schedtape_event *ev)
{
	struct idle_time time = idle_time_of(ev, cpu->from);
	char sign = OTHERS_UNSURE;

	/* It runs a task of the tape. */
	if (!cpu->sign)
		return 0;
	if (!time.known || !cpu->from)
		sign = OTHERS_UNKNOWN;
	else if (!time.idle)
		sign = OTHERS_BUSY;
	else if (time.idle == time.since - cpu->from)
		sign = OTHERS_IDLE;
	return add(cpu, cpu->from, time.since, sign) ||
	       add(cpu, time.since, ev->time, others_kind(ev->idle.kind)) ? -ENOMEM : 0;
}

static int take(struct others *others, const struct schedtape_event *ev)
{
	struct others_cpu *cpu;
	int ret = 0;

	if (ev->cpu == STAPE_CPU_NONE)
		return 0;
	cpu = cpu_of(others, ev->cpu);
	if (!cpu)
		return -ENOMEM;
	if (schedtape_event_is_gap(ev)) {
		ret = leave_open(cpu, ev->lost_first);
		cpu->from = ev->lost_last;
		cpu->sign = OTHERS_UNKNOWN;
	} else if (ev->type == SCHEDTAPE_EV_IDLE && ev->idle.kind != STAPE_NEXT_TASK) {
		ret = explain(cpu, ev);
		cpu->from = ev->time;
		cpu->sign = others_kind(ev->idle.kind);
	} else if (ev->type == STAPE_EV_SWITCH) {
		cpu->from = ev->time;
		cpu->sign = ev->pid ? 0 : others_kind(schedtape_switch_next(ev));
	}
	return ret;
}

/* Corrupt pages are reported when the lines are printed. */
static int read_events(struct others *others, struct schedtape_tape *tape,
		       struct schedtape_error *err)
{
	const struct schedtape_event *ev;
	int ret;

	while ((ret = tape_next_sound(tape, &ev, err)) > 0)
		if (take(others, ev))
			return schedtape_fail(err, -ENOMEM, "not enough memory");
	return ret;
}

int others_read(struct others *others, struct schedtape_tape *tape, struct schedtape_error *err)
{
	size_t i;
	int ret;

	/* Switches alone do not show it: the recorder's own are on no tape. */
	others->blind = schedtape_tape_is_pipe(tape) || !tape_has_idle_times(tape);
	if (others->blind)
		return 0;
	ret = read_events(others, tape, err);
	for (i = 0; i < others->nr && !ret; i++)
		if (leave_open(&others->cpus[i], UINT64_MAX))
			ret = schedtape_fail(err, -ENOMEM, "not enough memory");
	return ret ? ret : schedtape_tape_rewind(tape, err);
}

char others_sign(const struct others *others, uint32_t cpu, uint64_t time, char sign)
{
	struct others_cpu *at;

	if (others->blind)
		return sign == OTHERS_UNKNOWN ? sign : OTHERS_UNSURE;
	if (cpu >= others->nr)
		return sign;
	at = &others->cpus[cpu];
	while (at->at < at->nr && at->parts[at->at].to < time)
		at->at++;
	if (at->at < at->nr && at->parts[at->at].from < time)
		return at->parts[at->at].sign;
	return sign;
}

void others_free(struct others *others)
{
	size_t i;

	for (i = 0; i < others->nr; i++)
		free(others->cpus[i].parts);
	free(others->cpus);
}
