/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words by columns: all first bytes of a chunk's words, then all second ones,
 * and so on.  The bytes of a column have the same meaning (types, PIDs, times),
 * so columns compress better than words.
 */
#ifndef SCHEDTAPE_COLUMNS_H
#define SCHEDTAPE_COLUMNS_H

#include <stddef.h>

#define TAPE_COLUMNS	8

/* @bytes: a multiple of 64.  The two must not overlap. */
void tape_columns_split(unsigned char *columns, const unsigned char *words, size_t bytes);
void tape_columns_join(unsigned char *words, const unsigned char *columns, size_t bytes);

#endif /* SCHEDTAPE_COLUMNS_H */
