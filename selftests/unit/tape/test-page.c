// SPDX-License-Identifier: GPL-2.0-only
/* Description: ring pages decode to what was packed. */
#include <endian.h>
#include <inttypes.h>

#include <base/error.h>
#include <tape/names.h>

#include "page.h"

/* The page of a test, and its events. */
static struct maker m;
static struct schedtape_page p;
static struct schedtape_event ev;

static int step(void)
{
	return next(&p, &ev);
}

TEST(each_type)
{
	static const struct {
		unsigned int type;
		uint64_t delta;
		uint32_t pid;
		uint64_t arg;
	} table[] = {
		{ STAPE_EV_SWITCH, 0, 1234, STAPE_STATE_SLEEPING },
		{ STAPE_EV_WAKEUP, STAPE_DELTA_MASK, 1, 1022 },
		{ STAPE_EV_WAKEUP, STAPE_DELTA_MASK + 1ULL, 1, 1023 },
		{ STAPE_EV_WAKEUP, 1, 1, 1024 },
		{ STAPE_EV_WAKEUP_NEW, 1ULL << 40, 77, UINT32_MAX },
		{ STAPE_EV_FORK, 3, 78, STAPE_FORK_THREAD },
		{ STAPE_EV_MIGRATE, 1, 79, (1ULL << 42) - 1 },
		{ STAPE_EV_EXIT, 1ULL << 59, 80, 0 },
	};
	const size_t n = sizeof(table) / sizeof(table[0]);
	uint64_t time = 1000;
	size_t i;

	maker_begin(&m, page, 5000, 42, time);
	for (i = 0; i < n; i++)
		maker_event(&m, time += table[i].delta, table[i].type, table[i].pid, table[i].arg);

	ok(!schedtape_page_open(&p, page, &err), "a page opens");
	ok(p.header.seq == 42 && p.header.cpu == 5000, "its header is there");
	for (time = 1000, i = 0; i < n; i++) {
		time += table[i].delta;
		ok(step() == 1 && ev.time == time && ev.cpu == 5000 &&
		   ev.type == table[i].type && ev.pid == table[i].pid && ev.arg == table[i].arg &&
		   !ev.old_pid && !ev.comm[0] && !ev.lost,
		   "%s, %llu ns later, argument %llu", schedtape_event_name(table[i].type),
		   (unsigned long long)table[i].delta, (unsigned long long)table[i].arg);
	}
	ok(step() == 0 && step() == 0, "then the page is at its end");
}

TEST(wake)
{
	int i;

	maker_begin(&m, page, 0, 0, 1000);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_waking(&m, 1010, 4194303, STAPE_CTX_SOFTIRQ_TASK);
	maker_event(&m, 1011, STAPE_EV_WAKEUP, 4194303, 1ULL << 30);
	maker_wake(&m, 1011 + 0xffff, 12, STAPE_CTX_HARDIRQ, 1011 + 0xffff + 0xfff, 255);
	maker_wake(&m, 1 << 30, 13, STAPE_CTX_TASK, 1 << 30, 0);
	maker_switch(&m, 1 << 30, 13, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == STAPE_EV_WAKING && ev.time == 1010 &&
	   ev.pid == 4194303 && ev.arg == STAPE_CTX_SOFTIRQ_TASK && schedtape_waking_by_task(&ev),
	   "a waking by a softirq of the task's own");
	ok(step() == 1 && ev.type == STAPE_EV_WAKEUP && ev.arg == 1ULL << 30, "a wakeup");
	ok(step() == 1 && ev.type == STAPE_EV_WAKING && ev.time == 1011 + 0xffff &&
	   ev.pid == 12 && ev.arg == STAPE_CTX_HARDIRQ && !schedtape_waking_by_task(&ev) &&
	   ev.curr == 10, "the first half of a wake");
	ok(step() == 1 && ev.type == STAPE_EV_WAKEUP && ev.time == 1011 + 0xffff + 0xfff &&
	   ev.pid == 12 && ev.arg == 255 && ev.curr == 10, "the second half");
	ok(step() == 1 && ev.type == STAPE_EV_WAKING && ev.time == 1 << 30 && ev.pid == 13 &&
	   ev.arg == STAPE_CTX_TASK, "a prefix is the first half's");
	ok(step() == 1 && ev.type == STAPE_EV_WAKEUP && ev.time == 1 << 30 && !ev.arg,
	   "and only that");
	ok(step() == 1 && ev.type == STAPE_EV_SWITCH && ev.curr == 10 && step() == 0,
	   "the next event is behind both");

	/* The maximum number of such words. */
	maker_begin(&m, page, 0, 0, 0);
	for (i = 0; i < 503; i++)
		maker_wake(&m, i, 1, STAPE_CTX_TASK, i, 0);
	ok(!schedtape_page_open(&p, page, &err), "a page that is full of them");
	for (i = 0; step() == 1; i++)
		;
	ok(i == 2 * 503 && step() == 0, "has two events a word");
}

