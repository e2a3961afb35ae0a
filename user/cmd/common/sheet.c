// SPDX-License-Identifier: GPL-2.0-only
#include "common/sheet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/color.h"
#include "common/complete.h"
#include "common/output.h"

#define OPT_TOP		0x4100
#define OPT_SORT	0x4101

#define TITLE		32	/* bytes of the heading of a column of times */

/* -- options --------------------------------------------------------------- */

#define SORT	"Sort by these columns; " COMPLETE_HELP
#define TOP	"Print only the first N lines"

static const struct argp_option options[] = {
	{ "sort", 's', "FIELD,...", 0, SORT, 0 },
	{ "top", OPT_TOP, "N", 0, TOP, 0 },
	{ 0 }
};

static const struct argp_option long_options[] = {
	{ "sort", OPT_SORT, "FIELD,...", 0, SORT, 0 },
	{ "top", OPT_TOP, "N", 0, TOP, 0 },
	{ 0 }
};

/* Returns the number of the column called by the first @len bytes of @name, or -1. */
static int find_column(const struct sheet_column *columns, const char *name, size_t len)
{
	int i;

	for (i = 0; columns[i].table.name; i++)
		if (strlen(columns[i].table.name) == len &&
		    !memcmp(columns[i].table.name, name, len))
			return i;
	return -1;
}

/* The same of a name of --sort, which may be perf's. */
static int find_key(const struct sheet_options *opts, const char *name, size_t len)
{
	const struct sheet_alias *alias = opts->aliases;

	for (; alias && alias->perf; alias++)
		if (strlen(alias->perf) == len && !memcmp(alias->perf, name, len))
			return find_column(opts->columns, alias->name, strlen(alias->name));
	return find_column(opts->columns, name, len);
}

/* Returns the part of a sort order that is no column, and its length, or NULL. */
static const char *find_wrong(const struct sheet_options *opts, const char *sort, size_t *len)
{
	for (;; sort += *len + 1) {
		*len = strcspn(sort, ",");
		if (find_key(opts, sort, *len) < 0)
			return sort;
		if (!sort[*len])
			return NULL;
	}
}

bool sheet_can_sort(const struct sheet_options *opts, const char *sort)
{
	size_t len;

	return !find_wrong(opts, sort, &len);
}

