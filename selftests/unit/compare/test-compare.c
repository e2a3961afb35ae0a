// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: which task of one tape corresponds to which of another, and the results of
 * comparing their graphs.
 */
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake-tape.h"
#include "tap.h"

#define S STAPE_STATE_SLEEPING

/* Two timelines and their distances: compare() frees those before. */
static struct {
	struct schedtape_tape *tape_a, *tape_b;
	struct schedtape_timeline *a, *b;
	struct schedtape_comparison *comparison;
	const struct schedtape_distance *d;
} two;

static void compare(struct schedtape_tape *tape_a, struct schedtape_tape *tape_b)
{
	if (two.tape_a) {
		schedtape_comparison_free(two.comparison);
		fake_done(two.tape_a, two.a);
		fake_done(two.tape_b, two.b);
	}
	two.tape_a = tape_a;
	two.tape_b = tape_b;
	two.a = fake_run(tape_a);
	two.b = fake_run(tape_b);
	if (schedtape_compare(two.a, two.b, &two.comparison, NULL))
		abort();
	two.d = schedtape_comparison_distance(two.comparison);
}

/* The PID in B of A's task; 0: it has no counterpart. */
static uint32_t pid_in_b(uint32_t pid)
{
	const struct schedtape_task *a, *b;
	const struct schedtape_pair *pairs;
	size_t i, n;

	a = schedtape_timeline_tasks(two.a, &n);
	b = schedtape_timeline_tasks(two.b, &n);
	pairs = schedtape_comparison_pairs(two.comparison, &n);
	for (i = 0; i < n; i++)
		if (pairs[i].a != SCHEDTAPE_NONE && a[pairs[i].a].pid == pid)
			return pairs[i].b == SCHEDTAPE_NONE ? 0 : b[pairs[i].b].pid;
	return 0;
}

/*
 * A shell with two processes, the first of which has a thread and wakes the second @wakes
 * times. PIDs from @base on; @launcher: another process forks the shell.
 */
static struct schedtape_tape *family(uint32_t base, bool launcher, unsigned int wakes)
{
	struct schedtape_tape *tape = fake_new(0, 100000);
	unsigned int i;

	if (launcher) {
		tape->curr[2] = base + 50;
		fake_info(tape, base + 50, "launcher", STAPE_STATE_RUNNING, 2);
		fake_fork(tape, 50, 2, base, false);
		fake_switch(tape, 90, 0, 0, base);
		fake_rename(tape, 95, 0, base, "sh");
	} else {
		fake_info(tape, base, "sh", S, 0);
		fake_wake(tape, 90, 0, base, STAPE_CTX_HARDIRQ);
		fake_switch(tape, 95, 0, 0, base);
	}
	fake_fork(tape, 100, 0, base + 1, false);
	fake_fork(tape, 110, 0, base + 2, false);
	fake_switch(tape, 120, 0, S, base + 1);
	fake_fork(tape, 130, 0, base + 3, true);
	fake_switch(tape, 140, 1, 0, base + 2);
	for (i = 0; i < wakes; i++) {
		fake_switch(tape, 1000 + i * 10, 1, S, 0);
		fake_wake(tape, 1002 + i * 10, 0, base + 2, STAPE_CTX_TASK);
		fake_switch(tape, 1004 + i * 10, 1, 0, base + 2);
	}
	fake_story(tape, "90000 [1] X -> idle; 90000 [0] X -> idle");
	return tape;
}

TEST(same)
{
	compare(family(100, false, 5), family(700, false, 5));
	ok(two.d->matched == 4 && !two.d->only_a && !two.d->only_b, "all matched");
	ok(pid_in_b(101) == 701 && pid_in_b(102) == 702 && pid_in_b(103) == 703,
	   "by the order of forks");
	ok(two.d->same_graph && two.d->edges_same == 1 && two.d->woken_a == 5 &&
	   two.d->woken_same == 5, "the same graph");
}

TEST(launcher)
{
	const struct schedtape_edge_pair *edges;
	size_t n;

	compare(family(100, false, 5), family(700, true, 4));
	ok(two.d->matched == 4 && two.d->only_b == 1, "a launcher is only in B");
	ok(pid_in_b(100) == 700 && pid_in_b(102) == 702, "tasks under the launcher match");
	ok(!two.d->same_graph && two.d->edges_differ == 1 && two.d->woken_same == 4,
	   "a wake-up less is another graph");
	edges = schedtape_comparison_edges(two.comparison, &n);
	ok(n == 1 && edges[0].a == 5 && edges[0].b == 4, "and both numbers are returned");
}

