// SPDX-License-Identifier: GPL-2.0-only
#include "common/time-ranges.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/input.h"
#include "common/select.h"
#include "common/time-text.h"

#define SECOND	1000000000ULL

/* -- parsing --------------------------------------------------------------- */

/* Moves @at behind a text, if it is there. */
static bool skip(const char **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*at, text, len))
		return false;
	*at += len;
	return true;
}

/* Parses a number of @digits digits, or of at most 2 if that is 0. */
static int parse_digits(const char **at, unsigned int digits, int *number)
{
	unsigned int n = 0;

	*number = 0;
	while (n < (digits ? digits : 2) && isdigit((unsigned char)(*at)[n]))
		*number = *number * 10 + (*at)[n++] - '0';
	*at += n;
	return !n || (digits && n < digits) ? -EINVAL : 0;
}

/* Parses "12:00", "12:00:03", "12:00:03.5". */
static int parse_clock(const char **at, struct tm *tm, uint64_t *ns)
{
	uint64_t seconds = 0;

	if (parse_digits(at, 0, &tm->tm_hour) || !skip(at, ":") ||
	    parse_digits(at, 2, &tm->tm_min) || tm->tm_hour > 23 || tm->tm_min > 59)
		return -EINVAL;
	if (skip(at, ":") && (select_seconds_parse(at, &seconds) || seconds >= 61 * SECOND))
		return -EINVAL;
	tm->tm_sec = seconds / SECOND;
	*ns = seconds % SECOND;
	return 0;
}

/* Parses "2026-11-24", perhaps with a time of the day behind a blank or "T". */
static int parse_date(const char **at, struct tm *tm, uint64_t *ns)
{
	const char *behind;

	if (parse_digits(at, 4, &tm->tm_year) || !skip(at, "-") ||
	    parse_digits(at, 2, &tm->tm_mon) || !skip(at, "-") ||
	    parse_digits(at, 2, &tm->tm_mday) || tm->tm_year < 1970 ||
	    tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 || tm->tm_mday > 31)
		return -EINVAL;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	behind = *at;
	if (*behind != ' ' && *behind != 'T')
		return 0;
	behind++;
	/* Behind a blank there may be the next range. */
	if (**at == ' ' && behind[strspn(behind, "0123456789")] != ':')
		return 0;
	*at = behind;
	return parse_clock(at, tm, ns);
}

/* Converts a date to ns since 1970. */
static int convert_date(struct tm *tm, bool utc, uint64_t *ns)
{
	time_t time;

	tm->tm_isdst = -1;
	time = utc ? timegm(tm) : mktime(tm);
	if (time < 0 || (uint64_t)time > UINT64_MAX / SECOND - 1)
		return -EINVAL;
	*ns = time * SECOND;
	return 0;
}

/* Parses a date, or a time of the day. */
static int parse_wall(const char **at, struct time_point *point, bool date)
{
	struct tm tm = { 0 };
	uint64_t ns = 0;
	int ret;

	ret = date ? parse_date(at, &tm, &ns) : parse_clock(at, &tm, &ns);
	if (ret)
		return ret;
	point->utc = skip(at, "Z") || skip(at, " UTC");
	point->kind = date ? TIME_DATE : TIME_OF_DAY;
	if (date)
		ret = convert_date(&tm, point->utc, &point->ns);
	else
		point->ns = (tm.tm_hour * 3600ULL + tm.tm_min * 60ULL + tm.tm_sec) * SECOND;
	point->ns += ns;
	return ret;
}

/* Parses a time, which may be missing before a comma, a blank and the end. */
static int parse_point(const char **at, struct time_point *point)
{
	size_t digits = strspn(*at, "0123456789");

	*point = (struct time_point){ .kind = TIME_OPEN };
	if (!**at || **at == ',' || **at == ' ')
		return 0;
	if ((*at)[digits] == '-' || (*at)[digits] == ':')
		return parse_wall(at, point, (*at)[digits] == '-');
	point->kind = skip(at, "+") ? TIME_AFTER_START : TIME_CLOCK;
	return select_seconds_parse(at, &point->ns);
}

