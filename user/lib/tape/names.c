// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tape/names.h"

#include <string.h>

#include "tape/page.h"

#define WORD	sizeof(uint64_t)

/* @at: where the payload of @words is. */
static void read_name(struct tape_names *names, const struct schedtape_page *page, uint32_t at,
		      unsigned int words)
{
	uint64_t id = page_word(page, at + STAPE_CGROUP_ID * WORD);
	size_t n = (words - STAPE_CGROUP_NAME) * WORD;

	if (id != names->id)
		names->n = 0;
	names->id = id;
	if (n > sizeof(names->name) - names->n)
		n = sizeof(names->name) - names->n;
	memcpy(names->name + names->n, page->data + at + STAPE_CGROUP_NAME * WORD, n);
	names->n += n;
	if (!memchr(names->name, '\0', names->n))
		return;
	names->each(names->arg, id, page_word(page, at + STAPE_CGROUP_PARENT * WORD), names->name);
	names->id = 0;
}

void tape_names_read(struct tape_names *names, const void *data)
{
	struct schedtape_brief briefs[TAPE_BATCH];
	struct schedtape_event ev;
	struct schedtape_page page;
	unsigned int n, words;
	int ret;

	if (schedtape_page_open(&page, data, NULL))
		return;
	do {
		ret = tape_page_briefs(&page, briefs, TAPE_BATCH, &n, &ev, NULL);
		if (ret <= 0 || ev.type != STAPE_EV_SET)
			continue;
		words = ev.arg & STAPE_PAYLOAD_MASK;
		if (words > STAPE_CGROUP_NAME && ev.arg >> STAPE_SET_SHIFT == STAPE_SET_CGROUP)
			read_name(names, &page, page.at - words * WORD, words);
	} while (ret > 0 || n == TAPE_BATCH);
}
