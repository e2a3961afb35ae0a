// SPDX-License-Identifier: GPL-2.0-only
/* Writes what the fuzzers begin with: seeds DIRECTORY {tape|page} */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

#include "../unit/tapes.h"

static struct sample sample;

static void write_page(const char *dir, const char *name, const void *page)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file || fwrite(page, STAPE_PAGE_SIZE, 1, file) != 1 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void write_tape(const char *dir, const char *name, int level, unsigned int batches)
{
	struct schedtape_error err;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (sample_write(&sample, path, level, batches, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	sample_make(&sample);
	if (!strcmp(argv[2], "tape")) {
		write_tape(argv[1], "empty", 0, 0);
		write_tape(argv[1], "raw", 0, 1);
		write_tape(argv[1], "raw-whole", 0, SAMPLE_ALL);
		write_tape(argv[1], "zstd", 3, 2);
		write_tape(argv[1], "zstd-whole", 3, SAMPLE_ALL);
	} else {
		write_page(argv[1], "native", sample.pages[0][0]);
		write_page(argv[1], "lost", sample.pages[1][1]);
		maker_swap_page(sample.pages[1][0]);
		write_page(argv[1], "swapped", sample.pages[1][0]);
	}
	json_object_put(sample.meta);
	return 0;
}
