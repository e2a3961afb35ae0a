// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what policies, cgroups and affinities of a tape compile to.
 */
#include "programs.h"

/* With a deadline from the start, with another one, and without. */
TEST(deadline)
{
	struct schedtape_task_info *task;
	struct schedtape_prio prio;
	size_t last;

	fake_begin(0, 9000);
	task = fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	task->policy = 6;
	task->dl = (struct schedtape_deadline){ 10, 20, 30 };
	fake_story(tape, "100 [0] R -> 1; 200 [0] forks 2");
	fake_prio(tape, 300, 0, 1, 6, 0, 0);
	last = tape->nr - 1;
	tape->events[last].dl = (struct schedtape_deadline){ 11, 20, 30 };
	fake_prio(tape, 400, 0, 1, 6, 0, 0);
	tape->events[last + 1].dl = (struct schedtape_deadline){ 11, 20, 30 };
	fake_prio(tape, 450, 0, 1, 6, 0, 0);
	tape->events[last + 2].dl = (struct schedtape_deadline){ 10, 20, 30 };
	fake_prio(tape, 500, 0, 1, 0, 0, 0);
	fake_switch(tape, 600, 0, STAPE_STATE_DEAD, 2);
	fake_prio(tape, 650, 0, 2, 1, 0, 9);
	fake_switch(tape, 700, 0, STAPE_STATE_DEAD, 0);
	compile();
	ok(program && program->nr_more == 2 && program->tasks[0].prio.policy == 6 &&
	   schedtape_program_more(program, &program->tasks[0].prio)->dl.runtime == 10,
	   "a deadline from the start");
	is_program(0, "0:until 0; 100:fork 1; 200:prio 2000006; 350:prio 1000006; "
		   "400:prio 0; 500:exit", "each other one is a change, and none is");
	prio = schedtape_prio_unpack(0x2000006);
	ok(program && prio.policy == 6 && prio.more == 2 &&
	   schedtape_program_more(program, &prio)->dl.runtime == 11, "and says which");
	is_program(1, "50:prio 90001; 100:exit", "children do not have it");
}

/* A slice from the start, which a child inherits, and clamps that another child gets. */
TEST(wish)
{
	fake_begin(0, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0)->wish.slice = 50;
	fake_story(tape, "100 [0] R -> 1; 200 [0] forks 2");
	fake_prio(tape, 300, 0, 1, 0, 0, 0);
	fake_switch(tape, 400, 0, STAPE_STATE_DEAD, 2);
	fake_prio(tape, 450, 0, 2, 0, 0, 0);
	tape->events[tape->nr - 1].wish.slice = 50;
	fake_prio(tape, 500, 0, 2, 0, 0, 0);
	tape->events[tape->nr - 1].wish.clamps = 1025;
	fake_switch(tape, 600, 0, STAPE_STATE_DEAD, 0);
	compile();
	ok(program && program->nr_slices == 2 && program->nr_clamped == 1 && program->nr_more == 2,
	   "tasks with slices and clamps are counted");
	ok(program && schedtape_program_more(program, &program->tasks[0].prio)->wish.slice == 50,
	   "a slice from the start");
	is_program(0, "0:until 0; 100:fork 1; 200:prio 0; 300:exit", "which is lost");
	is_program(1, "100:prio 2000000; 200:exit", "a child has it");
}

/* SCHED_EXT from the start, by a change, from birth on, and not at all. */
TEST(ext)
{
	fake_begin(0, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0)->policy = 7;
	fake_info(tape, 3, "three", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 4, "four", STAPE_STATE_SLEEPING, 0);
	fake_story(tape, "100 [0] R -> 1; 200 [0] forks 2");
	fake_prio(tape, 300, 0, 3, 7, 0, 0);
	fake_prio(tape, 350, 0, 3, 0, 0, 0);
	fake_prio(tape, 400, 0, 3, 7, 5, 0);
	fake_prio(tape, 450, 0, 4, 3, 0, 0);
	fake_switch(tape, 500, 0, STAPE_STATE_DEAD, 0);
	compile();
	ok(program && program->nr_tasks == 4 && program->nr_ext == 3,
	   "tasks with SCHED_EXT, from the start, from birth or later, count once each");
	ok(program && program->tasks[0].prio.policy == 7 && program->tasks[0].ext,
	   "which the program says of each");
}

