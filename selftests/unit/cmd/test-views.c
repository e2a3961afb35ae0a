// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: on random tapes, a figure has the same value in every view that has it, and for
 * every selection that selects all; lines of groups add up to the total, and are what the options
 * that select these groups show.  The manuals say which columns are of which kind.
 */
#include "latency/internal.h"
#include "report/internal.h"
#include "stat/internal.h"
#include "timehist/internal.h"
#include "top/internal.h"

#include "pipes.h"
#include "printed.h"
#include "random-tape.h"

#define TAPES	(SANITIZED ? 4 : 12)
#define STEPS	3000
#define SLICES	4

/**
 * struct command - a command with views
 * @first: an option that all of its views have
 * @list: key of its lines in JSON
 * @groups: it has --by
 */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const struct sheet_column *columns;
	const char *first;
	const char *list;
	bool groups;
} commands[] = {
	{ "report", cmd_report, report_columns, NULL, "lines", true },
	{ "latency", cmd_latency, latency_columns, NULL, "delays", true },
	{ "timehist", cmd_timehist, summary_columns, "-s", "tasks", false },
	{ "stat", cmd_stat, stat_columns, NULL, "counts", true },
};

static struct blob blob;
static unsigned int tape;

/* Returns what a command prints; the caller frees it. */
static struct json_object *view(const struct command *command, const char *option,
				const char *by)
{
	char name[] = "schedtape", json[] = "--json";
	char *argv[8] = { name, json, blob.path };
	struct json_object *object;
	int argc = 3;

	if (command->first)
		argv[argc++] = (char *)command->first;
	if (option)
		argv[argc++] = (char *)option;
	if (by)
		argv[argc++] = (char *)by;
	begin_capture();
	command->run(argc, argv);
	fflush(stdout);
	lseek(out_file, 0, SEEK_SET);
	object = json_object_from_fd(out_file);
	end_capture();
	return object;
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(object, key, &found);
	return found;
}

/* UINT64_MAX: null, or there is no such member. */
static uint64_t value(struct json_object *object, const char *key)
{
	struct json_object *found = member(object, key);

	return found ? json_object_get_uint64(found) : UINT64_MAX;
}

/* -- comparing ------------------------------------------------------------- */

static bool is_close(uint64_t a, uint64_t b)
{
	uint64_t more = a > b ? a : b, less = a > b ? b : a;

	return more - less <= more / 100;
}

static bool is_same(const struct sheet_column *column, struct json_object *a,
		    struct json_object *b)
{
	uint64_t of_a = value(a, column->json), of_b = value(b, column->json);

	if (of_a == of_b)
		return true;
	return column->kind == SHEET_DISTRIBUTION && of_a != UINT64_MAX && of_b != UINT64_MAX &&
	       (strstr(column->json, "median") || strstr(column->json, "_p9")) &&
	       is_close(of_a, of_b);
}

/* Compares the figures of two lines.  @kind: also those of this kind */
static bool same_line(const struct command *command, struct json_object *a, struct json_object *b,
		      enum sheet_kind kind, const char *what)
{
	const struct sheet_column *column;
	bool same = a && b;

	for (column = command->columns; same && column->table.name; column++) {
		if (column->kind == SHEET_PROPERTY ||
		    (column->kind != SHEET_SUM && column->kind != kind) ||
		    is_same(column, a, b))
			continue;
		printf("# tape %u, %s %s: %s is %lld, not %lld\n", tape, command->name, what,
		       column->table.name, (long long)value(b, column->json),
		       (long long)value(a, column->json));
		same = false;
	}
	return same;
}

/* Adds the sums of a line to those of another one. */
static void add_line(const struct command *command, struct json_object *to,
		     struct json_object *line)
{
	const struct sheet_column *column;
	uint64_t sum;

	for (column = command->columns; column->table.name; column++) {
		if (column->kind != SHEET_SUM || !member(line, column->json))
			continue;
		sum = member(to, column->json) ? value(to, column->json) : 0;
		json_object_object_add(to, column->json,
				       json_object_new_uint64(sum + value(line, column->json)));
	}
}