TEST(current)
{
	maker_begin(&m, page, 0, 0, 0);
	m.header.curr = 10;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_waking(&m, 1, 11, STAPE_CTX_TASK);
	maker_switch(&m, 2, 11, STAPE_NEXT_TASK, STAPE_STATE_BLOCKED);
	maker_exec(&m, 3, 9, 11);
	maker_event(&m, 4, STAPE_EV_SWITCH, 0, STAPE_SWITCH_PROXY |
		    STAPE_NEXT_IDLE << STAPE_SWITCH_NEXT_SHIFT | STAPE_STATE_BLOCKED);
	maker_switch(&m, 5, 0, STAPE_NEXT_OTHER, STAPE_STATE_RUNNING);
	maker_exec(&m, 6, 30, 31);
	maker_rename(&m, 7, 30, "fifteen letters");
	maker_rename(&m, 8, 30, "sixteen letters!");

	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.curr == 10 && ev.curr_kind == STAPE_NEXT_TASK,
	   "the header has the task that runs first");
	ok(step() == 1 && ev.curr == 10 &&
	   schedtape_switch_state(&ev) == STAPE_STATE_BLOCKED &&
	   schedtape_switch_next(&ev) == STAPE_NEXT_TASK, "a switch has its previous task");
	ok(step() == 1 && ev.curr == 11 && ev.pid == 9 && ev.old_pid == 11 &&
	   ev.arg == 1, "an exec under a new PID");
	ok(step() == 1 && ev.curr == 9 && schedtape_switch_next(&ev) == STAPE_NEXT_IDLE,
	   "after which the task runs under it");
	ok(schedtape_switch_state(&ev) == STAPE_STATE_BLOCKED, "a bit that nothing sets yet");
	ok(step() == 1 && !ev.curr && ev.curr_kind == STAPE_NEXT_IDLE, "idle");
	ok(step() == 1 && !ev.curr && ev.curr_kind == STAPE_NEXT_OTHER, "another task");
	ok(step() == 1 && !ev.old_pid && !strcmp(ev.comm, "fifteen letters"), "a rename");
	ok(step() == 1 && !strcmp(ev.comm, "sixteen letters"), "a name always ends");
	ok(step() == 0, "the end");
}

TEST(lost)
{
	maker_begin(&m, page, 3, 7, 500);
	m.header.curr = 8;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_lost(&m, 1ULL << 33, 400, 450);
	maker_event(&m, 501, STAPE_EV_EXIT, 8, 0);

	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_LOST && ev.time == 400 && ev.cpu == 3 &&
	   ev.lost == 1ULL << 33 && ev.lost_first == 400 && ev.lost_last == 450 && ev.curr == 8,
	   "a loss comes before the first event");
	ok(step() == 1 && ev.type == STAPE_EV_EXIT && !ev.lost, "then the event");
	ok(step() == 0, "and that's all");

	maker_begin(&m, page, 3, 7, 500);
	maker_lost(&m, 1, 600, 700);
	maker_event(&m, 800, STAPE_EV_EXIT, 8, 0);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.time == 500 && ev.lost_first == 600,
	   "a loss is never later than the beginning of its page");

	maker_begin(&m, page, 3, 7, 500);
	maker_lost(&m, 5, 100, 200);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.lost == 5 && step() == 0, "a page may have only a loss");
}

