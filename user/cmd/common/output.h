/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output of the commands: messages, times, names, JSON.
 */
#ifndef SCHEDTAPE_OUTPUT_H
#define SCHEDTAPE_OUTPUT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>
#include <schedtape.h>

#include "base/text.h"

/* Exit statuses: a failure, a failure of diff, wrong options. */
#define CMD_FAILURE	1
#define CMD_TROUBLE	2
#define CMD_USAGE	129		/* as in perf and git */

/* Sets the name that messages begin with: "schedtape report". */
void out_set_command(const char *name);
const char *out_command(void);

/* From now on messages begin with "<3>" or "<4>", their level for the journal: see sd-daemon(3). */
void out_show_levels(void);

/*
 * Print "schedtape report: FILE: …" to standard error; @path may be NULL.  They make texts of
 * unknown origin safe, as the functions for JSON do, so the caller needs no text_safe().
 */
void out_error(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_warning(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the text of @err, if @ret is an error.  Returns @ret. */
int out_failed(int ret, const struct schedtape_error *err);

/* Returns false if standard output has failed or lost its reader, or JSON got no memory. */
bool out_works(void);
/* Writes to standard output; out_finish() tells of an error. */
void out_write(const void *data, size_t size);
/* Writes what is in the buffer of standard output. */
void out_flush(void);
/*
 * Ends the output.  Returns @status, or CMD_FAILURE after a message if not all of it could be
 * written.  If the reader has closed its pipe, this is not a failure.
 */
int out_finish(int status);

/* 1234567 is "1,234,567". */
#define OUT_COUNT_LEN	32
const char *out_count(char buffer[OUT_COUNT_LEN], uint64_t count);

/* ns as seconds, "12.345678"; @digits after the point, 9 at most. */
#define OUT_TIME_LEN	32
const char *out_seconds(char buffer[OUT_TIME_LEN], uint64_t ns, unsigned int digits);

static inline double out_ms(uint64_t ns)
{
	return ns / 1e6;
}

/* Makes "12 events of CPU 3, RANGE" or "12 descriptions of tasks, RANGE", with @range. */
#define OUT_LOSS_LEN	160
const char *out_loss(char buffer[OUT_LOSS_LEN], const struct schedtape_cpu *cpu, const char *range);

/* "1.2 %", "-3.0 %", "inf" */
#define OUT_PERCENT_LEN	32
const char *out_percent(char buffer[OUT_PERCENT_LEN], double fraction);

/*
 * Returns a new object that begins with "format": "schedtape-WHAT" and "version", see
 * schedtape-json(5).
 */
#define OUT_JSON_VERSION	1
struct json_object *out_json_new(const char *what);
/* Prints one object and a newline, and releases the object. */
void out_json(struct json_object *object, bool pretty);
/*
 * Print one object member by member, and its lists element by element, so that it need not fit
 * into memory.
 *
 *	out_json_begin("report"), out_json_member()..., out_json_end()
 *	and between members out_json_list(), out_json_element()..., out_json_list_end()
 */
void out_json_begin(const char *what);
void out_json_member(const char *key, struct json_object *value);
void out_json_list(const char *key);
void out_json_element(struct json_object *value);
void out_json_list_end(void);
void out_json_end(void);
void out_json_add_count(struct json_object *object, const char *key, uint64_t value);
/* Adds the member "cpu": a number, or null for descriptions, which belong to no CPU. */
void out_json_add_cpu(struct json_object *object, uint32_t cpu);
void out_json_add_name(struct json_object *object, const char *key, const char *comm);
/* Adds null if JSON has no such number (infinity, NAN). */
void out_json_add_double(struct json_object *object, const char *key, double value);
void out_json_add_bool(struct json_object *object, const char *key, bool value);
void out_json_add_deadline(struct json_object *object, const struct schedtape_deadline *dl);
void out_json_add_wish(struct json_object *object, const struct schedtape_wish *wish);
/* Returns an array with the counts and losses of each CPU, and of the descriptions. */
struct json_object *out_json_cpus(const struct schedtape_end *end);

#endif /* SCHEDTAPE_OUTPUT_H */