static void check_sort(const struct sheet_options *opts, const struct argp_state *state)
{
	const char *wrong;
	char names[TABLE_NAMES];
	size_t len;

	if (!strcmp(opts->sort, "help"))
		table_list_fields(opts->names);
	wrong = find_wrong(opts, opts->sort, &len);
	if (wrong)
		argp_error(state, "cannot sort by '%.*s': one of %s", (int)len, wrong,
			   table_names(names, opts->names));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sheet_options *opts = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->table;
		return 0;
	case 's':
	case OPT_SORT:
		opts->sort = arg;
		check_sort(opts, state);
		return 0;
	case OPT_TOP:
		errno = 0;
		opts->top = strtoul(arg, &end, 10);
		if (errno || *arg < '0' || *arg > '9' || *end || !opts->top)
			argp_error(state, "not a number of lines: '%s'", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = { { &table_argp, 0, NULL, 0 }, { 0 } };

const struct argp sheet_argp = { .options = options, .parser = parse, .children = children };
const struct argp sheet_long_argp = {
	.options = long_options, .parser = parse, .children = children,
};

void sheet_options_init(struct sheet_options *opts, const struct sheet_column *columns,
			const char *sort)
{
	size_t i;

	*opts = (struct sheet_options){ .columns = columns, .sort = sort };
	for (i = 0; columns[i].table.name && i < TABLE_MOST; i++)
		opts->names[i] = columns[i].table;
	opts->table.columns = opts->names;
}

/* -- rows ------------------------------------------------------------------ */

void sheet_begin(struct sheet *sheet, const struct sheet_column *columns,
		 const struct sheet_options *opts)
{
	*sheet = (struct sheet){ .columns = columns, .options = opts };
	while (columns[sheet->nr_columns].table.name)
		sheet->nr_columns++;
}

union sheet_value *sheet_row(struct sheet *sheet)
{
	size_t room = sheet->room ? 2 * sheet->room : 64, row = sheet->nr_columns;
	union sheet_value *values;

	if (sheet->nr_rows == sheet->room) {
		values = reallocarray(sheet->values, room * row, sizeof(*values));
		if (!values)
			return NULL;
		sheet->values = values;
		sheet->room = room;
	}
	values = sheet->values + sheet->nr_rows++ * row;
	memset(values, 0, row * sizeof(*values));
	return values;
}

union sheet_value *sheet_total(struct sheet *sheet)
{
	if (!sheet->total)
		sheet->total = calloc(sheet->nr_columns, sizeof(*sheet->total));
	return sheet->total;
}

/* Texts, and what is no amount: the smallest first.  Of amounts the largest, unknown ones last. */
static int compare_values(const struct sheet_column *column, const union sheet_value *a,
			  const union sheet_value *b)
{
	uint64_t one, other;

	if (column->type == SHEET_TEXT)
		return strcmp(a->text ? a->text : "", b->text ? b->text : "");
	/* SHEET_NONE becomes 0, the least. */
	one = a->n + 1;
	other = b->n + 1;
	if (column->type == SHEET_CPU)
		return one < other ? -1 : one > other;
	return one > other ? -1 : one < other;
}

static int compare_rows(const void *left, const void *right, void *arg)
{
	const union sheet_value *a = left, *b = right;
	const struct sheet *sheet = arg;
	const char *at = sheet->options->sort;
	int column, order;
	size_t len;

	for (;; at += len + 1) {
		len = strcspn(at, ",");
		column = find_key(sheet->options, at, len);
		order = compare_values(&sheet->columns[column], &a[column], &b[column]);
		if (order || !at[len])
			break;
	}
	/* The first column names the row.  By it, equal rows are in the same order each time. */
	return order ? order : compare_values(&sheet->columns[0], a, b);
}

static void free_row(const struct sheet *sheet, union sheet_value *row)
{
	size_t i;

	for (i = 0; i < sheet->nr_columns; i++)
		if (sheet->columns[i].type == SHEET_TEXT)
			free(row[i].text);
}

void sheet_sort(struct sheet *sheet)
{
	size_t row = sheet->nr_columns;

	if (sheet->nr_rows)
		qsort_r(sheet->values, sheet->nr_rows, row * sizeof(*sheet->values), compare_rows,
			sheet);
	while (sheet->options->top && sheet->nr_rows > sheet->options->top)
		free_row(sheet, sheet->values + --sheet->nr_rows * row);
}

void sheet_free(struct sheet *sheet)
{
	while (sheet->nr_rows)
		free_row(sheet, sheet->values + --sheet->nr_rows * sheet->nr_columns);
	free(sheet->values);
	if (sheet->total)
		free_row(sheet, sheet->total);
	free(sheet->total);
}

/* -- printing -------------------------------------------------------------- */

/* Prints a value of the sheet's column @column. */
static void print_value(struct table *table, const struct sheet *sheet, size_t column,
			const union sheet_value *value)
{
	struct time_text *times = sheet->options ? sheet->options->times : NULL;
	enum sheet_type type = sheet->columns[column].type;
	char time[TIME_TEXT_LEN];

	if (type == SHEET_TEXT) {
		table_cell(table, "%s", value->text ? value->text : "");
		return;
	}
	if (value->n == SHEET_NONE) {
		table_cell(table, "-");
		return;
	}
	switch (type) {
	case SHEET_MS:
	case SHEET_DELAY:
		table_cell(table, "%.3f", out_ms(value->n));
		break;
	case SHEET_TIME:
		table_cell(table, "%s", times ? time_text(times, time, value->n) :
						out_seconds(time, value->n, 6));
		break;
	case SHEET_SHARE:
		table_cell(table, "%.1f", value->n / 1e4);
		break;
	default:
		table_cell(table, "%" PRIu64, value->n);
	}
}

/* Returns the largest known amount of a column. */
static uint64_t find_worst(const struct sheet *sheet, size_t column)
{
	uint64_t value, worst = 0;
	size_t i;

	for (i = 0; i < sheet->nr_rows; i++) {
		value = sheet->values[i * sheet->nr_columns + column].n;
		if (value != SHEET_NONE && value > worst)
			worst = value;
	}
	return worst;
}

static unsigned int color_of(enum sheet_type type, uint64_t value, uint64_t worst)
{
	unsigned int color = COLOR_PLAIN;

	if (type == SHEET_TEXT || value == SHEET_NONE)
		return color;
	if (type == SHEET_DELAY)
		color = color_of_delay(value);
	return worst && value == worst ? color | COLOR_BOLD : color;
}

/* @worst: of each column: this amount is bold; 0: none */
static void print_row(struct table *table, const struct sheet *sheet,
		      const union sheet_value *values, const uint64_t *worst)
{
	enum sheet_type type;
	size_t i;

	for (i = 0; i < sheet->nr_columns; i++) {
		type = sheet->columns[i].type;
		table_color(table, color_of(type, values[i].n, worst[i]));
		print_value(table, sheet, i, &values[i]);
	}
}

/* Takes the " s" from the heading of a column of times that are dates. */
static const char *title_of(const struct sheet *sheet, size_t column, char buffer[TITLE])
{
	const struct time_text *times = sheet->options ? sheet->options->times : NULL;
	const char *title = sheet->columns[column].table.title;

	if (!times || sheet->columns[column].type != SHEET_TIME || *time_text_unit(times))
		return title;
	snprintf(buffer, TITLE, "%.*s", (int)strlen(title) - 2, title);
	return buffer;
}

void sheet_print(const struct sheet *sheet)
{
	const struct table_options *opts = sheet->options ? &sheet->options->table : NULL;
	uint64_t worst[TABLE_MOST] = { 0 }, none[TABLE_MOST] = { 0 };
	struct table_column columns[TABLE_MOST + 1] = { 0 };
	char titles[TABLE_MOST][TITLE];
	struct table table;
	size_t i;

	for (i = 0; i < sheet->nr_columns; i++) {
		columns[i] = sheet->columns[i].table;
		columns[i].title = title_of(sheet, i, titles[i]);
		if (columns[i].flags & TABLE_WORST)
			worst[i] = find_worst(sheet, i);
	}
	table_begin(&table, columns, opts);
	while (table_pass(&table)) {
		for (i = 0; i < sheet->nr_rows && out_works(); i++)
			print_row(&table, sheet, sheet->values + i * sheet->nr_columns, worst);
		if (!sheet->total)
			continue;
		table_rule(&table);
		print_row(&table, sheet, sheet->total, none);
	}
}

static struct json_object *json_value(enum sheet_type type, const union sheet_value *value)
{
	if (type == SHEET_TEXT)
		return value->text ? json_object_new_string(value->text) : NULL;
	if (value->n == SHEET_NONE)
		return NULL;
	if (type == SHEET_SHARE)
		return json_object_new_double(value->n / 1e6);
	return json_object_new_uint64(value->n);
}

static struct json_object *json_row(const struct sheet *sheet, const union sheet_value *values)
{
	struct json_object *object = json_object_new_object();
	size_t i;

	for (i = 0; i < sheet->nr_columns; i++)
		json_object_object_add(object, sheet->columns[i].json,
				       json_value(sheet->columns[i].type, &values[i]));
	return object;
}

void sheet_json_add(const struct sheet *sheet, struct json_object *object, const char *key)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < sheet->nr_rows; i++)
		json_object_array_add(list, json_row(sheet, sheet->values + i * sheet->nr_columns));
	json_object_object_add(object, key, list);
	if (sheet->total)
		json_object_object_add(object, "total", json_row(sheet, sheet->total));
}

void sheet_json_total(const struct sheet *sheet)
{
	if (sheet->total)
		out_json_member("total", json_row(sheet, sheet->total));
}

void sheet_json(const struct sheet *sheet, const char *key)
{
	size_t i;

	out_json_list(key);
	for (i = 0; i < sheet->nr_rows && out_works(); i++)
		out_json_element(json_row(sheet, sheet->values + i * sheet->nr_columns));
	out_json_list_end();
	sheet_json_total(sheet);
}
