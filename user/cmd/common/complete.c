// SPDX-License-Identifier: GPL-2.0-only
#include "common/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS	128

static struct complete line;

/* All options of a command; of an alias with the argument of its option. */
static struct argp_option options[MOST_OPTIONS];
static size_t nr_options;

/* Those that argp adds. */
static const struct argp_option builtin[] = {
	{ "help", '?', NULL, 0, "Give this help list", 0 },
	{ "usage", 0, NULL, 0, "Give a short usage message", 0 },
	{ "version", 'V', NULL, 0, "Print program version", 0 },
	{ 0 }
};

void complete_begin(const struct complete *begun)
{
	line = *begun;
}

bool complete_begun(void)
{
	return line.argc;
}

void complete_print(const char *word, const char *description)
{
	if (description)
		printf("%s %s\n", word, description);
	else
		puts(word);
}

/* -- options --------------------------------------------------------------- */

static void add_options(const struct argp_option *from)
{
	const struct argp_option *last = from;

	for (; from && (from->name || from->key || from->doc || from->group); from++) {
		if ((!from->name && !from->key) || nr_options == MOST_OPTIONS)
			continue;
		if (!(from->flags & OPTION_ALIAS))
			last = from;
		options[nr_options] = *from;
		options[nr_options].arg = last->arg;
		options[nr_options].doc = last->doc;
		options[nr_options++].flags |= last->flags & OPTION_ARG_OPTIONAL;
	}
}

static void add_all_options(const struct argp *argp)
{
	const struct argp_child *child;

	add_options(argp->options);
	for (child = argp->children; child && child->argp; child++)
		add_all_options(child->argp);
}

/* Returns the option of this name, which may be cut as argp takes it, or NULL. */
static const struct argp_option *find_long(const char *name, size_t len)
{
	const struct argp_option *cut = NULL;
	size_t i;

	for (i = 0; i < nr_options; i++) {
		if (!options[i].name || strncmp(options[i].name, name, len))
			continue;
		if (!options[i].name[len])
			return &options[i];
		cut = &options[i];
	}
	return cut;
}

static const struct argp_option *find_short(char letter)
{
	size_t i;

	for (i = 0; i < nr_options; i++)
		if (options[i].key == letter)
			return &options[i];
	return NULL;
}

/* Returns the option that takes the word after this one as its argument, or NULL. */
static const struct argp_option *option_waiting(const char *word)
{
	const struct argp_option *option = NULL;

	if (!strncmp(word, "--", 2))
		return strchr(word, '=') ? NULL : find_long(word + 2, strlen(word + 2));
	while (*++word) {
		option = find_short(*word);
		/* The rest of the word is the argument. */
		if (option && option->arg && word[1])
			return NULL;
	}
	return option;
}

