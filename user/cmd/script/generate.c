// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes scripts in Perl.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/input.h"
#include "common/output.h"
#include "script/internal.h"

#define NEW_SCRIPT	"schedtape-script.pl"

/* The tape's name is to stand in a comment of one line. */
static const char head[] =
	"# A script for the events of a tape: replace what the functions do.\n"
	"#\n"
	"#     schedtape script -i %s -s " NEW_SCRIPT "\n"
	"#\n"
	"# perf script runs it as well, on a recording of perf.\n"
	"\n"
	"use strict;\n"
	"use warnings;\n"
	"\n"
	"use lib \"$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib\";\n"
	"use Perf::Trace::Core;\n"
	"use Perf::Trace::Context;\n"
	"use Perf::Trace::Util;\n"
	"\n"
	"sub trace_begin\n"
	"{\n"
	"\tprint \"in trace_begin\\n\";\n"
	"}\n"
	"\n"
	"sub trace_end\n"
	"{\n"
	"\tprint \"in trace_end\\n\";\n"
	"}\n"
	"\n";

#define COMMON	"\tmy ($event_name, $context, $common_cpu, $common_secs, $common_nsecs,\n" \
		"\t    $common_pid, $common_comm, $common_callchain"
#define HEADER	"\tprint_header($event_name, $common_cpu, $common_secs, $common_nsecs,\n" \
		"\t             $common_pid, $common_comm);\n"

static const char tail[] =
	"sub trace_unhandled\n"
	"{\n"
	COMMON ") = @_;\n"
	"\n"
	HEADER
	"\tprint \"\\n\";\n"
	"}\n"
	"\n"
	"sub print_header\n"
	"{\n"
	"\tmy ($event_name, $cpu, $secs, $nsecs, $pid, $comm) = @_;\n"
	"\n"
	"\tprintf(\"%-20s %5u %05u.%09u %8d %-20s \",\n"
	"\t       $event_name, $cpu, $secs, $nsecs, $pid, $comm);\n"
	"}\n";

/* Puts "sched:sched_switch" as "sched::sched_switch". */
static void put_point(FILE *file, const char *name)
{
	const char *colon = strchr(name, ':');

	fprintf(file, "%.*s:%s", (int)(colon - name), name, colon);
}

static void put_handler(FILE *file, unsigned int number)
{
	const struct trace *trace = &traces[number];
	const struct trace_field *field;
	unsigned int i;

	fputs("sub ", file);
	put_point(file, trace_name(number));
	fputs("\n{\n" COMMON, file);
	for (i = 0; i < trace->nr; i++)
		fprintf(file, "%s$%s", i ? ", " : ",\n\t    ", trace->fields[i].name);
	fputs(") = @_;\n\n" HEADER "\tprintf(\"", file);
	for (i = 0; i < trace->nr; i++) {
		field = &trace->fields[i];
		fprintf(file, "%s%s=%s", i ? ", " : "", field->name,
			field->type == TRACE_NAME || field->type == TRACE_STATE ? "%s" : "%d");
	}
	fputs("\\n\"", file);
	for (i = 0; i < trace->nr; i++) {
		field = &trace->fields[i];
		fputs(i ? ", " : ",\n\t       ", file);
		if (field->type == TRACE_STATE) {
			fputs("flag_str(\"", file);
			put_point(file, trace_name(number));
			fprintf(file, "\", \"%s\", $%s)", field->name, field->name);
		} else {
			fprintf(file, "$%s", field->name);
		}
	}
	fputs(");\n}\n\n", file);
}

/* -- other tracepoints ----------------------------------------------------- */

/**
 * struct present - the tracepoints of which a tape has events
 * @types: bit n: of the type n
 * @samples: with the decoder
 * @sampled: of the @nr_points other tracepoints, by index
 */
struct present {
	uint64_t types;
	struct samples samples;
	bool *sampled;
	size_t nr_points;
};

/* Puts a field's name as that of a variable, which neither another field nor perf has. */
static void put_variable(FILE *file, const struct schedtape_tracepoint *point, size_t number)
{
	static const char common[] = " event_name context common_cpu common_secs common_nsecs "
				     "common_pid common_comm common_callchain ";
	const char *name = point->fields[number].name;
	char word[TRACE_NAME_MOST + 3];
	size_t i;

	fprintf(file, "$%s%s", strspn(name, "0123456789") ? "_" : "", name);
	if (snprintf(word, sizeof(word), " %s ", name) < (int)sizeof(word) && strstr(common, word))
		fputc('_', file);
	for (i = 0; i < number; i++)
		if (!strcmp(point->fields[i].name, name))
			fputc('_', file);
}

static const char *format_of(const struct schedtape_field *field)
{
	if (field->kind == SCHEDTAPE_FIELD_TEXT || field->nr_names)
		return "%s";
	return field->is_signed ? "%d" : "%u";
}

static void put_printed(FILE *file, const struct schedtape_tracepoint *point, size_t number)
{
	const struct schedtape_field *field = &point->fields[number];

	if (!field->nr_names) {
		put_variable(file, point, number);
		return;
	}
	fprintf(file, "%s_str(\"", field->naming == SCHEDTAPE_NAMING_BITS ? "flag" : "symbol");
	put_point(file, point->name);
	fprintf(file, "\", \"%s\", ", field->name);
	put_variable(file, point, number);
	fputc(')', file);
}

