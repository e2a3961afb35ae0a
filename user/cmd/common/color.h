/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Colours of the output and of messages, and --color.
 */
#ifndef SCHEDTAPE_COLOR_H
#define SCHEDTAPE_COLOR_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Colours are those of the terminal, which the user has chosen.  COLOR_BOLD may be added to each of
 * them.
 */
#define COLOR_PLAIN	0
#define COLOR_BOLD	1
#define COLOR_RED	2	/* beyond a limit, an error, a very long delay */
#define COLOR_GREEN	4	/* within its limit */
#define COLOR_YELLOW	6	/* a warning, a loss, a long delay */
#define COLOR_HEADING	COLOR_BOLD

/* --color, of every command; it has no input. */
extern const struct argp color_argp;

/*
 * Finds out whether standard output and messages have colours, by --color, the environment and
 * whether they go to a terminal.  Call it when the options are parsed, before a pager takes the
 * place of standard output.
 */
void color_begin(void);

/* Returns true if standard output has colours. */
bool color_output(void);

/* Returns the text that begins a colour on standard output; "": it has none, or is COLOR_PLAIN. */
const char *color_on(unsigned int color);
/* Returns the text that ends it. */
const char *color_off(unsigned int color);

/* The same for messages, on standard error. */
const char *color_message_on(unsigned int color);
const char *color_message_off(unsigned int color);

/* Returns the colour of a scheduling delay: at 1 ms and more yellow, at 10 ms and more red. */
static inline unsigned int color_of_delay(uint64_t ns)
{
	return ns < 1000000 ? COLOR_PLAIN : ns < 10000000 ? COLOR_YELLOW : COLOR_RED;
}

/* Ends any colour. */
#define COLOR_RESET	"\033[m"

#endif /* SCHEDTAPE_COLOR_H */
