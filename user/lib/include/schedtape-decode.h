/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: decodes the samples of other tracepoints.  schedtape.h has the rules.
 */
#ifndef LIBSCHEDTAPE_DECODE_H
#define LIBSCHEDTAPE_DECODE_H

#include <schedtape-tape.h>

#ifdef __cplusplus
extern "C" {
#endif

enum schedtape_field_kind {
	SCHEDTAPE_FIELD_OPAQUE,		/* no value: the type has no meaning without the kernel */
	SCHEDTAPE_FIELD_NUMBER,
	SCHEDTAPE_FIELD_TEXT,
	SCHEDTAPE_FIELD_NUMBERS,	/* an array */
};

/* What the kernel's format prints in place of a number. */
enum schedtape_field_naming {
	SCHEDTAPE_NAMING_NONE,
	SCHEDTAPE_NAMING_VALUES,	/* __print_symbolic(): each value has a name */
	SCHEDTAPE_NAMING_BITS,		/* __print_flags(): each bit, or set of bits, has one */
};

struct schedtape_value_name {
	uint64_t value;
	const char *name;
};

/**
 * struct schedtape_field - a field of a tracepoint
 * @kind: enum schedtape_field_kind
 * @naming: enum schedtape_field_naming
 * @is_signed: numbers are to be cast to int64_t
 * @delimiter: what is between the names of bits; "" without SCHEDTAPE_NAMING_BITS
 * @names: the @nr_names names, in the format's order; with SCHEDTAPE_NAMING_BITS the value 0 may
 *	have a name, too
 */
struct schedtape_field {
	const char *name;
	uint32_t kind;
	uint32_t naming;
	bool is_signed;
	bool reserved[7];
	const char *delimiter;
	const struct schedtape_value_name *names;
	size_t nr_names;
};

/**
 * struct schedtape_tracepoint - how samples of a tracepoint are decoded
 * @size: sizeof this struct
 * @name: "irq:irq_handler_entry"
 * @fields: its @n fields, in the kernel's order, without those that all tracepoints have
 * @index: its number among the formats that the decoder was made with
 * @decodes: samples can be decoded; false: the format cannot be parsed
 */
struct schedtape_tracepoint {
	size_t size;
	const char *name;
	const struct schedtape_field *fields;
	size_t n;
	uint32_t index;
	bool decodes;
	bool reserved[3];
};

/**
 * struct schedtape_value - the value of a field
 * @number: of SCHEDTAPE_FIELD_NUMBER; if the field is signed, extended to int64_t
 * @text: of SCHEDTAPE_FIELD_TEXT: @n bytes without a 0, as the kernel has written them
 * @numbers: of SCHEDTAPE_FIELD_NUMBERS: @n numbers, each as @number
 */
struct schedtape_value {
	uint64_t number;
	const char *text;
	const uint64_t *numbers;
	size_t n;
};

struct schedtape_decoder;

/*
 * Makes a decoder from the formats of a tape, which need not stay.  A format that cannot be parsed
 * is no error.
 */
int schedtape_decoder_new(const struct schedtape_formats *formats,
			  struct schedtape_decoder **decoder, struct schedtape_error *err);
void schedtape_decoder_free(struct schedtape_decoder *decoder);
/* Returns the tracepoint of the format @index; NULL: there are not so many. */
const struct schedtape_tracepoint *
schedtape_decoder_tracepoint(const struct schedtape_decoder *decoder, size_t index);
/* Returns the tracepoint of a sample; NULL: no format describes it. */
const struct schedtape_tracepoint *
schedtape_decoder_find(const struct schedtape_decoder *decoder,
		       const struct schedtape_sample *sample);
/*
 * Decodes a sample: returns the number of values, which are those of the tracepoint's fields, or
 * -EBADMSG: no format describes the sample, or it is too short for its fields.
 * @values: valid until the next call with this decoder, and as long as the sample's data
 */
int schedtape_decoder_values(struct schedtape_decoder *decoder,
			     const struct schedtape_sample *sample,
			     const struct schedtape_value **values);
/*
 * Returns what the kernel's trace would print of a sample.  Of one whose format is not safe to
 * print it returns its fields, "irq=9 name=eth0", and of one that cannot be decoded its bytes.
 * '?' is in place of control characters and of bytes that are not UTF-8.  A text of more than 8191
 * bytes is cut.  It is valid until the next call with this decoder.
 */
const char *schedtape_decoder_text(struct schedtape_decoder *decoder,
				   const struct schedtape_sample *sample);

#ifdef __cplusplus
}
#endif

#endif /* LIBSCHEDTAPE_DECODE_H */
