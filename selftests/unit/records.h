/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of a tape, made from any records in any order. */
#ifndef SELFTESTS_RECORDS_H
#define SELFTESTS_RECORDS_H

#include "tapes.h"

#define META		1
#define TASKS		2
#define CHUNK		3
#define END		4
#define CLOCK		5
#define SCHEDULER	6
#define PLAYERS		7
#define PROGRESS	9
#define CGROUPS		10

#define PAGE_EVENTS	20	/* in each page of records_page() */
#define PAGE_NS		200	/* from its first event to after its last one */

struct records {
	unsigned char *data;
	size_t size, room;
};

static inline unsigned char *records_grow(struct records *r, size_t bytes)
{
	unsigned char *at;

	if (r->size + bytes > r->room) {
		r->room = 2 * (r->size + bytes);
		r->data = realloc(r->data, r->room);
		if (!r->data)
			abort();
	}
	at = r->data + r->size;
	memset(at, 0, bytes);
	r->size += bytes;
	return at;
}

static inline void records_begin(struct records *r)
{
	unsigned char *header;

	r->size = 0;
	header = records_grow(r, 32);
	memcpy(header, "SCHEDTAP", 8);
	put16(header + 8, 2);
	put32(header + 12, 32);
	seal_header(header);
}

/* @raw: size of the decompressed payload; @bytes: size if it is not compressed. */
static inline unsigned char *records_put(struct records *r, unsigned int type,
					 const void *extra, size_t extra_bytes,
					 const void *payload, size_t bytes, size_t raw)
{
	unsigned char *record = records_grow(r, (32 + extra_bytes + bytes + 7) & ~(size_t)7);

	memcpy(record, "STrc", 4);
	put16(record + 4, type);
	put16(record + 6, raw != bytes);
	put32(record + 8, extra_bytes);
	put32(record + 12, bytes);
	put32(record + 16, raw);
	if (extra_bytes)
		memcpy(record + 32, extra, extra_bytes);
	memcpy(record + 32 + extra_bytes, payload, bytes);
	seal_record(record);
	return record;
}

static inline void records_text(struct records *r, unsigned int type, const char *text)
{
	records_put(r, type, NULL, 0, text, strlen(text), strlen(text));
}

static inline void records_player(struct records *r, uint32_t pid)
{
	unsigned char player[32] = { 0 };

	put32(player, sizeof(player));
	put32(player + 4, pid);
	records_put(r, PLAYERS, NULL, 0, player, sizeof(player), sizeof(player));
}

static inline void records_task(struct records *r, uint32_t pid)
{
	unsigned char task[96] = { 0 };

	put32(task, sizeof(task));
	put32(task + 4, sizeof(task));
	put32(task + 32, pid);
	records_put(r, TASKS, NULL, 0, task, sizeof(task), sizeof(task));
}

/* Adds a sample of a clock that counts ns. */
static inline void records_clock(struct records *r, uint64_t time)
{
	unsigned char clock[48] = { 0 };

	put32(clock, sizeof(clock));
	put64(clock + 16, time);
	put64(clock + 24, time);
	records_put(r, CLOCK, NULL, 0, clock, sizeof(clock), sizeof(clock));
}

/* Makes a page with PAGE_EVENTS events, the first of them at @time. */
static inline void records_page(unsigned char *page, uint32_t cpu, uint64_t seq, uint64_t time)
{
	struct maker m;
	unsigned int i;

	maker_begin(&m, page, cpu, seq, time);
	for (i = 0; i < PAGE_EVENTS; i++)
		maker_event(&m, time + i * 10, STAPE_EV_WAKEUP, 100, i);
}

/*
 * Adds a chunk with one page and returns its place. Seal the chunk after a change, or it is
 * corrupt. Adding more records moves it.
 */
static inline unsigned char *records_chunk(struct records *r, uint32_t cpu, uint64_t seq,
					   uint64_t time)
{
	unsigned char page[STAPE_PAGE_SIZE], chunk[48] = { 0 };

	records_page(page, cpu, seq, time);
	put32(chunk, cpu);
	put32(chunk + 4, 1);
	put64(chunk + 8, seq);
	put64(chunk + 16, time);
	put64(chunk + 24, time + (PAGE_EVENTS - 1) * 10);
	put64(chunk + 32, PAGE_EVENTS);
	return records_put(r, CHUNK, chunk, sizeof(chunk), page, sizeof(page), sizeof(page));
}

/* Makes one byte of the chunk's page wrong. */
static inline void records_damage(unsigned char *chunk)
{
	chunk[32 + 48 + 100] ^= 1;
}

/* Adds the end of a recording from 500 to 60000, of one CPU. */
static inline void records_end(struct records *r, uint32_t cpu, uint64_t events,
			       uint64_t overwritten, uint64_t window)
{
	char text[256];

	snprintf(text, sizeof(text), "{\"start_time\":500,\"stop_time\":60000,"
		 "\"window_start\":%llu,\"cpus\":[{\"cpu\":%u,\"events\":%llu,\"lost\":0,"
		 "\"lost_first\":0,\"lost_last\":0,\"overwritten\":%llu}]}",
		 (unsigned long long)window, cpu, (unsigned long long)events,
		 (unsigned long long)overwritten);
	records_text(r, END, text);
}

#endif /* SELFTESTS_RECORDS_H */
