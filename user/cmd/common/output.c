// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of the commands.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/output.h"
#include "common/color.h"
#include "common/pager.h"
#include "common/signals.h"

static const char *command = "schedtape";

void out_set_command(const char *name)
{
	command = name;
}

const char *out_command(void)
{
	return command;
}

/* -- messages -------------------------------------------------------------- */

static bool levels;

void out_show_levels(void)
{
	levels = true;
}

/* Returns the level of a message: a warning, or an error. */
static const char *level_of(const char *kind)
{
	if (!levels)
		return "";
	return *kind ? "<4>" : "<3>";
}

/*
 * Writes a message in one piece, so that those of several processes do not mix.  @name, @kind: the
 * colours of the command's name and of @kind
 */
static void message(unsigned int name, const char *kind, unsigned int of_kind, const char *path,
		    const char *format, va_list args)
{
	char *text, *line;

	if (vasprintf(&text, format, args) < 0)
		return;
	/* The text may contain bytes of a tape, so make it safe. */
	text_safe(text, strlen(text) + 1, text);
	fflush(stdout);
	if (asprintf(&line, "%s%s%s:%s %s%s%s%s%s%s\n", level_of(kind), color_message_on(name),
		     command, color_message_off(name), color_message_on(of_kind), kind,
		     color_message_off(of_kind), path ? path : "", path ? ": " : "", text) >= 0) {
		fputs(line, stderr);
		free(line);
	}
	free(text);
}

void out_error(const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(COLOR_RED | COLOR_BOLD, "", COLOR_PLAIN, path, format, args);
	va_end(args);
}

void out_warning(const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(COLOR_PLAIN, "warning: ", COLOR_YELLOW | COLOR_BOLD, path, format, args);
	va_end(args);
}

int out_failed(int ret, const struct schedtape_error *err)
{
	if (ret)
		out_error(NULL, "%s", err->text);
	return ret;
}

/* There was no memory for JSON. */
static bool unmade;

/* What the first failed out_write() met: stdio remembers only that there was an error. */
static int write_error;

bool out_works(void)
{
	return !unmade && !ferror(stdout);
}

void out_write(const void *data, size_t size)
{
	errno = 0;
	if (fwrite(data, 1, size, stdout) != size && !write_error)
		write_error = errno;
}

void out_flush(void)
{
	errno = 0;
	if (fflush(stdout) && !write_error)
		write_error = errno;
}

int out_finish(int status)
{
	out_flush();
	if (unmade)
		return CMD_FAILURE;
	if (!ferror(stdout) || pager_started())
		return status;
	if (write_error == EPIPE) {
		signals_take_broken_pipe();
		return status;
	}
	/* It is 0 if stdio wrote by itself and failed before. */
	out_error(NULL, "cannot write to standard output%s%s: the output is not complete",
		  write_error ? ": " : "", write_error ? strerror(write_error) : "");
	return CMD_FAILURE;
}

const char *out_count(char buffer[OUT_COUNT_LEN], uint64_t count)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *at = buffer;
	int i;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return buffer;
}

const char *out_seconds(char buffer[OUT_TIME_LEN], uint64_t ns, unsigned int digits)
{
	uint64_t unit = 1000000000;
	unsigned int i;

	for (i = 0; i < digits; i++)
		unit /= 10;
	snprintf(buffer, OUT_TIME_LEN, "%" PRIu64 ".%0*" PRIu64, ns / 1000000000, (int)digits,
		 ns % 1000000000 / unit);
	return buffer;
}

const char *out_loss(char buffer[OUT_LOSS_LEN], const struct schedtape_cpu *cpu, const char *range)
{
	char what[32] = "descriptions of tasks", count[OUT_COUNT_LEN];

	if (cpu->cpu != STAPE_CPU_NONE)
		snprintf(what, sizeof(what), "events of CPU %u", cpu->cpu);
	snprintf(buffer, OUT_LOSS_LEN, "%s %s, %s", out_count(count, cpu->lost), what, range);
	return buffer;
}

const char *out_percent(char buffer[OUT_PERCENT_LEN], double fraction)
{
	if (isfinite(fraction))
		snprintf(buffer, OUT_PERCENT_LEN, "%.1f %%", fraction * 100);
	else
		snprintf(buffer, OUT_PERCENT_LEN, "inf");
	return buffer;
}

struct json_object *out_json_new(const char *what)
{
	struct json_object *object = json_object_new_object();
	char format[64];

