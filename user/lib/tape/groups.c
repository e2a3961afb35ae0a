// SPDX-License-Identifier: LGPL-2.1-or-later
#define _FILE_OFFSET_BITS 64
#include "tape/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tape/read.h"
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
	struct schedtape_group *groups;
	int32_t nice = (int32_t)le32toh(entry->nice);

	if (tape->nr_groups == TAPE_MAX_TASKS)
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
		.pid = le32toh(entry->pid),
		.autogroup = le32toh(entry->autogroup),
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
		size = 0;
		if (bytes >= sizeof(entry)) {
			memcpy(&entry, raw, sizeof(entry));
			size = le32toh(entry.size);
		}
		if (size < sizeof(entry) || size > bytes) {
			ret = -EBADMSG;
			break;
		}
		ret = add_group(tape, &entry);
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

/* Sorts the entries, and keeps the last one of each task. */
static void sort(struct schedtape_tape *tape)
{
	struct schedtape_group *all = tape->groups;
	size_t i, n = 0;

	qsort(all, tape->nr_groups, sizeof(*all), compare);
	for (i = 0; i < tape->nr_groups; i++) {
		if (n && !compare_tasks(&all[n - 1], &all[i]))
			n--;
		all[n++] = all[i];
	}
	tape->nr_groups = n;
	tape->groups_sorted = true;
}

static int compare_to_task(const void *key, const void *entry)
{
	return compare_tasks(key, entry);
}

const struct schedtape_group *tape_group_find(struct schedtape_tape *tape, uint32_t pid,
					      uint64_t start_time)
{
	const struct schedtape_group key = { .pid = pid, .start_time = start_time };

	if (!tape->nr_groups)
		return NULL;
	if (!tape->groups_sorted)
		sort(tape);
	return bsearch(&key, tape->groups, tape->nr_groups, sizeof(key), compare_to_task);
}