TEST(missing)
{
	struct schedtape_tape *less = fake_new(0, 1000);

	fake_info(less, 700, "sh", S, 0);
	compare(family(100, false, 3), less);
	ok(two.d->matched == 1 && two.d->only_a == 3 && !two.d->only_b, "tasks only in A");
	ok(!two.d->same_graph && two.d->edges_only_a == 1 && two.d->woken_a == 3 &&
	   !two.d->woken_same, "their edges are missing");

	less = fake_new(0, 1000);
	fake_info(less, 700, "sh", S, 0);
	compare(less, family(100, false, 3));
	ok(two.d->only_b == 3 && two.d->same_graph && !two.d->edges_only_b && !two.d->woken_b,
	   "tasks only in B do not change the graph");
}

/* Threads from the start in A are forked by their leader in B. */
TEST(threads_from_start)
{
	struct schedtape_tape *a = fake_new(0, 1000), *b = fake_new(0, 1000);

	fake_info(a, 10, "app", STAPE_STATE_RUNNING, 0);
	fake_info(a, 12, "work", S, 0)->tgid = 10;
	fake_info(a, 11, "work", S, 0)->tgid = 10;
	a->curr[0] = 10;
	fake_story(a, "100 [0] forks thread 13; 110 [0] names 13 work");

	fake_info(b, 80, "app", STAPE_STATE_RUNNING, 0);
	b->curr[0] = 80;
	fake_story(b, "100 [0] forks thread 81; 110 [0] forks thread 82; 120 [0] forks thread 83");

	compare(a, b);
	ok(pid_in_b(11) == 81 && pid_in_b(12) == 82 && pid_in_b(13) == 83,
	   "threads from the start come first, by PID");
}

/* If the numbers of children differ, children are matched by name. */
TEST(names)
{
	struct schedtape_tape *a = fake_new(0, 1000), *b = fake_new(0, 1000);

	fake_info(a, 10, "sh", STAPE_STATE_RUNNING, 0);
	a->curr[0] = 10;
	fake_story(a, "100 [0] forks 11; 101 [0] names 11 cc; 110 [0] forks 12; "
		      "111 [0] names 12 ld; 120 [0] forks 13; 121 [0] names 13 cc");

	fake_info(b, 80, "sh", STAPE_STATE_RUNNING, 0);
	b->curr[0] = 80;
	fake_story(b, "110 [0] forks 82; 111 [0] names 82 ld; 120 [0] forks 83; "
		      "121 [0] names 83 cc");

	compare(a, b);
	ok(pid_in_b(12) == 82 && pid_in_b(11) == 83 && !pid_in_b(13),
	   "children match by name, the rest is unmatched");
}

/* A task without a FORK event is a child of the parent in its description. */
TEST(joined)
{
	struct schedtape_tape *a = fake_new(0, 1000), *b = fake_new(0, 1000);

	fake_info(a, 10, "sh", S, 0);
	fake_info(a, 20, "daemon", S, 0);
	fake_describe(a, 100, 0, 11, STAPE_TASK_ENTERS, "work", 5)->ppid = 20;
	fake_describe(a, 110, 0, 12, STAPE_TASK_ENTERS, "work", 6)->ppid = 10;

	fake_info(b, 80, "sh", S, 0);
	fake_info(b, 90, "daemon", S, 0);
	b->curr[0] = 80;
	b->curr[1] = 90;
	fake_story(b, "100 [0] forks 82; 100 [0] names 82 work; 110 [0] forks 83; "
		      "110 [0] names 83 work; 120 [1] forks 91; 120 [1] names 91 work");

	compare(a, b);
	ok(two.d->matched == 4 && pid_in_b(11) == 91 && pid_in_b(12) == 82,
	   "a task that joined is its parent's child");
}

/* The same if another task had the parent's PID before. */
TEST(joined_later)
{
	struct schedtape_tape *a = fake_new(0, 1000), *b = fake_new(0, 1000);

	fake_info(a, 20, "old", S, 0)->start_time = 5;
	fake_describe(a, 100, 0, 29, STAPE_TASK_ENTERS, "work", 4)->ppid = 20;
	fake_describe(a, 120, 0, 20, STAPE_TASK_ENTERS, "new", 3000000);
	fake_describe(a, 130, 0, 31, STAPE_TASK_ENTERS, "work", 6)->ppid = 20;

	fake_info(b, 80, "old", S, 0);
	fake_info(b, 90, "new", S, 0);
	b->curr[0] = 90;
	b->curr[1] = 80;
	fake_story(b, "100 [0] forks 91; 100 [0] names 91 work; 110 [1] forks 81; "
		      "110 [1] names 81 work");

	compare(a, b);
	ok(two.d->matched == 4 && pid_in_b(29) == 81 && pid_in_b(31) == 91,
	   "of the parent that had the PID then");
}

