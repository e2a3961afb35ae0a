// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of map.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "common/color.h"
#include "common/idle-time.h"
#include "map/internal.h"
#include "tape/meta.h"
#include "tape/next.h"

#define CPU_COLOR	"\033[41m"	/* as in perf: a red background, and blue */
#define PID_COLOR	"\033[34m"
#define DIM		"\033[2m"

/* -- names of tasks -------------------------------------------------------- */

struct name *names_get(struct names *names, uint32_t task, const char comm[STAPE_COMM_LEN])
{
	struct name *name, *tasks;

	tasks = schedtape_list_reach(names->tasks, task, &names->nr, sizeof(*tasks));
	if (!tasks)
		return NULL;
	names->tasks = tasks;
	name = &tasks[task];
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

/* -- CPUs without a task of the tape --------------------------------------- */

/* Returns the sign of enum stape_next, or of the kind of a SCHEDTAPE_EV_IDLE. */
static char others_kind(unsigned int kind)
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
static int add_part(struct others_cpu *cpu, uint64_t from, uint64_t to, char sign)
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
		       add_part(cpu, cpu->from, until, OTHERS_UNSURE) : 0;
}

/* An event says what the CPU did since @from. */
static int explain_since(struct others_cpu *cpu, const struct schedtape_event *ev)
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
	return add_part(cpu, cpu->from, time.since, sign) ||
	       add_part(cpu, time.since, ev->time, others_kind(ev->idle.kind)) ? -ENOMEM : 0;
}

static int take_event(struct others *others, const struct schedtape_event *ev)
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
		ret = explain_since(cpu, ev);
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
		if (take_event(others, ev))
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

/*
 * Returns what a CPU does that runs no task of the tape.  @time: not before that of the last call;
 * @sign: what its last event says
 */
static char others_sign(const struct others *others, uint32_t cpu, uint64_t time, char sign)
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

static void others_free(struct others *others)
{
	size_t i;

	for (i = 0; i < others->nr; i++)
		free(others->cpus[i].parts);
	free(others->cpus);
}

/* -- columns --------------------------------------------------------------- */

