// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what tapes compile to.
 */
#include <program.h>

#include "fake-tape.h"
#include "program-store.h"
#include "tap.h"

static const char *op_text(const struct schedtape_program *program, const struct schedtape_op *op,
			   char text[64])
{
	unsigned long long cpu = op->cpu, value = op->value;

	switch (op->kind) {
	case SCHEDTAPE_OP_WAKE:
		snprintf(text, 64, "%llu:wake %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_WAIT_EDGE:
		snprintf(text, 64, "%llu:wait %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_WAIT_UNTIL:
		snprintf(text, 64, "%llu:until %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_WAIT_FOR:
		snprintf(text, 64, "%llu:for %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_FORK:
		snprintf(text, 64, "%llu:fork %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_RENAME:
		snprintf(text, 64, "%llu:name %s", cpu, program->names[value]);
		break;
	case SCHEDTAPE_OP_SETPRIO:
		snprintf(text, 64, "%llu:prio %llx", cpu, value);
		break;
	case SCHEDTAPE_OP_SETAFFINITY:
		snprintf(text, 64, "%llu:pin %llu", cpu, value);
		break;
	case SCHEDTAPE_OP_MOVE:
		snprintf(text, 64, "%llu:move %llu", cpu,
			 (unsigned long long)program->cgroups[value]);
		break;
	case SCHEDTAPE_OP_EXIT:
		snprintf(text, 64, "%llu:exit", cpu);
		break;
	default:
		return "";
	}
	if (op->blocked)
		strcat(text, " D");
	if (op->expected)
		strcat(text, "!");
	return text;
}

/* "0:until 0; 100:wake 0!; …", without wake-ups that were none; "!": expected. */
static const char *program_text(const struct schedtape_program *program, uint32_t number)
{
	static char text[1024];
	char one[64];
	const struct schedtape_op *op = NULL;
	size_t at = 0;

	text[0] = '\0';
	if (number < program->nr_tasks)
		op = schedtape_program_begin(program, number);
	for (; op; op = schedtape_program_next(program, op)) {
		if (op->kind == SCHEDTAPE_OP_NONE)
			continue;
		at += snprintf(text + at, sizeof(text) - at, "%s%s", at ? "; " : "",
			       op_text(program, op, one));
	}
	return text;
}

static struct schedtape_program *
compile_as(struct schedtape_tape *tape, const struct schedtape_program_options *options)
{
	struct schedtape_program *program = NULL;
	struct schedtape_error err = { "" };

	if (schedtape_program_compile(tape, options, &program, &err))
		printf("# %s\n", err.text);
	fake_free(tape);
	return program;
}

static struct schedtape_program *compile(struct schedtape_tape *tape)
{
	const struct schedtape_program_options options = { 0 };

	return compile_as(tape, &options);
}

static void is_program(const struct schedtape_program *program, uint32_t number,
		       const char *expected, const char *what)
{
	const char *text = program ? program_text(program, number) : "none";

	if (!ok(!strcmp(text, expected), "%s", what))
		printf("# is \"%s\", not \"%s\"\n", text, expected);
}

/* 1 runs on CPU 0, wakes 2, sleeps, and is woken by it. */
static struct schedtape_tape *round_trip(void)
{
	struct schedtape_tape *tape = fake_new(1000, 9000);

	fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_task(tape, 2, "two", STAPE_STATE_SLEEPING, 0);
	fake_wake(tape, 1500, 0, 1, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 2000, 0, STAPE_STATE_RUNNING, 1);
	fake_wake(tape, 2100, 0, 2, STAPE_CTX_TASK);
	fake_switch(tape, 2300, 0, STAPE_STATE_SLEEPING, 2);
	fake_wake(tape, 2800, 0, 1, STAPE_CTX_TASK);
	fake_switch(tape, 2900, 0, STAPE_STATE_SLEEPING, 1);
	fake_switch(tape, 3000, 0, STAPE_STATE_SLEEPING, 0);
	return tape;
}

static void test_round_trip(void)
{
	struct schedtape_program *program = compile(round_trip());

	is_program(program, 0, "0:until 500; 100:wake 0!; 300:wait 1; 400:exit",
		   "a timer's wake-up, a wake-up, a wait, and the end of the tape");
	is_program(program, 1, "0:wait 0; 500:wake 1; 600:exit",
		   "who slept from the start waits for his waker");
	ok(program && program->nr_edges == 2 && program->edges[0] == 1 && program->edges[1] == 0,
	   "an edge knows whom it wakes");
	ok(program && program->wakeups == 2 && program->timed == 1, "two edges, one timer");
	ok(program && !strcmp(program->tasks[0].name, "one"), "a name");
	ok(program && program->duration == 8000, "the recording's duration");
	schedtape_program_free(program);
}

/* A timer sets 1 going, who wakes 2, who wakes 3; and 4, who has slept for less long. */
static struct schedtape_tape *tape_expected(void)
{
	struct schedtape_tape *tape = fake_new(1000, 9000);

	fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_task(tape, 2, "two", STAPE_STATE_SLEEPING, 0);
	fake_task(tape, 3, "three", STAPE_STATE_SLEEPING, 0);
	fake_task(tape, 4, "four", STAPE_STATE_RUNNING, 0);
	fake_switch(tape, 1100, 1, STAPE_STATE_RUNNING, 4);
	fake_wake(tape, 1500, 0, 1, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 2000, 0, STAPE_STATE_RUNNING, 1);
	fake_wake(tape, 2100, 0, 2, STAPE_CTX_TASK);
	fake_switch(tape, 2200, 1, STAPE_STATE_SLEEPING, 0);
	fake_switch(tape, 2300, 0, STAPE_STATE_SLEEPING, 2);
	fake_wake(tape, 2400, 0, 3, STAPE_CTX_TASK);
	fake_wake(tape, 2500, 0, 4, STAPE_CTX_TASK);
	fake_switch(tape, 2600, 0, STAPE_STATE_SLEEPING, 0);
	return tape;
}

static void test_expected(void)
{
	const struct schedtape_program_options absolute = {
		.external = SCHEDTAPE_EXTERNAL_ABSOLUTE,
	};
	struct schedtape_program *program = compile(tape_expected());

	is_program(program, 0, "0:until 500; 100:wake 0!; 300:exit",
		   "who slept when the timer fired is expected to sleep");
	is_program(program, 1, "0:wait 0; 100:wake 1!; 200:wake 2; 300:exit",
		   "so is whom that one wakes, but for one who went to sleep after the timer");
	schedtape_program_free(program);
	program = compile_as(tape_expected(), &absolute);
	is_program(program, 0, "0:until 500; 100:wake 0; 300:exit",
		   "an instant that is absolute is put off for nobody");
	schedtape_program_free(program);
}

/* 1 sleeps in state D and is woken by interrupts, as is its sleep in S after that. */
static void test_external(void)
{
	static const struct {
		enum schedtape_external external;
		const char *program;
	} as[] = {
		{ SCHEDTAPE_EXTERNAL_AUTO, "0:until 500; 100:for 300 D; 200:until 1300; 300:exit" },
		{ SCHEDTAPE_EXTERNAL_ABSOLUTE,
		  "0:until 500; 100:until 900 D; 200:until 1300; 300:exit" },
		{ SCHEDTAPE_EXTERNAL_RELATIVE,
		  "0:until 500; 100:for 300 D; 200:for 200; 300:exit" },
	};
	struct schedtape_program_options options = { 0 };
	struct schedtape_program *program;
	struct schedtape_tape *tape;
	size_t i;

	for (i = 0; i < sizeof(as) / sizeof(*as); i++) {
		tape = fake_new(1000, 9000);
		fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
		fake_wake(tape, 1500, 0, 1, STAPE_CTX_HARDIRQ);
		fake_switch(tape, 1500, 0, STAPE_STATE_RUNNING, 1);
		fake_switch(tape, 1600, 0, STAPE_STATE_BLOCKED, 0);
		fake_wake(tape, 1900, 0, 1, STAPE_CTX_SOFTIRQ);
		fake_switch(tape, 2000, 0, STAPE_STATE_RUNNING, 1);
		fake_switch(tape, 2100, 0, STAPE_STATE_SLEEPING, 0);
		fake_wake(tape, 2300, 0, 1, STAPE_CTX_HARDIRQ);
		fake_switch(tape, 2300, 0, STAPE_STATE_RUNNING, 1);
		fake_switch(tape, 2400, 0, STAPE_STATE_DEAD, 0);
		options.external = as[i].external;
		program = compile_as(tape, &options);
		is_program(program, 0, as[i].program, "waits that the outside world ends");
		schedtape_program_free(program);
	}
}

/* Times that nothing can hold: damage. */
static void test_times(void)
{
	struct schedtape_tape *tape = fake_new(0, UINT64_MAX);
	struct schedtape_program *program;

	fake_switch(tape, UINT64_MAX - 1, 0, STAPE_STATE_RUNNING, 1);
	fake_switch(tape, UINT64_MAX, 0, STAPE_STATE_SLEEPING, 0);
	program = compile(tape);
	ok(program && program->duration == (1ULL << 56) - 1, "a duration without end has one");
	schedtape_program_free(program);
}

static void test_no_sleep(void)
{
	struct schedtape_tape *tape = fake_new(0, 9000);
	struct schedtape_program *program;

	fake_task(tape, 1, "one", STAPE_STATE_RUNNING, 0);
	fake_task(tape, 2, "two", STAPE_STATE_RUNNING, 1);
	fake_switch(tape, 0, 0, STAPE_STATE_RUNNING, 1);
	fake_switch(tape, 0, 1, STAPE_STATE_RUNNING, 2);
	fake_wake(tape, 100, 0, 2, STAPE_CTX_TASK);	/* 2 runs: nothing happens */
	fake_switch(tape, 200, 1, STAPE_STATE_RUNNING, 0);
	fake_switch(tape, 300, 1, STAPE_STATE_RUNNING, 2);
	fake_switch(tape, 400, 1, STAPE_STATE_SLEEPING, 0);
	fake_waking(tape, 500, 0, 2, STAPE_CTX_SOFTIRQ);
	fake_wakeup(tape, 510, 1, 2);
	fake_switch(tape, 600, 1, STAPE_STATE_RUNNING, 2);
	fake_switch(tape, 700, 1, STAPE_STATE_DEAD, 0);
	program = compile(tape);
	is_program(program, 0, "0:until 0; 9000:exit", "a wake-up of who never slept is none");
	is_program(program, 1, "0:until 0; 300:until 510; 400:exit",
		   "a preemption ends no burst, a softirq is the outside world");
	schedtape_program_free(program);
}

/* The waking comes before the wakee's switch-out on another CPU, the wake-up after it. */
static void test_overlap(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	struct schedtape_program *program;

	fake_switch(tape, 0, 0, STAPE_STATE_RUNNING, 1);
	fake_switch(tape, 0, 1, STAPE_STATE_RUNNING, 2);
	fake_waking(tape, 100, 0, 2, STAPE_CTX_TASK);
	fake_switch(tape, 110, 1, STAPE_STATE_SLEEPING, 0);
	fake_switch(tape, 120, 0, STAPE_STATE_SLEEPING, 0);
	fake_wakeup(tape, 130, 1, 2);
	fake_switch(tape, 140, 1, STAPE_STATE_RUNNING, 2);
	program = compile(tape);
	is_program(program, 0, "0:until 0; 100:wake 0; 120:exit",
		   "a wake-up stands where its waker was, though it came through later");
	is_program(program, 1, "0:until 0; 110:wait 0; 970:exit", "and ends the sleep");
	schedtape_program_free(program);
}

static void test_structure(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	struct schedtape_program *program;

	fake_switch(tape, 0, 0, STAPE_STATE_RUNNING, 1);
	fake_fork(tape, 100, 0, 2, false);
	fake_fork(tape, 150, 0, 3, true);
	fake_switch(tape, 200, 0, STAPE_STATE_SLEEPING, 2);
	fake_rename(tape, 250, 0, 2, "child");
	fake_event(tape, 300, 0, STAPE_EV_EXIT, 2, 0);
	fake_wake(tape, 320, 0, 1, STAPE_CTX_TASK);
	fake_switch(tape, 350, 0, STAPE_STATE_DEAD, 1);
	fake_switch(tape, 400, 0, STAPE_STATE_DEAD, 3);
	fake_switch(tape, 500, 0, STAPE_STATE_DEAD, 0);
	program = compile(tape);
	is_program(program, 0, "0:until 0; 100:fork 1; 150:fork 2; 200:wait 0; 250:exit",
		   "forks stand at the parent's CPU time");
	is_program(program, 1, "50:name child; 120:wake 0; 150:exit",
		   "a child begins with its fork, and wakes its parent after exit()");
	is_program(program, 2, "100:exit", "a thread");
	ok(program && program->nr_tasks == 3 && program->tasks[1].parent == 0 &&
	   program->tasks[1].process == 1, "the child is a process");
	ok(program && program->nr_tasks == 3 && program->tasks[2].parent == 0 &&
	   program->tasks[2].process == 0, "the thread is one of its parent's process");
	schedtape_program_free(program);
}

/* -- a part of a tape ------------------------------------------------------------ */

static bool keep_pid(void *arg, const struct schedtape_life *life)
{
	return life->pid != *(uint32_t *)arg;
}

/* What the other does in the round trip, the outside world does. */
static void test_keep(void)
{
	uint32_t pid = 2;
	struct schedtape_program_options options = { .keep = keep_pid, .arg = &pid };
	struct schedtape_program *program = compile_as(round_trip(), &options);

	is_program(program, 0, "0:until 500; 300:until 1800; 400:exit",
		   "a task that is left out is the outside world");
	ok(program && program->nr_tasks == 1 && !program->nr_edges && program->timed == 2,
	   "and has no player");
	schedtape_program_free(program);
	options.external = SCHEDTAPE_EXTERNAL_RELATIVE;
	program = compile_as(round_trip(), &options);
	is_program(program, 0, "0:until 500; 300:until 1800; 400:exit",
		   "at the instant at which it did it, however long waits are kept");
	schedtape_program_free(program);
	pid = 1;
	program = compile_as(round_trip(), &options);
	is_program(program, 0, "0:until 1100; 600:exit", "who wakes nobody wakes nobody");
	schedtape_program_free(program);
}

/* 1 forks 2, which makes thread 3, which makes thread 4 and forks 5. */
static struct schedtape_tape *generations(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);

	fake_switch(tape, 0, 0, STAPE_STATE_RUNNING, 1);
	fake_fork(tape, 100, 0, 2, false);
	fake_switch(tape, 200, 0, STAPE_STATE_SLEEPING, 2);
	fake_fork(tape, 250, 0, 3, true);
	fake_switch(tape, 300, 0, STAPE_STATE_SLEEPING, 3);
	fake_fork(tape, 350, 0, 4, true);
	fake_fork(tape, 360, 0, 5, false);
	fake_switch(tape, 400, 0, STAPE_STATE_SLEEPING, 4);
	fake_prio(tape, 450, 0, 4, 1, 0, 7);
	fake_switch(tape, 500, 0, STAPE_STATE_DEAD, 5);
	fake_switch(tape, 600, 0, STAPE_STATE_DEAD, 0);
	return tape;
}

static void test_orphans(void)
{
	uint32_t pid = 2;
	const struct schedtape_program_options options = { .keep = keep_pid, .arg = &pid };
	struct schedtape_program *program = compile_as(generations(), &options);

	ok(program && program->nr_tasks == 4, "all but one");
	is_program(program, 0, "0:until 0; 200:exit", "who forked it does not");
	is_program(program, 1, "0:until 250; 50:fork 2; 60:fork 3; 100:exit",
		   "its thread begins by itself, when it was made");
	ok(program && program->tasks[1].parent == SCHEDTAPE_NONE &&
	   program->tasks[1].process == 1 && program->tasks[2].process == 1 &&
	   program->tasks[2].parent == 1 && program->tasks[3].process == 3,
	   "and leads the process now");
	is_program(program, 2, "50:prio 70001; 100:exit", "a change of priority");
	ok(program && program->nr_roots == 2 && program->roots[1] == 1 &&
	   !program->tasks[0].due && program->tasks[1].due == 250,
	   "it is not there before it is due");
	schedtape_program_free(program);
}

/* Who made a thread of a forked process is left out: it is one of that process's still. */
static void test_orphaned_threads(void)
{
	uint32_t pid = 3;
	const struct schedtape_program_options options = { .keep = keep_pid, .arg = &pid };
	struct schedtape_program *program = compile_as(generations(), &options);

	is_program(program, 0, "0:until 0; 100:fork 1; 200:exit", "a process is forked");
	is_program(program, 2, "0:until 350; 50:prio 70001; 100:exit",
		   "its thread waits for the instant at which it was made");
	ok(program && program->nr_tasks == 4 && program->tasks[2].process == 1 &&
	   program->tasks[1].threads == 2 && program->tasks[2].sibling == SCHEDTAPE_NONE,
	   "and is started by who leads it");
	ok(program && program->nr_roots == 2 && program->roots[1] == 3,
	   "other processes have no part in that");
	schedtape_program_free(program);
}

/* A thread, as is said late, seems to be older than its process: that waits for it. */
static void test_older_thread(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	struct schedtape_program *program;

	fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 3);
	fake_wake(tape, 150, 0, 1, STAPE_CTX_TASK);
	fake_switch(tape, 200, 0, STAPE_STATE_SLEEPING, 1);
	fake_fork(tape, 250, 0, 2, false);
	fake_describe(tape, 300, 0, 3, STAPE_TASK_EXITS, "thread", 5)->tgid = 2;
	fake_switch(tape, 400, 0, STAPE_STATE_DEAD, 0);
	program = compile(tape);
	is_program(program, 0, "0:wait 0; 50:fork 2; 200:exit", "a process is forked late");
	ok(program && program->nr_tasks == 3 && program->tasks[1].process == 2 &&
	   program->tasks[2].threads == SCHEDTAPE_NONE && program->nr_roots == 2 &&
	   program->roots[1] == 1, "who sets that going does not wait for it");
	schedtape_program_free(program);
}

/* With a deadline from the start, with another one, and without. */
static void test_deadline(void)
{
	struct schedtape_tape *tape = fake_new(0, 9000);
	struct schedtape_program *program;
	struct schedtape_task *task;
	struct schedtape_prio prio;
	size_t last;

	task = fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	task->policy = 6;
	task->dl = (struct schedtape_deadline){ 10, 20, 30 };
	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 1);
	fake_fork(tape, 200, 0, 2, false);
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
	program = compile(tape);
	ok(program && program->nr_deadlines == 2 && program->tasks[0].prio.policy == 6 &&
	   program->deadlines[program->tasks[0].prio.deadline].runtime == 10,
	   "a deadline from the start");
	is_program(program, 0, "0:until 0; 100:fork 1; 200:prio 1000006; 350:prio 6; "
		   "400:prio 0; 500:exit", "each other one is a change, and none is");
	prio = schedtape_prio_unpack(0x1000006);
	ok(program && prio.policy == 6 && prio.deadline == 1 &&
	   program->deadlines[prio.deadline].runtime == 11, "and says which");
	is_program(program, 1, "50:prio 90001; 100:exit", "children do not have it");
	schedtape_program_free(program);
}

/* From the start, by a move, and from birth on elsewhere. */
static void test_cgroups(void)
{
	struct schedtape_tape *tape = fake_new(0, 9000);
	struct schedtape_program *program;

	fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0)->cgroup = 7;
	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 1);
	fake_fork(tape, 200, 0, 2, false);
	fake_describe(tape, 200, 0, 2, STAPE_TASK_MOVES, "one", 0)->cgroup = 8;
	fake_fork(tape, 300, 0, 3, false);
	fake_describe(tape, 400, 1, 1, STAPE_TASK_MOVES, "one", 0)->cgroup = 9;
	fake_describe(tape, 450, 1, 1, STAPE_TASK_EXITS, "one", 0)->cgroup = 9;
	fake_switch(tape, 500, 0, STAPE_STATE_DEAD, 2);
	fake_switch(tape, 600, 0, STAPE_STATE_SLEEPING, 3);
	fake_switch(tape, 700, 0, STAPE_STATE_SLEEPING, 4);
	fake_describe(tape, 750, 0, 4, STAPE_TASK_EXITS, "four", 0)->cgroup = 8;
	fake_switch(tape, 800, 0, STAPE_STATE_DEAD, 0);
	program = compile(tape);
	ok(program && program->nr_cgroups == 3 && program->tasks[0].cgroup != SCHEDTAPE_NONE &&
	   program->cgroups[program->tasks[0].cgroup] == 7, "where it was at the start");
	is_program(program, 0, "0:until 0; 100:fork 1; 200:fork 2; 300:move 9; 400:exit",
		   "a move at the CPU time that it had used");
	is_program(program, 1, "0:move 8; 100:exit", "a fork into another one than the parent's");
	is_program(program, 2, "100:exit", "a fork where the parent is");
	ok(program && program->nr_tasks == 4 && program->tasks[3].cgroup != SCHEDTAPE_NONE &&
	   program->cgroups[program->tasks[3].cgroup] == 8, "who is described late was there");
	is_program(program, 3, "0:until 0; 100:exit", "and did not move");
	schedtape_program_free(program);
}