/* The same if the child is described before its parent. */
TEST(child_first)
{
	struct schedtape_tape *a = fake_new(0, 1000), *b = fake_new(0, 1000);

	fake_info(a, 30, "work", S, 0)->ppid = 41;
	fake_info(a, 31, "work", S, 0)->ppid = 40;
	fake_info(a, 40, "daemon", S, 0);
	fake_info(a, 41, "sh", S, 0);

	fake_info(b, 80, "daemon", S, 0);
	fake_info(b, 90, "sh", S, 0);
	b->curr[0] = 80;
	b->curr[1] = 90;
	fake_story(b, "100 [0] forks 81; 100 [0] names 81 work; 110 [1] forks 91; "
		      "110 [1] names 91 work");

	compare(a, b);
	ok(two.d->matched == 4 && pid_in_b(30) == 91 && pid_in_b(31) == 81,
	   "children of parents that appear later");
}

/* An app wakes a kworker, a child of kthreadd, and is woken by it; it wakes its thread 3 times. */
static struct schedtape_tape *with_kworker(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	int i;

	fake_info(tape, 2, "kthreadd", S, 0);
	fake_info(tape, 30, "kworker/0:1", S, 0)->ppid = 2;
	fake_info(tape, 100, "app", STAPE_STATE_RUNNING, 0);
	fake_info(tape, 101, "thread", S, 1)->tgid = 100;
	tape->curr[0] = 100;
	for (i = 0; i < 3; i++) {
		fake_wake(tape, 100 + 10 * i, 0, 101, STAPE_CTX_TASK);
		fake_switch(tape, 101 + 10 * i, 1, 0, 101);
		fake_switch(tape, 105 + 10 * i, 1, S, 0);
	}
	fake_story(tape, "200 [0] wakes 30; 210 [0] S -> 30; 220 [0] wakes 100; 230 [0] S -> 100");
	return tape;
}

/* A replay of that, without the kworker's part, or with it; @wakes: of the thread. */
static struct schedtape_tape *replay_of_kworker(bool kworker, int wakes)
{
	static const uint32_t plays[] = { 100, 101, 30 };
	struct schedtape_tape *tape = fake_new(0, 1000);
	uint32_t i;

	fake_info(tape, 700, "app", STAPE_STATE_RUNNING, 0);
	fake_info(tape, 701, "thread", S, 1)->tgid = 700;
	if (kworker)
		fake_info(tape, 702, "kworker/0:1", S, 2);
	tape->curr[0] = 700;
	for (i = 0; i < (uint32_t)wakes; i++) {
		fake_wake(tape, 100 + 10 * i, 0, 701, STAPE_CTX_TASK);
		fake_switch(tape, 101 + 10 * i, 1, 0, 701);
		fake_switch(tape, 105 + 10 * i, 1, S, 0);
	}
	for (i = 0; i < 2 + (uint32_t)kworker; i++)
		tape->players[tape->nr_players++] = (struct schedtape_player) {
			.time = 1, .pid = 700 + i, .task_pid = plays[i],
		};
	return tape;
}

TEST(kthreads)
{
	size_t pairs, edges;

	compare(with_kworker(), replay_of_kworker(false, 3));
	schedtape_comparison_pairs(two.comparison, &pairs);
	schedtape_comparison_edges(two.comparison, &edges);
	ok(two.d->kthreads == 2 && two.d->matched == 2 && !two.d->only_a && pairs == 2,
	   "kernel threads that a replay leaves out are not compared");
	ok(two.d->same_graph && two.d->woken_a == 3 && two.d->woken_same == 3 && edges == 1,
	   "and the graph is judged without them");
	compare(with_kworker(), replay_of_kworker(false, 2));
	ok(!two.d->same_graph && two.d->edges_differ == 1 && !two.d->edges_only_a,
	   "other tasks are judged");
	compare(replay_of_kworker(false, 3), with_kworker());
	ok(two.d->kthreads == 2 && !two.d->only_b && two.d->same_graph,
	   "the same the other way round");
	compare(with_kworker(), replay_of_kworker(true, 3));
	ok(!two.d->kthreads && two.d->matched == 3 && two.d->only_a == 1 && !two.d->same_graph,
	   "if a replay has one of them, others are missed like any task");
	compare(with_kworker(), family(100, false, 3));
	ok(!two.d->kthreads && two.d->only_a == 4, "so are they on a tape of no replay");
}

