// SPDX-License-Identifier: GPL-2.0-only
/* Description: ring pages decode to what was packed, and damage is named. */
#include <errno.h>
#include <stdlib.h>

#include <schedtape.h>

#include "maker.h"
#include "tap.h"

static unsigned char page[STAPE_PAGE_SIZE];
static struct schedtape_error err;

static int next(struct schedtape_page *p, struct schedtape_event *ev)
{
	memset(ev, 0xaa, sizeof(*ev));
	err.text[0] = '\0';
	return schedtape_page_next(p, ev, &err);
}

static void test_each_type(void)
{
	static const struct {
		unsigned int type;
		uint64_t delta;
		uint32_t pid;
		uint64_t arg;
	} table[] = {
		{ STAPE_EV_SWITCH, 0, 1234, STAPE_STATE_SLEEPING },
		{ STAPE_EV_WAKING, 17, 4194303, STAPE_CTX_HARDIRQ },
		{ STAPE_EV_WAKEUP, STAPE_DELTA_MASK, 1, 1022 },
		{ STAPE_EV_WAKEUP, STAPE_DELTA_MASK + 1ULL, 1, 1023 },
		{ STAPE_EV_WAKEUP, 1, 1, 1024 },
		{ STAPE_EV_WAKEUP_NEW, 1ULL << 40, 77, UINT32_MAX },
		{ STAPE_EV_FORK, 3, 78, STAPE_FORK_THREAD },
		{ STAPE_EV_MIGRATE, 1, 79, (1ULL << 42) - 1 },
		{ STAPE_EV_EXIT, 1ULL << 59, 80, 0 },
	};
	const size_t n = sizeof(table) / sizeof(table[0]);
	struct schedtape_event ev;
	struct schedtape_page p;
	uint64_t time = 1000;
	struct maker m;
	size_t i;

	maker_begin(&m, page, 5000, 42, time);
	for (i = 0; i < n; i++)
		maker_event(&m, time += table[i].delta, table[i].type, table[i].pid, table[i].arg);

	ok(!schedtape_page_open(&p, page, &err), "a page opens");
	ok(p.header.seq == 42 && p.header.cpu == 5000, "its header is there");
	for (time = 1000, i = 0; i < n; i++) {
		time += table[i].delta;
		ok(next(&p, &ev) == 1 && ev.time == time && ev.cpu == 5000 &&
		   ev.type == table[i].type && ev.pid == table[i].pid && ev.arg == table[i].arg &&
		   !ev.old_pid && !ev.comm[0] && !ev.lost,
		   "%s, %llu ns later, argument %llu", schedtape_event_name(table[i].type),
		   (unsigned long long)table[i].delta, (unsigned long long)table[i].arg);
	}
	ok(next(&p, &ev) == 0 && next(&p, &ev) == 0, "then the page is at its end");
}

