/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs scripts in Python on the events of a tape.  This process calls exec() and becomes a Python
 * interpreter.  The Python package schedtape then reads the tape and calls the script's functions.
 * Scripts in Perl are in perl.h and generate.h.
 */
#ifndef SCHEDTAPE_SCRIPT_ENGINE_H
#define SCHEDTAPE_SCRIPT_ENGINE_H

#include <stddef.h>

enum language {
	LANGUAGE_UNKNOWN,
	LANGUAGE_PYTHON,
	LANGUAGE_PERL,
};

/* Returns the language of this name, which has @len letters. */
enum language engine_language(const char *name, size_t len);
/*
 * Returns the language of "perl:NAME" and of "NAME.pl"; others are in Python.  @script: becomes
 * the name without a language before it
 */
enum language engine_language_of(const char **script);
/* Runs a script with @args, up to NULL.  Returns only after a message, with the exit status. */
int engine_run(const char *tape, const char *script, char **args);
/* Writes a script for the tracepoints of a tape.  Returns as engine_run(). */
int engine_make(const char *tape);
/* Lists the scripts that come with the package.  Returns as engine_run(). */
int engine_list(void);

#endif /* SCHEDTAPE_SCRIPT_ENGINE_H */