/* Each of many is told from all others: looking through these would take minutes. */
static void test_many_cgroups(void)
{
	struct schedtape_program *program = calloc(1, sizeof(*program));
	uint32_t i, index, right = 0;

	if (!program)
		abort();
	for (i = 0; i < 2 * 400000; i++)
		right += !schedtape_program_add_cgroup(program, (i % 400000) * 1024ULL, &index) &&
			 index == i % 400000 && program->cgroups[index] == index * 1024ULL;
	ok(right == 2 * 400000 && program->nr_cgroups == 400000, "400,000 cgroups, each twice");
	schedtape_program_close(program);
	schedtape_program_free(program);
}

static uint64_t affinity_of(const struct schedtape_program *program, uint32_t index)
{
	uint64_t word;

	if (!program || index >= program->nr_affinities)
		return 0;
	memcpy(&word, program->affinities[index], sizeof(word));
	return le64toh(word);
}

static struct schedtape_tape *pinned(void)
{
	static const unsigned char everywhere = 0xff;
	struct schedtape_tape *tape = fake_new(0, 9000);
	struct schedtape_task *task = fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0);

	task->affinity = &everywhere;
	task->affinity_bytes = 1;
	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 1);
	fake_fork(tape, 150, 0, 4, false);
	fake_affinity(tape, 200, 0, 1, 2);
	fake_fork(tape, 300, 0, 2, false);
	fake_affinity(tape, 350, 0, 2, 5ULL << 60);
	fake_affinity(tape, 400, 0, 1, 2);
	fake_fork(tape, 450, 0, 3, false);
	fake_switch(tape, 500, 0, STAPE_STATE_DEAD, 2);
	fake_switch(tape, 600, 0, STAPE_STATE_DEAD, 3);
	fake_switch(tape, 700, 0, STAPE_STATE_DEAD, 4);
	fake_switch(tape, 800, 0, STAPE_STATE_DEAD, 0);
	return tape;
}

