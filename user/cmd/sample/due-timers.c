// SPDX-License-Identifier: GPL-2.0-only
#include "sample/due-timers.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Images are messages of Protocol Buffers, each after its size; these are numbers of fields. */
#define CORE_TC		3	/* core_entry */
#define TC_TIMERS	7	/* task_core_entry */
#define TIMERS_REAL	1	/* task_timers_entry */
#define TIMERS_POSIX	4
#define ITIMER_SEC	3	/* itimer_entry */
#define ITIMER_USEC	4
#define POSIX_CLOCK	2	/* posix_timer_entry */
#define POSIX_SEC	9
#define POSIX_NSEC	10
#define FILE_TFD	12	/* file_entry */
#define TFD_SEC		7	/* timerfd_entry */
#define TFD_NSEC	8

#define MAGIC_LEN	8
#define MESSAGE_MAX	(1 << 20)

struct bytes {
	const uint8_t *at;
	const uint8_t *end;
};

struct field {
	uint64_t number;
	uint64_t value;
	struct bytes message;
};

static uint64_t read_varint(struct bytes *bytes)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (bytes->at < bytes->end && shift < 64) {
		value |= (uint64_t)(*bytes->at & 0x7f) << shift;
		shift += 7;
		if (!(*bytes->at++ & 0x80))
			break;
	}
	return value;
}

/* Reads the next field.  Returns false at the end, or if it is none. */
static bool next_field(struct bytes *bytes, struct field *field)
{
	uint64_t key, len;

	if (bytes->at >= bytes->end)
		return false;
	memset(field, 0, sizeof(*field));
	key = read_varint(bytes);
	field->number = key >> 3;
	switch (key & 7) {
	case 0:
		field->value = read_varint(bytes);
		return true;
	case 1:
		len = 8;
		break;
	case 2:
		len = read_varint(bytes);
		break;
	case 5:
		len = 4;
		break;
	default:
		return false;
	}
	if (len > (uint64_t)(bytes->end - bytes->at))
		return false;
	field->message = (struct bytes){ bytes->at, bytes->at + len };
	bytes->at += len;
	return true;
}

static uint64_t number_in(struct bytes message, uint64_t number)
{
	struct field field;

	while (next_field(&message, &field))
		if (field.number == number)
			return field.value;
	return 0;
}

/* @unit: of the smaller part, ns */
static bool is_due(struct bytes timer, uint64_t seconds, uint64_t parts, unsigned int unit,
		   uint64_t ns)
{
	uint64_t left = number_in(timer, seconds) * 1000000000 + number_in(timer, parts) * unit;

	return left && left < ns;
}

static unsigned int due_of_task(struct bytes timers, uint64_t ns)
{
	unsigned int n = 0;
	struct field field;

	while (next_field(&timers, &field)) {
		uint32_t clock = number_in(field.message, POSIX_CLOCK);

		if (field.number == TIMERS_REAL)
			n += is_due(field.message, ITIMER_SEC, ITIMER_USEC, 1000, ns);
		else if (field.number == TIMERS_POSIX && (int32_t)clock >= 0 &&
			 clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID)
			n += is_due(field.message, POSIX_SEC, POSIX_NSEC, 1, ns);
	}
	return n;
}

/* @message: a core_entry */
static unsigned int due_of_core(struct bytes message, uint64_t ns)
{
	struct field tc, timers;
	unsigned int n = 0;

	while (next_field(&message, &tc))
		while (tc.number == CORE_TC && next_field(&tc.message, &timers))
			if (timers.number == TC_TIMERS)
				n += due_of_task(timers.message, ns);
	return n;
}

/* @message: a file_entry */
static unsigned int due_of_file(struct bytes message, uint64_t ns)
{
	unsigned int n = 0;
	struct field file;

	while (next_field(&message, &file))
		if (file.number == FILE_TFD)
			n += is_due(file.message, TFD_SEC, TFD_NSEC, 1, ns);
	return n;
}

/* Adds up what @count finds in each message of an image. */
static unsigned int read_image(const char *path, unsigned int (*count)(struct bytes, uint64_t),
			       uint64_t ns)
{
	FILE *file = fopen(path, "re");
	uint8_t *message;
	unsigned int n = 0;
	uint32_t size;

	if (!file)
		return 0;
	if (!fseek(file, MAGIC_LEN, SEEK_SET)) {
		while (fread(&size, sizeof(size), 1, file) == 1 && size <= MESSAGE_MAX) {
			message = malloc(size + 1);
			if (message && fread(message, 1, size, file) == size)
				n += count((struct bytes){ message, message + size }, ns);
			free(message);
		}
	}
	fclose(file);
	return n;
}

unsigned int due_timers(const char *images, uint64_t ns)
{
	DIR *dir = opendir(images);
	struct dirent *entry;
	char path[PATH_MAX];
	unsigned int n = 0;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", images, entry->d_name);
		if (!strncmp(entry->d_name, "core-", strlen("core-")))
			n += read_image(path, due_of_core, ns);
		else if (!strcmp(entry->d_name, "files.img"))
			n += read_image(path, due_of_file, ns);
	}
	if (dir)
		closedir(dir);
	return n;
}
