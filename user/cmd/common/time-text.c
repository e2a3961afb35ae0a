// SPDX-License-Identifier: GPL-2.0-only
#include "common/time-text.h"

#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "base/clock.h"
#include "common/lines.h"
#include "common/output.h"
#include "tape/meta.h"

/* -- the wall clock -------------------------------------------------------- */

/* Reads the pair of a tape without samples from META. */
static bool read_first(struct stape_clock_sample *first, struct schedtape_tape *tape)
{
	struct json_object *clock, *mono, *real;

	if (!json_object_object_get_ex(tape_meta(tape), "clock", &clock) ||
	    !json_object_object_get_ex(clock, "monotonic", &mono) ||
	    !json_object_object_get_ex(clock, "realtime", &real) ||
	    !json_object_is_type(mono, json_type_int) || !json_object_is_type(real, json_type_int))
		return false;
	first->mono = json_object_get_uint64(mono);
	first->real = json_object_get_uint64(real);
	return true;
}

void wall_clock_init(struct wall_clock *clock, struct schedtape_tape *tape)
{
	*clock = (struct wall_clock){ .pipe = schedtape_tape_is_pipe(tape) ? tape : NULL };
	clock->samples = schedtape_tape_clocks(tape, &clock->nr);
	if (clock->nr)
		return;
	clock->samples = NULL;
	clock->nr = read_first(&clock->first, tape);
}

/* A pipe's samples may have moved, too. */
static void take_new(struct wall_clock *clock)
{
	const struct stape_clock_sample *samples;
	size_t nr;

	samples = schedtape_tape_clocks(clock->pipe, &nr);
	if (!nr)
		return;
	clock->samples = samples;
	clock->nr = nr;
	if (clock->at >= nr)
		clock->at = nr - 1;
}

static const struct stape_clock_sample *sample_at(const struct wall_clock *clock, size_t i)
{
	return clock->samples ? &clock->samples[i] : &clock->first;
}

/* Returns @base + (@to - @from), not below 0 and not above the largest number. */
static uint64_t shift(uint64_t base, uint64_t from, uint64_t to)
{
	if (to < from)
		return base < from - to ? 0 : base - (from - to);
	return to - from > UINT64_MAX - base ? UINT64_MAX : base + (to - from);
}

uint64_t wall_clock_real(struct wall_clock *clock, uint64_t mono)
{
	const struct stape_clock_sample *sample;

	if (clock->pipe)
		take_new(clock);
	if (!clock->nr)
		return 0;
	/* Most calls come in the order of time, so the search begins where the last one ended. */
	while (clock->at && sample_at(clock, clock->at)->mono > mono)
		clock->at--;
	while (clock->at + 1 < clock->nr && sample_at(clock, clock->at + 1)->mono <= mono)
		clock->at++;
	sample = sample_at(clock, clock->at);
	return shift(sample->real, sample->mono, mono);
}

uint64_t wall_clock_mono(struct wall_clock *clock, uint64_t real)
{
	const struct stape_clock_sample *sample;
	size_t i = clock->nr;

	if (!i)
		return 0;
	while (--i && sample_at(clock, i)->real > real)
		;
	sample = sample_at(clock, i);
	return shift(sample->mono, sample->real, real);
}

/* -- texts ----------------------------------------------------------------- */

#define OPT_NS		0x5100
#define OPT_RELTIME	0x5101
#define OPT_DELTATIME	0x5102
#define OPT_TOD		0x5103

#define SECOND		1000000000ULL

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "deltatime", OPT_DELTATIME, NULL, 0, "Print times since the line before", 0 },
	/* Those of tables begin here. */
	{ "ns", OPT_NS, NULL, 0, "Print times with nine digits", 0 },
	{ "reltime", OPT_RELTIME, NULL, 0, "Print times from the start of the recording on", 0 },
	{ "tod", OPT_TOD, NULL, 0, "Print dates and times of the wall clock", 0 },
	{ 0 }
};

static void set_style(struct time_text_options *opts, enum time_style style,
		      struct argp_state *state)
{
	if (opts->style && opts->style != style)
		argp_error(state, "only one of --reltime, --deltatime and --tod may be given");
	opts->style = style;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct time_text_options *opts = state->input;

