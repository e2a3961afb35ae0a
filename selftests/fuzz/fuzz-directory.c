// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a directory whose files have any bytes opens as a tape and can be read to the
 * end, or is refused. The input begins with the lengths of two files, 16 bits each; the third
 * file has the rest.
 */
#include <fcntl.h>

#include "try.h"

#define FILES	3

static char dir[64];

static void make_directory(void)
{
	const char *where = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	snprintf(dir, sizeof(dir), "%s/fuzz-XXXXXX", where);
	if (!mkdtemp(dir))
		abort();
}

static void put_file(unsigned int number, const void *data, size_t size)
{
	static const char * const names[FILES] = { "data", "data.0", "data.1" };
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, names[number]);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void put_files(const uint8_t *data, size_t size, bool sealed)
{
	size_t at = 4, left, length;
	unsigned char *copy;
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		left = size - at;
		length = i < 2 ? data[2 * i] | data[2 * i + 1] << 8 : left;
		if (length > left)
			length = left;
		/* A buffer of its own, so that the sanitizer detects an access beyond it. */
		copy = malloc(length + 1);
		memcpy(copy, data + at, length);
		if (sealed)
			seal(copy, length);
		put_file(i, copy, length);
		free(copy);
		at += length;
	}
}

static void remove_directory(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		perror(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	if (!*dir) {
		make_directory();
		atexit(remove_directory);
	}
	put_files(data, size, false);
	try_tape(dir);
	put_files(data, size, true);
	try_tape(dir);
	return 0;
}
