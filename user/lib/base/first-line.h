/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_FIRST_LINE_H
#define SCHEDTAPE_FIRST_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the first line of a file, without its newline; false: there is none. */
bool first_line_read(const char *path, char *line, size_t size);

#endif /* SCHEDTAPE_FIRST_LINE_H */
