// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the sums of a page's parts are right where runs begin and end within a part or
 * outside of the time; single runs are left out when they would need too much room.
 */
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

#include "tap.h"

/* -- sums -------------------------------------------------------------------- */

/* 64 parts of 100 ns, which is the least number. */
#define PARTS	64

static unsigned char *sums_of(struct levels *levels, const unsigned char **tops)
{
	unsigned char *sums;
	size_t bytes;

	sums = levels_end(levels, &bytes);
	if (!sums || bytes != 3 * 2 * levels->parts + 2 * 2 * levels->parts)
		exit(1);
	*tops = sums + 2 * levels->parts;
	return sums;
}

TEST(sums)
{
	const unsigned char *tops, *run, *wait;
	unsigned char *sums;
	struct levels levels;

	ok(!levels_begin(&levels, 2, 2, 1000, 1000 + 6400) && levels.parts == 6400 &&
	   levels.width == 1, "a short time has a part for each ns");
	levels_free(&levels);

	if (levels_begin(&levels, 2, 2, 0, 100 * (1ULL << 14)))
		exit(1);
	ok(levels.parts == 1U << 14 && levels.width == 100, "a long time has 2^14 parts");
	levels_run(&levels, 0, 1, 50, 100);
	levels_run(&levels, 0, 2, 100, 130);
	levels_run(&levels, 0, 1, 130, 150);
	levels_run(&levels, 0, 2, 160, 161);
	levels_run(&levels, 1, 3, 0, 1000000000);
	levels_wait(&levels, 2, 90, 200);
	levels_wait(&levels, 3, 0, 1000);
	sums = sums_of(&levels, &tops);
	run = tops + 2 * 2 * levels.parts;
	wait = run + 2 * levels.parts;
	ok(sums[0] == 128 && sums[1] == 131 && !sums[2], "a CPU was busy: %u, %u, %u of 255",
	   sums[0], sums[1], sums[2]);
	ok(tops[0] == 1 && tops[2] == 2 && !tops[4], "with the task that ran longest");
	ok(sums[levels.parts] == 255 && sums[2 * levels.parts - 1] == 255 &&
	   tops[2 * levels.parts] == 3, "another one all of the time, with a task without a row");
	ok(run[0] == 128 && run[1] == 51 && run[levels.parts + 1] == 80, "tasks ran");
	ok(wait[levels.parts] == 26 && wait[levels.parts + 1] == 255 && !wait[levels.parts + 2] &&
	   !wait[0], "and waited");
	free(sums);
	levels_free(&levels);
}

/* A year, of which a part is longer than 32 bits of ns. */
TEST(long)
{
	const uint64_t year = 365ULL * 86400 * 1000000000;
	const unsigned char *tops;
	unsigned char *sums;
	struct levels levels;

	if (levels_begin(&levels, 2, 2, 0, year))
		exit(1);
	levels_run(&levels, 0, 1, 0, year / 2);
	levels_run(&levels, 0, 1, year / 2, year / 2 + 1);
	sums = sums_of(&levels, &tops);
	ok(sums[0] == 255 && sums[levels.parts / 2 - 1] == 255 &&
	   sums[levels.parts / 2] == 1 && !sums[levels.parts / 2 + 1],
	   "half a year, and 1 ns that can be seen");
	free(sums);
	levels_free(&levels);
}

TEST(rows)
{
	struct levels levels;

	ok(!levels_begin(&levels, 1024, 1000, 0, 1ULL << 40) && levels.parts == (1U << 21) / 2024,
	   "many rows have fewer parts");
	levels_free(&levels);
	ok(!levels_begin(&levels, 65536, 1000, 0, 1ULL << 40) && levels.parts == PARTS,
	   "but not too few");
	levels_free(&levels);
	ok(!levels_begin(&levels, 1, 1, 500, 500) && levels.parts == 1,
	   "no time at all is one part");
	levels_free(&levels);
}

/* -- single runs --------------------------------------------------------------- */

static void add_runs(struct blocks *blocks, unsigned int n)
{
	struct page_run run = { .end = 1000, .length = 10, .task = 1 };

	for (; n--; run.end += 100) {
		run.wait = rand();
		if (blocks_add(blocks, &run) ||
		    (blocks_is_long(blocks) && blocks_end_one(blocks, run.end)))
			exit(1);
	}
	if (blocks_end_one(blocks, run.end))
		exit(1);
}

TEST(blocks)
{
	char *text = NULL;
	struct blocks blocks;
	size_t length;
	FILE *to;

	if (blocks_begin(&blocks, 1, 0, 1 << 20))
		exit(1);
	add_runs(&blocks, 10000);
	ok(blocks.nr == 3 && blocks.list[0].runs == PAGE_BLOCK_RUNS &&
	   blocks.list[1].first == blocks.list[0].last && !blocks.full,
	   "10,000 runs are 3 blocks");
	to = open_memstream(&text, &length);
	ok(!blocks_copy(&blocks, to) && !fclose(to) && !strncmp(text, "<script", 7) &&
	   strstr(text, "id=\"block2\""), "with their text");
	free(text);
	blocks_free(&blocks);

	if (blocks_begin(&blocks, 1, 0, 30000))
		exit(1);
	add_runs(&blocks, 10000);
	to = open_memstream(&text, &length);
	ok(blocks.full && !blocks.nr && !blocks_copy(&blocks, to) && !fclose(to) && !length,
	   "too many: none at all");
	free(text);
	blocks_free(&blocks);
}

TEST_MAIN