static int parse_range(const char **at, struct time_range *range)
{
	bool comma;

	if (parse_point(at, &range->from))
		return -EINVAL;
	comma = skip(at, ",");
	range->to = (struct time_point){ .kind = TIME_OPEN };
	if (comma && parse_point(at, &range->to))
		return -EINVAL;
	/* "" is nothing, but "," is all of the tape, as it always was. */
	if (!comma && range->from.kind == TIME_OPEN)
		return -EINVAL;
	if (range->from.kind == range->to.kind && range->from.kind != TIME_OF_DAY &&
	    range->to.ns < range->from.ns)
		return -EINVAL;
	return !**at || **at == ' ' ? 0 : -EINVAL;
}

static int parse_share(const char **at, double *share)
{
	uint64_t percent;

	if (select_seconds_parse(at, &percent) || !skip(at, "%") || percent > 100 * SECOND)
		return -EINVAL;
	*share = percent / 1e11;
	return 0;
}

/* Parses "10%", which is the first 10 %, "10%/2", which is the second 10 %, or "10%-20%". */
static int parse_shares(const char **at, struct time_range *range)
{
	double share, from = 0, to;
	unsigned long n = 1;
	char *end;

	if (parse_share(at, &share))
		return -EINVAL;
	to = share;
	if (skip(at, "-")) {
		from = share;
		if (parse_share(at, &to))
			return -EINVAL;
	} else if (skip(at, "/")) {
		if (!isdigit((unsigned char)**at))
			return -EINVAL;
		n = strtoul(*at, &end, 10);
		*at = end;
		/* Slices of a third may end a little behind 1. */
		from = share * (n - 1);
		to = fmin(share * n, 1);
	}
	if (!n || to <= from)
		return -EINVAL;
	range->from = (struct time_point){ .kind = TIME_SHARE, .share = from };
	range->to = (struct time_point){ .kind = TIME_SHARE, .share = to };
	return !**at || **at == ',' ? 0 : -EINVAL;
}

int time_ranges_parse(struct time_ranges *times, const char *text)
{
	bool shares = strchr(text, '%');
	struct time_range range = { 0 };
	struct time_range *ranges;

	for (;; text++) {
		text += strspn(text, " ");
		if (shares ? parse_shares(&text, &range) : parse_range(&text, &range))
			return -EINVAL;
		ranges = realloc(times->ranges, (times->nr + 1) * sizeof(*ranges));
		if (!ranges)
			return -ENOMEM;
		ranges[times->nr++] = range;
		times->ranges = ranges;
		if (!*text)
			return 0;
	}
}

/* -- on a tape ------------------------------------------------------------- */

/* Returns ns since 1970 of a time of the day, @days after the day of @real. */
static uint64_t on_day(const struct time_point *point, uint64_t real, int days)
{
	uint64_t seconds = point->ns / SECOND, ns = 0;
	time_t time = real / SECOND;
	struct tm tm;

	if (!(point->utc ? gmtime_r(&time, &tm) : localtime_r(&time, &tm)))
		return real;
	tm.tm_mday += days;
	tm.tm_hour = seconds / 3600;
	tm.tm_min = seconds / 60 % 60;
	tm.tm_sec = seconds % 60;
	if (convert_date(&tm, point->utc, &ns))
		return real;
	return ns + point->ns % SECOND;
}

/*
 * Returns ns since 1970 of a date, or of a time of the day: on the day of @since, or on the next
 * day if it was before @since on that day.  If it is then after @until, the nearer one of the two
 * counts.
 */
static uint64_t wall_time(const struct time_point *point, uint64_t since, uint64_t until)
{
	uint64_t time, next;

	if (point->kind == TIME_DATE)
		return point->ns;
	time = on_day(point, since, 0);
	next = on_day(point, since, 1);
	return time < since && (next <= until || next - until < since - time) ? next : time;
}

static bool is_wall(const struct time_point *point)
{
	return point->kind == TIME_DATE || point->kind == TIME_OF_DAY;
}

static uint64_t add(uint64_t time, uint64_t ns)
{
	return ns > UINT64_MAX - time ? UINT64_MAX : time + ns;
}

/**
 * struct recording - the tape that the ranges are of
 * @start, @stop: ns of the tape's clock
 * @since, @until: times of the wall clock that a time of the day is looked for in
 */