/* Returns the lines, which report has under another key if they are of tasks. */
static struct json_object *lines_of(const struct command *command, struct json_object *object)
{
	struct json_object *lines = member(object, command->list);

	return lines ? lines : member(object, "tasks");
}

/* Do the lines add up to the total? */
static bool adds_up(const struct command *command, struct json_object *object, const char *what)
{
	struct json_object *sum = json_object_new_object(), *lines = lines_of(command, object);
	struct json_object *total = member(object, "total");
	size_t i, n = lines ? json_object_array_length(lines) : 0;
	bool same = n > 0;

	for (i = 0; i < n; i++)
		add_line(command, sum, json_object_array_get_idx(lines, i));
	/* The lines of tasks have no sum of two other columns. */
	if (!member(sum, "wakeups_externally") && member(total, "wakeups_externally"))
		json_object_object_add(sum, "wakeups_externally",
				       json_object_get(member(total, "wakeups_externally")));
	same = same && same_line(command, total, sum, SHEET_SUM, what);
	json_object_put(sum);
	return same;
}

/* -- views of a command ---------------------------------------------------- */

/* Each line is what the option that selects its group shows. */
static bool test_line(const struct command *command, struct json_object *line, const char *by)
{
	const char *name = json_object_get_string(member(line, "name"));
	struct json_object *selected;
	char option[64];
	bool same;

	/* What has no name, or an unknown CPU, no option selects. */
	if (strchr(name, '?') || name[0] == '<')
		return true;
	if (!strcmp(by, "--by=cpu"))
		snprintf(option, sizeof(option), "-C%s", name + strlen("CPU "));
	else if (!strcmp(by, "--by=process"))
		snprintf(option, sizeof(option), "--pid=%s", strrchr(name, ':') + 1);
	else if (!strcmp(by, "--by=cgroup"))
		snprintf(option, sizeof(option), "--cgroup=%s", name);
	else
		snprintf(option, sizeof(option), "--comm=%.*s",
			 (int)(strrchr(name, ':') - name), name);
	selected = view(command, option, "--by=comm");
	same = same_line(command, member(selected, "total"), line, SHEET_DISTRIBUTION, option);
	json_object_put(selected);
	return same;
}

static bool test_groups(const struct command *command, const char *by)
{
	struct json_object *object = view(command, by, NULL), *lines = lines_of(command, object);
	bool same = lines;
	size_t i;

	for (i = 0; lines && i < json_object_array_length(lines); i++)
		same = test_line(command, json_object_array_get_idx(lines, i), by) && same;
	json_object_put(object);
	return same;
}

static bool test_view(const struct command *command, struct json_object *whole,
		      const char *option, const char *by)
{
	struct json_object *object = view(command, option, by);
	bool same = same_line(command, member(whole, "total"), member(object, "total"),
			      SHEET_DISTRIBUTION, by ? by : option);

	if (!option || strncmp(option, "--top", 5))
		same = adds_up(command, object, by ? by : option) && same;
	json_object_put(object);
	return same;
}

/* Slices of the time add up; a time on a CPU has a part in each. */
static bool test_slices(const struct command *command, struct json_object *whole)
{
	struct json_object *sum = json_object_new_object(), *slice;
	char option[32];
	unsigned int i;
	bool same;

	for (i = 1; i <= SLICES; i++) {
		snprintf(option, sizeof(option), "--time=%u%%/%u", 100 / SLICES, i);
		slice = view(command, option, NULL);
		if (member(slice, "total"))
			add_line(command, sum, member(slice, "total"));
		json_object_put(slice);
	}
	if (member(sum, "runs"))
		json_object_object_add(sum, "runs",
				       json_object_get(member(member(whole, "total"), "runs")));
	same = same_line(command, member(whole, "total"), sum, SHEET_SUM, "in slices");
	json_object_put(sum);
	return same;
}

