// SPDX-License-Identifier: GPL-2.0-only
#include "script/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/output.h"

#define PYTHON		"python3"
#define NEW_SCRIPT	"schedtape-script.py"

/* The package may be missing, which is to be said in words of this program. */
static const char start[] =
	"import sys\n"
	/* Not what happens to lie in the current folder. */
	"sys.path[:] = [folder for folder in sys.path if folder]\n"
	"try:\n"
	"    from schedtape.script import main\n"
	"except ImportError as error:\n"
	"    hint = (': install the package python3-schedtape, or name the folder of the Python package '\n"
	"            'in PYTHONPATH' if error.name == 'schedtape' else '')\n"
	"    sys.exit(f'schedtape script: {error}{hint}')\n"
	"sys.exit(main())\n";

/* Becomes Python, with the words of schedtape.script.  Those behind the first NULL do not count. */
static int become(const char *what, const char *tape, const char *file, char **args)
{
	const char *const fixed[] = { PYTHON, "-c", start, what, tape, file };
	size_t i, nr_fixed = sizeof(fixed) / sizeof(*fixed), n = 0;
	char **words;

	while (args && args[n])
		n++;
	words = calloc(nr_fixed + n + 1, sizeof(*words));
	if (!words) {
		out_error(NULL, "not enough memory");
		return CMD_FAILURE;
	}
	for (i = 0; i < nr_fixed; i++)
		words[i] = (char *)fixed[i];
	for (i = 0; i < n; i++)
		words[nr_fixed + i] = args[i];
	execvp(PYTHON, words);
	out_error(NULL, "cannot run " PYTHON ", which scripts need: %s: "
		  "install the package python3-schedtape", strerror(errno));
	free(words);
	return CMD_FAILURE;
}

enum language engine_language(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum language language;
	} languages[] = {
		{ "python", LANGUAGE_PYTHON }, { "py", LANGUAGE_PYTHON },
		{ "perl", LANGUAGE_PERL }, { "pl", LANGUAGE_PERL },
	};
	size_t i;

	for (i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (strlen(languages[i].name) == len &&
		    !strncasecmp(languages[i].name, name, len))
			return languages[i].language;
	return LANGUAGE_UNKNOWN;
}

enum language engine_language_of(const char **script)
{
	const char *colon = strchr(*script, ':'), *dot = strrchr(*script, '.');
	enum language language = colon ? engine_language(*script, colon - *script) :
					 LANGUAGE_UNKNOWN;

	if (language)
		*script = colon + 1;
	else if (dot)
		language = engine_language(dot + 1, strlen(dot + 1));
	return language ? language : LANGUAGE_PYTHON;
}

int engine_run(const char *tape, const char *script, char **args)
{
	return become("run", tape, script, args);
}

int engine_make(const char *tape)
{
	return become("make", tape, NEW_SCRIPT, NULL);
}

int engine_list(void)
{
	return become("list", NULL, NULL, NULL);
}