static void test_affinities(void)
{
	const struct schedtape_program_options late = { .from = 320 };
	uint32_t pid = 1;
	const struct schedtape_program_options orphans = { .keep = keep_pid, .arg = &pid };
	struct schedtape_program *program = compile(pinned());

	ok(program && program->nr_affinities == 2 && affinity_of(program, 0) == 2 &&
	   affinity_of(program, 1) == 5ULL << 60, "each affinity once");
	is_program(program, 0, "0:until 0; 50:fork 1; 100:pin 0; 200:fork 2; 350:fork 3; "
		   "400:exit", "what is set, if it is not so already");
	is_program(program, 2, "0:pin 1; 100:exit", "by another");
	ok(program && program->tasks[0].source && program->tasks[0].affinity == SCHEDTAPE_NONE,
	   "at first it may run where the tape's description says");
	schedtape_program_free(program);

	program = compile_as(pinned(), &orphans);
	ok(program && program->nr_tasks == 3 && program->tasks[0].pid == 4 &&
	   program->tasks[0].source && program->tasks[0].affinity == SCHEDTAPE_NONE,
	   "whose parent is left out begins with the parent's description");
	ok(program && program->tasks[1].pid == 2 &&
	   affinity_of(program, program->tasks[1].affinity) == 2, "or with what that had got");
	schedtape_program_free(program);

	program = compile_as(pinned(), &late);
	ok(program && program->nr_tasks >= 2 && program->tasks[0].pid == 1 &&
	   affinity_of(program, program->tasks[0].affinity) == 2, "what it had got by --time");
	schedtape_program_free(program);
}

