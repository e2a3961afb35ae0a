/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion for shells: "schedtape --complete WORD..." prints what the last word of a command
 * line can become.  The scripts in user/completion/ call it; the words come from the options that
 * the commands themselves parse, so that both always agree.
 *
 * Each line is a word, or a word, a blank and its description.  A word that ends with "=" goes on.
 * Lines that begin with ":" come first:
 *
 *	:prefix TEXT	the following words have to be put behind this part of the last word
 *	:tapes		names of tapes can follow
 *	:command N	the words from number N on are a command line of their own; the word
 *			"schedtape" has number 0
 */
#ifndef SCHEDTAPE_COMMON_COMPLETE_H
#define SCHEDTAPE_COMMON_COMPLETE_H

#include <argp.h>
#include <stdbool.h>

/* In the help of an option whose argument "help" lists the words that it takes, one a line. */
#define COMPLETE_HELP	"\"help\" lists them"

/**
 * struct complete - the command line
 * @argv: the whole one: "schedtape", "--complete", WORD...
 * @argc: number of its words, at least 3; the last one is to be completed
 * @first: number of the first word after the name of the command
 */
struct complete {
	char **argv;
	int argc;
	int first;
};

/* From now on, cmd_parse() completes this command line and ends the program. */
void complete_begin(const struct complete *line);
/* Tests whether that is so. */
bool complete_begun(void);

/*
 * Prints what the last word can become, by the options of a command, and ends the program.
 * @flags, @input: what argp_parse() would get
 */
void complete_options(const struct argp *argp, unsigned int flags, void *input)
	__attribute__((noreturn));

/* Prints one line, without a @description if that is NULL. */
void complete_print(const char *word, const char *description);

#endif /* SCHEDTAPE_COMMON_COMPLETE_H */
