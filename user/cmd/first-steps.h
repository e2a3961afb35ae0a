/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_FIRST_STEPS_H
#define SCHEDTAPE_FIRST_STEPS_H

#include <stdio.h>

/*
 * Prints how to begin.  @obstacle: why this user cannot record here, with what helps, or NULL, see
 * rights_before()
 */
void first_steps_print(FILE *to, const char *obstacle);

#endif /* SCHEDTAPE_FIRST_STEPS_H */
