// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a small tape does not become large in memory, whatever it contains: hostile
 * content is left out, or the tape is refused, with a message.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zstd.h>

#include "tap.h"
#include "tapes.h"

#define RAW		4194304		/* the maximum for a record */
#define MOST_KB		(90 * 1024)	/* limit for a reader of any of these */
#define HOSTILE_BYTES	(1U << 20)	/* maximum size of any of these */

/* A tape in memory, in the making. */
static unsigned char tape[HOSTILE_BYTES], raw[RAW];
static size_t size;

static void begin(void)
{
	memset(raw, 0, sizeof(raw));
	memset(tape, 0, 32);
	memcpy(tape, "SCHEDTAP", 8);
	put16(tape + 8, 2);
	put32(tape + 12, 32);
	seal_header(tape);
	size = 32;
}

/* A record with the first @bytes of @raw, compressed. */
static void put_record(unsigned int type, const void *extra, size_t extra_bytes, size_t bytes)
{
	unsigned char *record = tape + size;
	size_t stored = ZSTD_compress(record + 32 + extra_bytes,
				      sizeof(tape) - size - 32 - extra_bytes, raw, bytes, 1);

	if (ZSTD_isError(stored)) {
		printf("Bail out! %s\n", ZSTD_getErrorName(stored));
		exit(1);
	}
	memset(record, 0, 32);
	memcpy(record, "STrc", 4);
	put16(record + 4, type);
	put16(record + 6, 1);
	put32(record + 8, extra_bytes);
	put32(record + 12, stored);
	put32(record + 16, bytes);
	if (extra_bytes)
		memcpy(record + 32, extra, extra_bytes);
	seal_record(record);
	size += record_size(record);
}

static void put_text(unsigned int type, const char *front, const char *often, const char *behind)
{
	size_t room = RAW - strlen(behind), at = strlen(front);

	memcpy(raw, front, at);
	for (; at + strlen(often) <= room; at += strlen(often))
		memcpy(raw + at, often, strlen(often));
	memcpy(raw + at, behind, strlen(behind));
	put_record(type, NULL, 0, at + strlen(behind));
}

/* Returns 0 if the result is as @expected; prints its message to standard error. */
static int read_tape(const char *path, const char *expected)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *t;
	struct schedtape_event ev;
	const char *text;
	bool as_expected;

	if (schedtape_tape_open(path, &t, &err)) {
		text = err.text;
	} else {
		while (schedtape_tape_next(t, &ev, &err))
			;
		text = schedtape_tape_damage(t) ? schedtape_tape_damage(t) : "whole";
	}
	as_expected = strstr(text, expected);
	if (!as_expected)
		printf("# no \"%s\" in: %s\n", expected, text);
	fflush(stdout);
	schedtape_tape_close(t);
	return !as_expected;
}

/* Runs in a process of its own, whose memory is measured, and limited. */
static void try_path(const char *path, const char *expected, const char *what)
{
	const struct rlimit limit = { 1UL << 30, 1UL << 30 };
	struct rusage usage;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!SANITIZED)
			setrlimit(RLIMIT_AS, &limit);
		_exit(read_tape(path, expected));
	}
	if (wait4(pid, &status, 0, &usage) != pid)
		abort();
	ok(!status, "%s: %s", what, expected);
	ok(SANITIZED || usage.ru_maxrss <= MOST_KB, "it takes %ld KB", usage.ru_maxrss);
}

static void try(const char *expected, const char *what)
{
	struct blob b;

	blob_init(&b);
	blob_put(&b, tape, size);
	try_path(b.path, expected, what);
	close(b.fd);
}

static void put_task(uint32_t bytes, uint32_t affinity_bytes, unsigned int at)
{
	put32(raw + at, bytes);
	put32(raw + at + 4, 120);
	put32(raw + at + 32, 1);
	put32(raw + at + 68, affinity_bytes);
}

TEST(tasks)
{
	unsigned int i;

	begin();
	put_task(RAW, 100, 0);
	for (i = 0; i < 300; i++)
		put_record(2, NULL, 0, RAW);
	try("larger than a tape of this size", "many descriptions that are hardly there");

	begin();
	for (i = 0; i + 120 <= RAW; i += 120)
		put_task(120, 0, i);
	for (i = 0; i < 40; i++)
		put_record(2, NULL, 0, RAW - RAW % 120);
	try("larger than a tape of this size", "many small ones");

	begin();
	put_task(RAW, RAW - 120, 0);
	put_record(2, NULL, 0, RAW);
	try("damaged TASKS record: its content is impossible", "an affinity for 33 million CPUs");
}

/* A task with one number of its entry changed, at the manual's offset. */
static void try_number(unsigned int at, uint32_t number, const char *expected, const char *what)
{
	begin();
	put_task(120, 0, 0);
	put32(raw + at, number);
	put_record(2, NULL, 0, 120);
	try(expected, what);
}

/* Players pass this priority to their kernel. */
TEST(prio)
{
	const char *impossible = "damaged TASKS record: its content is impossible";

	try_number(56, 255, "no end record", "a policy of a later kernel");
	try_number(56, 256 + 6, impossible, "a policy whose last byte is SCHED_DEADLINE");
	try_number(60, -20, "no end record", "the least nice value");
	try_number(60, -21, impossible, "a nice value below it");
	try_number(60, 20, impossible, "one above 19");
	try_number(60, 256, impossible, "one whose last byte is 0");
	try_number(64, 99, "no end record", "the highest real-time priority");
	try_number(64, 100, impossible, "one above it");
}

