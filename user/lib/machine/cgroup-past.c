// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/cgroup-past.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "machine/cgroup-watched.h"

#define MOST_QUIET	32	/* looks at a cgroup */
#define SECOND		1000000000ULL

/* -- one cgroup -------------------------------------------------------------- */

static void drop_looks(struct schedtape_cgroup_watch *watch,
		       struct schedtape_cgroup_watched *cgroup, size_t from, size_t n)
{
	size_t i;

	for (i = from; i < from + n; i++) {
		cgroup->quiet -= cgroup->looks[i].quiet;
		free(cgroup->looks[i].stat);
	}
	cgroup->nr_looks -= n;
	watch->nr_looks -= n;
	memmove(cgroup->looks + from, cgroup->looks + from + n,
		(cgroup->nr_looks - from) * sizeof(*cgroup->looks));
}

/* Forgets every other quiet look, so that few of them cover a long time. */
static void thin_out(struct schedtape_cgroup_watch *watch, struct schedtape_cgroup_watched *cgroup)
{
	size_t i = cgroup->nr_looks;
	bool drop = false;

	while (i-- > 0) {
		if (!cgroup->looks[i].quiet)
			continue;
		if (drop)
			drop_looks(watch, cgroup, i, 1);
		drop = !drop;
	}
}

static void add_look(struct schedtape_cgroup_watch *watch, struct schedtape_cgroup_watched *cgroup,
		     const struct schedtape_cgroup_look *look)
{
	struct schedtape_cgroup_look *looks;

	if (look->quiet && cgroup->quiet >= MOST_QUIET)
		thin_out(watch, cgroup);
	/* Most cgroups have one: a list with room for more would take most of the memory. */
	looks = reallocarray(cgroup->looks, cgroup->nr_looks + 1, sizeof(*looks));
	if (!looks) {
		free(look->stat);
		return;
	}
	cgroup->looks = looks;
	looks[cgroup->nr_looks++] = *look;
	cgroup->quiet += look->quiet;
	watch->nr_looks++;
}

/* Reads a cgroup's files.  @counts: also notes the counts of a quota that has not changed. */
static void look_at(struct schedtape_cgroup_watch *watch, struct schedtape_cgroup_watched *cgroup,
		    uint64_t began, bool counts)
{
	struct schedtape_cgroup_look look = { .began = began };
	struct json_object *stat;

	cgroup->changed = false;
	schedtape_cgroup_read_quota(watch->mount, cgroup->path, look.max);
	look.quiet = cgroup->nr_looks &&
		     !strcmp(look.max, cgroup->looks[cgroup->nr_looks - 1].max);
	if (look.quiet && !counts)
		return;
	stat = schedtape_cgroup_read_counts(watch->mount, cgroup->path);
	/* It is gone, which inotify tells later. */
	if (!stat)
		return;
	look.stat = strdup(json_object_to_json_string_ext(stat, JSON_C_TO_STRING_PLAIN));
	json_object_put(stat);
	if (look.stat)
		add_look(watch, cgroup, &look);
}

static bool has_quota(const struct schedtape_cgroup_watched *cgroup)
{
	return cgroup->nr_looks && *cgroup->looks[cgroup->nr_looks - 1].max;
}

/* Forgets looks that another one has followed before @time. */
static void forget_looks(struct schedtape_cgroup_watch *watch,
			 struct schedtape_cgroup_watched *cgroup, uint64_t time)
{
	size_t n = 0;

	while (n + 1 < cgroup->nr_looks && cgroup->looks[n + 1].time <= time)
		n++;
	if (n)
		drop_looks(watch, cgroup, 0, n);
}

/* -- all cgroups ------------------------------------------------------------- */

static void end_looks(struct schedtape_cgroup_watch *watch, uint64_t time)
{
	struct schedtape_cgroup_watched *cgroup;

	for (cgroup = watch->cgroups; cgroup < watch->cgroups + watch->nr; cgroup++)
		if (cgroup->nr_looks && !cgroup->looks[cgroup->nr_looks - 1].time)
			cgroup->looks[cgroup->nr_looks - 1].time = time;
}

