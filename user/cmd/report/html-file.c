// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "common/input.h"
#include "common/new-file.h"
#include "common/output.h"
#include "report/internal.h"

/* -- fixed parts ----------------------------------------------------------- */

/*
 * Files in page/.  The assembler finds them in the folder that the Makefiles name with -Wa,-I.
 * page.html is the page, in which names in two pairs of braces stand for other parts.
 */
#define ASSET(name, file)					\
	__asm__(".pushsection .rodata\n"			\
		".globl " #name "\n"				\
		#name ":\n"					\
		".incbin \"" file "\"\n"			\
		".byte 0\n"					\
		".popsection\n")

extern const char page_html[];
extern const char page_css[];
extern const char page_data_js[];
extern const char page_view_js[];
extern const char page_pointer_js[];
extern const char page_tables_js[];

ASSET(page_html, "report/page/page.html");
ASSET(page_css, "report/page/page.css");
ASSET(page_data_js, "report/page/data.js");
ASSET(page_view_js, "report/page/view.js");
ASSET(page_pointer_js, "report/page/pointer.js");
ASSET(page_tables_js, "report/page/tables.js");

/*
 * Returns the fixed part that is called @name, of which only the first @length letters count.
 * NULL: no fixed part has that name.
 */
static const char *find_asset(const char *name, size_t length)
{
	static const struct {
		const char *name;
		const char *text;
	} assets[] = {
		{ "page.css", page_css }, { "data.js", page_data_js }, { "view.js", page_view_js },
		{ "pointer.js", page_pointer_js }, { "tables.js", page_tables_js },
	};
	size_t i;

	for (i = 0; i < sizeof(assets) / sizeof(*assets); i++)
		if (strlen(assets[i].name) == length && !memcmp(assets[i].name, name, length))
			return assets[i].text;
	return NULL;
}

/* -- data ------------------------------------------------------------------ */

static void add_figures(struct json_object *object, const struct delays_sum *sum, uint64_t first)
{
	const struct schedtape_histogram *delays = &sum->delays;

	out_json_add_count(object, "delays", delays->nr);
	out_json_add_count(object, "median", schedtape_histogram_quantile(delays, 50, 100));
	out_json_add_count(object, "p99", schedtape_histogram_quantile(delays, 99, 100));
	out_json_add_count(object, "max", delays->worst);
	if (delays->nr)
		out_json_add_count(object, "max_at",
				   sum->worst_begin > first ? sum->worst_begin - first : 0);
}

static struct json_object *json_task(const struct page *page, const struct schedtape_task *tasks,
				     uint32_t index)
{
	const struct task_sum sum = task_sums_get(page->sums, tasks, index);
	const struct schedtape_task *task = &tasks[index];
	struct json_object *object = json_object_new_object();

	out_json_add_name(object, "name", task->comm);
	out_json_add_count(object, "pid", task->pid);
	out_json_add_count(object, "tgid", task->tgid);
	out_json_add_name(object, "process", tasks[task->process].comm);
	out_json_add_count(object, "run", sum.delays.runtime);
	out_json_add_count(object, "sleeps", sum.counts.sleeps);
	out_json_add_count(object, "preemptions", sum.counts.preemptions);
	out_json_add_count(object, "migrations", sum.counts.migrations);
	add_figures(object, &sum.delays, page->first);
	return object;
}

static struct json_object *json_tasks(const struct page *page)
{
	struct json_object *list = json_object_new_array();
	const struct schedtape_task *tasks;
	unsigned int i;
	size_t n;

	tasks = schedtape_timeline_tasks(page->timeline, &n);
	for (i = 0; i < page->rows.nr_tasks; i++)
		json_object_array_add(list, json_task(page, tasks, page->rows.tasks[i]));
	return list;
}

static struct json_object *json_cpus(const struct page *page)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < page->rows.nr_cpus; i++)
		json_object_array_add(list, json_object_new_int64(page->rows.cpus[i]));
	return list;
}

/* A list of numbers, which are times from the page's first one. */
static struct json_object *json_numbers(const uint64_t *numbers, unsigned int n)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_int64(numbers[i]));
	return list;
}

static uint64_t since_first(const struct page *page, uint64_t time)
{
	return time > page->first ? time - page->first : 0;
}

static struct json_object *json_blocks(const struct page *page)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < page->blocks.nr; i++) {
		const struct page_block *block = &page->blocks.list[i];
		const uint64_t numbers[] = {
			since_first(page, block->first), since_first(page, block->last),
			block->runs,
		};

		json_object_array_add(list, json_numbers(numbers, 3));
	}
	return list;
}

static struct json_object *json_pauses(const struct page *page)
{
	struct json_object *list = json_object_new_array();
	const struct schedtape_range *pauses;
	size_t i, n;

	pauses = schedtape_timeline_pauses(page->timeline, &n);
	for (i = 0; i < n; i++) {
		const uint64_t numbers[] = {
			since_first(page, pauses[i].first), since_first(page, pauses[i].last),
		};

		if (pauses[i].last > page->first && pauses[i].first < page->last)
			json_object_array_add(list, json_numbers(numbers, 2));
	}
	return list;
}

/* For each CPU that has lost events its row, and the time from the first to the last of them. */
static struct json_object *json_losses(const struct page *page)
{
	const struct schedtape_end *end = schedtape_tape_end(page->tape);
	struct json_object *list = json_object_new_array();
	uint64_t numbers[3];
	size_t i;

