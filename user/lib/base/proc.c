// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * NSpid has the caller's PIDs from the namespace of /proc to its own one.  Kernels without PID
 * namespaces have no such line.  If /proc does not know the caller, there is no file.
 */
bool proc_is_own(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	bool own = file;
	char line[256], *end;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		strtoul(line + 6, &end, 10);
		own = *end == '\n';
		break;
	}
	if (file)
		fclose(file);
	return own;
}