static bool waits(const struct argp_option *option)
{
	return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

static void print_options(void)
{
	char word[64];
	size_t i;

	for (i = 0; i < nr_options; i++) {
		if (!options[i].name || (options[i].flags & OPTION_HIDDEN))
			continue;
		snprintf(word, sizeof(word), "--%s%s", options[i].name,
			 waits(&options[i]) ? "=" : "");
		complete_print(word, options[i].doc);
		if (!options[i].arg || waits(&options[i]))
			continue;
		snprintf(word, sizeof(word), "--%s=", options[i].name);
		complete_print(word, options[i].doc);
	}
}

/* -- what options and arguments can be ------------------------------------- */

/*
 * Prints the words of a description as "time|work" or "FILE".  What begins with a capital is the
 * name of something: of a tape, or of what the shell cannot know.
 */
static void print_choice(const char *choice, size_t len)
{
	static const char * const tapes[] = { "FILE", "DIR", "OUT", "ORIGINAL", "OTHER" };
	const char *end = choice + len;
	bool tape = false;
	size_t i;

	for (; choice < end; choice += len + 1) {
		len = strcspn(choice, "|");
		if (len > (size_t)(end - choice))
			len = end - choice;
		if (islower((unsigned char)*choice) && !memchr(choice, ':', len))
			printf("%.*s\n", (int)len, choice);
		for (i = 0; i < sizeof(tapes) / sizeof(*tapes); i++)
			if (strlen(tapes[i]) == len && !memcmp(choice, tapes[i], len))
				tape = true;
	}
	if (tape)
		puts(":tapes");
}

/* @text: the argument so far, at the end of the last word */
static void print_values(const struct argp_option *option, const struct argp *argp, char *text,
			 void *input)
{
	char *word = line.argv[line.argc - 1], *comma = strrchr(text, ',');
	char help[64], *argv[] = { line.argv[0], help, NULL };

	/* Each word of a list is completed, and fields of script may have a sign. */
	if (strchr(option->arg, ',')) {
		text = comma ? comma + 1 : text;
		text += *text == '+' || *text == '-';
	}
	if (text > word)
		printf(":prefix %.*s\n", (int)(text - word), word);
	if (!option->doc || !strstr(option->doc, COMPLETE_HELP)) {
		print_choice(option->arg, strlen(option->arg));
		return;
	}
	/* This ends the program. */
	snprintf(help, sizeof(help), "--%s=help", option->name);
	argp_parse(argp, 2, argv, 0, NULL, input);
}

/* Prints what argument number @n, from 0 on, can be, by one line of the usage. */
static void print_argument(const char *usage, size_t n)
{
	bool repeated;
	size_t len;

	for (; *usage && *usage != '\n' && *usage != '-'; usage += len) {
		usage += strspn(usage, " []");
		len = strcspn(usage, " []\n");
		/* "FILE..." is also each argument behind it. */
		repeated = len > 3 && !strncmp(usage + len - 3, "...", 3);
		if (*usage != '-' && (repeated || !n--)) {
			print_choice(usage, repeated ? len - 3 : len);
			return;
		}
	}
}

static void print_arguments(const struct argp *argp, size_t n)
{
	const struct argp_child *child = argp->children;
	const char *usage = argp->args_doc;

	for (; child && child->argp; child++)
		print_arguments(child->argp, n);
	while (usage) {
		/* A line that begins with an option is for command lines with that option. */
		while (!strncmp(usage, "--", 2) && islower((unsigned char)usage[2]))
			usage += strcspn(usage, "\n ") + 1;
		print_argument(usage, n);
		usage = strchr(usage, '\n');
		usage = usage ? usage + 1 : NULL;
	}
}

/* -- the command line ------------------------------------------------------ */

/**
 * struct place - where in the command line the last word is
 * @option: takes it as its argument, or NULL
 * @args: number of arguments before it
 * @command: number of the word that begins another command, 0: it is not part of one
 * @no_options: after "--"
 */
struct place {
	const struct argp_option *option;
	size_t args;
	int command;
	bool no_options;
};

static struct place find_place(unsigned int flags)
{
	struct place place = { .args = 0 };
	int first = 0, i;

	for (i = line.first; i < line.argc - 1; i++) {
		const char *word = line.argv[i];

		if (place.option) {
			place.option = NULL;
		} else if (!place.no_options && *word == '-' && word[1]) {
			place.no_options = !strcmp(word, "--");
			place.option = place.no_options ? NULL : option_waiting(word);
			if (!waits(place.option))
				place.option = NULL;
		} else if (!place.args++) {
			first = i;
		}
	}
	if ((flags & ARGP_IN_ORDER) && first)
		place.command = first;
	else if ((flags & ARGP_IN_ORDER) && !place.option &&
		 (place.no_options || *line.argv[i] != '-'))
		place.command = i;
	return place;
}

void complete_options(const struct argp *argp, unsigned int flags, void *input)
{
	char *word = line.argv[line.argc - 1], *equal = strchr(word, '=');
	const struct argp_option *option;
	struct place place;

	add_all_options(argp);
	add_options(builtin);
	place = find_place(flags);
	if (place.command) {
		/* Without "--complete". */
		printf(":command %d\n", place.command - 1);
	} else if (place.option) {
		print_values(place.option, argp, word, input);
	} else if (place.no_options || *word != '-') {
		print_arguments(argp, place.args);
	} else if (!strncmp(word, "--", 2) && equal) {
		option = find_long(word + 2, equal - word - 2);
		if (option && option->arg)
			print_values(option, argp, equal + 1, input);
	} else {
		print_options();
	}
	exit(0);
}
