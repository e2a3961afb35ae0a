// SPDX-License-Identifier: LGPL-2.1-or-later
#define _FILE_OFFSET_BITS 64
#include "tape/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tape/format.h"
#include "tape/tape.h"
#include "tape/write.h"

#define GROUPS	1024		/* entries of one record */

/* -- writing --------------------------------------------------------------- */

int tape_writer_groups(struct schedtape_writer *writer, const struct schedtape_group *groups,
		       size_t n, struct schedtape_error *err)
{
	struct tape_group entries[GROUPS];
	struct tape_record rec;
	size_t now, i;
	int ret = 0;

	for (; n && !ret; n -= now, groups += now) {
		now = n < GROUPS ? n : GROUPS;
		for (i = 0; i < now; i++)
			entries[i] = (struct tape_group){
				.size = htole32(sizeof(*entries)),
				.pid = htole32(groups[i].pid),
				.time = htole64(groups[i].time),
				.start_time = htole64(groups[i].start_time),
				.autogroup = htole32(groups[i].autogroup),
				.nice = htole32((uint32_t)groups[i].nice),
				.core = htole32(groups[i].core),
			};
		tape_record_init(&rec, TAPE_GROUPS, 0, now * sizeof(*entries));
		ret = tape_writer_record(writer, &rec, sizeof(rec), entries,
					 now * sizeof(*entries), err);
	}
	return ret;
}

/* -- reading --------------------------------------------------------------- */

static int add_group(struct schedtape_tape *tape, const struct tape_group *entry)
{
	uint32_t pid = le32toh(entry->pid), autogroup = le32toh(entry->autogroup);
	int32_t nice = (int32_t)le32toh(entry->nice);
	struct schedtape_group *groups;

	if (tape->nr_groups == TAPE_MAX_TASKS || pid > STAPE_PID_MASK ||
	    autogroup > STAPE_PID_MASK)
		return -EBADMSG;
	groups = schedtape_list_grow(tape->groups, tape->nr_groups, &tape->groups_capacity,
				     sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	tape->groups = groups;
	tape->groups_sorted = false;
	groups[tape->nr_groups++] = (struct schedtape_group){
		.time = le64toh(entry->time),
		.start_time = le64toh(entry->start_time),
		.pid = pid,
		.autogroup = autogroup,
		.nice = nice < TAPE_MIN_NICE || nice > TAPE_MAX_NICE ? SCHEDTAPE_NICE_UNKNOWN :
								       nice,
		.core = le32toh(entry->core),
	};
	return 0;
}

/* On failure no entry of the record is kept. */
int tape_content_groups(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes)
{
	size_t before = tape->nr_groups;
	struct tape_group entry;
	uint32_t size;
	int ret = 0;

	for (; bytes && !ret; bytes -= size, raw += size) {
		size = tape_entry_get(&entry, sizeof(entry), raw, bytes);
		ret = size ? add_group(tape, &entry) : -EBADMSG;
	}
	if (ret)
		tape->nr_groups = before;
	return ret;
}

static int compare_tasks(const struct schedtape_group *a, const struct schedtape_group *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->start_time < b->start_time ? -1 : a->start_time > b->start_time;
}

static int compare(const void *left, const void *right)
{
	const struct schedtape_group *a = left, *b = right;
	int order = compare_tasks(a, b);

	return order ? order : (a->time > b->time) - (a->time < b->time);
}

bool tape_has_groups(const struct schedtape_tape *tape)
{
	return tape->nr_groups;
}

/* Returns how far the time of an entry is from another one; of another task: too far. */
static uint64_t distance(const struct schedtape_group *entry, const struct schedtape_group *key)
{
	if (compare_tasks(entry, key))
		return UINT64_MAX;
	return entry->time > key->time ? entry->time - key->time : key->time - entry->time;
}

const struct schedtape_group *tape_group_find(struct schedtape_tape *tape, uint32_t pid,
					      uint64_t start_time, uint64_t time)
{
	const struct schedtape_group key = { .pid = pid, .start_time = start_time, .time = time };
	const struct schedtape_group *nearest = NULL;
	size_t low = 0, high = tape->nr_groups, middle;
	uint64_t most = TAPE_GROUPS_SLACK;

	if (high && !tape->groups_sorted) {
		qsort(tape->groups, high, sizeof(key), compare);
		tape->groups_sorted = true;
	}
	/* Finds the first entry that does not come before the key. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare(&tape->groups[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < tape->nr_groups && distance(&tape->groups[low], &key) <= most) {
		nearest = &tape->groups[low];
		most = distance(nearest, &key);
	}
	if (low && distance(&tape->groups[low - 1], &key) <= most)
		nearest = &tape->groups[low - 1];
	return nearest;
}
