/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that select events and tasks: by numbers, names, times, CPUs.
 */
#ifndef SCHEDTAPE_SELECT_H
#define SCHEDTAPE_SELECT_H

#include <sched.h>
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
 * struct select_pids - "812,900-910,ns:7": PIDs as they are on the tape, and those that tasks have
 *	in their own PID namespaces; without any, all are selected
 */
struct select_pids {
	struct select_numbers tape;
	struct select_numbers own;
};

/**
 * struct select_name - an argument, or an element of the list that an argument can be
 * @text: as it was given
 * @part: a pattern for names with a part that @text selects; NULL: parts are not enough
 * @elements: of an argument with commas: how many elements follow it, 0: it is no list
 * @named: it is a name that there is, so it is neither a list nor a pattern
 * @others: as a list, a pattern or a PID it selects other names
 */
struct select_name {
	char *text;
	char *part;
	size_t elements;
	bool named;
	bool others;
};

/**
 * struct select_names - "sh,make,cc*": names, lists and patterns; an empty one selects all
 * @list: @nr arguments, each with its elements behind it
 * @pids: a number is also the PID of a task
 * @paths: the names are paths, whose first slash may be missing
 *
 * An argument is a name as it is printed, with or without ":PID".  If there is no such name, it is
 * a list; without commas, a pattern of fnmatch(3).  An element is a name or a pattern, too.  In
 * lists and patterns, a backslash quotes the next character.  select_names_meet() gets the names
 * that there are, beforehand.  Without them, an argument selects what it matches in any way.
 */
struct select_names {
	struct select_name *list;
	size_t nr;
	bool pids;
	bool paths;
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

/* "812,900-910,ns:7".  Returns 0 or -errno. */
int select_pids_parse(struct select_pids *set, const char *text);

/* Returns true if any PID was given. */
static inline bool select_pids_any(const struct select_pids *set)
{
	return set->tape.nr || set->own.nr;
}

/* @own_pid: in the task's own PID namespace; 0: not known */
bool select_pids_has(const struct select_pids *set, uint32_t pid, uint32_t own_pid);
void select_pids_free(struct select_pids *set);

/* Adds an argument to @set.  Returns 0 or -ENOMEM. */
int select_names_parse(struct select_names *set, const char *text);
/* Has the entries from number @first on select names by a part.  Returns 0 or -ENOMEM. */
int select_names_take_parts(struct select_names *set, size_t first);
/* Returns true if a text is the name, as it is or as it is printed, or "name:PID". */
bool select_is_name(const char *text, const char *name, uint32_t pid);
/* Takes the backslashes out that quote a character.  Returns the text. */
char *select_unquote(char *text);
/* Returns true if it matters which names there are. */
bool select_names_vague(const struct select_names *set);
/* Notes that there is a task or cgroup of that name.  @name: NULL: only the PID is known */
void select_names_meet(struct select_names *set, const char *name, uint32_t pid);
/* Warns of each argument that is a name, and would select others as well if it were none. */
void select_names_say(const struct select_names *set, const char *path);
/*
 * Returns the entry behind @at, and behind its elements if it is named; NULL: there is none.
 * @at: NULL: returns the first one
 */
const struct select_name *select_names_next(const struct select_names *set,
					    const struct select_name *at);
/* Returns true if an entry selects a task or another thing of that name.  @pid: 0: it has none */
bool select_name_has(const struct select_names *set, const struct select_name *entry,
		     const char *name, uint32_t pid);
/* The same of all entries. */
bool select_names_has(const struct select_names *set, const char *name, uint32_t pid);
void select_names_free(struct select_names *set);

/*
 * Parses "12", "12.5", "12.123456789" to ns, and moves @at behind it.  Returns 0 or -EINVAL.
 */
int select_seconds_parse(const char **at, uint64_t *ns);
int select_time_parse(struct select_time *range, const char *text);

/* -- CPUs ------------------------------------------------------------------ */

/*
 * Masks of CPUs, in which bit n % 8 of byte n / 8 is CPU n, and lists such as "0-3,6", which the
 * kernel prints and users write.
 */

static inline bool cpu_list_has(const unsigned char *mask, uint32_t cpu)
{
	return mask[cpu / 8] & 1 << cpu % 8;
}

/* Adds a list to a mask, without CPUs beyond it.  Returns 0, -EINVAL (not a list) or -ENOMEM. */
int cpu_list_mask(unsigned char *mask, size_t bytes, const char *list);
/*
 * Finds the CPUs that are online, one at least.  Returns 0 or -errno.  The caller frees @cpus, also
 * after a failure.
 */
int cpu_list_online(uint32_t **cpus, size_t *nr);
/* Returns a list such as "0-3,6", to be freed, or NULL: out of memory. */
char *cpu_list_text(const unsigned char *mask, size_t bytes);
/* The same of a set. */
char *cpu_list_of_set(const cpu_set_t *set);

#endif /* SCHEDTAPE_SELECT_H */