static bool test_views(const struct command *command, struct json_object *whole)
{
	static const char * const all[] = {
		NULL, "-C0-9", "--time=,", "--time=0%-100%", "--time=+0,", "--top=1",
	};
	static const char * const tasks[] = { "--comm=*", "--tid=1-4194303", "--pid=1-4194303" };
	static const char * const by[] = {
		"--by=task", "--by=comm", "--by=process", "--by=cgroup", "--by=policy", "--by=cpu",
	};
	bool same = adds_up(command, whole, "");
	size_t i, j;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		same = (!i || test_view(command, whole, all[i], NULL)) && same;
		for (j = 0; command->groups && j < sizeof(by) / sizeof(*by); j++)
			same = test_view(command, whole, all[i], by[j]) && same;
	}
	/* stat also counts what happens while no task is on the CPU. */
	for (i = 0; command->run != cmd_stat && i < sizeof(tasks) / sizeof(*tasks); i++)
		same = test_view(command, whole, tasks[i], NULL) && same;
	return test_slices(command, whole) && same;
}

/* -- the manual ------------------------------------------------------------ */

/* Is the heading of an entry, "Cm median , p95", of a column: does it have its name or heading? */
static bool is_entry(const char *entry, const struct sheet_column *column)
{
	const char *heads[2] = { column->table.name, column->table.title };
	char names[256], *name, *rest = names;
	size_t i, j;

	snprintf(names, sizeof(names), "%s", entry);
	while ((name = strsep(&rest, ","))) {
		name += strspn(name, " ");
		name += strncmp(name, "Cm ", 3) ? 0 : 3;
		name[strcspn(name, "\n")] = '\0';
		for (i = strlen(name); i && name[i - 1] == ' '; i--)
			name[i - 1] = '\0';
		for (i = 0; i < 2; i++) {
			for (j = 0; heads[i][j] && (heads[i][j] == name[j] ||
						    (heads[i][j] == '\n' && name[j] == ' ')); j++)
				;
			if (!heads[i][j] && !name[j])
				return true;
		}
	}
	return false;
}

/* Does a manual have an entry of the column that says of which kind it is? */
static bool is_documented(const char *command, const struct sheet_column *column)
{
	static const char * const kinds[] = {
		[SHEET_PROPERTY] = "property\n", [SHEET_SUM] = "sum\n",
		[SHEET_DISTRIBUTION] = "distribution\n",
	};
	static const char * const folders[] = { "", "../../", "../../../", "../../../../" };
	char path[128], line[256], *kind;
	bool found = false;
	FILE *page = NULL;
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(*folders) && !page; i++) {
		snprintf(path, sizeof(path), "%sDocumentation/man/schedtape-%s.1", folders[i],
			 command);
		page = fopen(path, "r");
	}
	while (page && !found && fgets(line, sizeof(line), page)) {
		kind = strstr(line, " Pq ");
		if (strncmp(line, ".It ", 4) || !kind)
			continue;
		*kind = '\0';
		found = is_entry(line + 4, column) && !strcmp(kind + 4, kinds[column->kind]);
	}
	if (page)
		fclose(page);
	if (!found)
		printf("# %s: %s\n", command, column->table.name);
	return found;
}

static void test_manual(const char *command, const struct sheet_column *columns)
{
	bool documented = true;

	for (; columns->table.name; columns++)
		documented = is_documented(command, columns) && documented;
	ok(documented, "the manual of %s says of which kind its columns are", command);
}

/* -- the same figure of several commands ----------------------------------- */

static const struct same_figure {
	const char *key;
	bool is_sum;
} figures[] = {
	{ "cpu_time_ns", true }, { "preemptions", true }, { "wakeups", true },
	{ "migrations", true }, { "delays", true }, { "delay_total_ns", true },
	{ "delay_median_ns", false }, { "delay_p99_ns", false }, { "delay_max_ns", false },
	{ "delay_max_begin_ns", false },
};

/* Compares what both have of these figures; with @sums, only those that are sums. */
static bool same_figures(struct json_object *report, struct json_object *other, const char *name,
			 bool sums)
{
	unsigned int compared = 0;
	const char *key;
	bool same = true;
	size_t i;

	for (i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		key = figures[i].key;
		if (!member(other, key) || (sums && !figures[i].is_sum))
			continue;
		compared++;
		if (value(report, key) == value(other, key))
			continue;
		printf("# tape %u: %s of %s is %lld, that of report %lld\n", tape, key, name,
		       (long long)value(other, key), (long long)value(report, key));
		same = false;
	}
	return same && compared > 1;
}

