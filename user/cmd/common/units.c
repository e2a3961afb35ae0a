// SPDX-License-Identifier: GPL-2.0-only
#include "common/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool units_size(const char *text, uint64_t bare, uint64_t *bytes)
{
	static const char units[] = "BKMG";
	uint64_t number, unit = bare;
	const char *letter;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || !number || !isdigit((unsigned char)*text))
		return false;
	if (*end) {
		letter = strchr(units, *end);
		if (!letter || end[1])
			return false;
		unit = 1ULL << 10 * (letter - units);
	}
	return unit && !__builtin_mul_overflow(number, unit, bytes);
}

/* Returns the milliseconds of a unit, 0: there is no such unit. */
static double unit_ms(const char *text, double bare)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {
		{ "ns", 1 / 1e6 }, { "us", 1 / 1e3 }, { "ms", 1 }, { "s", 1e3 },
		{ "m", 60e3 }, { "h", 3600e3 }, { "d", 24 * 3600e3 },
	};
	size_t i;

	if (!*text)
		return bare;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(text, units[i].name))
			return units[i].ms;
	return 0;
}

/* Parses a time of @least to @most, ms. */
static bool parse_time(const char *text, double bare, double least, double most, double *ms)
{
	char *end;

	errno = 0;
	*ms = strtod(text, &end);
	*ms *= unit_ms(end, bare);
	/* Not a number is none of both. */
	return !errno && end != text && *ms >= least && *ms <= most;
}

bool units_time(const char *text, double bare, uint64_t *ms)
{
	double number;

	if (!parse_time(text, bare, 1, 1e12, &number))
		return false;
	*ms = number;
	return true;
}

bool units_time_ns(const char *text, uint64_t *ns)
{
	double number;

	/* A little less than 1 ns, because such numbers are rounded. */
	if (!parse_time(text, 0, 0.999999 / 1e6, 24 * 3600e3, &number))
		return false;
	*ns = llround(number * 1e6);
	return true;
}
