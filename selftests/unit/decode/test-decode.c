// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: samples of other tracepoints have values of all kinds, in both byte orders, and
 * names for them; what is not within the data is not read.
 */
#include <errno.h>
#include <stdlib.h>

#include "points.h"
#include "tap.h"

static struct point_all all;
static struct schedtape_error err;

static struct schedtape_decoder *make(const char *text, uint32_t id, bool big_endian)
{
	const struct schedtape_format format = {
		.id = id, .system = "test", .name = "all", .format = text,
	};
	struct schedtape_formats formats = points_formats;
	struct schedtape_decoder *decoder;

	formats.formats = &format;
	formats.n = 1;
	formats.long_bytes = 8;
	formats.big_endian = big_endian;
	if (schedtape_decoder_new(&formats, &decoder, &err))
		printf("Bail out! %s\n", err.text);
	return decoder;
}

static struct schedtape_sample sample_of(const void *data, size_t bytes)
{
	return (struct schedtape_sample) { .data = data, .bytes = bytes };
}

/* Returns true if a text is the bytes of a sample. */
static bool is_bytes(const char *text, const void *data)
{
	const unsigned char *bytes = data;
	char expected[16];

	snprintf(expected, sizeof(expected), "%02x %02x", bytes[0], bytes[1]);
	return !strncmp(text, expected, strlen(expected));
}

static bool is_text(const struct schedtape_value *value, const char *text)
{
	return value->n == strlen(text) && !memcmp(value->text, text, value->n);
}

static void test_values(struct schedtape_decoder *decoder)
{
	const struct schedtape_sample sample = sample_of(&all, sizeof(all));
	const struct schedtape_value *v;

	ok(schedtape_decoder_values(decoder, &sample, &v) == 9, "a sample has nine values");
	ok(v[0].number == 1 && (int64_t)v[1].number == -2 && v[2].number == 200 &&
	   v[3].number == (1ULL << 63 | 5), "numbers of 4, 2, 1 and 8 bytes");
	ok(v[4].n == 2 && v[4].numbers[0] == 7 && v[4].numbers[1] == UINT64_MAX, "an array");
	ok(is_text(&v[5], "shell") && is_text(&v[8], "a\033 b"),
	   "texts, with the bytes that the kernel wrote");
	ok(!v[6].text && !v[6].n && !v[6].number, "no value of a struct");
	ok(v[7].n == 2 && (int64_t)v[7].numbers[0] == -1 && v[7].numbers[1] == 2,
	   "an array of any length");
	/* libtraceevent prints no names of negative values. */
	ok(strstr(schedtape_decoder_text(decoder, &sample), "vec=1 TIMER flags=ONE|FOUR low="),
	   "and its text: %s", schedtape_decoder_text(decoder, &sample));
}

static bool has_name(const struct schedtape_field *field, size_t i, int64_t value,
		     const char *name)
{
	return i < field->nr_names && (int64_t)field->names[i].value == value &&
	       !strcmp(field->names[i].name, name);
}

static void test_fields(const struct schedtape_decoder *decoder)
{
	static const uint32_t kinds[] = {
		SCHEDTAPE_FIELD_NUMBER, SCHEDTAPE_FIELD_NUMBER, SCHEDTAPE_FIELD_NUMBER,
		SCHEDTAPE_FIELD_NUMBER, SCHEDTAPE_FIELD_NUMBERS, SCHEDTAPE_FIELD_TEXT,
		SCHEDTAPE_FIELD_OPAQUE, SCHEDTAPE_FIELD_NUMBERS, SCHEDTAPE_FIELD_TEXT,
	};
	const struct schedtape_tracepoint *point = schedtape_decoder_tracepoint(decoder, 0);
	const struct schedtape_field *f = point->fields;
	size_t i, same = 0;

	ok(point->size == sizeof(*point) && point->decodes && !point->index && point->n == 9 &&
	   !strcmp(point->name, "test:all"), "the tracepoint has a name and nine fields");
	for (i = 0; i < point->n; i++)
		same += f[i].kind == kinds[i];
	ok(same == 9 && !strcmp(f[0].name, "vec") && !strcmp(f[8].name, "text"),
	   "in the kernel's order, of all kinds");
	ok(!f[0].is_signed && f[1].is_signed && f[7].is_signed, "signed ones and others");
	ok(f[0].naming == SCHEDTAPE_NAMING_VALUES && f[0].nr_names == 2 &&
	   has_name(&f[0], 0, 0, "HI") && has_name(&f[0], 1, 1, "TIMER") &&
	   has_name(&f[1], 0, -2, "LOW"), "values have names");
	ok(f[3].naming == SCHEDTAPE_NAMING_BITS && !strcmp(f[3].delimiter, "|") &&
	   f[3].nr_names == 3 && has_name(&f[3], 0, 1, "ONE") && has_name(&f[3], 1, 4, "FOUR") &&
	   has_name(&f[3], 2, 0, "none"), "bits have names, and so has 0");
	ok(f[2].naming == SCHEDTAPE_NAMING_NONE && !f[2].nr_names && !*f[2].delimiter,
	   "others have none");
	ok(!schedtape_decoder_tracepoint(decoder, 1), "there is no second tracepoint");
}