TEST(paused)
{
	maker_begin(&m, page, 3, 7, 500);
	m.header.curr = 8;
	m.header.curr_kind = STAPE_NEXT_TASK;
	maker_paused(&m, 300, 490);
	maker_event(&m, 501, STAPE_EV_EXIT, 8, 0);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_PAUSED && ev.time == 300 && ev.cpu == 3 &&
	   !ev.lost && ev.lost_first == 300 && ev.lost_last == 490 && ev.curr == 8 &&
	   schedtape_event_is_gap(&ev), "a pause comes before the first event");
	ok(step() == 1 && ev.type == STAPE_EV_EXIT && !schedtape_event_is_gap(&ev),
	   "then the event");
	ok(step() == 0, "and that's all");

	maker_lost(&m, 5, 200, 490);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_LOST && ev.lost == 5 &&
	   ev.lost_first == 200, "events lost besides are a loss of their own");
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_PAUSED && !ev.lost && ev.time == 200,
	   "next to the pause");
	ok(step() == 1 && ev.type == STAPE_EV_EXIT && step() == 0, "before the event");

	maker_begin(&m, page, 3, 7, 500);
	m.header.flags = 0xfffe;
	maker_event(&m, 501, STAPE_EV_EXIT, 8, 0);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == STAPE_EV_EXIT, "flags of later versions are left alone");
}

TEST(prio)
{
	maker_begin(&m, page, 0, 0, 0);
	maker_prio(&m, 10, 5, maker_prio_word(1, -20, 99, 0, true));
	maker_prio(&m, 20, 6, maker_prio_word(6, 19, 0, -1, false));
	maker_prio(&m, 30, 7, maker_prio_word(0, 0, 0, 139, false) | 0xfffe0000ff000000);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == STAPE_EV_PRIO && ev.time == 10 && ev.pid == 5 &&
	   ev.policy == 1 && ev.nice == -20 && ev.rt_priority == 99 && ev.prio == 0 && ev.boosted,
	   "a boosted real-time task");
	ok(step() == 1 && ev.pid == 6 && ev.policy == 6 && ev.nice == 19 &&
	   !ev.rt_priority && ev.prio == -1 && !ev.boosted, "a deadline task");
	ok(step() == 1 && ev.policy == 0 && ev.nice == 0 && ev.rt_priority == 0 &&
	   ev.prio == 139 && !ev.boosted, "bits of later versions are left alone");
	ok(step() == 0, "the end");
}

/* The mask's word for CPUs from 64 * @n on. */
static uint64_t cpus(unsigned int n)
{
	uint64_t word;

	memcpy(&word, ev.affinity + n * sizeof(word), sizeof(word));
	return le64toh(word);
}

TEST(affinity)
{
	uint64_t mask[STAPE_AFFINITY_WORDS] = { 1ULL << 63 | 2, 0, 5 };

	mask[STAPE_AFFINITY_WORDS - 1] = 9;
	maker_begin(&m, page, 0, 0, 0);
	maker_affinity(&m, 10, 5, mask, 3);
	maker_later(&m, 20, 6, 62);
	maker_affinity(&m, 30, 7, mask, STAPE_AFFINITY_WORDS);
	maker_affinity(&m, 40, 8, mask, 0);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_AFFINITY && ev.time == 10 && ev.pid == 5 &&
	   cpus(0) == (1ULL << 63 | 2) && !cpus(1) && cpus(2) == 5 &&
	   !cpus(STAPE_AFFINITY_WORDS - 1), "an affinity");
	ok(step() == 1 && ev.pid == 7 && ev.time == 30 && cpus(2) == 5 &&
	   cpus(STAPE_AFFINITY_WORDS - 1) == 9, "a SET event of a later version is skipped");
	ok(step() == 1 && ev.pid == 8 && !cpus(0), "a mask without a CPU");
	ok(step() == 0, "the end");

	maker_begin(&m, page, 0, 0, 0);
	maker_event(&m, 10, STAPE_EV_SET, 5, 0);
	schedtape_page_open(&p, page, &err);
	ok(step() == -EBADMSG, "none of its words");
}

