// SPDX-License-Identifier: GPL-2.0-only
#include "common/select-cgroups.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common/input.h"
#include "common/output.h"
#include "machine/cgroup-tree.h"
#include "tape/meta.h"

int select_cgroups_parse(struct select_cgroups *cgroups, const char *text)
{
	cgroups->names.paths = true;
	return *text ? select_names_parse(&cgroups->names, text) : -EINVAL;
}

static int add_id(struct select_cgroups *cgroups, uint64_t id)
{
	uint64_t *ids = reallocarray(cgroups->ids, cgroups->nr_ids + 1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	ids[cgroups->nr_ids++] = id;
	cgroups->ids = ids;
	return 0;
}

/* Adds the cgroup of "id:N", which the tape need not describe.  Returns 1, 0 or -ENOMEM. */
static int add_id_text(struct select_cgroups *cgroups, const char *text)
{
	unsigned long long id;
	char *end;

	errno = 0;
	id = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	if (!id || errno || *end)
		return 0;
	return add_id(cgroups, id) ? -ENOMEM : 1;
}

/* Returns true if an entry selects the path; @below: or that of a cgroup above it. */
static bool has_path(const struct select_names *names, const struct select_name *entry,
		     const char *path, bool below)
{
	char *above = strdup(path), *end;
	bool has = false;

	while (above && !has) {
		has = select_name_has(names, entry, *above ? above : "/", 0);
		end = strrchr(above, '/');
		if (!below || !end || !*above)
			break;
		*end = '\0';
	}
	free(above);
	return has;
}

/**
 * struct known - the cgroups of a tape
 * @table: those that it describes
 * @named: those that the filter named, all that older tapes have; NULL: none
 */
struct known {
	struct schedtape_cgroup_table table;
	struct json_object *named;
};

static int know(struct known *known, struct schedtape_tape *tape)
{
	struct json_object *filter;

	known->named = NULL;
	if (json_object_object_get_ex(tape_meta(tape), "filter", &filter) &&
	    json_object_object_get_ex(filter, "cgroups", &known->named) &&
	    !json_object_is_type(known->named, json_type_array))
		known->named = NULL;
	return schedtape_cgroup_table_read(&known->table, tape);
}

/* Returns the path of cgroup number @i; NULL: there are no more. */
static const char *known_path(const struct known *known, size_t i, uint64_t *id)
{
	struct json_object *entry, *path, *number;

	if (i < known->table.nr) {
		*id = known->table.by_id[i].id;
		return known->table.by_id[i].path;
	}
	i -= known->table.nr;
	if (!known->named || i >= json_object_array_length(known->named))
		return NULL;
	entry = json_object_array_get_idx(known->named, i);
	if (!json_object_object_get_ex(entry, "path", &path) ||
	    !json_object_is_type(path, json_type_string) ||
	    !json_object_object_get_ex(entry, "id", &number))
		return NULL;
	*id = json_object_get_uint64(number);
	return json_object_get_string(path);
}

/* Adds the cgroups that an entry selects.  Returns their number or -ENOMEM. */
static int add_paths(struct select_cgroups *cgroups, const struct known *known,
		     const struct select_name *entry, bool below)
{
	const char *path;
	uint64_t id;
	int n = 0;
	size_t i;

	for (i = 0; (path = known_path(known, i, &id)); i++) {
		if (!has_path(&cgroups->names, entry, path, below))
			continue;
		if (add_id(cgroups, id))
			return -ENOMEM;
		n++;
	}
	return n;
}

static int add_entry(struct select_cgroups *cgroups, const struct known *known,
		     const struct select_name *entry, bool below)
{
	/* The elements behind it are entries of their own. */
	if (entry->elements && !entry->named)
		return 1;
	if (!entry->named && !strncmp(entry->text, "id:", 3))
		return add_id_text(cgroups, entry->text + 3);
	return add_paths(cgroups, known, entry, below);
}

static int compare_ids(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

int select_cgroups_find(struct select_cgroups *cgroups, struct schedtape_tape *tape, bool below,
			const char *path, const char *option)
{
	const struct select_name *entry = NULL;
	char list[CONTENTS_LEN];
	struct known known;
	const char *name;
	int ret = 1;
	uint64_t id;
	size_t i;

	if (!cgroups->names.nr)
		return 0;
	if (know(&known, tape)) {
		out_error(NULL, "not enough memory");
		return -ENOMEM;
	}
	for (i = 0; (name = known_path(&known, i, &id)); i++)
		select_names_meet(&cgroups->names, name, 0);
	while (ret > 0 && (entry = select_names_next(&cgroups->names, entry))) {
		ret = add_entry(cgroups, &known, entry, below);
		if (!ret)
			out_error(path, "%s: the tape has no cgroup '%s'; it has %s", option,
				  entry->text, contents_cgroups(list, tape));
	}
	schedtape_cgroup_table_free(&known.table);
	if (cgroups->nr_ids)
		qsort(cgroups->ids, cgroups->nr_ids, sizeof(*cgroups->ids), compare_ids);
	if (ret < 0)
		out_error(NULL, "not enough memory");
	if (ret <= 0)
		return ret ? ret : -ENOENT;
	select_names_say(&cgroups->names, path);
	return 0;
}

bool select_cgroups_has(const struct select_cgroups *cgroups, uint64_t id)
{
	return cgroups->nr_ids && bsearch(&id, cgroups->ids, cgroups->nr_ids, sizeof(id),
					  compare_ids);
}

void select_cgroups_free(struct select_cgroups *cgroups)
{
	select_names_free(&cgroups->names);
	free(cgroups->ids);
	*cgroups = (struct select_cgroups){ .nr_ids = 0 };
}