/* Returns the total of an interval, after a look at the sums of all groups. */
static struct json_object *top_total(const struct interval *interval, bool *same)
{
	static const struct command top = { .name = "top", .columns = top_columns,
					    .list = "lines" };
	struct json_object *totals[GROUPS_NR];
	struct top_view by = { .by = 0 };
	struct sheet sheet;
	unsigned int i;

	for (i = 0; i < GROUPS_NR; i++) {
		by.by = i;
		sheet_options_init(&by.sheet, top_columns, "cpu");
		if (top_fill(&sheet, interval, &by))
			exit(1);
		totals[i] = json_object_new_object();
		sheet_json_add(&sheet, totals[i], "lines");
		sheet_free(&sheet);
		*same = (!interval->nr_sums || adds_up(&top, totals[i], groups_by_name(i))) &&
			same_line(&top, member(totals[0], "total"), member(totals[i], "total"),
				  SHEET_DISTRIBUTION, groups_by_name(i)) && *same;
	}
	for (i = 1; i < GROUPS_NR; i++)
		json_object_put(totals[i]);
	return totals[0];
}

/* @length: of an interval; UINT64_MAX: there is one, and its distributions are those of report */
static bool test_top(struct json_object *report, uint64_t length)
{
	static const struct command top = { .name = "top", .columns = top_columns };
	struct json_object *sum = json_object_new_object(), *total;
	enum reader_has has = READER_NOTHING;
	struct interval interval;
	struct reader reader;
	struct pipe pipe;
	bool same = true;
	unsigned char *data;
	size_t size;

	data = blob_get(&blob, &size);
	pipe_begin(&pipe, data, size, 4096);
	same = !reader_start(&reader, pipe.path, length);
	while (same && has != READER_ENDED) {
		has = reader_take(&reader, &interval);
		if (has == READER_NOTHING)
			usleep(200);
		if (has != READER_INTERVAL)
			continue;
		total = top_total(&interval, &same);
		add_line(&top, sum, member(total, "total"));
		if (length == UINT64_MAX &&
		    !same_figures(report, member(total, "total"), "top", false))
			same = false;
		json_object_put(total);
		interval_free(&interval);
	}
	same = !reader_join(&reader) && same;
	pipe_end(&pipe);
	free(data);
	same = same_figures(report, sum, "top", true) && same;
	json_object_put(sum);
	return same;
}

static void test_tape(bool reuses_pids)
{
	struct json_object *wholes[4], *report;
	size_t i;

	for (i = 0; i < 4; i++) {
		wholes[i] = view(&commands[i], NULL, NULL);
		ok(test_views(&commands[i], wholes[i]), "tape %u: all views of %s are of one tape",
		   tape, commands[i].name);
	}
	for (i = 0; i < 4; i++)
		if (commands[i].groups)
			ok(test_groups(&commands[i], "--by=cpu") &&
			   test_groups(&commands[i], "--by=comm") &&
			   test_groups(&commands[i], "--by=cgroup") &&
			   /* Two processes may have a PID, but --pid has one line for both. */
			   (reuses_pids || test_groups(&commands[i], "--by=process")),
			   "tape %u: groups of %s are what their names say", tape,
			   commands[i].name);
	report = member(wholes[0], "total");
	ok(same_figures(report, member(wholes[1], "total"), "latency", false) &&
	   same_figures(report, member(wholes[2], "total"), "timehist", false),
	   "tape %u: report, latency and timehist -s have the same figures", tape);
	ok(test_top(report, UINT64_MAX) && test_top(report, 1),
	   "tape %u: so has top, in one interval and in several", tape);
	for (i = 0; i < 4; i++)
		json_object_put(wholes[i]);
}

int main(void)
{
	size_t i;

	blob_init(&blob);
	for (i = 0; i < 4; i++)
		test_manual(commands[i].name, commands[i].columns);
	test_manual("top", top_columns);
	for (tape = 0; tape < TAPES; tape++) {
		random_make(&blob, STEPS, tape % 2);
		test_tape(tape % 2);
	}
	close(blob.fd);
	return tap_done();
}