/* A cgroup from the start, by a move, and another one from birth on. */
TEST(cgroups)
{
	fake_begin(0, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0)->cgroup = 7;
	fake_story(tape, "100 [0] R -> 1; 200 [0] forks 2");
	fake_describe(tape, 200, 0, 2, STAPE_TASK_MOVES, "one", 0)->cgroup = 8;
	fake_fork(tape, 300, 0, 3, false);
	fake_describe(tape, 400, 1, 1, STAPE_TASK_MOVES, "one", 0)->cgroup = 9;
	fake_describe(tape, 450, 1, 1, STAPE_TASK_EXITS, "one", 0)->cgroup = 9;
	fake_story(tape, "500 [0] X -> 2; 600 [0] S -> 3; 700 [0] S -> 4");
	fake_describe(tape, 750, 0, 4, STAPE_TASK_EXITS, "four", 0)->cgroup = 8;
	fake_switch(tape, 800, 0, STAPE_STATE_DEAD, 0);
	compile();
	ok(program && program->nr_cgroups == 3 && program->tasks[0].cgroup != SCHEDTAPE_NONE &&
	   program->cgroups[program->tasks[0].cgroup] == 7, "where it was at the start");
	is_program(0, "0:until 0; 100:fork 1; 200:fork 2; 300:move 9; 400:exit",
		   "a move at the CPU time that it had used");
	is_program(1, "0:move 8; 100:exit", "a fork into another one than the parent's");
	is_program(2, "100:exit", "a fork where the parent is");
	ok(program && program->nr_tasks == 4 && program->tasks[3].cgroup != SCHEDTAPE_NONE &&
	   program->cgroups[program->tasks[3].cgroup] == 8,
	   "a task that is described late was in its cgroup from the start");
	is_program(3, "0:until 0; 100:exit", "and did not move");
}

/* Many cgroups: comparing each with all others would take minutes. */
TEST(many_cgroups)
{
	struct schedtape_program *many = calloc(1, sizeof(*many));
	uint32_t i, index, right = 0;

	if (!many)
		abort();
	for (i = 0; i < 2 * 400000; i++)
		right += !schedtape_program_add_cgroup(many, (i % 400000) * 1024ULL, &index) &&
			 index == i % 400000 && many->cgroups[index] == index * 1024ULL;
	ok(right == 2 * 400000 && many->nr_cgroups == 400000, "400,000 cgroups, each twice");
	schedtape_program_close(many);
	schedtape_program_free(many);
}

static uint64_t affinity_of(uint32_t index)
{
	uint64_t word;

	if (!program || index >= program->nr_affinities)
		return 0;
	memcpy(&word, program->affinities[index], sizeof(word));
	return le64toh(word);
}

static void pinned(void)
{
	static const unsigned char everywhere = 0xff;
	struct schedtape_task_info *task;

	fake_begin(0, 9000);
	task = fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	task->affinity = &everywhere;
	task->affinity_bytes = 1;
	fake_story(tape, "100 [0] R -> 1; 150 [0] forks 4");
	fake_affinity(tape, 200, 0, 1, 2);
	fake_fork(tape, 300, 0, 2, false);
	fake_affinity(tape, 350, 0, 2, 5ULL << 60);
	fake_affinity(tape, 400, 0, 1, 2);
	fake_story(tape, "450 [0] forks 3; 500 [0] X -> 2; 600 [0] X -> 3; 700 [0] X -> 4; "
			 "800 [0] X -> idle");
}

TEST(affinities)
{
	const struct schedtape_program_options late = { .from = 320 };
	uint32_t pid = 1;
	const struct schedtape_program_options orphans = { .keep = keep_pid, .arg = &pid };

	pinned();
	compile();
	ok(program && program->nr_affinities == 3 && affinity_of(1) == 2 &&
	   affinity_of(2) == 5ULL << 60, "each affinity once");
	is_program(0, "0:until 0; 50:fork 1; 100:pin 1; 200:fork 2; 350:fork 3; "
		   "400:exit", "an affinity is set, unless the task has it already");
	is_program(2, "0:pin 2; 100:exit", "by another task, too");
	ok(program && affinity_of(program->tasks[0].affinity) == 0xff,
	   "at first it may run where the tape's description says");

	compile_as(&orphans);
	ok(program && program->nr_tasks == 3 && program->tasks[0].pid == 4 &&
	   affinity_of(program->tasks[0].affinity) == 0xff,
	   "a task whose parent is left out begins with the affinity in its parent's description");
	ok(program && program->tasks[1].pid == 2 &&
	   affinity_of(program->tasks[1].affinity) == 2,
	   "or with an affinity that the parent got later");

	compile_as(&late);
	ok(program && program->nr_tasks >= 2 && program->tasks[0].pid == 1 &&
	   affinity_of(program->tasks[0].affinity) == 2,
	   "a task begins with the affinity that it has when --time begins");
}

