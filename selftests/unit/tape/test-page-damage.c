// SPDX-License-Identifier: GPL-2.0-only
/* Description: pages of the other byte order decode as well, and damage is reported. */
#include "page.h"

static void make_mixed(struct maker *m)
{
	maker_begin(m, page, 4095, 1ULL << 40, 1ULL << 50);
	m->header.curr = 70;
	m->header.curr_kind = STAPE_NEXT_TASK;
	maker_paused(m, 1000, 2000);
	maker_lost(m, 3, 1000, 2000);
	maker_event(m, (1ULL << 50) + 1, STAPE_EV_WAKEUP, 71, 2047);
	maker_wake(m, (1ULL << 50) + 2, 71, STAPE_CTX_SOFTIRQ, (1ULL << 50) + 9, 200);
	maker_rename(m, (1ULL << 51), 70, "abcdefghijklmno");
	maker_switch(m, (1ULL << 51) + 2, 71, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	maker_exec(m, (1ULL << 51) + 3, 72, 71);
	maker_prio(m, (1ULL << 51) + 3, 72, maker_prio_word(1, -7, 13, 86, true));
	make_task(m, (1ULL << 51) + 4, 72, STAPE_TASK_EXITS);
	maker_event(m, (1ULL << 51) + 4, STAPE_EV_EXIT, 72, 0);
}

TEST(swapped)
{
	unsigned char other[STAPE_PAGE_SIZE + 1];
	struct schedtape_page one, two;
	struct schedtape_event a, b;
	unsigned int same = 0;
	struct maker m;
	int ret;

	make_mixed(&m);
	memcpy(other + 1, page, sizeof(page));
	maker_swap_page(other + 1);
	ok(!schedtape_page_open(&one, page, &err) && !one.swap, "this machine's order");
	ok(!schedtape_page_open(&two, other + 1, &err) && two.swap, "the other order, unaligned");
	for (;;) {
		ret = next(&one, &a);
		if (next(&two, &b) != ret || ret < 1 || memcmp(&a, &b, sizeof(a)))
			break;
		same++;
	}
	ok(ret == 0 && same == 11, "both have the same events (%u)", same);

	maker_begin(&m, page, 0, 0, 0);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_finish(&m);
	maker_swap_page(page);
	ok(!schedtape_page_open(&two, page, &err) && two.curr_kind == STAPE_NEXT_OTHER &&
	   !two.header.flags, "halves of a word keep their places");
}

/* Each function breaks a valid page. */
static void break_magic(struct maker *m) { m->header.magic ^= 1; }
static void break_used_small(struct maker *m) { m->header.used = 64; }
static void break_used_large(struct maker *m) { m->header.used = 4104; }
static void break_used_odd(struct maker *m) { m->header.used += 4; }
static void break_events_many(struct maker *m) { m->header.events = 1007; }
static void break_time(struct maker *m) { m->header.time = m->header.end + 1; }
static void break_curr(struct maker *m) { m->header.curr = 1 << 22; }
static void break_curr_none(struct maker *m)
{
	m->header.curr = 0;
}

static void break_kind(struct maker *m) { m->header.curr_kind = 3; }
static void break_lost(struct maker *m) { m->header.lost_first = m->header.lost_last + 1; }
static void break_pause(struct maker *m)
{
	m->header.lost = 0;
	m->header.lost_first = m->header.lost_last + 1;
}

static void break_end(struct maker *m) { m->header.end--; }
static void break_count_more(struct maker *m) { m->header.events++; }
static void break_count_less(struct maker *m) { m->header.events--; }
static void break_zero(struct maker *m) { maker_word(m, 0); }
static void break_prefix(struct maker *m) { maker_word(m, 14ULL << 60 | 1); }
static void break_prefix_time(struct maker *m) { maker_word(m, 15ULL << 60); }
static void break_wrap(struct maker *m)
{
	m->header.end = UINT64_MAX;
	for (int i = 0; i < 17; i++)
		maker_word(m, UINT64_MAX);
	maker_word(m, stape_word(STAPE_EV_EXIT, 0, 1, 0));
	m->header.events++;
}

static void break_payload(struct maker *m)
{
	maker_event(m, m->header.end, 13, 1, 1);
}

static void break_exec(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_EXEC, 1, 0);
}

static void break_exec_pid(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_EXEC, 1, 1);
	maker_word(m, 1ULL << 32 | 7);
}

static void break_rename(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_RENAME, 1, 1);
	maker_word(m, 0x41414141);
}

static void break_prio(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_PRIO, 1, 0);
}

static void break_nice(struct maker *m)
{
	maker_prio(m, m->header.end, 1, 40 << 8);
}

static void break_rt_priority(struct maker *m)
{
	maker_prio(m, m->header.end, 1, maker_prio_word(1, 0, 100, 0, false));
}