TEST(clocks)
{
	unsigned int i;

	begin();
	for (i = 0; i + 48 <= RAW; i += 48)
		put32(raw + i, 48);
	for (i = 0; i < 14; i++)
		put_record(5, NULL, 0, RAW - RAW % 48);
	try("larger than a tape of this size", "clocks");
}

static void try_scheduler(const char *front, const char *expected, const char *what)
{
	begin();
	put_text(6, front, " ", "}");
	try(expected, what);
}

TEST(schedulers)
{
	const char *impossible = "damaged SCHEDULER record: its content is impossible";
	unsigned int i;

	try_scheduler("{\"time\":9,\"state\":\"disabled\"", "no end record", "a scheduler");
	try_scheduler("{\"state\":\"disabled\"", impossible, "one without a time");
	try_scheduler("{\"time\":9", impossible, "one without a state");
	try_scheduler("{\"time\":9,\"after\":10,\"state\":\"x\"", impossible,
		      "one that was seen before it was there");
	try_scheduler("{\"time\":-9,\"state\":\"x\"", impossible, "one before any time");
	try_scheduler("{\"time\":9,\"state\":[\"x\"]", impossible, "a state that is a list");
	try_scheduler("{\"time\":9,\"state\":\"sixteen letters.\"", impossible,
		      "one that is too long");
	try_scheduler("{\"time\":9,\"state\":\"x\",\"ops\":7,\"switch_all\":\"y\","
		      "\"enable_seq\":{},\"nr_rejected\":-1", "no end record",
		      "other members that are something else");
	begin();
	put_text(6, "{\"a\":[{}", ",{}", "],\"time\":9,\"state\":\"x\"}");
	try("damaged SCHEDULER record", "more objects than a description has");
	begin();
	for (i = 0; i < 10000; i++) {
		memcpy(raw, "{\"time\":9,\"state\":\"x\"}", 22);
		put_record(6, NULL, 0, 22);
	}
	try("no end record", "many of them");
	begin();
	for (i = 0; i < 40; i++)
		put_text(6, "{\"time\":9,\"state\":\"x\"", " ", "}");
	try("larger than a tape of this size", "large ones");
}

/* A record of two players, the second one with this size, in @bytes. */
static void try_player(unsigned int bytes, uint32_t second, const char *expected,
		       const char *what)
{
	begin();
	put32(raw, 32);
	put32(raw + 32, second);
	put_record(7, NULL, 0, bytes);
	try(expected, what);
}

TEST(players)
{
	const char *impossible = "damaged PLAYERS record: its content is impossible";

	try_player(64, 32, "no end record", "two players");
	try_player(72, 40, "no end record", "a larger one");
	try_player(64, 31, impossible, "one that is too small");
	try_player(64, 40, impossible, "one that is larger than the record");
	try_player(64, 0, impossible, "one without a size");
	try_player(48, 32, impossible, "half a player");
}

TEST(json)
{
	begin();
	put_text(1, "{\"a\":[{}", ",{}", "]}");
	try("damaged META record", "more objects than a description has");
	begin();
	put_text(1, "{\"a\":[0", ",0", "]}");
	try("damaged META record", "more numbers");
	begin();
	put_text(1, "{\"a\":\"\\\"", ",:{[", "\"}");
	try("no end record", "commas and brackets within a string");
	begin();
	put_text(4, "{\"start_time\":1,\"stop_time\":2,\"cpus\":[0", ",0", "]}");
	try("damaged end record", "an end with more CPUs than there are");
	begin();
	put_text(4, "{\"start_time\":1,\"stop_time\":2,\"cpus\":[{\"cpu\":4000000000,\"events\":1,"
		 "\"lost\":1,\"lost_first\":1,\"lost_last\":1}", " ", "]}");
	try("damaged end record", "or with one that cannot be");
}

/* Each has a chunk of zeros of the maximum size. */
TEST(chunks)
{
	unsigned char extra[48] = { 0 };
	unsigned int cpu;

	begin();
	put32(extra + 4, RAW / STAPE_PAGE_SIZE);
	for (cpu = 0; cpu < 1000; cpu++) {
		put32(extra, cpu);
		put_record(3, extra, sizeof(extra), RAW);
	}
	try("to read its 1000 CPUs together would take 4000 MB", "large chunks of many CPUs");

	begin();
	put32(extra, 0);
	for (cpu = 0; cpu < 100; cpu++) {
		put64(extra + 8, (uint64_t)cpu * RAW / STAPE_PAGE_SIZE);
		put_record(3, extra, sizeof(extra), RAW);
	}
	try("no end record", "many of one CPU");
}

static void write_file(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(tape, size, 1, file) != 1 || fclose(file)) {
		printf("Bail out! %s\n", path);
		exit(1);
	}
}

/* Each file has a description of the maximum size. */
TEST(directory)
{
	char dir[] = "/tmp/schedtape-hostile-XXXXXX", path[128];
	unsigned int i;

	if (!mkdtemp(dir))
		exit(1);
	begin();
	put_text(1, "{\"recording\":\"r\",\"a\":[[0]", ",[0,0,0                             "
		 "                                                                 ]", "]}");
	for (i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), i ? "%s/data.%u" : "%s/data", dir, i - 1);
		write_file(path);
	}
	try_path(dir, "larger than a tape of this size", "a directory of large descriptions");
	for (i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), i ? "%s/data.%u" : "%s/data", dir, i - 1);
		unlink(path);
	}
	rmdir(dir);
}

TEST_MAIN