static void put_sample_handler(FILE *file, const struct schedtape_tracepoint *point)
{
	size_t i;

	fputs("sub ", file);
	put_point(file, point->name);
	fputs("\n{\n" COMMON, file);
	for (i = 0; i < point->n; i++) {
		fputs(",\n\t    ", file);
		put_variable(file, point, i);
	}
	fputs(") = @_;\n\n" HEADER "\tprintf(\"", file);
	for (i = 0; i < point->n; i++)
		fprintf(file, "%s%s=%s", i ? ", " : "", point->fields[i].name,
			format_of(&point->fields[i]));
	fputs("\\n\"", file);
	for (i = 0; i < point->n; i++) {
		fputs(",\n\t       ", file);
		put_printed(file, point, i);
	}
	fputs(");\n}\n\n", file);
}

/* Returns the tracepoint with this index, if there are samples for a function; else NULL. */
static const struct schedtape_tracepoint *sampled(const struct present *present, size_t index)
{
	const struct schedtape_tracepoint *point;

	if (!present->sampled[index])
		return NULL;
	point = schedtape_decoder_tracepoint(present->samples.decoder, index);
	return trace_is_plain(point) ? point : NULL;
}

/* Returns true if samples have the tracepoint that events of a type give, too. */
static bool is_sampled(const struct present *present, unsigned int type)
{
	const struct schedtape_tracepoint *point;
	size_t i;

	for (i = 0; i < present->nr_points; i++) {
		point = sampled(present, i);
		if (point && !strcmp(trace_name(type), point->name))
			return true;
	}
	return false;
}

static void put_sampled(FILE *file, const struct present *present)
{
	const struct schedtape_tracepoint *point;
	size_t i;

	for (i = 0; i < present->nr_points; i++) {
		point = sampled(present, i);
		if (point)
			put_sample_handler(file, point);
	}
}

/* -- events ---------------------------------------------------------------- */

static int note_type(void *arg, const struct schedtape_event *ev)
{
	struct present *present = arg;

	present->types |= 1ULL << ev->type;
	return 0;
}

/* Notes which tracepoints have samples.  Returns 0, or -errno after a message. */
static int note_samples(struct present *present, struct schedtape_tape *tape, const char *path)
{
	struct samples *samples = &present->samples;
	const struct schedtape_tracepoint *point;
	int ret;

	present->nr_points = schedtape_tape_formats(tape)->n;
	present->sampled = calloc(present->nr_points + 1, sizeof(*present->sampled));
	if (!present->sampled) {
		out_error(NULL, "not enough memory");
		return -ENOMEM;
	}
	ret = samples_begin(samples, tape, path);
	while (!ret && samples->any) {
		point = schedtape_decoder_find(samples->decoder, &samples->next);
		if (point)
			present->sampled[point->index] = true;
		ret = samples_advance(samples);
	}
	return ret;
}

/* Returns the text of a script for these tracepoints; NULL: no memory. */
static char *make_text(const char *path, const struct present *present, size_t *size)
{
	char *text = NULL, *safe = strdup(path);
	FILE *file = open_memstream(&text, size);
	unsigned int i;

	if (safe && file) {
		fprintf(file, head, text_safe(safe, strlen(safe) + 1, safe));
		for (i = 0; i < NR_TRACES; i++)
			if ((present->types >> i & 1) && traces[i].nr && !is_sampled(present, i))
				put_handler(file, i);
		put_sampled(file, present);
		fputs(tail, file);
	}
	if (file && fclose(file)) {
		free(text);
		text = NULL;
	}
	free(safe);
	return text;
}

/* Writes a new file, all of it or none. */
static int write_script(const char *text, size_t size)
{
	int fd = open(NEW_SCRIPT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = 0;

	if (fd < 0) {
		out_error(NEW_SCRIPT, "%s", strerror(errno));
		return CMD_FAILURE;
	}
	errno = ENOSPC;
	if (write(fd, text, size) != (ssize_t)size)
		error = errno;
	if (close(fd) && !error)
		error = errno;
	if (!error) {
		puts("generated Perl script: " NEW_SCRIPT);
		return out_finish(0);
	}
	unlink(NEW_SCRIPT);
	out_error(NEW_SCRIPT, "%s", strerror(error));
	return CMD_FAILURE;
}

int generate_perl(const char *path)
{
	struct schedtape_tape *tape = cmd_open_tape_once(path);
	struct present present = { 0 };
	char *text = NULL;
	size_t size;
	int status;

	if (!tape)
		return CMD_FAILURE;
	status = cmd_read_events(tape, NULL, note_type, &present);
	if (!status && note_samples(&present, tape, path))
		status = CMD_FAILURE;
	cmd_close_tape(tape, path);
	if (present.types >> STAPE_EV_SWITCH & 1)
		present.types |= 1ULL << TRACE_RUNTIME;
	if (!status)
		text = make_text(path, &present, &size);
	if (text) {
		status = write_script(text, size);
	} else if (!status) {
		out_error(NULL, "not enough memory");
		status = CMD_FAILURE;
	}
	free(text);
	free(present.sampled);
	samples_end(&present.samples);
	return status;
}
