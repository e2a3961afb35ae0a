// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ran when, as data of a page: sums of short parts of the time, and single runs.
 */
#include "report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/list.h"
#include "common/new-file.h"

#define DEFLATE_ONLY	(-15)	/* without a header, as the page's DecompressionStream has it */
#define MEMORY		8	/* zlib's own default */

#define MOST_CELLS	(1U << 21)	/* of two or three bytes each */
#define MOST_PARTS	(1U << 14)	/* four times the pixels of a wide screen */
#define LEAST_PARTS	64U

#define COLUMNS		7
#define LEB128_LEN	10	/* bytes of 64 bits, seven a byte */

/* -- bytes as text --------------------------------------------------------- */

/* Writes base64, RFC 4648.  Returns the number of letters. */
static size_t write_base64(FILE *to, const unsigned char *bytes, size_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t three;
	size_t i;

	for (i = 0; i < n; i += 3) {
		three = bytes[i] << 16;
		three |= i + 1 < n ? bytes[i + 1] << 8 : 0;
		three |= i + 2 < n ? bytes[i + 2] : 0;
		putc_unlocked(letters[three >> 18], to);
		putc_unlocked(letters[three >> 12 & 63], to);
		putc_unlocked(i + 1 < n ? letters[three >> 6 & 63] : '=', to);
		putc_unlocked(i + 2 < n ? letters[three & 63] : '=', to);
	}
	return (n + 2) / 3 * 4;
}

int page_write_text(FILE *to, const unsigned char *bytes, size_t n, size_t *written)
{
	z_stream stream = { .next_in = (unsigned char *)bytes, .avail_in = n };
	unsigned char *packed = NULL;
	int rc = -ENOMEM;
	uLong room;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, DEFLATE_ONLY, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, n);
	packed = malloc(room);
	stream.next_out = packed;
	stream.avail_out = room;
	if (packed && deflate(&stream, Z_FINISH) == Z_STREAM_END) {
		*written = write_base64(to, packed, stream.total_out);
		rc = ferror(to) ? new_file_error() : 0;
	}
	deflateEnd(&stream);
	free(packed);
	return rc;
}

/* -- sums ------------------------------------------------------------------ */

/* How long a task ran in a part. */
struct levels_ran {
	uint32_t task;
	uint64_t time;
};

/**
 * struct levels_part - who ran in the part of a CPU that is not over
 * @number: of the part
 * @ran: @n tasks, in room for @room
 */
struct levels_part {
	unsigned int number;
	struct levels_ran *ran;
	size_t n;
	size_t room;
};

static unsigned int parts_for(unsigned int rows, uint64_t length)
{
	uint64_t parts = rows ? MOST_CELLS / rows : MOST_PARTS;

	if (parts > MOST_PARTS)
		parts = MOST_PARTS;
	if (parts < LEAST_PARTS)
		parts = LEAST_PARTS;
	return parts < length ? parts : length;
}

int levels_begin(struct levels *levels, unsigned int nr_cpus, unsigned int nr_tasks,
		 uint64_t first, uint64_t last)
{
	uint64_t length = last > first ? last - first : 1;
	size_t cpus, tasks;

	*levels = (struct levels){
		.nr_cpus = nr_cpus,
		.nr_tasks = nr_tasks,
		.parts = parts_for(nr_cpus + nr_tasks, length),
		.first = first,
	};
	levels->width = (length + levels->parts - 1) / levels->parts;
	cpus = (size_t)nr_cpus * levels->parts;
	tasks = (size_t)nr_tasks * levels->parts;
	levels->busy = calloc(cpus + 1, sizeof(*levels->busy));
	levels->top = calloc(cpus + 1, sizeof(*levels->top));
	levels->run = calloc(tasks + 1, sizeof(*levels->run));
	levels->wait = calloc(tasks + 1, sizeof(*levels->wait));
	levels->current = calloc(nr_cpus + 1, sizeof(*levels->current));
	return levels->busy && levels->top && levels->run && levels->wait && levels->current ?
	       0 : -ENOMEM;
}

/* -- sums: the task that ran longest --------------------------------------- */

static void end_part(struct levels *levels, unsigned int cpu)
{
	struct levels_part *part = &levels->current[cpu];
	size_t i, longest = 0;

	for (i = 1; i < part->n; i++)
		if (part->ran[i].time > part->ran[longest].time)
			longest = i;
	if (part->n)
		levels->top[(size_t)cpu * levels->parts + part->number] = part->ran[longest].task;
	part->n = 0;
}

