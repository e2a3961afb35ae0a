/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts of unknown origin, such as names on a tape.  They are printed with '?' for each
 * control character and each byte that is not UTF-8.
 */
#ifndef SCHEDTAPE_TEXT_H
#define SCHEDTAPE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <schedtape/event.h>

/* Prints @len bytes, which must end with a complete character. */
void text_put(FILE *to, const char *text, size_t len);
/* Prints all of a text. */
void text_print(FILE *to, const char *text);
/*
 * Copies a text into @buffer, as far as there is room for whole characters.  @buffer may be @text,
 * because the copy is never longer.  Returns @buffer.
 */
const char *text_safe(char *buffer, size_t size, const char *text);

/*
 * Returns what is behind a name with which a text begins: the name as it is, or as it is printed;
 * NULL: the text does not begin with it.
 */
const char *text_behind(const char *text, const char *name);

/* text_safe() for a task's name. */
#define TEXT_NAME_LEN	STAPE_COMM_LEN
const char *text_name(char buffer[TEXT_NAME_LEN], const char *comm);

/* "comm:pid", as perf has it; "?:pid" if the name is not known. */
#define TEXT_TASK_LEN	(STAPE_COMM_LEN + 12)
const char *text_task(char buffer[TEXT_TASK_LEN], const char *comm, uint32_t pid);

#endif /* SCHEDTAPE_TEXT_H */