int rows_add_column(struct rows *rows, uint32_t cpu)
{
	struct cell *cells = reallocarray(rows->cells, rows->nr + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	rows->cells = cells;
	cells[rows->nr] = (struct cell){ .cpu = cpu, .fresh = rows->compact };
	rows->hidden |= rows->compact;
	rows_clear(&cells[rows->nr++]);
	return 0;
}

struct cell *rows_find_column(const struct rows *rows, uint32_t cpu)
{
	size_t i;

	/* Usually the CPUs are numbered from 0 on. */
	if (cpu < rows->nr && rows->cells[cpu].cpu == cpu)
		return &rows->cells[cpu];
	for (i = 0; i < rows->nr; i++)
		if (rows->cells[i].cpu == cpu)
			return &rows->cells[i];
	return NULL;
}

static void set_text(struct cell *cell, const char *text)
{
	memcpy(cell->text, text, sizeof(cell->text));
}

void rows_clear(struct cell *cell)
{
	cell->task = SCHEDTAPE_NONE;
	cell->pid = 0;
	set_text(cell, "  ");
}

void rows_show_other(struct cell *cell, unsigned int kind)
{
	rows_clear(cell);
	cell->text[0] = others_kind(kind);
}

int rows_set(struct rows *rows, struct cell *cell, const struct schedtape_event *ev, bool chosen)
{
	const struct identity *identity = identities_get(rows->table.identities, ev->pid);
	const struct name *name;

	if (!ev->pid) {
		rows_show_other(cell, schedtape_switch_next(ev));
		return 0;
	}
	cell->task = SCHEDTAPE_NONE;
	cell->pid = ev->pid;
	set_text(cell, "- ");
	if (!chosen)
		return 0;
	cell->task = task_table_find(&rows->table, ev->pid);
	if (cell->task == SCHEDTAPE_NONE)
		return -ENOMEM;
	name = names_get(&rows->names, cell->task, identity->comm);
	if (!name)
		return -ENOMEM;
	names_write(name, cell->text);
	rows->hidden |= name->due;
	return 0;
}

/* -- text ------------------------------------------------------------------ */

/* Returns the colour of a cell's text, or NULL. */
static const char *color_of(const struct rows *rows, const struct cell *cell)
{
	static const char * const colors[] = {
		"\033[31m", "\033[32m", "\033[33m", "\033[34m", "\033[35m", "\033[36m",
		"\033[1;31m", "\033[1;32m", "\033[1;33m", "\033[1;34m", "\033[1;35m",
		"\033[1;36m",
	};

	if (rows->color_pids.nr)
		return cell->pid && select_numbers_has(&rows->color_pids, cell->pid) ?
			       PID_COLOR : NULL;
	if (cell->task == SCHEDTAPE_NONE)
		return DIM;
	return colors[rows->names.tasks[cell->task].number %
		      (sizeof(colors) / sizeof(*colors))];
}

/* Puts a text, with a colour unless that is NULL. */
static void put_colored(struct lines *lines, const char *color, const char *text, size_t len)
{
	if (color)
		lines_put(lines, color);
	lines_text(lines, text, len);
	if (color)
		lines_put(lines, COLOR_RESET);
}

/* A line of very many CPUs is longer than the room that lines_end() keeps. */
static void keep_room(struct lines *lines)
{
	if (lines->at - lines->buffer > LINES_BYTES - LINES_MOST)
		lines_flush(lines);
}

/* Puts a column.  @mark: '*' or ' ' */
static void put_cell(struct rows *rows, const struct cell *cell, char mark, const char *text)
{
	struct lines *lines = &rows->lines;

	keep_room(lines);
	if (!rows->colors) {
		lines_char(lines, mark);
		lines_text(lines, text, 2);
	} else {
		put_colored(lines, mark == '*' && rows->color_cpus.nr &&
			    select_numbers_has(&rows->color_cpus, cell->cpu) ?
				    CPU_COLOR : NULL, &mark, 1);
		put_colored(lines, color_of(rows, cell), text, 2);
	}
	lines_char(lines, ' ');
}

/* Puts which task a column's name is of, if that is due. */
static void put_legend(struct rows *rows, const struct cell *cell, const char **between)
{
	const struct identity *identity;
	struct lines *lines = &rows->lines;

	if (cell->task == SCHEDTAPE_NONE || !rows->names.tasks[cell->task].due)
		return;
	if (lines->at - lines->buffer > LINES_BYTES - LINES_MOST)
		lines_flush(lines);
	rows->names.tasks[cell->task].due = false;
	identity = identities_get(rows->table.identities, cell->pid);
	lines_put(lines, *between);
	*between = ", ";
	put_colored(lines, rows->colors ? color_of(rows, cell) : NULL, cell->text, 2);
	lines_put(lines, " => ");
	lines_put(lines, identity->name_len ? identity->name : "?");
	lines_char(lines, ':');
	lines_number(lines, cell->pid);
}

/* Puts what the sign of idle or another task is, once. */
static void explain(struct rows *rows, const char *between)
{
	if (!rows->unsure || rows->explained)
		return;
	rows->explained = true;
	lines_put(&rows->lines, between);
	lines_put(&rows->lines, "? => idle or another task");
}

/* Puts all that is due, first that of the column of the switch. */
static void put_legends(struct rows *rows, const struct cell *cell)
{
	struct lines *lines = &rows->lines;
	const char *between = " ";
	size_t i;

	put_legend(rows, cell, &between);
	for (i = 0; i < rows->nr; i++)
		put_legend(rows, &rows->cells[i], &between);
	explain(rows, between);
	for (i = 0; i < rows->nr; i++) {
		if (!rows->cells[i].fresh)
			continue;
		rows->cells[i].fresh = false;
		keep_room(lines);
		lines_put(lines, " (CPU ");
		lines_number(lines, rows->cells[i].cpu);
		lines_char(lines, ')');
	}
	rows->hidden = false;
}

/* Writes what a column shows in the line of another one. */
static void write_meanwhile(struct rows *rows, const struct cell *cell, uint64_t time, char text[2])
{
	memcpy(text, cell->text, sizeof(cell->text));
	if (cell->pid)
		return;
	text[0] = others_sign(&rows->others, cell->cpu, time, text[0]);
	if (text[0] != OTHERS_UNSURE)
		return;
	rows->unsure = true;
	rows->hidden |= !rows->explained;
}

/* "  *A0  .    1.234567 secs A0 => make:10" */
static void print_text(struct rows *rows, const struct cell *cell, uint64_t time, bool leaves)
{
	struct lines *lines = &rows->lines;
	char *from, text[2];
	size_t i;

	lines_put(lines, "  ");
	for (i = 0; i < rows->nr; i++) {
		const struct cell *other = &rows->cells[i];

		if (other == cell) {
			put_cell(rows, other, '*', leaves ? "- " : other->text);
			continue;
		}
		write_meanwhile(rows, other, time, text);
		put_cell(rows, other, ' ', text);
	}
	lines_put(lines, "  ");
	from = lines->at;
	lines->at = time_text_put_line(&rows->time, from, time);
	lines_align(lines, from, time_text_width(&rows->time) - 1);
	lines_put(lines, " secs");
	if (rows->hidden)
		put_legends(rows, cell);
	lines_end(lines);
}

/* -- JSON ------------------------------------------------------------------ */

/*
 * JSON of map:
 * @time_ns: When the CPU switched, or a loss or a pause began.
 * @cpu: Number of the CPU; null for descriptions.
 * @event: "switch", "lost" or "paused".
 * @name: Of switch: the name of two characters of the task that runs from then on; "." if the CPU
 *	is idle, "-" if it is another task.
 * @pid: Its PID, or null.
 * @tgid: PID of its process.
 * @comm: Its name.
 * @lost: Of lost: number of events that are missing.
 * @first_ns: Of lost and paused: when that began.
 * @last_ns: When it ended.
 */
static void print_json(struct rows *rows, const struct cell *cell, uint64_t time, bool leaves)
{
	bool task = cell->task != SCHEDTAPE_NONE && !leaves;
	struct lines *lines = &rows->lines;
	const struct identity *identity;

	lines_count(lines, "{\"time_ns\":", time);
	lines_count(lines, ",\"cpu\":", cell->cpu);
	lines_put(lines, ",\"event\":\"switch\",\"name\":\"");
	lines_text(lines, leaves ? "-" : cell->text, task ? 2 : 1);
	lines_char(lines, '"');
	lines_count_or_null(lines, ",\"pid\":", task ? cell->pid : LINES_NULL);
	if (task) {
		identity = identities_get(rows->table.identities, cell->pid);
		lines_count(lines, ",\"tgid\":", identity->tgid ? identity->tgid : cell->pid);
		lines_put(lines, ",\"comm\":\"");
		lines_quoted(lines, identity->name);
		lines_char(lines, '"');
	}
	lines_char(lines, '}');
	lines_end(lines);
}

/* -- both ------------------------------------------------------------------ */

void rows_begin(struct rows *rows)
{
	struct lines *lines = &rows->lines;
	size_t i;

	if (rows->begun)
		return;
	rows->begun = true;
	if (rows->json) {
		lines_put(lines, "{\"format\":\"schedtape-map\",\"version\":1}");
	} else if (!rows->compact) {
		lines_put(lines, color_on(COLOR_HEADING));
		lines_put(lines, "# ");
		for (i = 0; i < rows->nr; i++) {
			if (lines->at - lines->buffer > LINES_BYTES - LINES_MOST)
				lines_flush(lines);
			lines_right(lines, 2, rows->cells[i].cpu);
			lines_put(lines, "  ");
		}
		lines_put(lines, "CPU");
		lines_put(lines, color_off(COLOR_HEADING));
	} else {
		return;
	}
	lines_end(lines);
}

void rows_print(struct rows *rows, const struct cell *cell, uint64_t time, bool leaves)
{
	rows_begin(rows);
	if (rows->json)
		print_json(rows, cell, time, leaves);
	else
		print_text(rows, cell, time, leaves);
}

void rows_free(struct rows *rows)
{
	select_numbers_free(&rows->color_cpus);
	select_numbers_free(&rows->color_pids);
	task_table_free(&rows->table);
	names_free(&rows->names);
	others_free(&rows->others);
	free(rows->cells);
}