/* In a process that is there: with those threads of it that nobody makes. */
static void test_threads(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	struct schedtape_program *program;

	fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_task(tape, 2, "two", STAPE_STATE_SLEEPING, 0)->tgid = 1;
	fake_task(tape, 3, "three", STAPE_STATE_SLEEPING, 0)->tgid = 1;
	fake_switch(tape, 10, 0, STAPE_STATE_RUNNING, 1);
	fake_fork(tape, 20, 0, 4, true);
	fake_switch(tape, 30, 0, STAPE_STATE_DEAD, 0);
	program = compile(tape);
	ok(program && program->nr_tasks == 4 && program->nr_roots == 1 && !program->roots[0],
	   "one process");
	ok(program && program->nr_tasks == 4 && program->tasks[0].threads == 1 &&
	   program->tasks[1].sibling == 2 && program->tasks[2].sibling == SCHEDTAPE_NONE,
	   "it has its two threads from the start, in order, and makes the third");
	schedtape_program_free(program);
}

static void test_window(void)
{
	struct schedtape_program_options options = { .from = 2200, .to = 2850 };
	struct schedtape_program *program = compile_as(round_trip(), &options);

	is_program(program, 0, "0:until 0; 100:wait 0; 100:exit", "runs at the beginning");
	is_program(program, 1, "0:until 0; 500:wake 0; 550:exit",
		   "was woken before the beginning");
	ok(program && program->duration == 650, "lasts as long as it says");
	schedtape_program_free(program);

	options = (struct schedtape_program_options){ .from = 275, .to = 500 };
	program = compile_as(generations(), &options);
	is_program(program, 1, "0:until 0; 25:exit", "forked before");
	is_program(program, 2, "0:until 0; 50:fork 3; 60:fork 4; 100:exit",
		   "made before, and runs later");
	ok(program && program->nr_tasks == 5 && program->tasks[2].process == 1,
	   "those that are there at the beginning, and those that come");
	schedtape_program_free(program);

	options = (struct schedtape_program_options){ .from = 5000 };
	program = compile_as(round_trip(), &options);
	ok(program && program->nr_tasks == 2, "asleep behind the end");
	schedtape_program_free(program);
}