	(void)arg;
	switch (key) {
	case OPT_NS:
		opts->digits = 9;
		return 0;
	case OPT_RELTIME:
		set_style(opts, TIME_STYLE_START, state);
		return 0;
	case OPT_DELTATIME:
		set_style(opts, TIME_STYLE_DELTA, state);
		return 0;
	case OPT_TOD:
		set_style(opts, TIME_STYLE_DATE, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp time_text_argp = { .options = options, .parser = parse };
const struct argp time_text_table_argp = { .options = options + 1, .parser = parse };

/* -- printing -------------------------------------------------------------- */

int time_text_begin(struct time_text *text, const struct time_text_options *opts,
		    struct schedtape_tape *tape, const char *path)
{
	*text = (struct time_text){
		.options = *opts,
		.start = schedtape_tape_end(tape)->start_time,
		.second = UINT64_MAX,
	};
	wall_clock_init(&text->clock, tape);
	if (opts->style != TIME_STYLE_DATE || text->clock.nr)
		return 0;
	out_error(path, "--tod: the tape does not have the wall clock of its machine");
	return -1;
}

void time_text_now(struct time_text *text, uint64_t start)
{
	text->clock = (struct wall_clock){
		.first = { .mono = schedtape_now(), .real = schedtape_clock_now(CLOCK_REALTIME) },
		.nr = 1,
	};
	if (text->start)
		return;
	text->start = start;
	text->second = UINT64_MAX;
}

const char *time_text_unit(const struct time_text *text)
{
	return text->options.style == TIME_STYLE_DATE ? "" : " s";
}

unsigned int time_text_width(const struct time_text *text)
{
	return text->options.digits + (text->options.style == TIME_STYLE_DATE ? 20 : 7);
}

/* Makes the text of a second, which is the same for many times in a row. */
static void make_head(struct time_text *text, uint64_t second)
{
	time_t time = second;
	struct tm tm;

	text->second = second;
	if (text->options.style != TIME_STYLE_DATE)
		snprintf(text->head, sizeof(text->head), "%" PRIu64 ".", second);
	else if (!localtime_r(&time, &tm) ||
		 !strftime(text->head, sizeof(text->head), "%F %T.", &tm))
		strcpy(text->head, "?.");
	text->head_len = strlen(text->head);
}

/* Puts the first digits of a fraction of a second. */
static char *put_fraction(char *at, uint32_t ns, unsigned int digits)
{
	uint32_t unit = SECOND / 10;

	for (; digits; digits--) {
		*at++ = '0' + ns / unit;
		ns %= unit;
		unit /= 10;
	}
	return at;
}

static char *put_micro(char *at, uint32_t us)
{
	lines_pair(at, us / 10000);
	lines_pair(at + 2, us / 100 % 100);
	lines_pair(at + 4, us % 100);
	return at + 6;
}

static char *put(struct time_text *text, char *at, uint64_t ns)
{
	uint64_t second = ns / SECOND;

	if (second != text->second)
		make_head(text, second);
	memcpy(at, text->head, sizeof(text->head));
	at += text->head_len;
	ns -= second * SECOND;
	if (text->options.digits == 6)
		return put_micro(at, ns / 1000);
	return put_fraction(at, ns, text->options.digits);
}

static uint64_t since(uint64_t from, uint64_t time)
{
	return time > from ? time - from : 0;
}

char *time_text_put(struct time_text *text, char *at, uint64_t ns)
{
	if (text->options.style == TIME_STYLE_DATE)
		ns = wall_clock_real(&text->clock, ns);
	else if (text->options.style != TIME_STYLE_CLOCK)
		ns = since(text->start, ns);
	return put(text, at, ns);
}

char *time_text_put_line(struct time_text *text, char *at, uint64_t ns)
{
	uint64_t delta = text->has_before ? since(text->before, ns) : 0;

	if (text->options.style != TIME_STYLE_DELTA)
		return time_text_put(text, at, ns);
	text->before = ns;
	text->has_before = true;
	return put(text, at, delta);
}

const char *time_text_line(struct time_text *text, char buffer[TIME_TEXT_LEN], uint64_t ns)
{
	*time_text_put_line(text, buffer, ns) = '\0';
	return buffer;
}

const char *time_text(struct time_text *text, char buffer[TIME_TEXT_LEN], uint64_t ns)
{
	*time_text_put(text, buffer, ns) = '\0';
	return buffer;
}

const char *time_text_range(struct time_text *text, char buffer[TIME_TEXT_RANGE_LEN],
			    uint64_t first, uint64_t last)
{
	char from[TIME_TEXT_LEN], to[TIME_TEXT_LEN];

	snprintf(buffer, TIME_TEXT_RANGE_LEN, "from %s to %s%s", time_text(text, from, first),
		 time_text(text, to, last), time_text_unit(text));
	return buffer;
}
