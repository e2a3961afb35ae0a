// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a part of a tape compiles to.
 */
#include <errno.h>

#include "programs.h"

/* Wake-ups by an excluded task are external. */
TEST(keep)
{
	uint32_t pid = 2;
	struct schedtape_program_options options = { .keep = keep_pid, .arg = &pid };

	round_trip();
	compile_as(&options);
	is_program(0, "0:until 500; 300:until 1800; 400:exit",
		   "a task that is left out wakes externally");
	ok(program && program->nr_tasks == 1 && !program->nr_edges && program->timed == 2,
	   "and has no player");
	options.external = SCHEDTAPE_EXTERNAL_RELATIVE;
	compile_as(&options);
	is_program(0, "0:until 500; 300:until 1800; 400:exit",
		   "at the time at which it did it, however long waits are kept");
	pid = 1;
	compile_as(&options);
	is_program(0, "0:until 1100; 600:exit", "a task does not wake a task that is left out");
}

/* 11 forks 12, which makes thread 13, which makes thread 14 and forks 15. */
static void generations(void)
{
	fake_begin(0, 1000);
	fake_story(tape, "0 [0] R -> 11; 100 [0] forks 12; 200 [0] S -> 12; "
			 "250 [0] forks thread 13; 300 [0] S -> 13; 350 [0] forks thread 14; "
			 "360 [0] forks 15; 400 [0] S -> 14");
	fake_prio(tape, 450, 0, 14, 1, 0, 7);
	fake_story(tape, "500 [0] X -> 15; 600 [0] X -> idle");
}

TEST(orphans)
{
	uint32_t pid = 12;
	const struct schedtape_program_options options = { .keep = keep_pid, .arg = &pid };

	generations();
	compile_as(&options);
	ok(program && program->nr_tasks == 4, "all but one");
	is_program(0, "0:until 0; 200:exit", "the parent does not fork a child that is left out");
	is_program(1, "0:until 250; 50:fork 2; 60:fork 3; 100:exit",
		   "its thread begins by itself, when it was made");
	ok(program && program->tasks[1].parent == SCHEDTAPE_NONE &&
	   program->tasks[1].process == 1 && program->tasks[2].process == 1 &&
	   program->tasks[2].parent == 1 && program->tasks[3].process == 3,
	   "and leads the process now");
	is_program(2, "50:prio 70001; 100:exit", "a change of priority");
	ok(program && program->nr_roots == 2 && program->roots[1] == 1 &&
	   !program->tasks[0].due && program->tasks[1].due == 250,
	   "it is not there before it is due");
}

/* The creator of a forked process's thread is excluded: the thread stays in that process. */
TEST(orphaned_threads)
{
	uint32_t pid = 13;
	const struct schedtape_program_options options = { .keep = keep_pid, .arg = &pid };

	generations();
	compile_as(&options);
	is_program(0, "0:until 0; 100:fork 1; 200:exit", "a process is forked");
	is_program(2, "0:until 350; 50:prio 70001; 100:exit",
		   "its thread waits for the time at which it was made");
	ok(program && program->nr_tasks == 4 && program->tasks[2].process == 1 &&
	   program->tasks[1].threads == 2 && program->tasks[2].sibling == SCHEDTAPE_NONE,
	   "and is started by its process's leader");
	ok(program && program->nr_roots == 2 && program->roots[1] == 3,
	   "other processes have no part in that");
}

/*
 * A late description makes a thread look older than its process.  It causes the process's fork, so
 * it must not wait for the process.
 */