/* -- deadlocks ------------------------------------------------------------------- */

/* It is there, and so is whom it starts. */
static void begin(const struct schedtape_program *program, uint32_t number, bool *forked)
{
	uint32_t i;

	forked[number] = true;
	for (i = program->tasks[number].threads; i != SCHEDTAPE_NONE;
	     i = program->tasks[i].sibling)
		forked[i] = true;
}

/* One task goes on as far as it can; @pending: wake-ups by edge.  Return: it went on. */
static bool go_on(const struct schedtape_program *program, uint32_t number,
		  const struct schedtape_op **at, bool *forked, unsigned int *pending)
{
	const struct schedtape_op *before = at[number], *op;

	for (; forked[number] && at[number];
	     at[number] = schedtape_program_next(program, at[number])) {
		op = at[number];
		if (op->kind == SCHEDTAPE_OP_WAIT_EDGE && !pending[op->value])
			break;
		if (op->kind == SCHEDTAPE_OP_WAIT_EDGE)
			pending[op->value]--;
		else if (op->kind == SCHEDTAPE_OP_WAKE)
			pending[op->value]++;
		else if (op->kind == SCHEDTAPE_OP_FORK)
			begin(program, op->value, forked);
	}
	return at[number] != before;
}

/* Does every task come to its end, and does every wait take its wake-up? */
static bool ends(const struct schedtape_program *program)
{
	unsigned int *pending = calloc(program->nr_edges + 1, sizeof(*pending));
	bool *forked = calloc(program->nr_tasks, sizeof(*forked)), moved, all = true;
	const struct schedtape_op **at = calloc(program->nr_tasks, sizeof(*at));
	uint32_t i;

	if (!pending || !forked || !at)
		abort();
	for (i = 0; i < program->nr_tasks; i++)
		at[i] = schedtape_program_begin(program, i);
	for (i = 0; i < program->nr_roots; i++)
		begin(program, program->roots[i], forked);
	do {
		moved = false;
		for (i = program->nr_tasks; i-- > 0; )
			moved |= go_on(program, i, at, forked, pending);
	} while (moved);
	for (i = 0; i < program->nr_tasks; i++)
		all &= !at[i];
	for (i = 0; i < program->nr_edges; i++)
		all &= !pending[i];
	free(pending);
	free(forked);
	free(at);
	return all;
}

