// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: schedulers and their settings.  A replay under another scheduler than
 * its original, or with other settings, compares these as well.
 */
#include <ctype.h>
#include <string.h>

#include <settings.h>

#include "diff.h"
#include "output.h"
#include "schedulers.h"

/* -- schedulers ------------------------------------------------------------ */

/* A tape of a format before 2.2 does not say, and most likely had the fair one. */
static const char *assume(const char *text)
{
	return strcmp(text, "not known") ? text : "fair";
}

static bool schedulers_differ(const char *a, const char *b)
{
	return strcmp(assume(a), assume(b));
}

static void print_schedulers(const struct diff *diff)
{
	char a[SCHEDULERS_TEXT_LEN], b[SCHEDULERS_TEXT_LEN];
	const char *in_a = schedulers_text(a, diff->a.tape);
	const char *in_b = schedulers_text(b, diff->b.tape);

	if (schedulers_differ(in_a, in_b))
		printf("# schedulers differ: A: %s, B: %s\n", in_a, in_b);
}

static void list_schedulers(const struct diff *diff)
{
	char a[SCHEDULERS_TEXT_LEN], b[SCHEDULERS_TEXT_LEN];
	const char *in_a = schedulers_text(a, diff->a.tape);
	const char *in_b = schedulers_text(b, diff->b.tape);
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "a", json_object_new_string(in_a));
	json_object_object_add(object, "b", json_object_new_string(in_b));
	out_json_add_bool(object, "differ", schedulers_differ(in_a, in_b));
	out_json_member("schedulers", object);
}

/* -- settings -------------------------------------------------------------- */

#define MOST_LINES	16
#define MOST_FOLDERS	8

typedef void (*tell_setting)(void *arg, const char *name, const char *a, const char *b);

/* Returns true for what the kernel measures by itself: it is another one at each look. */
static bool is_measured(const char *name)
{
	static const char measured[] = "/max_newidle_lb_cost";
	size_t len = strlen(name), n = sizeof(measured) - 1;

	return len > n && !strcmp(name + len - n, measured);
}

/* Tells each that differs: those of A first, then those that only B has.  NULL: it has none. */
static void compare_settings(struct json_object *a, struct json_object *b, tell_setting tell,
			     void *arg)
{
	json_object_object_foreach(a, name, value) {
		const char *in_a = json_object_get_string(value);
		const char *in_b = json_object_get_string(json_object_object_get(b, name));

		if (!is_measured(name) && (!in_a || !in_b || strcmp(in_a, in_b)))
			tell(arg, name, in_a, in_b);
	}
	json_object_object_foreach(b, other, other_value) {
		if (!is_measured(other) && !json_object_object_get_ex(a, other, NULL))
			tell(arg, other, NULL, json_object_get_string(other_value));
	}
}

/**
 * struct folder - settings of each CPU: of many, a number says as much as their names
 * @name: of the folder, @len bytes
 * @files: that differ
 */
struct folder {
	const char *name;
	size_t len;
	size_t files;
};

/**
 * struct lines - what was printed of settings that differ
 * @n: lines
 * @more: settings that there was no line for
 */
struct lines {
	size_t n;
	size_t more;
	struct folder folders[MOST_FOLDERS];
	size_t nr_folders;
};

/* "domains/cpu3/domain0/name": returns the length of "domains", or 0 if it is of no CPU. */
static size_t cpu_folder(const char *name)
{
	const char *cpu = strstr(name, "/cpu");

	return cpu && isdigit((unsigned char)cpu[4]) ? strcspn(name, "/") : 0;
}

static void count_in_folder(struct lines *lines, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < lines->nr_folders; i++)
		if (lines->folders[i].len == len && !memcmp(lines->folders[i].name, name, len))
			break;
	if (i == MOST_FOLDERS) {
		lines->more++;
		return;
	}
	if (i == lines->nr_folders)
		lines->folders[lines->nr_folders++] = (struct folder) { name, len, 0 };
	lines->folders[i].files++;
}

