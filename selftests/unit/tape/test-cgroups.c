// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the quotas of cgroups that a tape has, from a file, a pipe and a copy; CGROUPS
 * records with impossible content; and none of a file that failed.
 */
#include <stdlib.h>

#include <tape/cgroups.h>

#include "fake-folder.h"
#include "pipes.h"
#include "records.h"
#include "tap.h"

#define START	"{\"began\":800,\"time\":900,\"cgroups\":[" \
		"{\"id\":7,\"path\":\"/a\",\"max\":\"20000 100000\",\"stat\":{\"usage_usec\":9," \
		"\"nr_periods\":5,\"nr_throttled\":3,\"throttled_usec\":4000}}," \
		"{\"id\":8,\"path\":\"/b\",\"stat\":{\"usage_usec\":9}}]}"
#define CHANGE	"{\"began\":1000,\"time\":1000,\"cgroups\":[{\"id\":7}]}"

static struct schedtape_error err;
static struct schedtape_tape *tape;
static struct records r;
static struct blob blob;

static void make_tape(bool ended)
{
	records_begin(&r);
	records_text(&r, META, "{}");
	records_clock(&r, 900);
	records_text(&r, CGROUPS, START);
	records_chunk(&r, 0, 0, 1000);
	records_text(&r, CGROUPS, CHANGE);
	if (ended)
		records_end(&r, 0, PAGE_EVENTS, 0, 0);
}

static void check(const char *what)
{
	const struct tape_cgroup *cgroups;
	size_t n;

	cgroups = tape_cgroups(tape, &n);
	if (!ok(n == 3, "%s has all entries", what))
		return;
	ok(cgroups[0].began == 800 && cgroups[0].time == 900 && cgroups[0].id == 7 &&
	   !strcmp(cgroups[0].path, "/a"), "times, id and path");
	ok(cgroups[0].quota == 20000 && cgroups[0].period == 100000, "a quota");
	ok(cgroups[0].counted && cgroups[0].periods == 5 && cgroups[0].throttled == 3 &&
	   cgroups[0].throttled_us == 4000, "and what it did");
	ok(!cgroups[1].counted && !cgroups[1].period, "a cgroup without the controller");
	ok(cgroups[2].time == 1000 && cgroups[2].id == 7 && !cgroups[2].path &&
	   !cgroups[2].period && !cgroups[2].counted, "a quota that was removed");
}

TEST(file)
{
	make_tape(true);
	tape = blob_open(&blob, r.data, r.size, &err);
	ok(tape && !schedtape_tape_damage(tape), "a tape with cgroups");
	check("it");
	schedtape_tape_close(tape);
}

TEST(pipe)
{
	static struct events events;
	struct pipe pipe;

	make_tape(true);
	pipe_begin(&pipe, r.data, r.size, 100);
	ok(!schedtape_tape_open_once(pipe.path, &tape, &err) && schedtape_tape_is_pipe(tape),
	   "a pipe");
	events_read(tape, &events);
	ok(events.n == PAGE_EVENTS, "its events");
	check("it");
	schedtape_tape_close(tape);
	pipe_end(&pipe);
}

TEST(copy)
{
	struct schedtape_copy_options options = { .size = sizeof(options), .recover = true };
	struct blob copy;
	uint64_t bytes;

	make_tape(false);
	blob_init(&copy);
	tape = blob_open(&blob, r.data, r.size, &err);
	ok(!schedtape_tape_copy(tape, copy.path, &options, &bytes, &err), "recovers a tape");
	schedtape_tape_close(tape);
	ok(!schedtape_tape_open(copy.path, &tape, &err) && !schedtape_tape_damage(tape),
	   "reads the new one");
	check("it");
	schedtape_tape_close(tape);
	close(copy.fd);
}

/* -- content ----------------------------------------------------------------- */

/* A record with this payload behind one that is right. */
static void try(const char *text, bool right, const char *what)
{
	const char *damage = "damaged CGROUPS record: its content is impossible";
	size_t n;

	make_tape(false);
	records_text(&r, CGROUPS, text);
	tape = blob_open(&blob, r.data, r.size, &err);
	tape_cgroups(tape, &n);
	ok(n == 3U + right && !strstr(schedtape_tape_damage(tape), damage) == right, "%s", what);
	schedtape_tape_close(tape);
}

