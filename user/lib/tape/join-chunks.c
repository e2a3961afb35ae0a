// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes the chunks of a tape behind those of earlier ones.
 *
 * Pages have numbers, so that those which an earlier tape has are easy to find.  If pages of any
 * CPU are missing between two tapes, the later one has descriptions of tasks only from its window
 * on.  Then all events before that are left out, so that none of them is taken for another task's.
 * The first page of each CPU behind such a gap counts what is missing as lost.  Where a whole tape
 * is missing, its pages may be all pages that a CPU had, so its number tells of the gap.
 *
 * Chunks that need no change are copied as they are stored.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "tape/cursors.h"
#include "tape/end.h"
#include "tape/joined.h"
#include "tape/losses.h"
#include "tape/page.h"

/* Descriptions come first: STAPE_CPU_NONE + 1 is 0. */
static struct join_cpu *get_cpu(struct join *join, uint32_t cpu)
{
	uint32_t at = cpu + 1;
	struct join_cpu *cpus = schedtape_list_reach(join->cpus, at, &join->nr_cpus,
						     sizeof(*cpus));

	if (!cpus)
		return NULL;
	join->cpus = cpus;
	return &cpus[at];
}

/* -- where a tape begins ----------------------------------------------------- */

/* Makes room for all CPUs of the tape in hand, so that the array does not move later. */
static int reach_cpus(struct join *join)
{
	const struct schedtape_tape *tape = join->tape;
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++)
		if (!get_cpu(join, tape->cursors[i].cpu))
			return -ENOMEM;
	for (i = 0; i < join->nr_cpus; i++) {
		join->cpus[i].fresh = true;
		join->cpus[i].hole = false;
		join->cpus[i].dropped = 0;
		join->cpus[i].cut = 0;
	}
	return 0;
}

/* Finds CPUs whose pages do not follow those of the earlier tapes.  Returns true if there are. */
static bool find_holes(struct join *join)
{
	const struct tape_index *index = join->tape->index;
	struct join_cpu *cpu;
	bool any = false;
	size_t i;

	for (i = 0; i < join->tape->nr_index; i++) {
		cpu = get_cpu(join, index[i].cpu);
		if (index[i].damaged || !cpu->fresh || index[i].seq + index[i].pages <= cpu->next)
			continue;
		cpu->fresh = false;
		/* If the first tape is not the recording's first, earlier pages are elsewhere. */
		cpu->hole = index[i].seq > cpu->next &&
			    (cpu->next || join->overwrite || !join->end.window_start);
		any = any || cpu->hole;
	}
	for (i = 0; i < join->nr_cpus; i++)
		join->cpus[i].fresh = true;
	return any;
}

/* Any CPU may have had events on a tape that is missing.  Returns true if there is such a tape. */
static bool find_skip(struct join *join)
{
	size_t i;

	/* Snapshots have other ones' pages as well. */
	if (join->overwrite || !join->part->skips)
		return false;
	/* Behind the descriptions, which are first. */
	for (i = 1; i < join->nr_cpus; i++)
		join->cpus[i].hole = true;
	return true;
}

int join_chunks_begin(struct join *join)
{
	bool holes;

	if (reach_cpus(join))
		return -ENOMEM;
	join->window = join->tape->window;
	holes = join->later && find_holes(join);
	if (join->later && find_skip(join))
		holes = true;
	join->gap = holes && join->window > join->moment;
	return 0;
}

/* -- changes of pages -------------------------------------------------------- */

static const struct schedtape_cpu *end_of(const struct join *join, uint32_t number)
{
	return tape_end_find(join->tape, number);
}

/*
 * Returns how many events are missing before the first page of this tape; at least 1 if the number
 * is not known, because readers take the time of a loss as unknown only if it has a number.
 */
static uint64_t count_missing(const struct join *join, const struct join_cpu *cpu, uint32_t number)
{
	const struct schedtape_cpu *end = end_of(join, number);
	uint64_t before;

	if (!cpu->hole)
		return cpu->cut;
	if (!join->overwrite || !end)
		return cpu->cut ? cpu->cut : 1;
	/* Events up to the first page, less those up to the end of the last tape. */
	before = end->overwritten + cpu->dropped;
	return before > cpu->total ? before - cpu->total : 1;
}

/* Notes what is missing before @page, which is the first one of this tape that is written. */
static void mark_gap(struct join *join, const struct join_cpu *cpu, uint32_t number, void *page)
{
	uint64_t first = cpu->end > join->moment ? cpu->end : join->moment;

	if (first > join->window)
		first = join->window;
	tape_page_lose(page, count_missing(join, cpu, number), first, join->window);
}

