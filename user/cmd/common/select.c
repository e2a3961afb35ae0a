// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that select events and tasks.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/select.h"

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

int select_names_parse(struct select_names *set, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *at, *all;

	all = realloc(set->text, set->bytes + bytes);
	if (!all)
		return -ENOMEM;
	at = all + set->bytes;
	memcpy(at, text, bytes);
	set->text = all;
	set->bytes += bytes;
	set->nr++;
	while ((at = strchr(at, ','))) {
		*at++ = '\0';
		set->nr++;
	}
	return 0;
}

const char *select_names_next(const struct select_names *set, const char *at)
{
	at = at ? at + strlen(at) + 1 : set->text;
	return at && at < set->text + set->bytes ? at : NULL;
}

bool select_names_has(const struct select_names *set, const char *name)
{
	const char *at = NULL;

	while ((at = select_names_next(set, at)))
		if (!strcmp(at, name) || !fnmatch(at, name, 0))
			return true;
	return !set->nr;
}

void select_names_free(struct select_names *set)
{
	free(set->text);
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