TEST(throttle)
{
	maker_begin(&m, page, 3, 0, 0);
	maker_switch(&m, 5, 9, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_throttle(&m, 10, 1ULL << 40 | 7, 1023, true);
	maker_throttle(&m, 20, 8, UINT32_MAX, false);
	schedtape_page_open(&p, page, &err);
	step();
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_THROTTLE && ev.time == 10 && ev.cpu == 3 &&
	   !ev.pid && ev.curr == 9 && ev.cgroup == (1ULL << 40 | 7) && ev.task_cpu == 1023,
	   "a cgroup is throttled");
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_UNTHROTTLE && ev.time == 20 &&
	   ev.cgroup == 8 && ev.task_cpu == UINT32_MAX, "another is no longer");
	ok(!step(), "and nothing else");

	maker_begin(&m, page, 0, 0, 0);
	maker_event(&m, 10, STAPE_EV_SET, 0, STAPE_SET_THROTTLE << STAPE_SET_SHIFT | 1);
	maker_word(&m, 7);
	schedtape_page_open(&p, page, &err);
	ok(step() == -EBADMSG, "half of its payload");
}

static void put_name(uint64_t id, const char *name, size_t words)
{
	uint64_t word;

	maker_event(&m, 10, STAPE_EV_SET, 0, STAPE_SET_CGROUP << STAPE_SET_SHIFT | (2 + words));
	maker_word(&m, id);
	maker_word(&m, 5);
	for (; words; words--, name += sizeof(word)) {
		memcpy(&word, name, sizeof(word));
		maker_word(&m, word);
	}
}

static void note_name(void *arg, uint64_t id, uint64_t parent, const char *name)
{
	char *text = arg;

	sprintf(text + strlen(text), "%" PRIu64 " in %" PRIu64 ": %.4s %zu\n", id, parent, name,
		strlen(name));
}

TEST(cgroup_names)
{
	char name[320] = "abc", text[256] = "";
	struct tape_names names = { .each = note_name, .arg = text };

	maker_begin(&m, page, STAPE_CPU_NONE, 0, 0);
	put_name(7, name, 1);
	memset(name, 'x', 255);
	put_name(8, name, 13);
	maker_exec(&m, 10, 5, 5);
	put_name(8, name + 104, 13);
	put_name(8, name + 208, 6);
	put_name(9, name, 13);
	put_name(7, "abcdefg", 1);
	maker_event(&m, 10, STAPE_EV_SET, 0, STAPE_SET_CGROUP << STAPE_SET_SHIFT);
	tape_names_read(&names, page);
	if (!ok(!strcmp(text, "7 in 5: abc 3\n8 in 5: xxxx 255\n7 in 5: abcd 7\n"),
		"names of cgroups"))
		printf("# %s", text);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == STAPE_EV_EXEC && !step(), "others skip them");
}