/* Many tasks of one name, and many names: a quadratic matching would take minutes. */
TEST(many)
{
	struct schedtape_tape *a = fake_new(0, 10000000), *b = fake_new(0, 10000000);
	char comm[STAPE_COMM_LEN];
	uint32_t i;

	a->curr[0] = 1;
	fake_info(a, 1, "root", STAPE_STATE_RUNNING, 0);
	for (i = 0; i < 200000; i++)
		fake_fork(a, 10 + i, 0, 10 + i, false);
	/* No root in B: the remaining tasks are matched by name. */
	for (i = 0; i < 199999; i++) {
		snprintf(comm, sizeof(comm), i % 2 ? "root" : "t%u", i);
		fake_fork(b, 10 + i, 0, 10 + i, false);
		fake_rename(b, 10 + i, 0, 10 + i, comm);
	}
	compare(a, b);
	ok(two.d->matched == 99999 && two.d->only_a == 200001 - 99999, "200,000 tasks");
}

/* -- profiles ---------------------------------------------------------------------- */

/* 1 runs @burst ns and sleeps @sleep ns, repeatedly, and wakes 2 and 3 in the given @order. */
static struct schedtape_tape *habit(uint64_t burst, uint64_t sleep, const char *order)
{
	struct schedtape_tape *tape = fake_new(0, 10000000);
	uint64_t t = 1000;

	fake_info(tape, 1, "one", S, 0);
	fake_info(tape, 2, "two", S, 1);
	fake_info(tape, 3, "three", S, 2);
	for (; *order; order++) {
		fake_wake(tape, t, 0, 1, STAPE_CTX_HARDIRQ);
		fake_switch(tape, t += 50, 0, 0, 1);
		fake_wake(tape, t += burst, 0, *order - '0', STAPE_CTX_TASK);
		fake_switch(tape, t, *order - '1', 0, *order - '0');
		fake_switch(tape, t + 1, *order - '1', S, 0);
		fake_switch(tape, t += 2, 0, S, 0);
		t += sleep;
	}
	return tape;
}

struct profiled {
	struct schedtape_tape *tape;
	struct schedtape_timeline *timeline;
	struct schedtape_profile *profile;
};

static struct profiled profile(struct schedtape_tape *tape)
{
	struct profiled p = { .tape = tape };

	if (schedtape_profile_run(tape, &p.timeline, &p.profile, NULL))
		abort();
	return p;
}

static void unprofile(struct profiled *p)
{
	schedtape_timeline_free(p->timeline);
	schedtape_profile_free(p->profile);
	fake_free(p->tape);
}

/* Distances of 1's bursts, sleeps and delays; the share of wake-ups in another order. */
static void distances(struct schedtape_tape *left, struct schedtape_tape *right,
		      double d[SCHEDTAPE_NR_LENGTHS], double *order)
{
	struct profiled a = profile(left), b = profile(right);
	struct schedtape_comparison *comparison;
	const struct schedtape_pair *pairs;
	double total[SCHEDTAPE_NR_LENGTHS];
	size_t n, i;

	if (schedtape_compare(a.timeline, b.timeline, &comparison, NULL))
		abort();
	pairs = schedtape_comparison_pairs(comparison, &n);
	for (i = 0; i < SCHEDTAPE_NR_LENGTHS; i++)
		d[i] = schedtape_profile_distance(a.profile, b.profile, &pairs[0], i);
	ok(!schedtape_profile_total(a.profile, b.profile, pairs, n, total, NULL) &&
	   !(total[SCHEDTAPE_BURSTS] > 1) && !(total[SCHEDTAPE_SLEEPS] > 1),
	   "all together");
	ok(!schedtape_profile_order(a.profile, b.profile, comparison, order, NULL), "an order");
	schedtape_comparison_free(comparison);
	unprofile(&a);
	unprofile(&b);
}