/* Anything may happen: wake-ups of anyone by anyone, forks, sleeps, losses, late news. */
static struct schedtape_tape *random_tape(unsigned int seed)
{
	struct schedtape_tape *tape = fake_new(0, 100000);
	uint32_t last = 6, cpu, pid;
	uint64_t t = 0;
	int i;

	srandom(seed);
	for (i = 0; i < 400; i++) {
		cpu = random() % 3;
		pid = 1 + random() % last;
		t += random() % 20;
		switch (random() % 13) {
		case 12:
			fake_describe(tape, t, cpu, pid, STAPE_TASK_EXITS, "late", 0)->tgid =
				1 + random() % last;
			break;
		case 0:
			fake_fork(tape, t, cpu, ++last, random() % 2);
			break;
		case 1:
			fake_loss(tape, t, t + 5, cpu, 3, pid);
			break;
		case 2 ... 6:
			fake_wake(tape, t, cpu, pid, random() % 3 ? STAPE_CTX_TASK :
				  STAPE_CTX_HARDIRQ);
			break;
		default:
			fake_switch(tape, t, cpu, random() % 8 ? random() % 3 : STAPE_STATE_DEAD,
				    random() % 4 ? pid : 0);
		}
	}
	return tape;
}

static bool keep_odd(void *arg, const struct schedtape_life *life)
{
	(void)arg;
	return life->pid % 2;
}

