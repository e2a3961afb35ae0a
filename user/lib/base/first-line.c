// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/first-line.h"

#include <stdio.h>
#include <string.h>

bool first_line_read(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}