static int note_task(struct levels *levels, unsigned int cpu, unsigned int number, uint32_t task,
		     uint64_t time)
{
	struct levels_part *part = &levels->current[cpu];
	struct levels_ran *ran;
	size_t i;

	if (number != part->number)
		end_part(levels, cpu);
	part->number = number;
	for (i = 0; i < part->n; i++)
		if (part->ran[i].task == task) {
			part->ran[i].time += time;
			return 0;
		}
	ran = schedtape_list_grow(part->ran, part->n, &part->room, sizeof(*ran));
	if (!ran)
		return -ENOMEM;
	part->ran = ran;
	ran[part->n++] = (struct levels_ran){ .task = task, .time = time };
	return 0;
}

/* -- sums: adding ---------------------------------------------------------- */

/* Returns the part that a time lies in; the first or last one for what lies before or behind. */
static unsigned int part_of(const struct levels *levels, uint64_t time)
{
	uint64_t part = time > levels->first ? (time - levels->first) / levels->width : 0;

	return part < levels->parts ? part : levels->parts - 1;
}

/* Returns how much of the time from @begin to @end lies in a part. */
static uint64_t time_in(const struct levels *levels, unsigned int part, uint64_t begin,
			uint64_t end)
{
	uint64_t first = levels->first + part * levels->width, last = first + levels->width;

	if (begin < first)
		begin = first;
	if (end > last)
		end = last;
	return begin < end ? end - begin : 0;
}

int levels_run(struct levels *levels, unsigned int cpu, uint32_t task, uint64_t begin,
	       uint64_t end)
{
	unsigned int part = part_of(levels, begin), last = part_of(levels, end);
	uint64_t time;
	int rc = 0;

	for (; part <= last && !rc; part++) {
		time = time_in(levels, part, begin, end);
		if (!time)
			continue;
		levels->busy[(size_t)cpu * levels->parts + part] += time;
		if (task <= levels->nr_tasks)
			levels->run[(size_t)(task - 1) * levels->parts + part] += time;
		rc = note_task(levels, cpu, part, task, time);
	}
	return rc;
}

void levels_wait(struct levels *levels, uint32_t task, uint64_t begin, uint64_t end)
{
	unsigned int part = part_of(levels, begin), last = part_of(levels, end);

	if (task > levels->nr_tasks)
		return;
	for (; part <= last; part++)
		levels->wait[(size_t)(task - 1) * levels->parts + part] +=
			time_in(levels, part, begin, end);
}

/* -- sums: the end --------------------------------------------------------- */

static unsigned char *put_shares(const struct levels *levels, unsigned char *to,
				 const uint64_t *sums, size_t n)
{
	size_t i;

	/* Rounded up, so that the shortest time is not 0. */
	for (i = 0; i < n; i++)
		*to++ = sums[i] < levels->width ? ceil(sums[i] * 255.0 / levels->width) : 255;
	return to;
}

size_t levels_bytes(const struct levels *levels)
{
	return (3 * (size_t)levels->nr_cpus + 2 * (size_t)levels->nr_tasks) * levels->parts;
}

unsigned char *levels_end(struct levels *levels, size_t *bytes)
{
	size_t cpus = (size_t)levels->nr_cpus * levels->parts;
	size_t tasks = (size_t)levels->nr_tasks * levels->parts, i;
	unsigned char *all, *to;

	*bytes = levels_bytes(levels);
	all = malloc(*bytes + 1);
	if (!all)
		return NULL;
	for (i = 0; i < levels->nr_cpus; i++)
		end_part(levels, i);
	to = put_shares(levels, all, levels->busy, cpus);
	for (i = 0; i < cpus; i++) {
		*to++ = levels->top[i];
		*to++ = levels->top[i] >> 8;
	}
	to = put_shares(levels, to, levels->run, tasks);
	put_shares(levels, to, levels->wait, tasks);
	return all;
}

void levels_free(struct levels *levels)
{
	unsigned int i;

	for (i = 0; levels->current && i < levels->nr_cpus; i++)
		free(levels->current[i].ran);
	free(levels->busy);
	free(levels->top);
	free(levels->run);
	free(levels->wait);
	free(levels->current);
}

/* -- single runs: a block -------------------------------------------------- */

static unsigned char *put_number(unsigned char *to, uint64_t number)
{
	for (; number > 127; number >>= 7)
		*to++ = number | 128;
	*to++ = number;
	return to;
}

