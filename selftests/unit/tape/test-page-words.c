// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: an extension word belongs to the next event, and to no other.
 */
#include <schedtape.h>

#include "maker.h"
#include "tap.h"

int main(void)
{
	static unsigned char memory[STAPE_PAGE_SIZE];
	const uint64_t large = 5ULL << 20 | 3;
	struct schedtape_error err;
	struct schedtape_event ev;
	struct schedtape_page page;
	struct maker m;

	maker_begin(&m, memory, 0, 0, 0);
	maker_event(&m, 1, STAPE_EV_MIGRATE, 1, large);
	maker_event(&m, 2, STAPE_EV_MIGRATE, 1, 7);
	/* A field of a later version: it is skipped. */
	maker_event(&m, 3, STAPE_EV_SET, 1, 1ULL << 30);
	maker_event(&m, 4, STAPE_EV_MIGRATE, 1, 9);
	ok(!schedtape_page_open(&page, memory, &err), "a page");
	ok(schedtape_page_next(&page, &ev, &err) == 1 && ev.arg == large,
	   "an extension word has the upper bits");
	ok(schedtape_page_next(&page, &ev, &err) == 1 && ev.arg == 7, "of one event only");
	ok(schedtape_page_next(&page, &ev, &err) == 1 && ev.time == 4 && ev.arg == 9,
	   "also if that event is skipped");
	ok(!schedtape_page_next(&page, &ev, &err), "and no more");
	return tap_done();
}
