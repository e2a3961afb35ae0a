// SPDX-License-Identifier: GPL-2.0-only
#include "recover/internal.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/list.h"
#include "common/signals.h"

/* -- the pages ------------------------------------------------------------- */

static struct found_page *add_page(struct found *found)
{
	struct found_page *pages = schedtape_list_grow(found->pages, found->nr_pages, &found->room,
						       sizeof(*pages));

	if (!pages)
		return NULL;
	found->pages = pages;
	return &found->pages[found->nr_pages++];
}

static bool has_magic(const struct stape_dump_header *h, bool swapped)
{
	uint64_t first = swapped ? bswap_64(h->magic[0]) : h->magic[0];
	uint64_t second = swapped ? bswap_64(h->magic[1]) : h->magic[1];

	return first == STAPE_DUMP_MAGIC_0 && second == STAPE_DUMP_MAGIC_1;
}

/*
 * Returns whether this version can read the page; counts those of other versions and byte
 * orders.
 */
static bool is_known(struct found *found, const struct stape_dump_header *h, uint64_t address)
{
	bool swapped = has_magic(h, true);

	if (!swapped && !has_magic(h, false))
		return false;
	/* A copy, in the memory of a program that reads dumps, say. */
	if ((swapped ? bswap_64(h->address) : h->address) != address)
		return false;
	if (swapped) {
		found->swapped++;
		return false;
	}
	if (h->version != STAPE_DUMP_VERSION) {
		found->unknown++;
		return false;
	}
	return h->kind == STAPE_DUMP_SESSION || h->kind == STAPE_DUMP_RING;
}

static int take_page(struct found *found, const struct memory *memory, uint64_t address)
{
	struct stape_dump_ring ring = { 0 };
	struct found_page *page;

	if (!memory_read(memory, address, &ring.header, sizeof(ring.header)) ||
	    !is_known(found, &ring.header, address))
		return 0;
	if (ring.header.kind == STAPE_DUMP_RING &&
	    !memory_read(memory, address, &ring, offsetof(struct stape_dump_ring, addresses)))
		return 0;
	page = add_page(found);
	if (!page)
		return -ENOMEM;
	*page = (struct found_page){
		.address = address,
		.load = ring.header.load,
		.loaded = ring.header.loaded,
		.session = ring.header.session,
		.kind = ring.header.kind,
		.cpu = ring.cpu,
		.first = ring.first,
	};
	return 0;
}

static int take_pages(struct found *found, const struct memory *memory)
{
	uint64_t address = 0, n = 0;
	int ret;

	while (memory->next(memory->arg, &address)) {
		ret = take_page(found, memory, address);
		if (ret)
			return ret;
		if (!(++n % 1024) && signals_pending())
			return -EINTR;
		address += STAPE_PAGE_SIZE;
		if (!address)
			break;
	}
	return 0;
}

/* -- loads ----------------------------------------------------------------- */

static int compare_loads(const struct found_page *x, const struct found_page *y)
{
	if (x->loaded != y->loaded)
		return x->loaded > y->loaded ? -1 : 1;
	return x->load < y->load ? -1 : x->load > y->load;
}

/*
 * By load, the latest first, then by session; its own page comes first, then the rings by CPU, the
 * descriptions last.
 */
static int compare(const void *a, const void *b)
{
	const struct found_page *x = a, *y = b;

	if (compare_loads(x, y))
		return compare_loads(x, y);
	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Sorts the pages and makes the loads of them. */
static int add_loads(struct found *found)
{
	const struct found_page *pages = found->pages;
	size_t i, n = 0;

	qsort(found->pages, found->nr_pages, sizeof(*found->pages), compare);
	for (i = 0; i < found->nr_pages; i++)
		n += !i || compare_loads(&pages[i], &pages[i - 1]);
	found->loads = calloc(n, sizeof(*found->loads));
	if (!found->loads)
		return -ENOMEM;
	for (i = 0; i < found->nr_pages; i++) {
		if (!i || compare_loads(&pages[i], &pages[i - 1]))
			found->loads[found->nr_loads++] = (struct found_load){
				.loaded = pages[i].loaded,
				.pages = &pages[i],
			};
		found->loads[found->nr_loads - 1].nr_pages++;
	}
	return 0;
}

int found_search(struct found *found, const struct memory *memory, struct schedtape_error *err)
{
	int ret;

	*found = (struct found){ 0 };
	ret = take_pages(found, memory);
	if (!ret && found->nr_pages)
		ret = add_loads(found);
	if (ret == -ENOMEM)
		schedtape_fail(err, ret, "out of memory");
	return ret;
}

/* -- sessions -------------------------------------------------------------- */

static size_t count_rings(const struct found_page *pages, size_t n)
{
	size_t i, rings = 1;

	for (i = 1; i < n; i++)
		rings += pages[i].cpu != pages[i - 1].cpu;
	return rings;
}

/* Makes rings of the @n pages that list their pages. */
static int add_rings(struct found_session *session, const struct found_page *pages, size_t n)
{
	size_t i;

	session->rings = calloc(count_rings(pages, n), sizeof(*session->rings));
	if (!session->rings)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (!i || pages[i].cpu != pages[i - 1].cpu)
			session->rings[session->nr_rings++] = (struct found_ring){
				.cpu = pages[i].cpu,
				.lists = &pages[i],
			};
		session->rings[session->nr_rings - 1].nr_lists++;
	}
	return 0;
}