struct recording {
	struct wall_clock clock;
	uint64_t start;
	uint64_t stop;
	uint64_t since;
	uint64_t until;
};

/* @open: the time if it is left out */
static uint64_t resolve(struct recording *recording, const struct time_point *point, uint64_t open)
{
	switch (point->kind) {
	case TIME_OPEN:
		break;
	case TIME_CLOCK:
		return point->ns;
	case TIME_AFTER_START:
		return add(recording->start, point->ns);
	case TIME_SHARE:
		/* The last event is of the last share. */
		if (point->share >= 1)
			return UINT64_MAX;
		return recording->start +
		       llround(point->share * (recording->stop - recording->start));
	case TIME_DATE:
	case TIME_OF_DAY:
		recording->since = wall_time(point, recording->since, recording->until);
		/* The end of "23:59,0:01" is on the next day, even after the recording. */
		recording->until = UINT64_MAX;
		return wall_clock_mono(&recording->clock, recording->since);
	}
	return open;
}

static void resolve_range(struct recording *recording, struct time_range *range)
{
	recording->since = wall_clock_real(&recording->clock, recording->start);
	recording->until = wall_clock_real(&recording->clock, recording->stop);
	range->start = resolve(recording, &range->from, 0);
	range->stop = resolve(recording, &range->to, UINT64_MAX);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct time_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Joins ranges that overlap, so that no time counts twice. */
static void join_ranges(struct time_ranges *times)
{
	struct time_range *last;
	size_t i, n = 0;

	if (times->nr)
		qsort(times->ranges, times->nr, sizeof(*times->ranges), compare_ranges);
	for (i = 0; i < times->nr; i++) {
		last = n ? &times->ranges[n - 1] : NULL;
		if (!last || times->ranges[i].start > last->stop)
			times->ranges[n++] = times->ranges[i];
		else if (times->ranges[i].stop > last->stop)
			last->stop = times->ranges[i].stop;
	}
	times->nr = n;
}

int time_ranges_resolve(struct time_ranges *times, struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	struct recording recording = { .start = end->start_time, .stop = end->stop_time };
	bool live = cmd_tape_is_live(tape);
	bool overlaps = !times->nr;
	struct time_range *range;
	size_t i;

	if (live)
		recording.stop = UINT64_MAX;
	wall_clock_init(&recording.clock, tape);
	times->stop = 0;
	for (i = 0; i < times->nr; i++) {
		range = &times->ranges[i];
		if (!recording.clock.nr && (is_wall(&range->from) || is_wall(&range->to)))
			return -ENODATA;
		if (live && range->from.kind == TIME_SHARE)
			return -ESPIPE;
		resolve_range(&recording, range);
		if (range->stop < range->start)
			return -EINVAL;
		if (range->stop > times->stop)
			times->stop = range->stop;
		overlaps |= range->start <= recording.stop && range->stop > recording.start;
	}
	join_ranges(times);
	times->all = times->nr == 1 && times->ranges->start <= recording.start &&
		     (times->stop > recording.stop || times->stop == UINT64_MAX);
	return overlaps ? 0 : -ERANGE;
}

bool time_ranges_has(const struct time_ranges *times, uint64_t time)
{
	return time_ranges_overlap(times, time, time);
}

bool time_ranges_overlap(const struct time_ranges *times, uint64_t first, uint64_t last)
{
	size_t i;

	for (i = 0; i < times->nr; i++)
		if (last >= times->ranges[i].start && first < times->ranges[i].stop)
			return true;
	return !times->nr;
}

uint64_t time_ranges_part(const struct time_ranges *times, uint64_t first, uint64_t last)
{
	uint64_t from, to, part = 0;
	size_t i;

	if (!times->nr)
		return last - first;
	for (i = 0; i < times->nr; i++) {
		from = times->ranges[i].start > first ? times->ranges[i].start : first;
		to = times->ranges[i].stop < last ? times->ranges[i].stop : last;
		part += to > from ? to - from : 0;
	}
	return part;
}

void time_ranges_free(struct time_ranges *times)
{
	free(times->ranges);
}
