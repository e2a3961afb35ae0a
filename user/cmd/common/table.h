/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables.  On a terminal they fit its width: columns that do not fit are left out, the last ones
 * first, and texts are cut and marked.  Elsewhere all columns and whole texts are printed.
 */
#ifndef SCHEDTAPE_TABLE_H
#define SCHEDTAPE_TABLE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_MOST	32	/* columns */
#define TABLE_CELL	2048	/* bytes; the path of a cgroup has fewer */

/* Flags of columns. */
#define TABLE_TEXT	1	/* aligned left, and may be cut; numbers are aligned right */
#define TABLE_NEEDED	2	/* before this one is left out, texts are cut */
#define TABLE_PAIR	4	/* is left out together with the next column */
#define TABLE_ASKED	8	/* is printed only if -F names it */
#define TABLE_WORST	16	/* of a sheet: the largest amount is bold */

/**
 * struct table_column - one column, the most important one first; a NULL name ends the list
 * @name: name for -F
 * @title: heading; '\n' separates two lines on a terminal, and is a blank elsewhere
 */
struct table_column {
	const char *name;
	const char *title;
	unsigned int flags;
};

/**
 * struct table_options - -F and --wide; the input of table_argp
 * @columns: columns that -F may name, set by the command
 * @fields: the argument of -F, or NULL
 * @wide: print all columns and whole texts, even if the terminal is too narrow
 */
struct table_options {
	const struct table_column *columns;
	const char *fields;
	bool wide;
};

extern const struct argp table_argp;

/* Prints the names of columns, one a line, and ends the program. */
void table_list_fields(const struct table_column *columns) __attribute__((noreturn));
/* Writes "task, cpu, sleeps".  Returns @buffer. */
#define TABLE_NAMES	512
const char *table_names(char buffer[TABLE_NAMES], const struct table_column *columns);

/**
 * struct table - a table that is printed row by row, in two passes
 * @columns: all @nr columns
 * @shown: numbers of the @nr_shown printed columns, in order
 * @widths: width of each column, by number, in cells of the screen
 * @room: width of a line in cells of the screen; 0: no limit
 * @two_lines: headings may have two lines
 * @pass: 1: measures, 2: prints
 * @at: number of the next cell
 * @cells: the row so far
 * @colors: of each cell, see common/color.h
 * @next_color: that of the next cell
 */
struct table {
	const struct table_column *columns;
	size_t nr;
	unsigned int shown[TABLE_MOST];
	size_t nr_shown;
	unsigned int widths[TABLE_MOST];
	unsigned int room;
	bool two_lines;
	unsigned int pass;
	size_t at;
	char cells[TABLE_MOST][TABLE_CELL];
	unsigned char colors[TABLE_MOST];
	unsigned int next_color;
};

/*
 *	table_begin(&table, columns, &options);
 *	while (table_pass(&table))
 *		for each row
 *			table_cell()..., one for each column, perhaps after a table_color()
 *
 * @options: NULL if the command has none.  The first pass measures and prints nothing.
 */
void table_begin(struct table *table, const struct table_column *columns,
		 const struct table_options *options);
bool table_pass(struct table *table);
void table_cell(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Gives the next cell of the row a colour, see common/color.h. */
void table_color(struct table *table, unsigned int of_cell);
/* A line of dashes between two rows. */
void table_rule(struct table *table);

/* Prints the tables from now on into a file, plain; NULL: to standard output again. */
void table_print_to(FILE *file);

/* Returns the width of standard output in cells, or 0 if it is not a terminal. */
unsigned int table_terminal(void);
/* Returns how many cells of the screen a text takes; a Japanese character takes two. */
unsigned int table_text_cells(const char *text);
/* Returns how many bytes of a text of @len bytes fit into @cells, in whole characters. */
size_t table_text_fits(const char *text, size_t len, unsigned int cells);

#endif /* SCHEDTAPE_TABLE_H */
