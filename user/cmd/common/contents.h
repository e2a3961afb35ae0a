/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Describes the times, tasks, cgroups and CPUs of a tape in a few words.  A message uses it if an
 * option selects nothing of the tape.
 */
#ifndef SCHEDTAPE_CONTENTS_H
#define SCHEDTAPE_CONTENTS_H

#include <schedtape.h>

#define CONTENTS_LEN	256

/* "from 1.000000 to 9.000000 s (2026-11-24 12:00:00 to 12:00:08)" */
const char *contents_times(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);
/*
 * "sh:100, make:101, ...": the last names of tasks, each name once.  If the tape is a pipe, the
 * names of its descriptions.  Rewinds the tape.
 */
const char *contents_tasks(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);
/* "/, /a, /a/b, ..."; "no paths of cgroups" if there are none */
const char *contents_cgroups(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);
/* "0-3" */
const char *contents_cpus(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);

#endif /* SCHEDTAPE_CONTENTS_H */