/* Is the word among those of the text? */
static bool has_word(const char *text, const char *word, size_t len)
{
	size_t now;

	for (; *text; text += now) {
		text += strspn(text, " ");
		now = strcspn(text, " ");
		if (now == len && !memcmp(text, word, len))
			return true;
	}
	return false;
}

/* Of words, only those that the other one has not: features are some thirty. */
static void print_value(const char *text, const char *other)
{
	const char *between = "";
	char word[256];
	size_t len;

	if (!text) {
		fputs("none", stdout);
		return;
	}
	if (!other || strlen(text) < sizeof(word) / 2) {
		out_text(stdout, text);
		return;
	}
	for (text += strspn(text, " "); *text; text += len, text += strspn(text, " ")) {
		len = strcspn(text, " ");
		if (has_word(other, text, len))
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : 0), text);
		fputs(between, stdout);
		out_text(stdout, word);
		between = " ";
	}
	if (!*between)
		putchar('-');
}

static void print_setting(void *arg, const char *name, const char *a, const char *b)
{
	struct lines *lines = arg;
	size_t len = cpu_folder(name);

	if (len) {
		count_in_folder(lines, name, len);
		return;
	}
	if (lines->n == MOST_LINES) {
		lines->more++;
		return;
	}
	lines->n++;
	fputs("# setting ", stdout);
	out_text(stdout, name);
	fputs(" differs: A: ", stdout);
	print_value(a, b);
	fputs(", B: ", stdout);
	print_value(b, a);
	putchar('\n');
}

static void print_folders(const struct lines *lines)
{
	char name[256];
	size_t i;

	for (i = 0; i < lines->nr_folders; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)lines->folders[i].len,
			 lines->folders[i].name);
		fputs("# settings differ: ", stdout);
		out_text(stdout, name);
		printf("/: %zu of single CPUs\n", lines->folders[i].files);
	}
	if (lines->more)
		printf("# settings differ: %zu more, see --json\n", lines->more);
}

/* @name: the tape without settings. */
static void print_missing(const char *name, const char *reason)
{
	printf("# settings not compared: %s has none", name);
	if (reason) {
		fputs(": ", stdout);
		out_text(stdout, reason);
	}
	putchar('\n');
}

static void print_settings(const struct diff *diff)
{
	const char *why_a, *why_b;
	struct json_object *a = schedtape_settings_files(schedtape_tape_meta(diff->a.tape), &why_a);
	struct json_object *b = schedtape_settings_files(schedtape_tape_meta(diff->b.tape), &why_b);
	struct lines lines = { 0 };

	/* Where debugfs may not be read, neither of them has any. */
	if (!a != !b)
		print_missing(a ? "B" : "A", a ? why_b : why_a);
	if (!a || !b)
		return;
	compare_settings(a, b, print_setting, &lines);
	print_folders(&lines);
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

static void list_setting(void *arg, const char *name, const char *a, const char *b)
{
	struct json_object *object = json_object_new_object();

	(void)arg;
	add_text(object, "name", name);
	add_text(object, "a", a);
	add_text(object, "b", b);
	out_json_element(object);
}

static void list_settings(const struct diff *diff)
{
	const char *why;
	struct json_object *a = schedtape_settings_files(schedtape_tape_meta(diff->a.tape), &why);
	struct json_object *b = schedtape_settings_files(schedtape_tape_meta(diff->b.tape), &why);

	out_json_member("settings_compared", json_object_new_boolean(a && b));
	out_json_list("settings");
	if (a && b)
		compare_settings(a, b, list_setting, NULL);
	out_json_list_end();
}

/* -- both ------------------------------------------------------------------ */

void diff_machine_print(const struct diff *diff)
{
	print_schedulers(diff);
	print_settings(diff);
}

void diff_machine_json(const struct diff *diff)
{
	list_schedulers(diff);
	list_settings(diff);
}