TEST(many_cpus)
{
	static const unsigned char everywhere[128] = { [0 ... 127] = 0xff };
	static unsigned char first[128] = { 0xff };
	struct schedtape_task_info *tasks[2];

	fake_begin(0, 9000);
	tasks[0] = fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	tasks[0]->affinity = everywhere;
	tasks[0]->affinity_bytes = sizeof(everywhere);
	tasks[1] = fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 0);
	tasks[1]->affinity = first;
	tasks[1]->affinity_bytes = sizeof(first);
	compile();
	ok(program && program->nr_cut == 1 && affinity_of(program->tasks[0].affinity) == UINT64_MAX,
	   "an affinity with more CPUs than the program's can have is cut, and counted");
}

/* The parent has a slice and reset-on-fork, so its child has no slice. */
TEST(reset_on_fork)
{
	fake_begin(0, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0)->wish.slice = 50;
	fake_story(tape, "100 [0] R -> 1; 200 [0] forks 2");
	fake_prio(tape, 200, 0, 2, 0, 0, 0);
	fake_story(tape, "300 [0] X -> 2; 400 [0] X -> idle");
	compile();
	ok(program && program->nr_slices == 1, "a child that does not inherit a slice has none");
	is_program(1, "0:prio 0; 100:exit", "and its player drops it");
}

/* Two tasks, and a child of the first one.  @second: the autogroup of the second task */
static void grouped(uint32_t second, int nice)
{
	size_t i;

	fake_begin(0, 9000);
	for (i = 0; i < 2; i++) {
		fake_info(tape, 1 + i, "a", STAPE_STATE_SLEEPING, 0);
		tape->groups[i] = (struct schedtape_group){
			.pid = 1 + i, .autogroup = i ? second : 7, .nice = nice,
		};
	}
	tape->nr_groups = 2;
	fake_story(tape, "100 [0] R -> 1; 200 [0] forks 3; 300 [0] X -> 2; 400 [0] X -> 3");
	if (second == 7)
		fake_describe(tape, 450, 0, 3, STAPE_TASK_REGROUPED, "a", 199)->autogroup =
			nice ? 7 : 3;
	fake_switch(tape, 500, 0, STAPE_STATE_DEAD, 0);
}

/* Autogroups from the start, and one that a task makes. */
TEST(autogroups)
{
	grouped(8, 0);
	compile();
	ok(program && program->nr_grouped == 3 && program->tasks[0].autogroup == 7 &&
	   program->tasks[1].autogroup == 8, "two autogroups from the start");
	grouped(7, 0);
	compile();
	ok(program && program->nr_grouped == 3 && program->tasks[1].autogroup == 7,
	   "one that two tasks share");
	is_program(2, "50:setsid; 100:exit", "which a third one leaves");
	grouped(7, -5);
	compile();
	ok(program && program->nr_grouped == 3 && program->tasks[1].autogroup_nice == -5,
	   "one with a nice value");
	is_program(2, "100:exit", "for all tasks");
	grouped(7, SCHEDTAPE_NICE_UNKNOWN);
	compile();
	ok(program && !program->nr_grouped, "one for all tasks, which has no effect");
	grouped(7, 0);
	tape->nr_groups = 0;
	compile();
	ok(program && !program->nr_grouped, "those of a tape without a list of them are not known");
}

/* A leader that leaves the autogroup of its session and comes back, from the start and later. */
TEST(autogroup_again)
{
	fake_begin(0, 9000);
	fake_info(tape, 1, "a", STAPE_STATE_SLEEPING, 0);
	tape->groups[0] = (struct schedtape_group){ .pid = 1, .autogroup = 1, .nice = -5 };
	tape->nr_groups = 1;
	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 1);
	fake_describe(tape, 150, 0, 1, STAPE_TASK_MOVES, "a", 0)->autogroup = 0;
	fake_describe(tape, 200, 0, 1, STAPE_TASK_MOVES, "a", 0)->autogroup = 1;
	fake_story(tape, "300 [0] forks 2; 400 [0] X -> 2");
	fake_describe(tape, 450, 0, 2, STAPE_TASK_REGROUPED, "a", 399)->autogroup = 2;
	fake_describe(tape, 500, 0, 2, STAPE_TASK_MOVES, "a", 399)->autogroup = 0;
	fake_describe(tape, 550, 0, 2, STAPE_TASK_MOVES, "a", 399)->autogroup = 2;
	fake_switch(tape, 600, 0, STAPE_STATE_DEAD, 0);
	compile();
	is_program(0, "0:until 0; 200:fork 1; 300:exit",
		   "a leader that comes back into its autogroup makes no session");
	is_program(1, "50:setsid; 200:exit", "and another one makes only its first");
}

TEST_MAIN
