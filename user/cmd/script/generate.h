/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes scripts in Perl.
 */
#ifndef SCHEDTAPE_SCRIPT_GENERATE_H
#define SCHEDTAPE_SCRIPT_GENERATE_H

/*
 * Writes a script with a function for each tracepoint that a tape has.  Returns the exit status.
 */
int generate_perl(const char *path);

#endif /* SCHEDTAPE_SCRIPT_GENERATE_H */
