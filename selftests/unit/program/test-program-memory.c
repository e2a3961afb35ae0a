// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the memory that it costs to compile a tape of many short tasks, of which no more
 * are alive at once than in a tape of few.
 *
 *	test-program-memory FILE TASKS	writes such a tape
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <program/program.h>

#include "maker.h"
#include "tap.h"
#include "tapes.h"

#define ALIVE		4	/* number of children at once */
#define FEW		(SANITIZED ? 2000 : 50000)
#define MANY		(4 * FEW)
#define BYTES_A_TASK	24	/* limit for each task */
#define NUMBERS		25000	/* of players: those of the last second of the tape, and some */
#define PARENT		10
#define FIRST_PID	1000
#define PIDS		30000
#define BATCH		16	/* pages of a chunk */
#define KEPT		1000	/* number of tasks or operations that a walk keeps in memory */

/**
 * struct storm - a tape in the making
 * @running: task on the only CPU
 * @full: pages of the previous batch
 */
struct storm {
	struct schedtape_writer *writer;
	unsigned char pages[BATCH][STAPE_PAGE_SIZE];
	struct maker maker;
	uint64_t time;
	uint64_t seq;
	uint64_t events;
	uint32_t running;
	unsigned int full;
};

static void must(int ret, const struct schedtape_error *err)
{
	if (!ret)
		return;
	printf("Bail out! %s\n", err->text);
	exit(1);
}

static void begin_page(struct storm *storm)
{
	maker_begin(&storm->maker, storm->pages[storm->full], 0, storm->seq++, storm->time);
	storm->maker.header.curr = storm->running;
	storm->maker.header.curr_kind = storm->running ? STAPE_NEXT_TASK : STAPE_NEXT_IDLE;
	maker_finish(&storm->maker);
}

static void end_batch(struct storm *storm)
{
	struct schedtape_error err;

	must(schedtape_writer_pages(storm->writer, storm->pages, storm->full, &err), &err);
	storm->full = 0;
}

/* Returns the page's maker, @ns later, with room for any event. */
static struct maker *later(struct storm *storm, uint64_t ns)
{
	if (storm->maker.header.used > STAPE_PAGE_SIZE - 64) {
		storm->events += storm->maker.header.events;
		if (++storm->full == BATCH)
			end_batch(storm);
		begin_page(storm);
	}
	storm->time += ns;
	return &storm->maker;
}

static void switch_to(struct storm *storm, uint32_t pid, enum stape_state state)
{
	maker_switch(later(storm, 1000), storm->time, pid, pid ? STAPE_NEXT_TASK :
		     STAPE_NEXT_IDLE, state);
	storm->running = pid;
}

static void end_of(struct storm *storm, uint32_t pid, uint32_t next)
{
	maker_event(later(storm, 1000), storm->time, STAPE_EV_EXIT, pid, 0);
	switch_to(storm, next, STAPE_STATE_DEAD);
}

/* The parent forks some children, sleeps, and each child's end wakes it. */
static void play_round(struct storm *storm, const uint32_t *pids)
{
	unsigned int i;

	for (i = 0; i < ALIVE; i++) {
		maker_event(later(storm, 30000), storm->time, STAPE_EV_FORK, pids[i], 0);
		maker_event(later(storm, 1000), storm->time, STAPE_EV_WAKEUP_NEW, pids[i], 0);
	}
	for (i = 0; i < ALIVE; i++) {
		switch_to(storm, pids[i], STAPE_STATE_SLEEPING);
		maker_rename(later(storm, 2000), storm->time, pids[i], "child");
		maker_waking(later(storm, 20000), storm->time, PARENT, STAPE_CTX_TASK);
		maker_event(later(storm, 500), storm->time, STAPE_EV_WAKEUP, PARENT, 0);
		end_of(storm, pids[i], PARENT);
	}
}

static void play(struct storm *storm, unsigned int tasks)
{
	uint32_t pids[ALIVE];
	unsigned int i, j;

	maker_waking(later(storm, 1000), storm->time, PARENT, STAPE_CTX_HARDIRQ);
	maker_event(later(storm, 500), storm->time, STAPE_EV_WAKEUP, PARENT, 0);
	switch_to(storm, PARENT, STAPE_STATE_RUNNING);
	for (i = 0; i < tasks; i += ALIVE) {
		for (j = 0; j < ALIVE; j++)
			pids[j] = FIRST_PID + (i + j) % PIDS;
		play_round(storm, pids);
	}
	end_of(storm, PARENT, 0);
}

