// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: gives an order to the plugin, see main.c.  The words of "symbols" are read from
 * standard input.
 */
#include <err.h>
#include <stdlib.h>

#include "mark.h"

int main(int argc, char **argv)
{
	size_t room = 1 << 20, length = 0, n;
	char *text = malloc(room);
	int i;

	for (i = 1; text && i < argc && length < room; i++)
		length += snprintf(text + length, room - length, "%s%s", argv[i],
				   i + 1 < argc ? " " : "");
	if (!text || argc < 2 || length >= room)
		errx(2, "usage: mark run NAME | mark on PHASE | mark off | mark symbols < FILE");
	if (strcmp(text, "symbols"))
		goto out;
	text[length++] = '\n';
	while ((n = fread(text + length, 1, room - length, stdin))) {
		length += n;
		if (length < room)
			continue;
		room *= 2;
		text = realloc(text, room);
		if (!text)
			err(1, "realloc");
	}
out:
	mark_text(text, length);
	free(text);
	return 0;
}