/* Puts a number that may be negative. */
static unsigned char *put_signed(unsigned char *to, int64_t number)
{
	return put_number(to, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

/* Puts how long its CPU had been idle when a run began. */
static unsigned char *put_idle(struct blocks *blocks, unsigned char *to,
			       const struct page_run *run)
{
	int64_t idle = 0;

	if (run->cpu < blocks->nr_cpus) {
		idle = run->end - run->length - blocks->ends[run->cpu];
		blocks->ends[run->cpu] = run->end;
	}
	return put_signed(to, idle);
}

/* Puts runs from the time @first on.  Returns behind the last byte. */
static unsigned char *put_runs(struct blocks *blocks, unsigned char *to,
			       const struct page_runs *runs, uint64_t first)
{
	const struct page_run *list = runs->list;
	uint64_t before = first;
	size_t i, n = runs->n;

	for (i = 0; i < blocks->nr_cpus; i++)
		blocks->ends[i] = first;
	to = put_number(to, n);
	for (i = 0; i < n; before = list[i++].end)
		to = put_signed(to, list[i].end - before);
	for (i = 0; i < n; i++)
		to = put_number(to, list[i].cpu);
	for (i = 0; i < n; i++)
		to = put_idle(blocks, to, &list[i]);
	for (i = 0; i < n; i++)
		to = put_number(to, list[i].task);
	for (i = 0; i < n; i++)
		to = put_number(to, list[i].wait);
	for (i = 0; i < n; i++)
		to = put_number(to, list[i].how);
	for (i = 0; i < n; i++)
		to = put_number(to, list[i].waker);
	return to;
}

static int write_block(struct blocks *blocks, const char *name, const struct page_runs *runs,
		       uint64_t first)
{
	unsigned char *bytes = malloc((COLUMNS * runs->n + 1) * LEB128_LEN), *end;
	size_t written = 0;
	int rc, head;

	if (!bytes)
		return -ENOMEM;
	head = fprintf(blocks->text, "<script type=\"text/plain\" id=\"%s\">", name);
	end = put_runs(blocks, bytes, runs, first);
	rc = page_write_text(blocks->text, bytes, end - bytes, &written);
	free(bytes);
	if (rc)
		return rc;
	if (head < 0 || fputs("</script>\n", blocks->text) < 0)
		return new_file_error();
	blocks->bytes += head + written;
	return 0;
}

/* -- single runs: all blocks ----------------------------------------------- */

int blocks_begin(struct blocks *blocks, unsigned int nr_cpus, uint64_t first, uint64_t most)
{
	*blocks = (struct blocks){ .nr_cpus = nr_cpus, .first = first, .most = most };
	blocks->ends = calloc(nr_cpus + 1, sizeof(*blocks->ends));
	if (!blocks->ends)
		return -ENOMEM;
	blocks->text = tmpfile();
	return blocks->text ? 0 : -errno;
}

static int add_run(struct page_runs *runs, const struct page_run *run)
{
	struct page_run *list;

	list = schedtape_list_grow(runs->list, runs->n, &runs->room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	runs->list = list;
	list[runs->n++] = *run;
	return 0;
}

int blocks_add(struct blocks *blocks, const struct page_run *run)
{
	return blocks->full ? 0 : add_run(&blocks->runs, run);
}

int blocks_add_late(struct blocks *blocks, const struct page_run *run)
{
	return add_run(&blocks->late, run);
}

int blocks_end_one(struct blocks *blocks, uint64_t last)
{
	struct page_block *list;
	char name[32];
	int rc;

	if (blocks->full || !blocks->runs.n)
		return 0;
	list = schedtape_list_grow(blocks->list, blocks->nr, &blocks->room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	blocks->list = list;
	snprintf(name, sizeof(name), "block%zu", blocks->nr);
	rc = write_block(blocks, name, &blocks->runs, blocks->first);
	if (rc)
		return rc;
	list[blocks->nr++] = (struct page_block){
		.first = blocks->first, .last = last, .runs = blocks->runs.n,
	};
	blocks->first = last;
	blocks->runs.n = 0;
	if (blocks->bytes > blocks->most) {
		blocks->full = true;
		blocks->nr = 0;
	}
	return 0;
}

int blocks_end_all(struct blocks *blocks, uint64_t first)
{
	return blocks_has_late(blocks) ? write_block(blocks, "late", &blocks->late, first) : 0;
}

int blocks_copy(struct blocks *blocks, FILE *to)
{
	char buffer[65536];
	size_t n;

	if (!blocks->nr)
		return 0;
	/* rewind() would hide that the last bytes could not be written. */
	if (fflush(blocks->text) || fseeko(blocks->text, 0, SEEK_SET))
		return new_file_error();
	do {
		n = fread(buffer, 1, sizeof(buffer), blocks->text);
		if (fwrite(buffer, 1, n, to) != n)
			return new_file_error();
	} while (n);
	return ferror(blocks->text) ? new_file_error() : 0;
}

void blocks_free(struct blocks *blocks)
{
	if (blocks->text)
		fclose(blocks->text);
	free(blocks->ends);
	free(blocks->list);
	free(blocks->runs.list);
	free(blocks->late.list);
}
