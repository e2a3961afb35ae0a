// SPDX-License-Identifier: GPL-2.0-only
#include "common/quotas.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/output.h"
#include "machine/cgroup-tree.h"

/* -- the table ------------------------------------------------------------- */

static int compare_looks(const void *left, const void *right)
{
	const struct tape_cgroup *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

/* A cgroup that was removed may have the path of a later one. */
static int compare_paths(const void *left, const void *right)
{
	const struct quotas_cgroup *a = *(const struct quotas_cgroup * const *)left;
	const struct quotas_cgroup *b = *(const struct quotas_cgroup * const *)right;
	int order = strcmp(a->path, b->path);

	if (order)
		return order;
	return a->looks->time < b->looks->time ? -1 : a->looks->time > b->looks->time;
}

/* Makes a look of what META says of a cgroup; it holds from the beginning on. */
static struct tape_cgroup look_of(const struct schedtape_cgroup_state *state)
{
	return (struct tape_cgroup){
		.id = state->id, .path = (char *)state->path,
		.quota = state->quota, .period = state->period,
	};
}

/* Makes a cgroup of each id.  What META says is only of use if there is nothing else. */
static void add_cgroups(struct quotas *quotas, size_t n)
{
	struct tape_cgroup *look = quotas->looks, *end = look + n;
	struct quotas_cgroup *cgroup;

	while (look < end) {
		cgroup = &quotas->by_id[quotas->nr];
		quotas->by_path[quotas->nr++] = cgroup;
		*cgroup = (struct quotas_cgroup){ .id = look->id, .path = "" };
		for (; look < end && look->id == cgroup->id; look++) {
			if (look->path && !*cgroup->path)
				cgroup->path = look->path;
			if (!cgroup->nr || !cgroup->looks->time) {
				cgroup->looks = look;
				cgroup->nr = 0;
			}
			cgroup->nr++;
		}
	}
}

static int fill(struct quotas *quotas, const struct schedtape_cgroup_table *table)
{
	const struct tape_cgroup *entries;
	size_t i, n;

	entries = tape_cgroups(quotas->tape, &n);
	quotas->looks = calloc(table->nr + n + 1, sizeof(*quotas->looks));
	quotas->by_id = calloc(table->nr + n + 1, sizeof(*quotas->by_id));
	quotas->by_path = calloc(table->nr + n + 1, sizeof(*quotas->by_path));
	if (!quotas->looks || !quotas->by_id || !quotas->by_path)
		return -ENOMEM;
	for (i = 0; i < table->nr; i++)
		quotas->looks[i] = look_of(&table->by_id[i]);
	if (n)
		memcpy(&quotas->looks[table->nr], entries, n * sizeof(*entries));
	qsort(quotas->looks, table->nr + n, sizeof(*quotas->looks), compare_looks);
	add_cgroups(quotas, table->nr + n);
	qsort(quotas->by_path, quotas->nr, sizeof(*quotas->by_path), compare_paths);
	quotas->seen = n;
	return 0;
}

int quotas_read(struct quotas *quotas, struct schedtape_tape *tape)
{
	struct schedtape_cgroup_table table;
	int ret;

	*quotas = (struct quotas){ .tape = tape };
	ret = schedtape_cgroup_table_read(&table, tape);
	if (ret)
		return ret;
	ret = fill(quotas, &table);
	schedtape_cgroup_table_free(&table);
	return ret;
}

int quotas_update(struct quotas *quotas)
{
	struct schedtape_tape *tape = quotas->tape;
	size_t n;

	tape_cgroups(tape, &n);
	if (n == quotas->seen)
		return 0;
	quotas_free(quotas);
	return quotas_read(quotas, tape);
}

void quotas_free(struct quotas *quotas)
{
	free(quotas->looks);
	free(quotas->by_id);
	free(quotas->by_path);
	*quotas = (struct quotas){ 0 };
}

/* -- what may have throttled a task ---------------------------------------- */

static int compare_id(const void *key, const void *entry)
{
	uint64_t id = *(const uint64_t *)key;
	const struct quotas_cgroup *cgroup = entry;

	return id < cgroup->id ? -1 : id > cgroup->id;
}

/* Returns the last cgroup that had the path at that time, or NULL. */
static const struct quotas_cgroup *find_path(const struct quotas *quotas, const char *path,
					     uint64_t time)
{
	size_t low = 0, high = quotas->nr, middle;
	const struct quotas_cgroup *cgroup;
	int order;

	/* Finds the first that is behind it. */
	while (low < high) {
		middle = low + (high - low) / 2;
		cgroup = quotas->by_path[middle];
		order = strcmp(cgroup->path, path);
		if (order < 0 || (!order && cgroup->looks->time <= time))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && !strcmp(quotas->by_path[low - 1]->path, path))
		return quotas->by_path[low - 1];
	/* All of that path are later ones, as far as the looks tell. */
	return low < quotas->nr && !strcmp(quotas->by_path[low]->path, path) ?
	       quotas->by_path[low] : NULL;
}

/* Returns the last look that was not later than @time, or the first one. */
static const struct tape_cgroup *look_at(const struct quotas_cgroup *cgroup, uint64_t time)
{
	size_t low = 0, high = cgroup->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (cgroup->looks[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return &cgroup->looks[low ? low - 1 : 0];
}

const struct tape_cgroup *quotas_between(const struct quotas_cgroup *cgroup, uint64_t begin,
					 uint64_t end)
{
	const struct tape_cgroup *look = look_at(cgroup, end);

	while (look > cgroup->looks && !look->period && look->time > begin)
		look--;
	return look->period ? look : NULL;
}

/* The kernel counts a throttling when it ends, which is before the end of the task's wait. */
static bool not_throttled(const struct quotas_cgroup *cgroup, uint64_t begin, uint64_t end)
{
	const struct tape_cgroup *stop = cgroup->looks + cgroup->nr, *before, *after;

	before = look_at(cgroup, begin);
	after = before + 1;
	while (before > cgroup->looks && !before->counted)
		before--;
	while (after < stop && !(after->counted && after->began >= end))
		after++;
	return before->counted && before->time <= begin && after < stop &&
	       before->throttled == after->throttled &&
	       before->throttled_us == after->throttled_us;
}

const struct quotas_cgroup *quotas_find(const struct quotas *quotas, uint64_t id)
{
	return bsearch(&id, quotas->by_id, quotas->nr, sizeof(*quotas->by_id), compare_id);
}

const struct quotas_cgroup *quotas_above(const struct quotas *quotas,
					 const struct quotas_cgroup *cgroup, uint64_t time)
{
	const struct quotas_cgroup *above = NULL;
	char path[PATH_MAX], *slash;

	if (strlen(cgroup->path) >= sizeof(path))
		return NULL;
	memcpy(path, cgroup->path, strlen(cgroup->path) + 1);
	/* The root, "/", has no quota. */
	while (!above && (slash = strrchr(path, '/')) && slash > path) {
		*slash = '\0';
		above = find_path(quotas, path, time);
	}
	return above;
}

const struct quotas_cgroup *quotas_suspect(const struct quotas *quotas, uint64_t id,
					   uint64_t begin, uint64_t end,
					   const struct tape_cgroup **look)
{
	const struct quotas_cgroup *cgroup;

	for (cgroup = quotas_find(quotas, id); cgroup;
	     cgroup = quotas_above(quotas, cgroup, begin)) {
		*look = quotas_between(cgroup, begin, end);
		if (*look && !not_throttled(cgroup, begin, end))
			return cgroup;
	}
	return NULL;
}

/* -- figures --------------------------------------------------------------- */

bool quotas_has(const struct quotas_cgroup *cgroup)
{
	size_t i;

	for (i = 0; i < cgroup->nr; i++)
		if (cgroup->looks[i].period)
			return true;
	return false;
}

bool quotas_count(const struct quotas_cgroup *cgroup, struct quotas_counts *counts)
{
	const struct tape_cgroup *first = NULL, *last = NULL;
	size_t i;

	for (i = 0; i < cgroup->nr; i++) {
		if (!cgroup->looks[i].counted)
			continue;
		last = &cgroup->looks[i];
		first = first ? first : last;
	}
	if (first == last || last->periods < first->periods ||
	    last->throttled < first->throttled || last->throttled_us < first->throttled_us)
		return false;
	*counts = (struct quotas_counts){
		.periods = last->periods - first->periods,
		.throttled = last->throttled - first->throttled,
		.throttled_ns = (last->throttled_us - first->throttled_us) * 1000,
		.until = last->began,
	};
	return true;
}

/* -- for info -------------------------------------------------------------- */

static bool same_quota(const struct tape_cgroup *a, const struct tape_cgroup *b)
{
	return a->quota == b->quota && a->period == b->period;
}

static void print_changes(const struct quotas_cgroup *cgroup)
{
	const struct tape_cgroup *look;
	char time[OUT_TIME_LEN];
	size_t i;

	for (i = 0; i < cgroup->nr; i++) {
		if (i && same_quota(&cgroup->looks[i], &cgroup->looks[i - 1]))
			continue;
		look = &cgroup->looks[i];
		fputs(i ? ", then " : ": ", stdout);
		if (look->period)
			printf("%g %% of a CPU", quotas_percent(look->quota, look->period));
		else
			fputs("none", stdout);
		if (i)
			printf(" from %s on", out_seconds(time, look->time, 6));
	}
}

static void print_counts(const struct quotas_cgroup *cgroup, uint64_t stop)
{
	char time[OUT_TIME_LEN], periods[OUT_COUNT_LEN], throttled[OUT_COUNT_LEN];
	struct quotas_counts counts;

	if (!quotas_count(cgroup, &counts))
		return;
	if (counts.throttled || counts.throttled_ns)
		printf("; throttled in %s of %s periods, for %s s",
		       out_count(throttled, counts.throttled), out_count(periods, counts.periods),
		       out_seconds(time, counts.throttled_ns, 6));
	else
		fputs("; never throttled", stdout);
	if (counts.until < stop)
		printf(", as of %s", out_seconds(time, counts.until, 6));
}

void quotas_print(const struct quotas *quotas, uint64_t stop, void (*print_key)(const char *key))
{
	const struct quotas_cgroup *cgroup;
	size_t i;

	for (i = 0; i < quotas->nr && out_works(); i++) {
		cgroup = quotas->by_path[i];
		if (!quotas_has(cgroup))
			continue;
		print_key("quota");
		text_print(stdout, *cgroup->path ? cgroup->path : "?");
		print_changes(cgroup);
		print_counts(cgroup, stop);
		putchar('\n');
	}
}

/*
 * JSON quotas[].changes[] of info:
 * @time_ns: When the recorder saw it; null: it was the first.
 * @quota_ns: CPU time that the cgroup could use in a period; null: any.
 * @period_ns: Length of a period, or null.
 */
static struct json_object *json_changes(const struct quotas_cgroup *cgroup)
{
	struct json_object *list = json_object_new_array(), *change;
	const struct tape_cgroup *look;
	size_t i;

	for (i = 0; i < cgroup->nr; i++) {
		look = &cgroup->looks[i];
		if (i && same_quota(look, look - 1))
			continue;
		change = json_object_new_object();
		json_object_object_add(change, "time_ns",
				       i ? json_object_new_uint64(look->time) : NULL);
		json_object_object_add(change, "quota_ns", look->period ?
				       json_object_new_uint64(look->quota * 1000) : NULL);
		json_object_object_add(change, "period_ns", look->period ?
				       json_object_new_uint64(look->period * 1000) : NULL);
		json_object_array_add(list, change);
	}
	return list;
}

/*
 * JSON quotas[].counts of info:
 * @periods: Periods in which the cgroup had something to run.
 * @throttled_periods: Those of them in which it was throttled.
 * @throttled_ns: For how long it was throttled, added up over all CPUs.
 * @until_ns: When the counting ended: later than stop_ns, unless the cgroup was removed or the tape
 *	is truncated.
 */
static struct json_object *json_counts(const struct quotas_cgroup *cgroup)
{
	struct json_object *object;
	struct quotas_counts counts;

	if (!quotas_count(cgroup, &counts))
		return NULL;
	object = json_object_new_object();
	out_json_add_count(object, "periods", counts.periods);
	out_json_add_count(object, "throttled_periods", counts.throttled);
	out_json_add_count(object, "throttled_ns", counts.throttled_ns);
	out_json_add_count(object, "until_ns", counts.until);
	return object;
}

/*
 * JSON quotas[] of info:
 * @cgroup: Its path below the root of the hierarchy; empty: not known.
 * @id: The kernel's id of it.
 * @changes: A list of its quotas, one after the other.
 * @counts: The kernel's counts of the time of the recording; null if the tape has none.
 */
void quotas_json(const struct quotas *quotas, struct json_object *to)
{
	struct json_object *list = json_object_new_array(), *object;
	const struct quotas_cgroup *cgroup;
	size_t i;

	for (i = 0; i < quotas->nr; i++) {
		cgroup = quotas->by_path[i];
		if (!quotas_has(cgroup))
			continue;
		object = json_object_new_object();
		json_object_object_add(object, "cgroup", json_object_new_string(cgroup->path));
		json_object_object_add(object, "id", json_object_new_uint64(cgroup->id));
		json_object_object_add(object, "changes", json_changes(cgroup));
		json_object_object_add(object, "counts", json_counts(cgroup));
		json_object_array_add(list, object);
	}
	json_object_object_add(to, "quotas", list);
}
