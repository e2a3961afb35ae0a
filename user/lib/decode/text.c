// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Has libtraceevent print samples.  It does not check where it reads, so it gets a copy of the
 * data with zeros behind it.  The caller has found that the data have all fields.
 */
#include "decode/point.h"

#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "base/text.h"

#define PAGE_BYTES	4096
/* More than a format of the kernel has.  Beyond it libtraceevent may run out of its stack. */
#define DEPTH_MOST	100
#define OPERATORS_MOST	4000

/* libtraceevent has static buffers that parsing uses. */
static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;

/**
 * struct text - a format
 * @format: NULL: it was given to libtraceevent
 * @known: it could be parsed
 */
struct text {
	char *system;
	char *format;
	uint32_t id;
	bool known;
};

/**
 * struct decode_texts - the formats of a decoder
 * @used: bytes of @data that may not be zero
 * @data: of a sample, and zeros as far as a field of another format may be
 */
struct decode_texts {
	struct tep_handle *tep;
	struct text *texts;
	size_t nr;
	size_t used;
	unsigned char data[8 * DECODE_DATA_MAX];
};

struct decode_texts *decode_texts_new(const struct schedtape_formats *formats)
{
	bool big = __BYTE_ORDER == __BIG_ENDIAN;
	struct decode_texts *texts = calloc(1, sizeof(*texts));
	struct text *text;

	if (!texts)
		return NULL;
	texts->tep = tep_alloc();
	texts->texts = calloc(formats->n + 1, sizeof(*texts->texts));
	if (!texts->tep || !texts->texts)
		goto fail;
	tep_set_long_size(texts->tep, formats->long_bytes);
	tep_set_page_size(texts->tep, PAGE_BYTES);
	tep_set_local_bigendian(texts->tep, big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(texts->tep,
			       formats->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	for (; texts->nr < formats->n; texts->nr++) {
		text = &texts->texts[texts->nr];
		text->id = formats->formats[texts->nr].id;
		text->system = strdup(formats->formats[texts->nr].system);
		text->format = strdup(formats->formats[texts->nr].format);
		if (!text->system || !text->format) {
			texts->nr++;
			goto fail;
		}
	}
	return texts;
fail:
	decode_texts_free(texts);
	return NULL;
}

void decode_texts_free(struct decode_texts *texts)
{
	size_t i;

	if (!texts)
		return;
	for (i = 0; i < texts->nr; i++) {
		free(texts->texts[i].system);
		free(texts->texts[i].format);
	}
	free(texts->texts);
	tep_free(texts->tep);
	free(texts);
}

/*
 * May libtraceevent print a format?  It parses expressions recursively, and what prints arrays
 * takes their lengths from the format or from the data, unchecked.
 */
static bool is_safe(const char *format)
{
	const char *at = strstr(format, "\nprint fmt:");
	unsigned int depth = 0, operators = 0;

	for (at = at ? at : ""; *at; at++) {
		if (*at == '(' && ++depth > DEPTH_MOST)
			return false;
		depth -= depth && *at == ')';
		if (strchr("+-*/%&|^<>!~?=", *at) && ++operators > OPERATORS_MOST)
			return false;
		if (!strncmp(at, "__print_", 8) && strncmp(at + 8, "flags", 5) &&
		    strncmp(at + 8, "symbolic", 8))
			return false;
	}
	return true;
}

static void parse(struct tep_handle *tep, struct text *text)
{
	int ret;

	if (!is_safe(text->format))
		return;
	pthread_mutex_lock(&parsing);
	ret = tep_parse_event(tep, text->format, strlen(text->format), text->system);
	pthread_mutex_unlock(&parsing);
	text->known = !ret && tep_find_event(tep, text->id);
}

bool decode_texts_make(struct decode_texts *texts, size_t index,
		       const struct schedtape_sample *sample, char *to, size_t size)
{
	struct tep_record record = {
		.ts = sample->time,
		.cpu = sample->cpu,
		.size = sample->bytes,
		.data = texts->data,
	};
	struct text *text = &texts->texts[index];
	struct trace_seq seq;

	if (text->format) {
		parse(texts->tep, text);
		free(text->format);
		text->format = NULL;
	}
	if (!text->known)
		return false;
	memset(texts->data, 0, texts->used);
	memcpy(texts->data, sample->data, sample->bytes);
	texts->used = sample->bytes;
	trace_seq_init(&seq);
	tep_print_event(texts->tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	text_safe(to, size, seq.buffer);
	trace_seq_destroy(&seq);
	return true;
}