TEST(distances)
{
	double d[SCHEDTAPE_NR_LENGTHS], order;
	char many[3001];

	distances(habit(100, 500, "2323"), habit(100, 500, "2323"), d, &order);
	ok(d[0] == 0 && d[1] == 0 && d[2] == 0 && order == 0, "a tape is like itself");
	distances(habit(100, 500, "2323"), habit(200, 500, "2233"), d, &order);
	ok(d[SCHEDTAPE_BURSTS] == 1 && d[SCHEDTAPE_SLEEPS] == 0, "longer bursts");
	ok(fabs(order - 1.0 / 6) < 1e-9, "one of six pairs in the other order");
	distances(habit(100, 500, "2323"), habit(100, 501, "3322"), d, &order);
	ok(d[SCHEDTAPE_SLEEPS] == 0, "less than a bucket is not seen");
	ok(fabs(order - 0.5) < 1e-9, "three of six pairs in the other order");
	distances(habit(100, 500, "2"), habit(100, 500, ""), d, &order);
	ok(isnan(d[SCHEDTAPE_BURSTS]) && isnan(order),
	   "bursts and orders that one tape has not have no distance");
	memset(many, '2', sizeof(many) - 1);
	many[3000] = '\0';
	distances(habit(100, 500, many), habit(100, 500, "22"), d, &order);
	ok(d[SCHEDTAPE_BURSTS] == 0, "thousands are like two, if they are alike");
}

/* Two bursts of 1; then another task has its PID, because its exit was lost. */
static struct schedtape_tape *two_bursts(bool taken)
{
	struct schedtape_tape *tape = fake_new(0, 100000);

	fake_info(tape, 1, "one", S, 0);
	fake_story(tape, "1000 [0] irq wakes 1; 1010 [0] R -> 1; 2010 [0] S -> idle; "
			 "3000 [0] irq wakes 1; 3010 [0] R -> 1; 8010 [0] S -> idle");
	fake_fork(tape, 9000, 0, taken ? 1 : 2, false);
	return tape;
}

TEST(burst_once)
{
	double d[SCHEDTAPE_NR_LENGTHS], order;

	distances(two_bursts(false), two_bursts(true), d, &order);
	ok(d[SCHEDTAPE_BURSTS] == 0, "a task that ends asleep has its last burst once");
}

/* -- memory ------------------------------------------------------------------------ */

#define WAKES		200000
#define MAY_TAKE	(6 << 20)	/* 30 bytes for each wake-up would exceed it */

/* Limits the memory of this process to little more than it has. */
static void limit_memory(void)
{
	unsigned long kib = 0;
	struct rlimit limit;
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmData: %lu kB", &kib) == 1)
			break;
	if (!kib)
		abort();
	fclose(file);
	limit.rlim_cur = kib * 1024 + MAY_TAKE;
	limit.rlim_max = limit.rlim_cur;
	if (!SANITIZED && setrlimit(RLIMIT_DATA, &limit))
		abort();
}

/* 1 wakes 2 and 3 in turn, and continues when these have slept. */
static struct schedtape_tape *many_wakes(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000000000);
	uint64_t t = 1000;
	uint32_t i;

	fake_info(tape, 1, "one", S, 0);
	fake_info(tape, 2, "two", S, 1);
	fake_info(tape, 3, "three", S, 1);
	fake_switch(tape, t, 0, 0, 1);
	for (i = 0; i < WAKES; i++) {
		fake_wake(tape, t += 10, 0, 2 + i % 2, STAPE_CTX_TASK);
		fake_switch(tape, t += 10, 1, 0, 2 + i % 2);
		fake_switch(tape, t += 10, 1, S, 0);
	}
	return tape;
}

TEST(memory)
{
	struct schedtape_tape *tape = many_wakes();
	struct schedtape_comparison *comparison;
	struct schedtape_timeline *a, *b;
	struct schedtape_profile *p, *q;
	double order = 1;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		limit_memory();
		if (schedtape_profile_run(tape, &a, &p, NULL) ||
		    schedtape_profile_run(tape, &b, &q, NULL) ||
		    schedtape_compare(a, b, &comparison, NULL) ||
		    schedtape_profile_order(p, q, comparison, &order, NULL))
			_exit(1);
		_exit(schedtape_comparison_distance(comparison)->woken_same != WAKES || order);
	}
	ok(waitpid(pid, &status, 0) == pid && !status, "%d wake-ups take less than %d MiB", WAKES,
	   MAY_TAKE >> 20);
	fake_free(tape);
}

int main(void)
{
	/* First, because later it could use memory that other tests have freed. */
	compare(fake_new(0, 1), fake_new(0, 1));
	ok(two.d->same_graph && !two.d->matched, "nothing equals nothing");
	tap_run();
	return tap_done();
}
