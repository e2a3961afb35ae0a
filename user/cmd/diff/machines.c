// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: schedulers and their settings.  If they differ, the comparison of a
 * replay with its original also measures their effect.
 */
#include <ctype.h>
#include <string.h>

#include <machine/settings.h>

#include "common/output.h"
#include "common/schedulers.h"
#include "diff/internal.h"
#include "tape/meta.h"

#define MOST_LINES	16
#define MOST_FOLDERS	8
#define MOST_REASONS	4

/* -- schedulers ------------------------------------------------------------ */

static void print_schedulers(const struct diff *diff)
{
	char a[SCHEDULERS_TEXT_LEN], b[SCHEDULERS_TEXT_LEN];
	const char *in_a = schedulers_text(a, diff->a.tape);
	const char *in_b = schedulers_text(b, diff->b.tape);

	if (!schedulers_differ(diff->a.tape, diff->b.tape))
		return;
	if (strcmp(in_a, in_b))
		printf("# schedulers differ: A: %s, B: %s\n", in_a, in_b);
	else
		printf("# schedulers differ among the others: A and B: %s\n", in_a);
}

/*
 * JSON scheduler of diff:
 * @a: Those of A, as text.
 * @b: Those of B.
 * @differ: They differ.
 */
static void list_schedulers(const struct diff *diff)
{
	char a[SCHEDULERS_TEXT_LEN], b[SCHEDULERS_TEXT_LEN];
	const char *in_a = schedulers_text(a, diff->a.tape);
	const char *in_b = schedulers_text(b, diff->b.tape);
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "a", json_object_new_string(in_a));
	json_object_object_add(object, "b", json_object_new_string(in_b));
	out_json_add_bool(object, "differ",
			  schedulers_differ(diff->a.tape, diff->b.tape));
	out_json_member("scheduler", object);
}

/* -- settings -------------------------------------------------------------- */

/**
 * struct side - the settings of one tape
 * @name: of the tape: "A" or "B"
 * @files: texts by name; NULL: the tape has no settings
 * @reason: why there are no @files, or NULL
 * @missing: settings that @files lack
 * @not_readable: number of the other tape's settings that were not readable here, by reason
 * @left_out: number of the other tape's settings that this tape perhaps had no room for
 * @cut: number of settings that were cut here, and are equal as far as they go
 */
struct side {
	const char *name;
	struct json_object *files;
	const char *reason;
	struct missing_settings missing;
	struct json_object *not_readable;
	uint64_t left_out;
	uint64_t cut;
};

typedef void (*report_setting)(void *arg, const char *name, const char *a, const char *b);

static void side_init(struct side *side, const char *name, struct schedtape_tape *tape)
{
	struct json_object *meta = tape_meta(tape);

	*side = (struct side) { .name = name };
	side->files = schedtape_settings_files(meta, &side->reason);
	side->not_readable = json_object_new_object();
	missing_settings_init(&side->missing, meta);
}

static void side_free(struct side *side)
{
	json_object_put(side->not_readable);
	missing_settings_free(&side->missing);
}

/* Returns NULL if the tape has no such setting, or JSON's null. */
static const char *text_of(const struct side *side, const char *name)
{
	return json_object_get_string(json_object_object_get(side->files, name));
}

/* Returns true, and counts the setting, if the machine may have had it and the tape lacks it. */
static bool is_gap(struct side *side, const char *name)
{
	const char *reason;

	if (text_of(side, name))
		return false;
	reason = missing_settings_reason(&side->missing, name);
	if (reason)
		missing_settings_count(side->not_readable, reason);
	else if (side->missing.left_out)
		side->left_out++;
	return reason || side->missing.left_out;
}

static void count_cut(struct side *side, const char *name)
{
	side->cut += missing_settings_cut(&side->missing, name);
}

/* Returns true for a value that the kernel measures, because it differs at each look. */
static bool is_measured(const char *name)
{
	static const char measured[] = "/max_newidle_lb_cost";
	size_t len = strlen(name), n = sizeof(measured) - 1;

	return len > n && !strcmp(name + len - n, measured);
}