	snprintf(format, sizeof(format), "schedtape-%s", what);
	json_object_object_add(object, "format", json_object_new_string(format));
	out_json_add_count(object, "version", OUT_JSON_VERSION);
	return object;
}

/* @indent: before each line but the first */
static void put_json(struct json_object *object, bool pretty, int indent)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text, *end;

	if (pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	text = json_object_to_json_string_ext(object, flags);
	if (!text && !unmade)
		out_error(NULL, "not enough memory for JSON");
	if (!text)
		unmade = true;
	/* json-c does not change invalid UTF-8.  Only strings have bytes that are not ASCII. */
	for (; text; text = *end ? end + 1 : NULL) {
		end = text + strcspn(text, "\n");
		text_put(stdout, text, end - text);
		if (*end)
			printf("\n%*s", indent, "");
	}
	json_object_put(object);
}

void out_json(struct json_object *object, bool pretty)
{
	put_json(object, pretty, 0);
	putchar('\n');
}

/* The object has a member already; the list has an element already. */
static bool has_member, has_element;

static void next_in(bool *has, const char *indent)
{
	printf("%s\n%s", *has ? "," : "", indent);
	*has = true;
}

void out_json_begin(const char *what)
{
	printf("{\n  \"format\": \"schedtape-%s\",\n  \"version\": %d", what,
	       OUT_JSON_VERSION);
	has_member = true;
}

void out_json_member(const char *key, struct json_object *value)
{
	next_in(&has_member, "  ");
	printf("\"%s\": ", key);
	put_json(value, true, 2);
}

void out_json_list(const char *key)
{
	next_in(&has_member, "  ");
	printf("\"%s\": [", key);
	has_element = false;
}

void out_json_element(struct json_object *value)
{
	next_in(&has_element, "    ");
	put_json(value, true, 4);
}

void out_json_list_end(void)
{
	fputs("\n  ]", stdout);
}

void out_json_end(void)
{
	puts("\n}");
}

void out_json_add_count(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

void out_json_add_cpu(struct json_object *object, uint32_t cpu)
{
	if (cpu == STAPE_CPU_NONE)
		json_object_object_add(object, "cpu", NULL);
	else
		out_json_add_count(object, "cpu", cpu);
}

void out_json_add_name(struct json_object *object, const char *key, const char *comm)
{
	char name[TEXT_NAME_LEN];

	json_object_object_add(object, key, json_object_new_string(text_name(name, comm)));
}

void out_json_add_double(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key,
			       isfinite(value) ? json_object_new_double(value) : NULL);
}

void out_json_add_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

void out_json_add_deadline(struct json_object *object, const struct schedtape_deadline *dl)
{
	out_json_add_count(object, "runtime_ns", dl->runtime);
	out_json_add_count(object, "deadline_ns", dl->deadline);
	out_json_add_count(object, "period_ns", dl->period);
}

void out_json_add_wish(struct json_object *object, const struct schedtape_wish *wish)
{
	if (wish->slice)
		out_json_add_count(object, "slice_ns", wish->slice);
	if (wish->slack)
		out_json_add_count(object, "timer_slack_ns", wish->slack - 1);
	if (schedtape_clamp_min(wish) >= 0)
		out_json_add_count(object, "clamp_min", schedtape_clamp_min(wish));
	if (schedtape_clamp_max(wish) >= 0)
		out_json_add_count(object, "clamp_max", schedtape_clamp_max(wish));
}

/*
 * JSON cpus[] of report, latency, why, stat, phases, estimate, timehist --summary, info:
 * @cpu: Its number; null for the descriptions.
 * @events: Its events on the tape.
 * @lost: Its missing events.
 * @lost_first_ns: Time of the first of them; only if there are any.
 * @lost_last_ns: Time of the last of them.
 * @overwritten: Events that were overwritten by newer ones; only in overwrite mode.
 */
struct json_object *out_json_cpus(const struct schedtape_end *end)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < end->nr_cpus; i++) {
		const struct schedtape_cpu *cpu = &end->cpus[i];
		struct json_object *object = json_object_new_object();

		out_json_add_cpu(object, cpu->cpu);
		out_json_add_count(object, "events", cpu->events);
		out_json_add_count(object, "lost", cpu->lost);
		if (cpu->lost) {
			out_json_add_count(object, "lost_first_ns", cpu->lost_first);
			out_json_add_count(object, "lost_last_ns", cpu->lost_last);
		}
		if (cpu->overwritten)
			out_json_add_count(object, "overwritten", cpu->overwritten);
		json_object_array_add(array, object);
	}
	return array;
}