TEST(trigger)
{
	maker_begin(&m, page, 3, 0, 0);
	maker_switch(&m, 5, 9, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_trigger(&m, 10, 11, 1ULL << 45, UINT32_MAX | 7ULL << STAPE_TRIGGER_NUMBER_SHIFT |
		      (uint64_t)STAPE_TRIGGER_BLOCKED << STAPE_TRIGGER_KIND_SHIFT |
		      STAPE_TRIGGER_LASTS);
	maker_trigger(&m, 20, 0, 500, 2 | (uint64_t)STAPE_TRIGGER_RATE << STAPE_TRIGGER_KIND_SHIFT);
	schedtape_page_open(&p, page, &err);
	step();
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_TRIGGER && ev.time == 10 && ev.cpu == 3 &&
	   ev.pid == 11 && ev.curr == 9 && ev.trigger.value == 1ULL << 45 &&
	   ev.trigger.number == 7 && ev.trigger.kind == STAPE_TRIGGER_BLOCKED &&
	   ev.trigger.cpu == UINT32_MAX && ev.trigger.lasts, "a trigger has fired for a task");
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_TRIGGER && ev.time == 20 && !ev.pid &&
	   ev.trigger.value == 500 && !ev.trigger.number &&
	   ev.trigger.kind == STAPE_TRIGGER_RATE && ev.trigger.cpu == 2 && !ev.trigger.lasts,
	   "another for all tasks");
	ok(!step(), "and nothing else");
	ok(!strcmp(schedtape_trigger_name(STAPE_TRIGGER_BURST), "burst") &&
	   !strcmp(schedtape_trigger_name(0), "unknown") &&
	   !strcmp(schedtape_trigger_name(200), "unknown"), "names of kinds");

	maker_begin(&m, page, 0, 0, 0);
	maker_event(&m, 10, STAPE_EV_SET, 9, STAPE_SET_TRIGGER << STAPE_SET_SHIFT | 1);
	maker_word(&m, 7);
	schedtape_page_open(&p, page, &err);
	ok(step() == -EBADMSG, "half of its payload");

	maker_begin(&m, page, 0, 0, 0);
	maker_later(&m, 0, 9, 62);
	maker_later(&m, 10, 9, UINT32_MAX);
	schedtape_page_open(&p, page, &err);
	ok(!step(), "what a later version sets is skipped");

	maker_begin(&m, page, 0, 0, 0);
	maker_event(&m, 10, STAPE_EV_SET, 9, STAPE_SET_MORE << STAPE_SET_SHIFT);
	schedtape_page_open(&p, page, &err);
	ok(step() == -EBADMSG, "one without its number");
}

/* Idle time comes before the switch that tells it, and the CPU's current task is what it says. */
TEST(idle)
{
	maker_begin(&m, page, 3, 0, 1 << 20);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_idle(&m, 1 << 20, STAPE_IDLE_UNKNOWN, 1 << 19, STAPE_NEXT_IDLE);
	maker_switch(&m, 3 << 20, 9, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_switch(&m, 4 << 20, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	maker_switch_after(&m, 9 << 20, 8, 3 << 20, 2 << 20, STAPE_NEXT_OTHER);
	maker_idle(&m, 10 << 20, 0, 0, STAPE_NEXT_TASK);
	maker_switch(&m, 11 << 20, 0, STAPE_NEXT_OTHER, STAPE_STATE_SLEEPING);
	maker_switch_after(&m, 13 << 20, 8, 1 << 20, 1 << 20, STAPE_NEXT_IDLE);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_IDLE && ev.time == 1 << 20 && !ev.pid &&
	   ev.curr_kind == STAPE_NEXT_OTHER && ev.idle.time == UINT64_MAX &&
	   ev.idle.since == 1 << 19 && ev.idle.kind == STAPE_NEXT_IDLE,
	   "before a page's first event");
	ok(step() == 1 && ev.type == STAPE_EV_SWITCH && ev.pid == 9 &&
	   ev.curr_kind == STAPE_NEXT_IDLE && !ev.idle.time && !ev.idle.since,
	   "a switch behind it");
	step();
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_IDLE && ev.time == 9 << 20 && !ev.arg &&
	   ev.curr_kind == STAPE_NEXT_IDLE && ev.idle.time == 3 << 20 &&
	   ev.idle.since == 7 << 20 && ev.idle.kind == STAPE_NEXT_OTHER, "of a switch");
	ok(step() == 1 && ev.type == STAPE_EV_SWITCH && ev.time == 9 << 20 && ev.pid == 8 &&
	   ev.curr_kind == STAPE_NEXT_OTHER && !ev.arg && !ev.idle.since, "the switch itself");
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_IDLE && ev.curr == 8 &&
	   ev.idle.kind == STAPE_NEXT_TASK, "while a task runs");
	ok(step() == 1 && ev.type == STAPE_EV_SWITCH && ev.curr == 8, "which goes on");
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_IDLE && ev.idle.kind == STAPE_NEXT_IDLE &&
	   ev.idle.since == 12 << 20 && step() == 1 && ev.pid == 8 && !step(),
	   "a CPU that is idle in the end, and the page's end");

	maker_begin(&m, page, 0, 0, 0);
	maker_event(&m, 10, STAPE_EV_SET, 0, STAPE_SET_IDLE << STAPE_SET_SHIFT | 1);
	maker_word(&m, 7);
	schedtape_page_open(&p, page, &err);
	ok(step() == -EBADMSG, "half of its payload");
	maker_begin(&m, page, 0, 0, 0);
	maker_idle(&m, 10, 0, 0, STAPE_IDLE_OFFLINE);
	maker_waking(&m, 20, 9, STAPE_CTX_HARDIRQ);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.idle.kind == STAPE_IDLE_OFFLINE && step() == 1 &&
	   ev.curr_kind == STAPE_NEXT_OTHER, "a CPU that is offline");
}