/* Compares one setting, and calls @report if it differs. */
static void compare_one(struct side *a, struct side *b, const char *name, report_setting report,
			void *arg)
{
	const char *in_a = text_of(a, name), *in_b = text_of(b, name);

	if (in_a && in_b && !strcmp(in_a, in_b)) {
		count_cut(a, name);
		count_cut(b, name);
	} else if ((in_a || in_b) && !is_gap(a, name) && !is_gap(b, name)) {
		report(arg, name, in_a, in_b);
	}
}

/* Calls @report for each setting that differs: first A's, then those that only B has. */
static void compare_settings(struct side *a, struct side *b, report_setting report, void *arg)
{
	json_object_object_foreach(a->files, name, value) {
		(void)value;
		if (!is_measured(name))
			compare_one(a, b, name, report, arg);
	}
	json_object_object_foreach(b->files, other, other_value) {
		(void)other_value;
		if (!is_measured(other) && !json_object_object_get_ex(a->files, other, NULL))
			compare_one(a, b, other, report, arg);
	}
}

/* -- settings as text ------------------------------------------------------ */

/**
 * struct folder - a folder with settings of each CPU, which are only counted
 * @name: name of the folder, @len bytes
 * @files: number of files that differ
 */
struct folder {
	const char *name;
	size_t len;
	size_t files;
};

/**
 * struct lines - the printed lines of settings that differ
 * @n: number of lines
 * @more: number of settings without a line
 */
struct lines {
	size_t n;
	size_t more;
	struct folder folders[MOST_FOLDERS];
	size_t nr_folders;
};

/* Returns the length of "domains" for "domains/cpu3/domain0/name"; 0: not a CPU's setting. */
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

#define BLANKS		" \t\n"
#define LONG_TEXT	128	/* bytes of a list of words of which only some are shown */
#define MOST_OF_WORD	64	/* bytes */

/* Moves @text behind its first word.  Returns that word; *len is 0 at the end. */
static const char *next_word(const char **text, size_t *len)
{
	const char *word = *text + strspn(*text, BLANKS);

	*len = strcspn(word, BLANKS);
	*text = word + *len;
	return word;
}

/* Returns true if the text contains the word. */
static bool has_word(const char *text, const char *word, size_t len)
{
	const char *one;
	size_t now;

	while (one = next_word(&text, &now), now)
		if (now == len && !memcmp(one, word, len))
			return true;
	return false;
}

static bool is_list(const char *text, const char *other)
{
	return text && other && strlen(text) >= LONG_TEXT;
}

/* Returns true if the text has a word that the other one has not. */
static bool has_own_word(const char *text, const char *other)
{
	const char *word;
	size_t len;

	while (word = next_word(&text, &len), len)
		if (!has_word(other, word, len))
			return true;
	return false;
}

static void print_word(const char *word, size_t len)
{
	char text[MOST_OF_WORD + 1];

	snprintf(text, sizeof(text), "%.*s", (int)(len < MOST_OF_WORD ? len : MOST_OF_WORD), word);
	text_print(stdout, text);
	if (len > MOST_OF_WORD)
		fputs("...", stdout);
}

/* Prints a value; of a list, such as the features, only words that the other one has not. */
static void print_value(const char *text, const char *other)
{
	const char *between = "", *word;
	size_t len;

	if (!text) {
		fputs("none", stdout);
		return;
	}
	if (!is_list(text, other)) {
		text_print(stdout, text);
		return;
	}
	while (word = next_word(&text, &len), len) {
		if (has_word(other, word, len))
			continue;
		fputs(between, stdout);
		print_word(word, len);
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
	text_print(stdout, name);
	if (is_list(a, b) && is_list(b, a) && !has_own_word(a, b) && !has_own_word(b, a)) {
		puts(" differs: the same words in another order or number, or other blanks");
		return;
	}
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
		text_print(stdout, name);
		printf("/: %zu of single CPUs\n", lines->folders[i].files);
	}
	if (lines->more)
		printf("# settings differ: %zu more, see --json\n", lines->more);
}

