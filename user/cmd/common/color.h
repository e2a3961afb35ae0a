/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --color: whether a command prints colours.
 */
#ifndef SCHEDTAPE_COLOR_H
#define SCHEDTAPE_COLOR_H

#include <argp.h>
#include <stdbool.h>

/**
 * enum color_when - --color; the input of color_argp
 * @COLOR_AUTO: if standard output is a terminal that has colours, and NO_COLOR is not set
 */
enum color_when {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

extern const struct argp color_argp;

/* Returns true if standard output gets colours.  Call it before a pager takes the place of one. */
bool color_wanted(enum color_when when);

#define COLOR_RESET	"\033[m"

#endif /* SCHEDTAPE_COLOR_H */