static void test_no_deadlock(void)
{
	static const struct schedtape_program_options options[] = {
		{ 0 }, { .external = SCHEDTAPE_EXTERNAL_RELATIVE }, { .keep = keep_odd },
		{ .from = 1000, .to = 2500 }, { .from = 2000, .keep = keep_odd },
	};
	struct schedtape_program *program;
	unsigned int seed, stuck = 0, wakeups = 0;
	struct schedtape_tape *tape;
	size_t i;

	for (seed = 0; seed < 500; seed++) {
		for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
			tape = random_tape(seed);
			program = compile_as(tape, &options[i]);
			stuck += !program || !ends(program);
			wakeups += program ? program->wakeups : 0;
			schedtape_program_free(program);
		}
	}
	ok(!stuck, "no program can get stuck, whatever is on its tape");
	ok(wakeups > 10000, "%u wake-ups among them", wakeups);
}

/* Out of the filter, a task waits for the outside world. */
static void test_leave(void)
{
	struct schedtape_tape *tape = fake_new(0, 9000);
	struct schedtape_program *program;

	fake_task(tape, 1, "one", STAPE_STATE_SLEEPING, 0)->start_time = 5;
	fake_wake(tape, 100, 0, 1, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 1);
	fake_describe(tape, 200, 1, 1, STAPE_TASK_LEAVES, "one", 5);
	fake_switch(tape, 250, 0, STAPE_STATE_RUNNING, 0);
	fake_describe(tape, 1000, 1, 1, STAPE_TASK_ENTERS, "one", 5)->state = STAPE_STATE_SLEEPING;
	fake_describe(tape, 1100, 1, 2, STAPE_TASK_ENTERS, "two", 6);
	fake_wake(tape, 1500, 1, 1, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 1600, 0, STAPE_STATE_RUNNING, 1);
	fake_wake(tape, 1650, 0, 3, STAPE_CTX_SOFTIRQ_TASK);
	fake_switch(tape, 1700, 0, STAPE_STATE_SLEEPING, 2);
	fake_switch(tape, 1800, 0, STAPE_STATE_DEAD, 0);
	fake_describe(tape, 2000, 1, 1, STAPE_TASK_LEAVES, "one", 5);
	program = compile(tape);
	is_program(program, 0, "0:until 100; 100:until 1000; 100:until 1500; 150:wake 0!; 200:exit",
		   "a task that leaves and comes back");
	is_program(program, 1, "0:until 1100; 100:exit", "a task that enters begins then");
	is_program(program, 2, "0:wait 0; 0:exit", "a wake-up out of a softirq of one's own");
	schedtape_program_free(program);
}

