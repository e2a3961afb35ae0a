// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: causes of events: which task woke which by futex, pipe and signal, which
 * children and threads belong to which task, and names after exec.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define PAGES 1024

FIXTURE(causes)
{
	struct st_record r;
	struct st_child w;
	struct st_counts c;
	pid_t root;
};

FIXTURE_SETUP(causes)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
}

ST_TEARDOWN(causes)

/* Records the child, which waits at its first gate, until its end. */
static bool record(FIXTURE_DATA(causes) *self)
{
	int status;

	self->root = self->w.pid;
	if (st_record_start_with(&self->r, &self->w, 1))
		return false;
	st_child_go(&self->w);
	st_child_go(&self->w);
	status = st_child_wait(&self->w);
	if (status) {
		printf("# the workload ended with %d\n", status);
		return false;
	}
	if (!st_record_wait_tasks(&self->r, 0) || st_record_finish(&self->r))
		return false;
	st_count(&self->r, self->root, &self->c);
	return true;
}

/* -- futex ------------------------------------------------------------------ */

#define RING 3
#define ROUNDS 200

struct ring {
	uint32_t turn;
	uint32_t woken[RING];	/* waits that another task ended */
	pid_t tids[RING];
};

static long futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

struct seat {
	struct ring *ring;
	uint32_t *word;		/* its own: wake-ups of others do not end its wait */
	uint32_t *next;
	int number;
};

static void *sit(void *arg)
{
	struct seat *seat = arg;
	int i;

	seat->ring->tids[seat->number] = gettid();
	for (i = 0; i < ROUNDS; i++) {
		while (!__atomic_exchange_n(seat->word, 0, __ATOMIC_SEQ_CST))
			if (!futex(seat->word, FUTEX_WAIT, 0))
				seat->ring->woken[seat->number]++;
		__atomic_store_n(seat->next, 1, __ATOMIC_SEQ_CST);
		futex(seat->next, FUTEX_WAKE, 1);
	}
	return NULL;
}

/* A token goes round among three threads: each is woken by the one before it. */
static int pass_token(void *arg)
{
	static uint32_t words[RING];
	struct seat seats[RING];
	pthread_t threads[RING];
	int i;

	st_batch();
	for (i = 0; i < RING; i++)
		seats[i] = (struct seat){
			.ring = arg,
			.word = &words[i],
			.next = &words[(i + 1) % RING],
			.number = i,
		};
	words[0] = 1;
	for (i = 0; i < RING; i++)
		if (pthread_create(&threads[i], NULL, sit, &seats[i]))
			return 1;
	for (i = 0; i < RING; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

FIXTURE_VARIANT(causes)
{
	int cpu;
};

FIXTURE_VARIANT_ADD(causes, one_cpu)
{
};

FIXTURE_VARIANT_ADD(causes, all_cpus)
{
	.cpu = -1,
};

TEST_F_TIMEOUT(causes, futex, 60)
{
	struct ring *ring = st_share(sizeof(*ring));
	struct st_counts c;
	size_t i;
	int n;

	ASSERT_EQ(0, st_child_fork(&self->w, variant->cpu, pass_token, ring));
	ASSERT_TRUE(record(self));
	EXPECT_EQ(NULL, st_check(&self->r, &self->root, 1));
	for (n = 0; n < RING; n++) {
		uint32_t by_neighbour = 0;
		pid_t before = ring->tids[(n + RING - 1) % RING];

		st_count(&self->r, ring->tids[n], &c);
		for (i = 0; i < self->r.n; i++) {
			const struct schedtape_event *ev = &self->r.events[i];

			if (ev->type == STAPE_EV_WAKING && ev->pid == (uint32_t)ring->tids[n] &&
			    ev->arg == STAPE_CTX_TASK && ev->curr == (uint32_t)before)
				by_neighbour++;
		}
		EXPECT_LE(by_neighbour, ring->woken[n] + st_lock_sleeps());
		EXPECT_LE(c.out[STAPE_STATE_SLEEPING], st_wakings(&c));
		if (!variant->cpu || st_exact())
			EXPECT_LE(ring->woken[n], by_neighbour + ROUNDS / 20 * (variant->cpu < 0));
		/*
		 * Other tasks wake it only from libc's locks and the kernel's mutexes. How often
		 * depends on where the host stops a CPU.
		 */
		if (st_exact())
			EXPECT_LE(st_wakings(&c), by_neighbour + 20 + st_lock_sleeps());
		EXPECT_LT(variant->cpu || !st_exact() ? 0 : ROUNDS / 2, by_neighbour);
		EXPECT_EQ(1, c.exits);
		EXPECT_EQ(1, c.forked);
	}
}

/* The same with a program, whose threads are known by their place in the tree. */
TEST_F_TIMEOUT(causes, chain, 60)
{
	static const char * const argv[] = { "chain", "100", "2", NULL };
	static const char * const woken[] = { "stage_woken", "consumer_woken" };
	uint32_t chain[3] = { 0 };
	uint64_t edges[3][3] = { 0 };
	int n = 0, from, to;
	size_t i;

	ASSERT_EQ(0, st_child_program(&self->w, variant->cpu, argv));
	ASSERT_TRUE(record(self));
	EXPECT_EQ(NULL, st_check(&self->r, &self->root, 1));
	EXPECT_EQ(100, st_child_value(&self->w, "items"));
	chain[n++] = self->root;
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type == STAPE_EV_FORK && n < 3)
			chain[n++] = ev->pid;
		if (ev->type != STAPE_EV_WAKING || ev->arg != STAPE_CTX_TASK)
			continue;
		for (from = 0; from < n; from++)
			for (to = 0; to < n; to++)
				edges[from][to] += ev->curr == chain[from] && ev->pid == chain[to];
	}
	ASSERT_EQ(3, n);
	/* On a busy host a thread may have its next item before it sleeps, so it counts itself. */
	for (from = 0; from < 2; from++) {
		uint64_t slept = st_child_value(&self->w, woken[from]);

		EXPECT_LE(edges[from][from + 1], slept + 10 + st_lock_sleeps());
		EXPECT_LE(slept, edges[from][from + 1] + 10 + st_lock_sleeps());
		EXPECT_LE(st_exact() ? 50 : 1, edges[from][from + 1]);
	}
	EXPECT_GE(5 + st_lock_sleeps(), edges[2][0] + edges[2][1] + edges[0][2]);
	EXPECT_EQ(0, edges[0][0] + edges[1][1] + edges[2][2]);
}

