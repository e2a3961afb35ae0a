// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the files of a tape in a directory: "data" describes the recording, and each
 * "data.N" has the chunks of one writing thread.
 */
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tape/files.h"
#include "tape/format.h"

static int number_compare(const void *one, const void *two)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;

	return a < b ? -1 : a > b;
}

void tape_files_stream(char name[TAPE_STREAM_NAME], uint32_t number)
{
	snprintf(name, TAPE_STREAM_NAME, TAPE_MAIN_FILE ".%u", number);
}

/* Gets the 7 of "data.7".  Accepts no other spelling, such as "data.07". */
static bool stream_number(const char *name, uint32_t *number)
{
	char spelled[TAPE_STREAM_NAME];

	if (sscanf(name, TAPE_MAIN_FILE ".%5u", number) != 1 || *number >= TAPE_MAX_STREAMS)
		return false;
	tape_files_stream(spelled, *number);
	return !strcmp(name, spelled);
}

static int found_add(struct tape_found *found, const char *name)
{
	uint32_t number, *streams;

	if (!strcmp(name, TAPE_MAIN_FILE))
		found->main = true;
	if (!stream_number(name, &number))
		return 0;
	streams = reallocarray(found->streams, found->n + 1, sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	found->streams = streams;
	streams[found->n++] = number;
	return 0;
}

int tape_files_find(const char *path, struct tape_found *found)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return -errno;
	do {
		errno = 0;
		entry = readdir(dir);
		ret = entry ? found_add(found, entry->d_name) : -errno;
	} while (entry && !ret);
	closedir(dir);
	if (found->n)
		qsort(found->streams, found->n, sizeof(*found->streams), number_compare);
	return ret;
}

bool tape_found_has(const struct tape_found *found, uint32_t number)
{
	return found->n && bsearch(&number, found->streams, found->n, sizeof(number),
				   number_compare);
}
