/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the files of a tape in its directory.
 */
#ifndef SCHEDTAPE_TAPE_FILES_H
#define SCHEDTAPE_TAPE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAPE_STREAM_NAME	16

/**
 * struct tape_found - files of a directory
 * @main: it has the main file
 * @streams: numbers of the other files, in order
 * @n: number of @streams
 */
struct tape_found {
	bool main;
	uint32_t *streams;
	size_t n;
};

/* Fills @found, whose @streams the caller frees, also on failure.  0 or -errno. */
int tape_files_find(const char *path, struct tape_found *found);
bool tape_found_has(const struct tape_found *found, uint32_t number);
/* Makes the name of a stream's file. */
void tape_files_stream(char name[TAPE_STREAM_NAME], uint32_t number);

#endif /* SCHEDTAPE_TAPE_FILES_H */