/* A number may need all 64 bits; a later version may put more words behind it. */
TEST(interval)
{
	maker_begin(&m, page, STAPE_CPU_NONE, 0, 0);
	maker_interval(&m, 10, 1ULL << 63 | 5);
	maker_event(&m, 20, STAPE_EV_SET, 0, STAPE_SET_INTERVAL << STAPE_SET_SHIFT | 2);
	maker_word(&m, 7);
	maker_word(&m, 1234);
	maker_event(&m, 30, STAPE_EV_SET, 0, STAPE_SET_INTERVAL << STAPE_SET_SHIFT);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_INTERVAL && ev.time == 10 && !ev.pid &&
	   ev.arg == (1ULL << 63 | 5) && ev.cpu == STAPE_CPU_NONE, "the end of an interval");
	ok(step() == 1 && ev.type == SCHEDTAPE_EV_INTERVAL && ev.arg == 7, "with more words");
	ok(step() == -EBADMSG, "without its number");
}

static const uint64_t deadline_words[] = { 1, 1ULL << 40, UINT64_MAX };

static bool has_deadline(bool known)
{
	if (!known)
		return !ev.dl.runtime && !ev.dl.deadline && !ev.dl.period;
	return ev.dl.runtime == 1 && ev.dl.deadline == 1ULL << 40 &&
	       ev.dl.period == UINT64_MAX;
}

TEST(deadline)
{
	const uint64_t prio = maker_prio_word(6, 0, 0, -1, false);
	uint64_t words[] = { 77, prio, 5, 0, 12, 9, 0, 0, 0 };

	memcpy(words + 6, deadline_words, sizeof(deadline_words));
	maker_begin(&m, page, 0, 0, 0);
	maker_prio(&m, 10, 77, prio);
	maker_event(&m, 16, STAPE_EV_PRIO, 77, 4);
	maker_word(&m, prio);
	maker_word(&m, deadline_words[0]);
	maker_word(&m, deadline_words[1]);
	maker_word(&m, deadline_words[2]);
	maker_task_words(&m, 20, 77, STAPE_TASK_EXITS, "x", words, 9);
	maker_task_words(&m, 30, 77, STAPE_TASK_EXITS, "x", words, 8);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.policy == 6 && has_deadline(false), "a deadline of an older module");
	ok(step() == 1 && ev.policy == 6 && has_deadline(true), "a deadline");
	ok(step() == 1 && ev.type == STAPE_EV_TASK && ev.cgroup == 9 &&
	   has_deadline(true), "in a description");
	ok(step() == 1 && has_deadline(false), "not in half of one");
	ok(!step(), "and nothing else");
}