#define LIST(entry)	"{\"began\":9,\"time\":9,\"cgroups\":[" entry "]}"

TEST(content)
{
	char text[2 * 4096 + 128];

	try(LIST("{\"id\":7,\"more\":{}}"), true, "an unknown member");
	try(LIST("{\"id\":7,\"stat\":7}"), true, "a stat that is no object");
	try(LIST("{\"id\":7,\"max\":\"1 1\"}"), true, "a small quota");
	try("[]", false, "no object");
	try("{\"time\":9,\"cgroups\":[{\"id\":7}]}", false, "no begin");
	try("{\"began\":9,\"cgroups\":[{\"id\":7}]}", false, "no time");
	try("{\"began\":9,\"time\":8,\"cgroups\":[{\"id\":7}]}", false, "an end before the begin");
	try("{\"began\":9,\"time\":9}", false, "no list");
	try("{\"began\":9,\"time\":9,\"cgroups\":{\"id\":7}}", false, "a list that is none");
	try(LIST("{\"id\":7},{}"), false, "a cgroup without id");
	try(LIST("{\"id\":7},7"), false, "a cgroup that is a number");
	try(LIST("{\"id\":-7}"), false, "a negative id");
	try(LIST("{\"id\":7,\"path\":\"/a\"},{\"id\":7,\"path\":8}"), false, "a path that is none");
	try(LIST("{\"id\":7,\"max\":20000}"), false, "a quota that is no text");
	try(LIST("{\"id\":7,\"max\":\"max 100000\"}"), false, "a quota without a number");
	try(LIST("{\"id\":7,\"max\":\"20000\"}"), false, "one without a period");
	try(LIST("{\"id\":7,\"max\":\"20000 0\"}"), false, "one with a period of 0");
	try(LIST("{\"id\":7,\"max\":\"-20000 100000\"}"), false, "a negative one");
	try(LIST("{\"id\":7,\"max\":\"20000 100000 \"}"), false, "one with something behind it");
	snprintf(text, sizeof(text), LIST("{\"id\":7,\"path\":\"/%04094d\"}"), 0);
	try(text, true, "a long path");
	snprintf(text, sizeof(text), LIST("{\"id\":7,\"path\":\"/%04095d\"}"), 0);
	try(text, false, "one that is too long");
}

/* All of them together have 2^18 entries at most, in records of 64 here. */
TEST(many)
{
	static char list[64 * 16 + 64];
	unsigned int i;
	size_t n;

	strcpy(list, "{\"began\":9,\"time\":9,\"cgroups\":[{\"id\":7}");
	for (i = 1; i < 64; i++)
		strcat(list, ",{\"id\":7}");
	strcat(list, "]}");
	records_begin(&r);
	for (i = 0; i < (1 << 18) / 64; i++)
		records_text(&r, CGROUPS, list);
	records_text(&r, META, "{}");
	tape = blob_open(&blob, r.data, r.size, &err);
	tape_cgroups(tape, &n);
	ok(n == 1 << 18 && !strstr(schedtape_tape_damage(tape), "CGROUPS"), "many");
	schedtape_tape_close(tape);
	records_text(&r, CGROUPS, list);
	tape = blob_open(&blob, r.data, r.size, &err);
	tape_cgroups(tape, &n);
	ok(n == 1 << 18 && strstr(schedtape_tape_damage(tape), "CGROUPS"), "too many");
	schedtape_tape_close(tape);
}

/* -- a directory ------------------------------------------------------------- */

TEST(rollback)
{
	char path[64];

	folder_make();
	records_begin(&r);
	records_text(&r, META, "{\"recording\":\"this\",\"streams\":[{}]}");
	records_clock(&r, 900);
	records_text(&r, CGROUPS, START);
	records_text(&r, CGROUPS, CHANGE);
	folder_write("tape/data", (const char *)r.data, r.size);
	records_begin(&r);
	records_text(&r, CGROUPS, START);
	records_text(&r, META, "{\"recording\":\"another\"}");
	folder_write("tape/data.0", (const char *)r.data, r.size);
	snprintf(path, sizeof(path), "%s/tape", folder);
	ok(!schedtape_tape_open(path, &tape, &err) &&
	   strstr(schedtape_tape_damage(tape), "another recording"), "a file that is left out");
	check("the rest");
	schedtape_tape_close(tape);
	folder_remove();
}

TEST_MAIN_AFTER(blob_init(&blob))