/* Of a machine with the other byte order. */
TEST(swapped)
{
	struct schedtape_decoder *decoder = make(point_all_format, POINT_ALL,
						 !points_formats.big_endian);
	struct point_all swapped = all;
	const struct schedtape_sample sample = sample_of(&swapped, sizeof(swapped));
	const struct schedtape_value *v;

	swapped.type = __builtin_bswap16(all.type);
	swapped.vec = __builtin_bswap32(all.vec);
	swapped.low = __builtin_bswap16(all.low);
	swapped.bits = __builtin_bswap64(all.bits);
	swapped.list = __builtin_bswap32(all.list);
	swapped.numbers[0] = __builtin_bswap32(all.numbers[0]);
	ok(schedtape_decoder_values(decoder, &sample, &v) == 9 && v[0].number == 1 &&
	   (int64_t)v[1].number == -2 && v[3].number == all.bits && v[7].n == 2 &&
	   (int64_t)v[7].numbers[0] == -1, "the other byte order");
	schedtape_decoder_free(decoder);
}

/* Data of exactly that many bytes, so that the sanitizer detects an access beyond them. */
static int values_of(struct schedtape_decoder *decoder, const struct point_all *data, size_t bytes,
		     struct schedtape_value *list, struct schedtape_value *text)
{
	void *copy = memcpy(malloc(bytes), data, bytes);
	const struct schedtape_sample sample = sample_of(copy, bytes);
	const struct schedtape_value *v;
	int ret = schedtape_decoder_values(decoder, &sample, &v);

	if (ret == 9) {
		*list = v[7];
		*text = v[8];
	}
	schedtape_decoder_text(decoder, &sample);
	free(copy);
	return ret;
}

static void test_limits(struct schedtape_decoder *decoder)
{
	const size_t fields = offsetof(struct point_all, numbers);
	struct schedtape_value list, text;
	struct schedtape_sample sample;
	struct point_all data = all;
	uint16_t unknown = 4;

	ok(values_of(decoder, &data, fields - 1, &list, &text) == -EBADMSG,
	   "a sample that is too short for its fields has no values");
	ok(values_of(decoder, &data, fields + 4, &list, &text) == 9 && list.n == 1 && !text.n,
	   "an array and a text end with the data");
	data.list = 0xffffffff;
	data.text = 0xffffffff;
	ok(values_of(decoder, &data, sizeof(data), &list, &text) == 9 && !list.n && !text.n,
	   "places behind the data have nothing");
	data.list = 65535U << 16;
	ok(values_of(decoder, &data, sizeof(data), &list, &text) == 9 &&
	   list.n == sizeof(data) / 4, "nor do lengths reach there");
	data.type = unknown;
	ok(values_of(decoder, &data, sizeof(data), &list, &text) == -EBADMSG,
	   "an unknown tracepoint has no values");
	sample = sample_of(&unknown, sizeof(unknown));
	ok(!schedtape_decoder_find(decoder, &sample) &&
	   is_bytes(schedtape_decoder_text(decoder, &sample), &unknown),
	   "and its text is its bytes");
	sample = sample_of(&unknown, 1);
	ok(!schedtape_decoder_find(decoder, &sample), "nor has a single byte one");
}

/* Fields over each other have no more numbers than there are bytes. */
TEST(overlap)
{
	static unsigned char data[65536];
	struct schedtape_sample sample = sample_of(data, sizeof(data));
	const struct schedtape_value *v;
	struct schedtape_decoder *decoder;
	size_t bytes, i, sum = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &bytes);
	int n;

	fputs("name: all\nID: 9\n" POINTS_COMMON, file);
	for (i = 0; i < 100; i++)
		fputs("\tfield:unsigned int a[16000];\toffset:8;\tsize:64000;\tsigned:0;\n", file);
	fputs("\nprint fmt: \"\"\n", file);
	fclose(file);
	*(uint16_t *)data = POINT_ALL;
	decoder = make(text, POINT_ALL, points_formats.big_endian);
	n = schedtape_decoder_values(decoder, &sample, &v);
	for (i = 0; i < 100 && n == 100; i++)
		sum += v[i].n;
	ok(n == 100 && sum == sizeof(data) && !v[99].n, "hundred fields in one place: %zu", sum);
	schedtape_decoder_free(decoder);
	free(text);
}

/* Lines that libtraceevent takes for fields, although they do not begin with a tab. */
static void test_hidden(const char *place, const char *what)
{
	const struct schedtape_sample sample = sample_of(&all, sizeof(all));
	struct schedtape_decoder *decoder;
	char format[1024];

	snprintf(format, sizeof(format), "name: all\nID: 9\n" POINTS_COMMON
		 "\tfield:int vec;\toffset:8;\tsize:4;\tsigned:0;\n"
		 " field:int hidden;\t%s;\tsize:4;\tsigned:0;\n\n"
		 "print fmt: \"%%d\", REC->hidden\n", place);
	decoder = make(format, POINT_ALL, points_formats.big_endian);
	ok(!schedtape_decoder_tracepoint(decoder, 0)->decodes &&
	   is_bytes(schedtape_decoder_text(decoder, &sample), &all), "%s", what);
	schedtape_decoder_free(decoder);
}