/* -- trees ------------------------------------------------------------------ */

struct tree {
	unsigned int forks, threads;	/* of all tasks */
	unsigned int parents;		/* tasks with the expected number of children */
	unsigned int others;		/* with another number */
};

static void walk(const struct st_record *r, pid_t pid, unsigned int width, struct tree *tree)
{
	unsigned int children = 0;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type != STAPE_EV_FORK || ev->curr != (uint32_t)pid)
			continue;
		if (ev->arg & STAPE_FORK_THREAD) {
			tree->threads++;
			continue;
		}
		tree->forks++;
		children++;
		walk(r, ev->pid, width, tree);
	}
	if (children == width)
		tree->parents++;
	else if (children)
		tree->others++;
}

TEST_F_TIMEOUT(causes, forktree, 60)
{
	static const char * const argv[] = { "forktree", "3", "3", "2", NULL };
	const unsigned int processes = 1 + 3 + 9 + 27;
	struct tree tree = { 0 };

	ASSERT_EQ(0, st_child_program(&self->w, variant->cpu, argv));
	ASSERT_TRUE(record(self));
	EXPECT_EQ(NULL, st_check(&self->r, &self->root, 1));
	EXPECT_EQ(processes, st_child_value(&self->w, "processes"));
	walk(&self->r, self->root, 3, &tree);
	EXPECT_EQ(processes - 1, tree.forks);
	EXPECT_EQ(2 * processes, tree.threads);
	EXPECT_EQ(1 + 3 + 9, tree.parents);
	EXPECT_EQ(0, tree.others);
	EXPECT_EQ(tree.forks + tree.threads, st_count_type(&self->r, STAPE_EV_FORK));
	EXPECT_EQ(tree.forks + tree.threads, st_count_type(&self->r, STAPE_EV_WAKEUP_NEW));
	EXPECT_EQ(tree.forks + tree.threads + 1, st_count_type(&self->r, STAPE_EV_EXIT));
	EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_EXEC));
}

/* Forks a process, which forks another one that is a child of this one. */
static int fork_sibling(void *arg)
{
	pid_t forker = fork();

	(void)arg;
	if (forker < 0)
		return 1;
	if (!forker)
		_exit(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) < 0);
	return wait(NULL) < 0 || wait(NULL) < 0;
}

