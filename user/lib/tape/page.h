/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ring pages: their events, several at a time, and changes of their headers.  Pages have the byte
 * order of the machine that recorded them.
 */
#ifndef SCHEDTAPE_TAPE_PAGE_H
#define SCHEDTAPE_TAPE_PAGE_H

#include <byteswap.h>
#include <stdbool.h>
#include <string.h>

#include <schedtape-tape.h>

/* Returns the word at byte @at, in this machine's byte order. */
static inline uint64_t page_word(const struct schedtape_page *page, uint32_t at)
{
	uint64_t word;

	memcpy(&word, page->data + at, sizeof(word));
	return page->swap ? bswap_64(word) : word;
}

/* Returns the time from the first event of a STAPE_EV_WAKE word to the second one. */
static inline uint64_t page_wakeup_step(uint64_t word)
{
	return word >> STAPE_WAKE_WAKEUP_SHIFT & STAPE_WAKE_WAKEUP_MASK;
}

/* Unpacks the header of a page in either byte order.  Returns false if this is no page. */
bool tape_page_header(struct stape_page_header *header, const void *page);
/* Packs a header in the byte order that the page has. */
void tape_page_set_header(void *page, const struct stape_page_header *header);

#define TAPE_BATCH	64	/* events, few enough for the CPU's first cache */

/*
 * Reads as many events as are not detailed, @most at most, and sets @n to their number.  Returns
 * 1: @ev is the event behind them, which is detailed; it may be a STAPE_EV_SET that this version
 * does not know: bits 4 and up of its argument are what it sets; 0: there is none, because @n is
 * @most or because the page is at its end; -EBADMSG: the rest of the page is corrupt.
 */
int tape_page_briefs(struct schedtape_page *page, struct schedtape_brief *briefs,
		     unsigned int most, unsigned int *n, struct schedtape_event *ev,
		     struct schedtape_error *err);

/* Returns what a STAPE_EV_TASK says, without an affinity, as if it had been listed then. */
struct schedtape_task_info tape_described(const struct schedtape_event *ev);

/*
 * cut.c: removes the events before @time, by the session's clock, of a page that has some.  What
 * ran before the first event that is left is in the header then.  Returns how many were removed;
 * -EBADMSG: the page is corrupt, and has not been changed.
 */
int tape_page_cut(void *page, uint64_t time);
/*
 * Notes in a page's header that @lost events are missing before it, from @first to @last, by the
 * session's clock, besides those that the page tells of already.
 */
void tape_page_lose(void *page, uint64_t lost, uint64_t first, uint64_t last);

#endif /* SCHEDTAPE_TAPE_PAGE_H */
