// SPDX-License-Identifier: GPL-2.0-only
/* Description: any 4096 bytes decode to valid events, or are refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

/* Affinities, triggers and idle times are not checked: they have other members in these places. */
static bool is_impossible(const struct schedtape_event *ev)
{
	return ev->lost_first > ev->lost_last || ev->nice < -20 || ev->nice > 19 ||
	       ev->rt_priority > 99 || ev->prio < -1 || ev->prio > UINT16_MAX ||
	       ev->tgid > STAPE_PID_MASK || ev->ppid > STAPE_PID_MASK ||
	       ev->ns_pid > STAPE_PID_MASK || ev->state > 15;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schedtape_event ev;
	struct schedtape_error err;
	struct schedtape_page page;
	unsigned int events = 0;
	unsigned char *copy;
	uint64_t time = 0;
	int ret;

	/* A buffer of exactly a page, so that the sanitizer detects an access beyond it. */
	copy = calloc(1, STAPE_PAGE_SIZE);
	if (!copy)
		return 0;
	memcpy(copy, data, size < STAPE_PAGE_SIZE ? size : STAPE_PAGE_SIZE);

	if (schedtape_page_open(&page, copy, &err))
		goto out;
	while ((ret = schedtape_page_next(&page, &ev, &err)) == 1) {
		if (ev.time < time || ev.time > page.header.end || ev.pid > STAPE_PID_MASK ||
		    ev.curr > STAPE_PID_MASK || ev.curr_kind > STAPE_NEXT_OTHER ||
		    ev.comm[STAPE_COMM_LEN - 1] || ++events > STAPE_PAGE_SIZE / 4)
			abort();
		if (ev.type != SCHEDTAPE_EV_AFFINITY && ev.type != SCHEDTAPE_EV_TRIGGER &&
		    ev.type != SCHEDTAPE_EV_IDLE && is_impossible(&ev))
			abort();
		time = ev.time;
		schedtape_event_name(ev.type);
		schedtape_policy_name(ev.policy);
	}
	if (schedtape_page_next(&page, &ev, &err))
		abort();
out:
	free(copy);
	return 0;
}