/* A slice and utilization clamps, in a change and in a description. */
TEST(wish)
{
	const uint64_t prio = maker_prio_word(3, 0, 0, 120, false);
	const uint64_t words[] = { 77, prio, 5, 0, 12, 9, 100000000, 0, 1025 << 16 | 1 };

	maker_begin(&m, page, 0, 0, 0);
	maker_prio(&m, 10, 77, prio);
	maker_wish(&m, 20, 77, prio, 3000000, 8, 513);
	maker_task_words(&m, 30, 77, STAPE_TASK_EXITS, "x", words, 9);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && !ev.wish.slice && schedtape_clamp_min(&ev.wish) == -1 &&
	   schedtape_clamp_max(&ev.wish) == -1, "neither slice nor clamps");
	ok(step() == 1 && ev.policy == 3 && ev.wish.slice == 3000000 && ev.wish.slack == 8 &&
	   schedtape_clamp_min(&ev.wish) == 512 && schedtape_clamp_max(&ev.wish) == -1,
	   "a slice and a lower clamp");
	ok(step() == 1 && ev.wish.slice == 100000000 && !schedtape_clamp_min(&ev.wish) &&
	   schedtape_clamp_max(&ev.wish) == 1024, "both clamps of a description");
	ok(!step(), "and nothing else");
}

/* An autogroup and a cookie, alone and behind a slice; and none in a word of a later version. */
TEST(shared)
{
	const uint64_t prio = maker_prio_word(0, 0, 0, 120, false), shared = 5ULL << 32 | 4194303;
	const uint64_t words[] = { 77, prio, 5, 0, 12, 9, shared };
	const uint64_t more[] = { 77, prio, 5, 0, 12, 9, 3000000, 0, 0, shared };

	maker_begin(&m, page, 0, 0, 0);
	maker_task_words(&m, 10, 77, STAPE_TASK_REGROUPED, "x", words, 7);
	maker_task_words(&m, 20, 77, STAPE_TASK_EXITS, "x", more, 10);
	maker_task_words(&m, 30, 77, STAPE_TASK_EXITS, "x", more, 9);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && schedtape_task_why(&ev) == STAPE_TASK_REGROUPED &&
	   ev.autogroup == 4194303 && ev.core == 5 && !ev.wish.slice, "an autogroup and a cookie");
	ok(step() == 1 && ev.autogroup == 4194303 && ev.core == 5 &&
	   ev.wish.slice == 3000000, "behind a slice");
	ok(step() == 1 && !ev.autogroup && !ev.core && ev.wish.slice == 3000000, "and neither");
	ok(!step(), "and nothing else");
}

/* The words after the seventh: the cgroup, and some that this reader does not know. */
TEST(task_cgroup)
{
	const uint64_t words[] = { 77, maker_prio_word(0, 0, 0, 120, false), 5, 0, 12,
				   0xfedcba9876543210, 1, 2, 3, 4, 5, 6, 7 };

	maker_begin(&m, page, 0, 0, 0);
	maker_task_words(&m, 10, 77, STAPE_TASK_MOVES, "x", words, 6);
	maker_task_words(&m, 20, 78, STAPE_TASK_ENTERS, "x", words, 13);
	make_task(&m, 30, 79, STAPE_TASK_ENTERS);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && schedtape_task_why(&ev) == STAPE_TASK_MOVES &&
	   ev.cgroup == 0xfedcba9876543210, "it is in another cgroup");
	ok(step() == 1 && ev.pid == 78 && ev.cgroup == 0xfedcba9876543210,
	   "with all words that there can be");
	ok(step() == 1 && ev.pid == 79 && !ev.cgroup, "an older module writes no cgroup");
	ok(!step(), "and nothing else");
}