TEST_F_TIMEOUT(causes, sibling, 60)
{
	uint32_t forker = 0, siblings = 0;
	size_t i;

	ASSERT_EQ(0, st_child_fork(&self->w, variant->cpu, fork_sibling, NULL));
	ASSERT_TRUE(record(self));
	EXPECT_EQ(NULL, st_check(&self->r, &self->root, 1));
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type != STAPE_EV_FORK)
			continue;
		if (ev->arg & STAPE_FORK_SIBLING) {
			EXPECT_EQ(forker, ev->curr);
			siblings++;
		} else {
			EXPECT_EQ(self->root, ev->curr);
			forker = ev->pid;
		}
	}
	EXPECT_EQ(1, siblings);
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_FORK));
}

/* The end of every program is recorded: a task that is switched out dead has exited before. */
TEST_F_TIMEOUT(causes, storm, 90)
{
	static const char * const argv[] = { "storm", "2", "3", "30", NULL };
	size_t i;
	int dead = 0;

	ASSERT_EQ(0, st_child_program(&self->w, variant->cpu, argv));
	ASSERT_TRUE(record(self));
	EXPECT_EQ(NULL, st_check(&self->r, &self->root, 1));
	EXPECT_EQ(2 * 3 * 3 * 30, st_child_value(&self->w, "messages"));
	for (i = 0; i < self->r.n; i++)
		dead += self->r.events[i].type == STAPE_EV_SWITCH && self->r.events[i].curr &&
			schedtape_switch_state(&self->r.events[i]) == STAPE_STATE_DEAD;
	EXPECT_EQ(2 * 2 * 3 + 1, dead);
	EXPECT_EQ(2 * 2 * 3 + 1, st_count_type(&self->r, STAPE_EV_EXIT));
}

/* -- exec -------------------------------------------------------------------- */

static int rename_and_exec(void *arg)
{
	prctl(PR_SET_NAME, "before exec");
	munlockall();
	execl("/bin/true", "true", NULL);
	return 1;
}

TEST_F(causes, exec)
{
	const char *names[8] = { NULL };
	int n = 0, exec_at = -1;
	size_t i;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w, variant->cpu, rename_and_exec, NULL));
	self->root = self->w.pid;
	st_child_go(&self->w);
	EXPECT_EQ(0, st_child_wait(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, &self->root, 1));
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type == STAPE_EV_RENAME && n < 8)
			names[n++] = ev->comm;
		if (ev->type != STAPE_EV_EXEC)
			continue;
		exec_at = n;
		EXPECT_EQ(self->root, ev->pid);
		EXPECT_EQ(self->root, ev->old_pid);
	}
	ASSERT_EQ(2, n);
	EXPECT_EQ(2, exec_at);
	EXPECT_STREQ("before exec", names[0]);
	EXPECT_STREQ("true", names[1]);
}

/* A thread that is not its group's leader takes the leader's PID. */
static pid_t *shared_tid;

static void *exec_in_thread(void *arg)
{
	*shared_tid = gettid();
	execl("/bin/true", "true", NULL);
	return arg;
}

static int start_exec_thread(void *arg)
{
	pthread_t thread;

	shared_tid = arg;
	munlockall();
	if (pthread_create(&thread, NULL, exec_in_thread, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 1;
}

TEST_F(causes, exec_of_a_thread)
{
	pid_t *tid = st_share(sizeof(*tid));
	bool execed = false, ran = false, exited = false;
	size_t i;

	ASSERT_EQ(0, st_child_fork(&self->w, variant->cpu, start_exec_thread, tid));
	ASSERT_TRUE(record(self));
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type == STAPE_EV_EXEC) {
			EXPECT_EQ(self->root, ev->pid);
			EXPECT_EQ(*tid, ev->old_pid);
			execed = true;
			continue;
		}
		if (!execed)
			continue;
		EXPECT_NE(*tid, ev->pid);
		ran |= ev->curr == (uint32_t)self->root;
		exited |= ev->type == STAPE_EV_EXIT && ev->pid == (uint32_t)self->root;
	}
	EXPECT_TRUE(execed);
	EXPECT_TRUE(ran);
	EXPECT_TRUE(exited);
}

TEST_HARNESS_MAIN