/* Of whom nothing is known until the end. */
static void test_late(void)
{
	struct schedtape_tape *tape = fake_new(0, 9000);
	struct schedtape_program *program;

	fake_switch(tape, 100, 0, STAPE_STATE_RUNNING, 1);
	fake_switch(tape, 200, 0, STAPE_STATE_SLEEPING, 2);
	fake_describe(tape, 250, 0, 2, STAPE_TASK_EXITS, "thread", 5)->tgid = 1;
	fake_switch(tape, 300, 0, STAPE_STATE_DEAD, 0);
	program = compile(tape);
	ok(program && program->nr_tasks == 2 && !strcmp(program->tasks[1].name, "thread") &&
	   program->tasks[1].process == 0, "a late name is there from the start, and a late group");
	is_program(program, 1, "0:until 0; 100:exit", "and no rename");
	schedtape_program_free(program);
}

/* More tasks, edges and names than anything is made for at first. */
static void test_growth(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000000);
	struct schedtape_program *program;
	uint32_t pid, right = 0;
	uint64_t t = 0;

	fake_switch(tape, 0, 0, STAPE_STATE_RUNNING, 1);
	for (pid = 2; pid < 1002; pid++) {
		fake_fork(tape, t += 10, 0, pid, false);
		fake_switch(tape, t += 10, 0, STAPE_STATE_RUNNING, pid);
		fake_rename(tape, t += 10, 0, pid, "x");
		fake_switch(tape, t += 10, 0, STAPE_STATE_SLEEPING, 1);
	}
	for (pid = 2; pid < 1002; pid++)
		fake_wake(tape, t += 10, 0, pid, STAPE_CTX_TASK);
	program = compile(tape);
	ok(program && program->nr_tasks == 1001 && program->nr_edges == 1000 &&
	   program->nr_names == 1000, "a thousand tasks, edges and names");
	for (pid = 0; program && pid < program->nr_edges; pid++)
		right += program->edges[pid] == pid + 1;
	ok(right == 1000, "each edge wakes the right one");
	schedtape_program_free(program);
}

static void test_nothing(void)
{
	const struct schedtape_program_options options = { 0 };
	struct schedtape_program *program = NULL;
	struct schedtape_tape *tape = fake_new(0, 10);
	struct schedtape_error err = { "" };

	ok(schedtape_program_compile(tape, &options, &program, &err) < 0 && err.text[0],
	   "a tape without a task is refused, with a reason");
	fake_free(tape);
}

int main(void)
{
	test_round_trip();
	test_expected();
	test_external();
	test_times();
	test_no_sleep();
	test_overlap();
	test_structure();
	test_keep();
	test_orphans();
	test_orphaned_threads();
	test_older_thread();
	test_threads();
	test_cgroups();
	test_many_cgroups();
	test_affinities();
	test_deadline();
	test_window();
	test_no_deadlock();
	test_leave();
	test_late();
	test_growth();
	test_nothing();
	return tap_done();
}
