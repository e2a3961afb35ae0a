// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that select events and tasks.
 */
#include "common/select.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/first-line.h"
#include "common/output.h"

static int parse_number(const char **at, uint32_t *number)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	errno = 0;
	value = strtoul(*at, &end, 10);
	if (errno || value > UINT32_MAX)
		return -EINVAL;
	*number = value;
	*at = end;
	return 0;
}

int select_number_parse(uint32_t *number, const char *text)
{
	return parse_number(&text, number) || *text ? -EINVAL : 0;
}

int select_numbers_parse(struct select_numbers *set, const char *text)
{
	const char *at = text;

	for (;;) {
		uint32_t first, last;
		void *ranges;

		if (parse_number(&at, &first))
			return -EINVAL;
		last = first;
		if (*at == '-') {
			at++;
			if (parse_number(&at, &last) || last < first)
				return -EINVAL;
		}
		ranges = realloc(set->ranges, (set->nr + 1) * sizeof(*set->ranges));
		if (!ranges)
			return -ENOMEM;
		set->ranges = ranges;
		set->ranges[set->nr].first = first;
		set->ranges[set->nr++].last = last;
		if (!*at)
			return 0;
		if (*at++ != ',')
			return -EINVAL;
	}
}

bool select_numbers_has(const struct select_numbers *set, uint32_t number)
{
	size_t i;

	for (i = 0; i < set->nr; i++)
		if (number >= set->ranges[i].first && number <= set->ranges[i].last)
			return true;
	return !set->nr;
}

void select_numbers_free(struct select_numbers *set)
{
	free(set->ranges);
}

int select_pids_parse(struct select_pids *set, const char *text)
{
	char *copy = strdup(text), *rest = copy, *element;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (element = strsep(&rest, ",")))
		ret = strncmp(element, "ns:", 3) ? select_numbers_parse(&set->tape, element) :
						   select_numbers_parse(&set->own, element + 3);
	free(copy);
	return ret;
}

bool select_pids_has(const struct select_pids *set, uint32_t pid, uint32_t own_pid)
{
	if (!select_pids_any(set))
		return true;
	return (set->tape.nr && select_numbers_has(&set->tape, pid)) ||
	       (set->own.nr && own_pid && select_numbers_has(&set->own, own_pid));
}

void select_pids_free(struct select_pids *set)
{
	select_numbers_free(&set->tape);
	select_numbers_free(&set->own);
}

static int add_name(struct select_names *set, const char *text, size_t length)
{
	struct select_name *list = reallocarray(set->list, set->nr + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	set->list = list;
	list[set->nr] = (struct select_name){ .text = strndup(text, length) };
	if (!list[set->nr].text)
		return -ENOMEM;
	set->nr++;
	return 0;
}

/* Returns the comma behind an element, or the end of the text. */
static const char *element_end(const char *text)
{
	while (*text && *text != ',')
		text += *text == '\\' && text[1] ? 2 : 1;
	return text;
}

int select_names_parse(struct select_names *set, const char *text)
{
	const char *end = element_end(text);
	size_t argument = set->nr;

	if (add_name(set, text, strlen(text)))
		return -ENOMEM;
	while (*end || set->list[argument].elements) {
		end = element_end(text);
		if (add_name(set, text, end - text))
			return -ENOMEM;
		set->list[argument].elements++;
		if (!*end)
			break;
		text = end + 1;
	}
	return 0;
}

int select_names_take_parts(struct select_names *set, size_t first)
{
	struct select_name *entry = set->list + first, *end = set->list + set->nr;

	for (; entry < end; entry++) {
		if (asprintf(&entry->part, "*%s*", entry->text) >= 0)
			continue;
		entry->part = NULL;
		return -ENOMEM;
	}
	return 0;
}

char *select_unquote(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		from += *from == '\\' && from[1];
		*to++ = *from++;
	}
	*to = '\0';
	return text;
}

