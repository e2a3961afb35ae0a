// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: samples of other tracepoints come back as they were written, those of all CPUs by
 * time, also from a copy; a damaged record costs no others; limits hold.
 */
#include <tape/samples.h>
#include <tape/write.h>

#include "points.h"
#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct schedtape_tape *tape;
static struct blob b;
static struct schedtape_error err;

static struct schedtape_sample at(uint64_t time, uint32_t cpu, const struct point_exit *data)
{
	return (struct schedtape_sample) {
		.time = time, .cpu = cpu, .pid = 100, .tid = 101, .data = data,
		.bytes = sizeof(*data),
	};
}

/* Samples of CPU 0 at 1010, 1020, 1030; of CPU 2 at 1015, 1050, 1040, with a loss, and 1060. */
static void write_tape(void)
{
	const struct point_exit exits[] = { point_exit(1, 0), point_exit(2, 1), point_exit(3, 0) };
	struct schedtape_sample first[] = {
		at(1010, 0, &exits[0]), at(1020, 0, &exits[1]), at(1030, 0, &exits[2]),
	};
	struct schedtape_sample second[] = {
		at(1015, 2, &exits[0]), at(1050, 2, &exits[1]), at(1040, 2, &exits[2]),
		at(1060, 2, &exits[0]),
	};
	struct schedtape_writer *w;

	second[2].lost = 17;
	second[3].bytes = 5;
	if (tape_writer_create(b.path, sample.meta, NULL, &w, &err))
		printf("Bail out! %s\n", err.text);
	schedtape_writer_clock(w, &sample_clock, &err);
	schedtape_writer_formats(w, &points_formats, &err);
	schedtape_writer_samples(w, second, 1, &err);
	schedtape_writer_samples(w, first, 3, &err);
	schedtape_writer_pages(w, sample.pages[0], 2, &err);
	schedtape_writer_samples(w, second + 1, 3, &err);
	schedtape_writer_end(w, &sample.end, &err);
	schedtape_writer_close(w, &err);
}

/* Reads all times; returns how many there are. */
static size_t read_times(uint64_t times[16], uint64_t *lost)
{
	struct schedtape_samples *samples;
	struct schedtape_sample one;
	size_t n = 0;

	*lost = 0;
	if (schedtape_samples_open(tape, &samples, &err))
		return 0;
	while (n < 16 && schedtape_samples_next(samples, &one, &err) == 1) {
		*lost += one.lost;
		times[n++] = one.time;
	}
	schedtape_samples_close(samples);
	return n;
}

static const uint64_t all[] = { 1010, 1015, 1020, 1030, 1050, 1040, 1060 };

static bool are(const uint64_t *times, size_t n, const uint64_t *wanted, size_t nr_wanted)
{
	return n == nr_wanted && !memcmp(times, wanted, n * sizeof(*times));
}

static void test_formats(void)
{
	const struct schedtape_formats *formats = schedtape_tape_formats(tape);
	size_t i;

	ok(formats->n == 2 && formats->long_bytes == sizeof(long) &&
	   formats->big_endian == points_formats.big_endian, "there are two formats");
	for (i = 0; i < formats->n; i++)
		ok(formats->formats[i].id == points[i].id &&
		   !strcmp(formats->formats[i].system, points[i].system) &&
		   !strcmp(formats->formats[i].name, points[i].name) &&
		   !strcmp(formats->formats[i].format, points[i].format), "format %zu", i);
	ok(!strcmp(formats->formats[0].filter, "irq>2") && !formats->formats[1].filter,
	   "and a filter of the first one");
}

static void test_sample(void)
{
	const struct point_exit wanted = point_exit(1, 0);
	struct schedtape_samples *samples;
	struct schedtape_sample one = { 0 };

	schedtape_samples_open(tape, &samples, &err);
	ok(schedtape_samples_next(samples, &one, &err) == 1 && one.pid == 100 && one.tid == 101 &&
	   !one.cpu && one.bytes == sizeof(wanted) && !memcmp(one.data, &wanted, sizeof(wanted)),
	   "a sample has its task, its CPU and its data");
	schedtape_samples_close(samples);
}

TEST(read)
{
	uint64_t times[16], lost;
	size_t n;

	ok(!schedtape_tape_open(b.path, &tape, &err) && !schedtape_tape_damage(tape), "whole");
	test_formats();
	test_sample();
	n = read_times(times, &lost);
	ok(are(times, n, all, 7) && lost == 17,
	   "all samples come by time; those of a CPU keep their order, and its loss");
	schedtape_tape_close(tape);
}

TEST(copy)
{
	const struct schedtape_copy_options options = { .size = sizeof(options) };
	uint64_t times[16], lost, bytes;
	struct blob to;
	size_t n;

	blob_init(&to);
	schedtape_tape_open(b.path, &tape, &err);
	ok(!schedtape_tape_copy(tape, to.path, &options, &bytes, &err), "a tape is copied");
	schedtape_tape_close(tape);
	schedtape_tape_open(to.path, &tape, &err);
	n = read_times(times, &lost);
	ok(are(times, n, all, 7) && lost == 17 && schedtape_tape_formats(tape)->n == 2,
	   "with its samples and their formats");
	schedtape_tape_close(tape);
	close(to.fd);
}

/* Changes the second record of samples, and reads the others. */
static void damaged(size_t offset, uint32_t value, bool sealed, const char *expected)
{
	static const uint64_t others[] = { 1015, 1050, 1040, 1060 };
	uint64_t times[16], lost;
	unsigned char *data, *record;
	const char *damage;
	struct blob to;
	size_t size, n;

	blob_init(&to);
	data = blob_get(&b, &size);
	record = find_record(data, size, TAPE_SAMPLES, 1);
	put32(record + offset, value);
	if (sealed)
		seal_record(record);
	tape = blob_open(&to, data, size, &err);
	n = read_times(times, &lost);
	damage = schedtape_tape_damage(tape);
	ok(are(times, n, others, 4) && damage && strstr(damage, expected), "%s",
	   damage ? damage : "no damage");
	schedtape_tape_close(tape);
	free(data);
	close(to.fd);
}