static void break_task(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_TASK, 1, 6);
	for (int i = 0; i < 6; i++)
		maker_word(m, 0);
}

static void break_task_word(struct maker *m, unsigned int number, uint64_t word)
{
	uint64_t words[5] = { 0 };

	words[number - 2] = word;
	maker_task(m, m->header.end, 1, STAPE_TASK_ENTERS, "x", words);
}

static void break_task_tgid(struct maker *m) { break_task_word(m, 2, 1 << 22); }
static void break_task_ppid(struct maker *m) { break_task_word(m, 2, 1ULL << 54); }
static void break_task_nice(struct maker *m) { break_task_word(m, 3, 255 << 8); }
static void break_task_rt(struct maker *m) { break_task_word(m, 3, 100 << 16); }
static void break_task_state(struct maker *m) { break_task_word(m, 5, 16); }
static void break_task_ns_pid(struct maker *m) { break_task_word(m, 6, 1ULL << 32); }

/* The first half's time is still valid. */
static void break_wake(struct maker *m)
{
	maker_wake(m, m->header.end, 1, STAPE_CTX_TASK, m->header.end + 5, 0);
	m->header.end--;
}

static void break_switch_kind(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_SWITCH, 0, 3 << 4);
}

static void break_switch_pid(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_SWITCH, 0, STAPE_NEXT_TASK << 4);
}

TEST(damage)
{
	static const struct {
		void (*breaks)(struct maker *m);
		bool opens;
		const char *name;
		const char *says;
	} table[] = {
		{ break_magic, false, "magic number", "magic number" },
		{ break_used_small, false, "shorter than its header", "length" },
		{ break_used_large, false, "longer than a page", "length" },
		{ break_used_odd, false, "half a word", "length" },
		{ break_events_many, false, "more events than words", "more events than fit" },
		{ break_time, false, "ends before it begins", "before it begins" },
		{ break_curr, false, "current PID too large", "current task" },
		{ break_curr_none, false, "a current task without a PID", "current task" },
		{ break_kind, false, "current of an unknown kind", "current task" },
		{ break_lost, false, "losses that end before they begin", "losses end" },
		{ break_pause, false, "a pause that ends before it begins", "losses end" },
		{ break_end, true, "an event after the end", "end time" },
		{ break_count_more, true, "fewer events than counted", "not as many" },
		{ break_count_less, true, "more events than counted", "not as many" },
		{ break_zero, true, "a zero word", "type 0" },
		{ break_wake, true, "a wake whose wakeup is after the end", "end time" },
		{ break_prefix, true, "an argument without an event", "prefix" },
		{ break_prefix_time, true, "a time without an event", "prefix" },
		{ break_wrap, true, "times that wrap", "end time" },
		{ break_payload, true, "payload behind the end", "within an event" },
		{ break_exec, true, "exec without its PID", "payload" },
		{ break_exec_pid, true, "exec with an impossible PID", "old PID" },
		{ break_rename, true, "rename with half a name", "payload" },
		{ break_prio, true, "a priority without its word", "payload" },
		{ break_nice, true, "an impossible nice value", "nice" },
		{ break_rt_priority, true, "an impossible real-time priority", "real-time" },
		{ break_task, true, "a task with a word too few", "payload" },
		{ break_task_tgid, true, "a task with an impossible TGID", "PID" },
		{ break_task_ppid, true, "a task with an impossible parent", "PID" },
		{ break_task_nice, true, "a task with an impossible nice value", "nice" },
		{ break_task_rt, true, "a task with such a priority", "real-time" },
		{ break_task_state, true, "a task in an impossible state", "state" },
		{ break_task_ns_pid, true, "a task with an impossible PID of its own", "PID" },
		{ break_switch_kind, true, "switch to an unknown kind", "impossible task" },
		{ break_switch_pid, true, "switch to a task without a PID", "impossible task" },
	};
	struct schedtape_event ev;
	struct schedtape_page p;
	struct maker m;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		make_mixed(&m);
		table[i].breaks(&m);
		maker_finish(&m);
		err.text[0] = '\0';
		ret = schedtape_page_open(&p, page, &err);
		if (table[i].opens && !ok(!ret, "%s: opens", table[i].name))
			continue;
		while (ret >= 0) {
			ret = next(&p, &ev);
			if (!ret)
				break;
		}
		ok(ret == -EBADMSG && strstr(err.text, table[i].says),
		   "%s: %s", table[i].name, err.text);
		if (table[i].opens)
			ok(next(&p, &ev) == 0, "%s: ends the page", table[i].name);
	}
	ok(schedtape_page_open(&p, page, NULL) == 0, "the struct for the text may be NULL");
}

TEST_MAIN