/* With too many looks, forgets the oldest early. */
static void bound(struct schedtape_cgroup_watch *watch, uint64_t now)
{
	uint64_t age = now;

	while (watch->nr_looks > watch->most_looks && age) {
		age /= 2;
		schedtape_cgroup_past_forget(watch, now - age);
	}
}

void schedtape_cgroup_past_look(struct schedtape_cgroup_watch *watch, bool blind, bool counts)
{
	uint64_t began = schedtape_now(), now;
	struct schedtape_cgroup_watched *cgroup;

	watch->keeps = true;
	schedtape_cgroup_take_changes(watch, blind);
	if (!watch->changed && !counts && !(blind && watch->blind))
		return;
	watch->changed = false;
	for (cgroup = watch->cgroups; cgroup < watch->cgroups + watch->nr; cgroup++)
		if (cgroup->changed || (blind && cgroup->wd < 0) || (counts && has_quota(cgroup)))
			look_at(watch, cgroup, began, counts);
	now = schedtape_now();
	end_looks(watch, now);
	bound(watch, now);
}

void schedtape_cgroup_past_forget(struct schedtape_cgroup_watch *watch, uint64_t time)
{
	size_t i, old = 0;

	for (i = 0; i < watch->nr; i++)
		forget_looks(watch, &watch->cgroups[i], time);
	for (i = 0; i < watch->nr_gone; i++) {
		forget_looks(watch, &watch->gone[i], time);
		/* A task may end its last run a little later than its cgroup. */
		old += watch->gone[i].removed + SECOND < time;
	}
	schedtape_cgroup_drop_gone(watch, old);
}

/* -- on a tape --------------------------------------------------------------- */

/**
 * struct item - an entry for the tape
 * @look: NULL: the cgroup was removed before its files could be read
 */
struct item {
	struct schedtape_cgroup_watched *cgroup;
	const struct schedtape_cgroup_look *look;
	uint64_t began;
	uint64_t time;
};

static size_t add_items(struct item *items, struct schedtape_cgroup_watched *cgroup, uint64_t until)
{
	size_t i, n = 0;

	for (i = 0; i < cgroup->nr_looks; i++)
		if (cgroup->looks[i].began <= until)
			items[n++] = (struct item){
				cgroup, &cgroup->looks[i], cgroup->looks[i].began,
				cgroup->looks[i].time,
			};
	if (!cgroup->nr_looks && cgroup->removed)
		items[n++] = (struct item){ cgroup, NULL, cgroup->removed, cgroup->removed };
	return n;
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->began < b->began ? -1 : a->began > b->began;
}

static int put_items(struct schedtape_cgroup_record *record, const struct item *items, size_t n,
		     struct schedtape_error *err)
{
	const struct item *item;
	int ret = 0;

	for (item = items; item < items + n && !ret; item++) {
		if (item->time != record->time || item->began != record->began)
			ret = schedtape_cgroup_record_put(record, err);
		record->began = item->began;
		record->time = item->time;
		if (!ret)
			ret = schedtape_cgroup_record_add(record, item->cgroup,
							  item->look ? item->look->max : "",
							  item->look ?
							  json_tokener_parse(item->look->stat) :
							  NULL, err);
	}
	return ret ? ret : schedtape_cgroup_record_put(record, err);
}

int schedtape_cgroup_past_write(struct schedtape_cgroup_watch *watch, uint64_t time,
				struct schedtape_writer *writer, struct schedtape_error *err)
{
	struct schedtape_cgroup_record record = {
		.writer = writer, .entries = &watch->entries,
	};
	struct item *items;
	size_t i, n = 0;
	int ret;

	items = calloc(watch->nr_looks + watch->nr_gone + 1, sizeof(*items));
	if (!items)
		return schedtape_fail(err, -ENOMEM, "out of memory for cgroups");
	for (i = 0; i < watch->nr; i++)
		n += add_items(items + n, &watch->cgroups[i], time);
	for (i = 0; i < watch->nr_gone; i++)
		n += add_items(items + n, &watch->gone[i], time);
	qsort(items, n, sizeof(*items), compare_items);
	ret = put_items(&record, items, n, err);
	json_object_put(record.list);
	free(items);
	return ret;
}