/* An empty record that says it has 4 MB, of each of many CPUs. */
TEST(memory)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = 19 };
	struct {
		struct tape_record rec;
		struct tape_samples samples;
	} head;
	unsigned char *zeros = calloc(1, TAPE_MAX_RAW);
	struct schedtape_writer *w;
	uint64_t times[16], lost;
	struct blob small;
	uint32_t cpu;

	blob_init(&small);
	tape_writer_create(small.path, sample.meta, &options, &w, &err);
	for (cpu = 0; cpu < 64; cpu++) {
		memset(&head, 0, sizeof(head));
		tape_record_init(&head.rec, TAPE_SAMPLES, sizeof(head.samples), TAPE_MAX_RAW);
		head.samples.cpu = htole32(cpu);
		tape_writer_record(w, &head, sizeof(head), zeros, TAPE_MAX_RAW, &err);
	}
	schedtape_writer_end(w, &sample.end, &err);
	schedtape_writer_close(w, &err);
	schedtape_tape_open(small.path, &tape, &err);
	ok(!read_times(times, &lost) &&
	   strstr(schedtape_tape_damage(tape), "larger than a tape of this size"),
	   "a small tape cannot make its reader use much memory");
	schedtape_tape_close(tape);
	free(zeros);
	close(small.fd);
}

TEST(writer)
{
	const struct point_exit data = point_exit(1, 0);
	const struct schedtape_sample two[] = { at(1, 0, &data), at(2, 1, &data) };
	struct schedtape_sample large = at(1, 0, &data);
	struct schedtape_writer *w;

	tape_writer_create("/dev/null", sample.meta, NULL, &w, &err);
	ok(!schedtape_writer_samples(w, two, 0, &err), "no samples are no record");
	ok(schedtape_writer_samples(w, two, 2, &err) == -EINVAL, "two CPUs: %s", err.text);
	large.bytes = TAPE_MAX_RAW;
	ok(schedtape_writer_samples(w, &large, 1, &err) == -E2BIG, "too large: %s", err.text);
	ok(!schedtape_writer_samples(w, two, 1, &err) && !schedtape_writer_close(w, &err),
	   "the writer goes on");
}

/* Of records with and without samples, and of one from before 2.13, which has no such number. */
TEST(dropped)
{
	const struct point_exit data = point_exit(1, 0);
	const struct schedtape_sample one = at(1010, 1, &data);
	struct {
		struct tape_record rec;
		unsigned char extra[TAPE_SAMPLES_LEAST];
	} old = { .extra = { [0] = 2, [24] = 4 } };
	struct tape_sample_counts counts;
	uint64_t times[16], lost;
	struct schedtape_writer *w;
	struct blob few;

	blob_init(&few);
	tape_writer_create(few.path, sample.meta, NULL, &w, &err);
	tape_record_init(&old.rec, TAPE_SAMPLES, sizeof(old.extra), 0);
	ok(!tape_writer_samples(w, 1, &one, 1, 5, &err) &&
	   !tape_writer_samples(w, 1, NULL, 0, 7, &err) &&
	   !tape_writer_samples(w, 1, NULL, 0, 0, &err) &&
	   !tape_writer_plain(w, &old, sizeof(old), "", 0, &err), "they are written");
	schedtape_writer_end(w, &sample.end, &err);
	schedtape_writer_close(w, &err);
	schedtape_tape_open(few.path, &tape, &err);
	ok(!tape_count_samples(tape, &counts) && counts.samples == 1 && counts.lost == 4 &&
	   counts.dropped == 12, "samples that the recorder has dropped are counted");
	ok(read_times(times, &lost) == 1 && !schedtape_tape_damage(tape), "readers skip them");
	schedtape_tape_close(tape);
	close(few.fd);
}

/* A pipe, and a tape without samples. */
TEST(none)
{
	struct schedtape_samples *samples;
	uint64_t times[16], lost;
	unsigned char *data;
	struct blob plain;
	char path[64];
	int ends[2];
	size_t size;

	data = blob_get(&b, &size);
	if (pipe(ends) || write(ends[1], data, size) != (ssize_t)size)
		printf("Bail out! pipe\n");
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	ok(!schedtape_tape_open_once(path, &tape, &err) &&
	   schedtape_samples_open(tape, &samples, &err) == -ESPIPE && !samples, "%s", err.text);
	schedtape_tape_close(tape);
	close(ends[0]);
	free(data);

	blob_init(&plain);
	sample_write(&sample, plain.path, 0, SAMPLE_ALL, &err);
	schedtape_tape_open(plain.path, &tape, &err);
	ok(!schedtape_tape_formats(tape)->n && !read_times(times, &lost),
	   "a tape without other tracepoints has no samples");
	schedtape_tape_close(tape);
	close(plain.fd);
}

TEST(damage)
{
	const size_t extra = 32, payload = extra + sizeof(struct tape_samples);

	damaged(payload, 32, false, "SAMPLES record: wrong checksum");
	damaged(payload, 24, true, "its content is impossible");
	damaged(payload, 36, true, "its content is impossible");
	damaged(payload, 4096, true, "its content is impossible");
	damaged(payload + 4, 17, true, "its content is impossible");
	damaged(extra, TAPE_MAX_CPUS, true, "its header is impossible");
	damaged(8, 24, true, "its header is impossible");
}

TEST_MAIN_AFTER(sample_make(&sample), blob_init(&b), write_tape())