/* Leaves out the first events of a page.  Corrupt pages stay, because readers report them. */
static void cut_page(const struct join *join, struct join_cpu *cpu, unsigned char *page)
{
	int cut = tape_page_cut(page, join->window);

	if (cut <= 0)
		return;
	cpu->dropped += cut;
	cpu->cut += cut;
}

/* Returns how many of a chunk's pages are not wanted, and removes events of the first that is. */
static size_t trim(struct join *join, struct join_cpu *cpu, size_t n)
{
	struct stape_page_header header;
	unsigned char *page = join->pages;
	size_t i;

	for (i = 0; i < n; i++, page += STAPE_PAGE_SIZE) {
		tape_page_header(&header, page);
		if (header.seq < cpu->next) {
			cpu->dropped += header.events;
		} else if (join->gap && header.end < join->window) {
			cpu->dropped += header.events;
			cpu->cut += header.events;
		} else {
			break;
		}
	}
	if (i < n && join->gap && header.time < join->window)
		cut_page(join, cpu, page);
	return i;
}

/* Are these the pages of which the chunk's header speaks? */
static bool pages_fit(const struct join *join, const struct tape_index *index)
{
	struct stape_page_header header;
	size_t i;

	for (i = 0; i < index->pages; i++)
		if (!tape_page_header(&header, join->pages + i * STAPE_PAGE_SIZE) ||
		    header.cpu != index->cpu || header.seq != index->seq + i)
			return false;
	return true;
}

/* -- chunks ------------------------------------------------------------------ */

static void note_chunk(struct join *join, struct tape_index *index, const char *why)
{
	tape_note(join->tape, "%sbyte %" PRIu64 ": damaged chunk: %s",
		  join->tape->files[index->file].name, index->offset, why);
	index->damaged = true;
}

static void lose(struct schedtape_cpu *counts, uint64_t lost, uint64_t first, uint64_t last)
{
	if (!counts->lost_last || first < counts->lost_first)
		counts->lost_first = first;
	if (last > counts->lost_last)
		counts->lost_last = last;
	counts->lost += lost;
}

/* Counts the pages from number @i on, which are written. */
static void count_pages(struct join *join, struct join_cpu *cpu, size_t i, size_t n)
{
	struct stape_page_header header;

	for (; i < n; i++) {
		tape_page_header(&header, join->pages + i * STAPE_PAGE_SIZE);
		cpu->counts.events += header.events;
		if (header.lost)
			lose(&cpu->counts, header.lost, header.lost_first, header.lost_last);
	}
}

/* Writes the chunk in the decoder, of which some pages or events are not wanted. */
static int put_changed(struct join *join, struct join_cpu *cpu, struct tape_index *index,
		       const struct tape_head *head, struct schedtape_error *err)
{
	struct tape_decoder *decoder = &join->tape->decoder;
	const char *why;
	size_t skip;
	int ret;

	ret = tape_payload_unpack(decoder, head, decoder->buffer, join->pages, &why);
	if (ret == -EBADMSG || (!ret && !pages_fit(join, index))) {
		note_chunk(join, index, ret ? why : "its pages are others");
		return 0;
	}
	if (ret)
		return schedtape_fail(err, ret, "%s: %s", join->part->path, strerror(-ret));
	skip = trim(join, cpu, index->pages);
	if (skip == index->pages)
		return 0;
	if (cpu->fresh && join->gap)
		mark_gap(join, cpu, index->cpu, join->pages + skip * STAPE_PAGE_SIZE);
	count_pages(join, cpu, skip, index->pages);
	cpu->fresh = false;
	return schedtape_writer_pages(join->writer, join->pages + skip * STAPE_PAGE_SIZE,
				      index->pages - skip, err);
}

/* Writes the chunk in the decoder as it is. */
static int put_whole(struct join *join, struct join_cpu *cpu, const struct tape_index *index,
		     const struct tape_head *head, struct schedtape_error *err)
{
	cpu->counts.events += index->events;
	cpu->counts.lost += index->lost;
	/* Only the pages have the exact times, which lie in between. */
	if (index->lost && !cpu->counts.lost_last)
		cpu->counts.lost_first = cpu->end ? cpu->end : index->time;
	if (index->lost && index->end > cpu->counts.lost_last)
		cpu->counts.lost_last = index->end;
	cpu->fresh = false;
	return tape_copy_record(join->tape, head, join->writer, err);
}