/* Returns true if a text is the name, or "name:PID" with a PID from @first to @last. */
static bool is_name(const char *text, const char *name, uint32_t first, uint32_t last)
{
	const char *tail = text_behind(text, *name ? name : "?");
	uint32_t pid;

	if (!tail || !*tail)
		return tail;
	return *tail == ':' && !select_number_parse(&pid, tail + 1) && pid && pid >= first &&
	       pid <= last;
}

bool select_is_name(const char *text, const char *name, uint32_t pid)
{
	return is_name(text, name, pid, pid);
}

/* Returns the path without its first slash; NULL: it is that of the root, or no path. */
static const char *without_slash(const struct select_names *set, const char *name)
{
	return set->paths && *name == '/' && name[1] ? name + 1 : NULL;
}

/* Returns true if an entry is the name of a task or cgroup. */
static bool is_entry(const struct select_names *set, const struct select_name *entry,
		     const char *name, uint32_t first, uint32_t last)
{
	const char *rest = without_slash(set, name);

	return is_name(entry->text, name, first, last) ||
	       (rest && is_name(entry->text, rest, first, last));
}

static bool matches(const struct select_names *set, const char *pattern, const char *name)
{
	const char *rest = without_slash(set, name);

	return !fnmatch(pattern, name, 0) || (rest && !fnmatch(pattern, rest, 0));
}

/* Returns true if an entry selects a task or cgroup as a pattern or a PID. */
static bool has_otherwise(const struct select_names *set, const struct select_name *entry,
			  const char *name, uint32_t pid)
{
	uint32_t number;

	if (entry->elements)
		return false;
	return (name && matches(set, entry->part ? entry->part : entry->text, name)) ||
	       (set->pids && !select_number_parse(&number, entry->text) && number == pid);
}

bool select_names_vague(const struct select_names *set)
{
	uint32_t number;
	size_t i;

	for (i = 0; i < set->nr; i++)
		if (strpbrk(set->list[i].text, ",*?[\\") ||
		    (set->pids && !select_number_parse(&number, set->list[i].text)))
			return true;
	return false;
}

/* Whatever the PID is: a child has the name of its parent, which select_names_meet() gets. */
static bool is_name_of_any(const struct select_names *set, const struct select_name *entry,
			   const char *name)
{
	return name && is_entry(set, entry, name, 1, UINT32_MAX);
}

void select_names_meet(struct select_names *set, const char *name, uint32_t pid)
{
	struct select_name *entry, *argument = NULL;
	size_t i, left = 0;
	bool is, other;

	for (i = 0; i < set->nr; i++) {
		entry = &set->list[i];
		is = is_name_of_any(set, entry, name);
		other = !is && has_otherwise(set, entry, name, pid);
		/* A part selects other names, too. */
		entry->named |= is && !entry->part;
		entry->others |= other;
		if (left && !is_name_of_any(set, argument, name))
			argument->others |= is || other;
		left -= left > 0;
		if (entry->elements) {
			argument = entry;
			left = entry->elements;
		}
	}
}

void select_names_say(const struct select_names *set, const char *path)
{
	const struct select_name *entry = NULL;

	while ((entry = select_names_next(set, entry)))
		if (entry->named && entry->others)
			out_warning(path, "'%s' is the name of a %s, and selects only that; as a "
				    "list%s or a pattern it would select others", entry->text,
				    set->paths ? "cgroup" : "task", set->pids ? ", a PID" : "");
}

const struct select_name *select_names_next(const struct select_names *set,
					    const struct select_name *at)
{
	if (!set->nr)
		return NULL;
	if (!at)
		return set->list;
	at += at->named ? 1 + at->elements : 1;
	return at != set->list + set->nr ? at : NULL;
}

bool select_name_has(const struct select_names *set, const struct select_name *entry,
		     const char *name, uint32_t pid)
{
	return is_entry(set, entry, name, pid, pid) ||
	       (!entry->named && has_otherwise(set, entry, name, pid));
}

