// SPDX-License-Identifier: GPL-2.0-only
#include "report/page-blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "report/page-text.h"

#define COLUMNS		7
#define LEB128_LEN	10	/* bytes of 64 bits, seven a byte */

/* -- a block ------------------------------------------------------------------ */

static unsigned char *put(unsigned char *to, uint64_t number)
{
	for (; number > 127; number >>= 7)
		*to++ = number | 128;
	*to++ = number;
	return to;
}

/* Puts a number that may be negative. */
static unsigned char *put_signed(unsigned char *to, int64_t number)
{
	return put(to, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
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
	to = put(to, n);
	for (i = 0; i < n; before = list[i++].end)
		to = put_signed(to, list[i].end - before);
	for (i = 0; i < n; i++)
		to = put(to, list[i].cpu);
	for (i = 0; i < n; i++)
		to = put_idle(blocks, to, &list[i]);
	for (i = 0; i < n; i++)
		to = put(to, list[i].task);
	for (i = 0; i < n; i++)
		to = put(to, list[i].wait);
	for (i = 0; i < n; i++)
		to = put(to, list[i].how);
	for (i = 0; i < n; i++)
		to = put(to, list[i].waker);
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
		return page_io_error();
	blocks->bytes += head + written;
	return 0;
}

/* -- all blocks ---------------------------------------------------------------- */

int blocks_begin(struct blocks *blocks, unsigned int nr_cpus, uint64_t first, uint64_t most)
{
	*blocks = (struct blocks){ .nr_cpus = nr_cpus, .first = first, .most = most };
	blocks->ends = calloc(nr_cpus + 1, sizeof(*blocks->ends));
	if (!blocks->ends)
		return -ENOMEM;
	blocks->text = tmpfile();
	return blocks->text ? 0 : -errno;
}

static int add(struct page_runs *runs, const struct page_run *run)
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
	return blocks->full ? 0 : add(&blocks->runs, run);
}

int blocks_add_late(struct blocks *blocks, const struct page_run *run)
{
	return add(&blocks->late, run);
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
		return page_io_error();
	do {
		n = fread(buffer, 1, sizeof(buffer), blocks->text);
		if (fwrite(buffer, 1, n, to) != n)
			return page_io_error();
	} while (n);
	return ferror(blocks->text) ? page_io_error() : 0;
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