static void test_current(void)
{
	struct schedtape_event ev;
	struct schedtape_page p;
	struct maker m;

	maker_begin(&m, page, 0, 0, 0);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_event(&m, 1, STAPE_EV_WAKING, 11, STAPE_CTX_TASK);
	maker_switch(&m, 2, 11, STAPE_NEXT_TASK, STAPE_STATE_BLOCKED);
	maker_exec(&m, 3, 9, 11);
	maker_switch(&m, 4, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
	maker_switch(&m, 5, 0, STAPE_NEXT_OTHER, STAPE_STATE_RUNNING);
	maker_exec(&m, 6, 30, 31);
	maker_rename(&m, 7, 30, "fifteen letters");
	maker_rename(&m, 8, 30, "sixteen letters!");

	schedtape_page_open(&p, page, &err);
	ok(next(&p, &ev) == 1 && ev.curr == 10 && ev.curr_kind == STAPE_NEXT_TASK,
	   "the header says who ran first");
	ok(next(&p, &ev) == 1 && ev.curr == 10 &&
	   schedtape_switch_state(&ev) == STAPE_STATE_BLOCKED &&
	   schedtape_switch_next(&ev) == STAPE_NEXT_TASK, "a switch has its previous task");
	ok(next(&p, &ev) == 1 && ev.curr == 11 && ev.pid == 9 && ev.old_pid == 11 &&
	   ev.arg == 1, "an exec under a new PID");
	ok(next(&p, &ev) == 1 && ev.curr == 9 && schedtape_switch_next(&ev) == STAPE_NEXT_IDLE,
	   "after which the task runs under it");
	ok(next(&p, &ev) == 1 && !ev.curr && ev.curr_kind == STAPE_NEXT_IDLE, "idle");
	ok(next(&p, &ev) == 1 && !ev.curr && ev.curr_kind == STAPE_NEXT_OTHER, "another task");
	ok(next(&p, &ev) == 1 && !ev.old_pid && !strcmp(ev.comm, "fifteen letters"), "a rename");
	ok(next(&p, &ev) == 1 && !strcmp(ev.comm, "sixteen letters"), "a name always ends");
	ok(next(&p, &ev) == 0, "the end");
}

static void test_lost(void)
{
	struct schedtape_event ev;
	struct schedtape_page p;
	struct maker m;

	maker_begin(&m, page, 3, 7, 500);
	m.header.curr = 8;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_lost(&m, 1ULL << 33, 400, 450);
	maker_event(&m, 501, STAPE_EV_EXIT, 8, 0);

	schedtape_page_open(&p, page, &err);
	ok(next(&p, &ev) == 1 && ev.type == SCHEDTAPE_EV_LOST && ev.time == 400 && ev.cpu == 3 &&
	   ev.lost == 1ULL << 33 && ev.lost_first == 400 && ev.lost_last == 450 && ev.curr == 8,
	   "a loss comes before the first event");
	ok(next(&p, &ev) == 1 && ev.type == STAPE_EV_EXIT && !ev.lost, "then the event");
	ok(next(&p, &ev) == 0, "and that's all");

	maker_begin(&m, page, 3, 7, 500);
	maker_lost(&m, 1, 600, 700);
	maker_event(&m, 800, STAPE_EV_EXIT, 8, 0);
	schedtape_page_open(&p, page, &err);
	ok(next(&p, &ev) == 1 && ev.time == 500 && ev.lost_first == 600,
	   "a loss is never later than what follows it");

	maker_begin(&m, page, 3, 7, 500);
	maker_lost(&m, 5, 100, 200);
	schedtape_page_open(&p, page, &err);
	ok(next(&p, &ev) == 1 && ev.lost == 5 && next(&p, &ev) == 0, "a page may have only a loss");
}

static void test_unknown(void)
{
	struct schedtape_event ev;
	struct schedtape_page p;
	unsigned int type;
	struct maker m;

	maker_begin(&m, page, 0, 0, 0);
	for (type = 10; type <= 13; type++) {
		maker_event(&m, type, type, 1, (1ULL << 30) | (type - 10) * 5);
		for (unsigned int i = 0; i < (type - 10) * 5; i++)
			maker_word(&m, 0);
	}
	maker_event(&m, 20, STAPE_EV_EXEC, 6, 3);
	maker_word(&m, 5);
	maker_word(&m, 0);
	maker_word(&m, 0);
	maker_event(&m, 21, STAPE_EV_EXIT, 6, 0);

	schedtape_page_open(&p, page, &err);
	ok(next(&p, &ev) == 1 && ev.type == STAPE_EV_EXEC && ev.time == 20 && ev.old_pid == 5,
	   "unknown types are skipped, with what they carry and their time");
	ok(next(&p, &ev) == 1 && ev.type == STAPE_EV_EXIT && ev.arg == 0,
	   "so are more payload words than known");
	ok(next(&p, &ev) == 0, "and they are counted");
}

static void make_mixed(struct maker *m)
{
	maker_begin(m, page, 4095, 1ULL << 40, 1ULL << 50);
	m->header.curr = 70;
	m->header.curr_kind = STAPE_NEXT_TASK;
	maker_lost(m, 3, 1000, 2000);
	maker_event(m, (1ULL << 50) + 1, STAPE_EV_WAKEUP, 71, 2047);
	maker_rename(m, (1ULL << 51), 70, "abcdefghijklmno");
	maker_switch(m, (1ULL << 51) + 2, 71, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	maker_exec(m, (1ULL << 51) + 3, 72, 71);
	maker_event(m, (1ULL << 51) + 4, STAPE_EV_EXIT, 72, 0);
}

static void test_swapped(void)
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
	ok(ret == 0 && same == 6, "both have the same events (%u)", same);
}

/* Each takes a sound page and breaks it. */
static void break_magic(struct maker *m) { m->header.magic ^= 1; }
static void break_used_small(struct maker *m) { m->header.used = 64; }
static void break_used_large(struct maker *m) { m->header.used = 4104; }
static void break_used_odd(struct maker *m) { m->header.used += 4; }
static void break_events_many(struct maker *m) { m->header.events = 10000; }
static void break_time(struct maker *m) { m->header.time = m->header.end + 1; }
static void break_curr(struct maker *m) { m->header.curr = 1 << 22; }
static void break_curr_none(struct maker *m)
{
	m->header.curr = 0;
}

static void break_kind(struct maker *m) { m->header.curr_kind = 3; }
static void break_lost(struct maker *m) { m->header.lost_first = m->header.lost_last + 1; }
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
	maker_event(m, m->header.end, 12, 1, 1);
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

static void break_switch_kind(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_SWITCH, 0, 3 << 4);
}