TEST(task)
{
	maker_begin(&m, page, 0, 0, 0);
	make_task(&m, 10, 78, STAPE_TASK_ENTERS);
	make_task(&m, 20, 78, STAPE_TASK_LEAVES);
	make_task(&m, 30, 78, STAPE_TASK_EXITS);
	make_task(&m, 40, 78, 63);
	maker_event(&m, 50, STAPE_EV_EXIT, 78, 0);
	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == STAPE_EV_TASK && ev.time == 10 && ev.pid == 78 &&
	   schedtape_task_why(&ev) == STAPE_TASK_ENTERS, "a task enters");
	ok(!strcmp(ev.comm, "sixteen letters") && ev.tgid == 77 && ev.ppid == 4194303 &&
	   ev.ns_pid == 12 && ev.start_time == 123456789012345, "its name and its IDs");
	ok(ev.policy == 2 && ev.nice == 5 && ev.rt_priority == 42 && ev.prio == 57 &&
	   ev.state == STAPE_STATE_BLOCKED && ev.task_cpu == 4000, "its priority, state and CPU");
	ok(step() == 1 && schedtape_task_why(&ev) == STAPE_TASK_LEAVES, "it leaves");
	ok(step() == 1 && schedtape_task_why(&ev) == STAPE_TASK_EXITS, "it exits");
	ok(step() == 1 && schedtape_task_why(&ev) == 63, "or has a later version's reason");
	ok(step() == 1 && ev.type == STAPE_EV_EXIT && !ev.tgid && !ev.start_time,
	   "the next event has nothing of it");
	ok(step() == 0, "the end");
}

TEST(unknown)
{
	unsigned int words, i;

	maker_begin(&m, page, 0, 0, 0);
	for (words = 0; words <= 15; words += 5) {
		maker_event(&m, words, STAPE_EV_SET, 1, (1ULL << 30) | words);
		for (i = 0; i < words; i++)
			maker_word(&m, 0);
	}
	maker_event(&m, 20, STAPE_EV_EXEC, 6, 3);
	maker_word(&m, 5);
	maker_word(&m, 0);
	maker_word(&m, 0);
	maker_event(&m, 21, STAPE_EV_EXIT, 6, 2);
	maker_word(&m, 0);
	maker_word(&m, 0);

	schedtape_page_open(&p, page, &err);
	ok(step() == 1 && ev.type == STAPE_EV_EXEC && ev.time == 20 && ev.old_pid == 5,
	   "unknown SET events are skipped, with their payload and their time");
	ok(step() == 1 && ev.type == STAPE_EV_EXIT && ev.arg == 2 && ev.time == 21,
	   "so are more payload words than known");
	ok(step() == 0, "and they are counted");
}

TEST(names)
{
	struct schedtape_error text;

	ok(!strcmp(schedtape_event_name(STAPE_EV_WAKEUP_NEW), "wakeup_new") &&
	   !strcmp(schedtape_event_name(SCHEDTAPE_EV_LOST), "lost"), "events have names");
	ok(!strcmp(schedtape_event_name(0), "unknown") &&
	   !strcmp(schedtape_event_name(13), "unknown") &&
	   !strcmp(schedtape_event_name(UINT32_MAX), "unknown"), "others don't");
	ok(!strcmp(schedtape_context_name(STAPE_CTX_SOFTIRQ_TASK), "softirq_task") &&
	   !strcmp(schedtape_context_name(4), "unknown"), "contexts");
	ok(!strcmp(schedtape_policy_name(1), "fifo") &&
	   !strcmp(schedtape_policy_name(8), "unknown"), "policies");
	ok(schedtape_state_char(STAPE_STATE_IDLE) == 'I' && schedtape_state_char(8) == '?',
	   "states");
	ok(schedtape_fail(&text, -ENOENT, "a\nb%c", 7) == -ENOENT && !strcmp(text.text, "a?b?"),
	   "an error is one line");
	ok(schedtape_fail(NULL, -EIO, "x") == -EIO, "which nobody has to want");
}

TEST_MAIN
