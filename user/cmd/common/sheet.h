/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports: rows of numbers and texts, which are sorted by any column, and printed as a table or as
 * JSON.  --sort, --top and the options of tables.
 */
#ifndef SCHEDTAPE_SHEET_H
#define SCHEDTAPE_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "common/table.h"
#include "common/time-text.h"

struct json_object;

/**
 * enum sheet_type - what a column's values are
 * @SHEET_TEXT: @text of the value, which is safe to print
 * @SHEET_COUNT: a number
 * @SHEET_CPU: a number, which is not worth more the higher it is
 * @SHEET_MS: ns, printed as ms
 * @SHEET_DELAY: a scheduling delay: printed as SHEET_MS, and in colour if it is long
 * @SHEET_TIME: ns of the session's clock, printed as seconds or as struct sheet_options says
 * @SHEET_SHARE: millionths, printed as per cent
 */
enum sheet_type {
	SHEET_TEXT,
	SHEET_COUNT,
	SHEET_CPU,
	SHEET_MS,
	SHEET_DELAY,
	SHEET_TIME,
	SHEET_SHARE,
};

/**
 * enum sheet_kind - how the values of a column add up
 * @SHEET_PROPERTY: not at all: a property of the line
 * @SHEET_SUM: the total is their sum, the same whatever the lines are
 * @SHEET_DISTRIBUTION: the total is that of all lengths together, the same whatever the lines are
 */
enum sheet_kind {
	SHEET_PROPERTY,
	SHEET_SUM,
	SHEET_DISTRIBUTION,
};

/* The value is not known: "-", or null in JSON. */
#define SHEET_NONE	UINT64_MAX

/**
 * union sheet_value - one value of a row
 * @text: allocated, and freed by sheet_free()
 */
union sheet_value {
	uint64_t n;
	char *text;
};

/**
 * struct sheet_column - one column; a NULL name ends the list
 * @table: its name for -F and --sort, its heading, and its flags
 * @json: its key in JSON
 * @kind: the manual says it, too
 */
struct sheet_column {
	struct table_column table;
	enum sheet_type type;
	const char *json;
	enum sheet_kind kind;
};

/**
 * struct sheet_alias - what perf calls a column, for --sort; a NULL @perf ends a list
 */
struct sheet_alias {
	const char *perf;
	const char *name;
};

/**
 * struct sheet_options - --sort, --top, and the options of tables; the input of sheet_argp
 * @columns: all that the command has, set by the command
 * @aliases: perf's names of columns, set by the command; NULL: there are none
 * @sort: the argument of --sort; preset by the command
 * @top: print only so many rows; 0: all
 * @times: how times are printed; NULL: as seconds of the session's clock
 */
struct sheet_options {
	const struct sheet_column *columns;
	struct table_column names[TABLE_MOST + 1];
	struct table_options table;
	const struct sheet_alias *aliases;
	const char *sort;
	unsigned long top;
	struct time_text *times;
};

extern const struct argp sheet_argp;
/* The same without -s, for commands that use -s otherwise: there is only --sort. */
extern const struct argp sheet_long_argp;

/* Prepares the options for sheet_argp.  @sort: the columns to sort by unless --sort says others. */
void sheet_options_init(struct sheet_options *options, const struct sheet_column *columns,
			const char *sort);

/* Returns true if a text is columns for --sort. */
bool sheet_can_sort(const struct sheet_options *options, const char *sort);

/**
 * struct sheet - the rows of a report
 * @values: of all rows, one after the other
 * @total: a row of its own, printed last; NULL: none
 */
struct sheet {
	const struct sheet_column *columns;
	const struct sheet_options *options;
	size_t nr_columns;
	union sheet_value *values;
	size_t nr_rows;
	size_t room;
	union sheet_value *total;
};

/* @options: NULL if the command has none. */
void sheet_begin(struct sheet *sheet, const struct sheet_column *columns,
		 const struct sheet_options *options);
/* Adds a row.  Returns its values, all 0, valid until the next row is added; NULL: no memory. */
union sheet_value *sheet_row(struct sheet *sheet);
/* Returns the values of the total, all 0 at first; NULL: no memory. */
union sheet_value *sheet_total(struct sheet *sheet);
/* Sorts by the options, and drops what is beyond --top. */
void sheet_sort(struct sheet *sheet);
/* Prints a table. */
void sheet_print(const struct sheet *sheet);
/* Prints the list @key of an object that out_json_begin() has begun, and the member "total". */
void sheet_json(const struct sheet *sheet, const char *key);
/* Prints only the member "total". */
void sheet_json_total(const struct sheet *sheet);
/* Adds the same list and member to an object. */
void sheet_json_add(const struct sheet *sheet, struct json_object *object, const char *key);
void sheet_free(struct sheet *sheet);

/* Returns a part of a whole as a value of SHEET_SHARE; 0 of nothing. */
static inline uint64_t sheet_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part * 1000000 / whole + 0.5 : 0;
}

/* Sets four values of a row that follow each other: median, 95 %, 99 %, and the longest. */
static inline void sheet_lengths(union sheet_value *values,
				 const struct schedtape_histogram *lengths)
{
	values[0].n = schedtape_histogram_quantile(lengths, 50, 100);
	values[1].n = schedtape_histogram_quantile(lengths, 95, 100);
	values[2].n = schedtape_histogram_quantile(lengths, 99, 100);
	values[3].n = lengths->worst;
}

#endif /* SCHEDTAPE_SHEET_H */