	for (i = 0; i < end->nr_cpus; i++) {
		if (!end->cpus[i].lost || end->cpus[i].cpu >= page->rows.nr_row_of_cpu)
			continue;
		numbers[0] = page->rows.row_of_cpu[end->cpus[i].cpu];
		numbers[1] = since_first(page, end->cpus[i].lost_first);
		numbers[2] = since_first(page, end->cpus[i].lost_last);
		if (numbers[0] != SCHEDTAPE_NONE)
			json_object_array_add(list, json_numbers(numbers, 3));
	}
	return list;
}

/* The delays of all tasks: the longest one of each bucket, and how many there are. */
static int add_histogram(const struct page *page, struct json_object *data)
{
	static uint64_t counts[HISTOGRAM_BUCKETS];
	const struct delays *delays = &page->sums->delays;
	struct json_object *list = json_object_new_array();
	struct delays_sum all = { .runtime = 0 };
	unsigned int i;
	int rc = 0;

	for (i = 0; i < delays->nr && i < page->rows.nr_all && !rc; i++)
		if (page->rows.number_of[i])
			rc = delays_add(&all, &delays->sums[i]);
	schedtape_histogram_counts(&all.delays, counts);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const uint64_t numbers[] = { schedtape_histogram_limit(i), counts[i] };

		if (counts[i])
			json_object_array_add(list, json_numbers(numbers, 2));
	}
	json_object_object_add(data, "histogram", list);
	add_figures(data, &all, page->first);
	out_json_add_count(data, "p95", schedtape_histogram_quantile(&all.delays, 95, 100));
	schedtape_histogram_free(&all.delays);
	return rc;
}

static struct json_object *make_data(const struct page *page, int *rc)
{
	const struct schedtape_end *end = schedtape_tape_end(page->tape);
	struct json_object *data = out_json_new("page");

	json_object_object_add(data, "tape", json_object_new_string(page->path));
	out_json_add_count(data, "first", page->first);
	out_json_add_count(data, "length", page->last - page->first);
	out_json_add_count(data, "events", cmd_count_events(end));
	out_json_add_count(data, "lost", cmd_count_lost(end));
	json_object_object_add(data, "cpus", json_cpus(page));
	json_object_object_add(data, "tasks", json_tasks(page));
	out_json_add_count(data, "other_tasks", page->rows.nr_other);
	out_json_add_count(data, "parts", page->levels.parts);
	out_json_add_count(data, "part", page->levels.width);
	json_object_object_add(data, "blocks", json_blocks(page));
	out_json_add_bool(data, "single_runs", !page->blocks.full);
	out_json_add_bool(data, "late", blocks_has_late(&page->blocks));
	out_json_add_bool(data, "selected", page->sums->part);
	json_object_object_add(data, "pauses", json_pauses(page));
	json_object_object_add(data, "losses", json_losses(page));
	*rc = add_histogram(page, data);
	return data;
}

/* -- the file -------------------------------------------------------------- */

/* Writes JSON within a script, which a "<" could end. */
static int write_data(const struct page *page, FILE *to)
{
	const char *text, *next;
	struct json_object *data;
	int rc;

	data = make_data(page, &rc);
	text = rc ? NULL : json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN);
	for (; text && *text; text = next) {
		next = text + strcspn(text, "<");
		fwrite(text, 1, next - text, to);
		if (*next++ == '<')
			fputs("\\u003c", to);
		else
			break;
	}
	json_object_put(data);
	return rc ? rc : text ? 0 : -ENOMEM;
}

static int write_sums(struct page *page, FILE *to)
{
	unsigned char *sums;
	size_t bytes;
	int rc;

	sums = levels_end(&page->levels, &bytes);
	if (!sums)
		return -ENOMEM;
	rc = page_write_text(to, sums, bytes, &bytes);
	free(sums);
	return rc;
}

/* Writes the part that has a name in page_html. */
static int write_part(struct page *page, const char *name, size_t length, FILE *to)
{
	const char *asset = find_asset(name, length);

	if (asset)
		return fputs(asset, to) < 0 ? new_file_error() : 0;
	if (!strncmp(name, "data", length))
		return write_data(page, to);
	if (!strncmp(name, "sums", length))
		return write_sums(page, to);
	return blocks_copy(&page->blocks, to);
}

static int write_all(struct page *page, FILE *to)
{
	const char *at = page_html, *name, *end;
	int rc = 0;

	for (; (name = strstr(at, "{{")) && !rc; at = end + 2) {
		fwrite(at, 1, name - at, to);
		name += 2;
		end = strstr(name, "}}");
		rc = write_part(page, name, end - name, to);
	}
	if (!rc)
		fputs(at, to);
	return !rc && ferror(to) ? new_file_error() : rc;
}

#define BEGIN	"<!DOCTYPE html>"	/* as page.html begins */

int page_write(struct page *page, const char *path, uint64_t *bytes, struct schedtape_error *err)
{
	static const struct new_file_kind kind = { "page", BEGIN, sizeof(BEGIN) - 1 };
	struct new_file file;
	int rc;

	err->text[0] = '\0';
	*bytes = 0;
	rc = new_file_open(&file, path, &kind, err);
	if (!rc) {
		rc = write_all(page, file.to);
		if (file.name)
			*bytes = ftello(file.to);
	}
	rc = new_file_close(&file, rc);
	if (rc && !err->text[0])
		schedtape_fail(err, rc, "%s: %s", path, strerror(-rc));
	return rc;
}
