/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that select events and tasks: by numbers, names, times.
 */
#ifndef SCHEDTAPE_SELECT_H
#define SCHEDTAPE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct select_numbers - "1,4-7": ranges; an empty one selects all
 */
struct select_numbers {
	struct {
		uint32_t first;
		uint32_t last;
	} *ranges;
	size_t nr;
};

/**
 * struct select_names - "sh,make,cc*": names and patterns; an empty one selects all
 * @text: copies of the options, cut into @nr names
 * @bytes: size of @text
 */
struct select_names {
	char *text;
	size_t bytes;
	size_t nr;
};

/**
 * struct select_time - "12.5,13": from @start to before @stop, ns
 */
struct select_time {
	uint64_t start;
	uint64_t stop;
};

#define SELECT_TIME_ALL	{ .start = 0, .stop = UINT64_MAX }

/* Parses a decimal number below 2^32, and nothing else.  Returns 0 or -EINVAL. */
int select_number_parse(uint32_t *number, const char *text);

/* Adds ranges to @set.  Returns 0, -EINVAL (wrong form) or -ENOMEM. */
int select_numbers_parse(struct select_numbers *set, const char *text);
bool select_numbers_has(const struct select_numbers *set, uint32_t number);
void select_numbers_free(struct select_numbers *set);

/* Adds names to @set.  Returns 0 or -ENOMEM. */
int select_names_parse(struct select_names *set, const char *text);
/* Returns the name behind @at; NULL: the first one.  Returns NULL behind the last one. */
const char *select_names_next(const struct select_names *set, const char *at);
/* Returns true if @name is one of the names, or matches one as a pattern of fnmatch(3). */
bool select_names_has(const struct select_names *set, const char *name);
void select_names_free(struct select_names *set);

/*
 * Parses "12", "12.5", "12.123456789" to ns, and moves @at behind it.  Returns 0 or -EINVAL.
 */
int select_seconds_parse(const char **at, uint64_t *ns);
int select_time_parse(struct select_time *range, const char *text);

#endif /* SCHEDTAPE_SELECT_H */