/* Does the chunk need a change? */
static bool changes(const struct join *join, const struct join_cpu *cpu,
		    const struct tape_index *index)
{
	if (index->seq < cpu->next)
		return true;
	return join->gap && (index->time < join->window ||
			     (cpu->fresh && (cpu->hole || cpu->cut)));
}

static int put_chunk(struct join *join, struct tape_index *index, struct schedtape_error *err)
{
	struct join_cpu *cpu = get_cpu(join, index->cpu);
	struct tape_head head;
	int ret;

	if (index->seq + index->pages <= cpu->next) {
		cpu->dropped += index->events;
		return 0;
	}
	ret = tape_copy_read(join->tape, index, true, &head, err);
	if (ret)
		return ret == -EBADMSG ? 0 : ret;
	join->done += head.next - head.offset;
	if (changes(join, cpu, index))
		ret = put_changed(join, cpu, index, &head, err);
	else
		ret = put_whole(join, cpu, index, &head, err);
	if (index->damaged || ret)
		return ret;
	cpu->next = index->seq + index->pages;
	if (!cpu->fresh)
		cpu->end = index->end;
	return 0;
}

/* -- all of them ------------------------------------------------------------- */

/* No record that follows has an event before @time. */
static int put_progress(struct join *join, uint64_t time, struct schedtape_error *err)
{
	struct schedtape_progress progress = {
		.size = sizeof(progress),
		.time = time < join->part->next_time ? time : join->part->next_time,
		.start_time = join->end.start_time,
		.window_start = join->end.window_start,
	};

	join->marked = join->writer->bytes;
	return schedtape_writer_progress(join->writer, &progress, err);
}

static int report(const struct join *join, struct schedtape_error *err)
{
	const struct tape_join_options *options = join->options;
	int ret = options->progress ? options->progress(options->arg, join->done, join->all) : 0;

	return ret ? schedtape_fail(err, ret, "the merge was ended: %s", strerror(-ret)) : 0;
}

int join_chunks(struct join *join, struct schedtape_error *err)
{
	size_t *order = tape_copy_order(join->tape), i;
	struct tape_index *index;
	int ret = 0;

	if (!order)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	if (!join->later)
		ret = put_progress(join, 0, err);
	for (i = 0; i < join->tape->nr_index && !ret; i++) {
		index = &join->tape->index[order[i]];
		if (join->writer->bytes - join->marked >= SCHEDTAPE_PROGRESS_BYTES)
			ret = put_progress(join, index->time, err);
		if (!ret)
			ret = put_chunk(join, index, err);
		if (!ret)
			ret = report(join, err);
	}
	free(order);
	return ret;
}

/* -- counts ------------------------------------------------------------------ */

/*
 * Counts what is missing of a CPU besides the losses in its pages: behind the last one; in chunks
 * that are damaged; and before this tape, if nothing of the CPU is on it.
 */
static void count_rest(struct join *join, const struct tape_cursor *c)
{
	struct join_cpu *cpu = get_cpu(join, c->cpu);
	struct schedtape_cpu end = *c->end;
	uint64_t total = end.events + end.overwritten, told = 0;
	size_t i;

	cpu->counts.cpu = c->cpu;
	if (!cpu->known)
		cpu->counts.overwritten = join->later ? 0 : end.overwritten;
	cpu->known = true;
	tape_lost_count(join->tape, c, &end);
	for (i = c->chunks_first; i < c->chunks_end; i++)
		told += join->tape->index[i].damaged ? 0 : join->tape->index[i].lost;
	if (end.lost > told)
		lose(&cpu->counts, end.lost - told, end.lost_first, end.lost_last);
	if (join->overwrite && join->later && cpu->fresh && join->window > join->moment &&
	    total > cpu->total)
		lose(&cpu->counts, total - cpu->total, join->moment, join->window);
	cpu->total = total > cpu->total ? total : cpu->total;
}

/*
 * Counts a loss before this tape of a CPU that has no page on it.  Tapes without a number of all
 * events do not say how many there are.
 */
static void count_unknown(const struct join *join, struct join_cpu *cpu)
{
	if (!join->overwrite && join->gap && cpu->known && cpu->hole && cpu->fresh)
		lose(&cpu->counts, cpu->cut ? cpu->cut : 1, join->moment, join->window);
}

void join_chunks_end(struct join *join)
{
	size_t i;

	for (i = 0; i < join->tape->nr_cursors; i++)
		if (join->tape->cursors[i].end)
			count_rest(join, &join->tape->cursors[i]);
	for (i = 0; i < join->nr_cpus; i++)
		count_unknown(join, &join->cpus[i]);
}