static void break_switch_pid(struct maker *m)
{
	maker_event(m, m->header.end, STAPE_EV_SWITCH, 0, STAPE_NEXT_TASK << 4);
}

static void test_damage(void)
{
	static const struct {
		void (*breaks)(struct maker *m);
		bool opens;
		const char *name;
	} table[] = {
		{ break_magic, false, "magic number" },
		{ break_used_small, false, "shorter than its header" },
		{ break_used_large, false, "longer than a page" },
		{ break_used_odd, false, "half a word" },
		{ break_events_many, false, "more events than words" },
		{ break_time, false, "ends before it begins" },
		{ break_curr, false, "current PID too large" },
		{ break_curr_none, false, "a current task without a PID" },
		{ break_kind, false, "current of an unknown kind" },
		{ break_lost, false, "losses that end before they begin" },
		{ break_end, true, "an event after the end" },
		{ break_count_more, true, "fewer events than counted" },
		{ break_count_less, true, "more events than counted" },
		{ break_zero, true, "a zero word" },
		{ break_prefix, true, "an argument without an event" },
		{ break_prefix_time, true, "a time without an event" },
		{ break_wrap, true, "times that wrap" },
		{ break_payload, true, "payload behind the end" },
		{ break_exec, true, "exec without its PID" },
		{ break_exec_pid, true, "exec with an impossible PID" },
		{ break_rename, true, "rename with half a name" },
		{ break_switch_kind, true, "switch to an unknown kind" },
		{ break_switch_pid, true, "switch to a task without a PID" },
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
		ok(ret == -EBADMSG && err.text[0], "%s: %s", table[i].name, err.text);
		if (table[i].opens)
			ok(next(&p, &ev) == 0, "%s: ends the page", table[i].name);
	}
	ok(schedtape_page_open(&p, page, NULL) == 0, "nobody has to want the text");
}

static void test_names(void)
{
	struct schedtape_error text;

	ok(!strcmp(schedtape_event_name(STAPE_EV_WAKEUP_NEW), "wakeup_new") &&
	   !strcmp(schedtape_event_name(SCHEDTAPE_EV_LOST), "lost"), "events have names");
	ok(!strcmp(schedtape_event_name(0), "unknown") &&
	   !strcmp(schedtape_event_name(13), "unknown") &&
	   !strcmp(schedtape_event_name(UINT32_MAX), "unknown"), "others don't");
	ok(!strcmp(schedtape_context_name(STAPE_CTX_NMI), "nmi") &&
	   !strcmp(schedtape_context_name(4), "unknown"), "contexts");
	ok(schedtape_state_char(STAPE_STATE_IDLE) == 'I' && schedtape_state_char(8) == '?',
	   "states");
	ok(schedtape_fail(&text, -ENOENT, "a\nb%c", 7) == -ENOENT && !strcmp(text.text, "a?b?"),
	   "an error is one line");
	ok(schedtape_fail(NULL, -EIO, "x") == -EIO, "which nobody has to want");
}

int main(void)
{
	test_each_type();
	test_current();
	test_lost();
	test_unknown();
	test_swapped();
	test_damage();
	test_names();
	return tap_done();
}