static void print_no_settings(const struct side *side)
{
	printf("# settings not compared: %s has none", side->name);
	if (side->reason) {
		fputs(": ", stdout);
		text_print(stdout, side->reason);
	}
	putchar('\n');
}

static void print_some(const struct side *side, uint64_t n, const char *what, const char *reason)
{
	char count[OUT_COUNT_LEN];

	if (!n)
		return;
	printf("# settings not compared: %s %s %s", out_count(count, n), what, side->name);
	if (reason) {
		fputs(": ", stdout);
		text_print(stdout, reason);
	}
	putchar('\n');
}

static void print_not_compared(const struct side *side)
{
	uint64_t others = 0;
	size_t n = 0;

	json_object_object_foreach(side->not_readable, reason, count) {
		if (n++ < MOST_REASONS)
			print_some(side, json_object_get_uint64(count), "not readable in", reason);
		else
			others += json_object_get_uint64(count);
	}
	print_some(side, others, "not readable in", "other reasons");
	print_some(side, side->left_out, "perhaps left out of", NULL);
	print_some(side, side->cut, "cut in", NULL);
}

static void print_settings(const struct diff *diff)
{
	struct lines lines = { 0 };
	struct side a, b;

	side_init(&a, "A", diff->a.tape);
	side_init(&b, "B", diff->b.tape);
	/* If debugfs was not readable, neither of them has settings. */
	if (!a.files != !b.files)
		print_no_settings(a.files ? &b : &a);
	if (a.files && b.files) {
		compare_settings(&a, &b, print_setting, &lines);
		print_folders(&lines);
		print_not_compared(&a);
		print_not_compared(&b);
	}
	side_free(&a);
	side_free(&b);
}

/* -- settings as JSON ------------------------------------------------------ */

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

/*
 * JSON settings[] of diff:
 * @name: Path of the setting below sched of debugfs.
 * @a: Its value in A, or null.
 * @b: Its value in B, or null.
 */
static void list_setting(void *arg, const char *name, const char *a, const char *b)
{
	struct json_object *object = json_object_new_object();

	(void)arg;
	add_text(object, "name", name);
	add_text(object, "a", a);
	add_text(object, "b", b);
	out_json_element(object);
}

/*
 * JSON settings_not_compared[] of diff:
 * @side: The tape that lacks it, a or b.
 * @why: none, not readable, left out or cut.
 * @reason: A text, or null.
 * @setting_count: Settings.
 */
static void list_some(const struct side *side, uint64_t n, const char *why, const char *reason)
{
	struct json_object *object;

	if (!n)
		return;
	object = json_object_new_object();
	add_text(object, "side", !strcmp(side->name, "A") ? "a" : "b");
	add_text(object, "why", why);
	add_text(object, "reason", reason);
	out_json_add_count(object, "setting_count", n);
	out_json_element(object);
}

/* @other: the other tape. */
static void list_not_compared(const struct side *side, const struct side *other)
{
	if (!side->files && other->files)
		list_some(side, json_object_object_length(other->files), "none", side->reason);
	json_object_object_foreach(side->not_readable, reason, count)
		list_some(side, json_object_get_uint64(count), "not readable", reason);
	list_some(side, side->left_out, "left out", NULL);
	list_some(side, side->cut, "cut", NULL);
}

static void list_settings(const struct diff *diff)
{
	struct side a, b;

	side_init(&a, "A", diff->a.tape);
	side_init(&b, "B", diff->b.tape);
	out_json_member("settings_compared", json_object_new_boolean(a.files && b.files));
	out_json_list("settings");
	if (a.files && b.files)
		compare_settings(&a, &b, list_setting, NULL);
	out_json_list_end();
	out_json_list("settings_not_compared");
	list_not_compared(&a, &b);
	list_not_compared(&b, &a);
	out_json_list_end();
	side_free(&a);
	side_free(&b);
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
