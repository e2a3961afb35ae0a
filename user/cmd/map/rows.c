// SPDX-License-Identifier: GPL-2.0-only
#include "map/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/color.h"

#define CPU_COLOR	"\033[41m"	/* as in perf: a red background, and blue */
#define PID_COLOR	"\033[34m"
#define DIM		"\033[2m"

/* -- columns --------------------------------------------------------------- */

int rows_add(struct rows *rows, uint32_t cpu)
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

struct cell *rows_find(const struct rows *rows, uint32_t cpu)
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