static void write_tape(const char *path, unsigned int tasks)
{
	const struct schedtape_task_info parent = {
		.time = 1000, .pid = PARENT, .tgid = PARENT, .state = STAPE_STATE_SLEEPING,
		.comm = "parent",
	};
	struct schedtape_writer_options options = { .size = sizeof(options), .level = 1 };
	struct json_object *meta = json_object_new_object();
	struct schedtape_cpu cpu = { 0 };
	struct schedtape_error err;
	struct storm *storm = calloc(1, sizeof(*storm));
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 1000,
		.cpus = &cpu,
		.nr_cpus = 1,
	};

	if (!storm)
		abort();
	storm->time = 1000;
	must(tape_writer_create(path, meta, &options, &storm->writer, &err), &err);
	must(schedtape_writer_tasks(storm->writer, &parent, 1, &err), &err);
	begin_page(storm);
	play(storm, tasks);
	cpu.events = storm->events + storm->maker.header.events;
	storm->full++;
	end_batch(storm);
	end.stop_time = storm->time;
	must(schedtape_writer_end(storm->writer, &end, &err), &err);
	must(schedtape_writer_close(storm->writer, &err), &err);
	json_object_put(meta);
	free(storm);
}

/* Tests that each task has the operations that it was recorded with. */
static bool is_sound(const struct schedtape_program *program, uint32_t number)
{
	const struct schedtape_op *op = schedtape_program_begin(program, number);
	unsigned int forks = 0, wakes = 0, waits = 0, ops = 0;

	for (; op; op = schedtape_program_next(program, op), ops++) {
		if (ops % KEPT == KEPT - 1)
			schedtape_store_let_go(&program->op_store);
		forks += op->kind == SCHEDTAPE_OP_FORK;
		wakes += op->kind == SCHEDTAPE_OP_WAKE;
		waits += op->kind == SCHEDTAPE_OP_WAIT_EDGE;
	}
	if (!number)
		return forks == program->nr_tasks - 1 && waits == forks && !wakes;
	return program->tasks[number].parent == 0 && ops == 3 && wakes == 1;
}

static bool compiles(const char *path, unsigned int tasks)
{
	const struct schedtape_program_options options = { 0 };
	struct schedtape_program *program;
	struct schedtape_tape *tape;
	struct schedtape_error err;
	bool sound;
	uint32_t i;

	must(schedtape_tape_open(path, &tape, &err), &err);
	must(schedtape_program_compile(tape, &options, &program, &err), &err);
	sound = program->nr_tasks == tasks + 1 && program->nr_roots == 1 &&
		program->nr_players <= NUMBERS && program->nr_edges == program->nr_players - 1;
	for (i = 0; i < program->nr_tasks && sound; i++) {
		if (!(i % KEPT)) {
			schedtape_store_let_go(&program->op_store);
			schedtape_store_let_go(&program->task_store);
		}
		sound = is_sound(program, i);
	}
	schedtape_program_free(program);
	schedtape_tape_close(tape);
	return sound;
}

/* The peak memory, in KiB, of a process that compiles such a tape. */
static long peak(unsigned int tasks)
{
	char path[] = "/tmp/schedtape-memory-XXXXXX";
	struct rusage usage;
	int status, fd;
	pid_t pid;

	fd = mkstemp(path);
	if (fd < 0)
		abort();
	close(fd);
	write_tape(path, tasks);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(!compiles(path, tasks));
	if (wait4(pid, &status, 0, &usage) != pid)
		abort();
	unlink(path);
	ok(!status, "%u tasks compile, each to its own operations", tasks);
	printf("# %u tasks: %ld KiB at most\n", tasks, usage.ru_maxrss);
	return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
	long few, many;

	if (argc == 3) {
		write_tape(argv[1], strtoul(argv[2], NULL, 10) / ALIVE * ALIVE);
		return 0;
	}
	few = peak(FEW);
	many = peak(MANY);
	/* Sanitizers have their own memory for each page. */
	ok(SANITIZED || (many - few) * 1024 / (MANY - FEW) <= BYTES_A_TASK,
	   "each further task needs %ld bytes, at most %d",
	   (many - few) * 1024 / (MANY - FEW), BYTES_A_TASK);
	return tap_done();
}