bool select_names_has(const struct select_names *set, const char *name, uint32_t pid)
{
	const struct select_name *entry = NULL;

	if (!set->nr)
		return true;
	while ((entry = select_names_next(set, entry)))
		if (select_name_has(set, entry, name, pid))
			return true;
	return false;
}

void select_names_free(struct select_names *set)
{
	while (set->nr) {
		free(set->list[--set->nr].text);
		free(set->list[set->nr].part);
	}
	free(set->list);
	set->list = NULL;
}

/* A double would not be exact to the ns. */
int select_seconds_parse(const char **at, uint64_t *ns)
{
	uint64_t unit = 100000000;
	unsigned long long seconds;
	char *end;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	errno = 0;
	seconds = strtoull(*at, &end, 10);
	if (errno || seconds > UINT64_MAX / 1000000000 - 1)
		return -EINVAL;
	*ns = seconds * 1000000000;
	if (*end == '.')
		for (end++; isdigit((unsigned char)*end); end++) {
			*ns += (*end - '0') * unit;
			unit /= 10;
		}
	*at = end;
	return 0;
}

/* As in perf: "START,STOP", "START," or ",STOP". */
int select_time_parse(struct select_time *range, const char *text)
{
	const char *at = text;

	*range = (struct select_time)SELECT_TIME_ALL;
	if (*at != ',' && select_seconds_parse(&at, &range->start))
		return -EINVAL;
	if (!*at && at != text)
		return 0;
	if (*at++ != ',')
		return -EINVAL;
	if (!*at)
		return 0;
	if (select_seconds_parse(&at, &range->stop) || *at || range->stop < range->start)
		return -EINVAL;
	return 0;
}

/* -- CPUs ------------------------------------------------------------------ */

int cpu_list_mask(unsigned char *mask, size_t bytes, const char *list)
{
	struct select_numbers numbers = { 0 };
	uint32_t cpu;
	int ret;

	ret = select_numbers_parse(&numbers, list);
	for (cpu = 0; cpu < 8 * bytes && !ret; cpu++)
		if (select_numbers_has(&numbers, cpu))
			mask[cpu / 8] |= 1 << cpu % 8;
	select_numbers_free(&numbers);
	return ret;
}

int cpu_list_online(uint32_t **cpus, size_t *nr)
{
	uint32_t cpu, n = sysconf(_SC_NPROCESSORS_CONF);
	struct select_numbers numbers = { 0 };
	char list[1024];
	int ret = -ENODEV;

	*nr = 0;
	*cpus = calloc(n, sizeof(**cpus));
	if (!*cpus)
		return -ENOMEM;
	if (first_line_read("/sys/devices/system/cpu/online", list, sizeof(list)))
		ret = select_numbers_parse(&numbers, list);
	for (cpu = 0; cpu < n && !ret; cpu++)
		if (select_numbers_has(&numbers, cpu))
			(*cpus)[(*nr)++] = cpu;
	select_numbers_free(&numbers);
	return ret || *nr ? ret : -ENODEV;
}

char *cpu_list_text(const unsigned char *mask, size_t bytes)
{
	uint32_t cpu, end, n = 8 * bytes;
	char *list = NULL;
	size_t size;
	FILE *to = open_memstream(&list, &size);

	if (!to)
		return NULL;
	for (cpu = 0; cpu < n; cpu = end + 1) {
		for (end = cpu; end < n && cpu_list_has(mask, end); end++)
			;
		if (end == cpu)
			continue;
		fprintf(to, "%s%u", ftell(to) ? "," : "", cpu);
		if (end - cpu > 1)
			fprintf(to, "-%u", end - 1);
	}
	return fclose(to) ? NULL : list;
}

char *cpu_list_of_set(const cpu_set_t *set)
{
	unsigned char mask[CPU_SETSIZE / 8] = { 0 };
	size_t cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			mask[cpu / 8] |= 1 << cpu % 8;
	return cpu_list_text(mask, sizeof(mask));
}