static void end_text(char text[STAPE_DUMP_TEXT])
{
	text[STAPE_DUMP_TEXT - 1] = '\0';
}

/* Adds the session that has these @n pages. */
static int add_session(struct found *found, const struct memory *memory,
		       const struct found_page *pages, size_t n)
{
	struct found_session *session = &found->sessions[found->nr_sessions];
	size_t own = 0;

	while (own < n && pages[own].kind == STAPE_DUMP_SESSION)
		own++;
	if (!own || own == n ||
	    !memory_read(memory, pages[0].address, &session->page, sizeof(session->page))) {
		found->incomplete++;
		return 0;
	}
	end_text(session->page.release);
	end_text(session->page.kernel_version);
	end_text(session->page.machine);
	found->nr_sessions++;
	return add_rings(session, pages + own, n - own);
}

/* There is at least one page. */
static size_t count_sessions(const struct found_load *load)
{
	size_t i, n = 1;

	for (i = 1; i < load->nr_pages; i++)
		n += load->pages[i].session != load->pages[i - 1].session;
	return n;
}

static int add_sessions(struct found *found, const struct memory *memory,
			const struct found_load *load)
{
	const struct found_page *pages = load->pages;
	size_t begin, end;
	int ret = 0;

	found->sessions = calloc(count_sessions(load), sizeof(*found->sessions));
	if (!found->sessions)
		return -ENOMEM;
	for (begin = 0; begin < load->nr_pages && !ret; begin = end) {
		end = begin + 1;
		while (end < load->nr_pages && pages[end].session == pages[begin].session)
			end++;
		ret = add_session(found, memory, pages + begin, end - begin);
	}
	return ret;
}

static void free_sessions(struct found *found)
{
	while (found->nr_sessions)
		free(found->sessions[--found->nr_sessions].rings);
	free(found->sessions);
	found->sessions = NULL;
}

/* Sets the sessions to those of load @load, an index.  Returns 0 or -ENOMEM. */
static int use_load(struct found *found, const struct memory *memory, size_t load,
		    struct schedtape_error *err)
{
	int ret;

	free_sessions(found);
	found->incomplete = 0;
	found->load = load;
	ret = add_sessions(found, memory, &found->loads[load]);
	return ret ? schedtape_fail(err, ret, "out of memory") : 0;
}

void found_free(struct found *found)
{
	free_sessions(found);
	free(found->loads);
	free(found->pages);
}

/* -- the choice of a load -------------------------------------------------- */

/*
 * Memory may keep pages of an earlier boot, and the machine's real-time clock may have been wrong
 * when the module was loaded.  Any program may have pages that claim a late load.  So a load counts
 * only if there is something to recover.
 */

static bool has_ring(const struct memory *memory, const struct found_session *session)
{
	size_t i;

	for (i = 0; i < session->nr_rings; i++)
		if (ring_is_readable(memory, &session->rings[i]))
			return true;
	return false;
}

static bool has_session(const struct found *found, const struct memory *memory)
{
	size_t i;

	for (i = 0; i < found->nr_sessions; i++)
		if (has_ring(memory, &found->sessions[i]))
			return true;
	return false;
}

int found_choose(struct found *found, const struct memory *memory, size_t number,
		 struct schedtape_error *err)
{
	size_t i;
	int ret;

	if (number > found->nr_loads)
		return schedtape_fail(err, -ENOENT, "there was no load %zu of the module: the dump "
				      "has %zu", number, found->nr_loads);
	if (number)
		return use_load(found, memory, number - 1, err);
	for (i = 0; i < found->nr_loads; i++) {
		ret = use_load(found, memory, i, err);
		if (ret || has_session(found, memory))
			return ret;
	}
	return found->nr_loads ? use_load(found, memory, 0, err) : 0;
}
