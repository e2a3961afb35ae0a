// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scripts in Perl that come with this program, which contains them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory-file.h"
#include "script/internal.h"

/* The assembler finds the files from the folder that the Makefiles name with -Wa,-I. */
#define SCRIPT(symbol, name)							\
	__asm__(".pushsection .rodata\n"					\
		".globl " #symbol "\n"						\
		#symbol ":\n"							\
		".incbin \"../bindings/perl/scripts/" name ".pl\"\n"		\
		".byte 0\n"							\
		".popsection\n")

SCRIPT(perl_event_counts, "event-counts");
SCRIPT(perl_wakeup_latency, "wakeup-latency");

static const struct {
	const char *name;
	const char *text;
} scripts[] = {
	{ "event-counts.pl", perl_event_counts },
	{ "wakeup-latency.pl", perl_wakeup_latency },
};

#define NR_SCRIPTS	(sizeof(scripts) / sizeof(*scripts))

/* The second line of a script says what it does. */
void perl_scripts_list(void)
{
	const char *text;
	size_t i;

	printf("Scripts in Perl:\n");
	for (i = 0; i < NR_SCRIPTS; i++) {
		text = strchr(scripts[i].text, '\n') + strlen("\n# ");
		printf("  %-22s %.*s\n", scripts[i].name, (int)strcspn(text, "\n"), text);
	}
}

/* Writes a script into a file in memory, which a child of this process may open by its number. */
static int make_file(const char *name, const char *text)
{
	int fd = memory_file_make(name, false);
	size_t bytes = strlen(text);

	if (fd < 0)
		return fd;
	if (write(fd, text, bytes) == (ssize_t)bytes && !fcntl(fd, F_SETFD, 0))
		return fd;
	close(fd);
	return -1;
}

int perl_scripts_open(const char *name)
{
	size_t i;

	for (i = 0; i < NR_SCRIPTS; i++)
		if (!strcmp(scripts[i].name, name))
			return make_file(name, scripts[i].text);
	return -1;
}
