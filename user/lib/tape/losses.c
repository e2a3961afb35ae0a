// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Missing events: those that the end record counts but no valid chunk has.  They were
 * between chunks of a CPU whose numbers are not consecutive, or in a corrupt chunk, whose
 * header is used if it is possible.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>

#include "tape/clock.h"
#include "tape/cursors.h"
#include "tape/losses.h"
#include "tape/tape.h"

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* -- headers of corrupt chunks --------------------------------------------- */

/* Can @b come after @a in a CPU's stream?  @a comes earlier in the files. */
static bool follows(const struct tape_index *a, const struct tape_index *b)
{
	return a->end <= b->time && a->seq <= b->seq && b->seq - a->seq >= a->pages;
}

/* Do the end records, sorted by CPU, count events of this CPU? */
static bool end_knows(const struct schedtape_tape *tape, uint32_t cpu)
{
	size_t low = 0, high = tape->nr_cpus, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (tape->cpus[middle].cpu == cpu)
			return tape->cpus[middle].events;
		if (tape_cpu_compare(tape->cpus[middle].cpu, cpu) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Is the chunk within the recording?  The end of a truncated tape is not known. */
static bool in_time(const struct schedtape_tape *tape, const struct tape_index *index)
{
	return !tape->ended || (index->time >= tape->first && index->end <= tape->last);
}

void tape_lost_fit(struct schedtape_tape *tape)
{
	const struct tape_index *before, *behind;
	struct tape_index *index = tape->index;
	size_t i, next = 0, n = 0;
	bool fits;

	for (i = 0; i < tape->nr_index; i++) {
		if (next <= i)
			next = i + 1;
		while (next < tape->nr_index && index[next].cpu == index[i].cpu &&
		       index[next].damaged)
			next++;
		before = n && index[n - 1].cpu == index[i].cpu ? &index[n - 1] : NULL;
		behind = next < tape->nr_index && index[next].cpu == index[i].cpu ?
			 &index[next] : NULL;
		fits = in_time(tape, &index[i]) &&
		       (!before || follows(before, &index[i])) &&
		       (!behind || follows(&index[i], behind)) &&
		       (before || behind || !tape->ended || end_knows(tape, index[i].cpu));
		if (!fits && index[i].damaged)
			continue;
		index[n] = index[i];
		/* No end record can confirm the number of lost events. */
		if (index[i].damaged && !end_knows(tape, index[i].cpu))
			index[n].lost = 0;
		n++;
	}
	tape->nr_index = n;
}

/* -- what is missing in each stream ---------------------------------------- */

static void gap_add(struct tape_sums *sums, uint64_t first, uint64_t last)
{
	if (!sums->gap_last || first < sums->gap_first)
		sums->gap_first = first;
	if (last > sums->gap_last)
		sums->gap_last = last;
}

/* Only the pages have the exact times of their losses, which lie between these two. */
static void lost_add(struct tape_sums *sums, const struct tape_index *index)
{
	if (!index->lost)
		return;
	if (!sums->lost)
		sums->lost_first = sums->started ? sums->time : index->time;
	sums->lost_last = index->end;
	sums->lost = add_up(sums->lost, index->lost);
}

void tape_sums_add(struct tape_sums *sums, const struct tape_index *index)
{
	sums->end = index->end;
	if (!tape_index_counts(index))
		return;
	if (index->damaged) {
		sums->claimed = add_up(sums->claimed, add_up(index->events, index->lost));
		gap_add(sums, index->time, index->end);
		return;
	}
	if (!sums->started) {
		sums->first_seq = index->seq;
		sums->first_time = index->time;
	} else if (index->seq != sums->seq) {
		gap_add(sums, sums->time, index->time);
	}
	lost_add(sums, index);
	sums->events = add_up(sums->events, index->events);
	sums->started = true;
	sums->seq = index->seq + index->pages;
	sums->time = index->end;
}

static struct tape_sums cursor_sums(const struct schedtape_tape *tape, const struct tape_cursor *c)
{
	struct tape_sums sums = c->sums;
	size_t i;

	for (i = c->chunks_first; i < c->chunks_end; i++)
		tape_sums_add(&sums, &tape->index[i]);
	return sums;
}

/* Counts places where chunks are missing, without those in corrupt chunks that are not believed. */
static void cursor_holes(struct schedtape_tape *tape, struct tape_cursor *c, bool believed)
{
	struct tape_index *index;
	bool first = true;
	uint64_t seq = 0;
	size_t i;

	for (i = c->chunks_first; i < c->chunks_end; i++) {
		index = &tape->index[i];
		if (index->damaged && !believed) {
			index->events = 0;
			index->lost = 0;
		}
		if (!tape_index_counts(index))
			continue;
		c->holes += first ? tape_hole_first(c, index->seq) : index->seq != seq;
		first = false;
		seq = index->seq + index->pages;
	}
}

/*
 * Counts events that no valid chunk has or counts as lost.  If the CPU's last loss is later
 * than all chunks, missing losses are put there.  All others are in corrupt chunks or holes.
 */
static void cursor_count(struct schedtape_tape *tape, struct tape_cursor *c)
{
	const struct schedtape_cpu *end = c->end;
	struct tape_sums sums = cursor_sums(tape, c);
	uint64_t missing = end->events > sums.events ? end->events - sums.events : 0;
	uint64_t untold = end->lost > sums.lost ? end->lost - sums.lost : 0;
	bool believed = sums.claimed <= add_up(missing, untold);

	c->missing = add_up(missing, untold) - (believed ? sums.claimed : 0);
	if (untold && end->lost_last >= sums.end)
		c->behind = untold < c->missing ? untold : c->missing;
	c->missing -= c->behind;
	cursor_holes(tape, c, believed);
}

void tape_lost_add(struct schedtape_cpu *cpu, uint64_t events, uint64_t first, uint64_t last)
{
	if (!cpu->lost || first < cpu->lost_first)
		cpu->lost_first = first;
	if (last > cpu->lost_last)
		cpu->lost_last = last;
	if (cpu->lost_first > cpu->lost_last)
		cpu->lost_first = cpu->lost_last;
	cpu->lost = add_up(cpu->lost, events);
}

/*
 * Counts events that are not in valid chunks as lost.  They were in corrupt chunks, or where
 * chunks are not consecutive.  If there is no such place, they were behind the last chunk, or
 * for an overwritten ring, at any time.
 */
void tape_lost_count(const struct schedtape_tape *tape, const struct tape_cursor *c,
		     struct schedtape_cpu *cpu)
{
	struct tape_sums sums = cursor_sums(tape, c);
	uint64_t time = sums.started ? sums.time : tape->first;

	if (sums.started && sums.first_seq && !cpu->overwritten && !c->any_first)
		gap_add(&sums, tape->first, sums.first_time);
	if (cpu->events > sums.events)
		tape_lost_add(cpu, cpu->events - sums.events,
			      sums.gap_last ? sums.gap_first :
			      cpu->overwritten || c->any_first ? tape->first : time,
			      sums.gap_last ? sums.gap_last : tape->last);
	cpu->events = sums.events;
}

void tape_lost_update(struct schedtape_tape *tape, const struct tape_cursor *c)
{
	struct schedtape_cpu *cpu = &tape->end_cpus[c->end - tape->cpus];

	*cpu = *c->end;
	tape_lost_count(tape, c, cpu);
	if (!cpu->lost)
		return;
	cpu->lost_first = tape_clocks_ns(&tape->clocks, cpu->lost_first);
	cpu->lost_last = tape_clocks_ns(&tape->clocks, cpu->lost_last);
}

/* Makes a CPU that no end record has from its chunks, as tape_end_finish() does for a file. */
static void cursor_guess(struct schedtape_tape *tape, const struct tape_cursor *c)
{
	struct schedtape_cpu *cpu = &tape->cpus[c->end - tape->cpus];

	cpu->events = add_up(c->sums.events, c->sums.claimed);
	cpu->lost = c->sums.lost;
	cpu->lost_first = c->sums.lost_first;
	cpu->lost_last = c->sums.lost_last;
}

void tape_lost_finish(struct schedtape_tape *tape, struct tape_cursor *c)
{
	if (!c->live || c->counted)
		return;
	c->counted = true;
	if (c->guessed)
		cursor_guess(tape, c);
	cursor_count(tape, c);
	tape_lost_update(tape, c);
}

/* Sets the CPUs that the caller gets.  What a pipe's cursors miss is not counted yet. */
int tape_lost_init(struct schedtape_tape *tape)
{
	size_t i;

	tape->end_cpus = calloc(tape->nr_cpus + 1, sizeof(*tape->end_cpus));
	if (!tape->end_cpus)
		return -ENOMEM;
	for (i = 0; i < tape->nr_cpus; i++)
		tape->end_cpus[i] = tape->cpus[i];
	for (i = 0; i < tape->nr_cursors && !tape->stream; i++) {
		cursor_count(tape, &tape->cursors[i]);
		tape_lost_update(tape, &tape->cursors[i]);
	}
	tape->end.cpus = tape->end_cpus;
	tape->end.nr_cpus = tape->nr_cpus;
	return 0;
}