/*
 * libtraceevent would read beyond the data for some formats, and run out of its stack for others.
 * Of these the fields are printed.
 */
static void test_unsafe(const char *print, const char *what)
{
	const struct schedtape_sample sample = sample_of(&all, sizeof(all));
	struct schedtape_decoder *decoder;
	char *format;

	if (asprintf(&format, "name: all\nID: 9\n" POINTS_COMMON
		     "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n"
		     "\tfield:short low;\toffset:12;\tsize:2;\tsigned:1;\n"
		     "\tfield:unsigned long args[2];\toffset:24;\tsize:16;\tsigned:0;\n"
		     "\tfield:char comm[8];\toffset:40;\tsize:8;\tsigned:0;\n"
		     "\tfield:struct thing what[2];\toffset:48;\tsize:8;\tsigned:0;\n\n"
		     "print fmt: \"%%s\", %s\n", print) < 0)
		return;
	decoder = make(format, POINT_ALL, points_formats.big_endian);
	ok(!strcmp(schedtape_decoder_text(decoder, &sample),
		   "vec=1 low=-2 args={7,18446744073709551615} comm=shell what=?"), "%s", what);
	schedtape_decoder_free(decoder);
	free(format);
}

TEST(all_unsafe)
{
	static char deep[100000], wide[100000];

	memset(deep, '(', sizeof(deep) - 1);
	memset(wide, '+', sizeof(wide) - 1);
	test_unsafe("__print_hex(REC->args, 100000000)", "an array of any length");
	test_unsafe("__print_array(REC->args, 100000000, 1)", "another one");
	test_unsafe(deep, "many parentheses");
	test_unsafe(wide, "many operators");
}

/* A format is refused if a field of it cannot be where the format says. */
TEST(places)
{
	static const char * const places[] = {
		"offset:4294967294;\tsize:4;", "offset:-8;\tsize:4;", "offset:8;\tsize:9999999999;",
		"offset:8;", "offset:;\tsize:4;", "",
	};
	struct schedtape_decoder *decoder;
	char format[1024];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(format, sizeof(format), "name: all\nID: 9\n" POINTS_COMMON
			 "\tfield:int vec;\t%s\tsigned:0;\n\nprint fmt: \"\"\n", places[i]);
		decoder = make(format, POINT_ALL, false);
		ok(!schedtape_decoder_tracepoint(decoder, 0)->decodes, "refused: '%s'", places[i]);
		schedtape_decoder_free(decoder);
	}
}

/* A field that should have the place of a value, but has two bytes, is at the end of the data. */
TEST(short_place)
{
	struct schedtape_decoder *decoder = make("name: all\nID: 9\n" POINTS_COMMON
		"\tfield:__data_loc char[] text;\toffset:8;\tsize:2;\tsigned:0;\n\n"
		"print fmt: \"\"\n", POINT_ALL, points_formats.big_endian);
	struct schedtape_sample sample = sample_of(memcpy(malloc(10), &all, 10), 10);
	const struct schedtape_value *v;

	ok(schedtape_decoder_values(decoder, &sample, &v) == 1 && !v->text && !v->n,
	   "a place of two bytes has no value");
	free((void *)sample.data);
	schedtape_decoder_free(decoder);
}

TEST(wrong)
{
	struct schedtape_formats formats = points_formats;
	struct schedtape_decoder *decoder = make("nothing", POINT_ALL, false);
	const struct schedtape_tracepoint *point = schedtape_decoder_tracepoint(decoder, 0);

	ok(!strcmp(point->name, "test:all") && !point->decodes && !point->n,
	   "a format that cannot be parsed has a name and no fields");
	schedtape_decoder_free(decoder);
	formats.size = 0;
	ok(schedtape_decoder_new(&formats, &decoder, &err) == -EINVAL && !decoder,
	   "formats without a size: %s", err.text);
	formats.size = sizeof(formats);
	formats.n = 0;
	ok(!schedtape_decoder_new(&formats, &decoder, &err) &&
	   !schedtape_decoder_tracepoint(decoder, 0), "no formats");
	schedtape_decoder_free(decoder);
}

int main(void)
{
	struct schedtape_decoder *decoder = make(point_all_format, POINT_ALL,
						 points_formats.big_endian);

	all = point_all();
	test_fields(decoder);
	test_values(decoder);
	test_limits(decoder);
	schedtape_decoder_free(decoder);
	tap_run();
	test_hidden("offset:4294967294", "a hidden field in an impossible place: no text");
	test_hidden("offset:5000", "nor one behind the data");
	return tap_done();
}