TEST(older_thread)
{
	fake_begin(0, 1000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_story(tape, "100 [0] R -> 3; 150 [0] wakes 1; 200 [0] S -> 1; 250 [0] forks 2");
	fake_describe(tape, 300, 0, 3, STAPE_TASK_EXITS, "thread", 5)->tgid = 2;
	fake_switch(tape, 400, 0, STAPE_STATE_DEAD, 0);
	compile();
	is_program(0, "0:wait 0; 50:fork 2; 200:exit", "a process is forked late");
	ok(program && program->nr_tasks == 3 && program->tasks[1].process == 2 &&
	   program->tasks[2].threads == SCHEDTAPE_NONE && program->nr_roots == 2 &&
	   program->roots[1] == 1, "a thread that causes its process's fork does not wait for it");
}

TEST(window)
{
	struct schedtape_program_options options = { .from = 2200, .to = 2850 };

	round_trip();
	compile_as(&options);
	is_program(0, "0:until 0; 100:wait 0; 100:exit", "runs at the beginning");
	is_program(1, "0:until 0; 500:wake 0; 550:exit", "was woken before the beginning");
	ok(program && program->duration == 650, "lasts as long as it says");

	options = (struct schedtape_program_options){ .from = 275, .to = 500 };
	generations();
	compile_as(&options);
	is_program(1, "0:until 0; 25:exit", "forked before");
	is_program(2, "0:until 0; 50:fork 3; 60:fork 4; 100:exit", "made before, and runs later");
	ok(program && program->nr_tasks == 5 && program->tasks[2].process == 1,
	   "those that are there at the beginning, and those that come");

	options = (struct schedtape_program_options){ .from = 5000 };
	round_trip();
	compile_as(&options);
	ok(program && program->nr_tasks == 2, "asleep behind the end");
}

/* 1 is outside of the filter when the part begins, and enters later. */
TEST(away)
{
	struct schedtape_program_options options = { .from = 500 };

	fake_begin(0, 2000);
	fake_info(tape, 1, "one", STAPE_STATE_RUNNING, 0)->start_time = 5;
	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 1);
	fake_describe(tape, 200, 1, 1, STAPE_TASK_LEAVES, "one", 5);
	fake_switch(tape, 250, 0, STAPE_STATE_RUNNING, 0);
	fake_describe(tape, 1000, 1, 1, STAPE_TASK_ENTERS, "one", 5);
	fake_story(tape, "1100 [0] R -> 1; 1300 [0] X -> idle");
	compile_as(&options);
	is_program(0, "0:until 500; 200:exit",
		   "a task that is out of the filter at the beginning waits until it comes back");
}

/*
 * A kworker ends a sleep of 10 in state D, creates the process 50, and is one of three kernel
 * threads: kthreadd creates 31 later.  11 is an io_uring worker of 10, and nobody knows the parent
 * of 40.
 */
static void kernel(void)
{
	fake_begin(0, 1000);
	fake_info(tape, 2, "kthreadd", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 30, "kworker/0:1", STAPE_STATE_IDLE, 0)->ppid = 2;
	fake_info(tape, 10, "app", STAPE_STATE_SLEEPING, 0)->ppid = 1;
	fake_info(tape, 11, "iou-wrk-10", STAPE_STATE_SLEEPING, 0)->ppid = 1;
	tape->tasks[3].tgid = 10;
	fake_info(tape, 40, "kworker/1:0", STAPE_STATE_IDLE, 0);
	fake_story(tape, "100 [0] irq wakes 10; 100 [0] R -> 10; 150 [0] wakes 30; "
			 "200 [0] D -> 30; 250 [0] forks 50; 300 [0] wakes 10; 400 [0] I -> 10; "
			 "450 [0] wakes 11; 500 [0] S -> 11; 600 [0] S -> 40; 700 [0] I -> 2; "
			 "750 [0] forks 31; 800 [0] S -> 31; 900 [0] X -> idle");
}

TEST(kthreads)
{
	const struct schedtape_program_options all = { .kthreads = true };
	struct schedtape_program_options options = { .from = 720 };
	uint32_t pid = 30;

	kernel();
	compile();
	ok(program && program->nr_tasks == 4 && program->nr_kthreads == 3 &&
	   program->tasks[0].pid == 10 && program->tasks[1].pid == 11 &&
	   program->tasks[2].pid == 40 && program->tasks[3].pid == 50,
	   "kthreadd and its children are left out, but no io_uring worker, no child of a kworker, "
	   "and no task without a known parent");
	is_program(0, "0:until 100; 100:for 100 D; 150:wake 0!; 200:exit",
		   "a wake-up by a kernel thread is external");

	compile_as(&all);
	ok(program && program->nr_tasks == 7 && !program->nr_kthreads, "unless all are wanted");
	is_program(2, "0:until 100; 50:wake 0!; 100:wait 1 D; 150:wake 2!; 200:exit",
		   "then its waker is a player");

	compile_as(&options);
	ok(program && program->nr_kthreads == 3, "those that are there later: %u",
	   program ? program->nr_kthreads : 0);
	options = (struct schedtape_program_options){ .keep = keep_pid, .arg = &pid };
	compile_as(&options);
	ok(program && program->nr_kthreads == 2, "one that is excluded does not count");
}

static bool keep_kworker(void *arg, const struct schedtape_task *task)
{
	(void)arg;
	return task->pid == 30;
}

TEST(only_kthreads)
{
	const struct schedtape_program_options options = { .keep = keep_kworker };
	struct schedtape_program *none = NULL;
	struct schedtape_error err = { "" };

	kernel();
	ok(schedtape_program_compile(tape, &options, &none, &err) == -ENODATA && !none &&
	   !strcmp(err.text, "only kernel threads were chosen: --kthreads replays them"),
	   "nothing but kernel threads: %s", err.text);
}

TEST_MAIN
